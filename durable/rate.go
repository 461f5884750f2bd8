package durable

import (
	"math"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/store"
)

// longestFill is how long a bucket may take to be full.
const longestFill = 100 * 365 * 24 * time.Hour

// GlobalRate bounds how often jobs of the kind begin on all nodes together: within any d seconds no more than Burst +
// PerSecond*d. What is too much waits in the store, and holds no worker. Retries and occurrences that are left out
// count, too. A job that is claimed ahead of its time, by up to Config.Poll and a quarter, counts for the time at which
// it is due. If its node dies or stops before it begins, its part of the rate is lost. Beginning may take as long as
// the handover to a worker; a process that is stopped in between begins later than it was to.
//
// PerSecond may be up to a million, and as little as is one in a hundred years; the time between two is rounded up to
// whole microseconds. Burst is as in executor.Rate: with less than what comes in some ten milliseconds a fast rate is
// not reached, since nodes ask no more often. All programs must set the same rate; where they do not, each goes by its
// own. Handle panics if the store of j is none that keeps rates, as a store.Limiter does. The default is no bound.
func GlobalRate(r executor.Rate) HandlerOption {
	return func(k *kind) error {
		if !(r.PerSecond > 0) || r.PerSecond > 1e6 || r.Burst < 0 {
			return invalid("global rate %+v of kind %q: PerSecond must be positive and at most 1e6, and Burst not negative", r, k.Name)
		}
		every, burst := math.Ceil(1e6/r.PerSecond), max(r.Burst, 1)
		if every*float64(burst) > float64(longestFill/time.Microsecond) {
			return invalid("global rate %+v of kind %q: Burst must be no more than the rate makes in a hundred years", r, k.Name)
		}
		k.Rate = store.Rate{Every: time.Duration(every) * time.Microsecond, Burst: burst}
		return nil
	}
}
