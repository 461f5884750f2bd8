package workload_test

import (
	"slices"
	"testing"

	"github.com/executor-go/executor/bench/workload"
)

// All outputs have different ids, and the names that the documentation uses exist.
func TestWorkloadIDsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range workload.All() {
		for _, o := range w.Outputs {
			if seen[o.ID] {
				t.Errorf("two outputs have the id %s", o.ID)
			}
			seen[o.ID] = true
		}
	}
	for _, id := range []string{
		"execute/2", "execute/8", "submit-batch", "submit-pingpong", "schedule-zero", "schedule-random",
		"schedule-cancel", "schedule-cancel-contended", "cancel-random", "pending-bytes",
		"lateness-idle-p50", "lateness-idle-p99", "lateness-busy-p99",
		"schedule-cancel/10m", "pending-bytes/1k", "fire/100k", "execute/16", "execute-submitters/4",
		"durable-throughput", "durable-insert", "durable-lateness-local-p50", "durable-lateness-local-p99",
		"durable-add-p50", "durable-idle-cpu", "durable-idle-rss", "durable-idle-statements",
		"growth-insert/1k", "growth-claim/1m", "growth-settle/1m", "growth-look/1k",
		"steps-claim/1k", "steps-confirm/100k", "steps-settle/100k", "steps-all/100k", "waiting-bytes/100k",
	} {
		if !seen[id] {
			t.Errorf("%s is missing", id)
		}
	}
}

// Each point of the chart of everyday work is an output of a workload, in order of its size.
func TestLinesHaveOutputs(t *testing.T) {
	var all []string
	for _, w := range workload.All() {
		for _, o := range w.Outputs {
			all = append(all, o.ID)
		}
	}
	for _, l := range workload.Lines {
		if !slices.IsSorted(l.Sizes) {
			t.Errorf("%s: the sizes are %v", l.ID, l.Sizes)
		}
		for _, id := range l.IDs() {
			if !slices.Contains(all, id) {
				t.Errorf("%s: no workload has the output %s", l.ID, id)
			}
		}
	}
}

// A run that did less than its work, or more, is an error.
func TestResultCheck(t *testing.T) {
	values := map[string]float64{"ns": 1}
	if err := (workload.Result{Values: values, Ran: 5, Want: 5}).Check(); err != nil {
		t.Error(err)
	}
	for _, bad := range []workload.Result{
		{Values: values, Ran: 4, Want: 5},
		{Values: values, Ran: 6, Want: 5},
		{Values: values, Unfit: "too late"},
		{},
	} {
		if bad.Check() == nil {
			t.Errorf("Check of %+v: no error", bad)
		}
	}
}

// Numbers are short in ids, and have commas in text.
func TestShortAndGrouped(t *testing.T) {
	for n, want := range map[int][2]string{
		7: {"7", "7"}, 999: {"999", "999"}, 1000: {"1k", "1,000"}, 1500: {"1500", "1,500"},
		100_000: {"100k", "100,000"}, 10_000_000: {"10m", "10,000,000"},
	} {
		if short, grouped := workload.Short(n), workload.Grouped(n); short != want[0] || grouped != want[1] {
			t.Errorf("%d is %s and %s, want %s and %s", n, short, grouped, want[0], want[1])
		}
	}
}
