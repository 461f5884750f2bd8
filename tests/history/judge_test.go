package history

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/executor-go/executor"
)

// plainDay is a history of a pool of one worker, with all hooks, in which all is
// well.
func plainDay() *History {
	canceled := func(cause error) error { return &executor.CanceledError{Cause: cause} }
	ran := func(begin, end int64, w Way) []Run {
		return []Run{{
			Begin: begin, End: end, Way: w, Number: 1,
			Hooked: true, Before: begin - 1, After: end + 1, AfterAgrees: true,
		}}
	}
	return &History{
		World: World{Hooked: true, Orderly: true},
		Tasks: []*Task{
			{ID: 0, Form: Plain, Runs: ran(30, 40, Well)},
			{ID: 1, Form: Bound, Runs: ran(50, 60, Well), State: executor.Succeeded, Value: 2},
			{ID: 2, Form: Bound, State: executor.Canceled, Outcome: canceled(executor.ErrCanceled)},
			{ID: 3, Form: Bound, State: executor.Canceled, Outcome: canceled(executor.ErrShutdown)},
			{ID: 4, Form: Plain},
			{ID: 5, Form: Bound, Way: Sour, Runs: ran(66, 68, Sour), State: executor.Failed, Outcome: errSour},
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
			{Kind: GiveBack, Task: 3, From: 101, To: 101},
			{Kind: GiveBack, Task: 6, From: 102, To: 102},
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
		Tape:       []int{0, 1, 5},
	}
}

// timedDay is a history of a scheduled pool of one worker in which all is well.
func timedDay() *History {
	h := &History{
		World: World{Scheduled: true, Orderly: true},
		Tasks: []*Task{
			{Form: Later, Wait: 100, State: executor.Succeeded, Value: 1, Runs: []Run{{Begin: 116, End: 118, Due: 115}}},
			{Form: OnDay, Date: 1000, State: executor.Succeeded, Value: 2, Runs: []Run{{Begin: 130, End: 132, Wall: 1000, Due: 1000}}},
			{Form: OnDay, Date: 1000, State: executor.Succeeded, Value: 3, Runs: []Run{{Begin: 140, End: 142, Wall: 1010, Due: 1000}}},
			{Form: Rate, Every: 50, Times: 3, State: executor.Succeeded, Runs: []Run{
				{Begin: 43, End: 48, Due: 42}, {Begin: 93, End: 98, Due: 92, Seen: 1}, {Begin: 145, End: 150, Due: 142, Seen: 2}}},
			{Form: Delay, Every: 20, Times: 2, Wait: 10, State: executor.Succeeded, Runs: []Run{
				{Begin: 62, End: 64, Due: 62}, {Begin: 85, End: 86, Due: 84, Seen: 1}}},
			{Form: Trig, Every: 10, Times: 2, State: executor.Succeeded, Runs: []Run{
				{Begin: 70, End: 71, Wall: 501, Due: 500}, {Begin: 80, End: 81, Wall: 511, Due: 510, Seen: 1}}},
			{Form: Later, Wait: 55, State: executor.Succeeded, Value: 7, Runs: []Run{{Begin: 120, End: 121, Due: 117}}},
		},
		Final: executor.Stats{Stage: executor.StageTerminated, Largest: 1, Submitted: 7, Succeeded: 7, Runs: 11},
		Tape:  []int{3, 4, 5, 5, 4, 3, 0, 6, 1, 2, 3},
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

// What can be seen of a pool that keeps its promises is not complained of.
func TestJudgeAcceptsRightHistories(t *testing.T) {
	for name, h := range map[string]*History{"plain": plainDay(), "timed": timedDay()} {
		if wrong := Judge(h); len(wrong) > 0 {
			t.Errorf("%s: %s", name, strings.Join(wrong, "\n"))
		}
	}
}

// at finds the event of that kind and task.
func (h *History) at(k Kind, task int) *Event {
	return &h.Events[slices.IndexFunc(h.Events, func(e Event) bool { return e.Kind == k && e.Task == task })]
}

// again runs the task a second time.
func (h *History) again(task int) {
	r := h.Tasks[task].Runs
	next := r[len(r)-1]
	next.Seen = len(r)
	h.Tasks[task].Runs = append(r, next)
}

// Each way in which a pool can break a promise is found.
func TestJudgeFindsWrongHistories(t *testing.T) {
	own := errors.New("own")
	rejected := &executor.RejectedError{Reason: executor.ErrSaturated}
	shut := &executor.CanceledError{Cause: executor.ErrShutdown}
	run := Run{Begin: 62, End: 63, Number: 1, Hooked: true, Before: 61, After: 64, AfterAgrees: true}
	for name, c := range map[string]struct {
		day   func() *History
		harm  func(h *History)
		found string
	}{
		"runs twice":                  {plainDay, func(h *History) { h.again(0) }, "task 0 (plain, to end well): ran 2 times"},
		"rejected and ran":            {plainDay, func(h *History) { h.at(Submit, 0).Err = rejected }, "was rejected (executor: task rejected: saturated) and ran"},
		"rejected and given back":     {plainDay, func(h *History) { h.at(Submit, 6).Err = rejected }, "and given back"},
		"rejected for no reason":      {plainDay, func(h *History) { h.at(Submit, 4).Err = own }, "was rejected with own"},
		"lost":                        {plainDay, func(h *History) { h.at(GiveBack, 6).Task = 3 }, "task 6 (plain, to end well): was accepted, and got lost"},
		"given back twice":            {plainDay, func(h *History) { h.at(GiveBack, 6).Task = 3 }, "task 3 (bound, to end well): was given back 2 times"},
		"given back and ran":          {plainDay, func(h *History) { h.at(GiveBack, 6).Task = 0 }, "ran 1 times, was given back 1 times"},
		"given back, future, ran":     {plainDay, func(h *History) { h.Tasks[3].Runs = []Run{run} }, "task 3 (bound, to end well): was given back and ran"},
		"removed and ran":             {plainDay, func(h *History) { e := h.at(Cancel, 1); e.Kind, e.OK = Remove, true }, "was removed from the queue, ran 1 times"},
		"accepted after the shutdown": {plainDay, func(h *History) { h.at(Submit, 0).From = 105 }, "though it was submitted after the shutdown"},
		"ran before submission":       {plainDay, func(h *History) { h.at(Submit, 0).From = 35 }, "began before it was submitted"},
		"does not see its runs":       {timedDay, func(h *History) { h.Tasks[3].Runs[1].Seen = 0 }, "run 2 saw 0 runs before it"},
		"overlaps itself":             {timedDay, func(h *History) { h.Tasks[3].Runs[0].End = 94 }, "run 2 overlaps the one before"},
		"early":                       {timedDay, func(h *History) { h.Tasks[0].Runs[0].Begin = 114 }, "began 1 ns before it was due"},
		"early by the wall clock":     {timedDay, func(h *History) { h.Tasks[1].Runs[0].Wall = 999 }, "began 1 ns before it was due"},
		"wrong due":                   {timedDay, func(h *History) { h.Tasks[0].Runs[0].Due = 116 }, "was due at 116; it was submitted between 10 and 15"},
		"wrong date":                  {timedDay, func(h *History) { h.Tasks[1].Runs[0].Due = 999 }, "was due at 999, not at 1000"},
		"off the grid":                {timedDay, func(h *History) { h.Tasks[3].Runs[1].Due = 93 }, "due 51 ns after the one before; the period is 50"},
		"a beat left out":             {timedDay, func(h *History) { h.Tasks[3].Runs[2].Due = 144; h.Tasks[3].Runs[1].Due = 44 }, "due 100 ns after"},
		"skips what has not passed":   {timedDay, func(h *History) { h.Tasks[3].Skip = true; h.Tasks[3].Runs[2].Due = 192; h.Tasks[3].Runs[2].Begin = 142 }, "left out a time that had not passed"},
		"delay too short":             {timedDay, func(h *History) { h.Tasks[4].Runs[1].Due = 83 }, "due 19 ns after the end"},
		"trigger off the grid":        {timedDay, func(h *History) { h.Tasks[5].Runs[1].Due = 511 }, "the grid is 10"},
		"too many runs":               {timedDay, func(h *History) { h.Tasks[4].Times = 1 }, "1 was the limit"},
		"too few runs":                {timedDay, func(h *History) { h.Tasks[4].Times = 3 }, "ended in peace after 2 runs of 3"},
		"a run after a panic":         {timedDay, func(h *History) { h.Tasks[3].Runs[0].Way = Loud }, "run 1 ended loud, and another followed"},
		"runs after cancel": {timedDay, func(h *History) {
			h.Events = append(h.Events, Event{Kind: Abandon, Task: 3, From: 49, To: 50, OK: true})
		}, "began 2 runs after it was canceled"},
		"series dropped":       {timedDay, func(h *History) { h.Tasks[3].State, h.Tasks[3].Outcome = executor.Canceled, shut }, "orderly shutdown that was to keep it"},
		"delayed task dropped": {timedDay, func(h *History) { h.Tasks[0].Runs, h.Tasks[0].State, h.Tasks[0].Outcome = nil, executor.Canceled, shut }, "was dropped by an orderly shutdown"},
		"tie in the wrong order": {timedDay, func(h *History) {
			a, b := h.Tasks[1], h.Tasks[2]
			a.Runs, b.Runs = b.Runs, a.Runs
			h.Tape[8], h.Tape[9] = 2, 1
		}, "task 2 (on day, to end well): overtook task 1, which came before it"},
		"later due first": {timedDay, func(h *History) {
			a, b := h.Tasks[0], h.Tasks[6]
			a.Wait, a.Runs[0].Due, b.Wait, b.Runs[0].Due = 106, 118, 54, 115
			a.Runs[0].Begin = 119
		}, "overtook task 6, which was due before it"},
		"arrival in the wrong order": {plainDay, func(h *History) {
			h.Tape = []int{1, 0, 5}
			a, b := h.Tasks[0], h.Tasks[1]
			a.Runs, b.Runs = b.Runs, a.Runs
		}, "task 1 (bound, to end well): overtook task 0"},
		"two at a time":               {plainDay, func(h *History) { h.Tasks[1].Runs[0].Begin = 39 }, "ran while another did"},
		"a run behind its back":       {plainDay, func(h *History) { h.Tape = []int{0, 1} }, "0 of them on the only worker"},
		"two workers":                 {plainDay, func(h *History) { h.Samples[0][1].Workers, h.Samples[0][1].Idle, h.Samples[0][1].Largest = 2, 1, 2 }, "a pool of one worker has 2"},
		"pending for ever":            {plainDay, func(h *History) { h.Tasks[2].State = executor.Pending }, "is pending for ever"},
		"succeeded without a run":     {plainDay, func(h *History) { h.Tasks[1].Runs = nil }, "succeeded with 2; its body ran 0 times"},
		"wrong value":                 {plainDay, func(h *History) { h.Tasks[1].Value = 3 }, "succeeded with 3"},
		"succeeded though it failed":  {plainDay, func(h *History) { h.Tasks[1].Runs[0].Way = Loud }, "at last it ended loud"},
		"wrong error":                 {plainDay, func(h *History) { h.Tasks[5].Outcome = own }, "failed with own"},
		"failed without a run":        {plainDay, func(h *History) { h.Tasks[5].Runs = nil }, "its body ran 0 times"},
		"rejected in silence":         {plainDay, func(h *History) { h.Tasks[5].Runs, h.Tasks[5].Outcome = nil, rejected }, "was rejected: executor: task rejected: saturated, after 0 runs"},
		"canceled with another error": {plainDay, func(h *History) { h.Tasks[2].Outcome = own }, "is canceled with own"},
		"canceled by nobody":          {plainDay, func(h *History) { h.at(Cancel, 2).OK = false }, "nobody canceled it"},
		"canceled by two":             {plainDay, func(h *History) { h.Events = append(h.Events, *h.at(Cancel, 2)) }, "was canceled 2 times"},
		"canceled in vain":            {plainDay, func(h *History) { h.at(Cancel, 1).OK = true }, "was canceled, and then succeeded"},
		"given back and not canceled": {plainDay, func(h *History) { h.Tasks[3].Outcome = &executor.CanceledError{Cause: executor.ErrCanceled} }, "was given back, and then canceled"},
		"shut down and kept":          {plainDay, func(h *History) { h.at(GiveBack, 3).Task = 6 }, "task 3 (bound, to end well): was ended by a shutdown and not given back"},
		"ended by another's context":  {plainDay, func(h *History) { h.Tasks[1].Runs[0].EndedLater = true }, "nobody ended it"},
		"context goes on after Cancel": {timedDay, func(h *History) {
			h.Tasks[0].Runs[0].Asked = 117
			h.Events = append(h.Events, Event{Kind: Cancel, Task: 0, From: 100, To: 101, OK: true})
		}, "went on after Cancel"},
		"context survives ShutdownNow": {plainDay, func(h *History) { h.Tasks[0].Runs[0].Asked = 101 }, "went on after Cancel or ShutdownNow"},
		"Join fails":                   {plainDay, func(h *History) { h.at(Join, 5).Err = own }, "Join: own"},
		"two outcomes":                 {plainDay, func(h *History) { h.at(Get, 1).Value = 0 }, "somebody got 0"},
		"outcome before the end":       {plainDay, func(h *History) { h.at(Get, 1).To = 55 }, "before the body had returned"},
		"Join before the end":          {plainDay, func(h *History) { h.at(Join, 5).To = 67 }, "Join returned before run 1 had"},
		"no BeforeTask":                {plainDay, func(h *History) { h.Tasks[0].Runs[0].Hooked = false }, "had no BeforeTask"},
		"no AfterTask":                 {plainDay, func(h *History) { h.Tasks[0].Runs[0].After = 0 }, "AfterTask at 0"},
		"AfterTask too early":          {plainDay, func(h *History) { h.Tasks[0].Runs[0].After = 39 }, "AfterTask at 39"},
		"AfterTask with another error": {plainDay, func(h *History) { h.Tasks[0].Runs[0].AfterAgrees = false }, "got another error than the body returned"},
		"wrong number":                 {plainDay, func(h *History) { h.Tasks[0].Runs[0].Number = 2 }, "run 1 had the number 2"},
		"does not add up":              {plainDay, func(h *History) { h.Samples[0][0].Submitted = 2 }, "does not add up"},
		"goes back":                    {plainDay, func(h *History) { slices.Reverse(h.Samples[0]) }, "a counter went back"},
		"forgets a body":               {plainDay, func(h *History) { h.Final.Runs = 2 }, "3 bodies ran, of which the pool knows 2"},
		"forgets a task":               {plainDay, func(h *History) { h.Final.Submitted, h.Final.Canceled = 6, 2 }, "7 tasks were submitted, of which the pool knows 6"},
		"miscounts":                    {plainDay, func(h *History) { h.Final.Succeeded, h.Final.Failed = 1, 2 }, "2 tasks succeeded and 1 failed; the pool says 1 and 2"},
		"miscounts the canceled":       {plainDay, func(h *History) { h.Final.Canceled, h.Final.Rejected = 4, 0 }, "the pool says 4"},
		"never terminates":             {plainDay, func(h *History) { h.at(Await, -1).Err = own }, "did not terminate"},
		"leaves workers":               {plainDay, func(h *History) { h.Final.Workers, h.Final.Idle = 1, 1 }, "is not empty"},
		"Terminated twice":             {plainDay, func(h *History) { h.Terminated = []int64{120, 121} }, "was called 2 times"},
		"Terminated never":             {plainDay, func(h *History) { h.Terminated = nil }, "was called 0 times"},
		"Terminated too late":          {plainDay, func(h *History) { h.Terminated[0] = 151 }, "before Hooks.Terminated was called"},
		"Terminated too early":         {plainDay, func(h *History) { h.Terminated[0] = 60 }, "ran on after Hooks.Terminated"},
		"terminated too early":         {plainDay, func(h *History) { h.at(Await, -1).To = 67 }, "went on after the pool had terminated"},
	} {
		h := c.day()
		c.harm(h)
		if wrong := strings.Join(Judge(h), "\n"); !strings.Contains(wrong, c.found) {
			t.Errorf("%s: want %q, found\n%s", name, c.found, wrong)
		}
	}
}
