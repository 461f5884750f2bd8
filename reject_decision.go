package executor

import (
	"reflect"
	"sync"
)

// This file keeps which tasks the user's policies decide about. Such a policy may leave the decision to a policy of
// this package, which then counts the task.

// deciding are the tasks that policies of the user's decide about, which have not returned.
// Its lock is a leaf.
type deciding struct {
	sync.Mutex
	all []*decision
}

// leave notes that a policy has left its decision about a task to one of this package. It reports false if none decides
// about that task.
func (d *deciding) leave(task Runnable) bool {
	d.Lock()
	defer d.Unlock()
	for _, of := range d.all {
		if !of.left && sameRunnable(of.task, task) {
			of.left = true
			return true
		}
	}
	return false
}

// decision is a task that a policy of the user's decides about. It is counted as rejected
// when the policy has returned, unless it was left to a policy of this package, which
// counts it.
type decision struct {
	task Runnable
	why  error
	left bool
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
