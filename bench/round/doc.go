// Package round runs every workload on every subject, round by round, each in a process
// of its own.
//
// Within a round the order is random, so that a slow minute of the machine affects all
// subjects alike. A subject has a process of its own, so that the heap, the timers and the
// goroutines of one do not disturb the next.
package round
