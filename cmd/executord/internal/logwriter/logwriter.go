// Package logwriter writes a log whose reader may be slow or away: lines go into a buffer, and a goroutine writes it.
//
// While the log flows, nothing is lost: Admit makes those wait that write more than is read. When nothing was taken for
// Stall, the log stands still, and nobody waits any more: lines for which there is no room are dropped and counted. Once
// the buffer is half empty, a line says how many, and the log flows again.
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

	// Gap returns the line that stands for lines that were dropped. It must not use the Writer.
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

// A Writer is made by New.
type Writer struct {
	Config
	ended chan struct{} // closed when the goroutine has ended

	mu       sync.Mutex // held for moments only
	changed  *sync.Cond // there are lines to write, there is room, or waiting is no use
	buffer   []byte     // begins with what is being written
	dropped  Dropped
	err      error       // of the latest write
	progress time.Time   // when the log last took something, or began to have something to take
	stall    *time.Timer // runs out when that is Stall ago
	writing  bool        // a write goes on
	standing bool        // see the package's doc
	gone     bool
	closed   bool
}

// New returns a Writer, and starts the goroutine that writes. Close ends it.
func New(c Config) *Writer {
	w := &Writer{Config: c, ended: make(chan struct{})}
	w.changed = sync.NewCond(&w.mu)
	w.stall = time.AfterFunc(Stall, w.stand)
	go w.run()
	return w
}

// Write takes one line. It never waits, and never fails: a line for which there is no room is dropped.
func (w *Writer) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.gone:
	case w.closed || len(w.buffer)+len(line) > room+reserve:
		w.dropLocked()
	default:
		if len(w.buffer) == 0 { // the log had nothing to take
			w.progress = time.Now()
			w.stall.Reset(Stall)
			w.changed.Broadcast()
		}
		w.buffer = append(w.buffer, line...)
	}
	return len(line), nil
}

// Admit waits until there is room for a line of that many bytes, room/2 at most, which the caller then writes. It does
// not wait for a log that stands still, or is gone, nor after the end of ctx: if there is no room then, it returns false,
// the line is counted as dropped, and is not to be written.
func (w *Writer) Admit(ctx context.Context, size int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.buffer)+size <= room {
		return true
	}
	defer context.AfterFunc(ctx, w.announce)()
	for len(w.buffer)+size > room {
		if w.standing || w.closed || ctx.Err() != nil {
			w.dropLocked()
			return false
		}
		w.changed.Wait()
	}
	return true
}

// Close waits until all is written, for Linger at most, and for Stall if nothing is taken. It returns what is not in
// the log, and in no line about a gap, and the zero Dropped when it is called again. What is written to w afterwards is
// dropped. The goroutine of w may be left, in a write that does not end.
func (w *Writer) Close() Dropped {
	ctx, cancel := context.WithTimeout(context.Background(), Linger)
	defer cancel()
	defer context.AfterFunc(ctx, w.announce)()
	w.mu.Lock()
	for len(w.buffer) > 0 && !w.standing && !w.closed && ctx.Err() == nil {
		w.changed.Wait()
	}
	if w.closed {
		w.mu.Unlock()
		return Dropped{}
	}
	w.closed = true
	left, stuck := w.dropped, w.writing
	left.Lines += bytes.Count(w.buffer, newline)
	left.Err = w.err
	w.stall.Stop()
	w.changed.Broadcast()
	w.mu.Unlock()
	if !stuck {
		<-w.ended
	}
	return left
}

var newline = []byte("\n")

// run writes what is in the buffer, until the Writer is closed, or the reader is gone.
func (w *Writer) run() {
	defer close(w.ended)
	for {
		n, err, closed := w.writePiece()
		switch {
		case closed:
			return
		case err != nil && w.IsGone(err):
			w.account(n, err, true)
			w.Gone(err)
			return
		}
		if w.account(n, err, false); err != nil {
			time.Sleep(retry)
		}
	}
}

// writePiece waits for lines, and writes some: whole ones, unless one is longer than a piece.
func (w *Writer) writePiece() (n int, err error, closed bool) {
	w.mu.Lock()
	for len(w.buffer) == 0 && !w.closed {
		w.changed.Wait()
	}
	if w.closed {
		w.mu.Unlock()
		return 0, nil, true
	}
	lines := w.buffer // what is added meanwhile is behind these
	w.writing = true
	w.mu.Unlock()
	if len(lines) > piece {
		if end := bytes.LastIndexByte(lines[:piece], '\n') + 1; end > 0 {
			lines = lines[:end]
		} else {
			lines = lines[:piece]
		}
	}
	n, err = w.To.Write(lines)
	return n, err, false
}

// account notes that n bytes were written. Once the buffer is half empty, it adds the line about a gap, and lets those go
// on that wait.
func (w *Writer) account(n int, err error, gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writing, w.gone, w.err, w.buffer = false, gone, err, w.buffer[n:]
	if n > 0 {
		w.progress = time.Now()
		w.stall.Reset(Stall)
	}
	if gone || len(w.buffer) == 0 {
		w.buffer = nil
	}
	if len(w.buffer) > room/2 {
		return
	}
	if err == nil {
		if w.standing = false; w.dropped.Lines > 0 && !w.closed {
			w.buffer = append(w.buffer, w.Gap(w.dropped)...)
			w.dropped = Dropped{}
		}
	}
	w.changed.Broadcast()
}

// stand has the log stand still if it has taken nothing for Stall.
func (w *Writer) stand() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.buffer) > 0 && time.Since(w.progress) >= Stall {
		w.standing = true
		w.changed.Broadcast()
	}
}

// announce lets all look again that wait.
func (w *Writer) announce() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed.Broadcast()
}

// dropLocked counts a line.
func (w *Writer) dropLocked() {
	d := &w.dropped
	if d.Last = time.Now(); d.Lines == 0 {
		d.First = d.Last
	}
	d.Lines++
	d.Err = w.err
}
