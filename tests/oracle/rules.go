package oracle

import (
	"slices"
	"strings"
)

// A rule excludes programs: those that no pool can run, and those in which ours and the
// JDK's differ on purpose, or by a race of the JDK.
type rule struct {
	name   string
	broken func(p *Program) bool
	reason string // why such a program is not compared
}

// rules are all rules. Draw returns only programs that break none.
var rules = []rule{
	{"kind of pool", wrongKind, "a plain pool has no schedules, and a scheduled pool no Max and no queue to choose"},
	{"priority", wrongPriority, "only a submission to a prioritized queue has a priority"},
	{"target", wrongTarget, "a task can be canceled or removed only after it was submitted"},
	{"core timeout", func(p *Program) bool {
		return p.CoreToo && p.Keep == 0
	}, "the JDK rejects a timeout of core workers without a keep-alive time"},

	{"handoff and discardoldest", func(p *Program) bool {
		return p.Queue == "handoff" && slices.Contains(p.policiesUsed(), "discardoldest")
	}, "the policy of the JDK calls itself until the stack overflows"},
	{"keep-alive of several workers", func(p *Program) bool {
		if p.Scheduled {
			return p.timesOut() && p.Workers > 1
		}
		return p.timesOut() && p.Max > 1 && p.Queue != "handoff"
	}, "a queue of the JDK wakes the worker that has been idle for longest, so that none times out; " +
		"and of several scheduled workers that timed out ours start again"},
	{"resize with keep-alive", func(p *Program) bool {
		return p.timesOut() && p.does("setcore", "setmax")
	}, "a change of size restarts the keep-alive time of the JDK's idle workers"},
	{"fewer core workers for periodic tasks", shrinksUnderPeriodic,
		"the JDK has started workers that ours did not need, and those above the new Workers stay"},

	{"bulk call that is rejected in part", func(p *Program) bool {
		return p.hasBulk() && !takesBulk(p)
	}, "the JDK throws, and leaves the accepted tasks of the call pending"},
	{"bulk call and setreject", func(p *Program) bool {
		return p.hasBulk() && p.does("setreject")
	}, "the call may be rejected in part"},
	{"bulk call and close", func(p *Program) bool {
		return p.hasBulk() && p.hasBody("close")
	}, "a body may close the pool in the middle of the call"},
	{"bulk call and shutdownnow", func(p *Program) bool {
		return p.hasBulk() && (p.does("shutdownnow") || p.hasBody("stop"))
	}, "the JDK leaves callers of invokeAll waiting"},

	{"steps too close", func(p *Program) bool {
		for i := range p.Steps {
			if i > 0 && p.Steps[i].At < p.earliest(i) {
				return true
			}
		}
		return false
	}, "the order of the step and of what follows from the previous one is a race"},
}

// broken returns the rules that the program breaks.
func broken(p *Program) []rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r rule) bool { return !r.broken(p) })
}

func wrongKind(p *Program) bool {
	if p.Scheduled {
		return p.Queue != "unbounded" || p.Max != 0 || p.does("setmax")
	}
	return p.does("schedule", "rate", "delay", "setdelayed", "setperiodic")
}

func wrongPriority(p *Program) bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool {
		return s.Args[1] != 0 && (s.Do == "execute" || s.Do == "submit" && p.Queue != "prioritized")
	})
}

func wrongTarget(p *Program) bool {
	tasks := 0
	for _, s := range p.Steps {
		if s.targets() && s.Task >= tasks || s.submits() && s.Task != tasks {
			return true
		}
		if s.submits() {
			tasks++
		}
	}
	return false
}

func shrinksUnderPeriodic(p *Program) bool {
	largest, periodic := p.Workers, false
	for _, s := range p.Steps {
		switch s.Do {
		case "rate", "delay":
			periodic = true
		case "setcore":
			if periodic && p.Keep > 0 && s.Args[0] < largest {
				return true
			}
			largest = max(largest, s.Args[0])
		}
	}
	return false
}

// takesBulk reports whether a bulk call is accepted or rejected as a whole.
func takesBulk(p *Program) bool {
	if strings.HasPrefix(p.Queue, "bounded") {
		return false
	}
	return p.Queue == "unbounded" && p.Reject == "abort" || p.Queue != "prioritized" && p.Reject == "callerruns"
}

// earliest returns the first tick at which step i may be, after the previous one.
func (p *Program) earliest(i int) int {
	prev, s := p.Steps[i-1], p.Steps[i]
	at := prev.At
	switch {
	case prev.Do == "stats":
		at++ // stats takes a tick
	case prev.Do == "setcore" && p.Scheduled:
		at++ // a surplus worker of the JDK may run one more task before it stops
	}
	if !p.Scheduled {
		// An idle worker of the JDK takes a task from the queue some time after it was put
		// there. A submission within that time finds the queue fuller than ours.
		return at + 1
	}
	if !s.submits() && at == prev.At {
		return at + 1 // a task that is due at once may have started by then, or not
	}
	return at
}
