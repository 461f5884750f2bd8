package executor_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// crewProgram is a program of calls on a pool.
type crewProgram struct {
	program
	pool  *executor.Pool
	model *crewModel
	tasks []*executor.Future[int]
}

// runCrew runs code and compares order and times of all runs, what each call
// returned, and the counters after it.
func runCrew(t *testing.T, code []byte) {
	p := &crewProgram{program: newProgram(t, code), model: new(crewModel)}
	m := p.model
	c := executor.Config{}
	m.core = p.next(3)
	m.max = max(1, m.core) + p.next(3)
	if m.kept = p.next(2) == 0; m.kept {
		c.KeepAlive = time.Hour
	}
	switch p.next(4) {
	case 0:
		c.Queue, m.room = executor.Unbounded(), -1
	case 1:
		m.room = 1 + p.next(3)
		c.Queue = executor.Bounded(m.room)
	case 2:
		c.Queue = executor.Handoff()
	case 3:
		c.Queue, m.room, m.ranked = executor.Prioritized(), -1, true
	}
	m.policy = []executor.RejectPolicy{executor.Abort, executor.CallerRuns, executor.Discard, executor.DiscardOldest}[p.next(4)]
	c.Core, c.Max, c.Reject = m.core, m.max, m.policy
	p.pool = newPool(t, c)
	p.play(20, p.step, p.compare)
}

func (p *crewProgram) step() {
	switch op := p.next(20); op {
	default:
		p.submit()
	case 9, 10, 11:
		if len(p.tasks) == 0 {
			return
		}
		i := p.next(len(p.tasks))
		f, m := p.tasks[i], p.model.tasks[i]
		switch op {
		case 9:
			expect(p.t, "Cancel", f.Cancel(), p.model.cancel(m))
		case 10:
			expect(p.t, "Abandon", f.Abandon(), p.model.cancel(m))
		case 11:
			expect(p.t, "Remove", p.pool.Remove(f), p.model.leave(m))
		}
		if len(p.model.queue) == 0 {
			p.model.retire()
		}
	case 12:
		n := p.next(5)
		expect(p.t, "SetCore", p.pool.SetCore(n) == nil, p.model.setCore(n))
	case 13:
		n := p.next(6)
		expect(p.t, "SetMax", p.pool.SetMax(n) == nil, p.model.setMax(n))
	case 14:
		switch p.next(8) {
		case 0:
			p.pool.Shutdown()
			p.model.shutdown()
		case 1:
			p.shutdownNow()
		}
	case 15, 16, 17, 18, 19:
		time.Sleep(p.ms(4))
	}
}

func (p *crewProgram) shutdownNow() {
	want := p.model.shutdownNow()
	var got []int
	for _, u := range p.pool.ShutdownNow() {
		got = append(got, slices.IndexFunc(p.tasks, func(f *executor.Future[int]) bool { return f == u.Task() }))
	}
	if p.model.ranked { // which gives them back in no particular order
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		p.t.Errorf("ShutdownNow: got %v, want %v", got, want)
	}
}

func (p *crewProgram) submit() {
	m := &crewTask{work: p.ms(4), priority: p.next(3), sour: p.next(5) == 0}
	number := len(p.tasks)
	f := executor.NewFuture(func(context.Context) (int, error) {
		p.note(programRun{task: number})
		time.Sleep(m.work)
		if m.sour {
			return 0, errors.New("sour")
		}
		return number, nil
	}, executor.Priority(m.priority))
	p.tasks = append(p.tasks, f)
	err := p.pool.Execute(context.Background(), f)
	expect(p.t, "accepted", err == nil, p.model.submit(m))
}

// compare holds the pool, which is at rest, against the model.
func (p *crewProgram) compare() {
	m := p.model
	m.advance(time.Since(p.begin))
	p.sameRuns(m.log, m.max > 1 || m.policy == executor.CallerRuns)
	for i, f := range p.tasks {
		if want := m.tasks[i].state; f.State() != want {
			p.t.Fatalf("after %v task %d is %v, in the model %v", m.now, i, f.State(), want)
		}
		if v, err := f.Result(); err == nil && v != i {
			p.t.Fatalf("task %d gave %d", i, v)
		}
	}
	s := checkStats(p.t, p.pool)
	got := [...]int64{int64(s.Workers), int64(s.Active), int64(s.Queued), s.Submitted, s.Succeeded, s.Failed, s.Canceled, s.Rejected}
	want := [...]int64{int64(m.workers), int64(len(m.busy)), int64(len(m.queue)), m.submitted, m.succeeded, m.failed, m.canceled, m.turned}
	if got != want {
		p.t.Fatalf("after %v: workers, active, queued, submitted, succeeded, failed, canceled, rejected are\n%v, in the model\n%v", m.now, got, want)
	}
	if over := m.stage != executor.StageRunning && m.workers == 0; over != (s.Stage == executor.StageTerminated) {
		p.t.Fatalf("after %v the pool is %v; in the model it is over: %t", m.now, s.Stage, over)
	}
}

// Whatever sequence of calls a pool gets, its runs are those of a simple model,
// in the same order and at the same times, and so are the answers, the counters
// and the number of workers. A failing seed is repeated by EXECUTOR_SEED=n.
func TestPoolModel(t *testing.T) { playRandom(t, 400, 420, runCrew) }

// FuzzPool is TestPoolModel for programs that the fuzzer finds.
func FuzzPool(f *testing.F) {
	f.Add([]byte{1, 1, 0, 1, 1, 0, 0, 3, 0, 1, 0, 2, 0, 1, 0, 1, 0, 1, 15, 2})
	f.Add([]byte{0, 0, 1, 3, 0, 0, 3, 2, 1, 0, 2, 1, 1, 0, 1, 0, 1, 16, 3, 9, 1, 12, 2})
	f.Add([]byte{2, 2, 0, 2, 3, 0, 3, 0, 1, 0, 3, 0, 1, 0, 3, 0, 1, 13, 2, 15, 3, 14, 0})
	f.Fuzz(func(t *testing.T, code []byte) {
		synctest.Test(t, func(t *testing.T) { runCrew(t, code) })
	})
}
