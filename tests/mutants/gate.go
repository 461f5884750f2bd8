package main

// gateMutants break the way into the unbounded queue.
var gateMutants = []mutant{
	{
		file: "pool_gate.go", what: "the gate stays open while a worker is idle",
		old: "return s.idle.top == nil && ",
		new: "return ",
	},
	{
		file: "pool_gate.go", what: "the gate stays open after a shutdown",
		old: "s.idle.top == nil && s.stage == StageRunning && ",
		new: "s.idle.top == nil && ",
	},
	{
		file: "pool_gate.go", what: "the gate is open before there are Core workers",
		old: " && s.workers >= s.core",
		new: "",
	},
	{
		file: "pool_gate.go", what: "the gate is open without a worker",
		old: "s.workers > 0 && ",
		new: "",
	},
	{
		file: "pool_gate.go", what: "a surplus worker goes on behind the gate",
		old: " && s.workers <= s.max",
		new: "",
	},
	{
		file: "pool_gate.go", what: "a task that waits for the gate does not look again",
		old: "admitted := g.open.Load() && g.queue.join(e, t)",
		new: "admitted := g.queue.join(e, t)",
	},
	{
		file: "pool_gate.go", what: "what comes by the gate is not counted",
		old: "		g.submitted++\n",
		new: "",
	},
	{
		file: "internal/ring/pair.go", what: "the halves do not change places",
		old: "	p.in = 1 - p.in\n",
		new: "",
	},
	{
		file: "internal/ring/pair.go", what: "the younger half is popped first",
		old: "	if out.Len() > 0 {\n\t\treturn true\n\t}\n\tp.in",
		new: "	p.in",
	},
	{
		file: "internal/ring/pair.go", what: "a task is looked for in the wrong half",
		old: "p.halves[place&1]",
		new: "p.halves[1-place&1]",
	},
	{
		file: "internal/ring/pair.go", what: "the queue is given back youngest first",
		old: "append(p.out().Drain(), p.halves[p.in].ring.Drain()...)",
		new: "append(p.halves[p.in].ring.Drain(), p.out().Drain()...)",
	},
	{
		file: "internal/ring/pair.go", what: "the queue is shown with the wrong half",
		old: "range [...]int{1 - p.in, p.in}",
		new: "range [...]int{1 - p.in, 1 - p.in}",
	},
	{
		file: "scheduled_queue.go", what: "a crowd at the gate waits as long as there is something to do",
		old: "	if q.crowded() {\n\t\treturn",
		new: "	if false {\n\t\treturn",
	},
	{
		file: "scheduled_queue.go", what: "a gate that was crowded once is for ever",
		old: "		q.crowd.Store(false)\n",
		new: "",
	},
	{
		file: "pool_gate.go", what: "a worker's first task behind the gate is not counted as active",
		old: "	if out == none {\n\t\tp.mu.active++\n\t} else {\n\t\tp.countLocked(w, out)\n\t}",
		new: "	if out != none {\n\t\tp.countLocked(w, out)\n\t}",
	},
	{
		file: "pool_gate.go", what: "a task that ends behind the gate is not counted",
		old: "	} else {\n\t\tp.countLocked(w, out)\n\t}",
		new: "	}",
	},
	{
		file: "pool_gate.go", what: "the pool's lock leaves the gate unlocked",
		old: "		s.crew.Wait()\n\t}\n\ts.extend()\n",
		new: "		s.crew.Wait()\n\t}\n",
	},
	{
		file: "pool_gate.go", what: "the gate never opens",
		old: "	if s.open || s.idle.top == nil {",
		new: "	if s.open {",
	},
	{
		file: "pool_gate.go", what: "an open gate is not locked up when a worker is idle",
		old: "	if s.open || s.idle.top == nil {",
		new: "	if s.idle.top == nil {",
	},
	{
		file: "pool_gate.go", what: "who waits at the exit stays behind an open gate",
		old: "	if s.open || s.exit.n > 0 {",
		new: "	if s.open {",
	},
	{
		file: "internal/turnstile/turnstile.go", what: "who has waited goes without the lock",
		old: "	m.inner.Lock()\n\tm.door.Unlock()",
		new: "	m.door.Unlock()",
	},
	{
		file: "internal/turnstile/turnstile.go", what: "who has waited leaves the door shut",
		old: "	m.inner.Lock()\n\tm.door.Unlock()",
		new: "	m.inner.Lock()",
	},
	{
		file: "pool_gate.go", what: "a task that recurs stays behind the gate",
		old: " || out == again {",
		new: " {",
	},
	{
		file: "pool_gate.go", what: "the pool's lock leaves what has joined where it is",
		old: "		s.ends.gather()\n",
		new: "",
	},
	{
		file: "pool_gate.go", what: "what was handed over gets no place",
		old: "	p.mu.ends.settle()\n",
		new: "",
	},
	{
		file: "scheduled_queue.go", what: "a task for a time of day joins the others",
		old: "q.mono.Joined() >= most || t.has(wallClock) {",
		new: "q.mono.Joined() >= most {",
	},
	{
		file: "scheduled_queue.go", what: "a task that is due by the wall clock is passed over",
		old: "ok && at <= q.seen.wall {\n\t\treturn entry{}, false",
		new: "ok && at < 0 {\n\t\treturn entry{}, false",
	},
	{
		file: "internal/ring/pair.go", what: "the places of the halves are the same",
		old: ".ring.Push(e) + p.in }",
		new: ".ring.Push(e) }",
	},
	{
		file: "internal/ring/pair.go", what: "halves close ranks in silence",
		old: "		p.halves[i].ring.CloseRanks(func(e E, place int) { tell(e, 2*place+i) })\n",
		new: "		p.halves[i].ring.CloseRanks(nil)\n",
	},
}
