package main

// taskMutants break tasks and futures: their states, contexts and outcomes.
var taskMutants = []mutant{
	{
		file: "task_state.go", what: "a task that is done begins",
		old: "if State(bits&stateBits) != Pending || bits&(inBody|bodiless) != 0 || ",
		new: "if State(bits&stateBits) == Running || bits&(inBody|bodiless) != 0 || ",
	},
	{
		file: "task_state.go", what: "a promise begins",
		old: "if State(bits&stateBits) != Pending || bits&(inBody|bodiless) != 0 || ",
		new: "if State(bits&stateBits) != Pending || bits&inBody != 0 || ",
	},
	{
		file: "task_state.go", what: "a pool takes a task that is in its body",
		old: "if bits&(linked|inBody) != 0 {",
		new: "if bits&linked != 0 {",
	},
	{
		file: "task_state.go", what: "two pools take one task",
		old: "if bits&(linked|inBody) != 0 {",
		new: "if bits&inBody != 0 {",
	},
	{
		file: "task_state.go", what: "a task that was refused stays linked",
		old: "bits&^(linked|native|wallClock) | stray",
		new: "bits&^(native|wallClock) | stray",
	},
	{
		file: "task_ties.go", what: "a task that was refused is tied to the pool all the same",
		old: "		t.ties = &untied\n",
		new: "",
	},
	{
		file: "task_ties.go", what: "a task with details that was refused is tied to the pool all the same",
		old: "		t.ties.pool = p\n",
		new: "		if p != nil {\n\t\t\tt.ties.pool = p\n\t\t}\n",
	},
	{
		file: "task_ties.go", what: "what one task has to do with others is noted for all of the pool",
		old: "	if t.ties.shared {\n",
		new: "	if false {\n",
	},
	{
		file: "task_ties.go", what: "a task's own ties are taken for shared ones",
		old: "		own.shared = false\n",
		new: "",
	},
	{
		file: "task_state.go", what: "the outcome's error is not flagged",
		old: "bits |= withErr",
		new: "_ = bits",
	},
	{
		file: "task.go", what: "the submitter's context is forgotten",
		old: "return bits | withCtx",
		new: "return bits",
	},
	{
		file: "entry.go", what: "a Runnable loses the context it was submitted with",
		old: "return r.ctx",
		new: "return context.Background()",
	},
	{
		file: "entry.go", what: "a future that another pool has is taken for this pool's",
		old: "case ok && b.core().attach(p, ctx, due):",
		new: "case ok && (b.core().attach(p, ctx, due) || true):",
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
		file: "task_state.go", what: "a completed task stays in its queue",
		old: "if pool != nil {\n\t\tpool.forget(t)",
		new: "if pool != nil && !s.Done() {\n\t\tpool.forget(t)",
	},
	{
		file: "task_state.go", what: "waiters wake before the task has left its queue",
		old: "	if pool != nil {\n\t\tpool.forget(t) // before the waiters wake, so that they find it gone\n\t}\n\tout.announce()",
		new: "	out.announce()\n\tif pool != nil {\n\t\tpool.forget(t)\n\t}",
	},
	{
		file: "task_state.go", what: "a cancellation is forgotten if nobody had looked at the context",
		old: "m.cause = interrupt\n",
		new: "",
	},
	{
		file: "task.go", what: "who asks for Done after the end waits for ever",
		old: "	case State(bits & stateBits).Done():\n\t\tdone = closed\n",
		new: "",
	},
	{
		file: "task.go", what: "who asks for Done is passed over by a cancellation",
		old: "		t.tiesLocked().done = done\n\t\tbits |= asked\n",
		new: "		t.tiesLocked().done = done\n",
	},
	{
		file: "task.go", what: "callbacks are passed over by a cancellation",
		old: "t.unlock(bits | asked)",
		new: "t.unlock(bits)",
	},
	{
		file: "task_state.go", what: "the watch over the submitter's context is passed over by a cancellation",
		old: "		bits |= asked\n",
		new: "",
	},
	{
		file: "task_state.go", what: "a cancellation breaks a task's lock",
		race: true,
		old:  "(stateBits|held|asked|native)",
		new:  "(stateBits|asked|native)",
	},
	{
		file: "task_state.go", what: "a task that is done is canceled once more",
		old: "(stateBits|held|asked|native)",
		new: "(held|asked|native)",
	},
	{
		file: "task_state.go", what: "a task that was refused is canceled in one step",
		old: "bits&^(linked|native|wallClock) | stray",
		new: "bits&^(linked|wallClock) | stray",
	},
	{
		file: "task_state.go", what: "a future that two have in hand is canceled in one step",
		race: true,
		old:  "(stateBits|held|asked|native) == native",
		new:  "(stateBits|held|asked|linked) == linked",
	},
	{
		file: "scheduled.go", what: "a task that was shown to others is canceled in one step",
		race: true,
		old:  "t.preset(t.load() &^ native) // decorate may show it to others\n",
		new:  "",
	},
	{
		file: "future.go", what: "a task that was canceled in one step stays in its queue",
		old: "		f.ties.pool.forget(f.core())\n\t\treturn true",
		new: "		return true",
	},
	{
		file: "future.go", what: "a task that was canceled in one step keeps its body",
		old: "		f.fn = nil\n\t\tf.ties.pool.forget",
		new: "		f.ties.pool.forget",
	},
	{
		file: "future.go", what: "the body of a task that is done is given back",
		race: true,
		old:  "	if !State(bits & stateBits).Done() { // else abort",
		new:  "	if true { // else abort",
	},
	{
		file: "task_state.go", what: "Done is not closed",
		old: "close(a.done)",
		new: "_ = a.done",
	},
	{
		file: "task_state.go", what: "Join is not told that the body has returned",
		old: "close(a.left)",
		new: "_ = a.left",
	},
	{
		file: "task_state.go", what: "the watch over the submitter's context is not taken down",
		old: "defer leave(a.watch)\n",
		new: "_ = a.watch\n",
	},
	{
		file: "task_state.go", what: "the watch over the submitter's context is taken down at once",
		old: "	if done {\n\t\tleave(l)",
		new: "	if true {\n\t\tleave(l)",
	},
	{
		file: "task_state.go", what: "a context stays watched for a future that is done before its pool begins",
		old: "	if done {\n\t\tleave(l)",
		new: "	if false {\n\t\tleave(l)",
	},
	{
		file: "task_state.go", what: "a canceled series goes on",
		old: "again := State(bits&stateBits) == Running",
		new: "again := true",
	},
	{
		file: "task_state.go", what: "the run before has left its context to the next",
		old: "m.run, m.cancel, m.cause = nil, nil, nil // those of the run before",
		new: "m.cancel, m.cause = nil, nil",
	},
	{
		file: "task_word.go", what: "a task's lock is not marked as taken",
		old: "bits|held) {\n\t\treturn bits\n\t}\n\treturn w.wait()",
		new: "bits) {\n\t\treturn bits\n\t}\n\treturn w.wait()",
	},
	{
		file: "task_word.go", what: "who waits for a task's lock takes it from who has it",
		old: "		bits = w.load() &^ held\n",
		new: "		bits = w.load()\n",
	},
	{
		file: "task.go", what: "Done takes no lock",
		race: true,
		old:  "	bits := t.lock()\n\tdone := t.ties.done",
		new:  "	bits := t.load() &^ held\n\tdone := t.ties.done",
	},
	{
		file: "task.go", what: "a wait that is over by its context does not look at the outcome",
		old: `	select {
	case <-c:
		return nil
	default:
		return ended(ctx)
	}`,
		new: "	return ended(ctx)",
	},
	{
		file: "task.go", what: "callbacks on a task that is done are not called",
		old: "		t.unlock(bits)\n\t\tf()\n",
		new: "		t.unlock(bits)\n",
	},
	{
		file: "bulk.go", what: "a loop over Completed that was left is still told of futures",
		old: "				f.withdraw(c.notices[i])\n",
		new: "				_, _ = i, f\n",
	},
	{
		file: "pool.go", what: "a type that embeds a future is taken for it",
		old: "b.origin() != task",
		new: "b == nil",
	},
	{
		file: "context.go", what: "two that look at the same time get two contexts",
		old: "	if m.run != nil {\n\t\twinner := m.run",
		new: "	if m.run != nil && m.run == run {\n\t\twinner := m.run",
	},
	{
		file: "context.go", what: "a context looked at after the body never ends",
		old: "	case bits&inBody == 0:\n\t\tend = ErrReturned\n",
		new: "",
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
		file: "context.go", what: "the pool keeps the contexts of bodies that have returned",
		old: "		unhook()\n\t\tcancel(cause)",
		new: "		_ = unhook\n\t\tcancel(cause)",
	},
	{
		file: "context.go", what: "a body's context has no values",
		old: "	return j.values.Value(key)",
		new: "	return nil",
	},
	{
		file: "context.go", what: "a detached parent answers for the context inside",
		old: `	if v := j.Context.Value(key); v != nil {
		return v
	}
	return j.values`,
		new: "	return j.values",
	},
	{
		file: "future.go", what: "Abandon ends the context",
		old: "return f.settle(Canceled, nil, f.drop)",
		new: "return f.Cancel()",
	},
	{
		file: "future.go", what: "a pool completes what somebody runs by hand",
		old: "return f.settleIf(true, s, err, nil, f.drop)",
		new: "return f.settleIf(false, s, err, nil, f.drop)",
	},
	{
		file: "future.go", what: "a future that runs by hand stays in its queue",
		old: "defer p.forget(f.core()) // it need not wait any more",
		new: "_ = p",
	},
	{
		file: "future.go", what: "a body that panics leaves its future pending",
		old: "told = conclude(zero, abrupt(recover()))",
		new: "told, _ = abrupt(recover()), zero",
	},
	{
		file: "future.go", what: "a late value overwrites that of Complete",
		old: "		if won {\n\t\t\tf.value = v\n\t\t}",
		new: "		f.value = v",
	},
	{
		file: "future.go", what: "a finished future keeps its body",
		old: "			f.value = v\n\t\t}\n\t\tf.fn = nil",
		new: "			f.value = v\n\t\t}",
	},
	{
		file: "future.go", what: "a series that was canceled in its run keeps its body",
		old: "	bits := f.lock()\n\tf.drop()\n\tf.unlock(bits)\n\treturn false",
		new: "	return false",
	},
	{
		file: "bulk.go", what: "InvokeAny leaves the losers alone",
		old: "defer c.cancel()\n\tvar last error",
		new: "var last error",
	},
	{
		file: "bulk.go", what: "InvokeAny succeeds when a context without an error has ended",
		old: "	if c.pending() > 0 || ctx.Err() != nil {\n",
		new: "	if ctx.Err() != nil {\n",
	},
	{
		file: "errors.go", what: "a cause that can't be compared is logged",
		old: "	return errors.Is(err, target) || same(err, target)\n",
		new: "	return errors.Is(err, target)\n",
	},
	{
		file: "bulk.go", what: "a future that is done wakes nobody",
		old: "case c.wake <- struct{}{}:",
		new: "case (chan struct{})(nil) <- struct{}{}:",
	},
	{
		file: "task_state.go", what: "a future that was submitted more than once is looked for in one place",
		old: "		t.unlock(bits | plural)\n",
		new: "		t.unlock(bits)\n",
	},
}
