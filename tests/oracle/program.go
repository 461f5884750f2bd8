package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// Program is a pool, and what its user does with it. Both sides read its text, which has
// a line for the pool and one for each step.
type Program struct {
	Scheduled    bool
	Workers, Max int
	Queue        string // unbounded, handoff, prioritized, bounded:N
	Reject       string // abort, callerruns, discard, discardoldest
	Keep         int    // keep-alive time of workers above Workers, in ticks
	CoreToo      bool   // the keep-alive time applies to the workers of Workers, too
	Delayed      bool   // delayed tasks stay after Shutdown
	Periodic     bool   // periodic tasks stay after Shutdown
	End          int    // the tick of ShutdownNow, if the pool has not terminated
	Steps        []Step
}

// forGood is a Keep that is longer than any program.
const forGood = 3600

// timesOut reports whether idle workers stop during the program.
func (p *Program) timesOut() bool { return p.Keep > 0 && p.Keep < forGood }

// Step is one action of the user, at a time in ticks.
type Step struct {
	At   int
	Do   string
	Task int // the task that is submitted, canceled, ...
	Args [3]int

	// Body is ok, fail, panic or stubborn (ignores interrupts), or what the body does at
	// its end: cancelself, spawn (submits a task), close, stop.
	Body string
}

func (s Step) String() string {
	return fmt.Sprintf("%d %s %d %d %d %d %s", s.At, s.Do, s.Task, s.Args[0], s.Args[1], s.Args[2], s.Body)
}

func (p *Program) String() string {
	var b strings.Builder
	kind := "pool"
	if p.Scheduled {
		kind = "scheduled"
	}
	fmt.Fprintf(&b, "%s %d %d %s %s %d %t %t %t %d\n", kind,
		p.Workers, p.Max, p.Queue, p.Reject, p.Keep, p.CoreToo, p.Delayed, p.Periodic, p.End)
	for _, s := range p.Steps {
		b.WriteString(s.String() + "\n")
	}
	return b.String()
}

// policies are the policies that setreject sets, by number.
var policies = [...]string{"abort", "callerruns", "discard", "discardoldest"}

// policiesUsed returns the policies that the pool has at some time.
func (p *Program) policiesUsed() []string {
	used := []string{p.Reject}
	for _, s := range p.Steps {
		if s.Do == "setreject" {
			used = append(used, policies[s.Args[0]])
		}
	}
	return used
}

// does reports whether the program has one of these steps.
func (p *Program) does(steps ...string) bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return slices.Contains(steps, s.Do) })
}

// hasBody reports whether the program submits a task with one of these bodies.
func (p *Program) hasBody(bodies ...string) bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.submits() && slices.Contains(bodies, s.Body) })
}

// hasPeriodic reports whether the program has periodic tasks. When one of them returns to
// the queue, the JDK starts another worker below Workers, where ours uses one that it has. So
// the number of workers is not compared.
func (p *Program) hasPeriodic() bool { return p.does("rate", "delay") }

// hasBulk reports whether the program has bulk calls. The JDK leaves the tasks that they
// cancel in its queue, wrapped so that they cannot be identified. So neither the queue nor
// the number of runs is compared, nor what the hooks see.
func (p *Program) hasBulk() bool { return p.does("invokeall", "invokeany") }

// inexactWorkers reports whether the number of workers is not compared: with periodic
// tasks, and with a keep-alive time in a scheduled pool. There a worker that may stop waits
// as long as a task is queued. The JDK's waits for its keep-alive time again and again, and
// stops some time after the task; ours stops at once.
func (p *Program) inexactWorkers() bool {
	return p.hasPeriodic() || p.Scheduled && p.timesOut()
}

// submits reports whether the step submits a task, or several.
func (s Step) submits() bool {
	switch s.Do {
	case "submit", "execute", "schedule", "rate", "delay", "invokeall", "invokeany":
		return true
	}
	return false
}

// targets reports whether the step does something with a task that was submitted.
func (s Step) targets() bool { return s.Do == "cancel" || s.Do == "abandon" || s.Do == "remove" }
