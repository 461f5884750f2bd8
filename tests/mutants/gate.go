package main

// gateMutants break the way into the unbounded queue.
var gateMutants = []mutant{
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
