// Package oracle holds our executors against the JDK's. It draws small programs
// that nobody wrote by hand, runs each on ours in virtual time and on the JDK
// in real time, and compares what could be observed: which tasks ran, when and in
// which order, which were rejected, how the futures ended, what the hooks and
// counters saw, what ShutdownNow returned.
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
	// ok, fail, panic, stubborn, or what the body does at its end: itself (cancels
	// its task), spawn, close, stop
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
	fmt.Fprintf(&b, "%s %d %d %s %s %d %t %t %t %t %d\n", kind, p.Core, p.Max, p.Queue, p.Reject, p.Keep, p.CoreToo, p.Delayed, p.Periodic, p.Retain, p.End)
	for _, s := range p.Steps {
		b.WriteString(s.String() + "\n")
	}
	return b.String()
}

// Draw makes a program. The same source of randomness makes the same program.
func Draw(r *rand.Rand) *Program {
	d := &drawing{Rand: r, Program: drawPool(r)}
	d.largest = d.Core
	// What is rejected in part, or waits in a pending future for ever, is no match.
	d.bulk = (d.Queue == "unbounded" && d.Reject == "abort" || d.Queue != "prioritized" && d.Reject == "callerruns") &&
		!strings.HasPrefix(d.Queue, "bounded") && r.IntN(2) == 0
	for range 3 + r.IntN(9) {
		d.step()
	}
	d.End = d.at + 20
	return d.Program
}

// drawPool draws a pool without a program.
func drawPool(r *rand.Rand) *Program {
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
		return p
	}
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
	return p
}

// drawing is a program in the making.
type drawing struct {
	*rand.Rand
	*Program
	at      int  // the tick of the last step
	tasks   int  // submitted by the steps so far
	largest int  // the largest Core so far
	bulk    bool // invokeAll and invokeAny may be steps
}

// step adds one step.
func (d *drawing) step() {
	if d.Scheduled {
		d.at += pick(d.Rand, 0, 0, 1, 1, 2, 3, 5)
	} else {
		// The JDK's idle worker takes a task out of the queue some time
		// after it was put there; a submission within that time finds the
		// queue fuller than ours is.
		d.at += pick(d.Rand, 1, 1, 1, 2, 3, 5)
	}
	s := Step{At: d.at, Task: d.tasks}
	s.Body = pick(d.Rand, "ok", "ok", "ok", "ok", "ok", "fail", "stubborn", "panic", "itself", "spawn")
	if !d.bulk && d.IntN(20) == 0 {
		s.Body = pick(d.Rand, "close", "stop")
	}
	dur := 1 + d.IntN(6)
	if roll := d.IntN(100); roll < 55 {
		d.submission(&s, roll, dur)
	} else {
		d.control(&s, roll)
	}
	if s.submits() {
		d.tasks++
	} else if d.Scheduled && len(d.Steps) > 0 && d.Steps[len(d.Steps)-1].At == s.At {
		d.at++ // a task that is due at once may have begun by now, or not
		s.At = d.at
	}
	d.Steps = append(d.Steps, s)
	switch {
	case s.Do == "stats":
		d.at++ // it takes a tick
	case s.Do == "setcore" && d.Scheduled:
		d.at++ // an idle worker that is one too many may find a task in the JDK before it leaves
	}
}

// submission makes s submit a task whose body takes dur ticks.
func (d *drawing) submission(s *Step, roll, dur int) {
	s.Args[0] = dur
	switch {
	case !d.Scheduled:
		s.Do = pick(d.Rand, "submit", "execute")
		if s.Do == "submit" && d.Queue == "prioritized" {
			s.Args[1] = d.IntN(5) - 2
		}
		d.invocation(s, dur)
	case roll < 15:
		s.Do = pick(d.Rand, "submit", "execute")
	case roll < 35:
		s.Do = "schedule"
		s.Args[1] = d.IntN(9) - 1
		d.invocation(s, dur)
	default:
		s.Do = pick(d.Rand, "rate", "delay")
		s.Args[1], s.Args[2] = d.IntN(6), 2+d.IntN(6)
	}
}

// invocation makes some submissions invoke several tasks.
func (d *drawing) invocation(s *Step, dur int) {
	if d.bulk && d.IntN(3) == 0 {
		s.Do, s.Args = pick(d.Rand, "invokeall", "invokeany"), [3]int{dur, 1 + d.IntN(8), 1 + d.IntN(3)}
	}
}

// control makes s do something to a task, or to the pool.
func (d *drawing) control(s *Step, roll int) {
	for _, c := range []struct {
		below int
		fits  bool // whether the pool can do it, and the JDK's is exact then
		draw  func()
	}{
		{80, d.tasks > 0, func() {
			s.Do, s.Task = pick(d.Rand, "cancel", "abandon", "remove"), d.IntN(d.tasks)
		}},
		// A worker that is idle counts its time anew in the JDK.
		{84, d.Keep == 0 || d.Keep == forGood, func() {
			s.Do, s.Args[0] = "setcore", d.IntN(4)
			if d.Keep > 0 && d.periodicWork() {
				// The JDK has started workers that ours did without, and those
				// above Core stay and work.
				s.Args[0] = max(s.Args[0], d.largest)
			}
			d.largest = max(d.largest, s.Args[0])
		}},
		{87, !d.Scheduled && (d.Keep == 0 || d.Keep == forGood), func() {
			s.Do, s.Args[0] = "setmax", 1+d.IntN(4)
		}},
		{87, d.Scheduled, func() {
			s.Do, s.Args[0] = pick(d.Rand, "purge", "setretain"), d.IntN(2)
		}},
		{88, !d.bulk, func() {
			s.Do, s.Args[0] = "setreject", d.IntN(len(policies))
			if d.Queue == "handoff" && policies[s.Args[0]] == "discardoldest" {
				s.Args[0] = 0
			}
		}},
		{90, true, func() { s.Do = pick(d.Rand, "prestart", "prestartall") }},
		{94, true, func() { s.Do = "shutdown" }},
		{96, !d.bulk, func() { s.Do = "shutdownnow" }}, // the JDK does not end a wait in invokeAll
		{98, d.Scheduled, func() { s.Do, s.Args[0] = pick(d.Rand, "setdelayed", "setperiodic"), d.IntN(2) }},
		{100, true, func() { s.Do = "stats" }},
	} {
		if roll < c.below && c.fits {
			c.draw()
			return
		}
	}
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
