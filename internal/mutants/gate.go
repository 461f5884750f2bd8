package main

// gateMutants break the way into the unbounded queue.
var gateMutants = []mutant{
	{
		file: "pool_gate.go", what: "the gate stays open while a worker is idle",
		old: " && s.idle.top == nil",
		new: "",
	},
	{
		file: "pool_gate.go", what: "the gate stays open after a shutdown",
		old: "return s.stage == StageRunning && ",
		new: "return ",
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
		old: "admitted := g.open.Load() && g.queue.push(e)",
		new: "admitted := g.queue.push(e)",
	},
	{
		file: "pool_gate.go", what: "what comes by the gate is not counted",
		old: "		g.submitted++\n",
		new: "",
	},
	{
		file: "pool_gate.go", what: "the halves do not change places",
		old: "	q.in = 1 - q.in\n",
		new: "",
	},
	{
		file: "pool_gate.go", what: "the younger half is popped first",
		old: "	if e, ok := q.popBehind(); ok {\n\t\treturn e, true\n\t}\n\tq.in",
		new: "	q.in",
	},
	{
		file: "pool_gate.go", what: "a task is looked for in the wrong half",
		old: "q.halves[t.place%2]",
		new: "q.halves[1-t.place%2]",
	},
	{
		file: "pool_gate.go", what: "the queue is given back youngest first",
		old: "{&q.halves[1-q.in].ring, &q.halves[q.in].ring}",
		new: "{&q.halves[q.in].ring, &q.halves[1-q.in].ring}",
	},
	{
		file: "pool_gate.go", what: "the queue is shown with the wrong half",
		old: "			for e := range r.All() {",
		new: "			_ = r\n\t\t\tfor e := range q.halves[1-q.in].ring.All() {",
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
		old: "	s.crew.Lock()\n\ts.lockGate()\n",
		new: "	s.crew.Lock()\n",
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
}
