package main

// poolMutants break admission, control and the end of pools.
var poolMutants = []mutant{
	{
		file: "pool.go", what: "a pool that is shut down takes tasks",
		old: "	if p.mu.stage != StageRunning {\n\t\treturn nil, tooLate\n\t}\n",
		new: "",
	},
	{
		file: "pool.go", what: "growth: one worker more than Core",
		old: "	if p.mu.workers < p.mu.core {\n\t\treturn p.hireForLocked",
		new: "	if p.mu.workers <= p.mu.core {\n\t\treturn p.hireForLocked",
	},
	{
		file: "pool.go", what: "growth: one worker more than Max",
		old: "	if p.mu.workers < p.mu.max {\n\t\treturn p.hireForLocked",
		new: "	if p.mu.workers <= p.mu.max {\n\t\treturn p.hireForLocked",
	},
	{
		file: "pool.go", what: "growth: up to Max before the queue is used",
		old: "	if p.mu.workers < p.mu.core {\n\t\treturn p.hireForLocked",
		new: "	if p.mu.workers < p.mu.max {\n\t\treturn p.hireForLocked",
	},
	{
		file: "pool.go", what: "a task is queued past the idle workers",
		old: "if w := p.mu.idle.pop(); w != nil {",
		new: "if w := p.mu.idle.pop(); w != nil && w.leave {",
	},
	{
		file: "pool.go", what: "Core zero: nobody is hired for a task that waits",
		old: "	if p.mu.workers > 0 {\n\t\treturn nil\n\t}\n\treturn p.hireLocked()",
		new: "	return nil",
	},
	{
		file: "pool_heed.go", what: "a task that was completed on its way into the queue stays there",
		old: "	case t.State().Done():\n\t\tp.forget(t)\n",
		new: "	case t.State().Done():\n",
	},
	{
		file: "pool_heed.go", what: "a task that waits outlives its submitter's context",
		old: "p.heed(ctx, e.run.(bound))",
		new: "_ = ctx",
	},
	{
		file: "pool_watch.go", what: "a context is watched when nobody waits any more who has it",
		old: "return w.unhook",
		new: "return nil",
	},
	{
		file: "pool_watch.go", what: "futures are not canceled if what is told of one before does not return",
		old: "		if l != nil {\n\t\t\tws.end(done)\n",
		new: "		if l == nil {\n\t\t\tws.end(done)\n",
	},
	{
		file: "pool_watch.go", what: "a future waits on whose context does not say how it ended",
		old: "defer passOn(&told, func(err error) { expire(w.b, err) })",
		new: "defer passOn(&told, func(error) {})",
	},
	{
		file: "pool_heed.go", what: "a context stays watched for a future that its submitter takes for refused",
		old: "leave(l)",
		new: "_ = l",
	},
	{
		file: "pool_watch.go", what: "the room of many contexts is kept",
		old: "	if ws.most <= spare ||",
		new: "	if spare > 0 ||",
	},
	{
		file: "pool_watch.go", what: "two who begin to watch a context at once leave two watches",
		old: "		unhook()\n\t\treturn\n\t}\n\tselect",
		new: "		return\n\t}\n\tselect",
	},
	{
		file: "pool_watch.go", what: "a context is missed that ends while the pool begins to watch it",
		old: "		go ws.end(done)\n",
		new: "		_ = done\n",
	},
	{
		file: "pool_watch.go", what: "a submitter tells others of the end of his context",
		old: "		go ws.end(done)\n",
		new: "		ws.end(done)\n",
	},
	{
		file: "pool_watch.go", what: "a future is not told the error of its own context",
		old: "err := ended(w.ctx)",
		new: "err := context.Canceled",
	},
	{
		file: "pool.go", what: "a submitter whose context has ended gets in",
		old: "	if !e.alone(t) {\n\t\tif err",
		new: "	if ctx == nil {\n\t\tif err",
	},
	{
		file: "pool.go", what: "a worker's first task is not counted as active",
		old: "	p.mu.gate.submitted++\n\tp.mu.active++\n\tw := p.hireLocked()",
		new: "	p.mu.gate.submitted++\n\tw := p.hireLocked()",
	},
	{
		file: "pool.go", what: "the lock of admission is dropped",
		race: true,
		old:  "	p.mu.Lock()\n\tw, verdict := p.admitLocked(e, t)\n\tpolicy := p.mu.reject\n\tp.mu.Unlock()",
		new:  "	w, verdict := p.admitLocked(e, t)\n\tpolicy := p.mu.reject",
	},
	{
		file: "pool_queue.go", what: "a bounded queue takes one more",
		old: "q.ring.Len() >= q.limit",
		new: "q.limit > 0 && q.ring.Len() > q.limit || q.limit == 0",
	},
	{
		file: "pool_queue.go", what: "priorities are ignored",
		old: "key = t.trait().priority",
		new: "_ = t",
	},
	{
		file: "pool_control.go", what: "a task that ended stays active",
		old: "	p.mu.active--\n\tif out == again {",
		new: "	if out == again {",
	},
	{
		file: "pool_control.go", what: "a task that was canceled while it waited is not counted",
		old: "	p.mu.ended[out] += int64(n)\n",
		new: "",
	},
	{
		file: "pool_control.go", what: "room made by a cancellation is not given to who waits for it",
		old: "	return p.unblockLocked()\n}\n\n// Remove takes",
		new: "	return nil\n}\n\n// Remove takes",
	},
	{
		file: "pool_control.go", what: "the future of a removed task stays pending",
		old: "	found.end(Canceled, nil)\n",
		new: "",
	},
	{
		file: "pool_control.go", what: "Remove takes the place of a task in another pool for one in this",
		old: "own := ok && b.core().attached() == p; {",
		new: "own := ok && b.core().attached() != nil; {",
	},
	{
		file: "pool_control.go", what: "Remove removes all that are equal",
		old: "if found.run == nil && e.is(task) {",
		new: "if e.is(task) {",
	},
	{
		file: "pool_control.go", what: "Prestart exceeds Core",
		old: "for ; n > 0 && p.mu.workers < p.mu.core; n-- {",
		new: "for ; n > 0 && p.mu.workers <= p.mu.core; n-- {",
	},
	{
		file: "pool_control.go", what: "Prestart starts workers in a pool that has stopped",
		old: "if p.mu.stage >= StageStop || p.mu.stage == StageShutdown && p.mu.queue.len() == 0 {",
		new: "if p.mu.stage == StageShutdown && p.mu.queue.len() == 0 {",
	},
	{
		file: "pool_tuning.go", what: "a raised Core starts nobody for the tasks that wait",
		old: "if grown > 0 {",
		new: "if grown > 1<<30 {",
	},
	{
		file: "pool_tuning.go", what: "a raised Max lets nobody in",
		old: "	fresh := p.unblockLocked()\n\tif grown",
		new: "	var fresh []*worker\n\tif grown",
	},
	{
		file: "pool_tuning.go", what: "rules are changed before they are checked",
		old: "	change(&r)\n",
		new: "	change(&r)\n\tp.mu.rules = r\n",
	},
	{
		file: "pool_shutdown.go", what: "Shutdown leaves blocked submitters waiting",
		old: "		dropped = p.dropLocked()\n\t\tp.turnAwayLocked()\n",
		new: "		dropped = p.dropLocked()\n",
	},
	{
		file: "pool_shutdown.go", what: "Shutdown leaves idle workers waiting",
		old: "		p.turnAwayLocked()\n\t\tp.retireLocked()\n\t}",
		new: "		p.turnAwayLocked()\n\t}",
	},
	{
		file: "pool_shutdown.go", what: "Shutdown does not drop what the policies say",
		old: "		dropped = p.dropLocked()\n",
		new: "",
	},
	{
		file: "pool_shutdown.go", what: "ShutdownNow leaves the bodies' contexts alone",
		old: "	p.cancel(ErrShutdown)\n",
		new: "",
	},
	{
		file: "pool_shutdown.go", what: "ShutdownNow does not count what it gives back",
		old: "	p.mu.ended[canceledTask] += int64(len(waiting))\n",
		new: "",
	},
	{
		file: "pool_shutdown.go", what: "ShutdownNow leaves futures pending",
		old: "b.end(Canceled, canceled(ErrShutdown)) && u.body != nil",
		new: "u.body != nil",
	},
	{
		file: "pool_shutdown.go", what: "termination does not wait for workers",
		old: "p.mu.workers == 0 && p.mu.queue.len() == 0",
		new: "p.mu.queue.len() == 0",
	},
	{
		file: "pool_shutdown.go", what: "Terminated may be called twice",
		old: "		p.mu.stage = StageTidying // nobody else gets here again\n",
		new: "",
	},
	{
		file: "pool_shutdown.go", what: "the terminated stage comes before the hook",
		old: "	defer func() {\n\t\tp.mu.Lock()\n\t\tp.mu.stage = StageTerminated\n\t\tp.mu.Unlock()\n\t\tclose(p.terminated)\n\t}()\n\tp.callTerminated()",
		new: "	p.mu.Lock()\n\tp.mu.stage = StageTerminated\n\tp.mu.Unlock()\n\tclose(p.terminated)\n\tp.callTerminated()",
	},
	{
		file: "pool_shutdown.go", what: "the alarm of a pool without workers is not closed",
		old: "		a.Close()\n",
		new: "		_ = a\n",
	},
}
