package subject

// Base is the id of this library at another revision.
const Base = "base"

// base runs in another process: the program of this module at the other revision, which
// does the work on its own executor.
var base = Subject{
	ID: Base, Title: "executor before", Own: true, Charts: true,
	How:   "the same, at the revision that -against names.",
	Funcs: ours.Funcs,
}
