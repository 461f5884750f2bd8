package main

// postgresMutants break the store in PostgreSQL.
var postgresMutants = []mutant{
	{
		file: "durable/postgres/claim.go", what: "a claim waits for rows that others have locked",
		old: "			order by due limit k.most for update skip locked\n",
		new: "			order by due limit k.most for update\n",
	},
	{
		file: "durable/postgres/claim.go", what: "a node that is dead claims",
		old: " and exists (select from node)\n",
		new: "\n",
	},
	{
		file: "durable/postgres/claim.go", what: "two nodes count what all hold at the same time",
		old: "seen.kind = mine.kind and seen.turn = mine.turn where",
		new: "seen.kind = mine.kind where",
	},
	{
		file: "durable/postgres/claim.go", what: "a claim of a limited kind leaves no trace for the next",
		old: "set turn = turn + 1 where",
		new: "set turn = turn where",
	},
	{
		file: "durable/postgres/claim.go", what: "a row for the limit of all nodes that was lost stays so",
		old: "			s.limits.Clear() // the next claim",
		new: "			// the next claim",
	},
	{
		file: "durable/postgres/insert.go", what: "new jobs are the node's past the limit of the call",
		old: "over (order by ord) <= $4 as held",
		new: "over (order by ord) >= 0 as held",
	},
	{
		file: "durable/postgres/insert.go", what: "nobody is told of a new job",
		old: "where exists (select from ins where state = 0 and due <= n.now + $16)",
		new: "where exists (select from ins where state = 0 and due <= n.now + $16 and id is null)",
	},
	{
		file: "durable/postgres/insert.go", what: "a job that is not over loses its key",
		old: "where j.key = n.key and j.state in (3, 4, 5) and",
		new: "where j.key = n.key and",
	},
	{
		file: "durable/postgres/insert.go", what: "a job that runs once is locked by who asks for its key",
		old: "		look = get\n",
		new: "		look = lock\n",
	},
	{
		file: "durable/postgres/settle.go", what: "an outcome that is repeated is refused",
		old: "			a.Committed[i] = true\n",
		new: "",
	},
	{
		file: "durable/postgres/settle.go", what: "one row that is locked fails the commits of all",
		old: "		a, err = settle(ctx, standard{s.db}, b, picky)\n",
		new: "",
	},
	{
		file: "durable/postgres/settle.go", what: "an outcome whose row is locked is refused",
		old: "			a.Locked = append(a.Locked, b.Outcomes[i].Ref)\n",
		new: "",
	},
	{
		file: "durable/postgres/node.go", what: "a node that is late itself declares the others dead",
		old: "		not exists (select from me where late) and exists",
		new: "		exists",
	},
	{
		file: "durable/postgres/node.go", what: "a job whose nodes die is tried again at once",
		old: "when j.attempt < 2 then n.now else n.now + (1000000::bigint << least(j.attempt - 2, 6)) end",
		new: "else n.now end",
	},
	{
		file: "durable/postgres/node.go", what: "a job of the dead that is locked is never freed",
		old: "	if err := tx.exec(ctx, bury); err != nil {\n\t\treturn 0, nil, err\n\t}\n",
		new: "",
	},
	{
		file: "durable/postgres/node.go", what: "a release does not say what it could not free",
		old: "	return left || later, err\n",
		new: "	return later, err\n",
	},
	{
		file: "durable/postgres/node.go", what: "a release does not say that a call of the node is under way",
		old: "	return left || later, err\n",
		new: "	return left, err\n",
	},
	{
		file: "durable/postgres/node.go", what: "nobody is told of what the dead held",
		old: "	return freed, dead, tell(ctx, tx)\n",
		new: "	return freed, dead, nil\n",
	},
	{
		file: "durable/postgres/node.go", what: "nobody is told of what a node gives back",
		old: "	if err == nil && freed > 0 {\n\t\terr = tell(ctx, tx)\n\t}\n",
		new: "",
	},
	{
		file: "durable/postgres/insert.go", what: "nobody is told that a run is to be canceled",
		old: "(j.Wish == durable.WishCancel || j.State == durable.Waiting && row.Micros(j.Due) <= row.Micros(now)+near)",
		new: "j.State == durable.Waiting && row.Micros(j.Due) <= row.Micros(now)+near",
	},
	{
		file: "durable/postgres/insert.go", what: "nobody is told of a job that was made due",
		old: "(j.Wish == durable.WishCancel || j.State == durable.Waiting && row.Micros(j.Due) <= row.Micros(now)+near)",
		new: "j.Wish == durable.WishCancel",
	},
	{
		file: "durable/postgres/postgres.go", what: "notifications of other schemas are heeded",
		old: "n.Payload == ours, nil",
		new: "n.Payload != \"\", nil",
	},
	{
		file: "durable/postgres/postgres.go", what: "a call that waits for a row keeps a connection that others need",
		old: "		err = inTx(ctx, s.queue, fn)\n",
		new: "		err = inTx(ctx, s.calls, fn)\n",
	},
	{
		file: "durable/postgres/prune.go", what: "the history is looked through once and never again",
		old: "		s.pruned.job, s.pruned.seq = durable.ID{}, 0\n",
		new: "",
	},
	{
		file: "durable/postgres/schema.go", what: "a migration waits for others, and all behind it",
		old: "	if _, err := tx.ExecContext(ctx, migrationPatience); err != nil {",
		new: "	if _, err := tx.ExecContext(ctx, \"select 1\"); err != nil {",
	},
	{
		file: "durable/postgres/insert.go", what: "the answer has each near job held, whatever the limit",
		old: "rules.New(n, p, held, ",
		new: "rules.New(n, p, true, ",
	},
}
