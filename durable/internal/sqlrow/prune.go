package sqlrow

import (
	"iter"
	"time"

	"github.com/executor-go/executor/durable"
)

// Kept iterates over the states whose jobs are kept for a time, in the same order each time.
func Kept(r durable.Retention) iter.Seq2[durable.State, time.Duration] {
	return func(yield func(durable.State, time.Duration) bool) {
		for _, k := range []struct {
			state durable.State
			keep  time.Duration
		}{{durable.Succeeded, r.Succeeded}, {durable.Dead, r.Dead}, {durable.Canceled, r.Dead}} {
			if k.keep > 0 && !yield(k.state, k.keep) { // 0 is for ever
				return
			}
		}
	}
}
