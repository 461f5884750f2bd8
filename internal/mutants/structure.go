package main

// structureMutants break the heap, the ring and the alarm.
var structureMutants = []mutant{
	{
		file: "internal/heap/sift.go", what: "removal from the middle sifts down only",
		old: "case i > root && last.before(&t.slots[i/arity+2]):",
		new: "case i < 0:",
	},
	{
		file: "internal/heap/sift.go", what: "removal from the middle does not sift down",
		old: "		t.down(i, last)\n",
		new: "		t.set(i, last)\n",
	},
	{
		file: "internal/heap/sift.go", what: "ties leave in reverse",
		old: "return s.seq < t.seq",
		new: "return s.seq > t.seq",
	},
	{
		file: "internal/heap/lane.go", what: "arrivals are not numbered",
		old: "	l.arrivals++\n",
		new: "",
	},
	{
		file: "internal/heap/sift.go", what: "the heap retains the key of what it removed",
		old: "	t.slots[n] = slot[K]{} // a key may hold a string\n",
		new: "",
	},
	{
		file: "internal/heap/sift.go", what: "it is not noted where a slot is",
		old: "	t.home[s.place()] = uint32(i)\n",
		new: "",
	},
	{
		file: "internal/heap/sift.go", what: "sifting down leaves the last game out",
		old: "			if c[b&3].before(&c[a&3]) {",
		new: "			if b < 0 {",
	},
	{
		file: "internal/heap/sift.go", what: "sifting down looks at fewer children at the end",
		old: "child < len(t.slots); child++",
		new: "child < len(t.slots)-1; child++",
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
		old: "return q.late >= patience && ",
		new: "return q.late < 0 && ",
	},
	{
		file: "internal/heap/queue.go", what: "a long lane is given up",
		old: "q.late >= patience && q.line.Len() <= patience }",
		new: "q.late >= patience }",
	},
	{
		file: "internal/heap/lane.go", what: "some out of order in all close the lane",
		old: "	l.late, l.newest = 0, key\n",
		new: "	l.newest = key\n",
	},
	{
		file: "internal/heap/queue.go", what: "the lane goes before the heap",
		old: "s == nil || t.before(s) {",
		new: "true {",
	},
	{
		file: "internal/heap/queue.go", what: "a place in the lane is not marked",
		old: "return place<<1 | 1 }",
		new: "return place << 1 }",
	},
	{
		file: "internal/heap/queue.go", what: "arrivals are counted into the next bits",
		old: "if q.arrivals == maxArrivals {",
		new: "if q.arrivals < 0 {",
	},
	{
		file: "internal/heap/tree.go", what: "the queue retains what it removed",
		old: "	t.elems[place] = *new(E)\n",
		new: "",
	},
	{
		file: "internal/heap/tree.go", what: "what is gone is removed once more",
		old: "|| t.home[p]&isFree != 0 {",
		new: "{",
	},
	{
		file: "internal/heap/tree.go", what: "places are not used again",
		old: "	t.free = place + 1\n",
		new: "",
	},
	{
		file: "internal/heap/tree.go", what: "new places are not told",
		old: "			tell(elems[p], treeAt(place))\n",
		new: "",
	},
	{
		file: "internal/heap/tree.go", what: "the arrays never shrink",
		old: "return cap(t.elems) > idle &&",
		new: "return cap(t.elems) < 0 &&",
	},
	{
		file: "internal/heap/sweep.go", what: "counting anew forgets the order of arrival",
		old: "	all := q.sorted()\n	*q = Queue[K, E]{moved: q.moved}\n",
		new: "	all := slices.Collect(q.tickets())\n	*q = Queue[K, E]{moved: q.moved}\n",
	},
	{
		file: "internal/heap/sift.go", what: "bulk removal leaves the root out of order",
		old: "i >= root; i-- {",
		new: "i > root; i-- {",
	},
	{
		file: "internal/heap/sweep.go", what: "bulk removal leaves the lane as it is",
		old: "return match(t.elem) }",
		new: "return match(t.elem) && false }",
	},
	{
		file: "internal/heap/tree.go", what: "bulk removal retains slots",
		old: "	clear(t.slots[n:])\n",
		new: "",
	},
	{
		file: "internal/heap/sweep.go", what: "Drain leaves the lane out",
		old: "		for t := range q.line.All() {\n",
		new: "		for t := range q.line.All() {\n\t\t\tif true {\n\t\t\t\tbreak\n\t\t\t}\n",
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
		old: "for s.spares > max(idle, most) {",
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
		old: "		a.timer.Reset(d)\n",
		new: "",
	},
	{
		file: "internal/alarm/alarm.go", what: "Stop leaves the timer on",
		old: "	} else {\n\t\ta.timer.Stop()\n\t}",
		new: "	}",
	},
	{
		file: "internal/alarm/alarm.go", what: "Close leaves the helper running",
		old: "		a.waker.close()\n",
		new: "",
	},
	{
		file: "internal/alarm/waker_linux.go", what: "the waker is not armed again",
		old: "	if left > 0 {\n\t\tw.armLocked(left)\n",
		new: "	if left > 0 {\n",
	},
	{
		file: "internal/alarm/waker_linux.go", what: "the bell does not ring",
		old: "	w.bell <- struct{}{}\n",
		new: "",
	},
	{
		file: "internal/alarm/waker_linux.go", what: "the bell rings beside the timer",
		old: "	w.stopLocked()\n\tw.bell <-",
		new: "	w.mu.wanted = never\n\tw.bell <-",
	},
	{
		file: "internal/alarm/waker_linux.go", what: "a setting leaves the bell of the one before",
		old: "	case <-w.bell:\n",
		new: "	case <-chan struct{}(nil):\n",
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
	{
		file: "internal/heap/ends.go", what: "what may belong before others joins",
		old: "	case !cmp.Less(q.limit, key) || q.arrivals == maxArrivals:",
		new: "	case q.arrivals == maxArrivals:",
	},
	{
		file: "internal/heap/ends.go", what: "what comes out of order joins the lane",
		old: "	case cmp.Less(key, q.newest):\n",
		new: "	case q.late < 0:\n",
	},
	{
		file: "internal/heap/ends.go", what: "what was handed over is retained",
		old: "	clear(q.taken)\n",
		new: "",
	},
	{
		file: "internal/heap/ends.go", what: "what was handed over is not told its place",
		old: "		q.tell(t.elem, q.tree.push(t.slot, t.elem))\n",
		new: "		q.tree.push(t.slot, t.elem)\n",
	},
	{
		file: "internal/heap/ends.go", what: "who serves does not know what is behind",
		old: "if t == nil && !q.alone {",
		new: "if t == nil && q.late < 0 {",
	},
	{
		file: "internal/heap/ends.go", what: "what is not due is served",
		old: "		if cmp.Less(q.limit, s.key) {",
		new: "		if q.late < 0 {",
	},
	{
		file: "internal/heap/ends.go", what: "the lane goes before the tree",
		old: "if s != nil && (t == nil || s.before(&t.slot)) {",
		new: "if s != nil && t == nil {",
	},
}
