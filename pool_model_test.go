package executor_test

import (
	"cmp"
	"slices"
	"time"

	"github.com/executor-go/executor"
)

// crewModel says what a pool has to do, with a sorted list and a number for the
// workers. Times are since the beginning.
type crewModel struct {
	core, max int
	kept      bool // idle workers above core stay for the whole program
	room      int  // of the queue, -1 for any number
	ranked    bool // the queue is by priority
	policy    executor.RejectPolicy

	now     time.Duration
	stage   executor.Stage
	workers int
	tasks   []*crewTask
	queue   []*crewTask
	busy    []*crewTask // what the workers run, in order of until
	inline  *crewTask   // what the submitter runs

	log                                            []programRun
	submitted, succeeded, failed, canceled, turned int64
}

type crewTask struct {
	number   int
	work     time.Duration
	priority int
	sour     bool
	until    time.Duration
	state    executor.State
}

// submit admits t by the four steps. It reports whether the submitter is told of
// no error.
func (m *crewModel) submit(t *crewTask) bool {
	t.number = len(m.tasks)
	m.tasks = append(m.tasks, t)
	m.submitted++
	if m.stage == executor.StageRunning && m.admit(t) {
		return true
	}
	switch {
	case m.policy == executor.Discard:
	case m.stage != executor.StageRunning, m.policy == executor.Abort:
		m.turnDown(t)
		return false
	case m.policy == executor.CallerRuns:
		m.turned++
		m.inline = t
		m.begin(t)
		return true
	case len(m.queue) == 0: // DiscardOldest has nothing to discard
		m.turnDown(t)
		return false
	default:
		m.turnDown(m.queue[0])
		m.queue = m.queue[1:]
		m.admit(t)
		return true
	}
	m.turnDown(t)
	return true
}

func (m *crewModel) turnDown(t *crewTask) {
	t.state = executor.Failed
	m.turned++
}

func (m *crewModel) admit(t *crewTask) bool {
	switch {
	case m.workers < m.core:
		m.workers++
		m.start(t)
	case m.workers > len(m.busy):
		m.start(t)
	case m.room < 0 || len(m.queue) < m.room:
		i := len(m.queue)
		if m.ranked {
			i = slices.IndexFunc(m.queue, func(o *crewTask) bool { return o.priority > t.priority })
			if i < 0 {
				i = len(m.queue)
			}
		}
		m.queue = slices.Insert(m.queue, i, t)
		if m.workers == 0 {
			m.workers++
			m.next()
		}
	case m.workers < m.max:
		m.workers++
		m.start(t)
	default:
		return false
	}
	return true
}

func (m *crewModel) begin(t *crewTask) {
	t.state, t.until = executor.Running, m.now+t.work
	m.log = append(m.log, programRun{task: t.number, began: m.now})
}

func (m *crewModel) start(t *crewTask) {
	m.begin(t)
	m.busy = append(m.busy, t)
	slices.SortStableFunc(m.busy, func(a, b *crewTask) int { return cmp.Compare(a.until, b.until) })
}

// next is what a worker does that has nothing in hand.
func (m *crewModel) next() {
	expendable := m.workers > 1 || len(m.queue) == 0
	switch {
	case m.stage == executor.StageStop, m.workers > m.max && expendable:
		m.workers--
	case len(m.queue) > 0:
		t := m.queue[0]
		m.queue = m.queue[1:]
		m.start(t)
	default:
		m.retire()
	}
}

// retire sends idle workers home.
func (m *crewModel) retire() {
	for m.workers > len(m.busy) {
		over := m.stage != executor.StageRunning && len(m.queue) == 0 ||
			m.workers > m.max || m.workers > m.core && !m.kept
		if !over || m.workers == 1 && len(m.queue) > 0 {
			break
		}
		m.workers--
	}
}

// advance does what happens until now.
func (m *crewModel) advance(now time.Duration) {
	for len(m.busy) > 0 && m.busy[0].until <= now {
		t := m.busy[0]
		m.busy = m.busy[1:]
		m.now = max(m.now, t.until)
		switch m.finish(t); t.state {
		case executor.Succeeded:
			m.succeeded++
		case executor.Failed:
			m.failed++
		default:
			m.canceled++
		}
		m.next()
	}
	if m.inline != nil {
		m.finish(m.inline)
		m.inline = nil
	}
	m.now = now
}

func (m *crewModel) finish(t *crewTask) {
	switch {
	case t.state.Done(): // canceled meanwhile
	case t.sour:
		t.state = executor.Failed
	default:
		t.state = executor.Succeeded
	}
}

// leave takes t out of the queue, if it is there.
func (m *crewModel) leave(t *crewTask) bool {
	i := slices.Index(m.queue, t)
	if i < 0 {
		return false
	}
	m.queue = slices.Delete(m.queue, i, i+1)
	m.canceled++
	t.state = executor.Canceled
	return true
}

func (m *crewModel) cancel(t *crewTask) bool {
	if t.state.Done() {
		return false
	}
	m.leave(t)
	t.state = executor.Canceled
	return true
}

func (m *crewModel) setCore(n int) bool {
	if n > m.max {
		return false
	}
	grown := n - m.core
	m.core = n
	m.retire()
	for range min(grown, len(m.queue)) {
		if m.workers < m.core && m.stage != executor.StageStop {
			m.workers++
			m.next()
		}
	}
	return true
}

func (m *crewModel) setMax(n int) bool {
	if n < m.core || n < 1 {
		return false
	}
	m.max = n
	m.retire()
	return true
}

func (m *crewModel) shutdown() {
	m.stage = max(m.stage, executor.StageShutdown)
	m.retire()
}

// shutdownNow gives the numbers of the tasks given back.
func (m *crewModel) shutdownNow() (back []int) {
	m.stage = executor.StageStop
	for len(m.queue) > 0 {
		back = append(back, m.queue[0].number)
		m.leave(m.queue[0])
	}
	m.retire()
	return back
}
