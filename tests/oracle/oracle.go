// Package oracle holds our executors against the JDK's. It draws small programs
// that nobody wrote by hand, runs each on ours in virtual time and on the JDK
// in real time, and compares what could be observed: who ran and when, in which
// order, who was rejected, how the futures ended, what the hooks and counters
// saw, what ShutdownNow gave back.
//
// The package holds the programs and our side; the tests run the JDK's side,
// testdata/Oracle.java, and compare.
package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Program is one draw: a pool, and what its user does with it. Its text is what
// both sides read, one line for the pool and one for each step.
type Program struct {
	Scheduled bool
	Core, Max int
	Queue     string // unbounded, handoff, prioritized, bounded:N
	Reject    string // abort, callerruns, discard, discardoldest
	Keep      int    // for how many ticks an idle worker above Core stays
	CoreToo   bool   // and so for those of Core
	Delayed   bool   // what is not due at shutdown stays
	Periodic  bool   // periodic work goes on after shutdown
	Retain    bool   // canceled tasks stay in the queue
	End       int    // the tick at which the pool is stopped, if it has not been
	Steps     []Step
}

// forGood is a Keep that outlasts every program.
const forGood = 3600

// Step is one thing that the user does, at a time in ticks.
type Step struct {
	At   int
	Do   string
	Task int // which task is submitted, canceled, ...
	Args [3]int
	Body string // ok, fail, panic, stubborn, or what the body does at its end: itself (cancels its task), spawn, close, stop
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
	fmt.Fprintf(&b, "%s %d %d %s %s %d %t %t %t %t %d\n", kind, p.Core, p.Max, p.Queue, p.Reject, p.Keep, p.CoreToo, p.Delayed, p.Periodic, p.Retain, p.End)
	for _, s := range p.Steps {
		b.WriteString(s.String() + "\n")
	}
	return b.String()
}

// Draw makes a program. The same source of randomness gives the same program.
func Draw(r *rand.Rand) *Program {
	p := &Program{
		Scheduled: r.IntN(2) == 0,
		Core:      r.IntN(3),
		Queue:     pick(r, "unbounded", "handoff", "prioritized", "bounded:1", "bounded:2", "bounded:3"),
		Reject:    pick(r, "abort", "callerruns", "discard", "discardoldest"),
		Keep:      pick(r, 0, forGood),
		Delayed:   r.IntN(2) == 0,
		Periodic:  r.IntN(2) == 0,
		Retain:    r.IntN(3) == 0,
	}
	p.Max = max(1, p.Core+r.IntN(3))
	if p.Scheduled {
		p.Queue, p.Max = "unbounded", 0
		if p.Core <= 1 && r.IntN(2) == 0 { // of several that have left, ours come back
			p.Keep, p.CoreToo = 2+r.IntN(6), p.Core > 0
		}
	} else {
		p.Retain = false
		if p.Queue == "handoff" && p.Reject == "discardoldest" {
			p.Reject = "abort" // the JDK calls itself until the stack overflows
		}
		if (p.Queue == "handoff" || p.Max == 1) && r.IntN(2) == 0 {
			// Of several workers that are idle the JDK's queues with room wake
			// the one that is so for longest, and so none gets old.
			p.Keep = 2 + r.IntN(6)
		}
		p.CoreToo = p.Keep > 0 && r.IntN(2) == 0
	}
	// What is rejected in part, or waits in a pending future for ever, is no match.
	bulk := (p.Queue == "unbounded" && p.Reject == "abort" || p.Queue != "prioritized" && p.Reject == "callerruns") &&
		!strings.HasPrefix(p.Queue, "bounded") && r.IntN(2) == 0
	at, tasks, largest := 0, 0, p.Core
	for range 3 + r.IntN(9) {
		if p.Scheduled {
			at += pick(r, 0, 0, 1, 1, 2, 3, 5)
		} else {
			// The JDK's idle worker takes a task out of the queue some time
			// after it was put there; whoever submits within that time finds the
			// queue fuller than ours is.
			at += pick(r, 1, 1, 1, 2, 3, 5)
		}
		s := Step{At: at, Task: tasks, Body: pick(r, "ok", "ok", "ok", "ok", "ok", "fail", "stubborn", "panic", "itself", "spawn")}
		if !bulk && r.IntN(20) == 0 {
			s.Body = pick(r, "close", "stop")
		}
		dur := 1 + r.IntN(6)
		roll := r.IntN(100)
		switch {
		case roll < 55 && !p.Scheduled:
			s.Do = pick(r, "submit", "execute")
			s.Args[0] = dur
			if s.Do == "submit" && p.Queue == "prioritized" {
				s.Args[1] = r.IntN(5) - 2
			}
			if bulk && r.IntN(3) == 0 {
				s.Do, s.Args = pick(r, "invokeall", "invokeany"), [3]int{dur, 1 + r.IntN(8), 1 + r.IntN(3)}
			}
		case roll < 15:
			s.Do = pick(r, "submit", "execute")
			s.Args[0] = dur
		case roll < 35:
			s.Do = "schedule"
			s.Args[0], s.Args[1] = dur, r.IntN(9)-1
			if bulk && r.IntN(3) == 0 {
				s.Do, s.Args = pick(r, "invokeall", "invokeany"), [3]int{dur, 1 + r.IntN(8), 1 + r.IntN(3)}
			}
		case roll < 55:
			s.Do = pick(r, "rate", "delay")
			s.Args[0], s.Args[1], s.Args[2] = dur, r.IntN(6), 2+r.IntN(6)
		case roll < 80 && tasks > 0:
			s.Do, s.Task = pick(r, "cancel", "abandon", "remove"), r.IntN(tasks)
		case roll < 84 && (p.Keep == 0 || p.Keep == forGood):
			// A worker that is idle counts its time anew in the JDK.
			s.Do, s.Args[0] = "setcore", r.IntN(4)
			if p.Keep > 0 && p.periodicWork() {
				// The JDK has started workers that ours did without, and those
				// above Core stay and work.
				s.Args[0] = max(s.Args[0], largest)
			}
			largest = max(largest, s.Args[0])
		case roll < 87 && !p.Scheduled && (p.Keep == 0 || p.Keep == forGood):
			s.Do, s.Args[0] = "setmax", 1+r.IntN(4)
		case roll < 87 && p.Scheduled:
			s.Do, s.Args[0] = pick(r, "purge", "setretain"), r.IntN(2)
		case roll < 88 && !bulk:
			s.Do, s.Args[0] = "setreject", r.IntN(len(policies))
			if p.Queue == "handoff" && policies[s.Args[0]] == "discardoldest" {
				s.Args[0] = 0
			}
		case roll < 90:
			s.Do = pick(r, "prestart", "prestartall")
		case roll < 94:
			s.Do = "shutdown"
		case roll < 96 && !bulk:
			s.Do = "shutdownnow" // the JDK leaves who waits in invokeAll waiting
		case roll < 98 && p.Scheduled:
			s.Do, s.Args[0] = pick(r, "setdelayed", "setperiodic"), r.IntN(2)
		default:
			s.Do = "stats"
		}
		if s.submits() {
			tasks++
		} else if p.Scheduled && len(p.Steps) > 0 && p.Steps[len(p.Steps)-1].At == s.At {
			at++ // a task that is due at once may have begun by now, or not
			s.At = at
		}
		p.Steps = append(p.Steps, s)
		switch {
		case s.Do == "stats":
			at++ // it takes a tick
		case s.Do == "setcore" && p.Scheduled:
			at++ // an idle worker that is one too many may find a task in the JDK before it leaves
		}
	}
	p.End = at + 20
	return p
}

// policies are those that setreject can name by their number.
var policies = [...]string{"abort", "callerruns", "discard", "discardoldest"}

// inexact reports whether the number of workers is not compared: while one that may
// leave is kept by a task that waits, the JDK lets it wait for its time again and
// again, so that it leaves some time after the task, where ours leaves at once; and
// see periodicWork.
func (p *Program) inexact() bool {
	return p.periodicWork() || p.Scheduled && p.Keep > 0 && p.Keep < forGood
}

// periodicWork reports whether anything recurs. Whenever it goes back into the
// queue the JDK starts another worker below Core; ours has one at hand. So the
// number of workers is not compared.
func (p *Program) periodicWork() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Do == "rate" || s.Do == "delay" })
}

// bulkWork reports whether there is an invokeAll or invokeAny. What these have
// canceled stays in the JDK's queue until a worker meets it, in a wrapping that does
// not tell, so that neither what waits is compared, nor how many bodies have run by
// the pool's account, nor what the hooks saw of them.
func (p *Program) bulkWork() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Do == "invokeall" || s.Do == "invokeany" })
}

func (s Step) submits() bool {
	switch s.Do {
	case "submit", "execute", "schedule", "rate", "delay", "invokeall", "invokeany":
		return true
	}
	return false
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }
