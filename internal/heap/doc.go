// Package heap is the one priority queue of this module: a 4-ary min-heap with a
// lane beside it for what comes in order.
//
// It is a plain structure. It takes no locks and reads no clocks; whoever owns
// a [Queue] guards it with a lock of its own.
package heap
