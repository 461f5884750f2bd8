package main

// coreMutants break the executors, and the structures below them.
var coreMutants = []mutant{
	{
		file: "task_state.go", what: "two pools take one task",
		old: "if bits&(linked|inBody) != 0 {",
		new: "if bits&inBody != 0 {",
	},
	{
		file: "task_state.go", what: "a late outcome wins over the cancellation",
		old: "won := !State(bits & stateBits).Done()",
		new: "won := true",
	},
	{
		file: "task_state.go", what: "the outcome is published after the state",
		race: true,
		old: `	if publish != nil {
		publish()
	}
	var out aftermath`,
		new: `	var out aftermath
	if publish != nil {
		defer publish()
	}`,
	},
	{
		file: "task_state.go", what: "waiters wake before the task has left its queue",
		old: "	if pool != nil {\n\t\tpool.forget(t) // before the waiters wake, so that they find it gone\n\t}\n\tout.announce()",
		new: "	out.announce()\n\tif pool != nil {\n\t\tpool.forget(t)\n\t}",
	},
	{
		file: "task.go", what: "who asks for Done is passed over by a cancellation",
		old: "		t.tiesLocked().done = done\n\t\tbits |= asked\n",
		new: "		t.tiesLocked().done = done\n",
	},
	{
		file: "task_state.go", what: "a cancellation breaks a task's lock",
		race: true,
		old:  "(stateBits|held|asked|native)",
		new:  "(stateBits|asked|native)",
	},
	{
		file: "task_state.go", what: "a canceled series goes on",
		old: "again := State(bits&stateBits) == Running",
		new: "again := true",
	},
	{
		file: "context.go", what: "the first look after a cancellation finds a live context",
		old: "	case m.cause != nil:\n\t\tend = m.cause\n",
		new: "",
	},
	{
		file: "context.go", what: "a body that begins after ShutdownNow has a live context",
		old: "		cancel(ErrShutdown) // AfterFunc would do it some time later\n",
		new: "		_ = cancel\n",
	},
	{
		file: "future.go", what: "a body that panics leaves its future pending",
		old: "told = conclude(zero, abrupt(recover()))",
		new: "told, _ = abrupt(recover()), zero",
	},
	{
		file: "pool.go", what: "a pool that is shut down takes tasks",
		old: "	if p.mu.stage != StageRunning {\n\t\treturn nil, tooLate\n\t}\n",
		new: "",
	},
	{
		file: "pool.go", what: "a task is queued past the idle workers",
		old: "if w := p.mu.idle.pop(); w != nil {",
		new: "if w := p.mu.idle.pop(); w != nil && w.leave {",
	},
	{
		file: "pool_watch.go", what: "a context is missed that ends while the pool begins to watch it",
		old: "		go ws.end(done)\n",
		new: "		_ = done\n",
	},
	{
		file: "pool.go", what: "the lock of admission is dropped",
		race: true,
		old:  "	p.mu.Lock()\n\tw, verdict := p.admitLocked(e, t)\n\tpolicy := p.mu.reject\n\tp.mu.Unlock()",
		new:  "	w, verdict := p.admitLocked(e, t)\n\tpolicy := p.mu.reject",
	},
	{
		file: "pool_control.go", what: "the last worker is not told that nothing waits any more",
		old: "		p.retireLocked() // the last worker has nothing to stay for\n",
		new: "",
	},
	{
		file: "pool_control.go", what: "room made by a cancellation is not given to who waits for it",
		old: "	return p.unblockLocked()\n}\n\n// Remove takes",
		new: "	return nil\n}\n\n// Remove takes",
	},
	{
		file: "pool_shutdown.go", what: "Shutdown leaves blocked submitters waiting",
		old: "		dropped = p.dropLocked()\n\t\tp.turnAwayLocked()\n",
		new: "		dropped = p.dropLocked()\n",
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
		file: "pool_lock.go", what: "the gate stays open while a worker is idle",
		old: "return s.idle.top == nil && ",
		new: "return ",
	},
	{
		file: "pool_lock.go", what: "the gate stays open after a shutdown",
		old: "s.idle.top == nil && s.stage == StageRunning && ",
		new: "s.idle.top == nil && ",
	},
	{
		file: "pool_lock.go", what: "a task that waits for the gate does not look again",
		old: "admitted := g.open.Load() && g.queue.pushTail(e, t)",
		new: "admitted := g.queue.pushTail(e, t)",
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
		file: "pool_worker.go", what: "a place freed in the queue is not given to who waits for it",
		old: "append(p.unblockLocked(), p.relieveLocked()...)",
		new: "p.relieveLocked()",
	},
	{
		file: "pool_worker.go", what: "all workers are busy, and nobody hears when the next task is due",
		old: "append(p.unblockLocked(), p.relieveLocked()...)",
		new: "p.unblockLocked()",
	},
	{
		file: "pool_worker.go", what: "the last that hears when a task is due leaves",
		old: " && idle >= p.mu.keepAlive && !p.aloneLocked()",
		new: " && idle >= p.mu.keepAlive",
	},
	{
		file: "pool_worker.go", what: "a Goexit costs the pool a worker",
		old: "if returned || w.gone {",
		new: "if returned || w.entry.run != nil {",
	},
	{
		file: "reject_block.go", what: "a submitter that gave up is admitted later",
		old: "	p.mu.blocked.Remove(b.place)\n",
		new: "",
	},
	{
		file: "reject_block.go", what: "a submitter that gives up ignores that it was admitted",
		old: "		return p.settled(ctx, e, <-b.decided) // decided in the same moment, and that stands",
		new: "		return p.abort(ctx, e, ended(ctx))",
	},
	{
		file: "scheduled_queue.go", what: "the wall clock is trusted for ever",
		old: "min(until(at, now.wall), recheck)",
		new: "min(until(at, now.wall), recheck*1e6)",
	},
	{
		file: "scheduled_worker.go", what: "an alarm that is set is not set for an earlier head",
		old: "if q.set != 0 && q.set <= at {",
		new: "if q.set != 0 {",
	},
	{
		file: "scheduled_worker.go", what: "an alarm heard by a worker that has just got a task is lost",
		old: "		p.spreadLocked(p.nowLocked())\n\t\tfresh := p.relieveLocked()",
		new: "		fresh := p.relieveLocked()",
	},
	{
		file: "scheduled_worker.go", what: "who takes a task sets no alarm for the next",
		old: "	p.armLocked(now)\n}\n\n// relieveLocked",
		new: "}\n\n// relieveLocked",
	},
	{
		file: "scheduled_worker.go", what: "a series goes on after Shutdown",
		old: "if p.mu.stage != StageRunning && (p.mu.stage != StageShutdown || p.mu.policies[periodic] != KeepAfterShutdown) {",
		new: "if p.mu.stage == StageStop {",
	},
	{
		file: "scheduled_step.go", what: "a wall clock that is set back stops triggers",
		old: "if back >= int64(stepBack) {",
		new: "if back <= -int64(stepBack) {",
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
		old: "	line.Remove(w.place)\n\tq.appointLocked(nil)\n",
		new: "	line.Remove(w.place)\n",
	},
	{
		file: "queue/wait.go", what: "what was handed over is lost if the context ends",
		old: "			return true, false\n",
		new: "			select {\n\t\t\tcase <-done:\n\t\t\t\treturn false, true\n\t\t\tdefault:\n\t\t\t\treturn true, false\n\t\t\t}\n",
	},
	{
		file: "queue/bulk.go", what: "Drain wakes no putter",
		old: "	q.settleLocked(nil)\n\treturn all",
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
