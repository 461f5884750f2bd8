package oracle

import (
	"math/rand/v2"
	"sync"
	"time"
)

// A shake disturbs a program's times: each step is made less than a fifth of a
// tick later, and each duration is longer or shorter by a fiftieth at most.
// Where two things happen in one tick, some shake should turn their order round.
type shake struct {
	step func(i, of int) time.Duration // how much later step i is made
	long func() time.Duration          // how much longer a duration is
}

const (
	laterAtMost  = tick / 5
	longerAtMost = tick / 50
)

// undisturbed leaves all times as they are.
var undisturbed = shake{
	step: func(i, of int) time.Duration { return 0 },
	long: func() time.Duration { return 0 },
}

// rising makes each step later than the one before, and falling makes it less
// late. Together they turn round the order of what follows from steps in
// different ticks, always. By chance alone what follows from the last of many
// steps in one tick is late nearly every time, since no step is made before the
// one before it.
var (
	rising = shake{
		step: func(i, of int) time.Duration { return laterAtMost * time.Duration(i) / time.Duration(max(of, 1)) },
		long: undisturbed.long,
	}
	falling = shake{
		step: func(i, of int) time.Duration { return laterAtMost * time.Duration(of-i) / time.Duration(max(of, 1)) },
		long: undisturbed.long,
	}
)

// random disturbs each step and each duration for itself.
func random(seed uint64) shake {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 2))
	below := func(d time.Duration) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(r.Int64N(int64(d)))
	}
	return shake{
		step: func(int, int) time.Duration { return below(laterAtMost) },
		long: func() time.Duration { return below(2*longerAtMost) - longerAtMost },
	}
}
