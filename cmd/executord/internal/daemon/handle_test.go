package daemon

import (
	"errors"
	"testing"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/durable"
)

// The history says of a command that was never started that it was not, whatever
// kept it from that.
func TestHandledVerdictOnWhatWasNotStarted(t *testing.T) {
	for _, cause := range []error{nil, executor.ErrCanceled, executor.ErrShutdown, durable.ErrLeaseLost} {
		result := process.Result{Err: errors.New("the reason"), Stopped: cause != nil, Cause: cause}
		r := &handled{run: run{tail: new(tail)}}
		if got := r.verdict(result, outcomeOf(result)); got.Error() != "not started: the reason" {
			t.Errorf("after %v: %v", cause, got)
		}
	}
}
