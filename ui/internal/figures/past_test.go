package figures

import (
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
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
