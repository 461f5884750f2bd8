package task

import (
	"context"
	"testing"
	"time"
)

// newOwner returns an owner that does nothing.
func newOwner() *Owner {
	o := new(Owner)
	o.Init(func(*Task) {}, context.Background(), time.Now())
	return o
}

// newRepeating returns a task whose body may run again.
func newRepeating() *Task {
	task := new(Task)
	task.Init()
	task.SetOptions().Repeats = true
	task.AttachNew(newOwner(), context.Background())
	return task
}

// A run of a body that runs repeatedly takes one allocation if nobody looks at its context.
func TestTaskRunRepeatedlyAllocatesOnce(t *testing.T) {
	task := newRepeating()
	n := testing.AllocsPerRun(100, func() {
		if _, ok := task.Begin(); !ok || !task.Reset(func() {}) {
			t.Fatal("the task did not run")
		}
	})
	if n != 1 {
		t.Errorf("%v allocations, want 1", n)
	}
}

// A context that was kept from a run has ended, whether it was looked at then, later, or during another
// run.
func TestTaskContextOfEarlierRun(t *testing.T) {
	task := newRepeating()
	seen, _ := task.Begin()
	if seen.Err() != nil || Ended(seen) {
		t.Error("the context of a run in progress has ended")
	}
	task.Reset(func() {})
	unseen, _ := task.Begin()
	task.Reset(func() {})
	now, _ := task.Begin()
	for name, ctx := range map[string]context.Context{"seen": seen, "unseen": unseen} {
		if !Ended(ctx) || context.Cause(ctx) != ErrReturned {
			t.Errorf("%s: %v", name, context.Cause(ctx))
		}
	}
	if Ended(now) || now.Err() != nil {
		t.Error("the context of the run in progress has ended")
	}
}
