package oracle

import (
	"fmt"
	"testing"
)

// A program that cancels a task in the tick in which it is due depends on a race, with any
// number of steps before.
func TestJitterFindsCancelInDueTick(t *testing.T) {
	for before := range 10 {
		for _, do := range []string{"schedule", "rate", "delay"} {
			t.Run(fmt.Sprintf("%s/%d", do, before), func(t *testing.T) {
				p := &Program{Scheduled: true, Workers: 1, Reject: "abort", End: 29}
				for range before {
					p.Steps = append(p.Steps, Step{Do: "prestart"})
				}
				p.Steps = append(p.Steps,
					Step{Do: do, Args: [3]int{3, 5, 4}, Body: "ok"},
					Step{At: 5, Do: "cancel"})
				if trace, ok := stable(t, p); ok {
					t.Errorf("stable:\n%s--- trace:\n%s", p, trace)
				}
			})
		}
	}
}

// A program without a race has the same trace with every jitter.
func TestJitterKeepsTraceWithoutRace(t *testing.T) {
	for before := range 10 {
		p := &Program{Scheduled: true, Workers: 1, Reject: "abort", End: 29}
		for range before {
			p.Steps = append(p.Steps, Step{Do: "prestart"})
		}
		p.Steps = append(p.Steps,
			Step{Do: "rate", Args: [3]int{3, 5, 4}, Body: "ok"},
			Step{At: 6, Do: "cancel"})
		if _, ok := stable(t, p); !ok {
			t.Errorf("not stable:\n%s", p)
		}
	}
}

// The ends of a sum of bodies and of an equal sum of delays are a race, even if all steps are
// in one tick, because the bodies of the JDK take a little longer.
func TestJitterOfBodiesAndDelaysDiffers(t *testing.T) {
	p := &Program{Scheduled: true, Workers: 1, Reject: "abort", Keep: forGood, End: 20, Steps: []Step{
		{Do: "execute", Task: 0, Args: [3]int{6}, Body: "ok"},
		{Do: "delay", Task: 1, Args: [3]int{2, 0, 6}, Body: "ok"}, // second run at 6+2+6
		{Do: "rate", Task: 2, Args: [3]int{3, 4, 5}, Body: "ok"},  // third run at 4+5+5
	}}
	bodies, _ := ourTrace(t, p, slowBodies)
	delays, _ := ourTrace(t, p, slowDelays)
	if bodies == delays {
		t.Errorf("slow bodies and slow delays have the same trace:\n%s--- trace:\n%s", p, bodies)
	}
}

// stable returns the same result in every run, so that every run compares the same programs.
func TestStableIsReproducible(t *testing.T) {
	for s := range uint64(200) {
		p := Draw(source(2420 + s))
		trace, ok := stable(t, p)
		for range 2 {
			if again, okAgain := stable(t, p); okAgain != ok || again != trace {
				t.Errorf("seed %d: stable %t and then %t:\n%s", 2420+s, ok, okAgain, p)
				break
			}
		}
	}
}
