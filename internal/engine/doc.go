// Package engine runs units of work on workers. It is what every pool stands on, and knows
// nothing of futures, contexts, hooks or schedules.
//
//	            Submit                                   Worker
//	unit ──▶ 1 below Kept: a new worker ───────────────▶ fetch ─▶ Unit.Do ──┐
//	         2 an idle worker, or the queue ─▶ Queue ──▶   ▲  ◀─────────────┘
//	         3 below Max: a new worker ────────────────▶   │   counts the unit that has ended,
//	         4 else Saturated: the caller decides          │   and pops the next, or parks
//	                                                      Alarm: what is due later
//
// The parts, in the order in which they are read:
//
//	unit.go     what runs: Unit, its Slot in the queue, its Outcome
//	queue.go    where units wait: Queue and the queues by arrival and by priority
//	engine.go   Engine, its Limits and its Counts
//	lock.go     the one lock, and the one fast path beside it
//	admit.go    the four steps, and submitters that wait for room
//	worker.go   a worker's life: fetch, run, fetch, ..., gone
//	idle.go     parked workers: who is woken, who is dismissed
//	leave.go    units that leave the queue without a worker
//	again.go    units that run more than once, and wait to run again
//	due.go      units that wait for their time, and the alarm for the next
//	pause.go    an engine that begins nothing for a while
//	lend.go     units that wait for others, and lend their places
//	lease.go    an engine whose workers are borrowed from another engine
//	stop.go     the stages from running to terminated
//
// The words, each for one thing:
//
//	a worker   takes a unit or is given one, runs it, parks, is woken to look at the queue, exits
//	a unit     waits, leaves its queue, is aside, waits to run again, bars others meanwhile
//	an engine  lends its workers to another one, which borrows them by leases
//	a unit     that waits for others, which are wanted, lends its place, or is host to them
//
// An engine has one lock. Under it only those methods of a unit are called that tell something of
// it: Slot, Outcome, Key, and what functions of Config ask. No other engine's lock is taken under it.
package engine
