package durable

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Absent says what RegisterSet does with the schedules that are in the store but not in the set.
type Absent uint8

const (
	KeepAbsent   Absent = iota // the schedules go on
	PauseAbsent                // the schedules are paused until Resume, even if they are in the set again
	DeleteAbsent               // the schedules are deleted with their history; a schedule that is running is canceled instead
)

var absentNames = [...]string{"keep", "pause", "delete"}

// String returns "keep", "pause" or "delete".
func (a Absent) String() string {
	if int(a) < len(absentNames) {
		return absentNames[a]
	}
	return fmt.Sprintf("Absent(%d)", uint8(a))
}

// A ScheduleSet is the set of all schedules whose keys begin with Prefix, such as "app/": those that the program has in
// its code, and no others. Give schedules that users make at run time another prefix.
type ScheduleSet struct {
	Prefix string // must not be empty
	Absent Absent
}

// RegisteredSet is the result of RegisterSet.
type RegisteredSet struct {
	Schedules []Registered // in the order of the arguments, see Register
	Absent    []AbsentSchedule
}

// An AbsentSchedule is a schedule that was in the store but is not in the set.
type AbsentSchedule struct {
	Job Job // the schedule as it was before
	// Answer is the answer of Pause, Delete or Cancel: NotFound if the schedule no longer exists, Deferred if it is
	// running. It is Applied for KeepAbsent.
	Answer Answer
}

// RegisterSet registers schedules as Register does. Then it applies set.Absent to the schedules in the store whose keys
// begin with the prefix and that are not among the arguments, so that a schedule which was removed from the code ends.
// Jobs that run once do not change, nor do schedules that have ended or, with PauseAbsent, are paused already.
//
// All keys must begin with the prefix. The set may be empty. If Register returns an error, except ErrDead, the absent
// schedules do not change. After another error RegisterSet may be called again. If programs of two versions start at
// the same time, the one that starts last decides which schedules are absent.
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
