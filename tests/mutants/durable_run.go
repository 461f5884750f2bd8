package main

// durableRunMutants break what a run of a durable job is for, and what follows it.
var durableRunMutants = []mutant{
	{
		file: "durable/perform.go", what: "a jump of the clock counts as time that a run took",
		old:  "Finished: started.now()",
		new:  "Finished: r.present(started.at)",
		test: "TestHistoryTellsHowLongARunTookAcrossAJump",
	},
	{
		file: "durable/perform.go", what: "a job has one attempt more than it may have",
		old: "r.job.Attempt >= r.job.Attempts:",
		new: "r.job.Attempt > r.job.Attempts:",
	},
	{
		file: "durable/perform.go", what: "a permanent error is tried again",
		old: "errors.As(err, &permanent), r.job",
		new: "errors.As(err, &permanent) && r.job",
	},
	{
		file: "durable/perform.go", what: "a schedule is dead with one occurrence that failed",
		old: "		if !r.job.Periodic() || !tt.known() {",
		new: "		if true {",
	},
	{
		file: "durable/perform.go", what: "a periodic job has an attempt more if one was lost with its node",
		old: "r.job.Periodic() && r.job.Attempt > r.job.Attempts {",
		new: "r.job.Periodic() && r.job.Attempt > r.job.Attempts+1 {",
	},
	{
		file: "durable/perform.go", what: "a run that is put off or cut short counts as an attempt",
		old: "o.Attempt, o.Due = r.job.Attempt-1, ",
		new: "o.Attempt, o.Due = r.job.Attempt, ",
	},
	{
		file: "durable/perform.go", what: "a job that is put off is due at once",
		old: "r.untried(RunSnoozed, started, err, snooze.d)",
		new: "r.untried(RunSnoozed, started, err, 0)",
	},
	{
		file: "durable/perform.go", what: "a job that was canceled can be put off",
		old: "	case wantCancel:\n",
		new: "	case wantCancel && !errors.As(err, &snooze):\n",
	},
	{
		file: "durable/perform.go", what: "a run that is cut short by a shutdown is an attempt that failed",
		old: "errors.Is(cause, executor.ErrShutdown), errors.Is(cause, ErrLeaseLost):",
		new: "errors.Is(cause, ErrLeaseLost):",
	},
	{
		file: "durable/perform.go", what: "a run that is cut short by the end of a lease is an attempt that failed",
		old: "errors.Is(cause, executor.ErrShutdown), errors.Is(cause, ErrLeaseLost):",
		new: "errors.Is(cause, executor.ErrShutdown):",
	},
	{
		file: "durable/perform.go", what: "a run that was cut short decides anew what it is for",
		old: "r.job.Attempt <= 1 && !cutShort {",
		new: "r.job.Attempt <= 1 && (true || cutShort) {",
	},
	{
		file: "durable/perform.go", what: "a run begins for an occurrence that the store does not have",
		old: "			return nil, t, nil\n",
		new: "			r.job.Occurrence = t\n",
	},
	{
		file: "durable/perform.go", what: "executor.Stop ends no schedule",
		old: "	if errors.Is(err, executor.Stop) {",
		new: "	if false {",
	},
	{
		file: "durable/perform.go", what: "a handler that exits its goroutine leaves no error",
		old: "			if v == nil {\n\t\t\t\texited()\n",
		new: "			if v == nil {\n",
	},
	{
		file: "durable/perform.go", what: "a job whose schedule can't be read is claimed again at once",
		old: "r.untried(RunFailed, started, err, leavePause)",
		new: "r.untried(RunFailed, started, err, 0)",
	},
	{
		file: "durable/kind.go", what: "each retry waits as long as the first",
		old: "		d = k.first << shift\n",
		new: "		d = k.first\n",
	},
	{
		file: "durable/kind.go", what: "those that fail together are retried together",
		old: "	return d - rand.N(d/2+1)\n",
		new: "	return d - min(rand.N(d/2+1), 0)\n",
	},
	{
		file: "durable/schedule.go", what: "a fixed rate loses its grid with a run that was asked for",
		old: "		steps := t.Sub(anchor)/tt.rate + 1\n\t\treturn anchor.Add(steps * tt.rate)\n",
		new: "		return t.Add(tt.rate)\n",
	},
	{
		file: "durable/schedule.go", what: "a fixed delay counts from the time that was due",
		old: "		return end.Add(tt.delay)\n",
		new: "		return t.Add(tt.delay)\n",
	},
	{
		file: "durable/schedule.go", what: "what was missed by more than the grace is run",
		old: "		return last, now.Sub(last) <= p.grace\n",
		new: "		return last, true\n",
	},
	{
		file: "durable/schedule.go", what: "one more than the latest of a fixed rate is caught up with",
		old: "last.Add(-time.Duration(p.max-1) * tt.rate)",
		new: "last.Add(-time.Duration(p.max) * tt.rate)",
	},
	{
		file: "durable/catchup.go", what: "one more than the latest of a trigger is caught up with",
		old: "w.n < most {",
		new: "w.n <= most {",
	},
	{
		file: "durable/catchup.go", what: "a job that is to catch up with less goes on as before",
		old: "for ; w.n > most; w.n-- {",
		new: "for ; w.n > w.n; w.n-- {",
	},
	{
		file: "durable/schedule.go", what: "a trigger that is far behind leaps to times that it does not have",
		old: "		if _, more := next(last); !more {\n\t\t\treturn last\n\t\t}\n",
		new: "		return last\n",
	},
	{
		file: "durable/run.go", what: "a job that was canceled before it began has a live context",
		old: "	if r.wantCancel {\n\t\tcancel(executor.ErrCanceled)\n\t}\n",
		new: "",
	},
	{
		file: "durable/run.go", what: "who is to be canceled is not, if another run of the job was",
		old: "r == nil || r.job.Epoch != ref.Epoch || r.wantCancel {",
		new: "r == nil || r.wantCancel {",
	},
	{
		file: "durable/run.go", what: "a handler is told when its job was claimed, and not when it was confirmed",
		old: "	r.job.Updated = now\n",
		new: "	_ = now\n",
	},
}
