package executor

import "context"

// ties are what a task has to do with others: its pool, its submitter, those who wait
// for it, and what they are told. Most tasks have a pool and nothing else: they share
// the ties that the pool has for them, which nobody writes to. Whoever has more to
// note gives the task ties of its own, for good.
//
// They are guarded by the task's lock, once the task is shared. They may be read
// without it by whoever has seen the flag that speaks of them, since a task never
// gives up its own ones; and after abort, which leaves nobody anything to note.
type ties struct {
	pool   *Pool           // that took the task, or nil; set by attach, cleared by detach
	done   chan struct{}   // made by the first waiter, closed when the task is done
	ctx    context.Context // parent of the body's context; without it the parent is Background
	err    error           // the outcome; without it that of Cancel, or none
	more   *details        // nil for most tasks; written once
	shared bool
}

// untied are the ties of tasks without a pool.
var untied = ties{shared: true}

// details are what few tasks need. But for the traits they are guarded as ties are.
type details struct {
	traits
	loan   *loan                   // of a decorated task
	run    context.Context         // the body's context, once somebody looked at it
	cancel context.CancelCauseFunc // ends run
	cause  error                   // ended the body's context before anybody looked
	watch  *link[watched]          // over the submitter's context
	left   chan struct{}           // made by Join, closed when the body has returned
	onDone chain[func()]           // in order of registration
}

// tiesLocked gives the task's own ties, made at need.
func (t *task) tiesLocked() *ties {
	if t.ties.shared {
		own := *t.ties
		own.shared = false
		t.ties = &own
	}
	return t.ties
}

// tieLocked ties the task to a pool, or to none.
func (t *task) tieLocked(p *Pool) {
	switch {
	case !t.ties.shared:
		t.ties.pool = p
	case p == nil:
		t.ties = &untied
	default:
		t.ties = &p.common
	}
}

// moreLocked gives the details, made at need.
func (t *task) moreLocked() *details {
	own := t.tiesLocked()
	if own.more == nil {
		own.more = new(details)
	}
	return own.more
}

// attached gives the pool that the task was given to, nil if there is none.
func (t *task) attached() *Pool {
	bits := t.lock()
	p := t.ties.pool
	t.unlock(bits)
	return p
}

// notice is a function that OnDone was given.
type notice = link[func()]

// callAll calls n and those after it in turn, the others also if one call does not
// return.
func callAll(n *notice) {
	defer func() {
		if n != nil {
			callAll(n)
		}
	}()
	for n != nil {
		call := n.value
		n = n.next
		call()
	}
}
