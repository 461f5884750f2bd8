// Package heap is the one priority queue of this module. What comes in order is in
// a lane, what is about to leave in a 4-ary min-heap, and the rest, in no order,
// in piles behind it.
//
// It is a plain structure. It takes no locks and reads no clocks; whoever owns
// a [Queue] guards it with a lock of its own.
package heap
