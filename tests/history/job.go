package history

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/executor-go/executor"
)

var errBody = errors.New("body failed")

// A job is a task with its plan and its log. The submitter writes it, then the body; then all
// that have the outcome may read it. The executor is the only synchronization.
type job struct {
	Task
	r           *recording
	work        int           // kind of work of the body
	last        int64         // number of the run that ends as the task says
	hookRecords []*hookRecord // one for each run
	future      future        // nil if it has none; for the submitter
	value       func() (int, error)
}

// future is any future.
type future interface {
	executor.Awaitable
	Abandon() bool
}

// A hookRecord is what the hooks of one run recorded.
type hookRecord struct {
	before, after int64
	number        int64
	err           error // of AfterTask
}

type (
	hookKey struct{} // of the *hookRecord in the context of a run
	idKey   struct{} // of a *int in the context of Run; a body stores its ID there and does nothing else
)

// Run is the body of all jobs.
func (b *job) Run(ctx context.Context) error {
	if id, ok := ctx.Value(idKey{}).(*int); ok {
		*id = b.ID
		return nil
	}
	now := time.Now()
	n, _ := ctx.Value(hookKey{}).(*hookRecord)
	i := len(b.Runs)
	b.Runs = append(b.Runs, Run{Begin: b.r.since(now), Wall: now.UnixNano(), EarlierRuns: i})
	b.hookRecords = append(b.hookRecords, n)
	run := &b.Runs[i]
	if b.work%2 == 0 { // the other bodies check their context later
		run.EndedAtStart = ctx.Err() != nil
	}
	if due := executor.Due(ctx); !due.IsZero() {
		run.Due = b.r.since(due)
		if b.Form.Wall() {
			run.Due = due.UnixNano()
		}
	}
	if b.r.OneWorker {
		b.r.runOrder = append(b.r.runOrder, b.ID)
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
			run.EndedAtCheck = ctx.Err() != nil
		}
	case 3:
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
		}
	}
	if !b.Form.Series() || int64(i+1) == b.last {
		run.Ending = b.Ending
	}
	run.CheckedAt = b.r.now()
	run.EndedAtCheck = ctx.Err() != nil
	run.End = b.r.now()
	switch run.Ending {
	case Fails:
		return errBody
	case Panics:
		panic("loud")
	case Exits:
		runtime.Goexit()
	case Stops:
		return executor.ErrStop
	}
	return nil
}

// result is the body of a task with a value.
func (b *job) result(ctx context.Context) (int, error) { return b.ID + 1, b.Run(ctx) }

// draw returns a random job.
func (r *recording) draw(id int, rng *rand.Rand) *job {
	b := &job{r: r, work: rng.IntN(8)}
	b.ID = id
	b.Form = Form(rng.IntN(int(NewTask) + 1))
	if r.sched != nil {
		b.Form = Form(rng.IntN(int(Trigger) + 1))
	}
	if rng.IntN(3) == 0 {
		b.Ending = Ending(rng.IntN(int(Stops) + 1))
	}
	if b.Ending == Exits && r.CallerRuns {
		b.Ending = Returns // Goexit would end the submitter
	}
	b.ContextEnds = rng.IntN(5) == 0
	b.Delay = int64(rng.IntN(1500)) * 1000
	if b.Form.Series() {
		b.Period = int64(10+rng.IntN(200)) * 1000
		b.MaxRuns = 1 + rng.Int64N(8)
		b.last = 1 + rng.Int64N(8)
		b.CatchUp0 = b.Form == FixedRate && rng.IntN(2) == 0
	}
	if b.Form == At { // on a coarse grid, so that some are equal
		const grid = 200_000
		b.Date = (time.Now().UnixNano()+b.Delay)/grid*grid + grid
	}
	return b
}

// options returns random options for the task.
func (b *job) options(rng *rand.Rand) []executor.Option {
	var opts []executor.Option
	if b.Form.Series() {
		opts = append(opts, executor.Times(int(b.MaxRuns)))
	}
	if b.CatchUp0 {
		opts = append(opts, executor.CatchUp(0))
	}
	if b.r.Prioritized {
		opts = append(opts, executor.Priority(rng.IntN(3)))
	}
	if rng.IntN(3) == 0 {
		opts = append(opts, executor.Named("x"))
	}
	return opts
}

// grid is a trigger that is due at multiples of itself.
type grid int64

func (g grid) Next(t time.Time) time.Time {
	return time.Unix(0, (t.UnixNano()/int64(g)+1)*int64(g))
}

// submit submits the job. If early is not nil, submit calls it with the future before that, if
// the future exists by then.
func (b *job) submit(ctx context.Context, opts []executor.Option, early func(future)) error {
	r := b.r
	switch b.Form {
	case Plain:
		return r.pool.Execute(ctx, b)
	case GoFunc:
		return r.pool.Go(ctx, b.Run, opts...)
	case NewTask:
		t := executor.NewTask(b.result, opts...)
		b.future, b.value = t.Future(), t.Result
		if early != nil {
			early(t.Future())
		}
		return r.pool.Execute(ctx, t)
	case Schedule, At:
		var f *executor.Future[int]
		if b.Form == At {
			f = executor.SubmitAt(ctx, r.sched, time.Unix(0, b.Date), b.result, opts...)
		} else {
			f = executor.SubmitAfter(ctx, r.sched, time.Duration(b.Delay), b.result, opts...)
		}
		b.future, b.value = f, f.Result
		if err := f.Err(); errors.Is(err, executor.ErrRejected) {
			return err // At and Schedule return no error
		}
		return nil
	}
	var f *executor.Series
	var err error
	switch every := time.Duration(b.Period); b.Form {
	case FixedRate:
		f, err = r.sched.AtFixedRate(ctx, time.Duration(b.Delay), every, b.Run, opts...)
	case FixedDelay:
		f, err = r.sched.WithFixedDelay(ctx, time.Duration(b.Delay), every, b.Run, opts...)
	case Trigger:
		f, err = r.sched.On(ctx, grid(every), b.Run, opts...)
	}
	if err == nil {
		b.future = f
		b.value = func() (int, error) { return 0, f.Err() }
	}
	return err
}

// close copies the log of the job to the task.
func (b *job) close(rejected error) {
	for i, n := range b.hookRecords {
		if n == nil {
			continue
		}
		r := &b.Runs[i]
		r.Hooked, r.Before, r.After, r.Number = true, n.before, n.after, n.number
		r.AfterMatches = r.Ending == Returns && n.err == nil || fits(r.Ending, n.err)
	}
	switch {
	case b.future != nil:
		b.State = b.future.State()
		b.Value, b.Outcome = b.value()
	case b.Form.Future() && errors.Is(rejected, executor.ErrRejected):
		b.State, b.Outcome = executor.Failed, rejected
	case b.Form.Future():
		b.State, b.Outcome = executor.Canceled, &executor.CanceledError{Cause: rejected}
	}
}
