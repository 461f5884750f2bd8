package durable

import (
	"context"
	"strconv"
	"strings"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/node"
	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// A Kind is a kind of job whose payload is a P and whose result is an R, both kept as JSON, or as what Config.Codec
// makes of that. Jobs are added and awaited
// by its methods.
type Kind[P, R any] struct {
	jobs *Jobs
	name string
}

// Handle makes this program run jobs of the kind with fn, and returns the Kind. The store knows the kind by its name:
// it must be the same in all programs, and stay when fn gets another name. fn must be safe to call again for the same
// job.
//
// Handle panics if the name, which has 1 to MaxKind bytes, or an option is out of its range, if the kind has a handler
// already, or if fn is nil: a program that only adds jobs calls KindOf instead.
func Handle[P, R any](j *Jobs, name string, fn func(ctx context.Context, payload P) (R, error),
	opts ...HandlerOption) *Kind[P, R] {
	k := &kind{Kind: node.Kind{Name: name, Backoff: executor.Backoff(time.Second, time.Hour)}}
	err := checkName("kind", name, MaxKind)
	switch {
	case err != nil:
	case fn == nil:
		err = invalid("kind %q: its handler must not be nil", name)
	case strings.HasPrefix(name, scheduleKind):
		err = invalid("kind %q: it is that of schedules with OnOverlap, which need no handler; use another name", name)
	case name == ResumingKind:
		err = invalid("kind %q: it is that of jobs that end pauses, which need no handler; use another name", name)
	}
	for _, opt := range opts {
		switch {
		case err != nil:
		case opt == nil:
			err = invalid("kind %q: nil HandlerOption", name)
		default:
			err = opt(k)
		}
	}
	if err != nil {
		panic(err)
	}
	k.Encode = func(what string, v any, limit int) ([]byte, error) { return j.encode(name, what, v, limit) }
	k.Decode = func(what string, data []byte, v any) error { return j.decode(name, what, data, v) }
	k.Handle = func(ctx context.Context, payload []byte) ([]byte, error) {
		var p P
		if err := k.Decode("payload of kind "+strconv.Quote(name), payload, &p); err != nil {
			return nil, err
		}
		r, err := fn(ctx, p)
		if err != nil {
			return nil, err
		}
		return k.Encode("result", r, MaxResult)
	}
	if j.parts.Limiter == nil && (store.KindLimit{Rate: k.Rate, PerPartition: k.PerPartition}).Limited() {
		panic(j.lacks("limits of kind "+strconv.Quote(name), "Limiter"))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.mu.kinds[name] != nil {
		panic(invalid("kind %q: it has a handler already", name))
	}
	j.mu.kinds[name] = &k.Kind
	if schedules := ScheduleKind(name); j.parts.Graph != nil && len(schedules) <= MaxKind {
		j.mu.kinds[schedules] = j.firingKind(name, k.decide)
	}
	if j.mu.kinds[ResumingKind] == nil {
		j.mu.kinds[ResumingKind] = j.resumingKind()
	}
	return KindOf[P, R](j, name)
}

// KindOf returns the Kind for a program that adds jobs of the kind and awaits them, while other programs run them. It
// is Handle without a handler. The name is checked when a job is added.
func KindOf[P, R any](j *Jobs, name string) *Kind[P, R] {
	return &Kind[P, R]{j, name}
}

// Add adds a job that runs once, as soon as a worker is free. Add returns when the store has the job. If it returns an
// error that does not match executor.ErrInvalid, the job may have been added nevertheless; with a [Key], the call can
// safely be repeated. Add panics if ctx is nil, as all methods of Kind do.
func (k *Kind[P, R]) Add(ctx context.Context, payload P, opts ...Option) (ID, error) {
	return k.AddAfter(ctx, 0, payload, opts...)
}

// AddAfter is Add of a job that is due after delay; a negative delay counts as 0. Java: schedule.
func (k *Kind[P, R]) AddAfter(ctx context.Context, delay time.Duration, payload P, opts ...Option) (ID, error) {
	return k.add(ctx, NewJob{Schedule: store.Once, Delay: max(delay, 0)}, payload, opts)
}

// AddAt is Add of a job that is due at the time t on the store's clock, in the years 1 to 9999. If t has passed, the
// job is due at once.
func (k *Kind[P, R]) AddAt(ctx context.Context, t time.Time, payload P, opts ...Option) (ID, error) {
	mustContext(ctx)
	if err := checkTime(t); err != nil {
		return ID{}, err
	}
	return k.add(ctx, NewJob{Schedule: store.Once, Due: t}, payload, opts)
}

// AtFixedRate registers a periodic job, identified by its key. It runs first after initial, and then once in each
// period, on any node. If the job exists already, it gets this payload and these options; its times change only if the
// period differs. A job that was canceled, is dead or was ended by executor.ErrStop does not begin again for as long as it
// is kept, unless ReuseKey is given. If the job is dead, because run after run was lost with its node, AtFixedRate
// returns its ID with an error that matches ErrDead. In the other cases there is no error, and Job.State has the state.
//
// A negative initial counts as 0. The period must be at least a microsecond, and is rounded down to whole microseconds.
// Runs never overlap. A run that fails is tried again; executor.ErrStop ends the schedule. Java: scheduleAtFixedRate.
//
// The times are counted from when the job was registered first. To count them from an instant of yours, call On with a
// spec such as cron.MustParse("CRON_TZ=Europe/Berlin @since 2026-12-01 14:00 every 7d").
func (k *Kind[P, R]) AtFixedRate(ctx context.Context, key string, initial, period time.Duration, payload P,
	opts ...Option) (ID, error) {
	mustContext(ctx)
	return k.PrepareAtFixedRate(key, initial, period, payload, opts...).register(ctx)
}

// WithFixedDelay is AtFixedRate, except that each run is due one delay after the end of the one before. Java:
// scheduleWithFixedDelay.
func (k *Kind[P, R]) WithFixedDelay(ctx context.Context, key string, initial, delay time.Duration, payload P,
	opts ...Option) (ID, error) {
	mustContext(ctx)
	return k.PrepareWithFixedDelay(key, initial, delay, payload, opts...).register(ctx)
}

// On is AtFixedRate with the times of a trigger: a cron.Schedule, or a NamedTrigger. A schedule in time.Local is read
// in the zone of the node that computes the next time; name the zone if the nodes differ. Zones are kept by their
// names. A zone that is not in the time zone database, such as most zones of time.FixedZone, is an error. So is a
// trigger whose first time is not later than now. If a later time is not after the one before it, the job is dead after
// that run. A time after the year 9999 counts as the end of the schedule.
func (k *Kind[P, R]) On(ctx context.Context, key string, trigger executor.Trigger, payload P,
	opts ...Option) (ID, error) {
	mustContext(ctx)
	return k.PrepareOn(key, trigger, payload, opts...).register(ctx)
}

// Await waits until the job is done and returns its result. The error is a *JobError if the job is dead or canceled,
// ErrNotFound if it does not exist or was removed, the error of ctx if ctx ends first, and the error of the store if a
// call of the store fails.
func (k *Kind[P, R]) Await(ctx context.Context, id ID) (R, error) {
	var r R
	job, err := k.jobs.Await(ctx, id)
	if err != nil {
		return r, err
	}
	if len(job.Result) == 0 {
		return r, nil
	}
	return r, k.jobs.decode(k.name, "result of job "+id.String(), job.Result, &r)
}

// Payload returns the payload of job, which is of this kind, or a schedule with OnOverlap of runs of this kind.
func (k *Kind[P, R]) Payload(job Job) (P, error) {
	var p P
	job, _, _ = unwrap(job)
	return p, k.jobs.decode(k.name, "payload of job "+job.ID.String(), job.Payload, &p)
}

func checkTime(t time.Time) error {
	if t.IsZero() {
		return invalid("zero time: a job runs at the time that it is given; for at once call Add")
	}
	if kept := timetable.Ceil(t); kept.IsZero() || kept.Year() < 1 || kept.Year() > 9999 {
		return invalid("time %v: it must be in the years 1 to 9999", t)
	}
	return nil
}
