package executor

// chain is a list from which any element is taken in one step, and which keeps no room
// for it: a million may come to something that stays, and go again. The zero chain is
// empty.
type chain[E any] struct{ first, last *link[E] }

type link[E any] struct {
	value      E
	prev, next *link[E]
}

// add puts l at the end, which is in no chain.
func (c *chain[E]) add(l *link[E]) {
	if c.last == nil {
		c.first = l
	} else {
		l.prev, c.last.next = c.last, l
	}
	c.last = l
}

// remove takes l out, which is in this chain. It leads to none of the others then.
func (c *chain[E]) remove(l *link[E]) {
	if l.prev == nil {
		c.first = l.next
	} else {
		l.prev.next = l.next
	}
	if l.next == nil {
		c.last = l.prev
	} else {
		l.next.prev = l.prev
	}
	l.prev, l.next = nil, nil
}
