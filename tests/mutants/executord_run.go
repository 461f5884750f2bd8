package main

// executordRunMutants break when executord runs jobs, what it tells of that, and
// how it ends.
var executordRunMutants = []mutant{
	{
		file: "cmd/executord/internal/daemon/daemon.go", what: "jobs are due while executord drains",
		old:  "	d.scheduled.Close()\n	d.runs.Shutdown()\n",
		new:  "	defer d.scheduled.Close()\n	d.runs.Shutdown()\n",
		test: "TestDrain$",
	},
	{
		file: "cmd/executord/internal/daemon/daemon.go", what: "times that are not come to before the drain are not told",
		old:  "		e.close(now)\n",
		new:  "		_, _ = e, now\n",
		test: "TestTimesBeforeTheDrainAreTold",
	},
	{
		file: "cmd/executord/internal/daemon/entry.go", what: "what the drain has cut short is said to have passed before",
		old:  "		e.miss(n, first, \"the drain began before executord came to it\")\n",
		new:  "		e.late(n, first)\n",
		test: "TestJitterEndsWithTheDrain",
	},
	{
		file: "cmd/executord/internal/daemon/daemon.go", what: "--drain-timeout is not heeded",
		old:  "	if d.Patience > 0 {",
		new:  "	if false {",
		test: "TestDrainTimeout",
	},
	{
		file: "cmd/executord/internal/daemon/daemon.go", what: "it is not told which processes had to be ended after the drain",
		old:  "range d.supervisor.EndStrays() {",
		new:  "range d.supervisor.EndStrays()[:0] {",
		test: "TestStrayIsNoRun",
	},
	{
		file: "cmd/executord/internal/daemon/entry.go", what: "a job overlaps itself",
		old:  "	running := e.mu.running\n",
		new:  "	running := false\n",
		test: "TestOverlap$",
	},
	{
		file: "cmd/executord/internal/daemon/entry.go", what: "a time that is skipped is not counted",
		old:  "		e.mu.Skipped++\n",
		new:  "",
		test: "TestOverlap$",
	},
	{
		file: "cmd/executord/internal/daemon/entry.go", what: "a run tells of what was skipped during those before",
		old:  "e.mu.current, e.mu.skips = e.mu.Runs, 0",
		new:  "e.mu.current = e.mu.Runs",
		test: "TestOverlap$",
	},
	{
		file: "cmd/executord/internal/daemon/entry.go", what: "due times are told in the daemon's own zone",
		old:  "	due = due.In(e.job.Schedule.Location())\n",
		new:  "	due = due.Local()\n",
		test: "TestDueIsInTheZoneOfTheJob",
	},
	{
		file: "cmd/executord/internal/daemon/entry.go", what: "jitter is not heeded",
		old:  "		opts = append(opts, executor.Jitter(e.job.Jitter))\n",
		new:  "",
		test: "TestJitterDelays",
	},
	{
		file: "cmd/executord/internal/daemon/run.go", what: "a run that was cut short is not counted as that",
		old:  "failed, interrupted = outcome != ok, outcome == stopped",
		new:  "failed, interrupted = outcome != ok, false",
		test: "TestEndBeforeStart",
	},
	{
		file: "cmd/executord/internal/daemon/run.go", what: "what a command writes is in the log as it is",
		old:  "job.Printable(string(line))",
		new:  "string(line)",
		test: "TestOutputIsTamed",
	},
	{
		file: "cmd/executord/internal/daemon/run.go", what: "a part of a long line looks like a line in the log",
		old:  "	if more {\n",
		new:  "	if false {\n",
		test: "TestOutputIsTamed",
	},
	{
		file: "cmd/executord/internal/daemon/environ.go", what: "commands get the name of the store, with its password",
		old:  "return process.IsVariable(variable, StoreVariable)",
		new:  "return process.IsVariable(variable, StoreVariable) && false",
		test: "TestStoredSurroundings",
	},
	{
		file: "cmd/executord/internal/daemon/environ.go", what: "commands are not told the attempt and the token of their run",
		old:  "return append(env, r.extra...)",
		new:  "return env",
		test: "TestStoredSurroundings",
	},
	{
		file: "cmd/executord/internal/daemon/environ.go", what: "a variable of the file gives way to the daemon's own",
		old:  "env = append(env, r.job.Command.Env...)",
		new:  "env = append(append([]string(nil), r.job.Command.Env...), env...)",
		test: "TestEnvironment",
	},
	{
		file: "cmd/executord/internal/daemon/tail.go", what: "all that a command wrote is kept for the history",
		old:  "for t.mu.size > tailSize && len(t.mu.lines) > 1 {",
		new:  "for false {",
		test: "TestTail",
	},
	{
		file: "cmd/executord/internal/daemon/tail.go", what: "it is not marked that lines are left out",
		old:  "t.mu.lines[1:], true",
		new:  "t.mu.lines[1:], false",
		test: "TestTail",
	},
	{
		file: "cmd/executord/internal/daemon/watched.go", what: "a time at which a job ran counts as missed",
		old:  "		if w.used {\n\t\t\tfirst = w.Trigger.Next(first)\n\t\t}\n",
		new:  "",
		test: "TestWatchedCountsWhatIsLeftOut",
	},
	{
		file: "cmd/executord/internal/daemon/summary.go", what: "the runs that were missed are not in the total",
		old:  "		sum.Missed += c.Missed\n",
		new:  "",
		test: "TestDowntime",
	},
	{
		file: "cmd/executord/run.go", what: "to cut runs short is an orderly end",
		old:  "		case sum.Interrupted > 0:\n",
		new:  "		case false:\n",
		test: "TestSecondSignal",
	},
	{
		file: "cmd/executord/run.go", what: "to lose the log is an orderly end",
		old:  "		case lost.Load():\n\t\t\tcode = exitMistake\n",
		new:  "",
		test: "TestLostLog",
	},
	{
		file: "cmd/executord/run.go", what: "a pipe in the place of the file is read again",
		old:  "if shared == nil || readOnce(args[0]) {",
		new:  "if shared == nil {",
		test: "TestReloadFromPipe",
	},
	{
		file: "cmd/executord/run.go", what: "a file that is read again may have what a store can't keep",
		old:  "parse(name, format, true)",
		new:  "parse(name, format, false)",
		test: "TestReload$",
	},
	{
		file: "cmd/executord/log.go", what: "the line after one that was torn is lost with it",
		old:  "w.torn = n < len(p)",
		new:  "w.torn = false",
		test: "TestLineAfterFullDisk",
	},
	{
		file: "cmd/executord/signals.go", what: "SIGQUIT ends executord and leaves its jobs",
		old:  "syscall.SIGTERM, syscall.SIGQUIT)",
		new:  "syscall.SIGTERM)",
		test: "TestQuit",
	},
	{
		file: "cmd/executord/signals.go", what: "a log that nobody reads keeps executord from being killed",
		old:  "				if n == len(steps)-1 {",
		new:  "				if false {",
		test: "TestStuckLog",
	},
}
