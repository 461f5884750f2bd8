package durable

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable/store"
)

// timetable is the meaning of the text in Job.Schedule.
type timetable struct {
	rate, delay time.Duration
	trigger     executor.Trigger
}

// known reports whether tt is that of a periodic job.
func (tt timetable) known() bool { return tt.rate > 0 || tt.delay > 0 || tt.trigger != nil }

// parseTimetable reads the text of a schedule. Triggers are looked up by name.
func parseTimetable(text string, named map[string]executor.Trigger) (timetable, error) {
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case store.Once:
		return timetable{}, nil
	case "rate", "delay":
		d, err := time.ParseDuration(rest)
		if err != nil || d < time.Microsecond {
			return timetable{}, invalid("schedule %q: the distance must be at least 1µs", text)
		}
		if word == "rate" {
			return timetable{rate: d}, nil
		}
		return timetable{delay: d}, nil
	case "cron":
		s, _, err := cron.ParseLenient(rest, nil)
		if err != nil {
			return timetable{}, invalid("schedule %q: %w", text, err)
		}
		return timetable{trigger: s}, nil
	case "trigger":
		if t := named[rest]; t != nil {
			return timetable{trigger: t}, nil
		}
		return timetable{}, invalid("schedule %q: Config.Triggers of this program has no %q", text, rest)
	}
	return timetable{}, invalid("schedule %q: it must begin with once, rate, delay, cron or trigger", text)
}

// triggerText returns the text of a schedule by t.
func triggerText(t executor.Trigger, named map[string]executor.Trigger) (string, error) {
	if s, ok := t.(cron.Schedule); ok {
		text := s.String()
		if !strings.HasPrefix(text, "CRON_TZ=") && !strings.HasPrefix(text, "@every") {
			zone := s.Location().String()
			if s.Location() == time.Local {
				zone = "Local" // its own name is what TZ says, a path even
			}
			text = "CRON_TZ=" + zone + " " + text
		}
		kept, _, err := cron.ParseLenient(text, nil)
		if err != nil {
			return "", invalid("trigger %q can't be kept as text: %w", text, err)
		}
		if !strings.HasPrefix(text, "@every") && !sameZone(s.Location(), kept.Location()) {
			return "", invalid("trigger %q can't be kept as text: the zone %s of the time zone database is another one; give one of its names, as in CRON_TZ=Asia/Tokyo", text, s.Location())
		}
		return "cron " + text, nil
	}
	if n, ok := t.(NamedTrigger); ok {
		if named[string(n)] == nil {
			return "", invalid("trigger %q is not in Config.Triggers", string(n))
		}
		return "trigger " + string(n), nil
	}
	return "", invalid("trigger %T: it must be a cron.Schedule, or a NamedTrigger of one in Config.Triggers; for a fixed distance call AtFixedRate or WithFixedDelay", t)
}

// sameZone reports whether clocks in a and b show the same. A zone that a program has made may have any name, also that
// of another zone.
func sameZone(a, b *time.Location) bool {
	const month = 30 * 24 * time.Hour
	for t := time.Unix(0, 0); t.Year() < 2038; t = t.Add(month) {
		_, x := t.In(a).Zone()
		if _, y := t.In(b).Zone(); x != y {
			return false
		}
	}
	return true
}

// next returns the first time on the schedule after t, the zero Time if there is none that a store keeps. A fixed delay
// has no grid: its next is one delay after end. A trigger may return what is not later than t, see notLater.
func (tt timetable) next(anchor, t, end time.Time) time.Time {
	switch {
	case tt.rate > 0:
		if t.Before(anchor) {
			return anchor
		}
		return onGrid(anchor, t, tt.rate)
	case tt.delay > 0:
		return end.Add(tt.delay)
	case tt.trigger != nil:
		n := tt.trigger.Next(t)
		if n.IsZero() {
			return n
		}
		if n = ceilMicros(n); n.Year() > 9999 {
			return time.Time{}
		}
		return n
	}
	return time.Time{}
}

// notLater returns an error if the next time of a trigger is not later than t, about which it was asked.
func (tt timetable) notLater(t, next time.Time) error {
	if tt.trigger == nil || next.IsZero() || next.After(t) {
		return nil
	}
	return fmt.Errorf("it returned %v after %v, which is not later", next, t)
}

// onGrid returns the first time after t that is some distances after anchor, which is not after t. A Duration holds 292
// years.
func onGrid(anchor, t time.Time, distance time.Duration) time.Time {
	const far = time.Duration(1 << 62)
	for t.Sub(anchor) >= far {
		anchor = anchor.Add(max(far/distance, 1) * distance)
	}
	return anchor.Add((t.Sub(anchor)/distance + 1) * distance)
}

// latest returns the last time on the schedule that is not after now. t is one of its times that is not after now.
func (tt timetable) latest(anchor, t, now time.Time) time.Time {
	switch {
	case tt.rate > 0:
		n := tt.next(anchor, now, now).Add(-tt.rate)
		if now.Before(anchor) || n.Before(t) {
			return t // an occurrence before the grid or off it, as of RunNow
		}
		return n
	case tt.trigger != nil:
		return tt.latestOfTrigger(t, now)
	}
	return t
}

// maxWalk is how many times a trigger is asked for one after the other.
const maxWalk = 10_000

// latestOfTrigger is latest for a trigger. A trigger only goes forward, and where it goes may depend on the time it is
// asked about: one of a fixed distance has no other times than those that follow from t. So this walks from t. If now
// is too far it leaps: by a distance that is always the same or, as on a calendar, to now, from where it steps back
// until some time lies between.
func (tt timetable) latestOfTrigger(t, now time.Time) time.Time {
	next := func(t time.Time) (n time.Time, ok bool) {
		n = tt.next(time.Time{}, t, now)
		return n, n.After(t) && !n.After(now)
	}
	for range maxWalk {
		n, ok := next(t)
		if !ok {
			return t
		}
		t = n
	}
	n, ok := next(t)
	if !ok {
		return t
	}
	distance := n.Sub(t)
	last := onGrid(t, now, distance).Add(-distance)
	if n, _ := next(last.Add(-distance)); n.Equal(last) {
		if _, more := next(last); !more {
			return last
		}
	}
	for back := time.Second; now.Add(-back).After(t); back *= 2 {
		if n, ok := next(now.Add(-back)); ok {
			t = n
			break
		}
	}
	for n, ok := next(t); ok; n, ok = next(t) {
		t = n
	}
	return t
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Missed is a policy for occurrences that no node ran when they were due. The zero Missed is Coalesce.
type Missed struct{ text string }

// Coalesce runs once for all occurrences that were missed, and goes on with the schedule. It is the default.
func Coalesce() Missed { return Missed{"coalesce"} }

// Skip leaves out what could not begin within grace, which must be positive, after its time. That goes for what RunNow,
// Resume and Revive make due as well, if it waits for longer than that for a node: let grace be more than Config.Poll.
func Skip(grace time.Duration) Missed { return Missed{"skip " + grace.String()} }

// CatchUp runs what was missed, one occurrence after the other, but no more than the latest max, which must be
// positive; nor more than the latest 100,000 of a trigger, which is asked for one time after the other.
func CatchUp(max int) Missed { return Missed{"catchup " + strconv.Itoa(max)} }

// SkipOverlap leaves out the occurrences that fall due while a run of the job is in progress, and makes up by one run,
// as Coalesce does, for those that passed when no node ran the job. LeftOutBefore and LeftOutDuring count both.
func SkipOverlap() Missed { return Missed{skipOverlap} }

const skipOverlap = "skip overlap"

// maxCatchUp is the most occurrences of a trigger that CatchUp runs. To know which these are, the trigger is asked some
// times for each: a policy that allows a billion would keep a worker for hours before the first run.
const maxCatchUp = 100_000

// policy is the meaning of the text in Job.Missed.
type policy struct {
	skip        bool
	grace       time.Duration
	max         int // of CatchUp, else 0
	skipOverlap bool
}

func parsePolicy(text string) (policy, error) {
	if text == skipOverlap {
		return policy{skipOverlap: true}, nil
	}
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "coalesce", "":
		return policy{}, nil
	case "skip":
		if d, err := time.ParseDuration(rest); err == nil && d > 0 {
			return policy{skip: true, grace: d}, nil
		}
		return policy{}, invalid("policy %q: the grace must be positive", text)
	case "catchup":
		if n, err := strconv.Atoi(rest); err == nil && n > 0 {
			return policy{max: n}, nil
		}
		return policy{}, invalid("policy %q: the number must be positive", text)
	}
	return policy{}, invalid("policy %q: it must be coalesce, skip, skip overlap or catchup", text)
}

// walks reports whether to catch up may take long: a trigger is asked for one time after the other.
func (p policy) walks(tt timetable) bool { return p.max > 0 && tt.trigger != nil }

// occurrence returns the occurrence that a run which begins now is for, if the schedule has t. It reports false if
// there is none to run: then the one returned is the last to be left out. w is the job's cursor. The error is ctx's
// cause, if that ends before the trigger was asked for all that there is to catch up with.
func (tt timetable) occurrence(ctx context.Context, p policy, anchor, t, now time.Time,
	w *catchUpCursor) (o time.Time, ok bool, err error) {
	if t.After(now) || !tt.known() || tt.delay > 0 {
		return t, true, nil
	}
	if p.walks(tt) {
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

// A NamedTrigger is a trigger that every node has in its Config.Triggers under the same name. It is for triggers that
// are code, and have no text to be kept by.
type NamedTrigger string

// Next returns the zero Time; the trigger meant is the one in Config.Triggers.
func (NamedTrigger) Next(time.Time) time.Time { return time.Time{} }
