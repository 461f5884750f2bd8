package main

// durablePauseMutants break how a kind of durable jobs is paused on all nodes.
var durablePauseMutants = []mutant{
	{
		file: "durable/pause.go", what: "a program that pauses a kind heeds it with its next beat",
		old: "	if n := j.node(); n != nil {",
		new: "	if n := j.node(); n != nil && n.jobs != j {",
	},
	{
		file: "durable/pause.go", what: "a pause leaves what was claimed before",
		old: "	if len(paused) > 0 {",
		new: "	if false {",
	},
	{
		file: "durable/pause.go", what: "an answer that is older than a pause undoes it",
		old: "		if sent.After(at) {",
		new: "		if !at.IsZero() {",
	},
	{
		file: "durable/pause.go", what: "an answer to what was asked as a pause began undoes it",
		old: "		if sent.After(at) {",
		new: "		if !sent.Before(at) {",
	},
	{
		file: "durable/pause.go", what: "an answer that is older than a pause tells of no other kind",
		old: "		} else if delete(kinds, kind); n.mu.paused[kind] {",
		new: "		} else if kinds = maps.Clone(n.mu.paused); n.mu.paused[kind] {",
	},
	{
		file: "durable/pause.go", what: "what is resumed waits for the next look",
		old: "	n.wake()\n",
		new: "",
	},
	{
		file: "durable/poll.go", what: "a claim asks for kinds that are paused",
		old: "		if n.mu.paused[name] {\n\t\t\tcontinue",
		new: "		if false {\n\t\t\tcontinue",
	},
	{
		file: "durable/run.go", what: "what was asked for before a pause is held",
		old: "		if n.mu.paused[jobs[i].Kind] {",
		new: "		if false {",
	},
	{
		file: "durable/run.go", what: "a run that is put off begins in a pause",
		old: "n.mu.draining || n.mu.paused[r.job.Kind] {\n\t\tn.dropLocked(r) // as",
		new: "n.mu.draining {\n\t\tn.dropLocked(r) // as",
	},
	{
		file: "durable/node.go", what: "a node that starts learns of pauses with its first beat",
		old: "			n.hearPaused(before, paused)\n",
		new: "			_, _ = before, paused\n",
	},
	{
		file: "durable/beat.go", what: "a node hears of pauses only when it starts",
		old: "		n.hearPaused(asked.at, pulse.Paused)\n",
		new: "",
	},
	{
		file: "durable/postgres/pause.go", what: "what is paused can't be paused again",
		old: " on conflict do nothing",
		new: "",
	},
	{
		file: "durable/postgres/node.go", what: "a beat does not tell what is paused",
		old: "	if paused {\n",
		new: "	if false {\n",
	},
	{
		file: "durable/sqlite/pause.go", what: "what is paused can't be paused again",
		old: " on conflict do nothing",
		new: "",
	},
}

// durableTxMutants break how durable jobs are added and ended in a caller's
// transaction.
var durableTxMutants = []mutant{
	{
		file: "durable/tx.go", what: "a nil *sql.Tx is taken for a transaction", by: "./durable/sqlite",
		old: "tx == nil || tx == Tx((*sql.Tx)(nil))",
		new: "tx == nil || tx == Tx(new(sql.Tx))",
	},
	{
		file: "durable/sqlite/tx.go", what: "a transaction of another library is taken",
		old: "	if !ok {\n\t\tvar none T",
		new: "	if false && !ok {\n\t\tvar none T",
	},
	{
		file: "durable/postgres/tx.go", what: "a nil pgx.Tx is taken for a transaction",
		old: "tx == nil || v.Kind() == reflect.Pointer && v.IsNil()",
		new: "tx == nil && v.IsValid()",
	},
	{
		file: "durable/postgres/tx.go", what: "a key is not reused in a transaction",
		old: "	if err := freeKeys(ctx, q, jobs); err != nil {\n\t\treturn nil, foreign(err)\n\t}\n",
		new: "",
	},
	{
		file: "durable/postgres/tx.go", what: "a key that is taken is not seen in a transaction",
		old: "		err = amend(ctx, q, jobs, placed)\n",
		new: "",
	},
	{
		file: "durable/postgres/tx.go", what: "CompleteTx does not lock the job",
		old: "	j, err := lock(ctx, q, ",
		new: "	j, err := get(ctx, q, ",
	},
}
