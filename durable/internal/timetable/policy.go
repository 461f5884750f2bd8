package timetable

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// The texts of the policies, see durable.Missed.
const (
	Coalesce    = "coalesce"
	SkipOverlap = "skip overlap"
)

// Skip returns the text of durable.Skip.
func Skip(grace time.Duration) string { return "skip " + grace.String() }

// CatchUp returns the text of durable.CatchUp.
func CatchUp(most int) string { return "catchup " + strconv.Itoa(most) }

// maxCatchUp is the most occurrences of a trigger that CatchUp runs. To know which these are, the trigger is asked some
// times for each: a policy that allows a billion would keep a worker for hours before the first run.
const maxCatchUp = 100_000

// A Policy is the meaning of the text in Job.Missed.
type Policy struct {
	skip        bool
	grace       time.Duration
	max         int // of CatchUp, else 0
	SkipOverlap bool
}

// ParsePolicy reads the text of a policy.
func ParsePolicy(text string) (Policy, error) {
	if text == SkipOverlap {
		return Policy{SkipOverlap: true}, nil
	}
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case Coalesce, "":
		return Policy{}, nil
	case "skip":
		if d, err := time.ParseDuration(rest); err == nil && d > 0 {
			return Policy{skip: true, grace: d}, nil
		}
		return Policy{}, invalid("policy %q: the grace must be positive", text)
	case "catchup":
		if n, err := strconv.Atoi(rest); err == nil && n > 0 {
			return Policy{max: n}, nil
		}
		return Policy{}, invalid("policy %q: the number must be positive", text)
	}
	return Policy{}, invalid("policy %q: it must be coalesce, skip, skip overlap or catchup", text)
}

// CatchesUp reports whether each occurrence that was missed is run.
func (p Policy) CatchesUp() bool { return p.max > 0 }

// Walks reports whether to catch up may take long: a trigger is asked for one time after the other.
func (p Policy) Walks(tt Timetable) bool { return p.max > 0 && tt.trigger != nil }

// Occurrence returns the occurrence that a run which begins now is for, if the schedule has t. It reports false if
// there is none to run: then the one returned is the last to be left out. w is the job's cursor. The error is ctx's
// cause, if that ends before the trigger was asked for all that there is to catch up with.
func (tt Timetable) Occurrence(ctx context.Context, p Policy, anchor, t, now time.Time,
	w *Cursor) (o time.Time, ok bool, err error) {
	if t.After(now) || !tt.Known() || tt.delay > 0 {
		return t, true, nil
	}
	if p.Walks(tt) {
		o, err = w.latest(ctx, min(p.max, maxCatchUp), t, now, tt)
		return o, true, err
	}
	last := tt.latest(anchor, t, now)
	switch {
	case p.skip:
		return last, now.Sub(last) <= p.grace, nil
	case p.max == 0:
		return last, true, nil
	case last.Sub(t)/tt.rate < time.Duration(p.max):
		return t, true, nil // max periods may be more than a Duration can hold
	}
	return last.Add(-time.Duration(p.max-1) * tt.rate), true, nil
}
