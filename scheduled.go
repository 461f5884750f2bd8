package executor

import (
	"context"
	"log/slog"
	"time"

	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/rhythm"
	"github.com/executor-go/executor/internal/task"
)

// ScheduledConfig configures a [ScheduledPool]. The zero ScheduledConfig means one worker while something is scheduled,
// and none otherwise.
type ScheduledConfig struct {
	// Name is as in Config.
	Name string

	// Workers is the number of workers to keep, and the most tasks that run at the
	// same time. It must not be negative. With 0, the default, there is one
	// worker as long as something is scheduled. There is no Max: the queue has
	// no limit, so that a pool never grows beyond Workers.
	Workers int

	// KeepAlive and KeepNone are as in Config, but one worker stays as
	// long as a task waits for its time, and others come back when tasks are due.
	KeepAlive time.Duration
	KeepNone  bool

	// Slack is how late a task may begin so that others begin together with it: the pool wakes workers at intervals of
	// at least Slack. The first task after a pause begins on time. With 0, the default, Slack depends on the number of
	// tasks a second: below 2,000 there is none; from 2,000 to 5,000 it grows in proportion from 0.32 ms to 0.8 ms, and
	// then stays at 0.8 ms. It is at most a thousandth of the tasks' mean delay or period. A negative Slack means none.
	Slack time.Duration

	// Reject decides about tasks that come after Shutdown. The default, nil, is
	// Abort.
	Reject RejectPolicy

	// Hooks, Observer and Logger are as in Config.
	Hooks    Hooks
	Observer *Observer
	Logger   *slog.Logger

	// DropDelayed cancels, when the pool is shut down, the tasks of SubmitAfter, GoAfter, SubmitAt and GoAt that are not
	// due yet, with the cause ErrShutdown. By default the pool waits until they are due and have run.
	DropDelayed bool

	// KeepPeriodic lets periodic work go on when the pool is shut down; the pool then terminates when that work has
	// ended. By default, a shutdown cancels periodic work, with the cause ErrShutdown.
	KeepPeriodic bool
}

// A ScheduledPool is a [Pool] whose tasks run at a time: after a delay, at a fixed rate,
// with a fixed delay, or by a trigger. Tasks run in the order of their times, and tasks
// with the same time on the same clock in the order of their submission. The tasks of Go,
// Execute and Submit are due at once.
//
// Times are kept on the monotonic clock to the nanosecond, except those of SubmitAt, GoAt and On: these follow the wall
// clock, also when it is set or the machine sleeps, within 30 seconds. On Linux a free worker begins a task some tens
// of microseconds after its time. On other systems the delay is that of Go's timers.
//
// While goroutines that do not yield occupy all of Go's processors, a task is up to 20 ms late, or more if there are
// many such goroutines. To keep a processor free, set [runtime.GOMAXPROCS] to one more than the number of cores.
type ScheduledPool struct {
	*Pool

	// Every submitter reads what is above. A smaller object would lie in one
	// cache line with others, of which one may be a counter of the tasks' own.
	_ [120]byte
}

// NewScheduled returns a scheduled pool, without any worker yet, or an error
// that matches [ErrInvalid] and says which field of c is out of its range.
func NewScheduled(c ScheduledConfig) (*ScheduledPool, error) {
	if c.Reject == nil {
		c.Reject = Abort
	}
	p := newPool(Config{Name: c.Name, Hooks: c.Hooks, Logger: c.Logger, Reject: c.Reject})
	l := engine.Limits{
		Kept: c.Workers, Max: engine.Unlimited, KeepAlive: c.KeepAlive, KeepNone: c.KeepNone,
	}
	if err := p.check("ScheduledConfig", l, c.Reject); err != nil {
		return nil, err
	}
	if err := c.Observer.check("ScheduledConfig"); err != nil {
		return nil, err
	}
	q := engine.NewDue(p.clock(), c.Slack, false, p.when, stale)
	p.timer = &timer{pool: p, queue: q}
	p.timer.dropped = [...]bool{delayed: c.DropDelayed, periodic: !c.KeepPeriodic}
	p.build(engine.Config{Limits: l, Queue: q})
	if c.Observer != nil {
		p.watchedBy(c.Observer)
	}
	return &ScheduledPool{Pool: p}, nil
}

// Scheduled returns a scheduled pool of n workers; for 0 see ScheduledConfig.Workers. It is
// [NewScheduled] with ScheduledConfig{Workers: n}, changed by the functions in with. It panics
// if n is negative or the ScheduledConfig is invalid.
func Scheduled(n int, with ...func(*ScheduledConfig)) *ScheduledPool {
	if n < 0 {
		panic(invalid("Scheduled(%d): must be at least 0", n).Error())
	}
	c := ScheduledConfig{Workers: n}
	for _, change := range with {
		mustChange(change != nil)
		change(&c)
	}
	return must(NewScheduled(c))
}

// SubmitAfter submits fn to run once, after delay; a negative delay counts as 0. The future fails if p
// does not take the task. ctx is as for [Pool.Execute]: a task that waits when ctx ends is
// canceled.
func SubmitAfter[T any](
	ctx context.Context, p *ScheduledPool, delay time.Duration,
	fn func(context.Context) (T, error), opts ...Option,
) *Future[T] {
	f, _ := once(ctx, p, moment{due: p.fromNow(delay)}, fn, opts)
	return f
}

// GoAfter submits fn to run once, after delay: it is [Pool.Go] with a delay. An error or a
// panic of fn is reported as for Go. The future is for canceling the task or waiting for
// it, and need not be kept. Otherwise GoAfter is like [SubmitAfter]. If the submission fails,
// GoAfter returns a nil future and the error of [Pool.Execute], or one that matches
// [ErrInvalid].
func (p *ScheduledPool) GoAfter(
	ctx context.Context, delay time.Duration, fn func(context.Context) error, opts ...Option,
) (*Future[struct{}], error) {
	return p.once(ctx, moment{due: p.fromNow(delay), reported: true}, fn, opts)
}

// SubmitAt submits fn to run once, at the wall-clock time t, which must not be zero. A time that has passed is due at
// once, before all tasks that were due later. A time after April 2262 counts as the last
// one that 64 bits of nanoseconds hold. Otherwise it is like [SubmitAfter].
func SubmitAt[T any](
	ctx context.Context, p *ScheduledPool, t time.Time,
	fn func(context.Context) (T, error), opts ...Option,
) *Future[T] {
	f, _ := once(ctx, p, atTime(t), fn, opts)
	return f
}

// GoAt submits fn to run once, at the wall-clock time t. It is [SubmitAt] for functions without a result, as GoAfter is
// [SubmitAfter].
func (p *ScheduledPool) GoAt(
	ctx context.Context, t time.Time, fn func(context.Context) error, opts ...Option,
) (*Future[struct{}], error) {
	m := atTime(t)
	m.reported = true
	return p.once(ctx, m, fn, opts)
}

// once submits fn for After and At.
func (p *ScheduledPool) once(
	ctx context.Context, m moment, fn func(context.Context) error, opts []Option,
) (*Future[struct{}], error) {
	p.mustBeMade()
	mustContext(ctx)
	if fn == nil {
		return nil, errNilTask
	}
	f, err := once(ctx, p, m, Func(fn).Call, opts)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// fromNow returns the time after a delay, on the monotonic clock.
func (p *ScheduledPool) fromNow(d time.Duration) int64 {
	p.mustBeMade()
	return delay.After(p.elapsed(), int64(d))
}

// moment is when and how a task is to run once.
type moment struct {
	due      int64 // without the jitter
	wall     bool  // on the wall clock
	jitter   time.Duration
	reported bool // the future need not be kept
	unset    bool // it is the zero time
}

// atTime returns the moment of a wall-clock time.
func atTime(t time.Time) moment {
	return moment{due: max(delay.WallNanos(t), 1), wall: true, unset: t.IsZero()}
}

// once submits fn to run once at m or, by a jitter, later. If it returns an error, that is
// the outcome of the future.
func once[T any](
	ctx context.Context, p *ScheduledPool, m moment, fn func(context.Context) (T, error), opts []Option,
) (*Future[T], error) {
	mustContext(ctx)
	p.mustBeMade()
	t := newTask(fn)
	var err error
	if len(opts) > 0 {
		var o *options
		o, err = gather(delayed, opts)
		adopt(&t.core, o)
		m.jitter = o.jitter
	}
	if m.reported {
		t.core.MakeReported()
	}
	switch {
	case fn == nil:
		err = errNilTask
	case err == nil && m.unset:
		err = invalid("SubmitAt and GoAt: zero time; use Go or Submit for what is to run at once")
	case err == nil:
		err = p.schedule(ctx, t.work(), m)
	}
	if err != nil {
		t.end(task.Failed, err) // unless the end of ctx has canceled it
	}
	return t.Future(), err
}

// schedule submits u to run at m.
func (p *ScheduledPool) schedule(ctx context.Context, u work, m moment) error {
	if m.jitter > 0 {
		m.due = delay.After(m.due, rhythm.Jitter(m.jitter))
	}
	t := u.taskCore()
	t.SetDue(m.due)
	if m.wall {
		t.FollowWallClock()
	}
	t.AttachNew(&p.owner, ctx)
	return p.enter(ctx, u, t, false)
}

// AtFixedRate submits fn to run after the delay initial, and then repeatedly: each run is due one period after the one
// before was due. A run does not overlap with the one before, unless [Overlap] is given; late runs follow each other
// without a pause until they have caught up, unless [CatchUp] says otherwise.
//
// If fn returns an error, the error is recorded and passed to the hooks, and the schedule goes on. If fn returns
// [ErrStop], the series succeeds. If fn panics, the panic is reported, and the series fails. If ctx ends, the series is
// canceled. The Series is done when the schedule has ended.
//
// The times are counted from now. To count them from an instant of yours, as every seven days since a Tuesday at two,
// call [ScheduledPool.On] with a cron.Schedule such as "@since 2026-12-01 14:00 every 7d".
//
// A negative initial counts as 0; period must be positive. If the submission fails,
// AtFixedRate returns a nil Series and the error of [Pool.Execute], or one that matches
// [ErrInvalid].
func (p *ScheduledPool) AtFixedRate(
	ctx context.Context, initial, period time.Duration, fn func(context.Context) error, opts ...Option,
) (*Series, error) {
	return p.every(ctx, initial, FixedRate(period), "AtFixedRate", fn, opts)
}

// WithFixedDelay is like AtFixedRate, but each run is due one delay after the end of the
// one before. delay must be positive.
func (p *ScheduledPool) WithFixedDelay(
	ctx context.Context, initial, delay time.Duration, fn func(context.Context) error, opts ...Option,
) (*Series, error) {
	return p.every(ctx, initial, FixedDelay(delay), "WithFixedDelay", fn, opts)
}

func (p *ScheduledPool) every(
	ctx context.Context, initial time.Duration, trigger Trigger, where string,
	fn func(context.Context) error, opts []Option,
) (*Series, error) {
	p.mustBeMade()
	mustContext(ctx)
	r := rhythmOf(trigger)
	at, err := firstOf(&r, where, p.clock())
	if err != nil {
		return nil, err
	}
	at.Base = p.fromNow(initial)
	return p.repeat(ctx, where, r, at, fn, opts)
}

// On submits fn to run at the wall-clock times that trigger returns, beginning with the first one after now. Each
// further run is due at the first time after the due time of the run before it, or, if that time has passed, at the
// first time after now. So times that pass during a run are skipped, unless [CatchUp] or [Overlap] is given. Otherwise
// On is like AtFixedRate, and with [FixedRate] or [FixedDelay] as the trigger it is AtFixedRate or WithFixedDelay. A
// nil trigger, or one without any time, is an error.
//
// If the wall clock is set back by three hours or more, the next time is computed again, so that a clock that was wrong
// by years does not stop the schedule for years. After a smaller step no time is repeated: the next run is where it
// was. But if the trigger has a method Fixed() bool that returns false, as a [cron.Schedule] whose minute or hour
// begins with a star, it follows the clock after any step of more than a second. The rule is ISC cron's.
//
// [cron.Schedule]: https://pkg.go.dev/github.com/executor-go/executor/cron#Schedule
func (p *ScheduledPool) On(
	ctx context.Context, trigger Trigger, fn func(context.Context) error, opts ...Option,
) (*Series, error) {
	p.mustBeMade()
	mustContext(ctx)
	r := rhythmOf(trigger)
	at, err := firstOf(&r, "On", p.clock())
	if err != nil {
		return nil, err
	}
	return p.repeat(ctx, "On", r, at, fn, opts)
}

func (p *ScheduledPool) repeat(
	ctx context.Context, where string, r rhythm.Rhythm, at rhythm.Slot, fn func(context.Context) error, opts []Option,
) (*Series, error) {
	if fn == nil {
		return nil, errNilTask
	}
	o, err := gather(periodic, opts)
	if err == nil {
		err = o.series.check(where, r)
	}
	if err != nil {
		return nil, err
	}
	if r.EndAt(p.clock(), o.series.until); r.Ended(at.Base) {
		return nil, invalid("Until(%v): it must not be before the first run, at %v",
			o.series.until.Round(0), p.clock().Time(at.Base, r.OnWall()).Round(0))
	}
	s := &Series{pool: p.Pool, rules: o.series, mode: o.mode, rhythm: r, slot: at}
	t := s.taskCore()
	s.future.fn = Func(fn).Call
	t.Init()
	t.MakeReported()
	s.next = r.Delayed(at.Base, o.jitter)
	if r.OnWall() {
		t.FollowWallClock()
	}
	adopt(t, o)
	s.plan.series = s
	cold := t.SetOptions()
	cold.Plan, cold.Repeats = &s.plan, true
	t.AttachNew(&p.owner, ctx)
	due, _ := s.position()
	t.SetDue(due)
	s.member.Value = s.work()
	p.timer.series.add(&s.member)
	if err := p.enter(ctx, s.work(), t, false); err != nil {
		p.timer.series.remove(&s.member)
		return nil, err
	}
	t.OnDone(func() {
		p.timer.series.remove(&s.member)
		s.endWaitingRuns()
		p.seriesEnded(s)
	})
	s.change(func() bool { return s.version > 0 || s.turn == turnCalled }) // on its way into the queue
	return s, nil
}

// mustBeMade panics for a nil or zero ScheduledPool.
func (p *ScheduledPool) mustBeMade() {
	if p == nil {
		(*Pool)(nil).mustBeMade()
	}
	p.Pool.mustBeMade()
}

// Due returns the time at which the body that ctx was given to was due, or the
// zero time if it has no schedule. The lateness of a run is time.Since of it, which
// includes what [Jitter] has added.
func Due(ctx context.Context) time.Time {
	mustContext(ctx)
	return task.Due(ctx)
}
