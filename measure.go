package executor

import (
	"time"

	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/engine"
)

// This file is how a few of a pool's tasks are measured, those that choose has chosen: by
// measured, in whose place they are queued, with the time of their admission. In a scheduled
// pool a task has its time with it, and is chosen when it runs.

// admit returns what is to be admitted for u.
func (o *observed) admit(u work) work {
	if o.timed || !o.choose() {
		return u
	}
	return &measured{u, o, o.elapsed()}
}

// measured is work that is measured. It is queued in its place.
type measured struct {
	work
	by       *observed
	admitted int64
}

// Key returns that of the work, nil if it has none.
func (m *measured) Key() *engine.KeyItem {
	if k, ok := m.work.(*keyedWork); ok {
		return k.Key()
	}
	return nil
}

func (m *measured) Do(w *engine.Worker) {
	now, from := m.by.elapsed(), m.admitted
	w.Begun(now)
	if t := m.taskCore(); t != nil {
		from = max(from, t.Due()) // of a further attempt
	}
	r := m.by.begin(localOf(w), m.work, now-from, now)
	defer r.end()
	m.work.Do(w)
}

// run is a run that is measured.
type run struct {
	of        *observed
	on        *local
	named     *figures // nil if none are asked for
	wait, now int64
}

// begin begins the measurement of a run, after wait.
func (o *observed) begin(l *local, u work, wait, now int64) run {
	return run{o, l, o.named(l.pool.info(l.worker.Number, u).Name), wait, now}
}

// end records the run, if the body was called.
func (r run) end() {
	if r.of == nil || !r.on.worker.HasCalled() {
		return
	}
	wait, took := time.Duration(r.wait), time.Duration(r.of.elapsed()-r.now)
	r.of.all.record(wait, took)
	if r.named != nil {
		r.named.record(wait, took)
	}
}

// measureLateness begins the measurement of a run of a task of a scheduled pool.
func (l *local) measureLateness(o *observed, u work) run {
	t, now := u.taskCore(), l.pool.clock().Now()
	l.worker.Begun(now.Mono)
	return o.begin(l, u, int64(delay.Until(now.On(t.FollowsWallClock()), t.Due())), now.Mono)
}
