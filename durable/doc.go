// Package durable keeps the tasks of package executor in a database. They survive the death of the process and, with
// PostgreSQL, any number of machines share them. Functions, words and precision are those of package executor.
//
// # Use
//
// A Store keeps the jobs: package sqlite has one in a file, package postgres one for many machines, package memory one
// that ends with the program. New returns Jobs on a store. Handle sets the function that runs the jobs of a kind, and
// returns the Kind, by which they are added:
//
//	Schedule, At                  once
//	AtFixedRate, WithFixedDelay   again and again, in Java's sense
//	On                            at the times of a cron.Schedule or another trigger
//
// A job with After begins when others have ended, and reads their results; Jobs.Add adds many, of any kinds, at once.
//
// Run makes the program a node, which claims jobs that are due and runs them, until its context ends. A program that
// only adds jobs, or looks at them, needs neither Run nor a handler, see Client.
//
// Each function that takes a context panics if that is nil, before anything else.
//
// # Promise
//
// What was accepted is not lost. Each occurrence is run at least once, never before its time, and its end is committed
// once. Unless its handler fails or puts it off, it is begun twice only if a node lost its lease while it was running,
// or was shut down and cut it short: so handlers must allow being run again.
// Three things help them:
//
//   - Step keeps the result of a part of the handler, which no later run of the occurrence does again; Sleep and Wait end
//     a run until a time or a signal.
//   - CompleteTx commits the end of a run together with what the handler did in the same database: that is exactly
//     once.
//   - FencingToken grows from run to run of a job; a system outside that declines smaller tokens is safe from a node
//     that is late.
//   - The ID of the job and the time of the occurrence, from Current, make a good idempotency key.
//
// # Nodes
//
// A node has a lease on its life, by default of three seconds, and renews it by a heartbeat at each three tenths of
// that. If it does not, another node frees what it held. A node that can't renew cancels its handlers before that, with
// the cause ErrLeaseLost. What it commits nevertheless is refused: every right to run a job has an epoch of its own,
// which each write carries.
//
// A node polls once a second and claims what is due before its next poll; it then waits for the exact time in memory. A
// job is confirmed in the store just before it begins, so that a canceled one does not. A run that makes up for
// occurrences that were missed is for the same one if another node has to begin it again.
//
// The clock is the store's. That of the machine may be wrong by any amount.
//
// # Failure
//
// A run that returns an error, panics, calls runtime.Goexit or exceeds its Timeout is repeated after a growing wait,
// see Backoff, until its Attempts are used up. Then the job is Dead: it is kept, can be listed and revived. Periodic
// work goes on with its next occurrence instead; executor.Stop ends it in peace. An error that executor.Permanent marks
// uses up the attempts at once. A handler that returns Snooze has its
// job put off, which is no attempt. A run that is lost together with its node counts as one. A periodic job of which
// [MaxLost] runs in a row are lost is Dead, too, as it may be what kills the nodes. OnMissed sets what happens to
// occurrences that no node could run.
//
// A database that does not answer ends nothing: nodes go on trying, and the log has a line when it goes and one when it
// is back. A call that adds a job fails meanwhile.
package durable
