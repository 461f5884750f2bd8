package main

// durableNodeMutants break how a node of durable jobs claims, begins, gives back
// and ends.
var durableNodeMutants = []mutant{
	{
		file: "durable/poll.go", what: "a kind's limit does not count what the node holds",
		old: "most = min(most, k.limit-n.mu.perKind[name])",
		new: "most = min(most, k.limit)",
	},
	{
		file: "durable/poll.go", what: "a claim does not ask for the limit of all nodes",
		old: "KindLimit{name, most, k.global}",
		new: "KindLimit{name, most, 0}",
	},
	{
		file: "durable/poll.go", what: "a node whose workers are busy for long claims more",
		old: "n.mu.fenced || n.mu.draining || n.mu.stalled || n.mu.orphans > 0 {\n\t\treturn ClaimRequest{}, false",
		new: "n.mu.fenced || n.mu.draining || n.mu.orphans > 0 {\n\t\treturn ClaimRequest{}, false",
	},
	{
		file: "durable/poll.go", what: "a node claims more than its workers can begin soon",
		old: "	if n.mu.due > n.mu.budget/2 && n.mu.due > 0 {",
		new: "	if false {",
	},
	{
		file: "durable/poll.go", what: "what is not due yet is claimed ahead only as far as there are workers",
		old: "	again = full && slices.ContainsFunc(claims.Jobs, func(j Job) bool { return j.State == Claimed })\n",
		new: "	again = full && slices.ContainsFunc(claims.Jobs, func(j Job) bool { return false })\n",
	},
	{
		file: "durable/poll.go", what: "a claim whose answer was lost is forgotten",
		old: "		n.mu.Lock()\n\t\tn.loseAnswerLocked()\n\t\tn.mu.Unlock()\n\t\treturn false, err",
		new: "		return false, err",
	},
	{
		file: "durable/poll.go", what: "who finds another node claiming waits for the next look",
		old: "	if claims.Busy {",
		new: "	if false {",
	},
	{
		file: "durable/poll.go", what: "a release takes what an insert under way has been given",
		old: "			keep = append(keep, jobs[i].ID)\n",
		new: "			_ = i\n",
	},
	{
		file: "durable/poll.go", what: "what a release could not free is not released again",
		old: "n.mu.stuck = left || early",
		new: "n.mu.stuck = early || left && early",
	},
	{
		file: "durable/poll.go", what: "a release that may have come before the call it makes up for is not repeated",
		old: "n.mu.stuck = left || early",
		new: "n.mu.stuck = left || left && early",
	},
	{
		file: "durable/poll.go", what: "nothing is released without a reason",
		old: "			n.suspect()\n",
		new: "",
	},
	{
		file: "durable/poll.go", what: "a busy node keeps what waits for its workers",
		old: "	if waiting <= keep {",
		new: "	if waiting >= 0 {",
	},
	{
		file: "durable/poll.go", what: "a node whose workers are busy for long keeps some of what waits",
		old: "		n.mu.stalled, keep = true, 0\n",
		new: "		n.mu.stalled = true\n",
	},
	{
		file: "durable/poll.go", what: "what others do with a pool does not count as its progress",
		old: "	if pool.Runs != n.mu.ended {",
		new: "	if false {",
	},
	{
		file: "durable/run.go", what: "a worker that becomes free after long waits for the next look",
		old: "	if stalled {\n\t\tn.wake()",
		new: "	if false && stalled {\n\t\tn.wake()",
	},
	{
		file: "durable/poll.go", what: "much that is to be pruned is pruned once a minute",
		old: "		if removed >= pruneMore {",
		new: "		if removed < 0 {",
	},
	{
		file: "durable/poll.go", what: "the log is told of an unknown kind again and again",
		old: "n.jobs.kind(name) == nil && !warned[name]",
		new: "n.jobs.kind(name) == nil",
	},
	{
		file: "durable/poll.go", what: "a node that can't listen tries again at once",
		old: "			pause = outage.delay()\n",
		new: "			pause = 0\n",
	},
	{
		file: "durable/hint.go", what: "hints that lead to something are put together",
		old: "		h.mu.pause = 0\n",
		new: "",
	},
	{
		file: "durable/hint.go", what: "each hint is a look, whether it leads to something or not",
		old: "; left > 0 {\n\t\th.mu.armed = true",
		new: "; left > maxHintPause {\n\t\th.mu.armed = true",
	},
	{
		file: "durable/hint.go", what: "a hint that comes too soon after a look is forgotten",
		old: "		time.AfterFunc(left, h.lookNow)\n",
		new: "		h.mu.armed = false\n",
	},
	{
		file: "durable/run.go", what: "what comes for a name that the node had before is held",
		old: "n.mu.name != name || n.mu.fenced || n.mu.draining {\n\t\t\tn.mu.orphans++",
		new: "n.mu.fenced || n.mu.draining {\n\t\t\tn.mu.orphans++",
	},
	{
		file: "durable/run.go", what: "what comes to a node that drains is held",
		old: "n.mu.name != name || n.mu.fenced || n.mu.draining {\n\t\t\tn.mu.orphans++",
		new: "n.mu.name != name || n.mu.fenced {\n\t\t\tn.mu.orphans++",
	},
	{
		file: "durable/run.go", what: "an answer that was overtaken takes the place of the run that came after it",
		old: "			if old.job.Epoch >= r.job.Epoch {",
		new: "			if false {",
	},
	{
		file: "durable/poll.go", what: "a node whose pool is shut down claims",
		old: "	if !n.open() {\n\t\treturn ClaimRequest{}, false",
		new: "	if false {\n\t\treturn ClaimRequest{}, false",
	},
	{
		file: "durable/node.go", what: "a node whose pool is shut down takes what is added there",
		old: "	if !n.open() {\n\t\treturn Place{}",
		new: "	if false {\n\t\treturn Place{}",
	},
	{
		file: "durable/run.go", what: "what a pool declines is held for ever",
		old: "		if given {\n\t\t\tn.dropLocked(r)\n\t\t\tn.mu.orphans++\n\t\t}\n",
		new: "",
	},
	{
		file: "durable/run.go", what: "a run whose confirm was refused begins",
		old: "	if !ok {\n\t\tn.dropLocked(r)\n\t}\n\tif r.dropped {",
		new: "	if r.dropped {",
	},
	{
		file: "durable/run.go", what: "a run begins before its time when the store's clock was put back",
		old: "	if n.clock.until(r.timeLocked()) > clockNoise {",
		new: "	if false {",
	},
	{
		file: "durable/run.go", what: "an occurrence that was moved begins before its time",
		old: "		return maxTime(r.job.Due, r.job.Occurrence)\n",
		new: "		return r.job.Due\n",
	},
	{
		file: "durable/run.go", what: "who began a quarter of what it claimed waits for its next look",
		old: "	if look {\n",
		new: "	if false && look {\n",
	},
	{
		file: "durable/run.go", what: "a place that a limited kind has free waits for the next look",
		old: "	if r.kind.limit > 0 || r.kind.global > 0 || ok &&",
		new: "	if ok &&",
	},
	{
		file: "durable/run.go", what: "an occurrence that follows soon waits for the next look",
		old: " || ok && o.State == Waiting && n.clock.until(o.Due) < n.ahead() {",
		new: " {",
	},
	{
		file: "durable/run.go", what: "a drain forgets a run that waits for the store to have its occurrence",
		old: "		n.dropLocked(r) // as all else was that had not begun\n\t\tn.mu.orphans++\n",
		new: "		n.dropLocked(r)\n",
	},
	{
		file: "durable/node.go", what: "a node that drains keeps what has not begun",
		old: "	n.mu.draining = true\n\tn.dropWaitingLocked(all)\n",
		new: "	n.mu.draining = true\n",
	},
	{
		file: "durable/node.go", what: "a node that drains does not wait for its handlers",
		old: "	n.giveBackUntil(ctx, bodies)\n",
		new: "	_ = bodies\n",
	},
	{
		file: "durable/node.go", what: "a node that drains never cancels its handlers",
		old: "		n.cancelLocked(executor.ErrShutdown)\n",
		new: "",
	},
	{
		file: "durable/node.go", what: "a node leaves before the store has its outcomes",
		old: "	case <-n.mu.empty:\n\tcase <-timer.C:",
		new: "	default:\n\tcase <-timer.C:",
	},
	{
		file: "durable/node.go", what: "a node that ends does not say so",
		old: "n.jobs.store.Leave(opCtx, n.name()); err",
		new: "opCtx.Err(); err",
	},
	{
		file: "durable/node.go", what: "outcomes are not committed any more once Run's context has ended",
		old: "n.settler.loop(live)",
		new: "n.settler.loop(ctx)",
	},
	{
		file: "durable/node.go", what: "Run's context ends those of its handlers",
		old: "values: context.WithoutCancel(ctx)",
		new: "values: ctx",
	},
	{
		file: "durable/node.go", what: "a node takes a new job of a limited kind past the limit",
		old: "k == nil || k.limit > 0 || k.global > 0 {",
		new: "k == nil || k.global > 0 {",
	},
	{
		file: "durable/node.go", what: "a node takes a new job past the limit of all nodes",
		old: "k == nil || k.limit > 0 || k.global > 0 {",
		new: "k == nil || k.limit > 0 {",
	},
	{
		file: "durable/node.go", what: "a node takes a new job of a kind that it does not handle",
		old: "k == nil || k.limit > 0 || k.global > 0 {",
		new: "k != nil && (k.limit > 0 || k.global > 0) {",
	},
	{
		file: "durable/node.go", what: "what an insert has given to a node is not released when the clock was put back since",
		old: "		delete(n.mu.inserting, &jobs[0]) //",
		new: "		defer func() { n.mu.Lock(); delete(n.mu.inserting, &jobs[0]); n.mu.Unlock() }() //",
	},
	{
		file: "durable/node.go", what: "an insert whose answer was lost is forgotten",
		old: "		if err != nil {\n\t\t\tn.loseAnswerLocked()\n\t\t}\n",
		new: "",
	},
	{
		file: "durable/settle.go", what: "an entry whose row is locked is forgotten",
		old: "			time.AfterFunc(pause, func() { s.add(e) })\n",
		new: "			_ = pause\n",
	},
	{
		file: "durable/settle.go", what: "one outcome that the store can't take holds up the others",
		old: "		if o.failed >= 5 {",
		new: "		if false {",
	},
}
