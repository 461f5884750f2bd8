package main

// workerMutants break workers: how they wait, leave, and run tasks.
var workerMutants = []mutant{
	{
		file: "pool_worker.go", what: "a worker that was handed a task is not woken",
		old: "	w.entry = e\n\tw.wake <- struct{}{}",
		new: "	w.entry = e",
	},
	{
		file: "pool_worker.go", what: "a worker that is dismissed is not woken",
		old: "	w.leave = true\n\tw.wake <- struct{}{}",
		new: "	w.leave = true",
	},
	{
		file: "pool_worker.go", what: "a worker that is dismissed is not counted out",
		old: "	p.mu.idle.remove(w)\n\tp.mu.workers--\n",
		new: "	p.mu.idle.remove(w)\n",
	},
	{
		file: "pool_worker.go", what: "a worker that leaves is not counted out",
		old: "func (p *Pool) quitLocked() (step, []*worker) {\n\tp.mu.workers--\n",
		new: "func (p *Pool) quitLocked() (step, []*worker) {\n",
	},
	{
		file: "pool_worker.go", what: "the worker that leaves last does not terminate the pool",
		old: "		w.gone = true\n\t\tp.tidy()\n",
		new: "",
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
		file: "pool_worker.go", what: "busy workers above Max stay",
		old: "p.mu.stage == StageStop || p.mu.workers > p.mu.max && p.expendableLocked()",
		new: "p.mu.stage == StageStop",
	},
	{
		file: "pool_worker.go", what: "core workers leave after KeepAlive",
		old: "return p.mu.coreTimeout || p.mu.workers > p.mu.core",
		new: "return p.mu.workers > 0",
	},
	{
		file: "pool_worker.go", what: "a look in vain renews the time that a worker is idle",
		old: "if w.since == 0 { // else",
		new: "if w != nil { // else",
	},
	{
		file: "pool_worker.go", what: "a place freed by a worker is not given to who waits for it",
		old: "	return leaves, p.unblockLocked()",
		new: "	return leaves, nil",
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
		file: "pool_worker.go", what: "who has to stay is asked to leave again and again",
		old: "p.expendableLocked() && !p.aloneLocked() {",
		new: "p.expendableLocked() {",
	},
	{
		file: "pool_worker.go", what: "a worker that parks takes nobody in",
		old: "fresh := p.unblockLocked() // may well hand it a task at once",
		new: "var fresh []*worker",
	},
	{
		file: "pool_worker.go", what: "KeepAlive is not watched",
		old: "		p.armReaperLocked()\n\t\tp.listenLocked(w)",
		new: "		p.listenLocked(w)",
	},
	{
		file: "pool_worker.go", what: "the reaper leaves out who has been idle for exactly KeepAlive",
		old: "idle >= p.mu.keepAlive",
		new: "idle > p.mu.keepAlive",
	},
	{
		file: "pool_worker.go", what: "a worker that is lowered away stays idle",
		old: "		p.mu.workers > p.mu.max ||\n",
		new: "",
	},
	{
		file: "pool_worker.go", what: "the idle list loses whoever is above one that leaves",
		old: "		w.next.prev = w.prev\n",
		new: "		w.next.prev = nil\n",
	},
	{
		file: "pool_worker.go", what: "the idle worker that waited longest is taken first",
		old: "	w := l.top\n\tif w != nil {",
		new: "	w := l.bottom\n\tif w != nil {",
	},
	{
		file: "pool_worker.go", what: "a Goexit costs the pool a worker",
		old: "if returned || w.gone {",
		new: "if returned || w.entry.run != nil {",
	},
	{
		file: "pool_worker.go", what: "the last worker that quits leaves the alarm on",
		old: "func (p *Pool) quitLocked() (step, []*worker) {\n\tp.mu.workers--\n\tif p.mu.workers == 0 {",
		new: "func (p *Pool) quitLocked() (step, []*worker) {\n\tp.mu.workers--\n\tif p.mu.workers < 0 {",
	},
	{
		file: "pool_worker.go", what: "the last worker that is dismissed leaves the alarm on",
		old: "	p.mu.idle.remove(w)\n\tp.mu.workers--\n\tif p.mu.workers == 0 {",
		new: "	p.mu.idle.remove(w)\n\tp.mu.workers--\n\tif p.mu.workers < 0 {",
	},
	{
		file: "pool_worker.go", what: "a parked worker keeps the labels of its last task",
		old: "	pprof.SetGoroutineLabels(w.labels) // a profile",
		new: "	_ = pprof.SetGoroutineLabels // a profile",
	},
	{
		file: "pool_run.go", what: "a plain task runs although its context has ended",
		old: "	if r.ctx.Err() != nil {\n\t\treturn canceledTask\n\t}\n",
		new: "",
	},
	{
		file: "pool_run.go", what: "a future runs although its context has ended",
		old: "	submitted := t.context()\n\tif submitted.Err() != nil {",
		new: "	submitted := t.context()\n\tif submitted == nil {",
	},
	{
		file: "pool_run.go", what: "the future of a task whose BeforeTask failed stays pending",
		old: "			b.fail(end.err)\n",
		new: "			_ = b\n",
	},
	{
		file: "pool_run.go", what: "the body runs although BeforeTask failed",
		old: "		if end.err != nil {\n\t\t\treturn end\n\t\t}\n",
		new: "",
	},
	{
		file: "pool_run.go", what: "AfterTask is left out after a Goexit",
		old: "		if p.hooked || end.err != nil {\n\t\t\tp.after(",
		new: "		if p.hooked && end.err != ErrGoexit {\n\t\t\tp.after(",
	},
	{
		file: "pool_run.go", what: "a panic in AfterTask gets out",
		old: "	returned := false\n\tdefer func() {\n\t\tif !returned {\n\t\t\tp.report(ctx, info, abrupt(recover()))\n\t\t}\n\t}()\n\tp.hooks.AfterTask(ctx, info, end.err)\n\treturned = true",
		new: "	p.hooks.AfterTask(ctx, info, end.err)",
	},
	{
		file: "pool_report.go", what: "panics in futures are not counted",
		old: "		if perr != nil {\n\t\t\tp.countPanic()\n\t\t}\n",
		new: "",
	},
	{
		file: "pool_report.go", what: "that its context has ended excuses a body that has returned",
		old: "perr == nil && p.interrupted(e) && (",
		new: "perr == nil && ctx.Err() != nil && (",
	},
	{
		file: "pool_report.go", what: "an error that AfterTask was told of is logged",
		old: "(told || matches(end.err, Stop))",
		new: "matches(end.err, Stop)",
	},
	{
		file: "pool_report.go", what: "the end of a schedule in peace is logged",
		old: "(told || matches(end.err, Stop))",
		new: "told",
	},
	{
		file: "pool_report.go", what: "that a shutdown ended a body is logged",
		old: "return p.ctx.Err() != nil || e.context()",
		new: "return e.context()",
	},
	{
		file: "pool_report.go", what: "that its submitter ended a body is logged",
		old: "p.ctx.Err() != nil || e.context().Err() != nil ||",
		new: "p.ctx.Err() != nil ||",
	},
	{
		file: "pool_report.go", what: "that Cancel ended a body is logged",
		old: "t != nil && t.State() == Canceled\n}",
		new: "t != nil && t.State() == Pending\n}",
	},
	{
		file: "pool_report.go", what: "what was given back loses its name",
		old: "info.Name = u.name",
		new: "_ = u",
	},
	{
		file: "pool_report.go", what: "the panics of series go unreported",
		old: "return carried || t.series() != nil",
		new: "return carried",
	},
	{
		file: "pool_run.go", what: "tasks run without their labels",
		old: "	pprof.SetGoroutineLabels(labels)\n",
		new: "	_, _ = labels, pprof.SetGoroutineLabels\n",
	},
	{
		file: "pool_run.go", what: "the context of a plain task lives on after it",
		old: "	ctx, cancel := within(p, ctx)\n\tdefer cancel(ErrReturned)\n\treturn plainly",
		new: "	ctx, cancel := within(p, ctx)\n\t_ = cancel\n\treturn plainly",
	},
	{
		file: "pool_run.go", what: "a panic of a plain body costs the goroutine",
		old: "		if end.abrupt && t == nil {",
		new: "		if false {",
	},
	{
		file: "pool_run.go", what: "AfterTask is told that a task has exited which has panicked",
		old: "		if end.abrupt && t == nil {",
		new: "		if end.abrupt {",
	},
	{
		file: "pool_run.go", what: "a panic of what the submitter runs gets out",
		old: "		if !returned && e.task() == nil {",
		new: "		if !returned && e.task() != nil {",
	},
	{
		file: "pool_run.go", what: "AfterTask is told when the next run is due",
		old: "			p.after(ctx, w, e, early, end)\n",
		new: "			p.after(ctx, w, e, nil, end)\n",
	},
	{
		file: "pool_run.go", what: "a series outlives its submitter's context",
		old: "		expire(b, ended(submitted)) // a series whose submitter is gone\n",
		new: "",
	},
}
