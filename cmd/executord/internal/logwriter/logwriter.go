// Package logwriter writes a log whose reader may be slow or away, without a wait:
//
//	Write ──▶ buffer ──▶ goroutine ──▶ file, pipe or terminal
//
// While the log flows, nothing is lost: Admit makes those wait that write more than is read. When nothing was
// taken for Stall, the log stands still, and nobody waits any more: lines for which there is no room are dropped
// and counted. Once the buffer has drained, a line in their place says how many.
//
//	flowing ──nothing taken for Stall──▶ standing
//	   ▲                                    │
//	   └────────buffer half empty───────────┘
//	any ──the reader is gone──▶ gone
package logwriter

import (
	"bytes"
	"context"
	"io"
	"sync"
	"time"
)

const (
	// Stall is how long the log may take nothing before it stands still. It is documented.
	Stall = 2 * time.Second

	// Linger is how long Close waits at most for a log that flows. It is documented.
	Linger = 10 * time.Second

	// room is how many bytes there are for lines that are admitted, and reserve how many more for the others: runs that
	// write much leave room for the lines about all runs.
	room, reserve = 1 << 20, 1 << 20

	// piece is how much is written at once: what a pipe takes as a whole, and little enough to see that a slow log
	// flows.
	piece = 4 << 10

	// retry is the time between two tries after an error, as of a full disk.
	retry = 100 * time.Millisecond
)

// Config configures where the lines go, and what is done if they do not.
type Config struct {
	To io.Writer

	// Gap returns the line that stands for lines that were dropped. It is called by the goroutine that writes.
	Gap func(Dropped) []byte

	// IsGone reports whether an error of To is for good. After another one, as of a full disk, the same bytes are
	// written again a little later. Gone is called once, with the first error that is for good, by the goroutine
	// that writes.
	IsGone func(error) bool
	Gone   func(error)
}

// Dropped are lines that are not in the log.
type Dropped struct {
	Lines       int
	First, Last time.Time // when they would have been written
	Err         error     // of the latest write; nil if the log was not read
}

type state int

const (
	flowing state = iota
	standing
	gone
)

// A Writer is made by New.
type Writer struct {
	Config
	work    chan struct{} // has a value when the goroutine may have something to do
	closing chan struct{} // closed by Close
	ended   chan struct{} // closed when the goroutine has ended

	// mu is held for moments only.
	mu struct {
		sync.Mutex
		state    state
		closed   bool
		hand     []byte // what the goroutine has taken and not written
		buffer   []byte // to be written after that
		admitted int    // bytes that there is room for and that are not in the buffer yet
		dropped  Dropped
		err      error         // of the latest write
		progress time.Time     // when the log last took something, or began to have something to take
		waiting  int           // how many wait for change
		change   chan struct{} // closed, and made anew, when they may go on
	}
}

// New returns a Writer, and starts the goroutine that writes. Close ends it.
func New(c Config) *Writer {
	w := &Writer{Config: c, work: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{})}
	w.mu.change = make(chan struct{})
	go w.run()
	return w
}

// Write takes one line. It never waits, and never fails: a line for which there is no room is dropped.
func (w *Writer) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.mu.state == gone:
	case w.mu.closed || w.size()+len(line) > room+reserve:
		w.drop()
	default:
		w.add(line)
	}
	return len(line), nil
}

// Admit waits until there is room for a line of that many bytes, room/2 at most. The caller writes the line then, and
// calls release. Admit does not wait for a log that stands still, or is gone, nor after the end of ctx: if there is no
// room then, ok is false, the line is counted as dropped, and is not to be written.
func (w *Writer) Admit(ctx context.Context, size int) (release func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.size()+size > room {
		if w.stalled() && w.mu.state == flowing {
			w.mu.state = standing
			w.announce()
		}
		if w.mu.state != flowing || w.mu.closed || ctx.Err() != nil {
			w.drop()
			return nil, false
		}
		w.await(ctx)
	}
	w.mu.admitted += size
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.mu.admitted -= size
		w.relax()
	}, true
}

// Close waits until all is written, for Linger at most, and for Stall if nothing is taken. It returns what is not in
// the log, and in no line about a gap, and the zero Dropped when it is called again. What is written to w afterwards is
// dropped. The goroutine of w may be left, in a write that does not end.
func (w *Writer) Close() Dropped {
	ctx, cancel := context.WithTimeout(context.Background(), Linger)
	defer cancel()
	w.mu.Lock()
	for w.size() > 0 && w.mu.state != gone && !w.stalled() && ctx.Err() == nil {
		w.await(ctx)
	}
	if w.mu.closed {
		w.mu.Unlock()
		return Dropped{}
	}
	w.mu.closed = true
	left := w.mu.dropped
	left.Lines += bytes.Count(w.mu.hand, newline) + bytes.Count(w.mu.buffer, newline)
	left.Err = w.mu.err
	stuck := len(w.mu.hand) > 0
	w.announce()
	w.mu.Unlock()
	close(w.closing)
	w.wake()
	if !stuck {
		<-w.ended
	}
	return left
}

var newline = []byte("\n")

// pending returns how many bytes are to be written.
func (w *Writer) pending() int { return len(w.mu.hand) + len(w.mu.buffer) }

// size returns how much room is taken.
func (w *Writer) size() int { return w.pending() + w.mu.admitted }

// stalled reports whether nothing was taken for Stall.
func (w *Writer) stalled() bool { return w.pending() > 0 && time.Since(w.mu.progress) >= Stall }

// add puts a line into the buffer.
func (w *Writer) add(line []byte) {
	if w.pending() == 0 {
		w.mu.progress = time.Now() // it had nothing to take
	}
	w.mu.buffer = append(w.mu.buffer, line...)
	w.wake()
}

// drop counts a line.
func (w *Writer) drop() {
	d := &w.mu.dropped
	if d.Last = time.Now(); d.Lines == 0 {
		d.First = d.Last
	}
	d.Lines++
	d.Err = w.mu.err
}

// wake has the goroutine look for work.
func (w *Writer) wake() {
	select {
	case w.work <- struct{}{}:
	default:
	}
}

// relax lets those go on that wait, once there is room for each.
func (w *Writer) relax() {
	if w.size() <= room/2 {
		w.announce()
	}
}

// announce lets all look again that wait.
func (w *Writer) announce() {
	if w.mu.waiting > 0 {
		close(w.mu.change)
		w.mu.change = make(chan struct{})
	}
}

// await releases the lock, and waits for a change, or until the log may stand still.
func (w *Writer) await(ctx context.Context) {
	change, stall := w.mu.change, Stall
	if w.pending() > 0 {
		stall = time.Until(w.mu.progress.Add(Stall))
	}
	w.mu.waiting++
	w.mu.Unlock()
	timer := time.NewTimer(stall)
	select {
	case <-change:
	case <-timer.C:
	case <-ctx.Done():
	}
	timer.Stop()
	w.mu.Lock()
	w.mu.waiting--
}
