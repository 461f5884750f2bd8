package main

// rulesMutants break how a job changes in a store.
var rulesMutants = []mutant{
	{
		file: "durable/internal/rules/rules.go", what: "what is claimed ahead runs at once",
		old: "	if !j.Due.After(now.Add(lead)) {",
		new: "	if true {",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a claim gives no new epoch",
		old: "	j.Owner = node\n\tj.Epoch++\n",
		new: "	j.Owner = node\n",
	},
	{
		file: "durable/internal/rules/rules.go", what: "what is taken from a node keeps its epoch",
		old: "	j.State, j.Owner = durable.Waiting, \"\"\n\tj.Epoch++\n",
		new: "	j.State, j.Owner = durable.Waiting, \"\"\n",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a confirm that is repeated is another attempt",
		old: "		j.State = durable.Running\n\t\tj.Attempt++\n\t}\n\tif !c",
		new: "		j.State = durable.Running\n\t}\n\tj.Attempt++\n\tif !c",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a new job may be any distance ahead and is the node's all the same",
		old: "p.Node != \"\" && !due.After(now.Add(p.Ahead)) {",
		new: "p.Node != \"\" {",
	},
	{
		file: "durable/internal/rules/rules.go", what: "another schedule is heeded in the midst of a run",
		old: "		if j.State == durable.Running {\n\t\t\tj.NextDue = due",
		new: "		if false {\n\t\t\tj.NextDue = due",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a schedule that is registered again begins anew",
		old: "	if j.Schedule != n.Schedule {",
		new: "	if true {",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a node begins what was changed after it had claimed it",
		old: "	if changed && j.State == durable.Claimed {",
		new: "	if false {",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a job that is over is kept anew when it is registered again",
		old: "	if changed && !j.State.Done() {",
		new: "	if changed {",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a job that is not over loses its key",
		old: "n.ReuseKey && j.State.Done()",
		new: "n.ReuseKey",
	},
	{
		file: "durable/internal/rules/rules.go", what: "what is given back has lost an attempt",
		old: "		j.Attempt--\n",
		new: "",
	},
	{
		file: "durable/internal/rules/rules.go", what: "what is given back is due before its occurrence",
		old: "	if j.Attempt == 0 && j.Occurrence.After(now) && j.Occurrence.After(j.Due) {",
		new: "	if false {",
	},
	{
		file: "durable/internal/rules/rules.go", what: "what was wished of a job is forgotten when it is given back",
		old: "while the clock was ahead\n\t}\n\tFulfill(j)\n",
		new: "while the clock was ahead\n\t}\n",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a pause takes a cancellation back",
		old: "j.State == durable.Running && j.Wish != durable.WishCancel:",
		new: "j.State == durable.Running:",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a resume takes a cancellation back",
		old: "j.State == durable.Running && j.Wish == durable.WishPause:",
		new: "j.State == durable.Running && j.Wish != durable.NoWish:",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a job that runs once is moved in its run",
		old: "j.State == durable.Running && j.Schedule != once:",
		new: "j.State == durable.Running:",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a paused job that is moved goes on",
		old: "	if paused {\n",
		new: "	if false && paused {\n",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a job that runs once and was begun loses its occurrence",
		old: "j.Schedule != once || !begun || j.Occurrence.After(now) {",
		new: "j.Schedule != once || !begun || true {",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a job that runs once and was cut short loses its occurrence",
		old: "j.Attempt > 0 || j.Runs > 0 || j.Error != \"\";",
		new: "j.Attempt > 0 || j.Runs > 0;",
	},
	{
		file: "durable/internal/rules/rules.go", what: "RunNow leaves a paused job paused",
		old: "		due(j, now, now)\n\t\tj.State = durable.Waiting\n",
		new: "		due(j, now, now)\n",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a job that is revived has no attempt left",
		old: "	j.Due, j.Attempt = t, 0\n",
		new: "	j.Due = t\n",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a job that is revived is dead when it is lost next",
		old: "		j.State, j.Lost = durable.Waiting, 0\n",
		new: "		j.State = durable.Waiting\n",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a time that came in the run keeps the attempts of the one before",
		old: "j.NextDue, j.NextDue, 0, time.Time{}",
		new: "j.NextDue, j.NextDue, j.Attempt, time.Time{}",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a run that was left out ends a row of lost ones",
		old: "		if o.Run.Verdict != durable.RunSkipped {",
		new: "		if true {",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a time that came in the last run is forgotten",
		old: "o.Due = j.Due; !j.NextDue.IsZero() {",
		new: "o.Due = j.Due; false {",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a job that was to be canceled and failed is dead",
		old: "	case o.State == durable.Dead && j.Wish == durable.WishCancel:\n",
		new: "	case false:\n",
	},
	{
		file: "durable/internal/rules/rules.go", what: "an outcome without a result takes the one before away",
		old: "	if o.Result != nil {\n",
		new: "	if true {\n",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a job whose nodes die has one attempt more",
		old: "last = j.Attempt >= j.Attempts",
		new: "last = j.Attempt > j.Attempts",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a periodic job may kill one node more",
		old: "last := j.Lost >= durable.MaxLost",
		new: "last := j.Lost > durable.MaxLost",
	},
	{
		file: "durable/internal/rules/rules.go", what: "a job whose nodes die is tried again at once",
		old: "	j.Due = now.Add(durable.ReapDelay(j.Attempt))\n",
		new: "	j.Due = now\n",
	},
}

// memoryMutants break the store in memory.
var memoryMutants = []mutant{
	{
		file: "durable/memory/memory.go", what: "a node that is late itself declares the others dead",
		old: "		case over && late, l.until",
		new: "		case over && late && false, l.until",
	},
	{
		file: "durable/memory/memory.go", what: "a lease from before the clock was put back is not cut down",
		old: "		case over && late, l.until.After(begin.until.Add(time.Second)):",
		new: "		case over && late:",
	},
	{
		file: "durable/memory/memory.go", what: "a node that is dead claims",
		old: "	if _, alive := s.mu.leases[r.Node]; !alive {\n\t\treturn claims, nil\n\t}\n",
		new: "",
	},
	{
		file: "durable/memory/memory.go", what: "a limit of all nodes does not count what they hold",
		old: "min(k.Max, k.Global-s.heldLocked(k.Kind))",
		new: "min(k.Max, k.Global)",
	},
	{
		file: "durable/memory/memory.go", what: "new jobs are the node's past the limit of the call",
		old: "alive && held < p.Limit, now",
		new: "alive, now",
	},
	{
		file: "durable/memory/memory.go", what: "an outcome is committed twice",
		old: "		if ok && j.State == durable.Running {\n",
		new: "		if ok {\n",
	},
}
