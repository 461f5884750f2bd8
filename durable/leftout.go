package durable

import (
	"context"
	"time"

	"github.com/executor-go/executor/durable/internal/node"
)

// A LeftOut is a number of successive occurrences of a periodic job at which it did not run.
type LeftOut struct {
	Count int       // 100,000 stands for that many or more
	First time.Time // zero if Count is 0
}

// LeftOutBefore returns the occurrences that the run of ctx makes up for besides its own: those before it that nobody
// ran. Only the first attempt of an occurrence reports them. There are none if ctx is not a handler's.
func LeftOutBefore(ctx context.Context) LeftOut {
	if h, ok := node.Of(ctx); ok {
		return LeftOut(h.LeftOutBefore())
	}
	return LeftOut{}
}

// LeftOutDuring returns the occurrences that have passed during the run of ctx and that SkipOverlap leaves out. The
// first call decides: what passes after it is due when the run ends, and later calls return the same. A handler calls
// it last, if at all: durable does so itself when the handler has returned.
//
// It asks the store whether the job has got another schedule meanwhile. If the store does not answer within
// Config.Lease, the schedule with which the run began counts; so it does for a run that ends by CompleteTx. With
// another policy than SkipOverlap nothing is left out at the end of a run, and there are none; nor are there if ctx is
// not a handler's.
func LeftOutDuring(ctx context.Context) LeftOut {
	if h, ok := node.Of(ctx); ok {
		return LeftOut(h.LeftOutDuring())
	}
	return LeftOut{}
}
