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
	Queue     string // unbounded, handoff, bounded:N
	Reject    string // abort, callerruns, discard, discardoldest
	Keep      bool   // idle workers above Core stay; else they leave at once
	Delayed   bool   // what is not due at shutdown stays
	Periodic  bool   // periodic work goes on after shutdown
	End       int    // the tick at which the pool is stopped, if it has not been
	Steps     []Step
}

// Step is one thing that the user does, at a time in ticks.
type Step struct {
	At   int
	Do   string
	Task int // which task is submitted, canceled, ...
	Args [3]int
	Body string // ok, fail, stubborn: what the body does
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
	fmt.Fprintf(&b, "%s %d %d %s %s %t %t %t %d\n", kind, p.Core, p.Max, p.Queue, p.Reject, p.Keep, p.Delayed, p.Periodic, p.End)
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
		Queue:     pick(r, "unbounded", "handoff", "bounded:1", "bounded:2", "bounded:3"),
		Reject:    pick(r, "abort", "callerruns", "discard", "discardoldest"),
		Keep:      r.IntN(2) == 0,
		Delayed:   r.IntN(2) == 0,
		Periodic:  r.IntN(2) == 0,
	}
	p.Max = max(1, p.Core+r.IntN(3))
	if p.Scheduled {
		p.Queue, p.Max = "unbounded", 0
	} else if p.Queue == "handoff" && p.Reject == "discardoldest" {
		p.Reject = "abort" // the JDK calls itself until the stack overflows
	}
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
		s := Step{At: at, Task: tasks, Body: pick(r, "ok", "ok", "ok", "fail", "stubborn")}
		dur := 1 + r.IntN(6)
		roll := r.IntN(100)
		switch {
		case roll < 55 && !p.Scheduled:
			s.Do = pick(r, "submit", "execute")
			s.Args[0] = dur
		case roll < 15:
			s.Do = pick(r, "submit", "execute")
			s.Args[0] = dur
		case roll < 35:
			s.Do = "schedule"
			s.Args[0], s.Args[1] = dur, r.IntN(9)-1
		case roll < 55:
			s.Do = pick(r, "rate", "delay")
			s.Args[0], s.Args[1], s.Args[2] = dur, r.IntN(6), 2+r.IntN(6)
		case roll < 80 && tasks > 0:
			s.Do, s.Task = pick(r, "cancel", "abandon", "remove"), r.IntN(tasks)
		case roll < 84:
			s.Do, s.Args[0] = "setcore", r.IntN(4)
			if p.Keep && p.periodicWork() {
				// The JDK has started workers that ours did without, and those
				// above Core stay and work.
				s.Args[0] = max(s.Args[0], largest)
			}
			largest = max(largest, s.Args[0])
		case roll < 87 && !p.Scheduled:
			s.Do, s.Args[0] = "setmax", 1+r.IntN(4)
		case roll < 90:
			s.Do = pick(r, "prestart", "prestartall")
		case roll < 94:
			s.Do = "shutdown"
		case roll < 96:
			s.Do = "shutdownnow"
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

// periodicWork reports whether anything recurs. Whenever it goes back into the
// queue the JDK starts another worker below Core; ours has one at hand. So the
// number of workers is not compared.
func (p *Program) periodicWork() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Do == "rate" || s.Do == "delay" })
}

func (s Step) submits() bool {
	switch s.Do {
	case "submit", "execute", "schedule", "rate", "delay":
		return true
	}
	return false
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }
