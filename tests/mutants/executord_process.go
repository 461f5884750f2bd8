package main

// executordProcessMutants break how executord runs commands and ends them.
var executordProcessMutants = []mutant{
	{
		file: "cmd/executord/internal/process/process.go", what: "a run whose context has ended before is begun",
		old: "	if err := ctx.Err(); err != nil {\n\t\treturn notStarted(ctx)\n\t}\n",
		new: "",
	},
	{
		file: "cmd/executord/internal/process/process.go", what: "a timeout is not heeded",
		old: "	if c.Timeout > 0 {",
		new: "	if false {",
	},
	{
		file: "cmd/executord/internal/process/process.go", what: "the signal that ended a command is not told",
		old: "	r.Signal = signalOf(cmd.ProcessState)\n",
		new: "",
	},
	{
		file: "cmd/executord/internal/process/run.go", what: "who does not end when told to is let live",
		old: "	r.overdue = time.After(r.Grace)\n",
		new: "",
	},
	{
		file: "cmd/executord/internal/process/run.go", what: "the command alone is told to end",
		old: "terminateGroup(r.group)",
		new: "terminate(r.group)",
	},
	{
		file: "cmd/executord/internal/process/run.go", what: "what a command leaves behind is let live",
		old: "			if patience = nil; !r.told {\n\t\t\t\tr.Leftover = true\n",
		new: "			if patience = nil; !r.told {\n\t\t\t\treturn\n",
	},
	{
		file: "cmd/executord/internal/process/group_unix.go", what: "the command alone is killed",
		old: "syscall.Kill(-group, syscall.SIGKILL)",
		new: "syscall.Kill(group, syscall.SIGKILL)",
	},
	{
		file: "cmd/executord/internal/process/group_unix.go", what: "a process that was stopped is not woken to end",
		old: "	syscall.Kill(pid, syscall.SIGCONT)\n",
		new: "",
	},
	{
		file: "cmd/executord/internal/process/pipes.go", what: "a part of a long line is not marked as one",
		old: "out(stream, rest[:cut], true)",
		new: "out(stream, rest[:cut], false)",
	},
	{
		file: "cmd/executord/internal/process/pipes.go", what: "a long line is cut within a character",
		old: "cut := len(rest) - incomplete(rest)",
		new: "cut := len(rest)",
	},
	{
		file: "cmd/executord/internal/process/pipes.go", what: "a last line without an end is lost",
		old: "			if kept > 0 {",
		new: "			if false {",
	},
	{
		file: "cmd/executord/internal/process/pipes.go", what: "a carriage return stays at the end of a line",
		old: `bytes.TrimSuffix(line, []byte("\r"))`,
		new: `line`,
	},
	{
		file: "cmd/executord/internal/process/pipes.go", what: "who has left the group keeps the run from ending with what it writes",
		old: "	if s.left -= n; n == 0 && err == nil {",
		new: "	if n == 0 && err == nil {",
	},
	{
		file: "cmd/executord/internal/process/start.go", what: "programs are looked for in the working directory",
		old: `if dir == "" || !filepath.IsAbs(dir) {`,
		new: `if false {`,
	},
	{
		file: "cmd/executord/internal/process/start.go", what: "of two PATHs the first one counts",
		old: "			_, path, _ = strings.Cut(variable, \"=\")\n",
		new: "			_, path, _ = strings.Cut(variable, \"=\")\n\t\t\tbreak\n",
	},
	{
		file: "cmd/executord/internal/process/reap_linux.go", what: "children that were there before are ended",
		old: " && !s.foreign[child.PID]",
		new: "",
	},
	{
		file: "cmd/executord/internal/process/reap_linux.go", what: "a stray that does not end when told to is let live",
		old: "case late >= 0 || s.isKilled():",
		new: "case s.isKilled():",
	},
	{
		file: "cmd/executord/internal/process/reap_linux.go", what: "the reaper takes children that others wait for",
		old: "own || pid == 0 {",
		new: "own && false || pid == 0 {",
	},
}
