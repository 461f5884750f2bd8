// Package round runs every workload on every subject, round by round, each in
// a process of its own.
//
// Interleaved: within a round the runs come in random order, so that a slow
// minute of the machine hits no subject more than another. In a process of its
// own: the heap, the timers and the goroutines that one subject leaves behind
// would be in the way of the next.
package round
