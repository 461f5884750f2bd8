package main

// durableMutants break durable jobs.
var durableMutants = []mutant{
	{
		file: "durable/internal/node/poll.go", what: "a claim whose answer was lost is forgotten",
		old: "		n.ledger.loseAnswer()\n\t\treturn false, false, err",
		new: "		return false, false, err",
	},
	{
		file: "durable/internal/node/run_state.go", what: "a run whose confirm was refused begins",
		old: "	if !ok {\n\t\tl.dropLocked(r)\n\t}\n\tif r.state == gone {",
		new: "	if r.state == gone {",
	},
	{
		file: "durable/internal/node/place.go", what: "an insert whose answer was lost is forgotten",
		old: "		if failed {\n\t\t\tl.loseAnswerLocked()\n\t\t}\n",
		new: "",
	},
	{
		file: "durable/internal/node/lease.go", what: "a lease is renewed from when the answer came",
		old: "l.mu.renewed = sent\n",
		new: "l.mu.renewed = time.Now()\n",
	},
	{
		file: "durable/internal/node/release.go", what: "a release frees what is being inserted",
		old: "	for _, jobs := range l.mu.inserting {",
		new: "	for _, jobs := range map[*store.NewJob][]store.NewJob{} {",
		by:  "./durable/internal/node", test: "TestLedgerKeepsItsBooks",
	},
	{
		file: "durable/internal/node/ledger.go", what: "a job is held that was claimed by an incarnation of before",
		old: "if l.mu.name != name || !l.keepsLocked(&r.job) {",
		new: "if !l.keepsLocked(&r.job) {",
		by:  "./durable/internal/node", test: "TestLedgerKeepsItsBooks",
	},
	{
		file: "durable/internal/node/ledger.go", what: "what came after a pause waits",
		old: "if l.mu.name != name || !l.keepsLocked(&r.job) {",
		new: "if l.mu.name != name || l.mu.fenced || l.mu.draining || l.mu.resting {",
		by:  "./durable/internal/node", test: "TestLedgerKeepsItsBooks",
	},
	{
		file: "durable/internal/node/run_state.go", what: "a run that was given back is not released",
		old: "	l.dropLocked(r)\n\tl.mu.due++\n",
		new: "	l.dropLocked(r)\n",
		by:  "./durable/internal/node", test: "TestLedgerKeepsItsBooks",
	},
	{
		file: "durable/internal/node/run_state.go", what: "a run that was postponed is kept by a node that rests",
		old: "	if !l.keepsLocked(&r.job) {\n\t\tl.giveBackLocked(r)\n\t\treturn false, true\n\t}\n",
		new: "",
		by:  "./durable/internal/node", test: "TestLedgerKeepsItsBooks",
	},
	{
		file: "durable/internal/node/run_state.go", what: "a run begins when the lease is over",
		old: "	if l.leaseLeftLocked() <= 0 {\n",
		new: "	if l.leaseLeftLocked() <= -1<<62 {\n",
		by:  "./durable/internal/node", test: "TestLedgerKeepsItsBooks",
	},
	{
		file: "durable/internal/node/budget.go", what: "a claim asks for more of a kind than its limit has room for",
		old: "k.Limit-l.mu.perKind[name]",
		new: "k.Limit",
		by:  "./durable/internal/node", test: "TestLedgerKeepsItsBooks",
	},
	{
		file: "durable/internal/storeclock/storeclock.go", what: "an answer from before a jump of the store's clock undoes what a later one said",
		old: "	if q.era != c.mu.era {\n",
		new: "	if false {\n",
	},
	{
		file: "durable/internal/node/perform.go", what: "a run that was cut short decides anew what it is for",
		old: "r.job.Attempt <= 1 && !cutShort {",
		new: "r.job.Attempt <= 1 && (true || cutShort) {",
	},
	{
		file: "durable/store/transition/transition.go", what: "a confirm is an attempt",
		old: "		j.State = store.Confirmed\n\t}\n\tif !c",
		new: "		j.State = store.Confirmed\n\t}\n\tj.Attempt++\n\tif !c",
	},
	{
		file: "durable/store/transition/transition.go", what: "what a dead node has not begun is lost",
		old: "	if j.State != store.Running {\n\t\tRelease(j, now)",
		new: "	if !j.State.Granted() {\n\t\tRelease(j, now)",
	},
	{
		file: "durable/internal/node/solitude.go", what: "a job that may kill its node takes the next with it",
		old: "	s.behind = append(s.behind, r)\n\treturn false\n",
		new: "	return true\n",
	},
	{
		file: "durable/internal/node/begun.go", what: "what may have killed its node is begun before that is noted",
		old: "	case !r.job.Suspect:\n",
		new: "	case true:\n",
	},
	{
		file: "durable/store/transition/transition.go", what: "a pending cancellation is forgotten when a job is released",
		old: "is decided on anew\n\t\t}\n\t}\n\tApplyPending(j)\n",
		new: "is decided on anew\n\t\t}\n\t}\n",
		by:  "./durable/memory", test: "TestStoreConformance",
	},
	{
		file: "durable/sqlite/commit.go", what: "an outcome of an older epoch is committed",
		old: "where id = ?9 and epoch = ?10 and state",
		new: "where id = ?9 and epoch >= ?10 and state",
		by:  "./durable/sqlite", test: "TestStoreConformance",
	},
	{
		file: "durable/sqlite/commit.go", what: "an outcome that is repeated is refused",
		old: "			c.ok, c.before = true, true\n",
		new: "			c.ok, c.before = false, true\n",
	},
	{
		file: "durable/sqlite/writer.go", what: "a call returns before the commit",
		old: "		err = w.exec(\"commit\")\n\t\tundo = err != nil\n",
		new: "		w.exec(\"commit\")\n",
	},
	{
		file: "durable/postgres/commit.go", what: "the history has the error of the job",
		old: "finished, verdict, run_error, label, output from u",
		new: "finished, verdict, error, label, output from u",
	},
	{
		file: "durable/postgres/set.go", what: "of several jobs those are added that can be",
		old: "		return nil, &conflictError{placed}\n",
		new: "		return placed, nil\n",
	},
	{
		file: "durable/postgres/tx.go", what: "a transaction keeps what could not be added as a whole",
		old: "rollback to savepoint executor",
		new: "select 1",
	},
	{
		file: "durable/postgres/claim.go", what: "a node that is dead claims",
		old: "[{High} - k.priority + 1] and exists (select from node)\n",
		new: "[{High} - k.priority + 1]\n",
	},
	{
		file: "durable/postgres/claim.go", what: "two nodes count what all hold at the same time",
		old: "seen.kind = mine.kind and seen.turn = mine.turn where",
		new: "seen.kind = mine.kind where",
	},
	{
		file: "durable/postgres/notify.go", what: "no node is notified of a new job",
		old: "			soon = true\n",
		new: "",
		by:  "./durable/postgres", test: "TestListenReportsDueJobs",
	},
	{
		file: "durable/postgres/do.go", what: "the rows of a commit that failed are believed",
		old: "	case err != nil:\n\t\treturn none, err\n\t}\n\treturn v, nil\n",
		new: "	}\n\treturn v, err\n",
		by:  "./durable/postgres", test: "TestInsertCountsNoRowOfAFailedCommit",
	},
	{
		file: "durable/postgres/do.go", what: "an answer that may not be committed comes with an error",
		old: "	case err != nil:\n\t\treturn none, err\n\t}\n\treturn v, nil\n",
		new: "	}\n\treturn v, err\n",
		by:  "./durable/postgres", test: "TestStoreFaults/sessions",
	},
	{
		file: "durable/internal/sqlrow/sqlrow.go", what: "rows whose statement failed are returned",
		old: "		if err := rows.Err(); err != nil {\n\t\t\treturn nil, err\n\t\t}\n\t\treturn read, nil\n",
		new: "		return read, rows.Err()\n",
		by:  "./durable/sqlite", test: "TestStoreFaults",
	},
	{
		file: "durable/sqlite/writer.go", what: "an answer that is not committed is believed",
		old: "		if c.err == nil {\n\t\t\treturn v, nil\n",
		new: "		if c.err == nil || true {\n\t\t\treturn v, nil\n",
		by:  "./durable/sqlite", test: "TestStoreFaults",
	},
	{
		file: "durable/sqlite/writer.go", what: "a transaction that could not be undone is in the way for ever",
		old: "		w.exec(\"rollback\") // one that could not be undone must not be in the way for ever\n",
		new: "",
		by:  "./durable/sqlite", test: "TestStoreFaults",
	},
	{
		file: "durable/sqlite/tx.go", what: "an answer of a transaction comes with an error",
		old: "	if err != nil {\n\t\treturn none, err\n\t}\n\treturn v, nil\n",
		new: "	return v, err\n",
		by:  "./durable/sqlite", test: "TestStoreFaults",
	},
	{
		file: "durable/postgres/commit.go", what: "an outcome that is repeated is refused",
		old: "			if a.Committed[i] = true; parent {\n",
		new: "			if parent {\n",
	},
	{
		file: "durable/store/rows/rows.go", what: "a transaction is committed though what it has read has changed",
		old: "\tif slices.ContainsFunc(parts, written.stale) {\n\t\treturn false\n\t}\n",
		new: "",
		by:  "./durable/memory", test: "TestStoreAwayConformance",
	},
	{
		file: "durable/store/rows/store.go", what: "a claim does not depend on the row of its node",
		old: "\tn, alive := t.nodes.get(name)\n\treturn alive && !n.drain",
		new: "\tn := t.nodes.look(name)\n\treturn n != nil && !n.drain",
		by:  "./durable/memory", test: "TestStoreAwayConformance",
	},
	{
		file: "durable/store/rows/store.go", what: "what a node claims while it leaves stays with it",
		old: "\treturn s.do(ctx, func(t *Tx) { t.release(name, nil) }) // what",
		new: "\treturn nil // what",
		by:  "./durable/memory", test: "TestStoreAwayConformance",
	},
	{
		file: "durable/store/rows/store.go", what: "claims of a kind with a limit of all nodes do not depend on each other",
		old: "\t\t\tt.turns.put(k.Kind, struct{}{})\n",
		new: "",
		by:  "./durable/memory", test: "TestStoreAwayConformance",
	},
	{
		file: "durable/store/rows/graph.go", what: "the end of a parent does not see a child that is added meanwhile",
		old: "\t\tof.HasChildren = true\n\t\tt.jobs.put(id, of)\n",
		new: "\t\tif !of.HasChildren {\n\t\t\tof.HasChildren = true\n\t\t\tt.jobs.put(id, of)\n\t\t}\n",
		by:  "./durable/memory", test: "TestStoreAwayConformance",
	},
	{
		file: "durable/store/rows/step.go", what: "a step is kept of a run that is released meanwhile",
		old: "\t\tj, there := t.jobs.get(of.ID)\n\t\tif ok = there && j.Epoch",
		new: "\t\tj := t.jobs.look(of.ID)\n\t\tif ok = j != nil && j.Epoch",
		by:  "./durable/memory", test: "TestStoreAwayConformance",
	},
	{
		file: "durable/store/rows/step.go", what: "a signal is left of a job that is deleted meanwhile",
		old: "\t\t\tt.jobs.put(id, j) // so that who removes",
		new: "\t\t\t// so that who removes",
		by:  "./durable/memory", test: "TestStoreAwayConformance",
	},
	{
		file: "durable/postgres/claim.go", what: "a claim counts what nodes hold as it was before another claim",
		old: "\t\t\t\tor exists (select from mine join executor_limit seen on seen.kind = mine.kind and seen.turn = mine.turn where mine.kind = a.kind)",
		new: "\t\t\t\tor exists (select from executor_limit seen where seen.kind = a.kind)",
		by:  "./durable/postgres", test: "TestStoreConformance$/Meet",
	},
}
