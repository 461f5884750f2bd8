package durable

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Absent is what RegisterSet does with the schedules that are in the store and not in the set.
type Absent uint8

const (
	KeepAbsent   Absent = iota // they go on
	PauseAbsent                // they are paused, until Resume, also if they are in the set again
	DeleteAbsent               // they are removed with their history; one that is running is canceled instead
)

var absentNames = [...]string{"keep", "pause", "delete"}

// String returns "keep", "pause" or "delete".
func (a Absent) String() string {
	if int(a) < len(absentNames) {
		return absentNames[a]
	}
	return fmt.Sprintf("Absent(%d)", uint8(a))
}

// A ScheduleSet is the set of all schedules whose keys begin with Prefix, as "app/": those that the program has in its
// code, and no others. What users make at run time has keys with another beginning.
type ScheduleSet struct {
	Prefix string // must not be empty
	Absent Absent
}

// RegisteredSet is the result of RegisterSet.
type RegisteredSet struct {
	Schedules []Registered // in the order of the arguments, see Register
	Absent    []AbsentSchedule
}

// An AbsentSchedule is one that was in the store and is not in the set.
type AbsentSchedule struct {
	Job Job // as it was before
	// Answer is that of Pause, Delete or Cancel: NotFound if it is not there any more, Deferred if it is running. It is
	// Applied for KeepAbsent.
	Answer Answer
}

// RegisterSet registers schedules as Register does, and then does what set asks for to those that the store has under
// the prefix and that are not among them: so a schedule that was taken out of the code does not go on for ever. Jobs
// that run once are left alone, and so are schedules that are over or, with PauseAbsent, paused.
//
// All keys must begin with the prefix. The set may be empty. If Register returns an error, except ErrDead,
// nothing is done to the absent. After another error RegisterSet may be called again. While programs of two versions
// are starting, what one has and the other lacks is registered and absent in turn: the last to start decides.
func (j *Jobs) RegisterSet(ctx context.Context, set ScheduleSet, schedules ...Registration) (RegisteredSet, error) {
	mustContext(ctx)
	var r RegisteredSet
	if err := checkName("prefix of a set of schedules", set.Prefix, MaxKey); err != nil {
		return r, err
	}
	if int(set.Absent) >= len(absentNames) {
		return r, invalid("%v: it must be KeepAbsent, PauseAbsent or DeleteAbsent", set.Absent)
	}
	present := make(map[string]bool, len(schedules))
	for i, s := range schedules {
		if !strings.HasPrefix(s.Key(), set.Prefix) {
			return r, invalid("schedule %d: key %q: it must begin with the prefix of the set, %q", i, s.Key(), set.Prefix)
		}
		present[s.Key()] = true
	}
	var dead error
	var err error
	if r.Schedules, err = j.Register(ctx, schedules...); errors.Is(err, ErrDead) {
		dead = err
	} else if err != nil {
		return r, err
	}
	f := Filter{Prefix: set.Prefix, States: []State{Waiting, Claimed, Confirmed, Running, Paused}, Limit: 500}
	for {
		page, err := j.List(ctx, f)
		if err != nil {
			return r, err
		}
		for _, job := range page {
			if !job.Periodic() || present[job.Key] || job.State == Paused && set.Absent == PauseAbsent {
				continue
			}
			answer, err := j.absent(ctx, set.Absent, job.ID)
			if err != nil {
				return r, err
			}
			r.Absent = append(r.Absent, AbsentSchedule{job, answer})
		}
		if len(page) < f.Limit {
			return r, dead
		}
		f.After = page[len(page)-1].ID
	}
}

// absent does to a schedule what is to be done to those that are absent.
func (j *Jobs) absent(ctx context.Context, what Absent, id ID) (Answer, error) {
	switch what {
	case PauseAbsent:
		return j.Pause(ctx, id)
	case DeleteAbsent:
		answer, err := j.Delete(ctx, id)
		if err == nil && answer == TooLate { // it runs
			return j.Cancel(ctx, id)
		}
		return answer, err
	}
	return Applied, nil
}
