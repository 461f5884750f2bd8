package executor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// forms are the ways to submit a body: plain, plain with an option, and as a
// future.
var forms = []struct {
	name   string
	submit func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) error
}{
	{"Go", func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) error {
		return pool.Go(ctx, body)
	}},
	{"Go with an option", func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) error {
		return pool.Go(ctx, body, executor.Named("x"))
	}},
	{"Execute", func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) error {
		return pool.Execute(ctx, executor.Func(body))
	}},
	{"Submit", func(ctx context.Context, pool *executor.Pool, body func(context.Context) error) error {
		if f := executor.Submit(ctx, pool, executor.Callable(body)); f.State() == executor.Failed {
			return f.Err()
		}
		return nil
	}},
}

// eachForm runs test in a bubble for each form of submission.
func eachForm(t *testing.T, test func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error)) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, f.submit) })
		})
	}
}

// A body's context has the values of the submitter's context, be that one that
// ends or not.
func TestPoolContextValues(t *testing.T) {
	eachForm(t, func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error) {
		pool := newPool(t, executor.Config{Core: 1})
		endless := context.WithValue(context.Background(), contextKey{}, 5)
		ends, cancel := context.WithCancel(endless)
		defer cancel()
		for _, ctx := range []context.Context{endless, ends} {
			var got any
			expect(t, "submit", submit(ctx, pool, func(ctx context.Context) error { got = ctx.Value(contextKey{}); return ctx.Err() }), nil)
			waitStats(t, pool)
			expect(t, "value", got, any(5))
		}
	})
}

// A body's context has the deadline of the submitter's, and ends with it and
// with its cause.
func TestPoolContextEndsWithParent(t *testing.T) {
	eachForm(t, func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error) {
		pool := newPool(t, executor.Config{Core: 1})
		mine := errors.New("mine")
		parent, cancel := context.WithTimeoutCause(t.Context(), time.Second, mine)
		defer cancel()
		deadline, _ := parent.Deadline()
		start := time.Now()
		ended := make(chan error, 1)
		submit(parent, pool, func(ctx context.Context) error {
			d, ok := ctx.Deadline()
			expect(t, "has a deadline", ok, true)
			expect(t, "deadline", d, deadline)
			<-ctx.Done()
			expectIs(t, "Err", ctx.Err(), context.DeadlineExceeded)
			ended <- context.Cause(ctx)
			return nil
		})
		expect(t, "cause", <-ended, mine)
		expect(t, "took", time.Since(start), time.Second)
	})
}

// A task that waits when its submitter's context ends never runs, and counts as
// canceled.
func TestPoolContextEndsWhileQueued(t *testing.T) {
	eachForm(t, func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		parent, cancel := context.WithCancel(t.Context())
		expect(t, "submit", submit(parent, pool, func(context.Context) error { t.Error("ran"); return nil }), nil)
		cancel()
		synctest.Wait()
		block.Release()
		s := waitStats(t, pool)
		expect(t, "Canceled", s.Canceled, 1)
		expect(t, "Runs", s.Runs, 1)
	})
}

// A future that waits when its submitter's context ends leaves the queue at
// once, canceled with the context's error and its cause.
func TestPoolFutureExpiresInQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		mine := errors.New("mine")
		parent, cancel := context.WithCancelCause(t.Context())
		f := executor.Submit(parent, pool, block.Value)
		cancel(mine)
		s := waitStats(t, pool)
		expect(t, "state", f.State(), executor.Canceled)
		for _, want := range []error{executor.ErrCanceled, context.Canceled, mine} {
			expectIs(t, "Err", f.Err(), want)
		}
		expect(t, "Queued", s.Queued, 0)
		expect(t, "Canceled", s.Canceled, 1)
	})
}

// A context that ends after its task was handed to a worker, and before the
// body begins, may cancel it or end the body's context, nothing in between.
func TestPoolContextEndsAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 2})
		for range 500 {
			parent, cancel := context.WithCancel(t.Context())
			ran := false
			go cancel()
			f := executor.Submit(parent, pool, func(ctx context.Context) (int, error) {
				ran = true
				<-ctx.Done()
				return 0, ctx.Err()
			})
			f.Join(t.Context())
			expectIs(t, "Err", f.Err(), context.Canceled)
			synctest.Wait()
			expect(t, "state", f.State(), map[bool]executor.State{true: executor.Failed, false: executor.Canceled}[ran])
		}
	})
}

// A context that has ended before is answered with its error; nothing runs, and
// nothing is counted.
func TestPoolContextEndedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		mine := errors.New("mine")
		parent, cancel := context.WithCancelCause(t.Context())
		cancel(mine)
		err := pool.Go(parent, func(context.Context) error { t.Error("ran"); return nil })
		expectIs(t, "Go", err, context.Canceled)
		expectIs(t, "Go", err, mine)
		expect(t, "rejected", errors.Is(err, executor.ErrRejected), false)
		f := executor.Submit(parent, pool, func(context.Context) (int, error) { t.Error("ran"); return 0, nil })
		expect(t, "state", f.State(), executor.Canceled)
		expectIs(t, "Err", f.Err(), mine)
		s := waitStats(t, pool)
		expect(t, "Submitted", s.Submitted, 0)
		expect(t, "Workers", s.Workers, 0)
	})
}

// A body's context ends when its task is over, for those whom it lent it to.
func TestPoolContextEndsWithTask(t *testing.T) {
	eachForm(t, func(t *testing.T, submit func(context.Context, *executor.Pool, func(context.Context) error) error) {
		pool := newPool(t, executor.Config{Core: 1})
		parent, cancel := context.WithCancel(t.Context())
		defer cancel()
		lent := make(chan context.Context, 1)
		submit(parent, pool, func(ctx context.Context) error { lent <- ctx; return nil })
		<-(<-lent).Done()
		expect(t, "parent", parent.Err(), nil)
	})
}

// A task's timeout ends its context with the cause ErrTimeout, counted from the
// start of its body; the outcome stays the body's.
func TestPoolTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		mustGo(t, pool, func(context.Context) error { time.Sleep(time.Hour); return nil })
		start := time.Now()
		f := executor.Submit(t.Context(), pool, func(ctx context.Context) (time.Duration, error) {
			<-ctx.Done()
			expectIs(t, "Err", ctx.Err(), context.DeadlineExceeded)
			expectIs(t, "Cause", context.Cause(ctx), executor.ErrTimeout)
			return time.Since(start), nil
		}, executor.Timeout(time.Second))
		took, err := f.Get(t.Context())
		expect(t, "error", err, nil)
		expect(t, "took", took, time.Hour+time.Second)
	})
}

// Abandon leaves the body's context alone and discards its late outcome, be it
// a value, an error or a panic; Cancel ends the context.
func TestPoolAbandonLeavesBodyRunning(t *testing.T) {
	for _, end := range testkit.Exits {
		t.Run(end.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Core: 2})
				block := newBlocker(t)
				var abandoned, canceled error
				a := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
					block.Run(ctx)
					abandoned = ctx.Err()
					return 1, end.Leave()
				})
				c := executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) {
					<-ctx.Done()
					canceled = context.Cause(ctx)
					return 1, end.Leave()
				})
				synctest.Wait()
				expect(t, "Abandon", a.Abandon(), true)
				expect(t, "Cancel", c.Cancel(), true)
				block.Release()
				s := waitStats(t, pool)
				expect(t, "context of the abandoned", abandoned, nil)
				expectIs(t, "context of the canceled", canceled, executor.ErrCanceled)
				for _, f := range []*executor.Future[int]{a, c} {
					expect(t, "state", f.State(), executor.Canceled)
					v, err := f.Get(t.Context())
					expect(t, "value", v, 0)
					expectIs(t, "error", err, executor.ErrCanceled)
				}
				expect(t, "Canceled", s.Canceled, 2)
				expect(t, "Idle", s.Idle, 2)
			})
		})
	}
}
