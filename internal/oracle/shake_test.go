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
