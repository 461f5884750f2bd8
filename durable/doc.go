// Package durable keeps the tasks of package executor in a database. They survive
// the death of the process and, with PostgreSQL, are shared by as many machines
// as like; the functions, the words and the precision are those of package
// executor.
//
// # Use
//
// A Store keeps the jobs: package sqlite has one in a file, package postgres one
// for many machines, package memory one for tests. New gives Jobs on a store;
// Handle says which function runs the jobs of a kind, and gives the handle by
// which they are added:
//
//	Schedule, At                  once
//	AtFixedRate, WithFixedDelay   again and again, in Java's sense
//	On                            at the times of a cron.Schedule or another trigger
//
// Run makes the program a node, which claims jobs that are due and runs them,
// until its context ends. A program that only adds jobs, or looks at them, does
// without Run and without a handler, see Refer.
//
// Whatever takes a context panics if that is nil, and nothing else has happened then.
//
// # Promise
//
// What was accepted is not lost. Each occurrence is run at least once, never
// before its time, and its end is committed once. Unless its handler fails or puts
// it off, it is begun twice only if a node lost its lease while it was running, or
// gave it back when it was shut down: so handlers must bear being run again. What
// helps them:
//
//   - CompleteTx commits the end of a run together with what the handler did in
//     the same database: that is exactly once.
//   - FencingToken grows from run to run of a job; a system outside that declines
//     smaller tokens is safe from a node that is late.
//   - The ID of the job and the time of the occurrence, from Current, make a good
//     idempotency key.
//
// # Nodes
//
// A node has a lease on its life, by default of three seconds, and renews it at
// each three tenths of that. If it does not, another node frees what it held. A node
// that can't renew cancels its handlers before that, with the cause ErrLeaseLost;
// what it commits nevertheless is refused, since every right to run a job has an
// epoch of its own, which stands in every write.
//
// A node looks for jobs once a second and claims what is due before its next
// look; it then waits for the exact time in memory. A job is confirmed in the
// database just before it begins, so that one that was canceled does not; and one
// that makes up for occurrences that were missed is for the same one if another
// node has to begin it again.
//
// The clock is the database's. That of the machine may be wrong by any amount.
//
// # Failure
//
// A run that returns an error, panics, calls runtime.Goexit or exceeds its Timeout
// is repeated after a growing wait, see Backoff, until its Attempts are used up.
// Then the job is Dead: it is kept, can be listed and revived. Periodic work goes on
// with its next occurrence instead; executor.Stop ends it in peace. A handler that
// returns Snooze has its job put off, which is no attempt. A run that is lost
// together with its node counts as one; and a periodic job of which [MaxLost] runs in
// a row are lost so is Dead, too, as it may well be what kills the nodes.
// Occurrences that nobody could run are dealt with as OnMissed says.
//
// A database that goes away ends nothing: nodes go on trying, the log says so
// once, and once more when it is back. A call that adds a job fails meanwhile.
package durable
