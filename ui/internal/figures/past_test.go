package figures

import (
	"slices"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/internal/poolview"
)

// A job that was rescheduled to a time that is far away has missed none of the times that are still to come.
func TestScheduledMissesNothingAhead(t *testing.T) {
	now := time.Date(2026, 10, 24, 17, 30, 0, 0, time.UTC)
	const span = time.Hour
	began := now.Add(-30 * time.Minute)
	for _, schedule := range []string{"rate 1m0s", "cron * * * * *"} {
		j := &durable.Job{
			Schedule: schedule, Anchor: began, State: durable.Waiting, Due: now.Add(1000 * time.Hour), Occurrence: now.Add(1000 * time.Hour),
		}
		s := NewPeriodic("report", "", "", j, now, span)
		s.AddPast(j, []Ended{{Run: durable.Run{Occurrence: began, Started: began, Finished: began.Add(time.Second)}, Outcome: "succeeded"}}, time.Time{}, now, span)
		ran, missed := 0, 0
		for _, r := range s.past {
			switch {
			case !r.start.Before(now):
				t.Fatalf("%s: at %v, after %v, it was a %q", schedule, r.start, now, r.class)
			case r.class == "ok":
				ran++
			case r.class == "miss":
				missed++
			}
		}
		if ran != 1 || missed != 29 {
			t.Errorf("%s: ran %d times, and missed %d; want 1 and 29", schedule, ran, missed)
		}
	}
}

// A past run is a bar as long as it took. Where several began in a cell, it has one mark for them, and one as high as the
// share of those that failed, but for all or none.
func TestLaneDrawsLengthsAndShares(t *testing.T) {
	now := time.Date(2026, 10, 24, 12, 0, 0, 0, time.UTC)
	a := poolview.Axis{From: now.Add(-time.Hour), Span: 2 * time.Hour, Left: 130, Width: 700}
	run := func(class string, ago, took time.Duration) pastRun { return pastRun{now.Add(-ago), took, class} }
	cell := func(classes ...string) (all []pastRun) { // a cell has 31 s
		for i, class := range classes {
			all = append(all, run(class, 10*time.Minute+20*time.Second-time.Duration(i)*3*time.Second, time.Second))
		}
		return all
	}
	for name, c := range map[string]struct {
		past []pastRun
		want []Trace
	}{
		"long and short": {
			[]pastRun{run("ok", 40*time.Minute, 30*time.Minute), run("failed", 5*time.Minute, time.Second)},
			[]Trace{{Class: "ok", D: "M247 8H422"}, {Class: "failed", D: "M451 8H453"}},
		},
		"began before the axis": {[]pastRun{run("ok", 90*time.Minute, time.Hour)}, []Trace{{Class: "ok", D: "M130 8H305"}}},
		"not on the axis":       {[]pastRun{run("ok", 90*time.Minute, time.Minute), run("ok", -time.Minute, time.Minute)}, nil},
		"by their ends": {
			[]pastRun{run("ok", 20*time.Minute, time.Minute), run("ok", 30*time.Minute, 20*time.Minute)},
			[]Trace{{Class: "ok", D: "M305 8H422"}},
		},
		"a cell that is well": {cell("ok", "ok", "ok"), []Trace{{Class: "ok", D: "M418 8H421"}}},
		"a quarter":           {cell("ok", "failed", "ok", "ok"), []Trace{{Class: "ok", D: "M418 8H421"}, {Class: "share", D: "M418 15h3v-4h-3z"}}},
		"three quarters":      {cell("failed", "failed", "ok", "failed"), []Trace{{Class: "ok", D: "M418 8H421"}, {Class: "share", D: "M418 15h3v-10h-3z"}}},
		"all":                 {cell("failed", "failed"), []Trace{{Class: "failed", D: "M418 8H421"}}},
	} {
		if got := ran(a, c.past, now, 8); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A timeline has the span in which half of the schedules, or more, are seen, and seen apart.
func TestSpanOf(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		periods []time.Duration
		want    time.Duration
	}{
		{nil, day}, {[]time.Duration{time.Second}, time.Hour}, {[]time.Duration{10 * time.Minute}, time.Hour}, {[]time.Duration{15 * time.Minute}, day}, {[]time.Duration{12 * time.Hour}, day},
		{[]time.Duration{day}, 7 * day}, {[]time.Duration{day, time.Minute}, time.Hour}, {[]time.Duration{day, time.Minute, day}, 7 * day},
		{[]time.Duration{time.Hour, day, time.Second}, day},
	} {
		if got := SpanOf(c.periods); got != c.want {
			t.Errorf("%v: %v, want %v", c.periods, got, c.want)
		}
	}
}
