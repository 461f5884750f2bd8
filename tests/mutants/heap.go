package main

// heapMutants break the priority queue.
var heapMutants = []mutant{
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
		file: "internal/heap/sweep.go", what: "counting anew forgets the order of arrival",
		old: "	all := q.sorted()\n",
		new: "	all := slices.Collect(q.tickets())\n",
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
		old: "		q.tell(t.elem, q.insert(t))\n",
		new: "		q.insert(t)\n",
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
	{
		file: "internal/heap/queue.go", what: "a tree that was large keeps its arrays",
		old: "	case cap(q.tree.elems) > idle:\n",
		new: "	case q.late < 0:\n",
	},
	{
		file: "internal/heap/flow.go", what: "a full tree takes more",
		old: "if q.tree.n < q.full() {",
		new: "if q.tree.n < 1<<20 {",
	},
	{
		file: "internal/heap/flow.go", what: "what is spilled is not told its place",
		old: "			q.tell(t.elem, pilesAt(q.piles.add(i, t)))\n\t\t}\n\t}\n\tq.announce()\n\tq.tree",
		new: "			q.piles.add(i, t)\n\t\t}\n\t}\n\tq.announce()\n\tq.tree",
	},
	{
		file: "internal/heap/flow.go", what: "a ticket keeps the place that it had in the tree",
		old: "s.unplaced(), ",
		new: "s, ",
	},
	{
		file: "internal/heap/flow.go", what: "what is spilled leaves its slot behind",
		old: "	q.tree.compact()\n",
		new: "",
	},
	{
		file: "internal/heap/flow.go", what: "a pile is split without an order",
		old: "		if !t.before(&pivot) {",
		new: "		if t.arrival()%2 > 0 {",
	},
	{
		file: "internal/heap/flow.go", what: "what goes to a new pile is not told its place",
		old: "			q.tell(t.elem, pilesAt(q.piles.add(i, t)))\n\t\t}\n\t}\n\tq.pack",
		new: "			q.piles.add(i, t)\n\t\t}\n\t}\n\tq.pack",
	},
	{
		file: "internal/heap/flow.go", what: "a pile that was split keeps all its trays",
		old: "	q.pack(i + 1)\n",
		new: "",
	},
	{
		file: "internal/heap/flow.go", what: "what moves together is not told its place",
		old: "		q.tell(t.elem, pilesAt(q.piles.add(i, t)))\n\t}\n}\n\n// advance",
		new: "		q.piles.add(i, t)\n\t}\n}\n\n// advance",
	},
	{
		file: "internal/heap/flow.go", what: "what comes near is not told its place",
		old: "		q.tell(t.elem, q.tree.lay(t))\n",
		new: "		q.tree.lay(t)\n",
	},
	{
		file: "internal/heap/flow.go", what: "what comes near is in no order",
		old: "	q.tree.heapify()\n",
		new: "",
	},
	{
		file: "internal/heap/flow.go", what: "an empty pile stays",
		old: "left > 0 && ",
		new: "",
	},
	{
		file: "internal/heap/flow.go", what: "a pile that is nearly empty stays",
		old: " && left != q.few()",
		new: "",
	},
	{
		file: "internal/heap/flow.go", what: "piles side by side are both nearly empty",
		old: "	q.join(i - 1)\n",
		new: "",
	},
	{
		file: "internal/heap/flow.go", what: "piles are joined in one direction",
		old: "	} else {\n\t\tq.join(i)\n\t}\n",
		new: "	}\n",
	},
	{
		file: "internal/heap/flow.go", what: "what is put onto another pile is not told its place",
		old: "		q.tell(t.elem, pilesAt(q.piles.add(i+1, t)))\n",
		new: "		q.piles.add(i+1, t)\n",
	},
	{
		file: "internal/heap/flow.go", what: "the pivot may be the least",
		old: "sample[len(sample)/2]",
		new: "sample[0]",
	},
	{
		file: "internal/heap/flow.go", what: "only the first are looked at for a pivot",
		old: "if i++; i*len(array) > n*len(sample) && len",
		new: "if i++; len",
	},
	{
		file: "internal/heap/piles.go", what: "what equals a bound goes before it",
		old: "	s.seq |= maxPlaces - 1 // a slot that is a bound is not before itself\n",
		new: "",
	},
	{
		file: "internal/heap/piles.go", what: "what is far goes to the tree",
		old: "return n == 0 || s.before(&ps.bounds[n-1])",
		new: "return n >= 0",
	},
	{
		file: "internal/heap/piles.go", what: "numbers of piles are not used again",
		old: "	if n := len(ps.vacant); n > 0 {",
		new: "	if n := len(ps.vacant); n < 0 {",
	},
	{
		file: "internal/heap/piles.go", what: "what is gone is removed from its pile once more",
		old: "if p == nil || !p.has(at) {",
		new: "if p == nil {",
	},
	{
		file: "internal/heap/piles.go", what: "a pile retains what was taken",
		old: "	*t = ticket[K, E]{}\n\tps.n--\n",
		new: "	ps.n--\n",
	},
	{
		file: "internal/heap/piles.go", what: "a pile retains what was dropped",
		old: "			*p.ticket(at) = ticket[K, E]{}\n",
		new: "",
	},
	{
		file: "internal/heap/piles.go", what: "who came where one was dropped is cleared away",
		old: "; !p.has(at) {",
		new: "; p != nil {",
	},
	{
		file: "internal/heap/piles.go", what: "a tray is given up with what was dropped",
		old: "	ps.clean() // as long as it is known where the tray is\n",
		new: "",
	},
	{
		file: "internal/heap/pile.go", what: "holes are not filled",
		old: "	p.open = min(p.open, i)\n",
		new: "",
	},
	{
		file: "internal/heap/pile.go", what: "an empty tray stays",
		old: "return p.taken[i] == 0",
		new: "return p.n < 0",
	},
	{
		file: "internal/heap/pile.go", what: "trays are not used again",
		old: "	if len(s.trays) < trays {",
		new: "	if len(s.trays) < 0 {",
	},
	{
		file: "internal/heap/pile.go", what: "all trays are kept",
		old: "	if len(s.trays) < trays {",
		new: "	if len(s.trays) >= 0 {",
	},
	{
		file: "internal/heap/sweep.go", what: "bulk removal leaves empty piles",
		old: "		q.thin(i)\n",
		new: "",
	},
	{
		file: "internal/heap/sweep.go", what: "bulk removal leaves the piles as they are",
		old: "		if match(t.elem) {\n\t\t\tinPiles",
		new: "		if match(t.elem) && false {\n\t\t\tinPiles",
	},
	{
		file: "internal/heap/sweep.go", what: "Drain leaves the piles out",
		old: "		for _, t := range q.piles.all() {\n\t\t\tif !yield(*t) {",
		new: "		for _, t := range q.piles.all() {\n\t\t\tif t != nil {\n\t\t\t\tbreak\n\t\t\t}\n\t\t\tif !yield(*t) {",
	},
}
