package executor

import (
	"iter"
	"math"
	"reflect"
)

// accountLocked records that the task in the hands of w has come to an end. A
// task that recurs goes back into the queue; it is returned, for the caller to
// complete it without the lock, if the pool takes it no more.
func (p *Pool) accountLocked(w *worker, out outcome) (dropped entry) {
	e := w.entry
	w.entry, w.since = entry{}, 0
	if out == none {
		return entry{}
	}
	p.mu.active--
	if out == again {
		switch {
		case e.task().State().Done(): // canceled since
			out = outcomeOf(e.task())
		case p.returnLocked(e):
		default:
			dropped, out = e, canceledTask
		}
	}
	p.countLocked(w, out)
	return dropped
}

// countLocked counts the run that w has just done, if it was one, and the end
// of its task, unless it recurs.
func (p *Pool) countLocked(w *worker, out outcome) {
	if w.ran {
		p.mu.runs++
	}
	w.ran, w.fine = false, false
	if out < numOutcomes {
		p.mu.ended[out]++
	}
}

// forget takes t, which is done and was given to p, out of the queue if it waits
// there. A canceled task stays if the pool retains such tasks.
func (p *Pool) forget(t *task) {
	p.mu.Lock()
	if t.place == unplaced || p.mu.retained && t.State() == Canceled || t.has(stray) && t.attached() != p {
		p.mu.Unlock()
		return
	}
	p.mu.queue.remove(t)
	fresh := p.leftLocked(1, outcomeOf(t))
	running := p.mu.stage == StageRunning
	p.mu.Unlock()
	p.start(fresh)
	if !running {
		p.tidy()
	}
}

// leftLocked counts n tasks that left the queue without being run. Workers that
// stayed for these tasks leave, and blocked submitters are admitted.
func (p *Pool) leftLocked(n int, out outcome) (fresh []*worker) {
	p.mu.ended[out] += int64(n)
	if p.mu.queue.len() == 0 && (p.mu.stage != StageRunning || p.surplusLocked()) {
		p.retireLocked()
	}
	return p.unblockLocked()
}

// Remove takes a task that waits out of the queue and reports whether it was
// there. task is what was submitted: a future, a decorated task, or a Runnable
// given to Execute, compared by ==; functions can't be compared and are never
// found. Each call takes out one. A future is found at once, another task, and a
// future that was submitted more than once, by looking at all that wait. The task
// counts as canceled, its future is complete: canceled with the cause
// [ErrCanceled], unless somebody runs it by hand meanwhile. Java: remove.
func (p *Pool) Remove(task Runnable) bool {
	if task == nil || !reflect.ValueOf(task).Comparable() {
		return false // == would panic
	}
	b, ok := task.(bound)
	if ok {
		b.core().attached() // a nil Future panics here, not under the lock
	}
	var found entry
	p.mu.Lock()
	switch own := ok && b.core().attached() == p; {
	case own && b.core().place != unplaced:
		p.mu.queue.remove(b.core())
		found = entry{task}
	case !own || b.core().has(plural):
		p.mu.queue.removeFunc(func(e entry) bool {
			if found.run == nil && e.is(task) {
				found = e
				return true
			}
			return false
		})
	}
	if found.run == nil {
		p.mu.Unlock()
		return false
	}
	fresh := p.leftLocked(1, canceledTask)
	p.mu.Unlock()
	p.start(fresh)
	found.end(Canceled, nil)
	p.tidy()
	return true
}

// is reports whether task, which is comparable, is the object submitted as e or
// the user's decoration of it.
func (e entry) is(task Runnable) bool {
	if e.origin() == task {
		return true
	}
	t := e.task()
	return t != nil && t.decorated() == task
}

// Purge takes all canceled tasks out of the queue and returns their number.
// There are none unless the pool retains them. Java: purge.
func (p *Pool) Purge() int {
	p.mu.Lock()
	gone := p.mu.queue.removeFunc(func(e entry) bool {
		t := e.task()
		return t != nil && t.State() == Canceled
	})
	fresh := p.leftLocked(len(gone), canceledTask)
	p.mu.Unlock()
	p.start(fresh)
	p.tidy()
	return len(gone)
}

// Waiting iterates over a snapshot of the tasks that wait in the queue, each as
// it was submitted. The order is that of the queue in a pool that is first-in,
// first-out, and none in particular otherwise. Java: getQueue.
func (p *Pool) Waiting() iter.Seq[Runnable] {
	return func(yield func(Runnable) bool) {
		p.mu.Lock()
		all := make([]Runnable, 0, p.mu.queue.len())
		for e := range p.mu.queue.all() {
			all = append(all, e.origin())
		}
		p.mu.Unlock()
		for _, r := range all {
			if !yield(r) {
				return
			}
		}
	}
}

// Prestart starts one worker, to wait for tasks, unless there are Core already
// or there will be nothing to do since the pool is shut down, and reports
// whether it did. Java: prestartCoreThread.
func (p *Pool) Prestart() bool { return p.prestart(1) == 1 }

// PrestartAll starts workers until there are Core of them, and returns how many
// it started. Java: prestartAllCoreThreads.
func (p *Pool) PrestartAll() int { return p.prestart(math.MaxInt) }

func (p *Pool) prestart(n int) int {
	p.mu.Lock()
	fresh := p.prestartLocked(n)
	p.mu.Unlock()
	p.start(fresh)
	return len(fresh)
}

func (p *Pool) prestartLocked(n int) []*worker {
	if p.mu.stage >= StageStop || p.mu.stage == StageShutdown && p.mu.queue.len() == 0 {
		return nil
	}
	var fresh []*worker
	for ; n > 0 && p.mu.workers < p.mu.core; n-- {
		fresh = append(fresh, p.hireLocked())
	}
	return fresh
}
