package executor_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// scheduleModel is what a scheduled pool has to do, in the form of one worker and a sorted list.
// Times are since the beginning.
type scheduleModel struct {
	now      time.Duration
	tasks    []*modelTask
	queue    []*modelTask // in order of (due, seq)
	seq      int
	busy     *modelTask    // what the worker runs
	until    time.Duration // when it will be done with that
	log      []programRun
	retain   bool
	shut     bool
	delayed  executor.AfterShutdown
	periodic executor.AfterShutdown
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
		if t.state.Done() {
			continue // a canceled task that was retained
		}
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
	if m.shut && m.periodic == executor.DropAtShutdown {
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
	if !m.retain {
		m.unqueue(t)
	}
	return true
}

func (m *scheduleModel) remove(t *modelTask) bool {
	if !m.unqueue(t) {
		return false
	}
	t.state = executor.Canceled
	return true
}

func (m *scheduleModel) purge() int {
	n := len(m.queue)
	m.queue = slices.DeleteFunc(m.queue, func(t *modelTask) bool { return t.state == executor.Canceled })
	return n - len(m.queue)
}

func (m *scheduleModel) shutdown() {
	m.shut = true
	m.drop()
}

// drop applies the policies.
func (m *scheduleModel) drop() {
	m.queue = slices.DeleteFunc(m.queue, func(t *modelTask) bool {
		gone := t.state == executor.Canceled ||
			t.kind != onceKind && m.periodic == executor.DropAtShutdown ||
			t.kind == onceKind && t.due > m.now && m.delayed == executor.DropAtShutdown
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

func (p *scheduledProgram) afterShutdown() executor.AfterShutdown {
	return executor.KeepAfterShutdown + executor.AfterShutdown(p.next(2))
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
			p.cancel(op, p.next(len(p.tasks)))
		}
	case 15:
		expect(p.t, "Purge", p.pool.Purge(), p.model.purge())
	case 16:
		cores := 2
		if p.parallel {
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
			return executor.Stop
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
		if d := f.Delay(); !m.state.Done() && d != m.due-p.model.now {
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
	mode := p.next(4)
	p.parallel, p.model.retain = mode&1 != 0, mode&2 != 0
	p.model.delayed, p.model.periodic = p.afterShutdown(), p.afterShutdown()
	p.pool = newScheduled(t, executor.ScheduledConfig{
		Core: p.next(2), RetainCanceled: p.model.retain, Delayed: p.model.delayed, Periodic: p.model.periodic,
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
