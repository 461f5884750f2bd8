package main

// structureMutants break the heap, the ring and the alarm.
var structureMutants = []mutant{
	{
		file: "internal/heap/heap.go", what: "removal from the middle sifts down only",
		old: "if index > 0 && last.before(&h.slots[(index-1)/arity]) {",
		new: "if index < 0 {",
	},
	{
		file: "internal/heap/heap.go", what: "removal from the middle does not sift down",
		old: "			h.down(index, last)\n",
		new: "			h.place(index, last)\n",
	},
	{
		file: "internal/heap/heap.go", what: "ties leave in reverse",
		old: "return s.arrival < t.arrival",
		new: "return s.arrival > t.arrival",
	},
	{
		file: "internal/heap/heap.go", what: "arrivals are not numbered",
		old: "	h.arrivals++\n",
		new: "",
	},
	{
		file: "internal/heap/heap.go", what: "the heap retains what it removed",
		old: "	h.slots[n] = slot[K, E]{}\n",
		new: "",
	},
	{
		file: "internal/heap/heap.go", what: "moves are not told",
		old: "	h.slots[index] = s\n\th.tell(s.elem, index)",
		new: "	h.slots[index] = s",
	},
	{
		file: "internal/heap/heap.go", what: "a removal is not told",
		old: "	h.tell(gone.elem, -1)\n",
		new: "",
	},
	{
		file: "internal/heap/heap.go", what: "sifting down looks at three children of four",
		old: "child < min(first+arity, len(h.slots))",
		new: "child < min(first+arity-1, len(h.slots))",
	},
	{
		file: "internal/heap/heap.go", what: "the array never shrinks",
		old: "size > idle && len(h.slots) <= size/4",
		new: "size < 0 && len(h.slots) <= size/4",
	},
	{
		file: "internal/heap/bulk.go", what: "bulk removal leaves the root out of order",
		old: "i >= 0; i-- {",
		new: "i > 0; i-- {",
	},
	{
		file: "internal/heap/bulk.go", what: "bulk removal retains what it removed",
		old: "	clear(h.slots[n:])\n",
		new: "",
	},
	{
		file: "internal/heap/bulk.go", what: "Drain tells nobody",
		old: "		h.tell(all[i], -1)\n",
		new: "",
	},
	{
		file: "internal/ring/ring.go", what: "the ring retains what it gave",
		old: "	*slot = *new(E)\n",
		new: "",
	},
	{
		file: "internal/ring/ring.go", what: "Pop leaves a hole at the head",
		old: "	r.head++\n\tif r.holes > 0 {\n\t\tr.trim()\n\t}\n",
		new: "	r.head++\n",
	},
	{
		file: "internal/ring/ring.go", what: "Remove leaves a hole at the end",
		old: "	e := r.punch(p)\n\tr.trim()\n",
		new: "	e := r.punch(p)\n",
	},
	{
		file: "internal/ring/ring.go", what: "a hole is removed once more",
		old: " || r.isHole(p) {\n\t\tpanic",
		new: " {\n\t\tpanic",
	},
	{
		file: "internal/ring/ring.go", what: "holes count as elements",
		old: "return int(r.tail-r.head) - r.holes",
		new: "return int(r.tail - r.head)",
	},
	{
		file: "internal/ring/hole.go", what: "the young end is not trimmed",
		old: "r.holes > 0 && r.isHole(r.tail-1)",
		new: "r.holes < 0 && r.isHole(r.tail-1)",
	},
	{
		file: "internal/ring/hole.go", what: "the ring retains what was removed from its middle",
		old: "	r.buf[i] = *new(E)\n",
		new: "",
	},
	{
		file: "internal/ring/resize.go", what: "elements are not told that they moved",
		old: "if p != end && r.moved != nil {",
		new: "if p == end && r.moved != nil {",
	},
	{
		file: "internal/ring/resize.go", what: "closing holes in place retains the elements' old slots",
		old: "			to[p&mask] = *new(E)\n",
		new: "			_ = to\n",
	},
	{
		file: "internal/ring/resize.go", what: "closed holes are remembered",
		old: "		clear(r.hole)\n",
		new: "",
	},
	{
		file: "internal/ring/resize.go", what: "the ring grows although half of it is holes",
		old: "if r.Len() > len(r.buf)/2 {",
		new: "if r.Len() > 0 {",
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
		file: "internal/alarm/waker_linux.go", what: "Close leaves the descriptor open",
		old: "	w.file.Close()\n\t<-w.done",
		new: "",
	},
}
