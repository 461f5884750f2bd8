package executor

import (
	"reflect"
	"sync"

	"github.com/executor-go/executor/internal/engine"
)

// This file keeps which tasks the user's policies decide about. Such a policy may leave the decision to a policy of
// this package, which then counts the task.

// deciding are the tasks that policies of the user's decide about, which have not returned.
// Its lock is a leaf.
type deciding struct {
	sync.Mutex
	all []*decision
}

// leave notes that a policy has left its decision about a task to one of this package, and returns the decision, nil if
// none decides about that task.
func (d *deciding) leave(task Runnable) *decision {
	d.Lock()
	defer d.Unlock()
	for _, of := range d.all {
		if !of.left && sameRunnable(of.task, task) {
			of.left = true
			return of
		}
	}
	return nil
}

// decision is a task that a policy of the user's decides about. It is counted as rejected
// when the policy has returned, unless it was left to a policy of this package, which
// counts it.
type decision struct {
	task Runnable
	key  *engine.KeyItem // has the key of the task; nil if it has none
	why  error
	left bool
}

// newDecision returns the decision about u, which was refused for the reason why.
func newDecision(u work, why error) *decision {
	d := &decision{task: u.runnable(), why: why}
	if k, ok := u.(interface{ Key() *engine.KeyItem }); ok {
		d.key = k.Key()
	}
	if d.key != nil && workOf(d.task) == nil {
		d.task = &ofKey{d.task}
	}
	return d
}

// ofKey is a Runnable that was submitted for a key, as a policy of the user's gets it: the same Runnable may be
// submitted for another key, and of two functions can't be told whether they are the same.
type ofKey struct{ Runnable }

// keyed returns u, the work of the task that d is about, with its key. A nil d is about none.
func (d *decision) keyed(u work) work {
	if d == nil || d.key == nil {
		return u
	}
	return withKey(u, d.key.Key())
}

// sameRunnable reports whether a and b are the same object. Of two functions it may take
// one for the other.
func sameRunnable(a, b Runnable) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case x.Type() != y.Type():
		return false
	case x.Kind() == reflect.Func:
		return x.Pointer() == y.Pointer()
	}
	return !x.Comparable() || a == b
}
