package oracle

import (
	"math/rand/v2"
	"time"
)

// A jitter changes the times of a program: each step is up to a fifth of a tick later, and
// each duration is longer or shorter by up to a fiftieth of a tick. If two events are in one
// tick, some jitter should reverse their order.
//
// The functions of a jitter depend on their arguments alone, not on the order of calls. So a
// program depends on a race in every run of the test, or in none.
type jitter struct {
	step     func(i, of int) time.Duration        // how much later step i is
	lengthen func(m purpose, n int) time.Duration // how much longer the n-th duration of this kind is
}

// A purpose is what a duration is for: the body of a task, its delays, or the keep-alive time
// if task is -1.
type purpose struct {
	task int
	body bool
}

const (
	maxDelay   = tick / 5
	maxStretch = tick / 50
)

// exact changes no time.
var exact = jitter{
	step:     func(i, of int) time.Duration { return 0 },
	lengthen: func(purpose, int) time.Duration { return 0 },
}

// rising delays each step more than the previous one, and falling less. Together they always
// reverse the order of events that follow from steps in different ticks. Random jitter does
// not suffice: no step is before the previous one, so what follows from the last of many steps
// in one tick is nearly always late.
var (
	rising = jitter{
		step:     func(i, of int) time.Duration { return maxDelay * time.Duration(i) / time.Duration(max(of, 1)) },
		lengthen: exact.lengthen,
	}
	falling = jitter{
		step:     func(i, of int) time.Duration { return maxDelay * time.Duration(of-i) / time.Duration(max(of, 1)) },
		lengthen: exact.lengthen,
	}
)

// slowBodies makes bodies longer, and slowDelays delays. They reverse the order of events that
// follow from steps in one tick, one after a sum of bodies and one after an equal sum of delays.
var (
	slowBodies = jitter{
		step:     exact.step,
		lengthen: func(m purpose, _ int) time.Duration { return longerIf(m.body) },
	}
	slowDelays = jitter{
		step:     exact.step,
		lengthen: func(m purpose, _ int) time.Duration { return longerIf(!m.body) },
	}
)

func longerIf(yes bool) time.Duration {
	if yes {
		return maxStretch
	}
	return 0
}

// random changes each step and each duration independently.
func random(seed uint64) jitter {
	below := func(d time.Duration, kind, i, n int) time.Duration {
		r := rand.New(rand.NewPCG(seed, uint64(kind)<<60^uint64(i)<<30^uint64(n)))
		return time.Duration(r.Int64N(int64(d)))
	}
	return jitter{
		step: func(i, _ int) time.Duration { return below(maxDelay, 0, i, 0) },
		lengthen: func(m purpose, n int) time.Duration {
			kind := 1
			if m.body {
				kind = 2
			}
			return below(2*maxStretch, kind, m.task, n) - maxStretch
		},
	}
}
