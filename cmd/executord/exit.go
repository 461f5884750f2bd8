package main

// The exit codes. They are documented: do not change their meaning.
const (
	exitOK          = 0 // all is well; for run: every run has ended by itself
	exitMistake     = 1 // a file, a store or a log cannot be used, a job is not there, or no answer can be written
	exitUsage       = 2 // the command line is wrong
	exitInterrupted = 3 // runs were ended because executord was, or its store did not answer then; or one could not be
	exitFailed      = 4 // run-now --wait: a run has not ended well
)

// exitError is an error that says with which code to exit. Its text may be
// empty, when all is said.
type exitError struct {
	code int
	text string
}

func (e *exitError) Error() string { return e.text }
