package main

// rejectMutants break the rejection policies.
var rejectMutants = []mutant{
	{
		file: "reject.go", what: "Abort leaves the future pending",
		old: "	err := p.rejected(why)\n\te.end(Failed, err)\n",
		new: "	err := p.rejected(why)\n",
	},
	{
		file: "reject.go", what: "Abort does not count",
		old: "func (p *Pool) abort(_ context.Context, e entry, why error) error {\n\tp.countRejected()\n",
		new: "func (p *Pool) abort(_ context.Context, e entry, why error) error {\n",
	},
	{
		file: "reject.go", what: "Discard leaves the future pending",
		old: "	e.end(Failed, p.rejected(why))\n",
		new: "",
	},
	{
		file: "reject.go", what: "under CallerRuns a body is due when its submitter was",
		old: "within(p, withDue(ctx, time.Time{}))",
		new: "within(p, withDue(ctx, time.Unix(1, 0)))",
	},
	{
		file: "reject.go", what: "CallerRuns runs tasks of a pool that is shut down",
		old: "	if p.Stage() != StageRunning {\n\t\treturn p.abort(ctx, e, ErrShutdown)\n\t}\n",
		new: "",
	},
	{
		file: "reject.go", what: "CallerRuns lets a context live on after its task",
		old: "		defer cancel(ErrReturned)\n\t\tp.runHere(ctx, e)",
		new: "		_ = cancel\n\t\tp.runHere(ctx, e)",
	},
	{
		file: "reject.go", what: "DiscardOldest leaves the oldest pending",
		old: "	defer oldest.end(Failed, p.rejected(why)) // after e is looked after: its OnDone may not return\n",
		new: "	_ = oldest\n",
	},
	{
		file: "reject.go", what: "DiscardOldest drops one although there is room by now",
		old: "	if verdict == saturated {\n\t\tvar ok bool",
		new: "	if verdict != tooLate {\n\t\tvar ok bool",
	},
	{
		file: "reject.go", what: "a task that a user's policy gives to one of ours is counted twice",
		old: "	pool.mu.gate.submitted-- // refuse",
		new: "	// refuse",
	},
	{
		file: "reject.go", what: "a refused task can't be given to another pool",
		old: "		t.detach() //",
		new: "		_ = t.detach //",
	},
	{
		file: "reject.go", what: "the error of a user's policy does not reach the future",
		old: "	decided = true\n\tif err != nil {\n\t\te.end(Failed, err)\n\t}",
		new: "	decided = true",
	},
	{
		file: "reject_block.go", what: "Block waits although there is room by now",
		old: "	w, v := p.admitLocked(e, e.task()) // there may be room by now\n",
		new: "	var w *worker\n\tv := saturated\n",
	},
	{
		file: "reject_block.go", what: "a submitter that gave up is admitted later",
		old: "	p.mu.blocked.Remove(b.place)\n",
		new: "",
	},
	{
		file: "reject_block.go", what: "one submitter is admitted where there is room for more",
		old: "for p.mu.blocked.Len() > 0 {",
		new: "for len(fresh) == 0 && p.mu.blocked.Len() > 0 {",
	},
	{
		file: "reject_block.go", what: "a submitter that gives up ignores that it was admitted",
		old: "		return p.settled(ctx, e, <-b.decided) // decided in the same moment, and that stands",
		new: "		return p.abort(ctx, e, ended(ctx))",
	},
	{
		file: "reject_block.go", what: "submitters that are turned away are not told",
		old: "		b.decided <- tooLate\n",
		new: "		_ = b\n",
	},
	{
		file: "reject_block.go", what: "the worker made for a blocked submitter is not started",
		old: "			fresh = append(fresh, w)\n",
		new: "			_ = fresh\n",
	},
	{
		file: "reject_block.go", what: "who waits for room for a time waits on",
		old: "	case <-over:\n\t\tlate = true\n",
		new: "",
	},
	{
		file: "pool_heed.go", what: "a task whose submitter's context panics is never done",
		old: "		p.countRejected()\n\t\te.end(Failed, err)\n",
		new: "		p.countRejected()\n",
	},
	{
		file: "pool_heed.go", what: "a task whose submitter's code panics counts as nothing",
		old: "		p.countRejected()\n\t\te.end(Failed, err)\n",
		new: "		e.end(Failed, err)\n",
	},
	{
		file: "pool_heed.go", what: "who submits does not get the panic of his own code",
		old: "		panic(perr.Value)\n",
		new: "		_ = perr\n",
	},
	{
		file: "pool_heed.go", what: "a task runs whose submitter got a panic",
		old: "		expire(b, err)\n",
		new: "",
	},
	{
		file: "context.go", what: "a wait that a context without an error has ended was in vain, and says nothing",
		old: "	if err == nil {\n\t\terr = context.Canceled\n\t}\n",
		new: "",
	},
	{
		file: "pool_worker.go", what: "a Goexit in BeforeTask is told twice",
		old: "(done || w.told || w.ran)",
		new: "(done || w.ran)",
	},
}
