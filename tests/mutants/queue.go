package main

// queueMutants break the blocking queues.
var queueMutants = []mutant{
	{
		file: "queue/wait.go", what: "a putter that is served is not woken",
		old: "			q.mu.fifo.push(w.value)\n\t\t\tw.signal()",
		new: "			q.mu.fifo.push(w.value)",
	},
	{
		file: "queue/wait.go", what: "a taker that is served is not woken",
		old: "				w.value = v\n\t\t\t\tw.signal()",
		new: "				w.value = v",
	},
	{
		file: "queue/wait.go", what: "a hand-off does not wake the putter",
		old: "	w.signal()\n\treturn w.value, true",
		new: "	return w.value, true",
	},
	{
		file: "queue/wait.go", what: "a put given up does not withdraw its element",
		old: "	line.Remove(w.place)\n",
		new: "	_ = line\n",
	},
	{
		file: "queue/wait.go", what: "a leader that leaves names no other",
		old: "	line.Remove(w.place)\n\tq.appointLocked(nil)\n",
		new: "	line.Remove(w.place)\n",
	},
	{
		file: "queue/wait.go", what: "a new leader is not woken",
		old: "	if w != self {\n\t\tw.signal()\n\t}",
		new: "	_ = self",
	},
	{
		file: "queue/wait.go", what: "the leader sleeps past an earlier element",
		old: "if q.mu.leader == w && w.due <= at {",
		new: "if q.mu.leader == w {",
	},
	{
		file: "queue/wait.go", what: "what was handed over is lost if the context ends",
		old: "			return true, false\n",
		new: "			select {\n\t\t\tcase <-done:\n\t\t\t\treturn false, true\n\t\t\tdefault:\n\t\t\t\treturn true, false\n\t\t\t}\n",
	},
	{
		file: "queue/wait.go", what: "patience begins anew with each wake-up",
		old: "left -= time.Since(start)",
		new: "left -= time.Since(start)\n\t\t\tstart = time.Now()",
	},
	{
		file: "queue/bulk.go", what: "Drain wakes no putter",
		old: "	q.settleLocked(nil)\n\treturn all",
		new: "	return all",
	},
	{
		file: "queue/bulk.go", what: "Clear wakes no putter",
		old: "	q.mu.shelf.clear()\n\tq.settleLocked(nil)",
		new: "	q.mu.shelf.clear()",
	},
	{
		file: "queue/bulk.go", what: "RemoveFunc wakes no putter",
		old: "	q.settleLocked(nil)\n\treturn n",
		new: "	return n",
	},
	{
		file: "queue/put.go", what: "a bounded queue takes one more",
		old: "if q.mu.fifo.len() < q.capacity {",
		new: "if q.mu.fifo.len() <= q.capacity {",
	},
	{
		file: "queue/put.go", what: "a put into an ordered queue wakes no taker",
		old: "	defer q.mu.Unlock()\n\tq.settleLocked(nil)\n}",
		new: "	q.mu.Unlock()\n}",
	},
	{
		file: "queue/wait.go", what: "an ended context gets in where there is room",
		old: "	if err = ctx.Err(); err != nil {\n\t\treturn nil, err\n\t}\n",
		new: "",
	},
	{
		file: "queue/take.go", what: "Poll overtakes those who wait",
		old: "	if q.mu.takers.Len() > 0 {\n\t\tq.settleLocked(nil)\n\t}\n",
		new: "",
	},
	{
		file: "queue/take.go", what: "Poll wakes no putter",
		old: "	if ok {\n\t\tq.settleLocked(nil)\n\t}\n",
		new: "",
	},
	{
		file: "queue/queue.go", what: "Len takes no lock",
		race: true,
		old:  "func (q *Blocking[T]) Len() int {\n\tq.mu.Lock()\n\tdefer q.mu.Unlock()\n",
		new:  "func (q *Blocking[T]) Len() int {\n",
	},
	{
		file: "queue/delayed.go", what: "an element leaves before it is due",
		old: "!ok || at > s.clock.now() {",
		new: "!ok || at < 0 {",
	},
	{
		file: "queue/delayed.go", what: "an element that is due at this very instant waits",
		old: "!ok || at > s.clock.now() {",
		new: "!ok || at >= s.clock.now() {",
	},
	{
		file: "queue/delayed.go", what: "a difference wraps round",
		old: "	case b < 0 && d < a:\n\t\treturn math.MaxInt64\n",
		new: "",
	},
	{
		file: "queue/wait.go", what: "a timer is set for an element that is never due",
		old: "			if w.due != never {\n",
		new: "			if true {\n",
	},
	{
		file: "queue/wait.go", what: "a wait that a context without an error has ended says nothing",
		old: "	return context.Canceled\n",
		new: "	return nil\n",
	},
	{
		file: "queue/fifo.go", what: "RemoveFunc keeps the memory of holes",
		old: "	s.ring.CloseRanks(nil)\n",
		new: "",
	},
	{
		file: "queue/queue.go", what: "the text of a queue gives a limit that is none",
		old: "if q.capacity == unlimited {\n\t\treturn fmt",
		new: "if q.capacity != unlimited {\n\t\treturn fmt",
	},
}
