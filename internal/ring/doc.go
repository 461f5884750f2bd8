// Package ring is a first-in, first-out queue from which any element can be removed
// in constant time.
//
// A [Ring] is an unrolled linked list (Shao, Reppy and Appel, "Unrolling Lists", LFP
// 1994): elements lie in chunks of 64 slots, which are linked in both directions and
// come and go at the ends. An element that is removed from the middle leaves a hole.
//
//	first             middle            last
//	[....aaaa]  <-->  [aa-a-aaa]  <-->  [a-aa    ]
//	     ^ head                              ^ room
//
//	.  has left at the head     a  element     -  hole
//
// A place is a number: 64 times that of the chunk, plus the slot. A table has the
// chunks by number, so that a place leads to its slot.
//
// Invariants:
//
//   - A slot without an element is zero: the queue keeps nothing alive that has left.
//   - The slot at head holds an element, and the youngest slot is not a hole.
//   - No chunk consists of holes. A chunk that would is unlinked.
//   - A place belongs to one element from Push until it leaves, or until Compact.
//
// Push, Pop and Remove take constant time; none of them copies the queue. A hole keeps
// its slot until its chunk is unlinked, and Compact removes all holes once three
// quarters of the slots are holes. Numbers of chunks are reused, so places stay small.
// Eight chunks are kept in reserve, or as many as are in use.
//
// A circular array that doubles was slower: a push into a million elements copies
// them, and the arrays are cleared when they are made, as the queue grows and again
// as it shrinks. See docs/design/decisions/queues.md.
//
// A [Pair] is two rings, one to push to and one to pop from, so that a goroutine at
// the tail and a goroutine at the head do not meet.
//
// The types of this package do not lock. Their owner holds a lock of its own.
package ring
