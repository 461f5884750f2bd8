package durable

import (
	"context"
	"time"

	"github.com/executor-go/executor/durable/internal/node"
)

// A LeftOut is a number of successive occurrences of a periodic job that had no run.
type LeftOut struct {
	Count int       // 100,000 means that many or more
	First time.Time // zero if Count is 0
}

// LeftOutBefore returns the occurrences that had no run before the occurrence of ctx, and that its run makes up for.
// Only the first attempt of an occurrence reports them. The result is zero if ctx is not a handler's.
func LeftOutBefore(ctx context.Context) LeftOut {
	mustContext(ctx)
	if h, ok := node.Of(ctx); ok {
		return LeftOut(h.LeftOutBefore())
	}
	return LeftOut{}
}

// LeftOutDuring returns the occurrences that have passed during the run of ctx and that SkipOverlap leaves out. The
// first call decides: later calls return the same, and an occurrence that passes after the first call is due when the
// run ends. So a handler that calls LeftOutDuring should do so at its end. If the handler does not, durable calls it
// when the handler has returned.
//
// LeftOutDuring asks the store whether the job has got another schedule meanwhile. If the store does not answer within
// Config.Lease, or if the run ends by CompleteTx, the schedule with which the run began counts. With a policy other
// than SkipOverlap, or if ctx is not a handler's, the result is zero.
func LeftOutDuring(ctx context.Context) LeftOut {
	mustContext(ctx)
	if h, ok := node.Of(ctx); ok {
		return LeftOut(h.LeftOutDuring())
	}
	return LeftOut{}
}
