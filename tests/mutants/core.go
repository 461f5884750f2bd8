package main

// coreMutants break the executors, and the structures below them.
var coreMutants = []mutant{
	{
		file: "internal/task/state.go", what: "two pools take one task",
		old: "if bits&(attached|inBody) != 0 {",
		new: "if bits&inBody != 0 {",
		by:  ".", test: "TestFutureSubmittedTwice",
	},
	{
		file: "internal/task/state.go", what: "a late outcome wins over the cancellation",
		old: "won := !State(bits & stateBits).Done()",
		new: "won := true",
		by:  ".", test: "TestFutureLateOutcomeIsDiscarded",
	},
	{
		file: "internal/task/context.go", what: "the first look after a cancellation finds a live context",
		old: "\tcase c.cause != nil:\n\t\tend = c.cause\n",
		new: "",
		by:  ".", test: "TestFutureCancelBeforeFirstUseOfContext",
	},
	{
		file: "internal/task/context.go", what: "a body that begins after ShutdownNow has a live context",
		old: "\tif o.ctx.Err() != nil {\n\t\tcancel(context.Cause(o.ctx)) // the AfterFunc would do it some time later\n\t}\n",
		new: "",
		by:  ".", test: "TestTaskContextFirstUsedAfterShutdownNow|TestCallerRunsShutdownNowAfterTermination|TestRejectFuncRunsTaskAfterShutdownNow",
	},
	{
		file: "internal/ctxgroup/ctxgroup.go", what: "a context is missed that ends while the group of its members is made",
		old: "\t\tgo s.end(done)\n",
		new: "\t\t_ = done\n",
		by:  ".", test: "TestPoolContext",
	},
	{
		file: "internal/delay/queue.go", what: "a reading of the wall clock is trusted without a bound",
		old:  "min(Until(r.Key, q.seen.Wall), q.trust)",
		new:  "min(Until(r.Key, q.seen.Wall), q.trust*1e6)",
		test: "TestQueueNext|TestQueueWallClockSetForward",
	},
	{
		file: "internal/delay/queue.go", what: "a wall clock that is set back stops triggers",
		old:  "if back > LeastStep {",
		new:  "if back < -LeastStep {",
		test: "TestQueueWallClockSetBack",
	},
	{
		file: "internal/engine/lock.go", what: "a gate that closed during the wait for its lock takes a unit",
		old:  "	admitted := g.open.Load() && g.stream.pushTail(u)\n",
		new:  "	admitted := g.stream.pushTail(u)\n",
		test: "TestEngineGateIsCheckedUnderItsLock",
	},
	{
		file: "internal/engine/worker.go", what: "room made by a worker is not given to a blocked submitter",
		old: "\t\te.giveHalfLocked(w, u)\n\t\tif e.nBlocked > 0 {\n\t\t\te.unblockLocked()\n\t\t}\n",
		new: "\t\te.giveHalfLocked(w, u)\n",
		by:  ".", test: "TestBlockOrder|TestBlockAdmitsAsManyAsFit",
	},
	{
		file: "internal/engine/worker.go", what: "a Goexit costs the pool a worker",
		old: "if back || w.state == gone {",
		new: "if back || w.state != free {",
		by:  ".", test: "TestPoolRunGoexitOfFirstTask|TestPoolRunExits",
	},
	{
		file: "internal/engine/lease.go", what: "a lease that finds nothing keeps its place from others",
		old: "	if e.nBlocked > 0 {\n\t\te.unblockLocked()\n\t}\n\te.askLocked()\n",
		new: "	e.askLocked()\n",
		by:  "./tests/history", test: "TestMixtureEnds",
	},
	{
		file: "internal/engine/admit.go", what: "a worker whose outcome is known is not free for a hand-over",
		old: "n := free + showing\n",
		new: "n := free\n",
		by:  "./internal/engine", test: "TestEngineRoomIsForWhoTakesTheNext",
	},
	{
		file: "internal/engine/admit.go", what: "a worker that finds no token of the rate makes room beyond the limit of the queue",
		old: "n = int(min(int64(n), e.Rate.Tokens(e.Now())))",
		new: "",
		by:  "./internal/engine", test: "TestEngineRoomIsForWhoTakesTheNext",
	},
	{
		file: "siblings.go", what: "a function that is added is not wanted by the task that waits for its group",
		old:  "	case s.waiting.wanted.Load():\n",
		new:  "	case false:\n",
		test: "TestGroupGoWhileTaskWaits",
	},
	{
		file: "internal/engine/lend.go", what: "a place that was lent is not reclaimed",
		old: "	e.lent--\n\te.retireLocked()\n",
		new: "	e.retireLocked()\n",
		by:  ".", test: "TestWaitEndsAtItsLimit|TestPlaceOfTaskThatWaits",
	},
	{
		file: "internal/engine/lend.go", what: "what was wanted first is run first",
		old: "	for i := len(e.wanted) - 1; i >= 0; i-- {\n\t\tq, place",
		new: "	for i := 0; i < len(e.wanted); i++ {\n\t\tq, place",
		by:  ".", test: "TestPlaceOfTaskThatWaits",
	},
	{
		file: "internal/engine/worker.go", what: "a place that is lent is taken by whatever is next",
		old: "	if lent {\n\t\treturn e.popWantedLocked(w)\n\t}\n",
		new: "	if lent {\n\t\tdefer e.coverLocked(w)\n\t}\n",
		by:  ".", test: "TestPlaceOfTaskThatWaits",
	},
	{
		file: "internal/engine/lend.go", what: "the leases of units that are wanted are not",
		old: "	missing := min(e.wantedLocked(), e.workers-e.active) - e.wantAsked\n",
		new: "	missing := 0\n",
		by:  ".", test: "TestPlaceOfTaskThatWaits|TestWaitsForTasksThatWaitEnd",
	},
	{
		file: "internal/lanes/lanes.go", what: "a key is not wanted any more once one of its units has left",
		old: "		i.lane.marked--\n",
		new: "		i.lane.marked = 0\n",
		by:  ".", test: "TestWaitsForTasksThatWaitEnd|TestKeyed",
	},
	{
		file: "reject.go", what: "a submitter whose wait ends ignores that it was admitted",
		old:  "return p.finish(ctx, u, <-waiter.Decided()) // decided in the same moment, and that stands",
		new:  "return p.abort(ctx, u, task.ContextError(ctx), true)",
		test: "TestBlockAdmissionStands|TestBlockContextEndsDuringAdmission",
	},
	{
		file: "series_run.go", what: "a time that was found by the old rhythm replaces that of the new",
		old:  "\t\tif s.version == f.version {\n",
		new:  "\t\tif s.version >= f.version {\n",
		test: "TestSeriesRescheduleWhileTriggerIsAsked",
	},
	{
		file: "internal/engine/leave.go", what: "room made by a cancellation is not given to who waits for it",
		old: "	if e.nBlocked > 0 {\n\t\te.unblockLocked()\n\t}\n\tif e.InOrder",
		new: "	if e.InOrder",
		by:  ".", test: "TestBlock",
	},
	{
		file: "internal/engine/stop.go", what: "the alarm of an engine without work is not closed",
		old: "		idle.Close()\n",
		new: "		_ = idle\n",
		by:  "./tests/realtime", test: "TestScheduledPoolAlarmsAreClosed",
	},
	{
		file: "internal/ring/ring.go", what: "the ring retains what was removed from its middle",
		old: "	c.slots[i] = *new(E)\n",
		new: "",
	},
	{
		file: "internal/alarm/waker_linux.go", what: "a waker that has gone off counts as armed",
		old: "	w.mu.armed = never\n",
		new: "",
	},
	{
		file: "queue/wait.go", what: "what was handed over is lost if the context ends",
		old: "			return w.outcome\n",
		new: "			select {\n\t\t\tcase <-done:\n\t\t\t\treturn ended\n\t\t\tdefault:\n\t\t\t\treturn w.outcome\n\t\t\t}\n",
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
