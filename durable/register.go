package durable

import (
	"context"
	"errors"
	"fmt"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/timetable"
)

// A PreparedSchedule is a schedule that [Jobs.Register] registers. The methods PrepareAtFixedRate, PrepareWithFixedDelay
// and PrepareOn of a Kind make it, without a call of the store. It may be registered any number of times.
type PreparedSchedule struct {
	jobs  *Jobs
	job   addition
	times timetable.Timetable // of a trigger, whose first time is computed when it is registered
	err   error               // what is wrong with it
}

// Key returns the key.
func (r PreparedSchedule) Key() string { return r.job.Key }

// PrepareAtFixedRate returns the schedule that AtFixedRate registers.
func (k *Kind[P, R]) PrepareAtFixedRate(key string, initial, period time.Duration, payload P, opts ...Option) PreparedSchedule {
	return k.every(key, "rate", initial, period, payload, opts)
}

// PrepareWithFixedDelay returns the schedule that WithFixedDelay registers.
func (k *Kind[P, R]) PrepareWithFixedDelay(key string, initial, delay time.Duration, payload P, opts ...Option) PreparedSchedule {
	return k.every(key, "delay", initial, delay, payload, opts)
}

func (k *Kind[P, R]) every(key, word string, initial, d time.Duration, payload P, opts []Option) PreparedSchedule {
	text := word + " " + d.Truncate(time.Microsecond).String()
	if _, err := timetable.Parse(text, nil); err != nil {
		return PreparedSchedule{k.jobs, addition{NewJob: NewJob{Key: key}}, timetable.Timetable{}, err}
	}
	return k.registration(NewJob{Key: key, Schedule: text, Delay: max(initial, 0)}, timetable.Timetable{}, payload, opts)
}

// PrepareOn returns the schedule that On registers.
func (k *Kind[P, R]) PrepareOn(key string, trigger executor.Trigger, payload P, opts ...Option) PreparedSchedule {
	text, err := triggerText(trigger, k.jobs.cfg.Triggers)
	var times timetable.Timetable
	if err == nil {
		times, err = timetable.Parse(text, k.jobs.cfg.Triggers)
	}
	if err != nil {
		return PreparedSchedule{k.jobs, addition{NewJob: NewJob{Key: key}}, timetable.Timetable{}, err}
	}
	return k.registration(NewJob{Key: key, Schedule: text}, times, payload, opts)
}

func (k *Kind[P, R]) registration(j NewJob, times timetable.Timetable, payload P, opts []Option) PreparedSchedule {
	add, err := k.prepare(j, payload, opts)
	return PreparedSchedule{k.jobs, add, times, err}
}

// newJob returns the job that is to be added, with an ID of its own. now is asked for the time of the store.
func (r PreparedSchedule) newJob(now func() (time.Time, error)) (addition, error) {
	if r.job.given == (ID{}) {
		r.job.ID = NewID()
	}
	if r.err != nil {
		return r.job, r.err
	}
	if err := r.job.encode(r.jobs); err != nil || !r.times.Triggered() {
		return r.job, err
	}
	t, err := now()
	if err != nil {
		return r.job, err
	}
	if r.job.Due = r.times.Next(time.Time{}, t, time.Time{}); r.job.Due.IsZero() {
		return r.job, invalid("trigger %q: it has no time up to the year 9999", r.job.Schedule)
	}
	if err := r.times.NotLater(t, r.job.Due); err != nil {
		return r.job, invalid("trigger %q: %w", r.job.Schedule, err)
	}
	return r.job, nil
}

// register registers one schedule.
func (r PreparedSchedule) register(ctx context.Context) (ID, error) {
	job, err := r.newJob(func() (time.Time, error) { return r.jobs.now(ctx) })
	if err != nil {
		return ID{}, err
	}
	ids, err := r.jobs.insert(ctx, []addition{job})
	if ids == nil {
		return ID{}, err
	}
	return ids[0], err
}

// An Effect is what a schedule changed in the store.
type Effect uint8

const (
	EffectNone    Effect = iota // the schedule existed, and did not change
	EffectAdded                 // the schedule is new
	EffectChanged               // the schedule existed: its payload, options or times are new
)

var effectNames = [...]string{"unchanged", "added", "changed"}

// String returns "unchanged", "added" or "changed".
func (e Effect) String() string {
	if int(e) < len(effectNames) {
		return effectNames[e]
	}
	return fmt.Sprintf("Effect(%d)", uint8(e))
}

// Registered is the result of a schedule.
type Registered struct {
	Job    Job // the schedule as it is now; the zero Job if it is not in the store
	Effect Effect
	// Err says what is wrong with this schedule: it matches executor.ErrInvalid, ErrKeyTaken or ErrDead. If it is
	// ErrKeyTaken, Job is the job that has the key.
	Err error
}

// Register registers schedules of any kinds with one call of the store, in one transaction: all or none. For schedules
// that exist already, see Kind.AtFixedRate. The results are in the order of the arguments. No two schedules may have
// the same key.
//
// If one is invalid, or another kind of job has its key, none is registered: the error matches executor.ErrInvalid or
// ErrKeyTaken, and the results say what is wrong with which. If one is dead, all are registered, and the error matches
// ErrDead. After other errors, such as those of the store or the codec, there are no results, and Register may be called
// again.
//
// In SQLite no other transaction writes meanwhile: see Kind.AddAll.
func (j *Jobs) Register(ctx context.Context, schedules ...PreparedSchedule) ([]Registered, error) {
	mustContext(ctx)
	if len(schedules) == 0 {
		return nil, nil
	}
	jobs, err := j.check(ctx, schedules)
	if jobs == nil {
		return nil, err
	}
	results := make([]Registered, len(schedules))
	for i := range jobs {
		results[i].Err = jobs[i].err
	}
	if err != nil {
		return results, err
	}
	adds := make([]addition, len(jobs))
	for i := range jobs {
		adds[i] = jobs[i].addition
	}
	news, err := j.newJobs(ctx, adds)
	if err != nil {
		return nil, err
	}
	stored := false
	err = j.adding(ctx, news, func(ctx context.Context) error {
		placed, err := j.place(ctx, news)
		if err != nil {
			return err
		}
		stored = true
		return judge(adds, placed, results)
	})
	if !stored {
		return nil, err
	}
	return results, err
}

// checkedJob is a job that is to be added, or what is wrong with it.
type checkedJob struct {
	addition
	err error
}

// check returns the jobs of registrations, and an error if one of them is wrong. It returns no jobs if the store does
// not know the time, or a codec fails.
func (j *Jobs) check(ctx context.Context, schedules []PreparedSchedule) ([]checkedJob, error) {
	var now time.Time
	ask := func() (t time.Time, err error) {
		if now.IsZero() {
			now, err = j.now(ctx)
		}
		return now, err
	}
	jobs := make([]checkedJob, len(schedules))
	first := make(map[string]int, len(schedules))
	for i, r := range schedules {
		if r.jobs != j {
			jobs[i].err = invalid("schedule %d: it must be made by PrepareAtFixedRate, PrepareWithFixedDelay or PrepareOn of a Kind of these Jobs", i)
			continue
		}
		var err error
		if jobs[i].addition, err = r.newJob(ask); err != nil && !errors.Is(err, executor.ErrInvalid) {
			return nil, err
		}
		if jobs[i].err = err; err != nil {
			continue
		}
		if other, twice := first[r.job.Key]; twice {
			jobs[i].err = invalid("schedule %d: key %q is also that of schedule %d; keys must be unique", i, r.job.Key, other)
		} else {
			first[r.job.Key] = i
		}
	}
	return jobs, firstOf(len(jobs), func(i int) error { return jobs[i].err })
}

// judge fills the results of Register by what the store has answered.
func judge(adds []addition, placed []InsertResult, results []Registered) error {
	for i := range placed {
		n := adds[i]
		n.result = nil // it is left alone unless all are registered
		if _, err := n.accepted(&placed[i]); errors.Is(err, ErrKeyTaken) {
			results[i].Err = err
		}
		results[i].Job = placed[i].Job
	}
	wrong := func(i int) error { return results[i].Err }
	if err := firstOf(len(results), wrong); err != nil {
		return err
	}
	for i := range placed {
		switch {
		case placed[i].Changed && placed[i].ID == adds[i].ID:
			results[i].Effect = EffectAdded
		case placed[i].Changed:
			results[i].Effect = EffectChanged
		}
		_, results[i].Err = adds[i].accepted(&placed[i])
	}
	return firstOf(len(results), wrong)
}

// firstOf returns the first of n errors, nil if there is none, and how many others there are.
func firstOf(n int, of func(i int) error) error {
	var first error
	more := 0
	for i := range n {
		switch err := of(i); {
		case err == nil:
		case first == nil:
			first = err
		default:
			more++
		}
	}
	if more > 0 {
		return fmt.Errorf("%w; and %d more", first, more)
	}
	return first
}
