package round_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/executor-go/executor/bench/report"
	"github.com/executor-go/executor/bench/round"
	"github.com/executor-go/executor/bench/subject"
	"github.com/executor-go/executor/bench/workload"
)

func all(round.Cell) bool { return true }

func names(cells []round.Cell) []string {
	var ns []string
	for _, c := range cells {
		ns = append(ns, c.Name())
	}
	return ns
}

// Every round has every cell once, in an order that depends on the seed and the round.
func TestShuffledOrder(t *testing.T) {
	cells := round.Cells(false, all)
	order := func(n int) []string { return names(round.Shuffled(cells, 1, n)) }
	first, again, second := order(0), order(0), order(1)
	if !slices.Equal(first, again) {
		t.Error("the same seed and round have two orders")
	}
	if slices.Equal(first, second) {
		t.Error("two rounds have the same order")
	}
	want := slices.Sorted(slices.Values(names(cells)))
	if got := slices.Sorted(slices.Values(second)); !slices.Equal(got, want) {
		t.Error("a round does not have every cell once")
	}
	if len(slices.Compact(want)) != len(cells) {
		t.Error("two cells have the same name")
	}
}

// Every workload runs on our executor and on at least one other subject.
func TestCellsIncludeOurs(t *testing.T) {
	for _, quick := range []bool{false, true} {
		subjects := map[string][]string{}
		for _, c := range round.Cells(quick, func(c round.Cell) bool { return c.Subject.Of == "" }) {
			subjects[c.Workload.Name] = append(subjects[c.Workload.Name], c.Subject.ID)
		}
		for _, w := range workload.All() {
			on := subjects[w.Name]
			if _, ok := w.Size(quick); ok && (!slices.Contains(on, subject.Reference(w.Kind)) || len(on) < 2) {
				t.Errorf("%s, quick %v, runs on %v only", w.Name, quick, on)
			}
		}
	}
}

// Every target names records that are measured.
func TestTargetsExist(t *testing.T) {
	exists := map[round.Key]bool{}
	ours := map[string]string{}
	for _, c := range round.Cells(false, all) {
		for _, o := range c.Workload.Outputs {
			exists[round.Key{Workload: o.ID, Subject: c.Subject.ID}] = true
			ours[o.ID] = subject.Reference(c.Workload.Kind)
		}
	}
	for _, target := range report.Targets() {
		than, of := cmp.Or(target.Than, target.Workload), target.Subject
		if of == subject.Ours {
			of = ours[target.Workload]
		}
		if !exists[round.Key{Workload: target.Workload, Subject: ours[target.Workload]}] ||
			of != "" && !exists[round.Key{Workload: than, Subject: of}] {
			t.Errorf("a record of target %+v is not measured", target)
		}
	}
}

// A runner without a base program, Java and PostgreSQL can run all other subjects.
func TestRunnerCan(t *testing.T) {
	var runner round.Runner
	var missing []string
	for _, s := range subject.All() {
		if !runner.Can(s) && s.Missing == nil { // what others need may be there, or not
			missing = append(missing, s.ID)
		}
	}
	if want := []string{"base", "jdk", "executor-postgres", "base-postgres", "base-sqlite", "river"}; !slices.Equal(missing, want) {
		t.Errorf("cannot run %q, want %q", missing, want)
	}
}
