package executor_test

import (
	"context"
	"testing"

	"github.com/executor-go/executor"
)

// lastMoment is a context that ends while somebody gets ready to wait for it;
// the task is done just before.
type lastMoment struct {
	context.Context
	f *executor.Future[int]
}

func (c lastMoment) Done() <-chan struct{} {
	c.f.Complete(1)
	return c.Context.Done()
}

// Done beats the end of the context also if both come between the look at the
// task and the wait.
func TestDoneWinsAtTheLastMoment(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		f := executor.NewPromise[int]()
		v, err := f.Get(lastMoment{ended, f})
		if v != 1 || err != nil {
			t.Fatalf("Get: %v, %v, though the task was done before the wait began", v, err)
		}
	}
}
