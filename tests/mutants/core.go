package main

// coreMutants break the executors, and the structures below them.
var coreMutants = []mutant{
	{
		file: "pool_control.go", what: "room made by a cancellation is not given to who waits for it",
		old: "	return p.unblockLocked()\n}\n\n// Remove takes",
		new: "	return nil\n}\n\n// Remove takes",
	},
	{
		file: "pool_shutdown.go", what: "termination does not wait for workers",
		old: "p.mu.workers == 0 && p.mu.queue.len() == 0",
		new: "p.mu.queue.len() == 0",
	},
	{
		file: "pool_shutdown.go", what: "the alarm of a pool without workers is not closed",
		old: "		a.Close()\n",
		new: "		_ = a\n",
	},
	{
		file: "internal/spinlock/spinlock.go", what: "a goroutine that has waited proceeds without the lock",
		old: "	m.inner.Lock()\n\tm.entrance.Unlock()",
		new: "	m.entrance.Unlock()",
	},
	{
		file: "pool_worker.go", what: "a worker that was handed a task is not woken",
		old: "	w.entry = e\n\tw.wake <- struct{}{}",
		new: "	w.entry = e",
	},
	{
		file: "pool_worker.go", what: "the last worker leaves tasks behind",
		old: "return p.mu.workers > 1 || p.mu.queue.len() == 0",
		new: "return true",
	},
	{
		file: "pool_worker.go", what: "the last worker never leaves",
		old: "return p.mu.workers > 1 || p.mu.queue.len() == 0",
		new: "return p.mu.workers > 1",
	},
	{
		file: "internal/heap/sift.go", what: "ties leave in reverse",
		old: "return s.seq < t.seq",
		new: "return s.seq > t.seq",
	},
	{
		file: "internal/ring/ring.go", what: "the ring retains what was removed from its middle",
		old: "	c.slots[i] = *new(E)\n",
		new: "",
	},
	{
		file: "internal/alarm/waker_linux.go", what: "a waker that has gone off counts as armed",
		old: "		w.mu.armed = never\n",
		new: "",
	},
	{
		file: "internal/alarm/waker_linux.go", what: "Close leaves the descriptor open",
		old: "	w.file.Close()\n\t<-w.done",
		new: "",
	},
	{
		file: "queue/wait.go", what: "a putter that is served is not woken",
		old: "			q.mu.fifo.push(w.value)\n\t\t\tw.signal()",
		new: "			q.mu.fifo.push(w.value)",
	},
	{
		file: "queue/wait.go", what: "a leader that leaves names no other",
		old: "	waiters.Remove(w.place)\n\tq.setLeaderLocked(nil)\n",
		new: "	waiters.Remove(w.place)\n",
	},
	{
		file: "queue/wait.go", what: "what was handed over is lost if the context ends",
		old: "			return true, false\n",
		new: "			select {\n\t\t\tcase <-done:\n\t\t\t\treturn false, true\n\t\t\tdefault:\n\t\t\t\treturn true, false\n\t\t\t}\n",
	},
	{
		file: "queue/bulk.go", what: "Drain wakes no putter",
		old: "	q.matchLocked(nil)\n\treturn all",
		new: "	return all",
	},
	{
		file: "cron/zone.go", what: "a fixed time in a gap is due before the gap",
		old: "due := max(wall-e.offset, e.start); due < e.end",
		new: "due := wall - e.offset; due < e.end",
	},
	{
		file: "cron/zone.go", what: "a fixed time is due in both passes of a repeated hour",
		old: "		latest = max(latest, e.end-1+e.offset)\n",
		new: "",
	},
}
