package oracle

import "testing"

// plainPool returns a program of a plain pool that breaks no rule.
func plainPool() *Program {
	return &Program{Workers: 1, Max: 2, Queue: "unbounded", Reject: "abort", Steps: []Step{
		{At: 1, Do: "submit", Task: 0, Args: [3]int{2}, Body: "ok"},
		{At: 2, Do: "stats", Task: 1, Body: "ok"},
		{At: 4, Do: "cancel", Task: 0, Body: "ok"},
	}}
}

// scheduledPool returns a program of a scheduled pool that breaks no rule.
func scheduledPool() *Program {
	return &Program{Scheduled: true, Workers: 2, Queue: "unbounded", Reject: "abort", Steps: []Step{
		{At: 0, Do: "schedule", Task: 0, Args: [3]int{2, 3}, Body: "ok"},
		{At: 0, Do: "rate", Task: 1, Args: [3]int{1, 0, 4}, Body: "ok"},
		{At: 1, Do: "setcore", Task: 2, Args: [3]int{3}, Body: "ok"},
		{At: 2, Do: "remove", Task: 1, Body: "ok"},
	}}
}

// bulkCall returns a program with a bulk call that breaks no rule.
func bulkCall() *Program {
	p := plainPool()
	p.Steps = append(p.Steps, Step{At: 5, Do: "invokeall", Task: 1, Args: [3]int{2, 3, 3}, Body: "ok"})
	return p
}

// then appends a step a tick after the last one.
func then(p *Program, s Step) {
	s.At = p.Steps[len(p.Steps)-1].At + 1
	p.Steps = append(p.Steps, s)
}

// A program without a fault breaks no rule.
func TestRulesAcceptValidPrograms(t *testing.T) {
	for name, p := range map[string]*Program{"plain": plainPool(), "scheduled": scheduledPool(), "bulk": bulkCall()} {
		for _, r := range broken(p) {
			t.Errorf("%s: breaks the rule %q:\n%s", name, r.name, p)
		}
	}
}

// Each rule is broken by a program with the fault that it is for, and by no other fault.
func TestRulesFindTheirFault(t *testing.T) {
	faults := map[string][]struct {
		base  func() *Program
		plant func(p *Program)
	}{
		"kind of pool": {
			{plainPool, func(p *Program) { p.Steps[0].Do = "schedule" }},
			{scheduledPool, func(p *Program) { p.Max = 2 }},
			{scheduledPool, func(p *Program) { p.Queue = "bounded:2" }},
			{scheduledPool, func(p *Program) { p.Steps[2].Do = "setmax" }},
		},
		"priority": {
			{plainPool, func(p *Program) { p.Steps[0].Args[1] = 2 }},
			{plainPool, func(p *Program) { p.Queue, p.Steps[0].Do, p.Steps[0].Args[1] = "prioritized", "execute", 2 }},
		},
		"target": {
			{plainPool, func(p *Program) { p.Steps[2].Task = 1 }},
			{scheduledPool, func(p *Program) { p.Steps[1].Task = 0 }},
		},
		"core timeout": {{plainPool, func(p *Program) { p.CoreToo = true }}},
		"handoff and discardoldest": {
			{plainPool, func(p *Program) { p.Queue, p.Reject = "handoff", "discardoldest" }},
			{plainPool, func(p *Program) {
				p.Queue = "handoff"
				then(p, Step{Do: "setreject", Task: 1, Args: [3]int{3}})
			}},
		},
		"keep-alive of several workers": {
			{plainPool, func(p *Program) { p.Keep = 5 }},
			{scheduledPool, func(p *Program) { p.Keep = 5; p.Steps[2].Do = "stats" }},
		},
		"resize with keep-alive": {
			{plainPool, func(p *Program) {
				p.Max, p.Keep = 1, 5
				then(p, Step{Do: "setmax", Task: 1, Args: [3]int{1}})
			}},
			{scheduledPool, func(p *Program) { p.Workers, p.Keep = 1, 5 }},
		},
		"fewer core workers for periodic tasks": {
			{scheduledPool, func(p *Program) { p.Keep, p.Steps[2].Args[0] = forGood, 1 }},
		},
		"bulk call that is rejected in part": {
			{bulkCall, func(p *Program) { p.Queue = "bounded:2" }},
			{bulkCall, func(p *Program) { p.Reject = "discard" }},
			{bulkCall, func(p *Program) { p.Queue, p.Reject = "prioritized", "callerruns" }},
		},
		"bulk call and setreject": {{bulkCall, func(p *Program) { then(p, Step{Do: "setreject", Task: 2}) }}},
		"bulk call and close":     {{bulkCall, func(p *Program) { p.Steps[0].Body = "close" }}},
		"bulk call and shutdownnow": {
			{bulkCall, func(p *Program) { p.Steps[0].Body = "stop" }},
			{bulkCall, func(p *Program) { then(p, Step{Do: "shutdownnow", Task: 2}) }},
		},
		"steps too close": {
			{plainPool, func(p *Program) { p.Steps[1].At = 1 }},
			{plainPool, func(p *Program) { p.Steps[2].At = 3 }}, // stats takes a tick
			{scheduledPool, func(p *Program) { p.Steps[2].At = 0 }},
			{scheduledPool, func(p *Program) { p.Steps[3].At = 1 }}, // after setcore
		},
	}
	for _, r := range rules {
		if len(faults[r.name]) == 0 {
			t.Errorf("no program breaks the rule %q", r.name)
		}
		for i, f := range faults[r.name] {
			p := f.base()
			f.plant(p)
			if got := broken(p); len(got) != 1 || got[0].name != r.name {
				t.Errorf("fault %d for the rule %q breaks %q:\n%s", i, r.name, names(got), p)
			}
		}
	}
}

func names(rs []rule) (ns []string) {
	for _, r := range rs {
		ns = append(ns, r.name)
	}
	return ns
}
