package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
	"github.com/executor-go/executor/java"
)

// Submission.

// An accepted task runs exactly once.
func TestPoolRunsTaskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(10)})
		runs := 0
		mustGo(t, pool, func(context.Context) error { runs++; return nil })
		s := waitStats(t, pool)
		expect(t, "runs", runs, 1)
		expect(t, "Succeeded", s.Succeeded, 1)
		expect(t, "Runs", s.Runs, 1)
	})
}

// A future has what its function returned: a value, no value, or an error.
func TestPoolSubmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		ctx := t.Context()
		type thing struct{ n int }
		want := &thing{7}
		f := executor.Submit(ctx, pool, func(context.Context) (*thing, error) { return want, nil })
		got, err := f.Get(ctx)
		expect(t, "value", got, want)
		expect(t, "error", err, nil)
		expect(t, "state", f.State(), executor.Succeeded)

		none := executor.Submit(ctx, pool, executor.Func(func(context.Context) error { return nil }).Call)
		_, err = none.Get(ctx)
		expect(t, "error of none", err, nil)

		mine := errors.New("mine")
		failed := executor.Submit(ctx, pool, func(context.Context) (int, error) { return 3, mine })
		v, err := failed.Get(ctx)
		expect(t, "value next to error", v, 3)
		expect(t, "own error", err, mine)
		expect(t, "Failed", waitStats(t, pool).Failed, 1)
	})
}

// Each way to submit rejects a nil task before anything changes.
func TestPoolNilTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		ctx := t.Context()
		expectIs(t, "Execute", pool.Execute(ctx, nil), executor.ErrInvalid)
		expectIs(t, "Go", pool.Go(ctx, nil), executor.ErrInvalid)
		expectIs(t, "Go with options", pool.Go(ctx, nil, executor.Named("x")), executor.ErrInvalid)
		expectIs(t, "Submit", executor.Submit[int](ctx, pool, nil).Err(), executor.ErrInvalid)
		s := waitStats(t, pool)
		expect(t, "Submitted", s.Submitted, 0)
		expect(t, "Workers", s.Workers, 0)
	})
}

// A nil context panics, with a sentence, wherever a context is needed.
func TestPoolNilContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, timed := newPool(t, executor.Config{Workers: 1}), newScheduled(t, executor.ScheduledConfig{Workers: 1})
		pending := executor.NewPromise[int]().Future()
		series := must(timed.AtFixedRate(t.Context(), time.Hour, time.Hour, nop))
		var none context.Context
		for name, call := range map[string]func(){
			"Go":               func() { pool.Go(none, nop) },
			"Get":              func() { pending.Get(none) },
			"Wait":             func() { pending.Wait(none) },
			"Join":             func() { pending.Join(none) },
			"Series.Wait":      func() { series.Wait(none) },
			"Series.Join":      func() { series.Join(none) },
			"AwaitTermination": func() { pool.AwaitTermination(none) },
			"Drain":            func() { pool.Drain(none) },
			"Due":              func() { executor.Due(none) },
		} {
			func() {
				defer func() { expect(t, name+": panic", recover(), any("executor: nil Context")) }()
				call()
			}()
		}
		expect(t, "Submitted", waitStats(t, pool).Submitted, 0)
	})
}

// An option that does not apply to a task that runs once and at once makes Go fail, and nothing
// runs.
func TestPoolOptionsThatDoNotApply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		for name, opt := range map[string]executor.Option{
			"Times": executor.Times(1), "Jitter": executor.Jitter(1), "CatchUp": executor.CatchUp(0),
			"Timeout(0)": executor.Timeout(0), "nil": nil,
		} {
			expectIs(t, name, pool.Go(t.Context(), func(context.Context) error { t.Error("ran"); return nil }, opt),
				executor.ErrInvalid)
		}
		expect(t, "Submitted", waitStats(t, pool).Submitted, 0)
	})
}

// embedsFuture is a Runnable that is not taken for the Future in it.
type embedsFuture struct {
	*executor.Future[int]
	ran chan struct{}
}

func (e embedsFuture) Run(context.Context) error { close(e.ran); return nil }

// Execute runs a type that embeds a Future by its own Run.
func TestPoolEmbeddedFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, pool := range []*executor.Pool{newPool(t, executor.Config{Workers: 1}), scheduled(t, 1).Pool} {
			promise := executor.NewPromise[int]()
			e := embedsFuture{promise.Future(), make(chan struct{})}
			expect(t, "Execute", pool.Execute(t.Context(), e), nil)
			<-e.ran
			expect(t, "state", promise.State(), executor.Pending)
		}
	})
}

// Execute rejects a type that embeds a Task: the pool would run the Task and never call the Run of
// the type.
func TestPoolEmbeddedTask(t *testing.T) {
	type job struct{ *executor.Task[int] }
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		scheduled := newScheduled(t, executor.ScheduledConfig{Workers: 1})
		j := job{executor.NewTask(value(1))}
		expectIs(t, "Execute", pool.Execute(t.Context(), j), executor.ErrInvalid)
		expectIs(t, "Execute of a pointer", pool.Execute(t.Context(), &j), executor.ErrInvalid)
		expectIs(t, "Execute in a scheduled pool", scheduled.Execute(t.Context(), j), executor.ErrInvalid)
		expect(t, "Submitted", waitStats(t, pool).Submitted, 0)
		expectIs(t, "Execute of the task", pool.Execute(t.Context(), j.Task), nil)
		if v, err := j.Get(t.Context()); v != 1 || err != nil {
			t.Errorf("the future has %v, %v", v, err)
		}
	})
}

// The same Runnable can be submitted any number of times; each time is a task of its own.
func TestPoolRunnableManyTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 1000
		pool := newPool(t, executor.Config{Workers: 1, Max: 30, KeepAlive: time.Second, Queue: executor.Bounded(30)})
		var runs atomic.Int64
		task := executor.Func(func(context.Context) error { runs.Add(1); return nil })
		for range n {
			for errors.Is(pool.Execute(t.Context(), task), executor.ErrRejected) {
				synctest.Wait()
			}
		}
		s := waitStats(t, pool)
		expect(t, "runs", runs.Load(), n)
		expect(t, "Succeeded", s.Succeeded, n)
	})
}

// If the context of Get ends the task is not affected.
func TestPoolGetContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		block := newBlocker(t)
		f := executor.Submit(t.Context(), pool, block.Value)
		waiting, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := f.Get(waiting)
		expectIs(t, "Get", err, context.DeadlineExceeded)
		expect(t, "state", f.State(), executor.Running)
		block.Release()
		v, err := f.Get(t.Context())
		expect(t, "value", v, 1)
		expect(t, "error", err, nil)
	})
}

// Workers and the queue.

// A new pool has no worker, and its counters are zero.
func TestPoolStartsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Name: "empty", Workers: 3})
		s := waitStats(t, pool)
		s.Uptime = 0
		expect(t, "Stats", s, executor.Stats{Name: "empty"})
		expect(t, "Stage", pool.Stats().Stage, executor.StageRunning)
		expect(t, "Name", pool.Name(), "empty")
	})
}

// A task is active from before its function starts until after it has returned.
func TestPoolActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 2})
		inside := make(chan executor.Stats, 1)
		block := newBlocker(t)
		mustGo(t, pool, func(ctx context.Context) error {
			inside <- pool.Stats()
			return block.Run(ctx)
		})
		first := <-inside
		expect(t, "Active inside", first.Active, 1)
		expect(t, "Workers inside", first.Workers, 1)
		expect(t, "Completed inside", first.Ended(), 0)
		s := waitStats(t, pool)
		expect(t, "Active while blocked", s.Active, 1)
		block.Release()
		s = waitStats(t, pool)
		expect(t, "Active after", s.Active, 0)
		expect(t, "Idle after", s.Idle, 1)
		expect(t, "Completed after", s.Ended(), 1)
	})
}

// The counters move with each task that comes and goes.
func TestPoolCountsTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		block := newBlocker(t)
		for i := range 4 {
			block.Fill(t, pool, 1)
			s := checkStats(t, pool)
			expect(t, "Submitted", s.Submitted, int64(i+1))
			expect(t, "Queued", s.Queued, i)
			expect(t, "Completed", s.Ended(), 0)
		}
		block.Release()
		pool.Close()
		expect(t, "Completed after termination", checkStats(t, pool).Ended(), 4)
	})
}

// Largest does not shrink when workers leave.
func TestPoolLargest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 3})
		block := newBlocker(t)
		block.Fill(t, pool, 3)
		expect(t, "Largest", checkStats(t, pool).Largest, 3)
		block.Release()
		pool.Close()
		s := checkStats(t, pool)
		expect(t, "Largest after termination", s.Largest, 3)
		expect(t, "Workers after termination", s.Workers, 0)
	})
}

// Below Workers each task starts a worker even if others are idle; then tasks wait in the queue; when
// it is full, workers are started up to Max.
func TestPoolGrowth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 2, Max: 4, KeepAlive: time.Hour, Queue: executor.Bounded(3)})
		nop := func(context.Context) error { return nil }
		for i := range 2 {
			mustGo(t, pool, nop)
			expect(t, "workers while others idle", waitStats(t, pool).Workers, i+1)
		}
		mustGo(t, pool, nop)
		expect(t, "workers at Workers with idle ones", waitStats(t, pool).Workers, 2)

		block := newBlocker(t)
		for _, step := range []struct{ workers, queued int }{
			{2, 0}, {2, 0}, // taken by the idle workers
			{2, 1}, {2, 2}, {2, 3}, // queued
			{3, 3}, {4, 3}, // new workers, ahead of those that wait
		} {
			block.Fill(t, pool, 1)
			s := checkStats(t, pool)
			expect(t, "workers", s.Workers, step.workers)
			expect(t, "queued", s.Queued, step.queued)
		}
		err := pool.Go(t.Context(), block.Run)
		expectIs(t, "beyond Max", err, executor.ErrSaturated)
		expectIs(t, "beyond Max", err, executor.ErrRejected)
		expect(t, "started", block.Started.Load(), 4)
	})
}

// With an unbounded queue a pool has no more workers than Workers.
func TestPoolUnboundedNeverGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		newBlocker(t).Fill(t, pool, 100)
		s := checkStats(t, pool)
		expect(t, "Largest", s.Largest, 1)
		expect(t, "Queued", s.Queued, 99)
	})
}

// A pool with Workers 0 starts a worker for a task that it queues.
func TestPoolZeroCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, q := range []executor.Queue{executor.Unbounded(), executor.Bounded(1), executor.Handoff(),
			executor.Prioritized()} {
			pool := newPool(t, executor.Config{Max: 1, Queue: q})
			block := newBlocker(t)
			block.Fill(t, pool, 1)
			expect(t, "started", block.Started.Load(), 1)
			block.Release()
			expect(t, "workers after", waitStats(t, pool).Workers, 0)
		}
	})
}

// Waiting tasks run in the order of submission.
func TestPoolOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		var got []int
		for i := range 10 {
			mustGo(t, pool, func(context.Context) error { got = append(got, i); return nil })
		}
		block.Release()
		waitStats(t, pool)
		if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}; !slices.Equal(got, want) {
			t.Errorf("ran in order %v", got)
		}
	})
}

// Waiting and ShutdownNow return the tasks of an unbounded queue in the order of submission, even
// if a worker took a task in between.
func TestPoolOrderOfWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBlocker(t)
		pool := newPool(t, executor.Config{Workers: 1})
		var want []any
		submit := func() { want = append(want, executor.Submit(context.Background(), pool, b.Value)) }
		b.Fill(t, pool, 2)
		submit()
		submit()
		b.ReleaseOne() // its worker takes the second, and two wait behind the gate
		waitStats(t, pool)
		submit()
		submit()
		if got := slices.Collect(pool.Waiting()); !slices.Equal(got, want) {
			t.Errorf("Waiting: %v, want %v", got, want)
		}
		var got []any
		for _, u := range pool.ShutdownNow() {
			got = append(got, u.Task())
		}
		if !slices.Equal(got, want) {
			t.Errorf("ShutdownNow: %v, want %v", got, want)
		}
		b.Release()
	})
}

// With a Prioritized queue the task with the lowest priority runs first, and equal ones in the
// order of submission.
func TestPoolPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Queue: executor.Prioritized()})
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		var got []string
		add := func(name string, opts ...executor.Option) {
			mustGo(t, pool, func(context.Context) error { got = append(got, name); return nil }, opts...)
		}
		add("later", executor.Priority(5))
		add("plain")
		add("first", executor.Priority(-1))
		executor.Submit(t.Context(), pool, func(context.Context) (int, error) { got = append(got, "zero"); return 0, nil },
			executor.Priority(0))
		add("later too", executor.Priority(5))
		block.Release()
		waitStats(t, pool)
		if want := []string{"first", "plain", "zero", "later", "later too"}; !slices.Equal(got, want) {
			t.Errorf("ran in order %v, want %v", got, want)
		}
	})
}

// Config and its setters.

// New fails if a field of Config is out of range, and the error names the field.
func TestPoolConfigInvalid(t *testing.T) {
	for _, c := range []struct {
		field  string
		config executor.Config
	}{
		{"Workers", executor.Config{Workers: -1}},
		{"Workers", executor.Config{Workers: -1, Max: 1}},
		{"Workers", executor.Config{Workers: math.MinInt, Max: 1}},
		{"Max", executor.Config{Max: -1}},
		{"Max", executor.Config{Workers: 1, Max: -1}},
		{"Max", executor.Config{Workers: 2, Max: 1}},
		{"GrowWhenBusy", executor.Config{Max: 16}},
		{"Workers to 16", executor.Config{Workers: 2, Max: 16, Queue: executor.Prioritized()}},
		{"KeepAlive", executor.Config{Workers: 1, KeepAlive: -1}},
		{"KeepAlive", executor.Config{Workers: 1, KeepAlive: math.MinInt64}},
		{"KeepAlive", executor.Config{Workers: 1, KeepNone: true}},
		{"Bounded", executor.Config{Workers: 1, Queue: executor.Bounded(0)}},
		{"Bounded", executor.Config{Workers: 1, Queue: executor.Bounded(-1)}},
		{"BoundedPrioritized", executor.Config{Workers: 1, Queue: executor.BoundedPrioritized(0)}},
		{"Reject", executor.Config{Workers: 1, Reject: executor.RejectFunc(nil)}},
		{"BoundedPrioritized", executor.Config{Workers: 1, Reject: executor.DropLowest}},
		{"BoundedPrioritized", executor.Config{Workers: 1, Queue: executor.Prioritized(), Reject: executor.DropLowest}},
	} {
		pool, err := executor.New(c.config)
		if pool != nil {
			t.Errorf("New(%+v) made a pool", c.config)
		}
		expectIs(t, fmt.Sprintf("New(%+v)", c.config), err, executor.ErrInvalid)
		if err != nil && !strings.Contains(err.Error(), c.field) {
			t.Errorf("New(%+v): error %q does not name %s", c.config, err, c.field)
		}
	}
}

// The extreme values in range make a pool that works.
func TestPoolConfigExtremes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []executor.Config{
			{Workers: 1, KeepAlive: math.MaxInt64},
			{Workers: 1, KeepAlive: math.MaxInt64, KeepNone: true},
			{Workers: math.MaxInt},
			{Max: math.MaxInt, KeepAlive: math.MaxInt64, Queue: executor.Handoff()},
			{Workers: 1, Queue: executor.Bounded(math.MaxInt)},
		} {
			pool := newPool(t, c)
			ran := false
			mustGo(t, pool, func(context.Context) error { ran = true; return nil })
			s := waitStats(t, pool)
			time.Sleep(1000 * time.Hour)
			synctest.Wait()
			if !ran || s.Workers != 1 || waitStats(t, pool).Workers != 1 {
				t.Errorf("%+v: ran %v, %d workers, then %d", c, ran, s.Workers, pool.Stats().Workers)
			}
		}
	})
}

// A pool of the zero Config has GOMAXPROCS workers, keeps them, has an unbounded queue, and aborts.
func TestPoolConfigDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{})
		expect(t, "Workers", pool.Settings().Workers, runtime.GOMAXPROCS(0))
		expect(t, "Max", pool.Settings().Max, runtime.GOMAXPROCS(0))
		expect(t, "KeepAlive", pool.Settings().KeepAlive, 0)
		expect(t, "KeepNone", pool.Settings().KeepNone, false)
		expect(t, "RejectPolicy", pool.Settings().Reject, executor.Abort)
		newBlocker(t).Fill(t, pool, 1000)
		expect(t, "Queued", checkStats(t, pool).Queued, 1000-runtime.GOMAXPROCS(0))
	})
}

// The getters return what Config said; Max is Workers if it is zero.
func TestPoolConfigGetters(t *testing.T) {
	mine := new(custom)
	pool := newPool(t,
		executor.Config{Workers: 1, Max: 3, KeepAlive: 1000 * time.Millisecond, KeepNone: true, Reject: mine,
			Queue: executor.Bounded(1)})
	expect(t, "Workers", pool.Settings().Workers, 1)
	expect(t, "Max", pool.Settings().Max, 3)
	expect(t, "KeepAlive", pool.Settings().KeepAlive, time.Second)
	expect(t, "KeepNone", pool.Settings().KeepNone, true)
	expect(t, "RejectPolicy", pool.Settings().Reject, executor.RejectPolicy(mine))
	expect(t, "Max of Workers 5", newPool(t, executor.Config{Workers: 5}).Settings().Max, 5)
}

// custom is a policy of a user, compared by identity.
type custom struct{ calls int }

func (c *custom) Reject(context.Context, executor.Runnable, *executor.Pool) error {
	c.calls++
	return nil
}

// Settings returns what Reconfigure has set, while the pool runs and afterwards.
func TestPoolSetters(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 2, Max: 3, KeepAlive: 1, Queue: executor.Bounded(1)})
	mine := new(custom)
	for range 2 {
		for name, err := range map[string]error{
			"SetMax(5)": setMax(pool, 5), "SetWorkers(4)": setWorkers(pool, 4), "SetKeepAlive": setKeepAlive(pool, time.Hour),
			"SetKeepNone": setKeepNone(pool, true), "SetReject": setReject(pool, mine),
		} {
			expect(t, name, err, nil)
		}
		expect(t, "Max", pool.Settings().Max, 5)
		expect(t, "Workers", pool.Settings().Workers, 4)
		expect(t, "KeepAlive", pool.Settings().KeepAlive, time.Hour)
		expect(t, "KeepNone", pool.Settings().KeepNone, true)
		expect(t, "RejectPolicy", pool.Settings().Reject, executor.RejectPolicy(mine))
		pool.Close()
	}
}

// A setting out of range fails and changes nothing.
func TestPoolSettersInvalid(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 2, Max: 3, KeepAlive: time.Second, KeepNone: true,
		Queue: executor.Handoff()})
	off := newPool(t, executor.Config{Workers: 2, Max: 3, Queue: executor.Handoff()})
	for name, err := range map[string]error{
		"SetWorkers(-1)":             setWorkers(pool, -1),
		"SetWorkers(4)":              setWorkers(pool, 4),
		"SetMax(-1)":                 setMax(pool, -1),
		"SetMax(0)":                  setMax(pool, 0),
		"SetMax(1)":                  setMax(pool, 1),
		"SetKeepAlive(-1)":           setKeepAlive(pool, -1),
		"SetKeepAlive(0)":            setKeepAlive(pool, 0), // while core workers time out
		"SetReject(nil)":             setReject(pool, nil),
		"SetReject(RejectFunc(nil))": setReject(pool, executor.RejectFunc(nil)),
		"SetKeepNone(true)":          setKeepNone(off, true), // while KeepAlive is 0
	} {
		expectIs(t, name, err, executor.ErrInvalid)
		setting, _, _ := strings.Cut(strings.TrimPrefix(name, "Set"), "(")
		if err != nil && !strings.Contains(err.Error(), setting) {
			t.Errorf("%s: error %q does not name the setting", name, err)
		}
	}
	expect(t, "Workers", pool.Settings().Workers, 2)
	expect(t, "Max", pool.Settings().Max, 3)
	expect(t, "KeepAlive", pool.Settings().KeepAlive, time.Second)
	expect(t, "RejectPolicy", pool.Settings().Reject, executor.Abort)
	expect(t, "KeepNone", off.Settings().KeepNone, false)
}

// Settings change in one step: Workers and Max go up together, and down, and nothing changes if one
// of them is out of range.
func TestPoolReconfigureInOneStep(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 2, Max: 3, Queue: executor.Bounded(1)})
	for _, to := range [][2]int{{8, 9}, {1, 1}, {5, 5}} {
		expect(t, "Reconfigure", pool.Reconfigure(func(s *executor.Settings) { s.Workers, s.Max = to[0], to[1] }), nil)
		expect(t, "Workers", pool.Settings().Workers, to[0])
		expect(t, "Max", pool.Settings().Max, to[1])
	}
	before := pool.Settings()
	expectIs(t, "a bad KeepAlive", pool.Reconfigure(func(s *executor.Settings) { s.Workers, s.KeepAlive = 1, -1 }),
		executor.ErrInvalid)
	expectIs(t, "a setting of scheduled pools", pool.Reconfigure(func(s *executor.Settings) {
		s.Workers, s.DropDelayed = 1, true
	}), executor.ErrInvalid)
	expect(t, "what has changed", pool.Settings(), before)
}

// No change of the settings is lost, however many goroutines change them, and a change may ask
// for the settings, and change others.
func TestPoolReconfigureConcurrently(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 1, Max: 1000, Queue: executor.Bounded(1)})
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 50 {
				pool.Reconfigure(func(s *executor.Settings) { s.Workers++ })
			}
		})
	}
	all.Wait()
	expect(t, "Workers", pool.Settings().Workers, 501)
	once := false
	expect(t, "a change in a change", pool.Reconfigure(func(s *executor.Settings) {
		if !once {
			once = true
			setKeepAlive(pool, time.Second)
		}
		s.Max = pool.Settings().Max + 1
	}), nil)
	expect(t, "KeepAlive", pool.Settings().KeepAlive, time.Second)
	expect(t, "Max", pool.Settings().Max, 1001)
}

// Workers never exceeds Max, whichever of them is changed (JDK-7153400).
func TestPoolCoreNeverExceedsMax(t *testing.T) {
	for s := 1; s < 5; s++ {
		pool := newPool(t, executor.Config{Workers: s})
		if s > 1 {
			expectIs(t, "SetMax below Workers", setMax(pool, s-1), executor.ErrInvalid)
		}
		expectIs(t, "SetWorkers above Max", setWorkers(pool, s+1), executor.ErrInvalid)
		expect(t, "Workers", pool.Settings().Workers, s)
		expect(t, "Max", pool.Settings().Max, s)
	}
}

// Two pools that are made with the same Queue have a queue each.
func TestPoolQueueIsNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := executor.Bounded(1)
		a, b := newPool(t, executor.Config{Workers: 1, Queue: q}), newPool(t, executor.Config{Workers: 1, Queue: q})
		block := newBlocker(t)
		block.Fill(t, a, 2)
		block.Fill(t, b, 2)
		expect(t, "queued in a", checkStats(t, a).Queued, 1)
		expect(t, "queued in b", checkStats(t, b).Queued, 1)
	})
}

// The configuration of each preset is the documented one.
func TestPresetConfig(t *testing.T) {
	for _, c := range []struct {
		name      string
		pool      *executor.Pool
		core, max int
		keepAlive time.Duration
	}{
		{"Fixed", executor.Fixed(7), 7, 7, 0},
		{"Single", executor.Single(), 1, 1, 0},
		{"Cached", executor.Cached(), 0, math.MaxInt, time.Minute},
		{"PerTask", executor.PerTask(), 0, math.MaxInt, 0},
	} {
		testkit.Closing(t, c.pool)
		expect(t, c.name+": Workers", c.pool.Settings().Workers, c.core)
		expect(t, c.name+": Max", c.pool.Settings().Max, c.max)
		expect(t, c.name+": KeepAlive", c.pool.Settings().KeepAlive, c.keepAlive)
		expect(t, c.name+": KeepNone", c.pool.Settings().KeepNone, false)
		expect(t, c.name+": RejectPolicy", c.pool.Settings().Reject, executor.Abort)
		expect(t, c.name+": Workers", c.pool.Stats().Workers, 0)
	}
}

// A pool made by Fixed runs as many tasks at once as it has workers, and keeps its workers.
func TestPresetFixed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := testkit.Closing(t, executor.Fixed(3))
		block := newBlocker(t)
		block.Fill(t, pool, 10)
		expect(t, "started", block.Started.Load(), 3)
		block.Release()
		time.Sleep(1000 * time.Hour)
		s := waitStats(t, pool)
		expect(t, "Succeeded", s.Succeeded, 10)
		expect(t, "Workers", s.Workers, 3)
	})
}

// Fixed panics if the size is not positive, and the message has the size.
func TestPresetFixedInvalid(t *testing.T) {
	for _, n := range []int{0, -1, math.MinInt} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.Contains(text, "Fixed(") {
					t.Errorf("Fixed(%d) panicked with %v", n, text)
				}
			}()
			executor.Fixed(n)
		}()
	}
}

// Scheduled panics if the size is negative, and the message has the size.
func TestPresetScheduledInvalid(t *testing.T) {
	defer func() {
		if message := fmt.Sprint(recover()); !strings.Contains(message, "executor: Scheduled(-1): must be at least 0") {
			t.Errorf("Scheduled(-1) panics with %q", message)
		}
	}()
	executor.Scheduled(-1)
}

// A pool made by Single runs one task after the other, in order, even if tasks panic or call
// Goexit.
func TestPresetSingle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := testkit.Closing(t, executor.Single())
		running, next := 0, 0
		for i := range 100 {
			executor.Submit(t.Context(), pool, func(context.Context) (int, error) {
				running++
				expect(t, "running", running, 1)
				expect(t, "order", i, next)
				next++
				time.Sleep(time.Second)
				running--
				return 0, testkit.Exits[i%len(testkit.Exits)].Leave() // in a future, so that nothing is logged
			})
		}
		time.Sleep(100 * time.Second)
		s := waitStats(t, pool)
		expect(t, "Completed", s.Ended(), 100)
		expect(t, "Largest", s.Largest, 1)
	})
}

// A pool made by Single may get any policy, also one that can't be compared.
func TestPresetSingleRejectFunc(t *testing.T) {
	pool := testkit.Closing(t, executor.Single())
	kept := executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error { return executor.ErrKept })
	for range 2 {
		expect(t, "Reject", setReject(pool, kept), nil)
	}
	expectIs(t, "Workers", setWorkers(pool, 0), executor.ErrInvalid)
}

// A pool made by Single stays one of a single worker.
func TestPresetSingleIsFrozen(t *testing.T) {
	pool := testkit.Closing(t, executor.Single())
	for name, err := range map[string]error{
		"Workers": setWorkers(pool, 0), "Max": setMax(pool, 2), "KeepAlive": setKeepAlive(pool, 1), "Resize": pool.Resize(2),
		"GrowWhenBusy": pool.Reconfigure(func(s *executor.Settings) { s.GrowWhenBusy = true }),
	} {
		expectIs(t, name, err, executor.ErrInvalid)
	}
	expect(t, "Reject", setReject(pool, executor.Discard), nil)
	expect(t, "what has changed", pool.Settings(), executor.Settings{Workers: 1, Max: 1, Reject: executor.Discard})
}

// A pool made by Cached starts a worker only if none is idle, and idle ones leave after a minute.
func TestPresetCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := testkit.Closing(t, executor.Cached())
		block := newBlocker(t)
		block.Fill(t, pool, 50)
		expect(t, "started", block.Started.Load(), 50)
		block.Release()
		expect(t, "idle", waitStats(t, pool).Idle, 50)
		again := newBlocker(t)
		again.Fill(t, pool, 20)
		expect(t, "Largest", checkStats(t, pool).Largest, 50)
		time.Sleep(time.Minute - 1)
		expect(t, "workers before", waitStats(t, pool).Workers, 50)
		time.Sleep(time.Nanosecond)
		expect(t, "workers after", waitStats(t, pool).Workers, 20)
		again.Release()
		time.Sleep(time.Minute)
		expect(t, "workers at last", waitStats(t, pool).Workers, 0)
	})
}

// In a pool made by PerTask each task has a worker of its own, which ends with it.
func TestPresetPerTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := testkit.Closing(t, executor.PerTask())
		block := newBlocker(t)
		var fs []*executor.Future[int]
		for i := range 100 {
			fs = append(fs,
				executor.Submit(t.Context(), pool, func(ctx context.Context) (int, error) { return i, block.Run(ctx) }))
		}
		s := waitStats(t, pool)
		expect(t, "Active", s.Active, 100)
		expect(t, "Queued", s.Queued, 0)
		fs[99].Cancel()
		fs[98].Abandon()
		block.Release()
		expect(t, "Workers", waitStats(t, pool).Workers, 0)
		for i, f := range fs[:98] {
			v, err := f.Result()
			expect(t, "value", v, i)
			expect(t, "error", err, nil)
		}
		mustGo(t, pool, nop)
		s = waitStats(t, pool)
		expect(t, "Largest", s.Largest, 100)
		expect(t, "Succeeded", s.Succeeded, 99)
		expect(t, "Canceled", s.Canceled, 2)
		pool.Close()
	})
}

// Shutdown of a pool made by PerTask waits for its tasks.
func TestPresetPerTaskShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := testkit.Closing(t, executor.PerTask())
		block := newBlocker(t)
		f := executor.Submit(t.Context(), pool, block.Value)
		synctest.Wait()
		pool.Shutdown()
		bound, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		expectIs(t, "AwaitTermination", pool.AwaitTermination(bound), context.DeadlineExceeded)
		expect(t, "state", f.State(), executor.Running)
		expectIs(t, "Go", pool.Go(t.Context(), nop), executor.ErrShutdown)
		block.Release()
		pool.Close()
		pool.Close()
		expect(t, "outcome", f.Err(), nil)
		expectIs(t, "Go when terminated", pool.Go(t.Context(), nop), executor.ErrShutdown)
	})
}

// ShutdownNow of a pool made by PerTask cancels its tasks and returns none.
func TestPresetPerTaskShutdownNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := testkit.Closing(t, executor.PerTask())
		fs := testkit.SubmitAll(t.Context(), pool, executor.Func(testkit.AnHour).Call,
			executor.Func(testkit.AnHour).Call)
		synctest.Wait()
		expect(t, "returned", len(pool.ShutdownNow()), 0)
		expect(t, "AwaitTermination", pool.AwaitTermination(t.Context()), nil)
		for _, f := range fs {
			expectIs(t, "Err", f.Err(), executor.ErrShutdown)
			expect(t, "state", f.State(), executor.Canceled)
		}
	})
}

// In a pool made by PerTask InvokeAll and Any run all functions at once; neither failures nor
// losers outlast or hide what the documentation promises.
func TestPresetPerTaskInvoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := testkit.Closing(t, executor.PerTask())
		after := func(d time.Duration, v int, err error) func(context.Context) (int, error) {
			return func(ctx context.Context) (int, error) {
				select {
				case <-time.After(d):
					return v, err
				case <-ctx.Done():
					return 0, context.Cause(ctx)
				}
			}
		}
		start := time.Now()
		for i, f := range java.InvokeAll(t.Context(), pool, after(3*time.Second, 0, nil),
			after(time.Second, 1, nil), after(time.Second, 2, errTask)) {
			v, err := f.Result()
			expect(t, "value", v, i)
			expect(t, "error", err, []error{nil, nil, errTask}[i])
		}
		expect(t, "InvokeAll took", time.Since(start), 3*time.Second)

		start = time.Now()
		v, err := executor.Any(t.Context(), pool, after(time.Hour, 1, nil), after(time.Second, 2, errTask),
			after(time.Minute, 3, nil))
		expect(t, "Any", v, 3)
		expect(t, "error", err, nil)
		expect(t, "Any took", time.Since(start), time.Minute)
		expect(t, "losers left", waitStats(t, pool).Active, 0)

		bound, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = executor.Any(bound, pool, after(time.Second, 0, errTask), after(time.Hour, 0, nil))
		expectIs(t, "Any with a bound", err, context.DeadlineExceeded)
		expect(t, "left", waitStats(t, pool).Active, 0)
		fs := java.InvokeAll(bound, pool, after(time.Second, 1, nil))
		expectIs(t, "InvokeAll with an ended context", fs[0].Err(), executor.ErrCanceled)

		pool.Close()
		fs = java.InvokeAll(t.Context(), pool, after(time.Second, 1, nil))
		expectIs(t, "InvokeAll after Close", fs[0].Err(), executor.ErrShutdown)
		_, err = executor.Any(t.Context(), pool, after(time.Second, 1, nil))
		expectIs(t, "Any after Close", err, executor.ErrShutdown)
	})
}

// The functions that a preset takes change its Config, in order.
func TestPresetsWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		with := func(c *executor.Config) {
			c.Name = "x"
			c.Hooks.BeforeTask = func(ctx context.Context, info executor.TaskInfo) context.Context {
				names = append(names, info.Executor)
				return ctx
			}
		}
		rename := func(c *executor.Config) { c.Name += "y" }
		for _, pool := range []*executor.Pool{
			executor.Fixed(2, with, rename), executor.Cached(with, rename), executor.Single(with, rename),
			executor.PerTask(with, rename),
		} {
			mustGo(t, pool, nop)
			pool.Close()
		}
		scheduled := func(c *executor.ScheduledConfig) { c.Name = "xy" }
		expect(t, "Scheduled", executor.Scheduled(1, scheduled).Name(), "xy")
		if want := []string{"xy", "xy", "xy", "xy"}; !slices.Equal(names, want) {
			t.Errorf("hooks saw the names %q", names)
		}
	})
}

// Cached and PerTask are what their documentation says.
func TestPresetsAreConfigs(t *testing.T) {
	for name, c := range map[string]struct {
		pool      *executor.Pool
		keepAlive time.Duration
	}{
		"Cached":  {executor.Cached(), time.Minute},
		"PerTask": {executor.PerTask(), 0},
	} {
		expect(t, name+": Workers", c.pool.Settings().Workers, 0)
		expect(t, name+": Max", c.pool.Settings().Max, math.MaxInt)
		expect(t, name+": KeepAlive", c.pool.Settings().KeepAlive, c.keepAlive)
		c.pool.Close()
	}
	limited := executor.Cached(func(c *executor.Config) {
		c.Max, c.Queue, c.GrowWhenBusy = 16, executor.Unbounded(), true
	})
	expect(t, "Max", limited.Settings().Max, 16)
	limited.Close()
}

// A change that makes no sense panics.
func TestPresetsWithInvalid(t *testing.T) {
	for name, make := range map[string]func(){
		"Fixed":   func() { executor.Fixed(1, func(c *executor.Config) { c.Workers = -1 }) },
		"Cached":  func() { executor.Cached(func(c *executor.Config) { c.Queue = executor.Unbounded() }) },
		"Single":  func() { executor.Single(func(c *executor.Config) { c.Workers = 2 }) },
		"PerTask": func() { executor.PerTask(func(c *executor.Config) { c.KeepAlive = -1 }) },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "executor: ") {
					t.Errorf("%s: panic %q", name, text)
				}
			}()
			make()
		}()
	}
}

// Stats.Failures counts each run of a worker that failed: those of a schedule and the attempts of Retry, too, which are
// no tasks of their own. A body that was canceled, or that ends its schedule by Stop, has not failed.
func TestStatsFailures(t *testing.T) {
	var hooks executor.Hooks
	hooks.AfterTask = func(context.Context, executor.TaskInfo, error) {}
	fails := func(context.Context) error { return errTask }
	panics := func(context.Context) error { panic("oh") }
	exits := func(context.Context) error { runtime.Goexit(); return nil }
	waits := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	once := func(fn func(context.Context) error, opts ...executor.Option) func(*executor.ScheduledPool) error {
		return func(p *executor.ScheduledPool) error { return p.Go(context.Background(), fn, opts...) }
	}
	every := func(fn func(context.Context) error, opts ...executor.Option) func(*executor.ScheduledPool) error {
		return func(p *executor.ScheduledPool) error {
			_, err := p.AtFixedRate(context.Background(), 0, time.Second, fn, opts...)
			return err
		}
	}
	for name, c := range map[string]struct {
		submit         func(*executor.ScheduledPool) error
		runs, failures int64
	}{
		"success":   {once(nop), 1, 0},
		"error":     {once(fails), 1, 1},
		"panic":     {once(panics), 1, 1},
		"Goexit":    {once(exits), 1, 1},
		"attempts":  {once(fails, executor.Retry(3, seconds)), 3, 3},
		"schedule":  {every(fails, executor.Times(5)), 5, 5},
		"overlap":   {every(fails, executor.Times(5), executor.Overlap(2)), 5, 5},
		"continues": {every(panics, executor.Times(2), executor.ContinueAfterPanic()), 2, 2},
		"ends":      {every(panics), 1, 1},
		"exits":     {every(exits), 1, 1},
		"Stop":      {every(func(context.Context) error { return executor.ErrStop }), 1, 0},
		"a future": {func(p *executor.ScheduledPool) error {
			executor.Submit(context.Background(), p, func(context.Context) (int, error) { return 0, errTask })
			return nil
		}, 1, 1},
		"canceled": {func(p *executor.ScheduledPool) error {
			f := p.Submit(context.Background(), waits)
			time.AfterFunc(time.Second, func() { f.Cancel() })
			return nil
		}, 1, 0},
		"of a share": {func(p *executor.ScheduledPool) error {
			s, err := p.Share(executor.ShareConfig{})
			if err == nil {
				err = s.Go(context.Background(), fails)
			}
			return err
		}, 1, 0}, // they are in the Stats of the share
	} {
		for _, h := range []executor.Hooks{{}, hooks} {
			synctest.Test(t, func(t *testing.T) {
				p := newScheduled(t, executor.ScheduledConfig{Workers: 2, Hooks: h})
				expect(t, name, c.submit(p), nil)
				time.Sleep(time.Minute)
				s := waitStats(t, p)
				expect(t, name+": runs", s.Runs, c.runs)
				expect(t, name+": failures", s.Failures, c.failures)
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		plain := newPool(t, executor.Config{Workers: 1})
		for _, fn := range []func(context.Context) error{nop, fails, panics, exits} {
			mustGo(t, plain, fn)
		}
		s := waitStats(t, plain)
		expect(t, "runs without a task", s.Runs, 4)
		expect(t, "failures without a task", s.Failures, 3)
	})
}
