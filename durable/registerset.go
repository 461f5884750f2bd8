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
	KeepAbsent  Absent = iota // the schedules go on
	PauseAbsent               // the schedules are paused until Resume, even if they are in the set again
	// DeleteAbsent deletes the schedules with their history. A schedule that is running is canceled instead, and its
	// Job.Absent is set: a later registration treats it as if it were deleted.
	DeleteAbsent
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
// schedules do not change. After another error RegisterSet may be called again. If programs of two versions call it at
// the same time, the call that ends last decides which schedules are absent: it registers again what the other one has
// deleted meanwhile.
func (j *Jobs) RegisterSet(ctx context.Context, set ScheduleSet, schedules ...PreparedSchedule) (RegisteredSet, error) {
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
	treated := make(map[ID]bool)
	for again := true; again; {
		err := j.goingOn(ctx, set.Prefix, func(job Job) error {
			if present[job.Key] || treated[job.ID] || job.Absent || job.State == Paused && set.Absent == PauseAbsent {
				return nil
			}
			answer, err := j.absent(ctx, set.Absent, job.ID)
			if err == nil {
				treated[job.ID] = true
				r.Absent = append(r.Absent, AbsentSchedule{job, answer})
			}
			return err
		})
		if again = set.Absent == DeleteAbsent; again && err == nil {
			again, err = j.putBack(ctx, set.Prefix, schedules, r.Schedules)
		}
		if err != nil {
			return r, err
		}
	}
	return r, dead
}

// goingOn calls each for the schedules that are not over and whose keys begin with a prefix.
func (j *Jobs) goingOn(ctx context.Context, prefix string, each func(Job) error) error {
	f := Filter{Prefix: prefix, States: []State{Waiting, Claimed, Confirmed, Running, Paused}, Limit: 500}
	for {
		page, err := j.List(ctx, f)
		if err != nil {
			return err
		}
		for _, job := range page {
			if !job.Periodic() {
				continue
			}
			if err := each(job); err != nil {
				return err
			}
		}
		if len(page) < f.Limit {
			return nil
		}
		f.After = page[len(page)-1].ID
	}
}

// putBack registers again those of the schedules that another program has deleted after they were registered, or is to
// delete after their run. It reports whether there were any.
func (j *Jobs) putBack(ctx context.Context, prefix string, schedules []PreparedSchedule, results []Registered) (bool, error) {
	there := make(map[string]bool)
	if err := j.goingOn(ctx, prefix, func(job Job) error { there[job.Key] = !job.Absent; return nil }); err != nil {
		return false, err
	}
	var places []int
	var missing []PreparedSchedule
	for i, s := range schedules {
		if there[s.Key()] {
			continue
		}
		switch job, err := j.Find(ctx, s.Key()); {
		case errors.Is(err, ErrNotFound), err == nil && job.Absent:
			places, missing = append(places, i), append(missing, s)
		case err != nil:
			return false, err
		}
	}
	again, err := j.Register(ctx, missing...)
	for i, k := range places {
		if i < len(again) {
			results[k] = again[i]
		}
	}
	return len(missing) > 0, err
}

// absent does to a schedule what is to be done to those that are absent.
func (j *Jobs) absent(ctx context.Context, what Absent, id ID) (Answer, error) {
	switch what {
	case PauseAbsent:
		return j.Pause(ctx, id)
	case DeleteAbsent:
		for {
			answer, err := j.Delete(ctx, id)
			if err != nil || answer != TooLate {
				return answer, err
			}
			answer, err = j.change(ctx, id, Change{Op: OpCancel, Absent: true}) // it runs
			if err != nil || answer == Deferred {
				return answer, err
			}
		} // its run has ended meanwhile
	}
	return Applied, nil
}
