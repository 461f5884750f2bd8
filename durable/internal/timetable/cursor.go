package timetable

import (
	"context"
	"time"
)

// A Cursor is how far a node has gone along a trigger, for a job that catches up: from the time that its latest
// run here is for, to the last that was due then. The next run goes on from there. Beginning anew, a job with n runs to
// catch up with would ask its trigger n*n times, since a trigger has no way back and does not count the times between
// two others.
type Cursor struct {
	from, to time.Time
	n        int // times from one to the other, both counted; 0 for a cursor that is not set
}

// latest returns the time from which a job catches up: of the trigger's times from t, which is one, to now, the latest
// most are run, and it is the first of these. The error is ctx's cause if that ends first.
func (w *Cursor) latest(ctx context.Context, most int, t, now time.Time, tt Timetable) (time.Time, error) {
	steps := 0
	next := func(t time.Time) time.Time { return tt.Next(time.Time{}, t, now) }
	switch {
	case w.n > 0 && t.Equal(w.from):
	case w.n > 1 && t.Equal(next(w.from)):
		w.from, w.n = t, w.n-1
	default: // another node was there meanwhile, or somebody who moved the job
		*w = Cursor{t, t, 1}
	}
	for ; w.n > most; w.n-- { // the policy allows fewer than it did
		w.from = next(w.from)
	}
	for n := next(w.to); n.After(w.to) && !n.After(now); n = next(n) {
		if steps++; steps%1000 == 0 && ctx.Err() != nil {
			return t, context.Cause(ctx)
		}
		if steps == maxWalk {
			w.leap(ctx, most, now, tt)
			n = w.to
			continue
		}
		if w.to = n; w.n < most {
			w.n++
		} else {
			w.from = next(w.from)
		}
	}
	return w.from, nil
}

// leap moves the cursor near to now, over times that are too many to ask the trigger for one after the other. It finds
// the last time as latestOfTrigger does, and goes back from there until most times are in between: in one step if all
// are equally far apart, else, as on a calendar, in ever longer ones. The cursor stays if that would be no shorter than
// going on, or if ctx has ended.
func (w *Cursor) leap(ctx context.Context, most int, now time.Time, tt Timetable) {
	last := tt.latestOfTrigger(w.to, now)
	next := func(t time.Time) time.Time { return tt.Next(time.Time{}, t, now) }
	distance := next(w.to).Sub(w.to)
	if time.Duration(most) >= last.Sub(w.to)/distance {
		return
	}
	// count returns how many times there are from one to the last, both counted: most + 1 if there are more than most,
	// and 0 once ctx has ended.
	count := func(from time.Time) (n int) {
		for n = 1; from.Before(last) && n <= most; n++ {
			if from = next(from); n%1000 == 0 && ctx.Err() != nil {
				return 0
			}
		}
		return n
	}
	first := last.Add(-time.Duration(most-1) * distance)
	if next(first.Add(-distance)).Equal(first) && count(first) == most {
		*w = Cursor{first, last, most}
		return
	}
	for back := max(distance, time.Second); last.Sub(w.to)/2 > back; back *= 2 {
		from := next(last.Add(-back))
		if n := count(from); n >= most {
			// From there to the last there are enough; latest goes on step by step.
			*w = Cursor{from, from, 1}
			return
		}
	}
}

// GoesOn reports whether there is something to go on with.
func (w *Cursor) GoesOn() bool { return w.n > 1 }
