// Package delay is the delay queue of a scheduled pool, with the clocks by which it
// orders its elements.
//
// Elements that are due on the monotonic clock and those that are due at a time of
// day are in two heaps, so that a step of the wall clock moves no element: it changes
// only how long to wait.
//
//	Push ──┬── monotonic ──▶ mono ──┐
//	       └── wall clock ─▶ wall ──┴──▶ Pop: the element that is overdue by most
//
// The queue takes no locks. It is guarded by the lock of its user.
package delay
