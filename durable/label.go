package durable

import (
	"context"

	"github.com/executor-go/executor/durable/internal/node"
	"github.com/executor-go/executor/durable/internal/text"
)

// SetLabel sets a one-word outcome of the run that ctx belongs to, such as "timeout" or "declined", so that programs
// need not read the texts of errors. The last call before the handler returns, or before CompleteTx, counts. Run.Label,
// Job.Label and the JobError of Await have the label. It is empty for a run that sets none, or that was lost with its
// node.
//
// A label is cut to MaxLabel bytes. If ctx is not a handler's, SetLabel does nothing.
func SetLabel(ctx context.Context, label string) {
	mustContext(ctx)
	if h, ok := node.Of(ctx); ok {
		h.SetLabel(text.Shorten(label, MaxLabel))
	}
}
