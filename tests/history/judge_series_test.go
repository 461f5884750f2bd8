package history

import (
	"testing"

	"github.com/executor-go/executor"
)

// Judge finds a series whose runs are due at the wrong time, or continue after its end.
func TestJudgeFindsWrongSeries(t *testing.T) {
	requireFound(t, []fault{
		{"rate off the grid", timedHistory, func(h *History) { h.Tasks[3].Runs[1].Due = 93 },
			"due 51 ns after the previous one; the period is 50"},
		{"rate skips a time", timedHistory, func(h *History) {
			h.Tasks[3].Runs[2].Due, h.Tasks[3].Runs[1].Due = 144, 44
		}, "due 100 ns after"},
		{"skips a time that has not passed", timedHistory, func(h *History) {
			h.Tasks[3].CatchUp0 = true
			h.Tasks[3].Runs[2].Due, h.Tasks[3].Runs[2].Begin = 192, 142
		}, "skipped a time that had not passed"},
		{"delay too short", timedHistory, func(h *History) { h.Tasks[4].Runs[1].Due = 83 }, "due 19 ns after the end"},
		{"trigger off the grid", timedHistory, func(h *History) { h.Tasks[5].Runs[1].Due = 511 }, "the grid is 10"},
		{"too many runs", timedHistory, func(h *History) { h.Tasks[4].MaxRuns = 1 }, "ran 2 times, the limit is 1"},
		{"too few runs", timedHistory, func(h *History) { h.Tasks[4].MaxRuns = 3 }, "succeeded after 2 runs of 3"},
		{"a run after a panic", timedHistory, func(h *History) { h.Tasks[3].Runs[0].Ending = Panics },
			"run 1 panics, and another followed"},
		{"runs after Abandon", timedHistory, func(h *History) {
			h.Events = append(h.Events, Event{Kind: Abandon, Task: 3, From: 49, To: 50, OK: true})
		}, "started 2 runs after it was canceled"},
		{"canceled by Shutdown", timedHistory, func(h *History) {
			h.Tasks[3].State, h.Tasks[3].Outcome = executor.Canceled, errShutdown
		}, "was canceled by Shutdown, which must keep it"},
	})
}
