package main

// durableCallMutants break what programs ask of durable jobs.
var durableCallMutants = []mutant{
	{
		file: "durable/add.go", what: "times are rounded down, so that a job is early",
		old: "	return t.Add(time.Microsecond - 1).Truncate(time.Microsecond)",
		new: "	return t.Truncate(time.Microsecond)",
	},
	{
		file: "durable/add.go", what: "the first time of a trigger is counted from this machine's clock",
		old: "	now, err := j.store.Now(ctx)\n",
		new: "	now, err := time.Now(), ctx.Err()\n",
	},
	{
		file: "durable/add.go", what: "a node does not take the new jobs of its own program",
		old: "		place = node.beginInsert(jobs)\n",
		new: "",
	},
	{
		file: "durable/control.go", what: "a run of this program is canceled at the next beat",
		old: "			n.cancelWanted([]Ref{here}) // without",
		new: "			_ = here // without",
	},
	{
		file: "durable/control.go", what: "a late answer to Cancel cancels the next run",
		old: "			n.cancelWanted([]Ref{here}) // without",
		new: "			n.cancelWanted([]Ref{here, n.heldRef(id)}) // without",
	},
	{
		file: "durable/control.go", what: "what was asked of a job waits for the next look",
		old: "		n.wake()\n\t}\n\treturn a, nil",
		new: "	}\n\treturn a, nil",
	},
	{
		file: "durable/control.go", what: "Await waits for ever for a job that is dead or canceled",
		old: "		case job.State.Done():\n",
		new: "		case false:\n",
	},
	{
		file: "durable/control.go", what: "who waits for a job looks ever more seldom",
		old: "min(pause*2, 500*time.Millisecond)",
		new: "pause * 2",
	},
	{
		file: "durable/control.go", what: "who waits for a job is not told of its end in this program",
		old: "		case <-done:\n		case <-t.C:\n",
		new: "		case <-t.C:\n			_ = done\n",
	},
	{
		file: "durable/control.go", what: "counts begin with the last kind",
		old: "return cmp.Or(cmp.Compare(a.Kind, b.Kind), ",
		new: "return cmp.Or(cmp.Compare(b.Kind, a.Kind), ",
	},
	{
		file: "durable/tx.go", what: "a run that was committed is completed again", by: "./durable/sqlite",
		old: "	case job.State != Running || job.Epoch != c.job.Epoch:\n",
		new: "	case job.Epoch != c.job.Epoch:\n",
	},
	{
		file: "durable/tx.go", what: "a run that is no longer the node's is completed", by: "./durable/sqlite",
		old: "	case job.State != Running || job.Epoch != c.job.Epoch:\n",
		new: "	case false && job.State != Running:\n",
	},
	{
		file: "durable/tx.go", what: "CompleteTx ends a schedule", by: "./durable/sqlite",
		old: "	o = c.follow(tt, o)\n",
		new: "	_, o.State = tt, Succeeded\n",
	},
	{
		file: "durable/tx.go", what: "the log takes a run that CompleteTx has ended for refused", by: "./durable/sqlite",
		old: "	c.completed.Store(true)\n",
		new: "",
	},
	{
		file: "durable/job.go", what: "a state that there is none of is read as the last one",
		old: "if i < 0 {",
		new: "if i < -1 {",
	},
}
