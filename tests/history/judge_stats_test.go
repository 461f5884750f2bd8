package history

import (
	"slices"
	"testing"
)

// Judge finds counters that do not add up, decrease, or do not match the tasks.
func TestJudgeFindsWrongCounters(t *testing.T) {
	requireFound(t, []fault{
		{"does not add up", plainHistory, func(h *History) { h.Samples[0][0].Submitted = 2 }, "does not add up"},
		{"decreases", plainHistory, func(h *History) { slices.Reverse(h.Samples[0]) }, "a counter decreased"},
		{"two workers", plainHistory, func(h *History) {
			s := &h.Samples[0][1]
			s.Workers, s.Idle, s.Largest = 2, 1, 2
		}, "a pool of one worker has 2"},
		{"misses a run", plainHistory, func(h *History) { h.Final.Runs = 2 }, "3 bodies ran; the pool counts 2"},
		{"misses a task", plainHistory, func(h *History) { h.Final.Submitted, h.Final.Canceled = 6, 2 },
			"7 tasks were submitted; the pool counts 6"},
		{"wrong outcomes", plainHistory, func(h *History) { h.Final.Succeeded, h.Final.Failed = 1, 2 },
			"2 tasks succeeded and 1 failed; the pool counts 1 and 2"},
		{"wrong cancellations", plainHistory, func(h *History) { h.Final.Canceled, h.Final.Rejected = 4, 0 },
			"the pool counts 4 canceled"},
	})
}
