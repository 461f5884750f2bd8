package executor_test

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// program runs a sequence of calls on a pool and on the model of it.
type program struct {
	t     *testing.T
	code  []byte
	begin time.Time
	pool  *executor.ScheduledPool
	model *scheduleModel
	tasks []*anyFuture

	// crowd is the mode with several workers. Bodies take no time then, so that
	// the times of runs are still certain, though not the order among equals.
	crowd bool

	mu  sync.Mutex
	log []modelRun
}

// next reads a number below n.
func (p *program) next(n int) int {
	if len(p.code) == 0 {
		return 0
	}
	b := p.code[0]
	p.code = p.code[1:]
	return int(b) % n
}

func (p *program) ms(n int) time.Duration { return time.Duration(p.next(n)) * time.Millisecond }

func (p *program) afterShutdown() executor.AfterShutdown {
	return executor.KeepAfterShutdown + executor.AfterShutdown(p.next(2))
}

// runProgram runs code and compares order and times of all runs, and what each
// call returned.
func runProgram(t *testing.T, code []byte) {
	p := &program{t: t, code: code, begin: time.Now(), model: new(scheduleModel)}
	mode := p.next(4)
	p.crowd, p.model.retain = mode&1 != 0, mode&2 != 0
	p.model.delayed, p.model.periodic = p.afterShutdown(), p.afterShutdown()
	p.pool = scheduledPool(t, executor.ScheduledConfig{
		Core: p.next(2), RetainCanceled: p.model.retain, Delayed: p.model.delayed, Periodic: p.model.periodic,
		Hooks: executor.Hooks{OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) {}},
	})
	for ops := 0; len(p.code) > 0 && ops < 300 && !t.Failed(); ops++ {
		p.step()
		p.settle()
	}
	for range 40 {
		time.Sleep(time.Millisecond)
		p.settle()
	}
}

func (p *program) step() {
	switch op := p.next(24); op {
	case 0, 1, 2, 3, 4:
		p.submit(onceKind)
	case 5, 6, 7:
		p.submit(rateKind)
	case 8, 9:
		p.submit(delayKind)
	case 10:
		p.submit(triggerKind)
	case 11, 12, 13, 14:
		if len(p.tasks) > 0 {
			p.withdraw(op, p.next(len(p.tasks)))
		}
	case 15:
		expect(p.t, "Purge", p.pool.Purge(), p.model.purge())
	case 16:
		cores := 2
		if p.crowd {
			cores = 5
		}
		if err := p.pool.SetCore(p.next(cores)); err != nil {
			p.t.Error(err)
		}
	case 17:
		p.reconsider()
	default:
		time.Sleep(p.ms(6))
	}
}

// reconsider changes the policies or, rarely, shuts the pool down.
func (p *program) reconsider() {
	switch p.next(4) {
	case 0:
		if !p.model.shut {
			p.pool.Shutdown()
			p.model.shutdown()
		}
	case 1, 2:
		p.model.delayed, p.model.periodic = p.afterShutdown(), p.afterShutdown()
		p.pool.SetDelayed(p.model.delayed)
		if p.model.shut {
			p.model.drop()
		}
		p.pool.SetPeriodic(p.model.periodic)
		if p.model.shut {
			p.model.drop()
		}
	}
}

func (p *program) withdraw(op, i int) {
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

func (p *program) submit(kind rhythmKind) {
	m := &modelTask{kind: kind, endAt: int64(1 + p.next(4))}
	delay := p.ms(12)
	wall := kind == onceKind && p.next(4) == 0
	m.due = p.model.now + delay
	if !p.crowd {
		m.work = p.ms(4)
	}
	m.ending = ending(max(0, p.next(12)-8))
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
		p.mu.Lock()
		p.log = append(p.log, modelRun{number, time.Since(p.begin), executor.Due(ctx).Sub(p.begin), run})
		p.mu.Unlock()
		time.Sleep(m.work)
		if run != m.endAt {
			return nil
		}
		switch m.ending {
		case endsWithError:
			return errors.New("sour")
		case endsWithDone:
			return executor.Done
		case endsWithPanic:
			panic("bad")
		}
		return nil
	}

	var f *anyFuture
	ctx := context.Background()
	switch {
	case wall:
		m.due++ // off the grid of the monotonic tasks
		f = executor.At(ctx, p.pool, p.begin.Add(m.due), executor.Callable(body))
	case kind == onceKind:
		f = executor.Schedule(ctx, p.pool, delay, executor.Callable(body))
	case kind == rateKind:
		if m.skip = p.next(2) == 0; m.skip {
			opts = append(opts, executor.SkipMissed())
		}
		f, _ = p.pool.AtFixedRate(ctx, delay, m.period, body, opts...)
	case kind == delayKind:
		m.period += 7 // off the grid of the others
		f, _ = p.pool.WithFixedDelay(ctx, delay, m.period, body, opts...)
	case kind == triggerKind:
		m.due = nextTrigger(p.model.now, m.period)
		f, _ = p.pool.On(ctx, schedTrigger(func(t time.Time) time.Time {
			return p.begin.Add(nextTrigger(t.Sub(p.begin), m.period)).Round(0)
		}), body, opts...)
	}
	if p.model.shut {
		return // it was rejected
	}
	p.tasks = append(p.tasks, f)
	p.model.add(m)
}

// settle lets the pool come to rest, and compares it with the model.
func (p *program) settle() {
	synctest.Wait()
	p.model.advance(time.Since(p.begin))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.crowd {
		order := func(a, b modelRun) int { return cmp.Or(cmp.Compare(a.began, b.began), cmp.Compare(a.task, b.task)) }
		slices.SortFunc(p.log, order)
		slices.SortFunc(p.model.log, order)
	}
	if !slices.Equal(p.log, p.model.log) {
		p.t.Fatalf("after %v the pool ran\n%v, the model\n%v", p.model.now, p.log, p.model.log)
	}
	for i, f := range p.tasks {
		m := p.model.tasks[i]
		if f.State() != m.state || f.Runs() != m.runs {
			p.t.Fatalf("after %v task %d is %v after %d runs, in the model %v after %d", p.model.now, i, f.State(), f.Runs(), m.state, m.runs)
		}
		if d := f.Delay(); !m.state.Done() && d != m.due-p.model.now {
			p.t.Fatalf("after %v task %d is due in %v, in the model in %v", p.model.now, i, d, m.due-p.model.now)
		}
	}
	if s := addsUp(p.t, p.pool); s.Queued != len(p.model.queue) {
		p.t.Fatalf("after %v %d tasks are queued, in the model %d", p.model.now, s.Queued, len(p.model.queue))
	}
}

// Whatever sequence of calls a pool gets, its runs are those of a simple model,
// in the same order and at the same times, and so are the answers. A failing
// seed is repeated by EXECUTOR_SEED=n.
func TestScheduledModel(t *testing.T) {
	n := scale(400)
	seed := rand.Uint64()
	if s := os.Getenv("EXECUTOR_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
		n = 1
	}
	for range n {
		r := rand.New(rand.NewPCG(seed, 0))
		code := make([]byte, 20+r.IntN(600))
		for i := range code {
			code[i] = byte(r.Uint32())
		}
		if bubble(t, func(t *testing.T) { runProgram(t, code) }); t.Failed() {
			t.Fatalf("EXECUTOR_SEED=%d", seed)
		}
		seed = r.Uint64()
	}
}

// FuzzScheduled is TestScheduledModel for programs that the fuzzer finds.
func FuzzScheduled(f *testing.F) {
	f.Add([]byte{0, 0, 1, 1, 5, 0, 3, 2, 1, 0, 2, 20, 3, 11, 0})
	f.Add([]byte{1, 0, 1, 0, 8, 2, 1, 0, 3, 0, 2, 16, 4, 20, 5, 17, 0, 20, 5})
	f.Add([]byte{2, 1, 0, 1, 10, 1, 5, 0, 3, 9, 2, 0, 21, 5, 13, 0, 15, 22, 4})
	f.Fuzz(func(t *testing.T, code []byte) {
		bubble(t, func(t *testing.T) { runProgram(t, code) })
	})
}
