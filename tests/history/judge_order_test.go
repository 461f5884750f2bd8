package history

import "testing"

// Judge finds tasks that run in the wrong order, or at the same time, on one worker.
func TestJudgeFindsWrongOrder(t *testing.T) {
	requireFound(t, []fault{
		{"equal due times", timedHistory, func(h *History) {
			a, b := h.Tasks[1], h.Tasks[2]
			a.Runs, b.Runs = b.Runs, a.Runs
			h.Order[8], h.Order[9] = 2, 1
		}, "task 2 (at, returns): ran before task 1, which arrived earlier"},
		{"later due time first", timedHistory, func(h *History) {
			a, b := h.Tasks[0], h.Tasks[6]
			a.Delay, a.Runs[0].Due, b.Delay, b.Runs[0].Due = 106, 118, 54, 115
			a.Runs[0].Begin = 119
		}, "ran before task 6, which was due earlier"},
		{"later arrival first", plainHistory, func(h *History) {
			h.Order = []int{1, 0, 5}
			a, b := h.Tasks[0], h.Tasks[1]
			a.Runs, b.Runs = b.Runs, a.Runs
		}, "task 1 (future, returns): ran before task 0"},
		{"two at a time", plainHistory, func(h *History) { h.Tasks[1].Runs[0].Begin = 39 },
			"ran at the same time as another task"},
		{"a run elsewhere", plainHistory, func(h *History) { h.Order = []int{0, 1} }, "0 of them on the only worker"},
	})
}

// Judge finds a pool that does not terminate, and a wrong call of Hooks.Terminated.
func TestJudgeFindsWrongTermination(t *testing.T) {
	requireFound(t, []fault{
		{"no termination", plainHistory, func(h *History) { h.at(Await, -1).Err = errOwn }, "did not terminate"},
		{"workers left over", plainHistory, func(h *History) { h.Final.Workers, h.Final.Idle = 1, 1 }, "is not empty"},
		{"Terminated twice", plainHistory, func(h *History) { h.Terminated = []int64{120, 121} }, "was called 2 times"},
		{"Terminated never", plainHistory, func(h *History) { h.Terminated = nil }, "was called 0 times"},
		{"Terminated too late", plainHistory, func(h *History) { h.Terminated[0] = 151 },
			"before Hooks.Terminated was called"},
		{"Terminated too early", plainHistory, func(h *History) { h.Terminated[0] = 60 },
			"ended after Hooks.Terminated"},
	})
}
