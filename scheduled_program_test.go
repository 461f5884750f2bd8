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

// scheduledProgram is a program of calls on a scheduled pool.
type scheduledProgram struct {
	program
	pool  *executor.ScheduledPool
	model *scheduleModel
	tasks []*anyFuture

	// crowd is the mode with several workers. Bodies take no time then, so that
	// the times of runs are still certain, though not the order among equals.
	crowd bool
}

func (p *scheduledProgram) afterShutdown() executor.AfterShutdown {
	return executor.KeepAfterShutdown + executor.AfterShutdown(p.next(2))
}

// runSchedule runs code and compares order and times of all runs, and what each
// call returned.
func runSchedule(t *testing.T, code []byte) {
	p := &scheduledProgram{program: newProgram(t, code), model: new(scheduleModel)}
	mode := p.next(4)
	p.crowd, p.model.retain = mode&1 != 0, mode&2 != 0
	p.model.delayed, p.model.periodic = p.afterShutdown(), p.afterShutdown()
	p.pool = newScheduled(t, executor.ScheduledConfig{
		Core: p.next(2), RetainCanceled: p.model.retain, Delayed: p.model.delayed, Periodic: p.model.periodic,
		Hooks: executor.Hooks{OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) {}},
	})
	p.play(40, p.step, p.compare)
}

func (p *scheduledProgram) step() {
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
func (p *scheduledProgram) reconsider() {
	switch p.next(4) {
	case 0:
		if !p.model.shut {
			p.pool.Shutdown()
			p.model.shutdown()
		}
	case 1, 2:
		p.model.delayed, p.model.periodic = p.afterShutdown(), p.afterShutdown()
		p.pool.SetDelayed(p.model.delayed)
		if p.model.shut && p.model.delayed == executor.DropAtShutdown {
			p.model.drop()
		}
		p.pool.SetPeriodic(p.model.periodic)
		if p.model.shut && p.model.periodic == executor.DropAtShutdown {
			p.model.drop()
		}
	}
}

func (p *scheduledProgram) withdraw(op, i int) {
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

func (p *scheduledProgram) submit(kind rhythmKind) {
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
		p.note(programRun{task: number, due: executor.Due(ctx).Sub(p.begin), number: run})
		time.Sleep(m.work)
		if run != m.endAt {
			return nil
		}
		switch m.ending {
		case endsWithError:
			return errors.New("sour")
		case endsWithDone:
			return executor.Stop
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

// compare holds the pool, which is at rest, against the model.
func (p *scheduledProgram) compare() {
	p.model.advance(time.Since(p.begin))
	p.sameRuns(p.model.log, p.crowd)
	for i, f := range p.tasks {
		m := p.model.tasks[i]
		if f.State() != m.state || f.Runs() != m.runs {
			p.t.Fatalf("after %v task %d is %v after %d runs, in the model %v after %d", p.model.now, i, f.State(), f.Runs(), m.state, m.runs)
		}
		if d := f.Delay(); !m.state.Done() && d != m.due-p.model.now {
			p.t.Fatalf("after %v task %d is due in %v, in the model in %v", p.model.now, i, d, m.due-p.model.now)
		}
	}
	if s := checkStats(p.t, p.pool); s.Queued != len(p.model.queue) {
		p.t.Fatalf("after %v %d tasks are queued, in the model %d", p.model.now, s.Queued, len(p.model.queue))
	}
}

// Whatever sequence of calls a pool gets, its runs are those of a simple model,
// in the same order and at the same times, and so are the answers. A failing
// seed is repeated by EXECUTOR_SEED=n.
func TestScheduledModel(t *testing.T) { playRandom(t, 400, 620, runSchedule) }

// FuzzScheduled is TestScheduledModel for programs that the fuzzer finds.
func FuzzScheduled(f *testing.F) {
	f.Add([]byte{0, 0, 1, 1, 5, 0, 3, 2, 1, 0, 2, 20, 3, 11, 0})
	f.Add([]byte{1, 0, 1, 0, 8, 2, 1, 0, 3, 0, 2, 16, 4, 20, 5, 17, 0, 20, 5})
	f.Add([]byte{2, 1, 0, 1, 10, 1, 5, 0, 3, 9, 2, 0, 21, 5, 13, 0, 15, 22, 4})
	f.Fuzz(func(t *testing.T, code []byte) {
		synctest.Test(t, func(t *testing.T) { runSchedule(t, code) })
	})
}
