package executor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
)

// A pool of two workers, and a task with a result.
func Example() {
	pool := executor.Fixed(2)
	defer pool.Close() // rejects new tasks, and waits for those that it has

	ctx := context.Background()
	words := executor.Submit(ctx, pool, func(context.Context) (int, error) {
		return len(strings.Fields("the quick brown fox")), nil
	})

	n, err := words.Get(ctx)
	fmt.Println(n, err)
	// Output:
	// 4 <nil>
}

// Get returns the error of a task that fails, and an error for a task that panics.
func ExampleSubmit() {
	pool := executor.Fixed(1)
	defer pool.Close()
	ctx := context.Background()

	broken := executor.Submit(ctx, pool, func(context.Context) (string, error) {
		return "", errors.New("no such page")
	})
	_, err := broken.Get(ctx)
	fmt.Println(err)

	crashed := executor.Submit(ctx, pool, func(context.Context) (string, error) {
		var pages []string
		return pages[3], nil
	})
	_, err = crashed.Get(ctx)
	var p *executor.PanicError
	if errors.As(err, &p) {
		fmt.Println("panic:", p.Value)
	}
	// Output:
	// no such page
	// panic: runtime error: index out of range [3] with length 0
}

// Go submits a task without a result.
func ExamplePool_Go() {
	pool := executor.Single()

	for _, name := range []string{"Ann", "Bob"} {
		err := pool.Go(context.Background(), func(context.Context) error {
			fmt.Println("mail to", name)
			return nil
		})
		if err != nil {
			fmt.Println("not sent:", err)
		}
	}
	pool.Close()
	// Output:
	// mail to Ann
	// mail to Bob
}

// A task may be any type with a method Run.
func ExamplePool_Execute() {
	pool := executor.Single()
	pool.Execute(context.Background(), greeting{"Ann"})
	pool.Close()
	// Output:
	// hello, Ann
}

type greeting struct{ name string }

func (g greeting) Run(context.Context) error {
	fmt.Println("hello,", g.name)
	return nil
}

// A field of Config that is not set has a default. A Config without a meaning is an
// error.
func ExampleNew() {
	pool, err := executor.New(executor.Config{
		Name:      "thumbnails",
		Workers:   4,
		Max:       16,
		KeepAlive: 30 * time.Second,
		Queue:     executor.Bounded(128),
		Reject:    executor.CallerRuns,
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(pool.Name(), pool.Settings().Workers, pool.Settings().Max, pool.Settings().Reject)
	pool.Close()

	_, err = executor.New(executor.Config{Workers: 8, Max: 4})
	fmt.Println(err)
	// Output:
	// thumbnails 4 16 executor.CallerRuns
	// executor: Config: Max is 4, less than Workers, which is 8; raise Max or lower Workers
}

// An elastic pool: a task goes to an idle worker, else to a new one up to Max, and only
// then into the queue. Workers leave when they were idle for KeepAlive.
func ExampleNew_growWhenBusy() {
	pool, err := executor.New(executor.Config{
		Max:          16,
		KeepAlive:    time.Minute,
		GrowWhenBusy: true,
	})
	if err != nil {
		panic(err)
	}
	defer pool.Close()

	busy := make(chan struct{})
	defer close(busy)
	for range 20 {
		pool.Go(context.Background(), func(context.Context) error { <-busy; return nil })
	}
	fmt.Println(pool.Stats().Workers, pool.Stats().Queued)
	fmt.Println(pool.Resize(18), pool.Stats().Workers)
	// Output:
	// 16 4
	// <nil> 18
}

// A pool without room for a task rejects it with an error that has the reason.
func ExampleRejectedError() {
	pool, _ := executor.New(executor.Config{Name: "tiny", Workers: 1, Queue: executor.Handoff()})
	ctx := context.Background()

	busy := make(chan struct{})
	pool.Go(ctx, func(context.Context) error { <-busy; return nil })

	err := pool.Go(ctx, func(context.Context) error { return nil })
	fmt.Println(err)
	fmt.Println(errors.Is(err, executor.ErrRejected), errors.Is(err, executor.ErrSaturated))

	close(busy)
	pool.Close()
	err = pool.Go(ctx, func(context.Context) error { return nil })
	fmt.Println(err)
	// Output:
	// executor: task rejected by "tiny": saturated
	// true true
	// executor: task rejected by "tiny": shut down
}

// A RejectFunc is a rejection policy. This one submits rejected tasks to another pool.
func ExampleRejectFunc() {
	spare := executor.Single()
	pool, _ := executor.New(executor.Config{
		Workers: 1, Queue: executor.Handoff(),
		Reject: executor.RejectFunc(func(ctx context.Context, task executor.Runnable, _ *executor.Pool) error {
			fmt.Println("to the spare pool")
			return spare.Execute(ctx, task)
		}),
	})
	ctx := context.Background()
	busy := make(chan struct{})
	pool.Go(ctx, func(context.Context) error { <-busy; return nil })

	f := executor.Submit(ctx, pool, func(context.Context) (string, error) { return "done", nil })
	fmt.Println(f.Get(ctx))

	close(busy)
	pool.Close()
	spare.Close()
	// Output:
	// to the spare pool
	// done <nil>
}

// The hooks are called for each task of a pool.
func ExampleHooks() {
	pool, _ := executor.New(executor.Config{
		Workers: 1,
		Hooks: executor.Hooks{
			BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
				fmt.Println("begin", info.Name)
				return ctx
			},
			AfterTask: func(_ context.Context, info executor.TaskInfo, err error) {
				fmt.Println("end", info.Name, err)
			},
			Terminated: func() { fmt.Println("terminated") },
		},
	})
	pool.Go(context.Background(), func(context.Context) error {
		return errors.New("disk full")
	}, executor.Named("backup"))
	pool.Close()
	// Output:
	// begin backup
	// end backup disk full
	// terminated
}

// Submitted tasks are those that succeeded, failed, were canceled or rejected, are queued
// or running.
func ExamplePool_Stats() {
	pool := executor.Fixed(2)
	ctx := context.Background()
	for i := range 10 {
		pool.Go(ctx, func(context.Context) error {
			if i == 7 {
				return executor.ErrStop // an error like any other, because this is no schedule
			}
			return nil
		})
	}
	pool.Close()

	s := pool.Stats()
	fmt.Println(s.Submitted, "=", s.Succeeded, "+", s.Failed)
	fmt.Println(s.Stage, s.Workers)
	// Output:
	// 10 = 9 + 1
	// terminated 0
}

// ShutdownNow ends the contexts of running tasks and returns the tasks that have not
// started, to be run elsewhere.
func ExamplePool_ShutdownNow() {
	ctx := context.Background()
	pool := executor.Single()
	running := make(chan struct{})
	pool.Go(ctx, func(ctx context.Context) error {
		close(running)
		<-ctx.Done()
		fmt.Println("stopped:", context.Cause(ctx))
		return ctx.Err()
	})
	letter := executor.Submit(ctx, pool, func(context.Context) (int, error) {
		fmt.Println("letter sent")
		return 1, nil
	}, executor.Named("letter"))

	<-running
	dropped := pool.ShutdownNow()
	pool.AwaitTermination(ctx)
	fmt.Println("its future:", letter.Err())

	other := executor.Single()
	for _, task := range dropped {
		fmt.Println("returned:", task.Name())
		other.Execute(ctx, task)
	}
	other.Close()
	// Output:
	// stopped: executor: shut down
	// its future: executor: task canceled: shut down
	// returned: letter
	// letter sent
}

// AwaitTermination waits until its context ends; Close waits for as long as the tasks
// take.
func ExamplePool_AwaitTermination() {
	pool := executor.Fixed(1)
	pool.Go(context.Background(), func(ctx context.Context) error {
		<-ctx.Done() // until its context ends
		return ctx.Err()
	})
	pool.Shutdown()

	short, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := pool.AwaitTermination(short); err != nil {
		fmt.Println(err)
		pool.ShutdownNow()
	}
	fmt.Println(pool.AwaitTermination(context.Background()))
	// Output:
	// context deadline exceeded
	// <nil>
}

// The simplest executor runs tasks in the caller. Futures and bulk calls work over it.
func ExampleExecutor() {
	f := executor.Submit(context.Background(), here{}, func(context.Context) (int, error) { return 42, nil })
	fmt.Println(f.Result())
	// Output:
	// 42 <nil>
}

type here struct{}

func (here) Execute(ctx context.Context, task executor.Runnable) error {
	task.Run(ctx)
	return nil
}

// The queued task with the least priority is next.
func ExamplePrioritized() {
	pool, _ := executor.New(executor.Config{Workers: 1, Queue: executor.Prioritized()})
	ctx := context.Background()
	busy := make(chan struct{})
	pool.Go(ctx, func(context.Context) error { <-busy; return nil })

	say := func(s string) func(context.Context) error {
		return func(context.Context) error { fmt.Println(s); return nil }
	}
	pool.Go(ctx, say("third"), executor.Priority(30))
	pool.Go(ctx, say("first"), executor.Priority(10))
	pool.Go(ctx, say("second"), executor.Priority(20))
	close(busy)
	pool.Close()
	// Output:
	// first
	// second
	// third
}

// Types.

// letter is a task that can be compared, unlike a function, so that Remove finds it in a
// queue.
type letter struct{ to string }

func (l *letter) Run(context.Context) error {
	fmt.Println("sent to", l.to)
	return nil
}

func ExampleRunnable() {
	pool := executor.Fixed(1)
	pool.Execute(context.Background(), &letter{to: "ann"})
	pool.Close()
	// Output: sent to ann
}

func ExampleFunc() {
	hello := executor.Func(func(context.Context) error {
		fmt.Println("hello")
		return nil
	})
	pool := executor.Fixed(1)
	pool.Execute(context.Background(), hello)
	pool.Close()
	// Output: hello
}

func ExampleOption() {
	opts := []executor.Option{executor.Named("report"), executor.Timeout(time.Minute)}
	pool := executor.Fixed(1)
	f := executor.Submit(context.Background(), pool, func(ctx context.Context) (bool, error) {
		_, bounded := ctx.Deadline()
		return bounded, nil
	}, opts...)
	bounded, _ := f.Get(context.Background())
	fmt.Println(f.Name(), bounded)
	pool.Close()
	// Output: report true
}

func ExamplePanicError() {
	pool := executor.Fixed(1)
	f := executor.Submit(context.Background(), pool, func(context.Context) (int, error) { panic("oh") })
	_, err := f.Get(context.Background())
	if perr, ok := errors.AsType[*executor.PanicError](err); ok {
		fmt.Println(perr.Value, strings.Contains(string(perr.Stack), "ExamplePanicError"))
	}
	pool.Close()
	// Output: oh true
}

func ExampleQueue() {
	for _, q := range []executor.Queue{
		executor.Unbounded(), executor.Bounded(100), executor.Handoff(), executor.Prioritized(),
	} {
		pool, err := executor.New(executor.Config{Workers: 2, Queue: q})
		if err != nil {
			panic(err)
		}
		pool.Close()
	}
	_, err := executor.New(executor.Config{Queue: executor.Bounded(0)})
	fmt.Println(err)
	// Output: executor: Bounded(0): must be at least 1; Handoff() is the queue without room
}

// A queue that keeps the most urgent tasks when there is more to do than it holds.
func ExampleBoundedPrioritized() {
	pool, err := executor.New(executor.Config{
		Workers: 1,
		Queue:   executor.BoundedPrioritized(2),
		Reject:  executor.DropLowest,
	})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	busy := make(chan struct{})
	pool.Go(ctx, func(context.Context) error { <-busy; return nil })

	for _, order := range []struct {
		name     string
		priority int // the least comes first
	}{{"browse", 3}, {"report", 5}, {"pay", 1}, {"crawl", 9}} {
		err := pool.Go(ctx, func(context.Context) error {
			fmt.Println("run", order.name)
			return nil
		}, executor.Priority(order.priority))
		if err != nil {
			fmt.Println(order.name, errors.Is(err, executor.ErrSaturated))
		}
	}
	close(busy)
	pool.Close()
	fmt.Println(pool.Stats().Rejected, "rejected")
	// Output:
	// crawl true
	// run pay
	// run browse
	// 2 rejected
}

func ExampleRejectPolicy() {
	shed := executor.RejectFunc(func(ctx context.Context, task executor.Runnable, pool *executor.Pool) error {
		fmt.Println("too much to do")
		return executor.Discard.Reject(ctx, task, pool)
	})
	pool, _ := executor.New(executor.Config{Workers: 1, Queue: executor.Handoff(), Reject: shed})
	release := make(chan struct{})
	pool.Go(context.Background(), func(context.Context) error { <-release; return nil })
	fmt.Println(pool.Go(context.Background(), func(context.Context) error { return nil }))
	close(release)
	pool.Close()
	// Output:
	// too much to do
	// <nil>
}

func ExampleBlockFor() {
	pool, _ := executor.New(executor.Config{
		Workers: 1, Queue: executor.Handoff(), Reject: executor.BlockFor(10 * time.Millisecond),
	})
	release := make(chan struct{})
	pool.Go(context.Background(), func(context.Context) error { <-release; return nil })
	fmt.Println(pool.Go(context.Background(), func(context.Context) error { return nil }))
	close(release)
	pool.Close()
	// Output: executor: task rejected: saturated
}

func ExampleState() {
	f := executor.NewTask(func(context.Context) (int, error) { return 0, errors.New("no") })
	fmt.Println(f.State())
	f.Run(context.Background())
	fmt.Println(f.State(), f.State().Done())
	// Output:
	// pending
	// failed true
}

func ExampleStage() {
	pool := executor.Fixed(1)
	fmt.Println(pool.Stats().Stage)
	pool.Close()
	fmt.Println(pool.Stats().Stage)
	// Output:
	// running
	// terminated
}

func ExampleStats() {
	pool := executor.Fixed(1)
	pool.Go(context.Background(), func(context.Context) error { return nil })
	pool.Go(context.Background(), func(context.Context) error { return context.Canceled })
	pool.Close()
	s := pool.Stats()
	fmt.Println(s.Submitted, "=", s.Succeeded, "+", s.Failed, "of", s.Ended())
	// Output: 2 = 1 + 1 of 2
}

func ExampleTaskInfo() {
	pool, _ := executor.New(executor.Config{Name: "mail", Workers: 1, Hooks: executor.Hooks{
		AfterTask: func(_ context.Context, info executor.TaskInfo, err error) {
			fmt.Println(info.Executor, info.Worker, info.Name, err)
		},
	}})
	pool.Go(context.Background(), func(context.Context) error { return nil }, executor.Named("digest"))
	pool.Close()
	// Output: mail 1 digest <nil>
}

func ExampleDropped() {
	pool := executor.Fixed(1)
	started, release := make(chan struct{}), make(chan struct{})
	pool.Go(context.Background(), func(context.Context) error { close(started); <-release; return nil })
	pool.Execute(context.Background(), &letter{to: "bob"})
	<-started

	other := executor.Fixed(1)
	for _, task := range pool.ShutdownNow() {
		other.Execute(context.Background(), task)
	}
	other.Close()
	close(release)
	pool.Close()
	// Output: sent to bob
}

func ExampleScheduledConfig_dropDelayed() {
	pool, _ := executor.NewScheduled(executor.ScheduledConfig{Workers: 1, DropDelayed: true})
	one := func(context.Context) (int, error) { return 1, nil }
	f := executor.SubmitAfter(context.Background(), pool, time.Hour, one)
	pool.Close() // does not wait for an hour
	fmt.Println(f.Err())
	// Output: executor: task canceled: shut down
}

// A share bounds some of a pool's tasks: mail is sent by at most two workers, and ten times
// a second, while the other workers do other things. What waits holds no worker.
func ExamplePool_Share() {
	pool := executor.Fixed(8)
	defer pool.Close()
	mail, err := pool.Share(executor.ShareConfig{
		Name:  "mail",
		Limit: 2,
		Rate:  executor.Rate{PerSecond: 10, Burst: 5}, // five at once, then one each 100 ms
	})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	var sent []*executor.Future[string]
	for _, to := range []string{"ann", "bob", "eve"} {
		sent = append(sent, executor.Submit(ctx, mail, func(context.Context) (string, error) {
			return "sent to " + to, nil
		}))
	}
	for _, f := range sent {
		fmt.Println(f.Get(ctx))
	}
	mail.Close() // the share alone
	fmt.Println(mail.Stats().Succeeded, pool.Stats().Stage)
	// Output:
	// sent to ann <nil>
	// sent to bob <nil>
	// sent to eve <nil>
	// 3 running
}

// One request at a time for each host, eight in all, in the order of submission. Any number
// of hosts; those without requests take no memory.
func ExampleNewKeyed() {
	pool := executor.Fixed(8)
	defer pool.Close()
	hosts := executor.NewKeyed[string](pool, 1)

	ctx := context.Background()
	var pages []*executor.Future[string]
	for _, url := range []string{"a.example/1", "a.example/2", "b.example/1"} {
		host, _, _ := strings.Cut(url, "/")
		pages = append(pages, executor.Submit(ctx, hosts.For(host), func(context.Context) (string, error) {
			return "page " + url, nil // not while another of the host runs
		}))
	}
	for _, f := range pages {
		page, err := f.Get(ctx)
		fmt.Println(page, err)
	}
	// Output:
	// page a.example/1 <nil>
	// page a.example/2 <nil>
	// page b.example/1 <nil>
}

// A preset with a name, hooks and a logger: a function changes its Config.
func ExampleCached() {
	pool := executor.Cached(func(c *executor.Config) {
		c.Name = "mail"
		c.Hooks.AfterTask = func(_ context.Context, info executor.TaskInfo, err error) {
			fmt.Println(info.Executor, info.Name, err)
		}
	})
	pool.Go(context.Background(), func(context.Context) error { return nil }, executor.Named("welcome"))
	pool.Close()
	// Output: mail welcome <nil>
}

// A request that is made again when it fails, up to five times, after 10, 20, 40 ms and so
// on. No worker waits, and one future stands for all attempts.
func ExampleRetry() {
	pool := executor.Fixed(4)
	defer pool.Close()
	ctx := context.Background()

	calls := 0
	page := executor.Submit(ctx, pool, func(context.Context) (string, error) {
		if calls++; calls < 3 {
			return "", errors.New("503 service unavailable")
		}
		return "hello", nil
	}, executor.Retry(5, executor.Backoff(10*time.Millisecond, time.Second)))
	fmt.Println(page.Get(ctx))
	fmt.Println(calls, "calls")

	gone := executor.Submit(ctx, pool, func(context.Context) (string, error) {
		return "", executor.Permanent(errors.New("404 not found"))
	}, executor.Retry(5, executor.Backoff(10*time.Millisecond, time.Second)))
	_, err := gone.Get(ctx)
	fmt.Println(err)
	// Output:
	// hello <nil>
	// 3 calls
	// 404 not found
}

// Schedules lists the periodic work of a pool, in the order of the next runs.
func ExampleScheduledPool_Schedules() {
	pool := executor.Scheduled(2)
	defer pool.Close()
	ctx := context.Background()
	nothing := func(context.Context) error { return nil }
	pool.On(ctx, cron.MustParse("CRON_TZ=UTC 0 0 1 1 *"), nothing, executor.Named("fireworks"))
	pool.AtFixedRate(ctx, time.Minute, time.Hour, nothing, executor.Named("report"), executor.Times(3))
	pool.WithFixedDelay(ctx, 0, 5*time.Minute, nothing, executor.Named("tidy"), executor.StartPaused())

	for _, s := range pool.Schedules() {
		fmt.Printf("%s: %v, %d runs, paused %t, %d more times known\n",
			s.Name, s.Rhythm, s.Runs, s.Paused, len(s.NextN(10)))
	}
	// Unordered output:
	// report: every 1h0m0s, 0 runs, paused false, 3 more times known
	// fireworks: CRON_TZ=UTC 0 0 1 1 *, 0 runs, paused false, 10 more times known
	// tidy: 5m0s after each run, 0 runs, paused true, 0 more times known
}

// A paused series keeps its place on the grid, and makes up for nothing when it is resumed.
func ExampleSeries_Pause() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	report, err := pool.AtFixedRate(context.Background(), time.Hour, time.Hour, func(context.Context) error {
		return nil // write the report
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	before := report.Next()
	report.Pause()
	fmt.Println("paused:", report.Next().IsZero())
	report.Resume()
	fmt.Println("resumed:", report.Next().Equal(before))
	// Output:
	// paused: true
	// resumed: true
}

// RunNow makes one run besides those of the rhythm, but never one beside another.
func ExampleSeries_RunNow() {
	pool := executor.Scheduled(4)
	defer pool.Close()
	began, end := make(chan bool), make(chan bool)
	backup, err := pool.On(context.Background(), cron.MustParse("30 2 * * *"), func(context.Context) error {
		began <- true
		<-end
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(backup.RunNow())
	<-began
	fmt.Println(backup.RunNow(), errors.Is(backup.RunNow(), executor.ErrRunning))
	close(end)
	// Output:
	// <nil>
	// executor: a run is in progress true
}

// Reschedule sets another rhythm; name, options and counts stay.
func ExampleSeries_Reschedule() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	poll, err := pool.AtFixedRate(context.Background(), time.Hour, time.Hour, func(context.Context) error {
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range []executor.Trigger{
		executor.FixedDelay(10 * time.Minute),
		cron.MustParse("*/5 9-17 * * mon-fri"),
		executor.FixedRate(0),
	} {
		err := poll.Reschedule(r)
		fmt.Println(poll.Info().Rhythm, err)
	}
	// Output:
	// 10m0s after each run <nil>
	// */5 9-17 * * mon-fri <nil>
	// */5 9-17 * * mon-fri executor: Reschedule: period is 0s; it must be positive
}

// With ContinueAfterPanic a panic is a failed run, and the next one follows.
func ExampleContinueAfterPanic() {
	pool, err := executor.NewScheduled(executor.ScheduledConfig{Workers: 1, Hooks: executor.Hooks{
		OnPanic: func(_ context.Context, info executor.TaskInfo, err *executor.PanicError) {
			fmt.Println("run", info.Run, "of", info.Name, "panicked:", err.Value)
		},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	var cache map[string]int
	work := func(context.Context) error {
		defer func() { cache = make(map[string]int) }()
		cache["runs"]++ // panics in the first run
		return nil
	}
	s, err := pool.AtFixedRate(context.Background(), 0, time.Millisecond, work,
		executor.Named("count"), executor.Times(3), executor.ContinueAfterPanic())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Wait(context.Background()), s.Info().Runs, s.Info().Failures)
	// Output:
	// run 1 of count panicked: assignment to entry in nil map
	// <nil> 3 1
}

// With Overlap a run begins though others are in progress, up to three of them here.
func ExampleOverlap() {
	pool := executor.Scheduled(4)
	defer pool.Close()
	together := make(chan bool)
	s, err := pool.AtFixedRate(context.Background(), 0, time.Millisecond, func(context.Context) error {
		<-together // all three get here, since none waits for the end of another
		return nil
	}, executor.Overlap(3), executor.Times(3))
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		together <- true
	}
	fmt.Println(s.Wait(context.Background()), s.Runs())
	// Output:
	// <nil> 3
}

// With StartPaused a series waits for Resume, as until a program is ready, or for RunNow.
func ExampleStartPaused() {
	pool := executor.Scheduled(1)
	defer pool.Close()
	s, err := pool.AtFixedRate(context.Background(), 0, time.Millisecond, func(context.Context) error {
		return nil
	}, executor.StartPaused(), executor.Times(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("paused:", s.Info().Paused, s.State())
	s.Resume()
	fmt.Println(s.Wait(context.Background()), s.Runs())
	// Output:
	// paused: true pending
	// <nil> 2
}
