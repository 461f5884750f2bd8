package record

import (
	"sync"
	"time"
)

// Line is a line that a run has written.
type Line struct {
	N      int64     // 1, 2, 3, ... over both streams; where a number is missing, lines were left out
	At     time.Time // when it was read
	Stderr bool      // else it was written to standard output
	More   bool      // it was too long for one piece: the next line of its stream goes on with it
	Text   string    // as it was written, without its end

	Attempt int // of the run, that has written it; 0 if that is not known, or the first
}

// lineCost is about what a line takes in memory besides its text.
const lineCost = 64

func (l Line) size() int { return len(l.Text) + lineCost }

// Output keeps the first and the last lines of a run, and lets readers follow it while it is written. Its methods may
// be called by several goroutines.
type Output struct {
	limit int // bytes of head, and of tail

	// mu is a leaf lock.
	mu struct {
		sync.Mutex
		head, tail []Line // tail may go on where head ends, or later
		headSize   int
		tailSize   int
		full       bool  // nothing more is added to head
		lines      int64 // added
		attempt    int   // that writes
		ended      bool
		change     chan struct{} // closed when there is more; nil while there is no waiter
	}
}

// newOutput returns an Output that keeps as many bytes of the begin and as many of the end.
func newOutput(limit int) *Output { return &Output{limit: limit} }

// Add adds a line. It does not keep text.
func (o *Output) Add(at time.Time, stderr, more bool, text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mu.lines++
	l := Line{N: o.mu.lines, At: at, Stderr: stderr, More: more, Text: string(text), Attempt: o.mu.attempt}
	if !o.mu.full && o.mu.headSize+l.size() <= o.limit {
		o.mu.head = append(o.mu.head, l)
		o.mu.headSize += l.size()
	} else {
		o.mu.full = true
		o.mu.tail = append(o.mu.tail, l)
		o.mu.tailSize += l.size()
		for o.mu.tailSize > o.limit && len(o.mu.tail) > 1 {
			o.mu.tailSize -= o.mu.tail[0].size()
			o.mu.tail[0] = Line{} // its text is in nobody's way
			o.mu.tail = o.mu.tail[1:]
		}
	}
	o.announce()
}

// BeginAttempt says which attempt of the run writes the lines that are added from now on.
func (o *Output) BeginAttempt(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mu.attempt = n
}

// end says that nothing more comes.
func (o *Output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mu.ended = true
	o.announce()
}

func (o *Output) announce() {
	if o.mu.change != nil {
		close(o.mu.change)
		o.mu.change = nil
	}
}

// After returns the lines that are kept of those after number n, oldest first. More is closed when there are others;
// it is nil if nothing more comes.
func (o *Output) After(n int64) (lines []Line, more <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, part := range [][]Line{o.mu.head, o.mu.tail} {
		if len(part) > 0 {
			lines = append(lines, part[from(part, n):]...)
		}
	}
	if o.mu.ended {
		return lines, nil
	}
	if o.mu.change == nil {
		o.mu.change = make(chan struct{})
	}
	return lines, o.mu.change
}

// from returns the index in part of the first line after number n. The numbers of a part have no gaps.
func from(part []Line, n int64) int {
	return int(min(max(n+1-part[0].N, 0), int64(len(part))))
}

// Lines returns how many lines were written, of which not all may be kept.
func (o *Output) Lines() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.mu.lines
}

// size returns about how many bytes are kept.
func (o *Output) size() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.mu.headSize + o.mu.tailSize
}
