package history

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/executor-go/executor"
)

var errSour = errors.New("sour")

// job is a task with its plan and its log. Its submitter writes it, then its body,
// and a goroutine that has its outcome may read it: all without any
// synchronization but the executor's.
type job struct {
	Task
	r     *recording
	work  int     // how the body passes its time
	last  int64   // the run that ends in the Way of the task
	notes []*note // of the hooks, one for each run
	hold  handle  // its future, nil if it has none; the submitter's
	value func() (int, error)
}

// handle is any future.
type handle interface {
	executor.Runnable
	executor.Awaitable
	Abandon() bool
}

// note is what the hooks saw of one run.
type note struct {
	before, after int64
	number        int64
	err           error // that AfterTask got
}

type (
	noteKey struct{} // of the note, in a body's context
	askKey  struct{} // of a *int, in that of a body that is asked which it is
)

// Run is the body of every job.
func (b *job) Run(ctx context.Context) error {
	if id, ok := ctx.Value(askKey{}).(*int); ok {
		*id = b.ID
		return nil
	}
	now := time.Now()
	n, _ := ctx.Value(noteKey{}).(*note)
	i := len(b.Runs)
	b.Runs = append(b.Runs, Run{Begin: b.r.since(now), Wall: now.UnixNano(), Seen: i})
	b.notes = append(b.notes, n)
	run := &b.Runs[i]
	if b.work%2 == 0 { // the others look when the task may have been canceled
		run.Ended = ctx.Err() != nil
	}
	if due := executor.Due(ctx); !due.IsZero() {
		run.Due = b.r.since(due)
		if b.Form.Wall() {
			run.Due = due.UnixNano()
		}
	}
	if b.r.Orderly {
		b.r.tape = append(b.r.tape, b.ID)
	}
	switch b.work {
	case 0:
		runtime.Gosched()
	case 1:
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Microsecond):
		}
	case 2:
		for range 500 {
			run.EndedLater = ctx.Err() != nil
		}
	case 3:
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
		}
	}
	if !b.Form.Series() || int64(i+1) == b.last {
		run.Way = b.Way
	}
	run.Asked = b.r.now()
	run.EndedLater = ctx.Err() != nil
	run.End = b.r.now()
	switch run.Way {
	case Sour:
		return errSour
	case Loud:
		panic("loud")
	case Gone:
		runtime.Goexit()
	case Over:
		return executor.Stop
	}
	return nil
}

// result is Run for a task with a value.
func (b *job) result(ctx context.Context) (int, error) { return b.ID + 1, b.Run(ctx) }

// draw plans a job.
func (r *recording) draw(id int, rng *rand.Rand) *job {
	b := &job{r: r, work: rng.IntN(8)}
	b.ID = id
	b.Form = Form(rng.IntN(int(Bound) + 1))
	if r.sched != nil {
		b.Form = Form(rng.IntN(int(Trig) + 1))
	}
	if rng.IntN(3) == 0 {
		b.Way = Way(rng.IntN(int(Over) + 1))
	}
	if b.Way == Gone && r.CallerRuns {
		b.Way = Well // or the submitter would be lost
	}
	b.Ends = rng.IntN(5) == 0
	b.Wait = int64(rng.IntN(1500)) * 1000
	if b.Form.Series() {
		b.Every = int64(10+rng.IntN(200)) * 1000
		b.Times = 1 + rng.Int64N(8)
		b.last = 1 + rng.Int64N(8)
		b.Skip = b.Form == Rate && rng.IntN(2) == 0
	}
	if b.Form == OnDay { // a coarse grid, for ties
		const grid = 200_000
		b.Date = (time.Now().UnixNano()+b.Wait)/grid*grid + grid
	}
	return b
}

// options draws the options of a task.
func (b *job) options(rng *rand.Rand) []executor.Option {
	var opts []executor.Option
	if b.Form.Series() {
		opts = append(opts, executor.Times(int(b.Times)))
	}
	if b.Skip {
		opts = append(opts, executor.SkipMissed())
	}
	if b.r.Ranked {
		opts = append(opts, executor.Priority(rng.IntN(3)))
	}
	if rng.IntN(3) == 0 {
		opts = append(opts, executor.Named("x"))
	}
	return opts
}

// grid is a trigger.
type grid int64

func (g grid) Next(t time.Time) time.Time {
	return time.Unix(0, (t.UnixNano()/int64(g)+1)*int64(g))
}

// submit submits the job to the pool. Before that it calls early, if that is not
// nil, with the future, where there is one by then.
func (b *job) submit(ctx context.Context, opts []executor.Option, early func(handle)) error {
	r := b.r
	switch b.Form {
	case Plain:
		return r.pool.Execute(ctx, b)
	case Fired:
		return r.pool.Go(ctx, b.Run, opts...)
	case Bound:
		f := executor.NewFuture(b.result, opts...)
		b.hold, b.value = f, f.Result
		if early != nil {
			early(f)
		}
		return r.pool.Execute(ctx, f)
	case Later, OnDay:
		var f *executor.ScheduledFuture[int]
		if b.Form == OnDay {
			f = executor.At(ctx, r.sched, time.Unix(0, b.Date), b.result, opts...)
		} else {
			f = executor.Schedule(ctx, r.sched, time.Duration(b.Wait), b.result, opts...)
		}
		b.hold, b.value = f, f.Result
		if err := f.Err(); errors.Is(err, executor.ErrRejected) {
			return err // only the future has it
		}
		return nil
	}
	var f *executor.ScheduledFuture[struct{}]
	var err error
	switch every := time.Duration(b.Every); b.Form {
	case Rate:
		f, err = r.sched.AtFixedRate(ctx, time.Duration(b.Wait), every, b.Run, opts...)
	case Delay:
		f, err = r.sched.WithFixedDelay(ctx, time.Duration(b.Wait), every, b.Run, opts...)
	case Trig:
		f, err = r.sched.On(ctx, grid(every), b.Run, opts...)
	}
	if err == nil {
		b.hold = f
		b.value = func() (int, error) { _, err := f.Result(); return 0, err }
	}
	return err
}

// close brings the log of the job into the task.
func (b *job) close(refused error) {
	for i, n := range b.notes {
		if n == nil {
			continue
		}
		r := &b.Runs[i]
		r.Hooked, r.Before, r.After, r.Number = true, n.before, n.after, n.number
		r.AfterAgrees = r.Way == Well && n.err == nil || fits(r.Way, n.err)
	}
	switch {
	case b.hold != nil:
		b.State = b.hold.State()
		b.Value, b.Outcome = b.value()
	case b.Form.Future() && errors.Is(refused, executor.ErrRejected):
		b.State, b.Outcome = executor.Failed, refused
	case b.Form.Future():
		b.State, b.Outcome = executor.Canceled, &executor.CanceledError{Cause: refused}
	}
}
