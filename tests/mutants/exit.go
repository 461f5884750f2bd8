package main

// exitMutants break the way out of a queue for tasks that are canceled.
var exitMutants = []mutant{
	{
		file: "pool_exit.go", what: "who is at the exit when the pool is shut down stays",
		old: "s.stage == StageRunning && s.blocked",
		new: "s.blocked",
	},
	{
		file: "pool_exit.go", what: "the exit is open to the tasks of the last worker",
		old: "(s.workers > 1 || s.workers == 1 && s.core > 0)",
		new: "s.workers > 0",
	},
	{
		file: "pool_exit.go", what: "the exit is open where workers stay for what waits",
		old: "!s.coreTimeout && ",
		new: "",
	},
	{
		file: "pool_exit.go", what: "a submitter that waits is not let in when a task is canceled",
		old: "s.blocked.Len() == 0 &&\n",
		new: "s.blocked.Len() >= 0 &&\n",
	},
	{
		file: "pool_exit.go", what: "the exit is open to who is about to leave",
		old: "heap.Far(int(t.place)) }",
		new: "(heap.Far(int(t.place)) || t.place != unplaced) }",
	},
	{
		file: "pool_exit.go", what: "the exit asks for the place of who may be on his way in",
		old:  "t.has(native) && heap.Far(int(t.place))",
		new:  "heap.Far(int(t.place)) && t.has(native)",
		race: true,
	},
	{
		file: "pool_exit.go", what: "the exit is open in a queue that does not tell what is far",
		old: "s.heaped && s.steady()",
		new: "s.steady()",
	},
	{
		file: "pool_exit.go", what: "the exit is open whether it may be used or not",
		old: "x.n > 0 && x.n < len(x.tasks)",
		new: "x.n < len(x.tasks)",
	},
	{
		file: "pool_exit.go", what: "one more than there is room for comes to the exit",
		old: "x.n > 0 && x.n < len(x.tasks)",
		new: "x.n > 0 && x.n <= len(x.tasks)",
	},
	{
		file: "pool_exit.go", what: "who leaves by the exit is not counted",
		old: "			s.ended[outcomeOf(t)]++\n",
		new: "",
	},
	{
		file: "pool_exit.go", what: "who leaves by the exit counts if a worker met it, too",
		old: "if s.leaves(t) {\n\t\t\ts.queue.remove(t)",
		new: "if t.place != unplaced {\n\t\t\ts.queue.remove(t)\n\t\t}\n\t\tif true {",
	},
	{
		file: "pool_exit.go", what: "the exit lets a task go that is to be retained",
		old: "return t.place != unplaced && !(s.retained && t.State() == Canceled)",
		new: "return t.place != unplaced",
	},
	{
		file: "pool_exit.go", what: "who has left stays at the exit",
		old: "	x.n = 0\n",
		new: "",
	},
	{
		file: "pool_exit.go", what: "the exit keeps alive who has left",
		old: "x.tasks[i] = nil",
		new: "_ = i",
	},
	{
		file: "pool_gate.go", what: "the pool's lock leaves who is at the exit",
		old: "	if s.exit.n > 0 {\n\t\ts.sweep()\n\t}\n",
		new: "",
	},
	{
		file: "pool_control.go", what: "a task that leaves a pool that stays as it is is not counted",
		old: "		p.mu.ended[outcomeOf(t)]++\n\t\tp.mu.Unlock()",
		new: "		p.mu.Unlock()",
	},
}
