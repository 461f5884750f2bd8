// Package durable keeps the tasks of package executor in a database. Jobs survive a crash of the process and, with
// PostgreSQL, any number of machines share them. The package uses the functions and terms of package executor, and its
// timers are as precise.
//
// # Use
//
// A Store keeps the jobs: package sqlite has one in a file, package postgres one for many machines, package memory one
// that ends with the program. New returns Jobs on a store. Handle sets the function that runs the jobs of a kind, and
// returns the [Kind], whose methods add jobs:
//
//	Add, AddAfter, AddAt          once
//	AtFixedRate, WithFixedDelay   again and again, in Java's sense
//	On                            at the times of a cron.Schedule or another trigger
//
// A job with After begins when other jobs have ended, and can read their results. [Jobs.Add] adds many jobs, of any
// kinds, at once.
//
// Run makes the program a node, which claims jobs that are due and runs them, until its context ends. A program that
// only adds jobs, or reads them, needs neither Run nor a handler: see KindOf.
//
// Every function that takes a context panics at once if the context is nil.
//
// # Promise
//
// An accepted job is not lost. Each occurrence runs at least once, never before its time, and its outcome is committed
// once. An occurrence runs again only if its handler fails or snoozes, or if its node loses the lease during the run or
// is shut down and cuts the run short. So handlers must be safe to run again. Four things help:
//
//   - Step keeps the result of a part of the handler, so that later runs of the occurrence skip that part; Sleep and
//     Wait end a run until a time or a signal.
//   - CompleteTx commits the end of a run together with what the handler did in the same database: that is exactly
//     once.
//   - [FencingToken] grows from run to run of a job; an external system that refuses smaller tokens is safe from a node
//     that is late.
//   - The ID of the job and the time of the occurrence, from Current, make a good idempotency key.
//
// # Nodes
//
// A node has a lease, by default of three seconds, and renews it by a heartbeat every three tenths of that time. If a
// node does not renew its lease, another node frees its jobs. A node that can't renew its lease cancels its handlers
// before the lease ends, with the cause [ErrLeaseLost]. If a handler goes on nevertheless, the store refuses its
// outcome: every claim of a job has an epoch of its own, and each write carries the epoch.
//
// A node polls once a second and claims what is due before its next poll; it then waits for the exact time in memory.
// Just before a job begins, the node confirms it in the store, so that a canceled job does not begin. If another node
// has to begin a catch-up run again, the run keeps its occurrence.
//
// The clock is that of the store. The clock of the machine may be wrong by any amount.
//
// # Failure
//
// A run that returns an error, panics, calls runtime.Goexit or exceeds its Timeout is repeated after a growing wait,
// see WithBackoff, until its Attempts are used up. Then the job is [Dead]: it is kept, and can be listed and revived. A
// periodic job goes on with its next occurrence instead; [executor.ErrStop] ends its schedule. An error that
// [executor.Permanent] marks uses up all attempts at once. A handler that returns [Snooze] postpones its job, and the
// run does not count as an attempt. A run that is lost with its node counts. A periodic job that loses [MaxLost] runs
// in a row is Dead, too, since it may be what kills the nodes. OnMissed sets what happens to occurrences that no node
// could run.
//
// If the database does not answer, nodes keep trying. They log one line when the outage begins and one when it ends.
// Meanwhile calls that add jobs return errors.
package durable
