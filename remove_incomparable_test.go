package executor_test

import (
	"context"
	"testing"

	"github.com/executor-go/executor"
)

// holder is comparable as a type, but two of them may not be as values: == of
// what they hold panics.
type holder struct{ held any }

func (holder) Run(context.Context) error { return nil }

// Remove never finds a task that cannot be compared, and does not panic.
func TestRemoveOfIncomparableTask(t *testing.T) {
	ctx := t.Context()
	pool := executor.Fixed(1)
	release := make(chan struct{})
	if err := pool.Go(ctx, func(context.Context) error { <-release; return nil }); err != nil {
		t.Fatal(err)
	}
	task := holder{[]int{1}}
	if err := pool.Execute(ctx, task); err != nil { // waits in the queue
		t.Fatal(err)
	}

	func() {
		defer func() {
			if v := recover(); v != nil {
				t.Fatalf("Remove panicked: %v", v) // with the lock held, so that there is no closing the pool
			}
		}()
		if pool.Remove(task) {
			t.Error("Remove found a task that is equal to nothing")
		}
	}()
	close(release)
	pool.Close()
}
