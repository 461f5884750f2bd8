package history

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/executor-go/executor"
)

// plainHistory returns a correct history of a pool with one worker and all hooks.
func plainHistory() *History {
	canceled := func(cause error) error { return &executor.CanceledError{Cause: cause} }
	ran := func(begin, end int64, w Ending) []Run {
		return []Run{{
			Begin: begin, End: end, Ending: w, Number: 1,
			Hooked: true, Before: begin - 1, After: end + 1, AfterMatches: true,
		}}
	}
	return &History{
		World: World{Hooked: true, OneWorker: true},
		Tasks: []*Task{
			{ID: 0, Form: Plain, Runs: ran(30, 40, Returns)},
			{ID: 1, Form: NewTask, Runs: ran(50, 60, Returns), State: executor.Succeeded, Value: 2},
			{ID: 2, Form: NewTask, State: executor.Canceled, Outcome: canceled(executor.ErrCanceled)},
			{ID: 3, Form: NewTask, State: executor.Canceled, Outcome: canceled(executor.ErrShutdown)},
			{ID: 4, Form: Plain},
			{ID: 5, Form: NewTask, Ending: Fails, Runs: ran(66, 68, Fails), State: executor.Failed, Outcome: errBody},
			{ID: 6, Form: Plain},
		},
		Events: []Event{
			{Kind: Submit, Task: 0, From: 10, To: 20},
			{Kind: Submit, Task: 1, From: 21, To: 22},
			{Kind: Submit, Task: 2, From: 13, To: 23},
			{Kind: Submit, Task: 5, From: 24, To: 25},
			{Kind: Submit, Task: 3, From: 70, To: 75},
			{Kind: Submit, Task: 6, From: 71, To: 76},
			{Kind: Submit, Task: 4, From: 130, To: 140, Err: &executor.RejectedError{Reason: executor.ErrShutdown}},
			{Kind: Cancel, Task: 2, From: 24, To: 26, OK: true},
			{Kind: Cancel, Task: 1, From: 61, To: 62},
			{Kind: Get, Task: 1, From: 27, To: 65, Value: 2},
			{Kind: Join, Task: 5, From: 27, To: 70},
			{Kind: ShutdownNow, Task: -1, From: 80, To: 100},
			{Kind: Returned, Task: 3, From: 101, To: 101},
			{Kind: Returned, Task: 6, From: 102, To: 102},
			{Kind: Await, Task: -1, From: 5, To: 150},
		},
		Samples: [][]executor.Stats{{
			{Submitted: 1, Active: 1, Workers: 1, Largest: 1},
			{Submitted: 2, Active: 1, Queued: 1, Workers: 1, Largest: 1},
		}},
		Final: executor.Stats{
			Stage: executor.StageTerminated, Largest: 1,
			Submitted: 7, Succeeded: 2, Failed: 1, Canceled: 3, Rejected: 1, Runs: 3,
		},
		Terminated: []int64{120},
		Order:      []int{0, 1, 5},
	}
}

// timedHistory returns a correct history of a scheduled pool with one worker.
func timedHistory() *History {
	h := &History{
		World: World{Scheduled: true, OneWorker: true},
		Tasks: []*Task{
			{Form: Schedule, Delay: 100, State: executor.Succeeded, Value: 1,
				Runs: []Run{{Begin: 116, End: 118, Due: 115}}},
			{Form: At, Date: 1000, State: executor.Succeeded, Value: 2,
				Runs: []Run{{Begin: 130, End: 132, Wall: 1000, Due: 1000}}},
			{Form: At, Date: 1000, State: executor.Succeeded, Value: 3,
				Runs: []Run{{Begin: 140, End: 142, Wall: 1010, Due: 1000}}},
			{Form: FixedRate, Period: 50, MaxRuns: 3, State: executor.Succeeded, Runs: []Run{
				{Begin: 43, End: 48, Due: 42}, {Begin: 93, End: 98, Due: 92, EarlierRuns: 1},
				{Begin: 145, End: 150, Due: 142, EarlierRuns: 2}}},
			{Form: FixedDelay, Period: 20, MaxRuns: 2, Delay: 10, State: executor.Succeeded, Runs: []Run{
				{Begin: 62, End: 64, Due: 62}, {Begin: 85, End: 86, Due: 84, EarlierRuns: 1}}},
			{Form: Trigger, Period: 10, MaxRuns: 2, State: executor.Succeeded, Runs: []Run{
				{Begin: 70, End: 71, Wall: 501, Due: 500}, {Begin: 80, End: 81, Wall: 511, Due: 510, EarlierRuns: 1}}},
			{Form: Schedule, Delay: 55, State: executor.Succeeded, Value: 7,
				Runs: []Run{{Begin: 120, End: 121, Due: 117}}},
		},
		Final: executor.Stats{Stage: executor.StageTerminated, Largest: 1, Submitted: 7, Succeeded: 7, Runs: 11},
		Order: []int{3, 4, 5, 5, 4, 3, 0, 6, 1, 2, 3},
	}
	from := []int64{10, 20, 30, 40, 50, 52, 60}
	for i, t := range h.Tasks {
		t.ID = i
		h.Events = append(h.Events, Event{Kind: Submit, Task: i, From: from[i], To: from[i] + 5})
	}
	h.Events = append(h.Events,
		Event{Kind: Shutdown, Task: -1, From: 200, To: 210},
		Event{Kind: Await, Task: -1, From: 5, To: 300})
	return h
}

// Judge finds nothing in a correct history.
func TestJudgeAcceptsCorrectHistories(t *testing.T) {
	for name, h := range map[string]*History{"plain": plainHistory(), "timed": timedHistory()} {
		if wrong := Judge(h); len(wrong) > 0 {
			t.Errorf("%s: %s", name, strings.Join(wrong, "\n"))
		}
	}
}

// at returns the event of this kind and task.
func (h *History) at(k Kind, task int) *Event {
	return &h.Events[slices.IndexFunc(h.Events, func(e Event) bool { return e.Kind == k && e.Task == task })]
}

// again repeats the last run of a task.
func (h *History) again(task int) {
	r := h.Tasks[task].Runs
	next := r[len(r)-1]
	next.EarlierRuns = len(r)
	h.Tasks[task].Runs = append(r, next)
}

// A fault is an incorrect history.
type fault struct {
	name  string
	base  func() *History  // a correct history
	plant func(h *History) // makes it incorrect
	found string           // part of what Judge returns
}

// requireFound requires that Judge finds each of the faults.
func requireFound(t *testing.T, faults []fault) {
	t.Helper()
	for _, f := range faults {
		h := f.base()
		f.plant(h)
		if got := strings.Join(Judge(h), "\n"); !strings.Contains(got, f.found) {
			t.Errorf("%s: Judge returns\n%s\nwant %q", f.name, got, f.found)
		}
	}
}

var (
	errOwn      = errors.New("own")
	errRejected = &executor.RejectedError{Reason: executor.ErrSaturated}
	errShutdown = &executor.CanceledError{Cause: executor.ErrShutdown}
)

// Judge finds a submission that is lost, rejected and not, or more than it should be.
func TestJudgeFindsWrongAdmission(t *testing.T) {
	requireFound(t, []fault{
		{"rejected and ran", plainHistory, func(h *History) { h.at(Submit, 0).Err = errRejected },
			"was rejected (executor: task rejected: saturated) and ran"},
		{"rejected and returned", plainHistory, func(h *History) { h.at(Submit, 6).Err = errRejected }, "and returned"},
		{"rejected with another error", plainHistory, func(h *History) { h.at(Submit, 4).Err = errOwn },
			"was rejected with own"},
		{"lost", plainHistory, func(h *History) { h.at(Returned, 6).Task = 3 },
			"task 6 (plain, returns): was accepted and lost"},
		{"returned twice", plainHistory, func(h *History) { h.at(Returned, 6).Task = 3 },
			"task 3 (future, returns): was returned 2 times"},
		{"returned and ran", plainHistory, func(h *History) { h.at(Returned, 6).Task = 0 },
			"ran 1 times, was returned 1 times"},
		{"canceled twice", plainHistory, func(h *History) { h.Events = append(h.Events, *h.at(Cancel, 2)) },
			"was canceled 2 times"},
		{"accepted after the shutdown", plainHistory, func(h *History) { h.at(Submit, 0).From = 105 },
			"ran, but was submitted after the shutdown"},
	})
}

// Judge finds a run that is repeated, early, or overlaps another.
func TestJudgeFindsWrongRuns(t *testing.T) {
	requireFound(t, []fault{
		{"runs twice", plainHistory, func(h *History) { h.again(0) }, "task 0 (plain, returns): ran 2 times"},
		{"runs before the submission", plainHistory, func(h *History) { h.at(Submit, 0).From = 35 },
			"started before the submission"},
		{"does not see earlier runs", timedHistory, func(h *History) { h.Tasks[3].Runs[1].EarlierRuns = 0 },
			"run 2 saw 0 earlier runs"},
		{"overlaps itself", timedHistory, func(h *History) { h.Tasks[3].Runs[0].End = 94 },
			"run 2 overlaps the previous one"},
		{"early", timedHistory, func(h *History) { h.Tasks[0].Runs[0].Begin = 114 }, "started 1 ns before it was due"},
		{"early on the wall clock", timedHistory, func(h *History) { h.Tasks[1].Runs[0].Wall = 999 },
			"started 1 ns before it was due"},
		{"wrong due time", timedHistory, func(h *History) { h.Tasks[0].Runs[0].Due = 116 },
			"was due at 116; it was submitted between 10 and 15"},
		{"wrong date", timedHistory, func(h *History) { h.Tasks[1].Runs[0].Due = 999 }, "was due at 999, want 1000"},
		{"ends after the termination", plainHistory, func(h *History) { h.at(Await, -1).To = 67 },
			"ended after the termination of the pool"},
	})
}

// Judge finds a hook that is not called, early, or has another number or outcome.
func TestJudgeFindsWrongHooks(t *testing.T) {
	run := func(h *History) *Run { return &h.Tasks[0].Runs[0] }
	requireFound(t, []fault{
		{"no BeforeTask", plainHistory, func(h *History) { run(h).Hooked = false }, "had no BeforeTask"},
		{"no AfterTask", plainHistory, func(h *History) { run(h).After = 0 }, "AfterTask at 0"},
		{"early AfterTask", plainHistory, func(h *History) { run(h).After = 39 }, "AfterTask at 39"},
		{"AfterTask with another outcome", plainHistory, func(h *History) { run(h).AfterMatches = false },
			"AfterTask of run 1 got another outcome"},
		{"wrong number", plainHistory, func(h *History) { run(h).Number = 2 }, "run 1 had the number 2"},
	})
}

// Judge finds a context that ends without a call, or does not end after one.
func TestJudgeFindsWrongContexts(t *testing.T) {
	requireFound(t, []fault{
		{"ends without a call", plainHistory, func(h *History) { h.Tasks[1].Runs[0].EndedAtCheck = true },
			"no call ended it"},
		{"survives Cancel", timedHistory, func(h *History) {
			h.Tasks[0].Runs[0].CheckedAt = 117
			h.Events = append(h.Events, Event{Kind: Cancel, Task: 0, From: 100, To: 101, OK: true})
		}, "the context of run 1 did not end after Cancel"},
		{"survives ShutdownNow", plainHistory, func(h *History) { h.Tasks[0].Runs[0].CheckedAt = 101 },
			"did not end after Cancel or ShutdownNow"},
	})
}
