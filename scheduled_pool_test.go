package executor_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Workers and the number of workers.

// Below Workers each task starts a worker, however many are idle; then none does, however many tasks
// wait.
func TestScheduledPoolCoreLimitsWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 3)
		for i := range 10 {
			executor.SubmitAfter(t.Context(), p, time.Hour, nopValue)
			expect(t, "workers", waitStats(t, p).Workers, min(i+1, 3))
		}
		p.ShutdownNow()
		testkit.Termination(t, p)
		expect(t, "largest", p.Stats().Largest, 3)
	})
}

// No more than Workers tasks run at the same time.
func TestScheduledPoolCoreLimitsRunning(t *testing.T) {
	for _, core := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, core)
			block := newBlocker(t)
			for i := range 10 {
				executor.SubmitAfter(t.Context(), p, time.Duration(i%2), block.Value)
			}
			elapse(time.Second)
			expect(t, "running", block.Started.Load(), int64(max(core, 1)))
			expect(t, "active", p.Stats().Active, max(core, 1))
		})
	}
}

// Two tasks that come at once start two workers, even if the second worker looks for its task while
// the first task begins.
func TestScheduledPoolOneWorkerPerTask(t *testing.T) {
	for range 300 {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, 3)
			end := make(chan struct{})
			for range 2 {
				executor.SubmitAfter(t.Context(), p, 0, func(context.Context) (int, error) { <-end; return 0, nil })
			}
			synctest.Wait()
			expect(t, "workers", p.Stats().Workers, 2)
			close(end)
		})
	}
}

// Prestart starts workers before there is a task, up to Workers.
func TestScheduledPoolPrestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 3), newDiary()
		expect(t, "Prestart", p.Prestart(1), 1)
		expect(t, "PrestartAll", p.Prestart(math.MaxInt), 2)
		expect(t, "Prestart at Workers", p.Prestart(1), 0)
		expect(t, "workers", waitStats(t, p).Idle, 3)
		executor.SubmitAfter(t.Context(), p, time.Second, d.Value("a"))
		elapse(time.Minute)
		d.Check(t, "a@1s")
	})
}

// SetWorkers changes the number of workers without a new task: down when they are idle, up for tasks
// that wait (JDK-6522773).
func TestScheduledPoolSetWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 10), newDiary()
		for i := range 10 {
			p.AtFixedRate(t.Context(), time.Second, time.Second, d.Func(fmt.Sprint(i)))
		}
		expect(t, "workers", waitStats(t, p).Workers, 10)
		for _, n := range []int{7, 13, 1, 0, 2, 12} {
			if err := setWorkers(p, n); err != nil {
				t.Fatal(err)
			}
			want := max(n, 1)
			expect(t, fmt.Sprint("workers after SetWorkers ", n), waitStats(t, p).Workers, want)
		}
		elapse(1500 * time.Millisecond)
		expect(t, "runs", len(d.Names()), 10)
	})
}

// Raising Workers starts no more workers than tasks wait.
func TestScheduledPoolSetWorkersStartsForTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 1)
		testkit.FarTasks(t, p, 3)
		setWorkers(p, 100)
		expect(t, "workers", waitStats(t, p).Workers, 4)
	})
}

// SetWorkers below the number of busy workers affects neither these nor the contexts of their tasks
// (JDK-6576792).
func TestScheduledPoolSetWorkersLeavesRunningTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 5)
		var wg sync.WaitGroup
		for range 5 {
			wg.Add(1)
			p.AtFixedRate(t.Context(), 0, time.Minute, func(ctx context.Context) error {
				defer wg.Done()
				time.Sleep(time.Second)
				expect(t, "the context has ended", ctx.Err(), nil)
				return nil
			}, executor.Times(1))
		}
		synctest.Wait()
		setWorkers(p, 1)
		s := waitStats(t, p)
		expect(t, "workers", s.Workers, 5)
		wg.Wait()
		expect(t, "workers afterwards", waitStats(t, p).Workers, 1)
	})
}

// A periodic task that sets Workers to zero during its run still runs again.
func TestScheduledPoolSetWorkersByTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 3)
		run := 0
		f, _ := p.AtFixedRate(t.Context(), 0, time.Second, func(context.Context) error {
			run++
			return setWorkers(p, run%4)
		}, executor.Times(20))
		g, _ := p.WithFixedDelay(t.Context(), 0, 300*time.Millisecond, nop, executor.Times(50))
		f.Wait(t.Context())
		g.Wait(t.Context())
		expect(t, "runs", f.Runs(), 20)
		expect(t, "runs", g.Runs(), 50)
	})
}

// Workers 0.

// A pool with Workers 0 runs its tasks, one at a time (JDK-7091003).
func TestScheduledPoolCoreZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := scheduled(t, 0), newDiary()
		executor.SubmitAfter(t.Context(), p, time.Second, d.Value("a", time.Second))
		executor.SubmitAfter(t.Context(), p, time.Second, d.Value("b"))
		p.Go(t.Context(), d.Func("c"))
		p.AtFixedRate(t.Context(), 3*time.Second, time.Second, d.Func("d"), executor.Times(2))
		elapse(time.Minute)
		d.Check(t, "c@0s", "a@1s", "b@2s", "d@3s", "d@4s")
		s := p.Stats()
		expect(t, "largest", s.Largest, 1)
		expect(t, "workers", s.Workers, 0)
		expect(t, "Workers", p.Settings().Workers, 0)
	})
}

// With Workers 0 there is one worker while a task waits, and none when the last has run or was
// canceled.
func TestScheduledPoolCoreZeroWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 0)
		for range 3 {
			expect(t, "workers of an idle pool", waitStats(t, p).Workers, 0)
			f := executor.SubmitAfter(t.Context(), p, time.Hour, nopValue)
			g := executor.SubmitAfter(t.Context(), p, 2*time.Hour, nopValue)
			s := waitStats(t, p)
			expect(t, "workers", s.Workers, 1)
			expect(t, "active", s.Active, 0)
			expect(t, "queued", s.Queued, 2)
			f.Cancel()
			expect(t, "workers after the first is canceled", waitStats(t, p).Workers, 1)
			g.Cancel()
			expect(t, "workers after both are canceled", waitStats(t, p).Workers, 0)
		}
		s := p.Stats()
		expect(t, "largest", s.Largest, 1)
		expect(t, "canceled", s.Canceled, 6)
	})
}

// With Workers 0 and KeepAlive the worker stays for that time after the last task, and no longer.
func TestScheduledPoolCoreZeroKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{KeepAlive: time.Second})
		executor.SubmitAfter(t.Context(), p, time.Minute, nopValue)
		elapse(time.Minute + 900*time.Millisecond)
		expect(t, "workers within the keep-alive time", waitStats(t, p).Workers, 1)
		elapse(200 * time.Millisecond)
		expect(t, "workers after it", waitStats(t, p).Workers, 0)
	})
}

// Idle workers.

// wakeups estimates how often goroutines were scheduled so far. The runtime counts one in eight.
func wakeups() uint64 {
	s := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(s)
	var n uint64
	for _, c := range s[0].Value.Float64Histogram().Counts {
		n += c
	}
	return 8 * n
}

// A worker that waits for a distant task neither spins nor wakes to check its KeepAlive
// (JDK-8022642, JDK-8065320, JDK-8129861).
func TestScheduledPoolIdleWorkerSleeps(t *testing.T) {
	for _, c := range []executor.ScheduledConfig{
		{Workers: 0},
		{Workers: 0, KeepAlive: 10 * time.Millisecond},
		{Workers: 4},
		{Workers: 4, KeepAlive: time.Millisecond, KeepNone: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newScheduled(t, c)
			p.Prestart(math.MaxInt)
			f := executor.SubmitAfter(t.Context(), p, time.Hour, nopValue)
			elapse(time.Minute)
			before := wakeups()
			elapse(58 * time.Minute)
			if n := wakeups() - before; n > 1000 {
				t.Errorf("Workers %d, KeepAlive %v: some %d wake-ups in an hour of waiting", c.Workers, c.KeepAlive, n)
			}
			elapse(2 * time.Minute)
			expect(t, "state", f.State(), executor.Succeeded)
		})
	}
}

// While one task waits the last worker stays: it does not leave to be replaced, however short
// KeepAlive is.
func TestScheduledPoolWorkersDoNotChurn(t *testing.T) {
	for _, coreTimeout := range []bool{true, false} {
		for _, core := range []int{0, 10} {
			synctest.Test(t, func(t *testing.T) {
				number := 0
				before := func(ctx context.Context, info executor.TaskInfo) context.Context {
					number = info.Worker
					return ctx
				}
				p := newScheduled(t, executor.ScheduledConfig{
					Workers: core, KeepAlive: time.Millisecond, KeepNone: coreTimeout,
					Hooks: executor.Hooks{BeforeTask: before},
				})
				executor.SubmitAfter(t.Context(), p, time.Hour, nopValue)
				elapse(30 * time.Minute)
				expect(t, "workers", p.Stats().Workers, 1)
				elapse(time.Hour)
				expect(t, "number of the worker that ran the task", number, 1)
				expect(t, "largest", p.Stats().Largest, 1)
			})
		}
	}
}

// Idle workers above a lowered Workers leave at once: Workers is the most tasks that run at the same time.
func TestScheduledPoolWorkersAboveCoreLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Workers: 3, KeepAlive: 10 * time.Second})
		p.Prestart(math.MaxInt)
		expect(t, "workers", waitStats(t, p).Workers, 3)
		if err := setWorkers(p, 1); err != nil {
			t.Fatal(err)
		}
		expect(t, "workers with Workers 1", waitStats(t, p).Workers, 1)
	})
}

// Whichever idle worker the alarm has woken, the others get the tasks that come meanwhile.
func TestScheduledPoolIdleWorkersAreFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scheduled(t, 3)
		for range 3 { // one after the other, so that the first has waited longest
			p.Prestart(1)
			elapse(time.Second)
		}
		block := newBlocker(t)
		in := func(d time.Duration) *executor.Future[int] {
			return executor.SubmitAfter(t.Context(), p, d, block.Value)
		}
		in(time.Second).Cancel()
		elapse(time.Second) // the alarm wakes the first worker for nothing, so that it wakes another next time
		for i, d := range []time.Duration{time.Second, 0, 0} {
			in(d)
			elapse(time.Second)
			expect(t, "tasks that run", block.Started.Load(), int64(i+1))
		}
	})
}

// A worker that the alarm woke for a task which was canceled leaves as if it had not been woken.
func TestScheduledPoolAlarmKeepsIdleTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Workers: 1, KeepAlive: 10 * time.Second, KeepNone: true})
		f := executor.SubmitAfter(t.Context(), p, 5*time.Second, nopValue)
		elapse(time.Second)
		f.Cancel()
		elapse(9*time.Second - 1) // at 5 s the alarm goes off
		expect(t, "workers within the keep-alive time", waitStats(t, p).Workers, 1)
		elapse(2)
		expect(t, "workers after it", waitStats(t, p).Workers, 0)
	})
}

// The worker that became idle first leaves first, even if the alarm woke it for a canceled task.
func TestScheduledPoolAlarmKeepsOrderOfLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScheduled(t, executor.ScheduledConfig{Workers: 2, KeepAlive: 10 * time.Second, KeepNone: true})
		f := executor.SubmitAfter(t.Context(), p, 6*time.Second, nopValue) // starts the first worker
		elapse(5 * time.Second)
		mustGo(t, p.Pool, nop) // starts the second
		f.Cancel()
		elapse(5*time.Second - 1) // at 6 s the alarm wakes the first worker
		expect(t, "workers when none is idle for long", waitStats(t, p).Workers, 2)
		elapse(2)
		expect(t, "workers when one is", waitStats(t, p).Workers, 1)
		elapse(5 * time.Second)
		expect(t, "workers when both are", waitStats(t, p).Workers, 0)
	})
}

// KeepNone.

func coresThatTimeOut(t *testing.T, core int) *executor.ScheduledPool {
	return newScheduled(t, executor.ScheduledConfig{Workers: core, KeepAlive: time.Minute, KeepNone: true})
}

// Tasks that are due together run together, up to Workers, even if the workers have left: one that
// hangs does not delay the others.
func TestScheduledPoolCoreTimeoutRunsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, block := coresThatTimeOut(t, 3), newBlocker(t)
		var fs [5]*executor.Future[int]
		for i := range fs {
			fs[i] = executor.SubmitAfter(t.Context(), p, time.Hour, block.Value)
		}
		elapse(30 * time.Minute)
		expect(t, "workers while nothing is due", p.Stats().Workers, 1)
		elapse(time.Hour)
		s := p.Stats()
		expect(t, "active", s.Active, 3)
		expect(t, "queued", s.Queued, 2)
		block.Release()
		for _, f := range fs {
			f.Get(t.Context())
		}
	})
}

// A periodic task continues while another task hangs.
func TestScheduledPoolCoreTimeoutSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, block := coresThatTimeOut(t, 2), newBlocker(t)
		f, err := p.AtFixedRate(t.Context(), 0, 10*time.Minute, nop)
		if err != nil {
			t.Fatal(err)
		}
		executor.SubmitAfter(t.Context(), p, 25*time.Minute, block.Value)
		elapse(65 * time.Minute)
		expect(t, "runs", f.Runs(), 7)
		block.Release()
	})
}

// One worker stays while a task waits for its time, and none after the last task has run, was
// canceled or was removed.
func TestScheduledPoolCoreTimeoutKeepsOne(t *testing.T) {
	for name, leave := range map[string]func(p *executor.ScheduledPool, f *executor.Future[struct{}]){
		"it has run":      func(*executor.ScheduledPool, *executor.Future[struct{}]) { elapse(time.Hour) },
		"it was canceled": func(_ *executor.ScheduledPool, f *executor.Future[struct{}]) { f.Cancel() },
		"it was removed":  func(p *executor.ScheduledPool, f *executor.Future[struct{}]) { p.Remove(f) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := coresThatTimeOut(t, 3)
				for range 3 {
					mustGo(t, p.Pool, nop)
				}
				f := executor.SubmitAfter(t.Context(), p, time.Hour, nopValue)
				elapse(30 * time.Minute)
				expect(t, "workers while it waits", p.Stats().Workers, 1)
				leave(p, f)
				elapse(2 * time.Minute)
				expect(t, "workers afterwards", p.Stats().Workers, 0)
			})
		})
	}
}

// The last worker leaves when no task waits, even if thousands were canceled together.
func TestScheduledPoolCoreTimeoutAfterCancelMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := coresThatTimeOut(t, 3)
		var fs []*executor.Future[struct{}]
		for range 3000 {
			fs = append(fs, executor.SubmitAfter(t.Context(), p, time.Hour+rand.N(time.Hour), nopValue))
		}
		for _, f := range fs {
			f.Cancel()
		}
		elapse(2 * time.Minute)
		expect(t, "workers", p.Stats().Workers, 0)
	})
}

// A worker above Workers leaves after KeepAlive even if all others are busy and a task waits for its
// time.
func TestScheduledPoolCoreLoweredLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, block := newScheduled(t, executor.ScheduledConfig{Workers: 2, KeepAlive: time.Minute}), newBlocker(t)
		executor.SubmitAfter(t.Context(), p, 0, block.Value)
		executor.SubmitAfter(t.Context(), p, time.Hour, nopValue)
		elapse(time.Second)
		if err := setWorkers(p, 1); err != nil {
			t.Fatal(err)
		}
		elapse(2 * time.Minute)
		expect(t, "workers", p.Stats().Workers, 1)
		block.Release()
	})
}

// Punctuality.

// punctual is a pool whose tasks check the clock.
type punctual struct {
	*testing.T
	seed uint64
	long int // task functions that take time
	pool *executor.ScheduledPool
}

// body returns a task function that checks that it is not late, takes some time, and ends in some way.
func (p *punctual) body(due time.Time, takes time.Duration, end int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) {
		if late := time.Since(due); late > 0 {
			p.Errorf("%v late: %+v", late, p.pool.Stats())
		}
		time.Sleep(takes)
		switch end {
		case 0:
			panic("planned")
		case 1:
			runtime.Goexit()
		}
		return 0, nil
	}
}

func (p *punctual) play() {
	var wg sync.WaitGroup
	for i := range p.long {
		wg.Go(func() { p.chain(rand.New(rand.NewPCG(p.seed, uint64(100+i)))) })
	}
	for i := range 1 + p.seed%3 {
		wg.Go(func() { p.calls(rand.New(rand.NewPCG(p.seed, 1+i))) })
	}
	wg.Wait()
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
	if s := checkStats(p, p.pool); s.Active != 0 || s.Queued != 0 {
		p.Errorf("left: %+v", s)
	}
}

// chain has long task functions run one after the other.
func (p *punctual) chain(r *rand.Rand) {
	for range 30 {
		delay := moment(r, 0, 3)
		f := executor.SubmitAfter(context.Background(), p.pool, delay,
			p.body(time.Now().Add(delay), moment(r, 0, 7), r.IntN(8)))
		<-f.Done() // its worker is free before the time goes on
	}
}

// calls makes random calls, one after the other.
func (p *punctual) calls(r *rand.Rand) {
	ctx := context.Background()
	var tasks []executor.Awaitable
	for range 60 {
		switch op := r.IntN(16); {
		case op < 4:
			delay := moment(r, 0, 9)
			tasks = append(tasks, executor.SubmitAfter(ctx, p.pool, delay, p.body(time.Now().Add(delay), 0, r.IntN(10))))
		case op < 5:
			due := time.Now().Add(moment(r, 0, 9))
			tasks = append(tasks, executor.SubmitAt(ctx, p.pool, due, p.body(due, 0, r.IntN(10))))
		case op < 6:
			period := moment(r, 1, 5)
			due := time.Now()
			f, err := p.pool.AtFixedRate(ctx, period, period, func(ctx context.Context) error {
				due = due.Add(period)
				p.body(due, 0, 2)(ctx)
				return nil
			}, executor.Times(1+r.IntN(10)))
			if err != nil {
				p.Error(err)
			}
			tasks = append(tasks, f)
		case op < 11 && len(tasks) > 0:
			if f := tasks[r.IntN(len(tasks))]; op < 10 {
				f.Cancel()
			} else {
				p.pool.Remove(f)
			}
		case op < 13:
			setKeepAlive(p.pool, moment(r, 1, 5))
			setKeepNone(p.pool, r.IntN(2) == 0)
		case op < 14:
			setWorkers(p.pool, p.long+1+r.IntN(3))
		default:
			time.Sleep(moment(r, 0, 7))
		}
		checkStats(p, p.pool)
	}
}

func newPunctual(t *testing.T, seed uint64) *punctual {
	r := rand.New(rand.NewPCG(seed, 0))
	core := 2 + r.IntN(4)
	return &punctual{t, seed, r.IntN(core), newScheduled(t, executor.ScheduledConfig{
		Workers: core, KeepAlive: moment(r, 1, 5), KeepNone: r.IntN(2) == 0,
		Hooks: executor.Hooks{OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) {}},
	})}
}

// moment draws some milliseconds.
func moment(r *rand.Rand, least, most int) time.Duration {
	return time.Duration(least+r.IntN(most-least+1)) * time.Millisecond
}

// If there are fewer tasks that take time than workers, a worker is always free, and no task is
// late by a nanosecond, whatever is called.
func TestScheduledPoolIsPunctual(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newPunctual(t, seed).play() })
		})
	}
}

// scheduleModel is what a scheduled pool has to do, in the form of one worker and a sorted list.
// Times are since the beginning.
type scheduleModel struct {
	now   time.Duration
	tasks []*modelTask
	queue []*modelTask // in order of (due, seq)
	seq   int
	busy  *modelTask    // what the worker runs
	until time.Duration // when it will be done with that
	log   []programRun
	shut  bool
	drops bool // delayed tasks
	keeps bool // periodic work
}

func (m *scheduleModel) add(t *modelTask) {
	t.number = len(m.tasks)
	m.tasks = append(m.tasks, t)
	m.enqueue(t)
}

func (m *scheduleModel) enqueue(t *modelTask) {
	t.seq = m.seq
	m.seq++
	i, _ := slices.BinarySearchFunc(m.queue, t, func(a, b *modelTask) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq))
	})
	m.queue = slices.Insert(m.queue, i, t)
}

// advance does what happens until now.
func (m *scheduleModel) advance(now time.Duration) {
	for {
		if m.busy != nil {
			if m.until > now {
				break
			}
			m.now = max(m.now, m.until)
			m.finish()
		}
		if len(m.queue) == 0 || m.queue[0].due > now {
			break
		}
		t := m.queue[0]
		m.queue = m.queue[1:]
		m.now = max(m.now, t.due)
		m.busy, m.until = t, m.now+t.work
		t.state = executor.Running
		m.log = append(m.log, programRun{t.number, m.now, t.due, t.runs + 1})
	}
	m.now = now
}

// finish ends the run of the busy task.
func (m *scheduleModel) finish() {
	t := m.busy
	m.busy = nil
	t.runs++
	how := endsWell
	if t.runs == t.endAt {
		how = t.exit
	}
	if t.state.Done() { // canceled during its run
		return
	}
	switch {
	case how == endsWithPanic, how == endsWithError && t.kind == onceKind:
		t.state = executor.Failed
		return
	case t.kind == onceKind && how == endsWithDone:
		t.state = executor.Failed // Stop is an error as any other there
		return
	case t.kind == onceKind, how == endsWithDone, t.runs == t.times:
		t.state = executor.Succeeded
		return
	}
	switch t.kind {
	case rateKind:
		t.due += t.period
		for t.skip && t.due < m.now {
			t.due += t.period
		}
	case delayKind:
		t.due = m.now + t.period
	case triggerKind:
		t.due = nextTrigger(max(t.due, m.now), t.period)
	}
	if m.shut && !m.keeps {
		t.state = executor.Canceled
		return
	}
	t.state = executor.Pending
	m.enqueue(t)
}

func (m *scheduleModel) unqueue(t *modelTask) bool {
	i := slices.Index(m.queue, t)
	if i < 0 {
		return false
	}
	m.queue = slices.Delete(m.queue, i, i+1)
	return true
}

func (m *scheduleModel) cancel(t *modelTask) bool {
	if t.state.Done() {
		return false
	}
	t.state = executor.Canceled
	m.unqueue(t)
	return true
}

func (m *scheduleModel) remove(t *modelTask) bool {
	if !m.unqueue(t) {
		return false
	}
	t.state = executor.Canceled
	return true
}

func (m *scheduleModel) shutdown() {
	m.shut = true
	m.drop()
}

// drop applies the policies.
func (m *scheduleModel) drop() {
	m.queue = slices.DeleteFunc(m.queue, func(t *modelTask) bool {
		gone := t.state == executor.Canceled ||
			t.kind != onceKind && !m.keeps ||
			t.kind == onceKind && t.due > m.now && m.drops
		if gone {
			t.state = executor.Canceled
		}
		return gone
	})
}

// scheduleKind is how the times of a task follow each other.
type scheduleKind int

const (
	onceKind scheduleKind = iota
	rateKind
	delayKind
	triggerKind
)

type modelTask struct {
	number int
	kind   scheduleKind
	period time.Duration
	work   time.Duration // how long each run takes
	times  int64         // most runs, 0 for any number
	skip   bool
	exit   exit // how run number endAt ends
	endAt  int64

	due   time.Duration
	seq   int
	runs  int64
	state executor.State
}

// exit is how a task function ends.
type exit int

const (
	endsWell exit = iota
	endsWithError
	endsWithDone
	endsWithPanic
)

// nextTrigger returns the first time after from on a grid that no other task's
// times are on, so that no wall-clock time equals a monotonic one.
func nextTrigger(from, period time.Duration) time.Duration {
	return (from - 1).Truncate(period) + period + 1
}

// scheduledProgram is a program of calls on a scheduled pool.
type scheduledProgram struct {
	program
	pool  *executor.ScheduledPool
	model *scheduleModel
	tasks []timedTask

	// parallel is the mode with several workers. Task functions take no time then, so that
	// the times of runs are still certain, though not the order among equals.
	parallel bool
}

// afterShutdown returns a DropDelayed and a KeepPeriodic.
func (p *scheduledProgram) afterShutdown() (drop, keep bool) {
	drop = p.next(2) == 1
	return drop, p.next(2) == 0
}

func (p *scheduledProgram) step() {
	switch op := p.next(24); op {
	case 0, 1, 2, 3, 4, 15:
		p.submit(onceKind)
	case 5, 6, 7:
		p.submit(rateKind)
	case 8, 9:
		p.submit(delayKind)
	case 10:
		p.submit(triggerKind)
	case 11, 12, 13, 14:
		if len(p.tasks) > 0 {
			p.cancel(op, p.next(len(p.tasks)))
		}
	case 16:
		cores := 2
		if p.parallel {
			cores = 5
		}
		if err := setWorkers(p.pool, p.next(cores)); err != nil {
			p.t.Error(err)
		}
	case 17:
		p.reconsider()
	default:
		time.Sleep(p.ms(6))
	}
}

// reconsider changes the policies or, rarely, shuts the pool down.
func (p *scheduledProgram) reconsider() {
	switch p.next(4) {
	case 0:
		if !p.model.shut {
			p.pool.Shutdown()
			p.model.shutdown()
		}
	case 1, 2:
		drop, keep := p.afterShutdown()
		drops := drop && !p.model.drops || !keep && p.model.keeps
		p.model.drops, p.model.keeps = drop, keep
		p.pool.Reconfigure(func(s *executor.Settings) { s.DropDelayed, s.KeepPeriodic = drop, keep })
		if p.model.shut && drops {
			p.model.drop()
		}
	}
}

func (p *scheduledProgram) cancel(op, i int) {
	f, m := p.tasks[i], p.model.tasks[i]
	switch op {
	case 11, 12:
		expect(p.t, "Cancel", f.Cancel(), p.model.cancel(m))
	case 13:
		expect(p.t, "Abandon", f.Abandon(), p.model.cancel(m))
	case 14:
		expect(p.t, "Remove", p.pool.Remove(f), p.model.remove(m))
	}
}

func (p *scheduledProgram) submit(kind scheduleKind) {
	m := &modelTask{kind: kind, endAt: int64(1 + p.next(4))}
	delay := p.ms(12)
	wall := kind == onceKind && p.next(4) == 0
	m.due = p.model.now + delay
	if !p.parallel {
		m.work = p.ms(4)
	}
	m.exit = exit(max(0, p.next(12)-8))
	m.period = p.ms(5) + time.Millisecond
	var opts []executor.Option
	if kind != onceKind {
		if m.times = int64(p.next(8)); m.times > 0 {
			opts = append(opts, executor.Times(int(m.times)))
		}
	}
	number := len(p.model.tasks)
	run := int64(0)
	body := func(ctx context.Context) error {
		run++
		p.note(programRun{task: number, due: executor.Due(ctx).Sub(p.begin), number: run})
		time.Sleep(m.work)
		if run != m.endAt {
			return nil
		}
		switch m.exit {
		case endsWithError:
			return errors.New("failure")
		case endsWithDone:
			return executor.ErrStop
		case endsWithPanic:
			panic("bad")
		}
		return nil
	}

	var f timedTask
	ctx := context.Background()
	switch {
	case wall:
		m.due++ // off the grid of the monotonic tasks
		f = executor.SubmitAt(ctx, p.pool, p.begin.Add(m.due), executor.Func(body).Call)
	case kind == onceKind:
		f = executor.SubmitAfter(ctx, p.pool, delay, executor.Func(body).Call)
	case kind == rateKind:
		if m.skip = p.next(2) == 0; m.skip {
			opts = append(opts, executor.CatchUp(0))
		}
		f, _ = p.pool.AtFixedRate(ctx, delay, m.period, body, opts...)
	case kind == delayKind:
		m.period += 7 // off the grid of the others
		f, _ = p.pool.WithFixedDelay(ctx, delay, m.period, body, opts...)
	case kind == triggerKind:
		m.due = nextTrigger(p.model.now, m.period)
		f, _ = p.pool.On(ctx, testkit.TriggerFunc(func(t time.Time) time.Time {
			return p.begin.Add(nextTrigger(t.Sub(p.begin), m.period)).Round(0)
		}), body, opts...)
	}
	if p.model.shut {
		return // it was rejected
	}
	p.tasks = append(p.tasks, f)
	p.model.add(m)
}

// compare compares the pool, whose goroutines are all blocked, with the model.
func (p *scheduledProgram) compare() {
	p.model.advance(time.Since(p.begin))
	p.sameRuns(p.model.log, p.parallel)
	for i, f := range p.tasks {
		m := p.model.tasks[i]
		if f.State() != m.state {
			p.t.Fatalf("after %v task %d is %v, in the model %v", p.model.now, i, f.State(), m.state)
		}
		if s, ok := f.(*executor.Series); ok && s.Runs() != m.runs {
			p.t.Fatalf("after %v task %d has run %d times, in the model %d", p.model.now, i, s.Runs(), m.runs)
		}
		if d := time.Until(f.Next()); !m.state.Done() && d != m.due-p.model.now {
			p.t.Fatalf("after %v task %d is due in %v, in the model in %v", p.model.now, i, d, m.due-p.model.now)
		}
	}
	if s := checkStats(p.t, p.pool); s.Queued != len(p.model.queue) {
		p.t.Fatalf("after %v %d tasks are queued, in the model %d", p.model.now, s.Queued, len(p.model.queue))
	}
}

// runSchedule runs code and compares order and times of all runs, and what each
// call returned.
func runSchedule(t *testing.T, code []byte) {
	p := &scheduledProgram{program: newProgram(t, code), model: new(scheduleModel)}
	p.parallel = p.next(2) != 0
	p.model.drops, p.model.keeps = p.afterShutdown()
	p.pool = newScheduled(t, executor.ScheduledConfig{
		Workers: p.next(2), DropDelayed: p.model.drops, KeepPeriodic: p.model.keeps,
		Slack: -1, // the model knows none
		Hooks: executor.Hooks{OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) {}},
	})
	p.play(40, p.step, p.compare)
}

// Whatever the sequence of calls is, the pool's runs are those of a simple model, in the same order
// and at the same times, and so are the results. EXECUTOR_SEED=n repeats a failure.
func TestScheduledPoolModel(t *testing.T) { playRandom(t, 400, 620, runSchedule) }

// FuzzScheduled is TestScheduledPoolModel for programs that the fuzzer finds.
func FuzzScheduled(f *testing.F) {
	f.Add([]byte{0, 0, 1, 1, 5, 0, 3, 2, 1, 0, 2, 20, 3, 11, 0})
	f.Add([]byte{1, 0, 1, 0, 8, 2, 1, 0, 3, 0, 2, 16, 4, 20, 5, 17, 0, 20, 5})
	f.Add([]byte{2, 1, 0, 1, 10, 1, 5, 0, 3, 9, 2, 0, 21, 5, 13, 0, 15, 22, 4})
	f.Fuzz(func(t *testing.T, code []byte) {
		synctest.Test(t, func(t *testing.T) { runSchedule(t, code) })
	})
}

// A task may wait for tasks that it has scheduled, however few workers there are: they begin in time.
func TestScheduledTaskWaitsForTaskWithTime(t *testing.T) {
	type future = *executor.Future[time.Time]
	for name, wait := range map[string]func(ctx context.Context, all []future){
		"Get": func(ctx context.Context, all []future) {
			for _, f := range all {
				f.Wait(ctx)
			}
		},
		"Join within a minute": func(ctx context.Context, all []future) {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			for _, f := range all {
				f.Join(ctx)
			}
		},
		"Completed": func(ctx context.Context, all []future) {
			for range executor.Completed(ctx, all...) {
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := scheduled(t, 1)
				begin := time.Now()
				body := func(context.Context) (time.Time, error) { return time.Now(), nil }
				var all []future
				waits := p.Submit(t.Context(), func(ctx context.Context) error {
					all = append(all, executor.SubmitAfter(ctx, p, time.Second, body),
						executor.SubmitAt(ctx, p, begin.Add(5*time.Second), body))
					wait(ctx, all)
					return nil
				})
				elapse(time.Hour)
				expect(t, "outcome", waits.Err(), nil)
				for i, want := range []time.Duration{time.Second, 5 * time.Second} {
					at, err := all[i].Result()
					expect(t, "error", err, nil)
					expect(t, "begin", at.Sub(begin), want)
				}
			})
		})
	}
}
