package executor_test

import (
	"cmp"
	"slices"
	"time"

	"github.com/executor-go/executor"
)

// scheduleModel says what a scheduled pool has to do, with one worker and a
// sorted list. Times are since the beginning.
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

// rhythmKind is how the tasks of a program find their times.
type rhythmKind int

const (
	onceKind rhythmKind = iota
	rateKind
	delayKind
	triggerKind
)

type modelTask struct {
	number int
	kind   rhythmKind
	period time.Duration
	work   time.Duration // how long each run takes
	times  int64         // most runs, 0 for any number
	skip   bool
	ending ending // how run number endAt ends
	endAt  int64

	due   time.Duration
	seq   int
	runs  int64
	state executor.State
}

// ending is how a body returns.
type ending int

const (
	endsWell ending = iota
	endsWithError
	endsWithDone
	endsWithPanic
)

// nextTrigger gives the first time after from on a grid that no other task's
// times are on, so that no wall-clock time equals a monotonic one.
func nextTrigger(from, period time.Duration) time.Duration {
	return (from - 1).Truncate(period) + period + 1
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
		how = t.ending
	}
	if t.state.Done() { // canceled meanwhile
		return
	}
	switch {
	case how == endsWithPanic, how == endsWithError && t.kind == onceKind:
		t.state = executor.Failed
		return
	case t.kind == onceKind && how == endsWithDone:
		t.state = executor.Failed // Done is but an error there
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
