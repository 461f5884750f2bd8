package main

// structureMutants break the ring and the alarm.
var structureMutants = []mutant{
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
		file: "internal/ring/chunk.go", what: "Remove leaves a hole at the head",
		old: "	if c == r.first {\n\t\tr.trim()\n\t} else if",
		new: "	if",
	},
	{
		file: "internal/ring/ring.go", what: "the youngest leaves a hole",
		old: "	if c == r.last && i == size-1-r.room {",
		new: "	if false {",
	},
	{
		file: "internal/ring/chunk.go", what: "the holes before the youngest stay",
		old: "		r.room += uint(bits.LeadingZeros64(^(c.holes << r.room)))\n",
		new: "",
	},
	{
		file: "internal/ring/chunk.go", what: "what was a hole and is room stays a hole",
		old: "		c.holes &= 1<<(size-r.room) - 1\n",
		new: "",
	},
	{
		file: "internal/ring/chunk.go", what: "an empty chunk at the young end stays",
		old: "		if r.room < size {\n\t\t\treturn\n",
		new: "		if r.room <= size {\n\t\t\treturn\n",
	},
	{
		file: "internal/ring/chunk.go", what: "the last chunk of a long ring keeps its number",
		old: "	if c.number > 0 {",
		new: "	if c.number < 0 {",
	},
	{
		file: "internal/ring/pair.go", what: "the half that was not removed from keeps what it had in reserve",
		old: "		p.halves[1-place&1].ring.settle()\n",
		new: "",
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
		file: "internal/ring/chunk.go", what: "a chunk of holes is kept",
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
		old: "left > 0 {\n\t\tw.armLocked(left)\n",
		new: "left > 0 {\n",
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
		file: "internal/alarm/waker_linux.go", what: "a bubble is not told by its clock that stands still",
		old: "	return time.Since(begin) == 0\n",
		new: "	return false\n",
	},
}
