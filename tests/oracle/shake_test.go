package oracle

import (
	"fmt"
	"testing"
)

// A program that cancels a task in the very tick in which it is due depends on
// a race, however many steps come before.
func TestCancellationInTheTickOfTheTaskIsARace(t *testing.T) {
	for before := range 10 {
		for _, do := range []string{"schedule", "rate", "delay"} {
			t.Run(fmt.Sprintf("%s/%d", do, before), func(t *testing.T) {
				p := &Program{Scheduled: true, Core: 1, Reject: "abort", End: 29}
				for range before {
					p.Steps = append(p.Steps, Step{Do: "prestart"})
				}
				p.Steps = append(p.Steps,
					Step{Do: do, Args: [3]int{3, 5, 4}, Body: "ok"},
					Step{At: 5, Do: "cancel"})
				if trace, ok := steady(t, p); ok {
					t.Errorf("taken for one that depends on no race:\n%s--- trace:\n%s", p, trace)
				}
			})
		}
	}
}

// A program without a race keeps its trace when it is disturbed.
func TestProgramWithoutRaceIsSteady(t *testing.T) {
	for before := range 10 {
		p := &Program{Scheduled: true, Core: 1, Reject: "abort", End: 29}
		for range before {
			p.Steps = append(p.Steps, Step{Do: "prestart"})
		}
		p.Steps = append(p.Steps,
			Step{Do: "rate", Args: [3]int{3, 5, 4}, Body: "ok"},
			Step{At: 6, Do: "cancel"})
		if _, ok := steady(t, p); !ok {
			t.Errorf("taken for one that depends on a race:\n%s", p)
		}
	}
}

// Bodies that end when a delay does are a race, though all steps are made in one
// tick: the JDK's bodies last a little longer.
func TestSlowBodiesTurnRoundWhatSlowDelaysDoNot(t *testing.T) {
	p := &Program{Scheduled: true, Core: 1, Reject: "abort", Keep: forGood, End: 20, Steps: []Step{
		{Do: "execute", Task: 0, Args: [3]int{6}, Body: "ok"},
		{Do: "delay", Task: 1, Args: [3]int{2, 0, 6}, Body: "ok"}, // for the second time at 6+2+6
		{Do: "rate", Task: 2, Args: [3]int{3, 4, 5}, Body: "ok"},  // for the third time at 4+5+5
	}}
	bodies, _ := ourTrace(t, p, slowBodies)
	delays, _ := ourTrace(t, p, slowDelays)
	if bodies == delays {
		t.Errorf("the same trace whether bodies are slow or delays:\n%s--- trace:\n%s", p, bodies)
	}
}

// Whether a program depends on a race is found alike in every run, so that every
// run compares the same programs.
func TestSteadyIsSteady(t *testing.T) {
	for s := range uint64(200) {
		p := Draw(source(2420 + s))
		trace, ok := steady(t, p)
		for range 2 {
			if again, okAgain := steady(t, p); okAgain != ok || again != trace {
				t.Errorf("seed %d: steady %t and then %t:\n%s", 2420+s, ok, okAgain, p)
				break
			}
		}
	}
}
