package round_test

import (
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

// Every round has every cell once, in an order of its own that the seed
// decides.
func TestShuffled(t *testing.T) {
	cells := round.Cells(false, all)
	first, again, second := names(round.Shuffled(cells, 1, 0)), names(round.Shuffled(cells, 1, 0)), names(round.Shuffled(cells, 1, 1))
	if !slices.Equal(first, again) {
		t.Error("the same seed and round gave two orders")
	}
	if slices.Equal(first, second) {
		t.Error("two rounds have the same order")
	}
	want := slices.Sorted(slices.Values(names(cells)))
	if got := slices.Sorted(slices.Values(second)); !slices.Equal(got, want) {
		t.Error("a round has other cells than there are")
	}
	if len(slices.Compact(want)) != len(cells) {
		t.Error("two cells have the same name, by which a child is told what to do")
	}
}

// We take part in every workload, and so does somebody else.
func TestOursIsEverywhere(t *testing.T) {
	for _, quick := range []bool{false, true} {
		subjects := map[string][]string{}
		for _, c := range round.Cells(quick, all) {
			subjects[c.Workload.Name] = append(subjects[c.Workload.Name], c.Subject.ID)
		}
		for _, w := range workload.All() {
			if _, ok := w.Size(quick); ok && (!slices.Contains(subjects[w.Name], subject.Reference(w.Kind)) || len(subjects[w.Name]) < 2) {
				t.Errorf("%s, quick %v, runs on %v only", w.Name, quick, subjects[w.Name])
			}
		}
	}
}

// Every target names records that there are.
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
		than := target.Than
		if than == "" {
			than = target.Workload
		}
		if !exists[round.Key{Workload: target.Workload, Subject: ours[target.Workload]}] ||
			target.Subject != "" && !exists[round.Key{Workload: than, Subject: target.Subject}] {
			t.Errorf("%+v compares what is not measured", target)
		}
	}
}

// Where there is neither Java nor PostgreSQL, that which needs them is left out
// and nothing else.
func TestLeavesOutWhatIsMissing(t *testing.T) {
	var runner round.Runner
	var missing []string
	for _, s := range subject.All() {
		if !runner.Can(s) {
			missing = append(missing, s.ID)
		}
	}
	if want := []string{"jdk", "executor-postgres", "river"}; !slices.Equal(missing, want) {
		t.Errorf("%q are left out, want %q", missing, want)
	}
}
