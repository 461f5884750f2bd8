package cron_test

import (
	"testing"
	"time"

	"github.com/executor-go/executor/cron"
)

// seedSpecs are the seeds of the fuzz targets: one spec for each feature of the language,
// and texts that have broken other parsers.
var seedSpecs = []string{
	"* * * * *", "30 2 * * *", "*/15 9-17 * * mon-fri", "0,30 1-3/2 1,15 jan-mar,12 0-7", "5/20 */2 */3 * sun",
	"0 0 29 2 *", "0 0 13 * fri", "59 23 31 12 7", "@hourly", "@weekly", "@every 1h30m", "@every 1ns", "@reboot",
	"TZ=", "TZ=0", "CRON_TZ=", "TZ=\t", "CRON_TZ=UTC 0 0 * * *", "TZ=Asia/Tokyo @daily", "@every -1ns", "@every ",
	"@since 2026-03-01 02:30 every 7d", "TZ=UTC @since 1970-01-01 00:00:01 every 1h30m", "@since 2026-02-30 24:00 every 0d",
	"*/0 * * * *", "1-/2 * * * *", ",,,, * * * *", "0-99999999999999999999 * * * *", "* * 30 2 *", "５ * * * *",
	"\xff", "@",
}

// No text makes Parse panic. The String of a valid schedule parses to an equal schedule,
// and its due times are strictly later than the argument of Next, and match.
func FuzzParse(f *testing.F) {
	for _, spec := range seedSpecs {
		f.Add(spec, int64(1772952000)) // the night of March 8, 2026
	}
	ny := zone(f, "America/New_York")
	f.Fuzz(func(t *testing.T, spec string, unix int64) {
		s, err := cron.ParseIn(spec, ny)
		if err != nil {
			checkPlace(t, err)
			if s != (cron.Schedule{}) {
				t.Fatalf("schedule %q and an error, want the zero Schedule", s)
			}
			return
		}
		again, err := cron.ParseIn(s.String(), s.Location())
		if err != nil {
			t.Fatalf("%q became %q: %v", spec, s, err)
		}
		if again.String() != s.String() || again.Location().String() != s.Location().String() {
			t.Fatalf("%q in %v became %q in %v", s, s.Location(), again, again.Location())
		}
		after := time.Unix(unix, 0)
		for range 4 {
			next := s.Next(after)
			if other := again.Next(after); !other.Equal(next) {
				t.Fatalf("%q after %v: %v, and %v when parsed again", spec, after, next, other)
			}
			if next.IsZero() {
				break
			}
			if !next.After(after) {
				t.Fatalf("%q: %v is not later than %v", spec, next, after)
			}
			if next.Location() != s.Location() {
				t.Fatalf("%q: due in %v, want %v", spec, next.Location(), s.Location())
			}
			checkMatch(t, s, next)
			after = next
		}
	})
}

// checkMatch requires that the wall time of due matches, unless a gap ends there.
func checkMatch(t *testing.T, s cron.Schedule, due time.Time) {
	t.Helper()
	o, ok := oracleOf(s)
	if !ok {
		return
	}
	if gapEnd, _ := due.ZoneBounds(); !o.starred && due.Equal(gapEnd) {
		return
	}
	if due.Second() != 0 || due.Nanosecond() != 0 || !o.matches(due) {
		t.Fatalf("%q is due at %v, which does not match", s, due)
	}
}

// Next agrees with the oracle in any window of any zone of oracleZones.
func FuzzNext(f *testing.F) {
	for i, spec := range seedSpecs {
		f.Add(spec, uint8(i), int64(1772952000)+int64(i)*86400*30)
	}
	f.Fuzz(func(t *testing.T, spec string, zoneIndex uint8, unix int64) {
		s, err := cron.ParseIn(spec, zone(t, oracleZones[int(zoneIndex)%len(oracleZones)]))
		if err != nil {
			return
		}
		if _, ok := oracleOf(s); !ok {
			return
		}
		// From 1973 on, when all offsets are whole minutes, to 2141.
		const first, span = 94694400, 168 * 365 * 86400
		unix = first + (unix%span+span)%span
		start := time.Unix(unix/60*60, 0)
		if _, change := start.In(s.Location()).ZoneBounds(); unix%2 == 0 && !change.IsZero() {
			start = change.Add(-time.Duration(unix/60%2000) * time.Minute)
		}
		compare(t, s.String(), s.Location(), start, start.Add(50*time.Hour), time.Minute)
	})
}
