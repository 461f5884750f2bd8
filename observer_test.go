package executor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"runtime/trace"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/histogram"
)

// sleep returns a body that takes d.
func sleep(d time.Duration) func(context.Context) error {
	return func(context.Context) error { time.Sleep(d); return nil }
}

// expectDurations requires that a histogram has exactly these durations.
func expectDurations(t testing.TB, what string, got histogram.Snapshot, want ...time.Duration) {
	t.Helper()
	var h histogram.Histogram
	for _, d := range want {
		h.Record(d)
	}
	if w := h.Snapshot(); !reflect.DeepEqual(got, w) {
		t.Errorf("%s: %v, want %v", what, got, w)
	}
}

// Each way of a task to a worker is measured: a new worker, an idle one, and each queue,
// the unbounded one with the gate closed and open.
func TestObserverMeasuresEachWay(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		config executor.Config
		waits  []time.Duration // of six tasks of a second that are submitted at once
	}{
		"new workers": {executor.Config{Workers: 6}, []time.Duration{0, 0, 0, 0, 0, 0}},
		"handoff":     {executor.Config{Max: 6, Queue: executor.Handoff()}, []time.Duration{0, 0, 0, 0, 0, 0}},
		"unbounded":   {executor.Config{Workers: 1}, []time.Duration{0, s, 2 * s, 3 * s, 4 * s, 5 * s}},
		"no core":     {executor.Config{Max: 1}, []time.Duration{0, s, 2 * s, 3 * s, 4 * s, 5 * s}},
		"bounded":     {executor.Config{Workers: 1, Max: 2, Queue: executor.Bounded(4)}, []time.Duration{0, 0, s, s, 2 * s, 2 * s}},
		"prioritized": {executor.Config{Workers: 2, Queue: executor.Prioritized()}, []time.Duration{0, 0, s, s, 2 * s, 2 * s}},
		"blocked": {executor.Config{Workers: 1, Queue: executor.Bounded(1), Reject: executor.Block},
			[]time.Duration{0, s, s, s, s, s}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.config.Observer = &executor.Observer{Every: 1}
				p := newPool(t, c.config)
				for range 6 {
					go p.Go(t.Context(), sleep(s), executor.Named("x")) // with a state
				}
				time.Sleep(time.Minute) // from here on workers are idle
				f := p.Figures()
				expectDurations(t, "Wait", f.Wait, c.waits...)
				expectDurations(t, "Run", f.Run, s, s, s, s, s, s)
				expectDurations(t, "Late", f.Late)

				for range 6 {
					go p.Go(t.Context(), sleep(s)) // without
				}
				time.Sleep(time.Minute)
				f = p.Figures()
				expectDurations(t, "Wait of two rounds", f.Wait, append(c.waits, c.waits...)...)
				expect(t, "runs", int64(f.Run.Count), f.Runs)
			})
		})
	}
}

// Of many tasks about one in Every is measured, by each way.
func TestObserverSamples(t *testing.T) {
	const every, n = 64, 64_000
	for name, config := range map[string]executor.Config{
		"unbounded": {Workers: 1},
		"bounded":   {Workers: 1, Queue: executor.Bounded(n)},
		"hand-over": {Workers: 1, Queue: executor.Handoff(), Reject: executor.Block},
		"hire":      {Max: math.MaxInt, Queue: executor.Handoff()},
	} {
		t.Run(name, func(t *testing.T) {
			config.Observer = &executor.Observer{}
			p := newPool(t, config)
			for range n {
				mustGo(t, p, nop)
			}
			p.Close()
			f := p.Figures()
			expect(t, "Every", f.Every, every)
			expect(t, "waits", f.Wait.Count, f.Run.Count)
			// The distance of two has a standard deviation of 37; that of 1000 in a row is 18 tasks.
			if k := f.Run.Count; k < n/every-150 || k > n/every+150 {
				t.Errorf("%d tasks of %d are measured, want about %d", k, n, n/every)
			}
		})
	}
}

// Tasks that leave the queue unrun neither count nor change what is measured of others.
func TestObserverIgnoresRemovedTasks(t *testing.T) {
	for name, queue := range map[string]executor.Queue{
		"unbounded": executor.Unbounded(), "bounded": executor.Bounded(1000), "prioritized": executor.Prioritized(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &executor.Observer{Every: 1}
				p := newPool(t, executor.Config{Workers: 1, Queue: queue, Observer: o})
				mustGo(t, p, sleep(time.Hour))
				want := []time.Duration{0}
				var canceled []*executor.Future[int]
				for i := range 300 {
					time.Sleep(time.Second)
					f := executor.Submit(t.Context(), p, value(i))
					if i%3 == 0 {
						want = append(want, time.Hour-time.Duration(i+1)*time.Second)
					} else {
						canceled = append(canceled, f)
					}
				}
				for _, f := range canceled {
					f.Cancel()
				}
				p.Close()
				f := p.Figures()
				expectDurations(t, "Wait", f.Wait, want...)
				expect(t, "runs", f.Run.Count, 101)
			})
		})
	}
}

// Waiting, Remove, DiscardOldest and ShutdownNow find tasks that are marked to be measured.
func TestObserverHidesMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{Every: 1}
		p := newPool(t, executor.Config{
			Workers: 1, Queue: executor.Bounded(3), Observer: o, Reject: executor.DiscardOldest,
		})
		b := newBlocker(t)
		mustGo(t, p, b.Run)
		oldest := executor.Submit(t.Context(), p, value(1))
		step := &plainTask{}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if err := p.Execute(t.Context(), step); err != nil {
			t.Fatal(err)
		}
		last := executor.Submit(ctx, p, value(2))
		mustGo(t, p, nop)
		futureIs(t, oldest, executor.Failed, 0, executor.ErrSaturated)
		var waiting []any
		for r := range p.Waiting() {
			waiting = append(waiting, r)
		}
		if len(waiting) != 3 || waiting[0] != step || waiting[1] != last {
			t.Errorf("Waiting: %v, want the tasks as they were submitted", waiting)
		}
		expect(t, "Remove", p.Remove(step), true)
		cancel()
		synctest.Wait()
		futureIs(t, last, executor.Canceled, 0, context.Canceled)
		expect(t, "dropped tasks", len(p.ShutdownNow()), 1)
		b.Release()
		checkStats(t, p)
	})
}

// plainTask is a task without a state, that can be compared.
type plainTask struct{ n int }

func (t *plainTask) Run(context.Context) error { t.n++; return nil }

// A run that panics, or ends its goroutine, is measured; a task that is canceled before
// its body is called is not.
func TestObserverMeasuresFailedRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{Every: 1}
		p := newPool(t, executor.Config{
			Workers: 1, Observer: o, Hooks: executor.Hooks{
				OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) {},
				BeforeTask: func(ctx context.Context, i executor.TaskInfo) context.Context {
					if i.Name == "veto" {
						panic("veto")
					}
					return ctx
				},
				AfterTask: func(context.Context, executor.TaskInfo, error) {},
			},
		})
		mustGo(t, p, func(context.Context) error { time.Sleep(time.Second); panic(1) })
		mustGo(t, p, func(context.Context) error { time.Sleep(2 * time.Second); runtime.Goexit(); return nil })
		mustGo(t, p, func(context.Context) error { time.Sleep(3 * time.Second); return errTask })
		if err := p.Go(t.Context(), nop, executor.Named("veto")); err != nil {
			t.Fatal(err)
		}
		p.Close()
		f := p.Figures()
		expectDurations(t, "Run", f.Run, time.Second, 2*time.Second, 3*time.Second)
		expectDurations(t, "Wait", f.Wait, 0, time.Second, 3*time.Second)
	})
}

// The lateness of each run is measured, on either clock.
func TestObserverMeasuresLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const s = time.Second
		o := &executor.Observer{Every: 1}
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Observer: o})
		begin := time.Now()
		series, err := p.AtFixedRate(t.Context(), s, 2*s, sleep(5*s), executor.Times(3))
		if err != nil {
			t.Fatal(err)
		}
		if err := series.Wait(t.Context()); err != nil { // due at 1, 3, 5; begins at 1, 6, 11
			t.Fatal(err)
		}
		synctest.Wait() // a run is measured after its series has ended
		f := p.Figures()
		expectDurations(t, "Late", f.Late, 0, 3*s, 6*s)
		expectDurations(t, "Run", f.Run, 5*s, 5*s, 5*s)
		expectDurations(t, "Wait", f.Wait)

		mustGo(t, p.Pool, sleep(4*s)) // until 20
		at := executor.SubmitAt(t.Context(), p, begin.Add(17*s), nopValue)
		if _, err := at.Get(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		expectDurations(t, "Late", p.Figures().Late, 0, 3*s, 6*s, 0, 3*s)
	})
}

// Names have figures of their own, up to the limit.
func TestObserverNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const s = time.Second
		o := &executor.Observer{Every: 1, MaxNames: 2}
		p := newPool(t, executor.Config{Workers: 1, Observer: o})
		mustGo(t, p, sleep(s))
		for i := range 4 {
			if err := p.Go(t.Context(), sleep(time.Duration(i+2)*s), executor.Named(fmt.Sprint("n", i%3))); err != nil {
				t.Fatal(err)
			}
		}
		p.Close()
		f := p.Figures()
		expect(t, "names", len(f.Names), 2)
		expectDurations(t, "Run of tasks without a name", f.Names[""].Run, s)
		expectDurations(t, "Run of n0", f.Names["n0"].Run, 2*s, 5*s)
		expectDurations(t, "Wait of n0", f.Names["n0"].Wait, s, 10*s)
		expectDurations(t, "Run of others", f.OtherNames.Run, 3*s, 4*s)
		expect(t, "all runs", f.Run.Count, 5)
	})
}

// A pool without an Observer has figures, but for what is measured.
func TestPoolFiguresWithoutObserver(t *testing.T) {
	lender := newPool(t, executor.Config{Workers: 2})
	for _, c := range []struct {
		pool                *executor.Pool
		core, max, capacity int
	}{
		{newPool(t, executor.Config{Workers: 2, Max: 3, Queue: executor.Bounded(7)}), 2, 3, 7},
		{newPool(t, executor.Config{Workers: 2}), 2, 2, -1},
		{newPool(t, executor.Config{Workers: 1, Queue: executor.BoundedPrioritized(7)}), 1, 1, 7},
		{newPool(t, executor.Config{Workers: 1, Queue: executor.Prioritized()}), 1, 1, -1},
		{newShare(t, lender, executor.ShareConfig{Limit: 2, Queue: executor.Bounded(7)}), 0, 2, 7},
		{newShare(t, lender, executor.ShareConfig{Limit: 2, Queue: executor.Handoff()}), 0, 2, 0},
		{newShare(t, lender, executor.ShareConfig{Limit: 2}), 0, 2, -1},
		{executor.PerTask(), 0, -1, 0},
		{newScheduled(t, executor.ScheduledConfig{Workers: 5}).Pool, 5, -1, -1},
	} {
		mustGo(t, c.pool, nop)
		c.pool.Close()
		f := c.pool.Figures()
		expect(t, "Workers", f.Kept, c.core)
		expect(t, "Max", f.Max, c.max)
		expect(t, "Capacity", f.Capacity, c.capacity)
		expect(t, "Every", f.Every, 0)
		expect(t, "Succeeded", f.Succeeded, 1)
		if f.Run.Count+f.Wait.Count+f.Late.Count > 0 || f.Names != nil {
			t.Errorf("figures of a pool that is not observed: %+v", f)
		}
	}
}

// Workers has each worker from its begin to its end, and what it does since when.
func TestPoolWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{Every: 1 << 20}
		p := newPool(t, executor.Config{
			Workers: 1, Max: 3, Queue: executor.Bounded(1), KeepAlive: time.Minute, Observer: o,
		})
		expect(t, "workers of a new pool", len(p.Workers()), 0)
		begin := time.Now()
		for i, d := range []time.Duration{10, 20, 30, 40} { // the second waits in the queue
			err := p.Go(t.Context(), sleep(d*time.Second), executor.Named(fmt.Sprint("task ", i)))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		check := func(want ...string) {
			t.Helper()
			var got []string
			for _, w := range p.Workers() {
				state := "idle"
				if w.Active {
					state = "on " + w.Task
				}
				since := "never"
				if !w.Since.IsZero() {
					since = w.Since.Sub(begin).String()
				}
				got = append(got, fmt.Sprintf("%d: %s since %s, %d tasks", w.Number, state, since, w.Tasks))
			}
			if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
				t.Errorf("after %v the workers are\n%s\nwant\n%s", time.Since(begin), g, w)
			}
		}
		check("1: on task 0 since 0s, 1 tasks", "2: on task 2 since 2s, 1 tasks", "3: on task 3 since 3s, 1 tasks")
		time.Sleep(11 * time.Second) // to 15; the task from the queue began at 10, but Workers was not called
		check("1: on task 1 since 15s, 2 tasks", "2: on task 2 since 2s, 1 tasks", "3: on task 3 since 3s, 1 tasks")
		time.Sleep(10 * time.Second)
		check("1: on task 1 since 15s, 2 tasks", "2: on task 2 since 2s, 1 tasks", "3: on task 3 since 3s, 1 tasks")
		time.Sleep(25 * time.Second) // to 50
		check("1: idle since 30s, 2 tasks", "2: idle since 32s, 1 tasks", "3: idle since 43s, 1 tasks")
		time.Sleep(45 * time.Second) // to 95
		check("3: idle since 43s, 1 tasks")
		p.Close()
		expect(t, "workers of a terminated pool", len(p.Workers()), 0)
	})
}

// Workers shows the time of a task that has one.
func TestPoolWorkersDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1})
		due := time.Now().Add(time.Second)
		executor.SubmitAfter(t.Context(), p, time.Second, func(context.Context) (int, error) {
			time.Sleep(time.Minute)
			return 0, nil
		}, executor.Named("later"))
		time.Sleep(2 * time.Second)
		ws := p.Workers()
		if len(ws) != 1 || ws[0].Task != "later" || !ws[0].Due.Equal(due) {
			t.Errorf("Workers: %+v, want one on later, due at %v", ws, due)
		}
	})
}

// What is looked at while tasks run does not disturb them, and adds up.
func TestObserverWhileTasksRun(t *testing.T) {
	for name, p := range map[string]*executor.Pool{
		"unbounded": newPool(t, executor.Config{Workers: 3}),
		"elastic": newPool(t, executor.Config{
			Workers: 1, Max: 5, Queue: executor.Bounded(3), Reject: executor.Block,
		}),
		"scheduled": newScheduled(t, executor.ScheduledConfig{Workers: 2}).Pool,
	} {
		t.Run(name, func(t *testing.T) {
			o := &executor.Observer{Every: 1, MaxNames: 3, MaxEvents: 100}
			o.Watch(p)
			const n = 2000
			var submitters, look sync.WaitGroup
			done := make(chan struct{})
			look.Go(func() {
				for last := int64(0); ; {
					for _, p := range o.Pools() {
						if f, s := p.Figures(), p.Stats(); f.Run.Count > uint64(s.Submitted) {
							t.Errorf("%d runs of %d tasks", f.Run.Count, s.Submitted)
						}
						for i, w := range p.Workers() {
							if w.Number <= 0 || i >= 5 {
								t.Errorf("worker %d is %+v", i, w)
							}
						}
					}
					events, lost := o.Events(last)
					for i, e := range events {
						if want := last + lost + int64(i) + 1; e.Number != want {
							t.Errorf("event %d after %d and %d that are lost", e.Number, last, lost)
						}
					}
					last += lost + int64(len(events))
					select {
					case <-done:
						return
					default:
					}
				}
			})
			for i := range 4 {
				submitters.Go(func() {
					for j := range n {
						switch f := executor.Submit(t.Context(), p, value(j), executor.Named(fmt.Sprint(i))); j % 3 {
						case 0:
							f.Cancel()
						case 1:
							mustGo(t, p, nop)
						}
					}
				})
			}
			submitters.Wait()
			p.Close()
			close(done)
			look.Wait()
			f := p.Figures()
			expect(t, "measured runs", int64(f.Run.Count), f.Runs)
			var named uint64
			for _, n := range f.Names {
				named += n.Run.Count
			}
			expect(t, "runs by name", named+f.OtherNames.Run.Count, f.Run.Count)
		})
	}
}

// Observed tasks allocate one object for each that is measured, and nothing more than others.
func TestObserverAllocations(t *testing.T) {
	allocs := func(every int, queue executor.Queue) float64 {
		c := executor.Config{Workers: 1, Queue: queue}
		if every > 0 {
			c.Observer = &executor.Observer{Every: every, MaxNames: 5}
		}
		p := newPool(t, c)
		var wg sync.WaitGroup
		body := func(context.Context) error { wg.Done(); return nil }
		return testing.AllocsPerRun(100, func() {
			wg.Add(100)
			for range 100 {
				mustGo(t, p, body)
			}
			wg.Wait()
		})
	}
	for name, queue := range map[string]executor.Queue{
		"unbounded": executor.Unbounded(), "bounded": executor.Bounded(100), "prioritized": executor.Prioritized(),
	} {
		plain := allocs(0, queue)
		for _, every := range []int{1, 64} {
			if n := allocs(every, queue); n > plain+10+100/float64(every) { // of 100 tasks; chunks of the queue vary
				t.Errorf("%s: 100 tasks allocate %v objects where one of %d is measured, else %v", name, n, every, plain)
			}
		}
	}
}

// An execution trace has a region for each run, with the name of the task.
func TestPoolTraceRegions(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("there is a trace already")
	}
	p := newPool(t, executor.Config{Workers: 1})
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Fatal(err)
	}
	f := executor.Submit(t.Context(), p, value(1), executor.Named("a name in the trace"))
	f.Get(t.Context())
	mustGo(t, p, func(context.Context) error { runtime.Goexit(); return nil })
	p.Close()
	trace.Stop()
	for _, name := range []string{"a name in the trace", "executor task"} {
		if !bytes.Contains(b.Bytes(), []byte(name)) {
			t.Errorf("the trace has no region %q", name)
		}
	}
}

// Pools has the pools that are watched and not terminated, in order.
func TestObserverPools(t *testing.T) {
	o := &executor.Observer{}
	expectPools := func(want ...string) {
		t.Helper()
		var got []string
		for n, p := range o.Pools() {
			got = append(got, fmt.Sprint(n, " ", p.Name()))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("Pools: %q, want %q", got, want)
		}
	}
	expectPools()
	a := newPool(t, executor.Config{Name: "a", Observer: o})
	b := newScheduled(t, executor.ScheduledConfig{Name: "b", Observer: o})
	c := executor.Fixed(1)
	o.Watch(c)
	o.Watch(c)
	expectPools("1 a", "2 b", "3 ")
	for range o.Pools() { // stops, and does not mind that a pool leaves
		b.Close()
		break
	}
	expectPools("1 a", "3 ")
	c.Close()
	o.Watch(c) // is terminated
	d := newPool(t, executor.Config{Name: "d", Observer: o})
	expectPools("1 a", "4 d")
	a.ShutdownNow()
	d.Close()
	<-a.Terminated()
	expectPools()
}

// A pool that is watched while it works is measured from then on.
func TestObserverWatchesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, executor.Config{Workers: 1})
		mustGo(t, p, sleep(time.Second))
		mustGo(t, p, sleep(2*time.Second))
		o := &executor.Observer{Every: 1}
		o.Watch(p)
		mustGo(t, p, sleep(4*time.Second))
		p.Close()
		expectDurations(t, "Run", p.Figures().Run, 4*time.Second)
		expectDurations(t, "Wait", p.Figures().Wait, 3*time.Second)
	})
}

// Misuse of Watch panics.
func TestObserverWatchMisuse(t *testing.T) {
	o := &executor.Observer{}
	p := newPool(t, executor.Config{Name: "mail", Observer: o})
	for want, f := range map[string]func(){
		"executor: Observer.Watch of a nil Pool": func() { o.Watch(nil) },
		`executor: Observer.Watch: another Observer watches pool "mail"; a pool has one`: func() {
			(&executor.Observer{}).Watch(p)
		},
	} {
		func() {
			defer func() { expect(t, "panic", fmt.Sprint(recover()), want) }()
			f()
		}()
	}
}

// A pool does not take an Observer with a field out of its range, and says what is wrong.
func TestObserverInvalid(t *testing.T) {
	for text, o := range map[string]*executor.Observer{
		"Every of the Observer is -1; it must be from 1 to 1048576, or 0 for 64":      {Every: -1},
		"Every of the Observer is 1048577; it must be from 1 to 1048576, or 0 for 64": {Every: 1<<20 + 1},
		"MaxNames of the Observer is -1; it must not be negative; 0 is none":          {MaxNames: -1},
		"MaxEvents of the Observer is -2; it must not be negative; 0 is none":         {MaxEvents: -2},
	} {
		_, err := executor.New(executor.Config{Observer: o})
		_, errScheduled := executor.NewScheduled(executor.ScheduledConfig{Observer: o})
		for where, err := range map[string]error{"Config": err, "ScheduledConfig": errScheduled} {
			if want := "executor: " + where + ": " + text; !errors.Is(err, executor.ErrInvalid) || err.Error() != want {
				t.Errorf("%+v: %v, want %q", o, err, want)
			}
		}
		func() {
			defer func() { expect(t, "panic", fmt.Sprint(recover()), "executor: Observer.Watch: "+text) }()
			o.Watch(newPool(t, executor.Config{}))
		}()
	}
}

// Events has what happened to the pools, and counts what happens often.
func TestObserverEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{MaxEvents: 6}
		p := newPool(t, executor.Config{
			Name: "mail", Workers: 1, Queue: executor.Bounded(1), Observer: o,
			Hooks: executor.Hooks{OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) {}},
		})
		begin := time.Now()
		expectEvents := func(after, lost int64, want ...string) {
			t.Helper()
			events, n := o.Events(after)
			var got []string
			for _, e := range events {
				got = append(got, fmt.Sprintf("%d %v %s/%d %v ×%d",
					e.Number, e.Time.Sub(begin), e.Name, e.Pool, e.Kind, e.Count))
			}
			if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w || n != lost {
				t.Errorf("%d lost, and\n%s\nwant %d lost, and\n%s", n, g, lost, w)
			}
		}
		expectEvents(0, 0)
		b := newBlocker(t)
		mustGo(t, p, b.Run)
		mustGo(t, p, func(context.Context) error { panic(1) })
		synctest.Wait()
		for range 3 {
			p.Go(t.Context(), nop)
		}
		time.Sleep(time.Second)
		p.Go(t.Context(), nop)
		expectEvents(0, 0,
			"1 0s mail/1 worker started ×1", "2 0s mail/1 rejected ×3", "3 1s mail/1 rejected ×1")
		p.Shutdown()
		b.Release()
		<-p.Terminated()
		expectEvents(2, 0,
			"3 1s mail/1 rejected ×1", "4 1s mail/1 shutdown ×1", "5 1s mail/1 panicked ×1",
			"6 1s mail/1 worker left ×1", "7 1s mail/1 terminated ×1")
		expectEvents(0, 1,
			"2 0s mail/1 rejected ×3", "3 1s mail/1 rejected ×1", "4 1s mail/1 shutdown ×1",
			"5 1s mail/1 panicked ×1", "6 1s mail/1 worker left ×1", "7 1s mail/1 terminated ×1")
		expectEvents(7, 0)
		expectEvents(100, 0)
		expectEvents(-5, 1, "2 0s mail/1 rejected ×3", "3 1s mail/1 rejected ×1", "4 1s mail/1 shutdown ×1",
			"5 1s mail/1 panicked ×1", "6 1s mail/1 worker left ×1", "7 1s mail/1 terminated ×1")
	})
}

// An Observer that keeps no events has none.
func TestObserverWithoutEvents(t *testing.T) {
	o := &executor.Observer{}
	p := newPool(t, executor.Config{Observer: o})
	mustGo(t, p, nop)
	p.Close()
	if events, lost := o.Events(0); len(events) > 0 || lost > 0 {
		t.Errorf("%d events, %d lost", len(events), lost)
	}
}

// The tasks of a share are measured as its own. The pool that lends counts the requests for a
// worker, of which one serves several tasks where the pool has nothing else to do.
func TestObserverMeasuresShare(t *testing.T) {
	for _, every := range []int{0, 1, 8} {
		t.Run(fmt.Sprint("every ", every), func(t *testing.T) {
			c := executor.Config{Workers: 2}
			if every > 0 {
				c.Observer = &executor.Observer{Every: every}
			}
			pool := newPool(t, c)
			share := newShare(t, pool, executor.ShareConfig{Limit: 1})
			const n = 4000
			for range n {
				mustGo(t, share, nop)
			}
			share.Close()
			pool.Close()
			f := share.Figures()
			expect(t, "submitted", f.Submitted, n)
			expect(t, "runs", f.Runs, n)
			expect(t, "succeeded", f.Succeeded, n)
			least, most := map[int]int{1: n, 8: n / 16}[every], map[int]int{1: n, 8: n / 4}[every]
			if measured := int(f.Run.Count); measured < least || measured > most {
				t.Errorf("%d of %d tasks were measured", measured, n)
			}
			if s := pool.Stats(); s.Submitted < 1 || s.Submitted > n || s.Succeeded != s.Submitted {
				t.Errorf("the pool has %d requests, of which %d have succeeded", s.Submitted, s.Succeeded)
			}
		})
	}
}

// The wait of a task that a worker's offer takes up begins when it is admitted, however long its submitter was blocked.
// With the race detector, this also shows that the time is noted before the task begins.
func TestObserverMeasuresWaitAfterBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Observer: &executor.Observer{Every: 1}})
		share := newShare(t, pool, executor.ShareConfig{Limit: 1, Queue: executor.Handoff(), Reject: executor.Block})
		waits := pool.Submit(t.Context(), func(ctx context.Context) error {
			g := executor.NewGroup(ctx, share)
			hour := func(context.Context) error { time.Sleep(time.Hour); return nil }
			g.Go(hour)
			go g.Go(hour) // is blocked until the first has ended
			synctest.Wait()
			return g.Wait()
		})
		expect(t, "outcome", waits.Wait(t.Context()), nil)
		pool.Close()
		f := share.Figures()
		expect(t, "measured", f.Wait.Count, 2)
		if f.Wait.Sum > 1 {
			t.Errorf("tasks have waited for %v seconds", f.Wait.Sum)
		}
	})
}

// A further attempt of a task waits from its time on, not from the admission of the task.
func TestObserverMeasuresWaitOfAttempt(t *testing.T) {
	const s = time.Second
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1, Observer: &executor.Observer{Every: 1}})
		share := newShare(t, pool, executor.ShareConfig{})
		for _, p := range []*executor.Pool{pool, share} {
			f := p.Submit(t.Context(), func(context.Context) error { time.Sleep(s); return errTask },
				executor.Retry(2, func(int) time.Duration { return time.Hour }))
			time.Sleep(time.Hour) // a second before the next attempt
			mustGo(t, p, sleep(3*s))
			expect(t, "outcome", f.Wait(t.Context()), errTask)
			synctest.Wait()
			expectDurations(t, "Wait", p.Figures().Wait, 0, 0, 2*s)
			expectDurations(t, "Run", p.Figures().Run, s, 3*s, s)
		}
	})
}

// Schedules has the series of a watched pool, by the number of the pool, and none of another.
func TestObserverSchedules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := new(executor.Observer)
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, Observer: o})
		s, err := p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		o.Watch(newPool(t, executor.Config{Workers: 1}))
		for number := range o.Pools() {
			all := o.Schedules(number)
			if number == 1 && (len(all) != 1 || all[0].Series != s) || number != 1 && all != nil {
				t.Errorf("pool %d: %v", number, all)
			}
		}
		if all := o.Schedules(3); all != nil {
			t.Errorf("of no pool: %v", all)
		}
		s.Cancel()
	})
}
