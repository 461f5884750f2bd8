// Package list is a doubly linked list whose nodes belong to its user, so that an
// element is removed in constant time and without a search.
//
// It is a plain structure. It takes no locks.
package list

// List is a list of elements E. The zero List is empty and ready to use.
type List[E any] struct{ first, last *Node[E] }

// Node is an element with its place in a list. A Node is in one list at most. The
// zero Node is in none.
type Node[E any] struct {
	Value      E
	prev, next *Node[E]
}

// First returns the first node, nil if the list is empty.
func (l *List[E]) First() *Node[E] { return l.first }

// Last returns the last node, nil if the list is empty.
func (l *List[E]) Last() *Node[E] { return l.last }

// Next returns the node after n, nil if n is the last one.
func (n *Node[E]) Next() *Node[E] { return n.next }

// Prev returns the node before n, nil if n is the first one.
func (n *Node[E]) Prev() *Node[E] { return n.prev }

// PushBack adds n, which is in no list, as the last node.
func (l *List[E]) PushBack(n *Node[E]) { l.InsertAfter(n, l.last) }

// InsertAfter adds n, which is in no list, after the node at, or as the first node
// if at is nil.
func (l *List[E]) InsertAfter(n, at *Node[E]) {
	n.prev = at
	if at == nil {
		n.next, l.first = l.first, n
	} else {
		n.next, at.next = at.next, n
	}
	if n.next == nil {
		l.last = n
	} else {
		n.next.prev = n
	}
}

// Remove removes n, which is in l. It then retains no other node.
func (l *List[E]) Remove(n *Node[E]) {
	if n.prev == nil {
		l.first = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		l.last = n.prev
	} else {
		n.next.prev = n.prev
	}
	n.prev, n.next = nil, nil
}
