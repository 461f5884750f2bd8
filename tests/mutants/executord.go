package main

// executordMutants break the daemon.
var executordMutants = []mutant{
	{
		file: "cmd/executord/internal/process/run.go", what: "what a command leaves behind is let live",
		old: "			if patience = nil; !r.asked {\n\t\t\t\tr.Leftover = true\n",
		new: "			if patience = nil; !r.asked {\n\t\t\t\treturn\n",
	},
	{
		file: "cmd/executord/internal/daemon/daemon.go", what: "--drain-timeout is not heeded",
		old:  "	if d.Patience > 0 {",
		new:  "	if false {",
		test: "TestRunDrainTimeout",
	},
	{
		file: "cmd/executord/internal/catalog/sync.go", what: "times that pass during a run are made up for after it",
		old:  "durable.OnMissed(durable.SkipOverlap())",
		new:  "durable.OnMissed(durable.Coalesce())",
		test: "TestRunSkipsOverlap$",
	},
	{
		file: "cmd/executord/internal/daemon/environ.go", what: "commands get the name of the store, with its password",
		old:  "return process.IsVariable(variable, StoreVariable)",
		new:  "return process.IsVariable(variable, StoreVariable) && false",
		test: "TestRunEnvironmentInStore",
	},
}
