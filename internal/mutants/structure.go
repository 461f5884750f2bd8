package main

// structureMutants break the heap, the ring and the alarm.
var structureMutants = []mutant{
	{
		file: "internal/heap/sift.go", what: "removal from the middle sifts down only",
		old: "case i > root && last.before(&q.slots[i/arity+2]):",
		new: "case i < 0:",
	},
	{
		file: "internal/heap/sift.go", what: "removal from the middle does not sift down",
		old: "		q.down(i, last)\n",
		new: "		q.set(i, last)\n",
	},
	{
		file: "internal/heap/sift.go", what: "ties leave in reverse",
		old: "return s.seq < t.seq",
		new: "return s.seq > t.seq",
	},
	{
		file: "internal/heap/queue.go", what: "arrivals are not numbered",
		old: "	q.arrivals++\n",
		new: "",
	},
	{
		file: "internal/heap/sift.go", what: "the heap retains the key of what it removed",
		old: "	q.slots[n] = slot[K]{} // a key may hold a string\n",
		new: "",
	},
	{
		file: "internal/heap/sift.go", what: "it is not noted where a slot is",
		old: "	q.home[s.place()] = uint32(i)\n",
		new: "",
	},
	{
		file: "internal/heap/sift.go", what: "sifting down leaves the last game out",
		old: "			if c[b&3].before(&c[a&3]) {",
		new: "			if b < 0 {",
	},
	{
		file: "internal/heap/sift.go", what: "sifting down looks at fewer children at the end",
		old: "child < len(q.slots); child++",
		new: "child < len(q.slots)-1; child++",
	},
	{
		file: "internal/heap/sift.go", what: "NaN is equal to nothing",
		old: " || s.key != s.key && t.key != t.key {",
		new: " {",
	},
	{
		file: "internal/heap/queue.go", what: "what comes out of order takes the lane",
		old: "cmp.Less(key, q.newest) {",
		new: "cmp.Less(q.newest, key) {",
	},
	{
		file: "internal/heap/queue.go", what: "the lane never opens again",
		old: "if q.late++; q.late < patience ||",
		new: "if q.late < patience ||",
	},
	{
		file: "internal/heap/queue.go", what: "a long lane is given up",
		old: " || q.lane.Len() > patience {",
		new: " {",
	},
	{
		file: "internal/heap/queue.go", what: "some out of order in all close the lane",
		old: "	q.late = 0\n",
		new: "",
	},
	{
		file: "internal/heap/queue.go", what: "the lane goes before the heap",
		old: "(!lane || q.slots[root].before(&s))",
		new: "!lane",
	},
	{
		file: "internal/heap/queue.go", what: "a place in the lane is not marked",
		old: "q.home[p] = inLane | uint32(q.lane.Push(s))",
		new: "q.home[p] = uint32(q.lane.Push(s))",
	},
	{
		file: "internal/heap/queue.go", what: "arrivals are counted into the next bits",
		old: "if q.arrivals == maxArrivals {",
		new: "if q.arrivals < 0 {",
	},
	{
		file: "internal/heap/store.go", what: "the queue retains what it removed",
		old: "	s.elems[place] = *new(E)\n",
		new: "",
	},
	{
		file: "internal/heap/store.go", what: "what is gone is removed once more",
		old: "if home := s.home[place]; home&isFree == 0 {",
		new: "if home := s.home[place]; home >= 0 {",
	},
	{
		file: "internal/heap/store.go", what: "places are not used again",
		old: "	s.free = place + 1\n",
		new: "",
	},
	{
		file: "internal/heap/store.go", what: "new places are not told",
		old: "			q.moved(e, place)\n",
		new: "			_ = place\n",
	},
	{
		file: "internal/heap/store.go", what: "the arrays never shrink",
		old: "return cap(s.elems) > idle &&",
		new: "return cap(s.elems) < 0 &&",
	},
	{
		file: "internal/heap/store.go", what: "counting anew forgets the order of arrival",
		old: "		s.seq = q.arrivals<<placeBits | uint64(s.place())\n",
		new: "		s.seq = uint64(s.place())\n",
	},
	{
		file: "internal/heap/sweep.go", what: "bulk removal leaves the root out of order",
		old: "i >= root; i-- {",
		new: "i > root; i-- {",
	},
	{
		file: "internal/heap/sweep.go", what: "bulk removal leaves the lane as it is",
		old: "			q.lane.Remove(int(at &^ inLane))\n",
		new: "			_ = at\n",
	},
	{
		file: "internal/heap/sweep.go", what: "bulk removal retains slots",
		old: "	clear(q.slots[n:])\n",
		new: "",
	},
	{
		file: "internal/heap/sweep.go", what: "Drain leaves the lane out",
		old: ", q.lane.Drain()...)",
		new: ")",
	},
	{
		file: "internal/ring/ring.go", what: "the ring retains what it gave",
		old: "	*slot = *new(E)\n",
		new: "",
	},
	{
		file: "internal/ring/ring.go", what: "Pop leaves a hole at the head",
		old: "if r.head == size || c.holes != 0 {",
		new: "if r.head == size {",
	},
	{
		file: "internal/ring/ring.go", what: "Remove leaves a hole at the head",
		old: "	if c == r.first {\n\t\tr.trim()\n\t} else if",
		new: "	if",
	},
	{
		file: "internal/ring/ring.go", what: "a hole is removed once more",
		old: "c == nil || c.holes&(1<<i) != 0 ||",
		new: "c == nil ||",
	},
	{
		file: "internal/ring/ring.go", what: "what was popped is removed once more",
		old: " || c == r.first && i < r.head",
		new: "",
	},
	{
		file: "internal/ring/ring.go", what: "what was never pushed is removed",
		old: " || c == r.last && i >= size-r.room",
		new: "",
	},
	{
		file: "internal/ring/ring.go", what: "a chunk of holes is kept",
		old: "} else if c.holes == full {",
		new: "} else if c.holes == 0 {",
	},
	{
		file: "internal/ring/ring.go", what: "the ring retains what was removed from its middle",
		old: "	c.slots[i] = *new(E)\n",
		new: "",
	},
	{
		file: "internal/ring/chunk.go", what: "head stops behind one hole",
		old: "uint(bits.TrailingZeros64(^(r.first.holes >> r.head)))",
		new: "uint(r.first.holes>>r.head&1) + 0*uint(bits.UintSize)",
	},
	{
		file: "internal/ring/chunk.go", what: "a chunk that was given up stays the last",
		old: "		r.last = c.prev\n",
		new: "		_ = c.prev\n",
	},
	{
		file: "internal/ring/shelf.go", what: "holes are remembered in reserve",
		old: "c.prev, c.next, c.number, c.holes = nil, s.spare, 0, 0",
		new: "c.prev, c.next, c.number = nil, s.spare, 0",
	},
	{
		file: "internal/ring/shelf.go", what: "the reserve has no limit",
		old: "for s.spares > max(idle, s.used) {",
		new: "for s.spares < 0 {",
	},
	{
		file: "internal/ring/shelf.go", what: "numbers are not used again",
		old: "2*s.used > len(s.table) {",
		new: "s.used > 0 {",
	},
	{
		file: "internal/ring/shelf.go", what: "the table never shrinks",
		old: "for n > 0 && s.table[n-1] == nil {",
		new: "for n < 0 {",
	},
	{
		file: "internal/alarm/alarm.go", what: "the timer is not set",
		old: "	a.timer.Reset(d)\n",
		new: "",
	},
	{
		file: "internal/alarm/alarm.go", what: "Stop leaves the timer on",
		old: "func (a *Alarm) Stop() {\n\ta.timer.Stop()\n",
		new: "func (a *Alarm) Stop() {\n",
	},
	{
		file: "internal/alarm/alarm.go", what: "Close leaves the helper running",
		old: "		a.waker.close()\n",
		new: "",
	},
	{
		file: "internal/alarm/waker_linux.go", what: "the waker is not armed again",
		old: "		if w.mu.wanted < never {\n\t\t\tw.armLocked(time.Duration(w.mu.wanted - w.now()))\n\t\t}\n",
		new: "",
	},
	{
		file: "internal/alarm/waker_linux.go", what: "a waker that has gone off counts as armed",
		old: "		w.mu.armed = never\n",
		new: "",
	},
	{
		file: "internal/alarm/waker_linux.go", what: "a waker that is armed is not armed for an earlier time",
		old: "if w.mu.wanted < w.mu.armed {",
		new: "if w.mu.armed == never {",
	},
	{
		file: "internal/alarm/waker_linux.go", what: "Close leaves the descriptor open",
		old: "	w.file.Close()\n\t<-w.done",
		new: "",
	},
}
