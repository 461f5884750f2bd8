package postgres

import "time"

// Beat is the statement of a beat.
const Beat = beat

// Migrate makes the tables or brings them up to date.
var Migrate = migrate

// PruneJobs gives the statement that removes jobs of a state.
var PruneJobs = pruneJobs

// PruneRuns is the statement that removes runs from the history.
const PruneRuns = pruneRuns

// SetSilence sets how long a session that listens may be silent, and how long it may
// take to answer, and gives a function that sets them as they were.
func SetSilence(s, a time.Duration) (restore func()) {
	was, had := silence, answer
	silence, answer = s, a
	return func() { silence, answer = was, had }
}

// Notify is the expression that tells nodes to look.
const Notify = notify
