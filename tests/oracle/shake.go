package oracle

import (
	"math/rand/v2"
	"time"
)

// A shake disturbs a program's times: each step is made less than a fifth of a
// tick later, and each duration is longer or shorter by a fiftieth at most.
// Where two things happen in one tick, some shake should turn their order round.
//
// A shake answers the same question the same, whichever goroutine asks first:
// so a program is taken for one that depends on a race in every run, or in none.
type shake struct {
	step func(i, of int) time.Duration         // how much later step i is made
	long func(m measured, n int) time.Duration // how much longer the n-th duration of this kind is
}

// measured is what a duration is for: a task's body, its delays, or, of no task,
// a worker's time to be idle.
type measured struct {
	task int
	body bool
}

const (
	laterAtMost  = tick / 5
	longerAtMost = tick / 50
)

// undisturbed leaves all times as they are.
var undisturbed = shake{
	step: func(i, of int) time.Duration { return 0 },
	long: func(measured, int) time.Duration { return 0 },
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

// slowBodies makes bodies last longer and no delay, and slowDelays the contrary.
// They turn round what follows from steps in one tick: a sum of bodies and a sum
// of delays that come to the same.
var (
	slowBodies = shake{
		step: undisturbed.step,
		long: func(m measured, _ int) time.Duration { return longerIf(m.body) },
	}
	slowDelays = shake{
		step: undisturbed.step,
		long: func(m measured, _ int) time.Duration { return longerIf(!m.body) },
	}
)

func longerIf(yes bool) time.Duration {
	if yes {
		return longerAtMost
	}
	return 0
}

// random disturbs each step and each duration for itself.
func random(seed uint64) shake {
	below := func(d time.Duration, kind, i, n int) time.Duration {
		r := rand.New(rand.NewPCG(seed, uint64(kind)<<60^uint64(i)<<30^uint64(n)))
		return time.Duration(r.Int64N(int64(d)))
	}
	return shake{
		step: func(i, _ int) time.Duration { return below(laterAtMost, 0, i, 0) },
		long: func(m measured, n int) time.Duration {
			kind := 1
			if m.body {
				kind = 2
			}
			return below(2*longerAtMost, kind, m.task, n) - longerAtMost
		},
	}
}
