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
// PerSecond*d. Jobs beyond that wait in the store, and hold no worker. Retries and skipped occurrences count, too. A
// job may be claimed ahead of its time, by up to 1.25 times Config.Poll; it counts for the time at which it is due. If
// the node dies or stops before the job begins, or has no idle worker at that time, the token of the job is lost. A job
// begins when a worker takes it, which is later than its time if the process is suspended in between: if a node is
// stopped and goes on, up to as many jobs as it has workers may begin at once beyond the bound.
//
// PerSecond may be from one in a hundred years to a million; the interval is rounded up to whole microseconds. Burst is
// that of [executor.Rate]. Nodes ask for jobs about every ten milliseconds, so for a fast rate Burst should be at least
// the number of jobs that begin in that time. All programs must set the same rate; if they differ, each uses its own.
// Handle panics if the store of j is not a [store.Limiter]. The default is no bound.
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
