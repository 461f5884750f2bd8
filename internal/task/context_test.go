package task

import (
	"context"
	"testing"
	"time"
)

// newOwner returns an owner that does nothing.
func newOwner() *Owner {
	o := new(Owner)
	o.Init(func(*Task) {}, func(*Task) {}, context.Background(), time.Now())
	return o
}

// A run of a body that runs repeatedly takes one allocation if nobody looks at its context.
func TestTaskRunRepeatedlyAllocatesOnce(t *testing.T) {
	task := new(Task)
	task.Init()
	task.AttachNew(newOwner(), context.Background())
	n := testing.AllocsPerRun(100, func() {
		if _, ok := task.Begin(Repeatedly); !ok || !task.Reset(func() {}) {
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
	task := new(Task)
	task.Init()
	task.AttachNew(newOwner(), context.Background())
	seen, _ := task.Begin(Repeatedly)
	if seen.Err() != nil || Ended(seen) {
		t.Error("the context of a run in progress has ended")
	}
	task.Reset(func() {})
	unseen, _ := task.Begin(Repeatedly)
	task.Reset(func() {})
	now, _ := task.Begin(Repeatedly)
	for name, ctx := range map[string]context.Context{"seen": seen, "unseen": unseen} {
		if !Ended(ctx) || context.Cause(ctx) != ErrReturned {
			t.Errorf("%s: %v", name, context.Cause(ctx))
		}
	}
	if Ended(now) || now.Err() != nil {
		t.Error("the context of the run in progress has ended")
	}
}
