package heap_test

import "github.com/executor-go/executor/internal/heap"

// end does one operation of one of the two ends, or of both.
func (m *model) end(op, arg byte, many int) {
	m.t.Helper()
	switch op {
	case 12:
		for i := range many {
			if arg >= 128 { // out of order
				i *= i
			}
			if !m.join(m.now+(int(arg%32)+i/2)%64-4) && arg%2 > 0 {
				m.gather()
				m.push(int(arg % 32))
			}
		}
	case 13:
		m.settle()
		for range many {
			m.serve()
		}
		if arg%4 == 0 {
			m.serveAll()
		}
	case 14:
		m.turn(int(arg % 16))
	case 15:
		m.settle()
	}
}

// join reports false if the queue refuses the key.
func (m *model) join(key int) bool {
	m.t.Helper()
	it := &item{key: key, id: m.pushed}
	place, ok := m.queue.Join(key, it)
	switch {
	case ok && (key <= m.limit || m.left == 0):
		m.t.Fatalf("%d has joined at limit %d and %d before the recount", key, m.limit, m.left)
	case !ok && key > m.limit && m.left > 0 && m.loose < heap.MaxJoined:
		m.t.Fatalf("%d was refused at limit %d, with %d unplaced", key, m.limit, m.loose)
	case !ok:
		return false
	}
	it.place = place
	m.came++
	if place == heap.Unplaced {
		m.loose++
	}
	m.add(it)
	if got := m.queue.Joined(); got < m.came || got > len(m.sorted) {
		m.t.Fatalf("Joined = %d, and %d have, of %d", got, m.came, len(m.sorted))
	}
	return true
}

// serve reports whether the queue gave an element.
func (m *model) serve() bool {
	m.t.Helper()
	it, ok := m.queue.Serve()
	if !ok {
		return false
	}
	if len(m.sorted) == 0 || it != m.sorted[0] || it.key > m.limit {
		m.t.Fatalf("served %v at limit %d, not the least of %d", it, m.limit, len(m.sorted))
	}
	m.sorted = m.sorted[1:]
	return true
}

// serveAll checks that turns, as long as they help, bring out everything that is
// not beyond the limit.
func (m *model) serveAll() {
	m.t.Helper()
	for served := true; served; {
		m.turn(0)
		m.settle()
		for served = false; m.serve(); {
			served = true
		}
	}
	if len(m.sorted) > 0 && m.sorted[0].key <= m.limit {
		m.t.Fatalf("at limit %d %v was not served", m.limit, m.sorted[0])
	}
}

func (m *model) turn(by int) {
	m.settle()
	m.now += by
	m.queue.Turn(m.now)
	m.limit, m.came, m.loose, m.owed = m.now, 0, 0, true
}

func (m *model) settle() {
	if m.owed {
		m.queue.Settle()
		m.owed = false
	}
}

// gather settles everything, so that every method can be used.
func (m *model) gather() {
	m.settle()
	if m.came > 0 {
		m.turn(0)
		m.settle()
	}
}
