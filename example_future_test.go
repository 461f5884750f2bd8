package executor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
)

// Get returns when its context ends; the task continues.
func ExampleFuture_Get() {
	pool := executor.Fixed(1)
	defer pool.Close()
	ctx := context.Background()
	release := make(chan struct{})
	f := executor.Submit(ctx, pool, func(context.Context) (string, error) {
		<-release
		return "late, but here", nil
	})

	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	_, err := f.Get(short)
	fmt.Println(err)

	close(release)
	fmt.Println(f.Get(ctx))
	// Output:
	// context deadline exceeded
	// late, but here <nil>
}

// Cancel completes the future at once and ends the context of the body. Join waits until
// the body has returned.
func ExampleFuture_Cancel() {
	pool := executor.Fixed(1)
	defer pool.Close()
	ctx := context.Background()
	running := make(chan struct{})
	f := executor.Submit(ctx, pool, func(ctx context.Context) (int, error) {
		close(running)
		<-ctx.Done()
		fmt.Println("cleaning up:", context.Cause(ctx))
		return 0, ctx.Err()
	})

	<-running
	fmt.Println("canceled:", f.Cancel())
	f.Join(ctx)
	_, err := f.Get(ctx)
	fmt.Println(f.State(), errors.Is(err, executor.ErrCanceled))
	// Unordered output:
	// canceled: true
	// cleaning up: executor: task canceled
	// canceled true
}

// Abandon completes the future and leaves the body undisturbed.
func ExampleFuture_Abandon() {
	pool := executor.Fixed(1)
	ctx := context.Background()
	running, release := make(chan struct{}), make(chan struct{})
	f := executor.Submit(ctx, pool, func(ctx context.Context) (int, error) {
		close(running)
		<-release
		fmt.Println("undisturbed:", ctx.Err() == nil)
		return 1, nil
	})

	<-running
	f.Abandon()
	_, err := f.Get(ctx)
	fmt.Println(err)
	close(release)
	pool.Close()
	// Output:
	// executor: task canceled
	// undisturbed: true
}

// OnDone calls a function after a task, without a goroutine that waits for it.
func ExampleFuture_OnDone() {
	pool := executor.Fixed(1)
	f := executor.Submit(context.Background(), pool, func(context.Context) (int, error) { return 6 * 7, nil })
	f.OnDone(func() { fmt.Println(f.Result()) })
	pool.Close()
	// Output:
	// 42 <nil>
}

// Done is for a select.
func ExampleFuture_Done() {
	promise := executor.NewPromise[string]()
	go promise.Complete("hello")
	f := promise.Future()
	select {
	case <-f.Done():
		fmt.Println(f.Result())
	case <-time.After(time.Hour):
		fmt.Println("no reply")
	}
	// Output:
	// hello <nil>
}

// A task may be run without an executor. It runs once.
func ExampleNewTask() {
	ctx := context.Background()
	f := executor.NewTask(func(context.Context) (int, error) {
		fmt.Println("computing")
		return 1, nil
	})
	fmt.Println(f.State())
	f.Run(ctx)
	f.Run(ctx) // has no effect
	fmt.Println(f.State())
	// Output:
	// pending
	// computing
	// succeeded
}

// A promise is completed by the code that makes it, for results that do not come from a
// task. The others get its future, by which they can wait.
func ExamplePromise() {
	ask := func(message string) *executor.Future[string] {
		reply := executor.NewPromise[string]()
		receive := func(message string) { // called by a library
			if !reply.Complete(message) {
				fmt.Println("too many replies:", message)
			}
		}
		receive(message + ", too")
		receive(message + " again")
		return reply.Future()
	}

	fmt.Println(ask("hello").Get(context.Background()))
	// Output:
	// too many replies: hello again
	// hello, too <nil>
}

// Timeout limits the run of a task.
func ExampleTimeout() {
	pool := executor.Fixed(1)
	defer pool.Close()
	ctx := context.Background()
	f := executor.Submit(ctx, pool, func(ctx context.Context) (int, error) {
		<-ctx.Done() // without a timeout, for ever
		return 0, context.Cause(ctx)
	}, executor.Timeout(time.Millisecond))

	_, err := f.Get(ctx)
	fmt.Println(err)
	fmt.Println(errors.Is(err, executor.ErrTimeout))
	// Output:
	// executor: task timed out after 1ms
	// true
}

// Any returns the result of the first task that succeeds, and cancels the others.
func ExampleAny() {
	pool := executor.Cached()
	defer pool.Close()

	fast := func(context.Context) (string, error) { return "from the cache", nil }
	slow := func(ctx context.Context) (string, error) {
		<-ctx.Done() // canceled when fast has succeeded
		return "", ctx.Err()
	}
	broken := func(context.Context) (string, error) { return "", errors.New("connection refused") }
	fmt.Println(executor.Any(context.Background(), pool, slow, broken, fast))
	// Output:
	// from the cache <nil>
}

// Completed yields futures in the order in which they complete.
func ExampleCompleted() {
	pool := executor.Fixed(3)
	defer pool.Close()

	first, second := make(chan struct{}), make(chan struct{})
	var fs []*executor.Future[string]
	for _, fn := range []func(context.Context) (string, error){
		func(context.Context) (string, error) { <-second; return "C", nil },
		func(context.Context) (string, error) { return "A", nil },
		func(context.Context) (string, error) { <-first; return "B", nil },
	} {
		fs = append(fs, executor.Submit(context.Background(), pool, fn))
	}
	for f := range executor.Completed(context.Background(), fs...) {
		s, _ := f.Result()
		fmt.Println(s)
		switch s {
		case "A":
			close(first)
		case "B":
			close(second)
		}
	}
	// Output:
	// A
	// B
	// C
}

// Call is a function without a result as one with.
func ExampleFunc_Call() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	flush := func(context.Context) error { return errors.New("disk full") }
	f := executor.SubmitAfter(context.Background(), pool, time.Millisecond, executor.Func(flush).Call)
	fmt.Println(f.Wait(context.Background()))
	// Output:
	// disk full
}

// The method is for a function without a result.
func ExamplePool_Submit() {
	pool := executor.Single()
	defer pool.Close()
	f := pool.Submit(context.Background(), func(context.Context) error { return errors.New("disk full") })
	fmt.Println(f.Wait(context.Background()))
	// Output:
	// disk full
}

// Flows of futures.

// A pipeline with back pressure: a full stage blocks the stage before it. A task of
// the next stage gets the outer context, because that of a body ends when it returns.
func Example_pipeline() {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stage := func(workers int) *executor.Pool {
		pool, err := executor.New(executor.Config{Workers: workers, Queue: executor.Bounded(2), Reject: executor.Block})
		if err != nil {
			panic(err)
		}
		return pool
	}
	parse, store := stage(2), stage(1)

	var sum atomic.Int64
	for _, line := range []string{"1", "20", "300"} {
		err := parse.Go(ctx, func(context.Context) error {
			var n int64
			if _, err := fmt.Sscan(line, &n); err != nil {
				return err
			}
			return store.Go(ctx, func(context.Context) error {
				sum.Add(n)
				return nil
			})
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	parse.Close() // the first stage first, because its tasks need the second
	store.Close()
	fmt.Println(sum.Load())
	// Output:
	// 321
}

// A body that waits for a task of its own pool runs it if no worker has started it, so
// that tasks may fork and join even with one worker.
func ExampleFuture_Get_forkAndJoin() {
	ctx := context.Background()
	pool := executor.Fixed(1)
	defer pool.Close()

	var fib func(n int) func(context.Context) (int, error)
	fib = func(n int) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			if n < 2 {
				return n, nil
			}
			fork := executor.Submit(ctx, pool, fib(n-1))
			b, err := fib(n - 2)(ctx)
			if err != nil {
				return 0, err
			}
			a, err := fork.Get(ctx)
			return a + b, err
		}
	}
	fmt.Println(executor.Submit(ctx, pool, fib(10)).Get(ctx))
	// Output:
	// 55 <nil>
}

// A hedged request: the second is sent only if the first takes long.
func ExampleCompleted_scheduled() {
	pool := executor.Scheduled(2)
	defer pool.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // ends the request that is not needed, before Close waits for it

	slow := func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }
	quick := func(context.Context) (string, error) { return "from the replica", nil }
	first := executor.SubmitAfter(ctx, pool, 0, slow)
	second := executor.SubmitAfter(ctx, pool, 10*time.Millisecond, quick)
	for f := range executor.Completed(context.Background(), first, second) {
		if answer, err := f.Result(); err == nil {
			fmt.Println(answer)
			break
		}
	}
	// Output:
	// from the replica
}

// The first error ends the others.
func ExampleNewGroup() {
	pool := executor.Fixed(4)
	defer pool.Close()

	g := executor.NewGroup(context.Background(), pool)
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		g.Go(func(ctx context.Context) error {
			if name == "b.txt" {
				return errors.New("b.txt: no such file")
			}
			<-ctx.Done() // as a long download does
			return ctx.Err()
		})
	}
	fmt.Println(g.Wait())
	// Output: b.txt: no such file
}

func ExampleAll() {
	pool := executor.Fixed(4)
	defer pool.Close()

	length := func(s string) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { return len(s), nil }
	}
	fmt.Println(executor.All(context.Background(), pool, length("one"), length("three")))
	// Output: [3 5] <nil>
}

// At most two words are in flight, and the results come in order.
func ExampleMap() {
	pool := executor.Fixed(4)
	defer pool.Close()

	words := slices.Values([]string{"to", "be", "or", "not"})
	for upper, err := range executor.Map(context.Background(), pool, 2, words,
		func(_ context.Context, s string) (string, error) {
			return strings.ToUpper(s), nil
		}) {
		fmt.Println(upper, err)
	}
	// Output:
	// TO <nil>
	// BE <nil>
	// OR <nil>
	// NOT <nil>
}

// Schedules.

// A scheduled pool runs tasks after a delay, in the order of their due times.
func ExampleSubmitAfter() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	ctx := context.Background()

	later := executor.SubmitAfter(ctx, pool, 20*time.Millisecond, func(context.Context) (string, error) {
		fmt.Println("second")
		return "done", nil
	})
	executor.SubmitAfter(ctx, pool, time.Millisecond, func(context.Context) (string, error) {
		fmt.Println("first")
		return "", nil
	})
	fmt.Println(later.Get(ctx))
	// Output:
	// first
	// second
	// done <nil>
}

// A task that is canceled before it is due leaves the queue at once.
func ExampleFuture_Next() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	reminder := executor.SubmitAfter(context.Background(), pool, 24*time.Hour, func(context.Context) (int, error) {
		return 0, errors.New("not reached")
	}, executor.Named("reminder"))

	fmt.Println(reminder.Name(), reminder.State(), time.Until(reminder.Next()) > 23*time.Hour)
	reminder.Cancel()
	fmt.Println(reminder.Err(), pool.Stats().Queued)
	// Output:
	// reminder pending true
	// executor: task canceled 0
}

// GoAfter is Go for later. The future cancels the task, and need not be kept.
func ExampleScheduledPool_GoAfter() {
	pool := executor.Scheduled(1)
	ctx := context.Background()
	reminder, err := pool.GoAfter(ctx, time.Hour, func(context.Context) error {
		fmt.Println("this will never be printed")
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pool.GoAfter(ctx, time.Millisecond, func(context.Context) error {
		fmt.Println("a little later")
		return nil
	})
	reminder.Cancel()
	pool.Close() // waits for what is left
	// Output:
	// a little later
}

// SubmitAt runs a task at a time of day. If that has passed, the task runs at once.
func ExampleSubmitAt() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	ctx := context.Background()
	f := executor.SubmitAt(ctx, pool, time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), func(context.Context) (string, error) {
		return "better late than never", nil
	})
	fmt.Println(f.Get(ctx))
	// Output:
	// better late than never <nil>
}

// A schedule at a fixed rate catches up after a long run. It continues after an error,
// and ends by Stop, Times, Until, Cancel, or a panic.
func ExampleScheduledPool_AtFixedRate() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	ctx := context.Background()

	n := 0
	ticker, err := pool.AtFixedRate(ctx, 0, time.Millisecond, func(context.Context) error {
		n++
		fmt.Println("run", n)
		if n == 3 {
			return executor.ErrStop
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = ticker.Wait(ctx)
	fmt.Println(ticker.Runs(), ticker.State(), err)
	// Output:
	// run 1
	// run 2
	// run 3
	// 3 succeeded <nil>
}

// A fixed delay is the time from the end of a run to the start of the next.
func ExampleScheduledPool_WithFixedDelay() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	ctx := context.Background()

	tidy, _ := pool.WithFixedDelay(ctx, 0, time.Millisecond, func(context.Context) error {
		fmt.Println("tidying up")
		return nil
	}, executor.Named("tidy"), executor.Times(2))
	tidy.Wait(ctx)
	// Output:
	// tidying up
	// tidying up
}

// A cron schedule is a trigger.
func ExampleScheduledPool_On() {
	pool := executor.Scheduled(1)
	defer pool.Close()

	spec := cron.MustParse("CRON_TZ=UTC 30 2 * * *")
	nightly, err := pool.On(context.Background(), spec, func(context.Context) error {
		return nil // backup
	}, executor.Named("backup"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(nightly.Name(), "at", nightly.Next().Format("15:04 MST"))
	nightly.Cancel()
	// Output:
	// backup at 02:30 UTC
}

// launch is a trigger with one due time.
type launch struct{ at time.Time }

func (l launch) Next(t time.Time) time.Time {
	if t.Before(l.at) {
		return l.at
	}
	return time.Time{}
}

// Whatever has a method Next can be a schedule; the zero time ends it.
func ExampleTrigger() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	ctx := context.Background()

	f, err := pool.On(ctx, launch{time.Now().Add(10 * time.Millisecond)}, func(context.Context) error {
		fmt.Println("lift-off")
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	f.Wait(ctx)
	fmt.Println(f.State())
	// Output:
	// lift-off
	// succeeded
}

// Due returns the time at which the current run was due.
func ExampleDue() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	ctx := context.Background()
	f := executor.SubmitAfter(ctx, pool, time.Millisecond, func(ctx context.Context) (bool, error) {
		return time.Since(executor.Due(ctx)) >= 0, nil
	})
	fmt.Println(f.Get(ctx))
	// Output:
	// true <nil>
}
