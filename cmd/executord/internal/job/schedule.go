package job

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/executor-go/executor/cron"
)

// Shortest is the least distance of @every. Below it a job would do little but
// start processes and write its log.
const Shortest = 100 * time.Millisecond

// Schedule determines when a job is due.
type Schedule struct {
	Text    string // as the file has it; for fields in another language than cron's, what package cron makes of them
	AtStart bool   // @reboot: once, when the daemon starts, and never again
	After   bool   // @after: at no time, but after other jobs

	times cron.Schedule
	every time.Duration // what Every returns
}

// A Trigger returns when a job is due next. It is what executor.On takes.
type Trigger interface {
	Next(after time.Time) time.Time
}

// ScheduleError describes a mistake in a schedule, with a hint.
type ScheduleError struct{ What, Hint string }

func (e *ScheduleError) Error() string { return e.What }

// ParseSchedule reads a schedule: five fields, @hourly and its kin, @every
// with a duration, @reboot, or @after. Fields are read in the zone of a CRON_TZ=
// prefix, or else in loc. The notes say what is allowed and hardly meant.
func ParseSchedule(text string, loc *time.Location) (s Schedule, notes []*ScheduleError, wrong *ScheduleError) {
	return Syntax{Zone: loc}.ParseSchedule(text)
}

// ParseSchedule reads a schedule as the function of that name does, with the fields of the syntax.
func (x Syntax) ParseSchedule(text string) (s Schedule, notes []*ScheduleError, wrong *ScheduleError) {
	s = Schedule{Text: text}
	if strings.EqualFold(strings.TrimSpace(text), "@reboot") {
		s.AtStart = true
		return s, nil, nil
	}
	if strings.EqualFold(strings.TrimSpace(text), "@after") {
		s.After = true
		return s, nil, nil
	}
	times, loose, err := x.parse(text)
	if err != nil {
		return Schedule{}, nil, explain(err)
	}
	s.times, s.Text = times, plainText(text, times)
	for _, note := range loose {
		notes = append(notes, explain(note))
	}
	if strings.HasPrefix(s.times.String(), "@every") {
		s.every = s.times.Next(time.Unix(0, 0)).Sub(time.Unix(0, 0))
		if s.every < Shortest {
			return Schedule{}, nil, &ScheduleError{
				What: fmt.Sprintf("@every %v is too short", s.every),
				Hint: fmt.Sprintf("use %v or more, or let the command itself repeat its work", Shortest),
			}
		}
	}
	return s, append(notes, s.odd()...), nil
}

// explain splits an error of package cron into what and hint.
func explain(err error) *ScheduleError {
	var e *cron.ParseError
	if !errors.As(err, &e) {
		return &ScheduleError{What: err.Error()}
	}
	what, hint := e.Problem, e.Hint
	switch e.Field {
	case "":
	case "word":
		// which package cron does not have
		hint = strings.Replace(hint, " and @every", ", @every, @reboot and @after", 1)
		what = fmt.Sprintf("%q: %s", shorten(e.Text), what)
	case "interval":
		what = fmt.Sprintf("@every %q: %s", shorten(e.Text), what)
	default:
		what = fmt.Sprintf("%s %q: %s", e.Field, shorten(e.Text), what)
	}
	return &ScheduleError{What: what, Hint: hint}
}

// Describe returns the schedule in English words, as "at 02:30 on Monday to Friday, Europe/Berlin".
func (s Schedule) Describe() string {
	if s.AtStart {
		return "once, when executord starts"
	}
	if s.After {
		return "after other jobs"
	}
	words := s.times.Describe()
	if s.Location() == time.Local {
		if clock, ok := strings.CutSuffix(words, "local time"); ok {
			words = clock + s.ZoneName()
		}
	}
	return words
}

// Every returns the distance of @every, 0 for all other schedules.
func (s Schedule) Every() time.Duration { return s.every }

// Calendar returns the times of a schedule that has no Every, read in the zone
// of that name unless the text names one.
func (s Schedule) Calendar(zone string) (cron.Schedule, error) {
	loc, err := LoadZone(zone)
	if err != nil {
		return cron.Schedule{}, err
	}
	times, _, err := cron.ParseLenient(s.Text, loc)
	return times, err
}

// ZoneName returns the name of the zone the schedule is read in. For the
// daemon's own it is the name that the zone has on any machine, if it has one,
// else Local.
func (s Schedule) ZoneName() string {
	if loc := s.Location(); loc != time.Local {
		return loc.String()
	}
	return localZone()
}

// Location returns the zone the schedule is read in.
func (s Schedule) Location() *time.Location { return s.times.Location() }

// From returns the trigger for a daemon that starts at the given time, nil for
// a job that is due AtStart or After others only.
//
// The times of @every lie on a grid from start, to the millisecond so that they
// can be read; the time it takes to wake up does not add up. A calendar needs no
// start.
func (s Schedule) From(start time.Time) Trigger {
	switch {
	case s.AtStart, s.After:
		return nil
	case s.every > 0:
		return Grid{start.Round(0).Truncate(time.Millisecond), s.every}
	}
	return s.times
}

// Grid is due at Start + n×Every for all n, also those below zero: a clock that
// was ahead at the start is set back, and the job must not wait until that time
// comes round again.
type Grid struct {
	Start time.Time
	Every time.Duration // positive
}

// Next returns the first time after another.
func (g Grid) Next(after time.Time) time.Time {
	passed := after.Sub(g.Start) // saturates, after 292 years
	next := g.Start.Add(passed - passed%g.Every)
	if !next.After(after) { // it is later only before the start
		next = next.Add(g.Every)
	}
	return next
}
