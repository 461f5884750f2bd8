package postgres

// Beat is the statement of a beat.
const Beat = beat

// Migrate makes the tables or brings them up to date.
var Migrate = migrate

// PruneJobs gives the statement that removes jobs of a state.
var PruneJobs = pruneJobs
