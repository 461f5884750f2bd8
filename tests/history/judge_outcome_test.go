package history

import (
	"context"
	"testing"

	"github.com/executor-go/executor"
)

// Each rule for outcomes finds a history that breaks it.
func TestOutcomeRulesFindTheirFault(t *testing.T) {
	canceledBy := func(cause error) error { return &executor.CanceledError{Cause: cause} }
	run := Run{Begin: 62, End: 63, Number: 1, Hooked: true, Before: 61, After: 64, AfterMatches: true}
	noShutdown := func(h *History) {
		h.at(ShutdownNow, -1).Kind = Await
		h.at(Returned, 3).Task = 6
	}
	faults := map[string][]struct {
		base  func() *History
		plant func(h *History)
	}{
		"done": {{plainHistory, func(h *History) { h.Tasks[2].State = executor.Pending }}},
		"success": {
			{plainHistory, func(h *History) { h.Tasks[1].Runs = nil }},
			{plainHistory, func(h *History) { h.Tasks[1].Value = 3 }},
			{plainHistory, func(h *History) { h.Tasks[1].Runs[0].Ending = Panics }},
			{timedHistory, func(h *History) { h.Tasks[3].Runs[2].Ending = Exits }},
		},
		"failure": {
			{plainHistory, func(h *History) { h.Tasks[5].Outcome = errOwn }},
			{plainHistory, func(h *History) { h.Tasks[5].Runs = nil }},
			{plainHistory, func(h *History) { h.Tasks[5].Runs[0].Ending = Exits }},
		},
		"rejected and ran": {{plainHistory, func(h *History) { h.Tasks[5].Outcome = errRejected }}},
		"accepted and rejected": {{plainHistory, func(h *History) {
			h.Tasks[5].Runs, h.Tasks[5].Outcome = nil, errRejected
		}}},
		"canceled with an error of its own": {{plainHistory, func(h *History) { h.Tasks[2].Outcome = errOwn }}},
		"canceled without a call":           {{plainHistory, func(h *History) { h.at(Cancel, 2).OK = false }}},
		"canceled by a context that does not end": {{plainHistory, func(h *History) {
			h.Tasks[2].Outcome = canceledBy(context.Canceled)
		}}},
		"canceled by a context and ran": {{plainHistory, func(h *History) {
			h.Tasks[1].ContextEnds = true
			h.Tasks[1].State, h.Tasks[1].Outcome = executor.Canceled, canceledBy(context.Canceled)
		}}},
		"canceled by no shutdown":        {{plainHistory, noShutdown}},
		"canceled by a shutdown and ran": {{plainHistory, func(h *History) { h.Tasks[3].Runs = []Run{run} }}},
		"canceled by Shutdown": {{timedHistory, func(h *History) {
			h.Tasks[0].Runs, h.Tasks[0].State, h.Tasks[0].Outcome = nil, executor.Canceled, errShutdown
		}}},
		"canceled by ShutdownNow and not returned": {{plainHistory, func(h *History) { h.at(Returned, 3).Task = 6 }}},
		"Cancel without effect": {
			{plainHistory, func(h *History) { h.at(Cancel, 1).OK = true }},
			{plainHistory, func(h *History) { h.Tasks[2].Outcome = errShutdown }},
		},
		"Remove without effect": {{plainHistory, func(h *History) {
			e := h.at(Cancel, 1)
			e.Kind, e.OK = Remove, true
		}}},
		"removed and ran": {{plainHistory, func(h *History) {
			h.Tasks[2].Runs = []Run{run}
			h.at(Cancel, 2).Kind = Remove
		}}},
		"returned with another outcome": {{plainHistory, func(h *History) {
			h.Tasks[3].Outcome = canceledBy(executor.ErrCanceled)
		}}},
		"returned and ran": {{plainHistory, func(h *History) { h.Tasks[3].Runs = []Run{run} }}},
	}
	for _, r := range outcomeRules {
		if len(faults[r.name]) == 0 {
			t.Errorf("no history breaks the rule %q", r.name)
		}
		for i, f := range faults[r.name] {
			requireFound(t, []fault{{r.name + "/" + string(rune('0'+i)), f.base, f.plant, r.message}})
		}
	}
}

// Judge finds a waiter that returns early, or with another outcome.
func TestJudgeFindsWrongWaits(t *testing.T) {
	requireFound(t, []fault{
		{"Join fails", plainHistory, func(h *History) { h.at(Join, 5).Err = errOwn }, "Join: own"},
		{"two outcomes", plainHistory, func(h *History) { h.at(Get, 1).Value = 0 }, "Get returned 0"},
		{"Get before the end", plainHistory, func(h *History) { h.at(Get, 1).To = 55 }, "Get returned before the body"},
		{"Join before the end", plainHistory, func(h *History) { h.at(Join, 5).To = 67 }, "Join returned before run 1"},
	})
}
