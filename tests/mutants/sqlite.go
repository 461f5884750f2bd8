package main

// sqliteMutants break the store in a file of SQLite, and how it writes its rows.
var sqliteMutants = []mutant{
	{
		file: "durable/sqlite/node.go", what: "a claim takes the least urgent first",
		old: "	for p := durable.High; p >= durable.Low; p-- {\n\t\tfor _, k := range r.Kinds {",
		new: "	for p := durable.Low; p <= durable.High; p++ {\n\t\tfor _, k := range r.Kinds {",
	},
	{
		file: "durable/sqlite/node.go", what: "a claim takes the limit of a kind from each priority",
		old: "k.Max-taken[k.Kind]",
		new: "k.Max",
	},
	{
		file: "durable/sqlite/node.go", what: "a beat brings the dead to life",
		old: "	p.Alive = n > 0\n",
		new: "	p.Alive = n >= 0\n",
	},
	{
		file: "durable/sqlite/node.go", what: "a node that is late itself declares the others dead",
		old: " or lease_until < ?1 and (select lease_until < ?1 from executor_node where id = ?2))",
		new: ")",
	},
	{
		file: "durable/sqlite/node.go", what: "a lease from before the clock was put back is not cut down",
		old: "lease_until > ?1 + lease + 1000000 or ",
		new: "",
	},
	{
		file: "durable/sqlite/node.go", what: "a run that was lost is not in the history",
		old: "rules.Reap(&orphans[i], p.Now); ok {",
		new: "rules.Reap(&orphans[i], p.Now); ok && false {",
	},
	{
		file: "durable/sqlite/settle.go", what: "an outcome of an older epoch is committed",
		old: "where id = ?9 and epoch = ?10 and state = 2",
		new: "where id = ?9 and epoch >= ?10 and state = 2",
	},
	{
		file: "durable/sqlite/settle.go", what: "an outcome that is repeated is refused",
		old: "		return n > 0, err\n\t}\n\tif err != nil || o.Unrecorded",
		new: "		return false, err\n\t}\n\tif err != nil || o.Unrecorded",
	},
	{
		file: "durable/sqlite/settle.go", what: "the history is kept one run too long",
		old: "where id = ?1) - ?2\"",
		new: "where id = ?1) - ?2 - 1\"",
	},
	{
		file: "durable/sqlite/writer.go", what: "a call that fails spoils those that share its transaction",
		old: "c.err != nil && w.exec(\"rollback to s\") != nil {",
		new: "c.err != nil {",
	},
	{
		file: "durable/sqlite/writer.go", what: "a call that fails alone is not undone",
		old: "err != nil || len(group) == 1 && group[0].err != nil",
		new: "err != nil",
	},
	{
		file: "durable/sqlite/writer.go", what: "a call is told of its end before the commit",
		old: "			err = w.exec(\"commit\")\n\t\t\tundo = err != nil\n",
		new: "			w.exec(\"commit\")\n",
	},
	{
		file: "durable/sqlite/tx.go", what: "statements in a caller's transaction stay open",
		old: "	defer func() {\n\t\tfor _, s := range stmts {\n\t\t\ts.Close()\n\t\t}\n\t}()\n",
		new: "",
	},
	{
		file: "durable/sqlite/busy.go", what: "a machine that stands still uses up a writer's patience",
		old: "		waited += min(now.Sub(last), maxCharge)\n",
		new: "		waited += now.Sub(last)\n",
	},
	{
		file: "durable/sqlite/schema.go", what: "a schema that is newer than the program is taken",
		old: "	if version > len(migrations) {\n",
		new: "	if false {\n",
	},
	{
		file: "durable/sqlite/schema.go", what: "those who migrate together do not wait for each other",
		old: "\"begin immediate\"",
		new: "\"begin deferred\"",
	},
	{
		file: "durable/sqlite/opened.go", what: "a file that was removed is written to",
		old: "	case errors.Is(err, fs.ErrNotExist):\n",
		new: "	case errors.Is(err, fs.ErrInvalid):\n",
	},
	{
		file: "durable/sqlite/opened.go", what: "a file that another has taken the place of is written to",
		old: "!os.SameFile(info, o.info)",
		new: "!os.SameFile(info, info)",
	},
	{
		file: "durable/sqlite/sqlite.go", what: "who reads makes a file anew that was removed",
		old: "&mode=rw\"",
		new: "\"",
	},
	{
		file: "durable/internal/row/row.go", what: "1970 is no time",
		old: "	return 1 // later, as nothing is to be early\n",
		new: "	return 0\n",
	},
}
