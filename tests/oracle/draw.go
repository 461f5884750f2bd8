package oracle

import "math/rand/v2"

// Draw returns a program that breaks no rule. It depends on the source alone.
func Draw(r *rand.Rand) *Program {
	p := drawPool(r)
	for len(broken(p)) > 0 {
		p = drawPool(r)
	}
	bulk := r.IntN(2) == 0
	n := 3 + r.IntN(9)
	for len(p.Steps) < n {
		p.Steps = append(p.Steps, drawStep(r, p, bulk))
		if len(broken(p)) > 0 {
			p.Steps = p.Steps[:len(p.Steps)-1]
		}
	}
	p.End = p.Steps[n-1].At + 21
	return p
}

// drawPool returns a program without steps.
func drawPool(r *rand.Rand) *Program {
	p := &Program{
		Scheduled: r.IntN(2) == 0,
		Workers:   r.IntN(3),
		Reject:    pick(r, policies[:]...),
		Keep:      pick(r, 0, forGood, 2+r.IntN(6)),
		Delayed:   r.IntN(2) == 0,
		Periodic:  r.IntN(2) == 0,
	}
	if p.Scheduled {
		p.Queue = "unbounded"
		p.CoreToo = p.timesOut() && p.Workers > 0
		return p
	}
	p.Queue = pick(r, "unbounded", "handoff", "prioritized", "bounded:1", "bounded:2", "bounded:3")
	p.Max = max(1, p.Workers+r.IntN(3))
	p.CoreToo = r.IntN(2) == 0
	return p
}

// A draft is a kind of step that may be drawn.
type draft struct {
	plain, scheduled int // weights in a plain and in a scheduled pool
	do               []string
	args             func(r *rand.Rand) [3]int
}

func none(*rand.Rand) [3]int { return [3]int{} }

// below returns a function that draws the first argument below n.
func below(n int) func(*rand.Rand) [3]int {
	return func(r *rand.Rand) [3]int { return [3]int{r.IntN(n)} }
}

// duration draws how long a body takes.
func duration(r *rand.Rand) int { return 1 + r.IntN(6) }

var drafts = []draft{
	{45, 15, []string{"submit", "execute"}, func(r *rand.Rand) [3]int { return [3]int{duration(r)} }},
	{10, 0, []string{"submit"}, func(r *rand.Rand) [3]int { return [3]int{duration(r), r.IntN(5) - 2} }},
	{0, 20, []string{"schedule"}, func(r *rand.Rand) [3]int { return [3]int{duration(r), r.IntN(9) - 1} }},
	{0, 20, []string{"rate", "delay"}, func(r *rand.Rand) [3]int {
		return [3]int{duration(r), r.IntN(6), 2 + r.IntN(6)}
	}},
	{25, 25, []string{"cancel", "abandon", "remove"}, none},
	{4, 4, []string{"setcore"}, below(4)},
	{3, 0, []string{"setmax"}, func(r *rand.Rand) [3]int { return [3]int{1 + r.IntN(4)} }},
	{1, 1, []string{"setreject"}, below(len(policies))},
	{2, 2, []string{"prestart", "prestartall"}, none},
	{4, 4, []string{"shutdown"}, none},
	{2, 2, []string{"shutdownnow"}, none},
	{0, 2, []string{"setdelayed", "setperiodic"}, below(2)},
	{4, 2, []string{"stats"}, none},
}

// bulkDraft is drawn in place of some submissions.
var bulkDraft = draft{0, 0, []string{"invokeall", "invokeany"}, func(r *rand.Rand) [3]int {
	return [3]int{duration(r), 1 + r.IntN(8), 1 + r.IntN(3)}
}}

// drawStep returns a step that may follow those of p, unless it breaks a rule.
func drawStep(r *rand.Rand, p *Program, bulk bool) Step {
	d := drawDraft(r, p.Scheduled)
	s := Step{Do: pick(r, d.do...)}
	if bulk && (s.Do == "submit" || s.Do == "execute" || s.Do == "schedule") && r.IntN(3) == 0 {
		d = bulkDraft
		s.Do = pick(r, d.do...)
	}
	s.Args = d.args(r)
	s.Body = pick(r, "ok", "ok", "ok", "ok", "ok", "fail", "stubborn", "panic", "cancelself", "spawn")
	if r.IntN(20) == 0 {
		s.Body = pick(r, "close", "stop")
	}
	tasks := 0
	for _, prev := range p.Steps {
		if prev.submits() {
			tasks++
		}
	}
	s.Task = tasks
	if s.targets() && tasks > 0 {
		s.Task = r.IntN(tasks)
	}
	s.At = drawTime(r, p, s)
	return s
}

// drawTime returns the tick of step s after those of p.
func drawTime(r *rand.Rand, p *Program, s Step) int {
	pause := pick(r, 1, 1, 1, 2, 3, 5)
	if p.Scheduled {
		pause = pick(r, 0, 0, 1, 1, 2, 3, 5)
	}
	n := len(p.Steps)
	if n == 0 {
		return pause
	}
	q := Program{Scheduled: p.Scheduled, Steps: []Step{p.Steps[n-1], s}}
	return max(q.earliest(1), p.Steps[n-1].At+pause)
}

func drawDraft(r *rand.Rand, scheduled bool) draft {
	weight := func(d draft) int {
		if scheduled {
			return d.scheduled
		}
		return d.plain
	}
	total := 0
	for _, d := range drafts {
		total += weight(d)
	}
	at := r.IntN(total)
	for _, d := range drafts {
		if at -= weight(d); at < 0 {
			return d
		}
	}
	panic("unreachable")
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }
