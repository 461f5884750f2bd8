package cron_test

import (
	"testing"
	"time"

	"github.com/executor-go/executor/cron"
)

func BenchmarkParse(b *testing.B) {
	for _, spec := range []string{
		"30 2 * * *", "*/15 9-17 1,15 jan-jun mon-fri", "@daily", "@every 1h30m", "0 25 * * *",
	} {
		b.Run(spec, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = cron.ParseIn(spec, time.UTC)
			}
		})
	}
}

func BenchmarkNext(b *testing.B) {
	ny := zone(b, "America/New_York")
	now := time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC)
	for _, bm := range []struct {
		name, spec string
		loc        *time.Location
		after      time.Time
	}{
		{"minute/UTC", "* * * * *", time.UTC, now},
		{"minute/NewYork", "* * * * *", ny, now},
		{"nightly/UTC", "30 2 * * *", time.UTC, now},
		{"nightly/NewYork", "30 2 * * *", ny, now},
		{"nightly/NewYork/gap", "30 2 * * *", ny, time.Date(2026, 3, 8, 1, 0, 0, 0, ny)},
		{"nightly/NewYork/2100", "30 2 * * *", ny, time.Date(2100, 7, 1, 0, 0, 0, 0, ny)},
		{"weekdays/NewYork", "*/15 9-17 * * mon-fri", ny, now},
		{"yearly/NewYork", "@yearly", ny, now},
		{"leapday/NewYork", "0 0 29 2 *", ny, now},
		{"leapday/UTC/8years", "0 0 29 2 *", time.UTC, time.Date(2096, 3, 1, 0, 0, 0, 0, time.UTC)},
		{"every", "@every 1h30m", ny, now},
	} {
		b.Run(bm.name, func(b *testing.B) {
			s := in(b, bm.loc, bm.spec)
			b.ReportAllocs()
			for b.Loop() {
				s.Next(bm.after)
			}
		})
	}
	b.Run("never/NewYork", func(b *testing.B) {
		s := in(b, crafted(b, "AST0ADT,J60/2,J300/2"), "* 2 1 3 *")
		for b.Loop() {
			s.Next(now)
		}
	})
}
