package main

// executordMutants break the daemon.
var executordMutants = []mutant{
	{
		file: "cmd/executord/internal/process/run.go", what: "what a command leaves behind is let live",
		old: "			if patience = nil; !r.asked {\n\t\t\t\tr.Leftover = true\n",
		new: "			if patience = nil; !r.asked {\n\t\t\t\treturn\n",
	},
	{
		file: "cmd/executord/internal/environ/environ.go", what: "commands get the name of the store, with its password",
		old:  "return process.IsVariable(variable, StoreVariable)",
		new:  "return process.IsVariable(variable, StoreVariable) && false",
		test: "TestRunEnvironmentInStore",
	},
}
