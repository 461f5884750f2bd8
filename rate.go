package executor

import (
	"math"

	"github.com/executor-go/executor/internal/bucket"
)

// Rate bounds how often tasks or jobs begin, by a token bucket: within any d seconds at most Burst + PerSecond*d begin.
// The zero Rate means no bound.
type Rate struct {
	// PerSecond is how many tasks or jobs begin in a second on average: 0.1 means one in ten seconds. It must be at
	// least about 1e-9, which is once in 146 years, and at most a billion.
	PerSecond float64

	// Burst is how many tasks or jobs may begin at once after a pause. It must not be negative; 0, the default, is 1.
	Burst int
}

// bucket returns the full bucket of r.
func (r Rate) bucket() (bucket.Bucket, error) {
	if r == (Rate{}) {
		return bucket.Bucket{}, nil
	}
	if !(r.PerSecond > 0) || r.PerSecond > 1e9 {
		return bucket.Bucket{}, invalid("Rate: PerSecond is %v; it must be positive and at most 1e9; "+
			"leave Rate out for no bound", r.PerSecond)
	}
	interval, burst := math.Ceil(1e9/r.PerSecond), max(r.Burst, 1)
	if interval > math.MaxInt64/2 {
		return bucket.Bucket{}, invalid("Rate: PerSecond is %v, less than one in 146 years; it must be at least 1e-9", r.PerSecond)
	}
	if r.Burst < 0 || float64(burst) > math.MaxInt64/2/interval {
		return bucket.Bucket{}, invalid("Rate: Burst is %d; it must not be negative, and not more than the rate "+
			"makes in 146 years", r.Burst)
	}
	return bucket.Bucket{Interval: int64(interval), Burst: int64(burst)}, nil
}
