package logwriter

import (
	"bytes"
	"time"
)

const (
	// keptBuffer is the capacity that an empty buffer keeps.
	keptBuffer = 64 << 10

	// gapSize is the room that is kept for the line about a gap.
	gapSize = 1 << 10
)

// run writes what is in the buffer, until the Writer is closed, or the reader is gone.
func (w *Writer) run() {
	defer close(w.ended)
	var spare []byte
	for {
		lines, goOn := w.take(spare)
		if !goOn {
			return
		}
		for rest := lines; len(rest) > 0; {
			n, err := w.To.Write(rest[:nextPiece(rest)])
			rest = rest[n:]
			if !w.account(rest, n, err) {
				return
			}
		}
		if spare = lines[:0]; cap(spare) > keptBuffer {
			spare = nil
		}
	}
}

// nextPiece returns how much is written at once: whole lines, unless one is longer than a piece.
func nextPiece(lines []byte) int {
	if len(lines) <= piece {
		return len(lines)
	}
	if end := bytes.LastIndexByte(lines[:piece], '\n'); end >= 0 {
		return end + 1
	}
	return piece
}

// take waits for lines and returns them. The buffer goes on with spare.
func (w *Writer) take(spare []byte) (lines []byte, goOn bool) {
	for {
		if lines, closed := w.swap(spare); closed || len(lines) > 0 {
			return lines, !closed
		}
		<-w.work
	}
}

// swap takes what is in the buffer.
func (w *Writer) swap(spare []byte) (lines []byte, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.closed || len(w.mu.buffer) == 0 {
		return nil, w.mu.closed
	}
	w.mu.hand, w.mu.buffer = w.mu.buffer, spare
	return w.mu.hand, false
}

// account notes that n bytes were written, and what is left. It reports whether there may be another write, and waits
// for the time of that.
func (w *Writer) account(rest []byte, n int, err error) (goOn bool) {
	gap, goOn := w.advance(rest, n, err)
	switch {
	case gap.Lines > 0:
		line := w.Gap(gap)
		w.mu.Lock()
		w.mu.admitted -= gapSize
		w.add(line)
		w.mu.Unlock()
	case err != nil && goOn:
		w.pause()
	case err != nil && w.IsGone(err):
		w.Gone(err)
	}
	return goOn
}

// advance does what account does under the lock. It returns the lines that were dropped if it is time to say so: once
// the buffer is half empty.
func (w *Writer) advance(rest []byte, n int, err error) (gap Dropped, goOn bool) {
	lost := err != nil && w.IsGone(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.hand, w.mu.err = rest, err
	if n > 0 {
		w.mu.progress = time.Now()
	}
	switch {
	case lost:
		w.mu.state, w.mu.hand, w.mu.buffer = gone, nil, nil
		w.announce()
	case err == nil && w.pending() <= room/2:
		w.mu.state = flowing
		if gap = w.mu.dropped; gap.Lines > 0 && !w.mu.closed {
			w.mu.dropped = Dropped{}
			w.mu.admitted += gapSize
		}
	}
	w.relax()
	return gap, !lost && !w.mu.closed
}

// pause waits before the next try after an error, but not once the Writer is closed.
func (w *Writer) pause() {
	timer := time.NewTimer(retry)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.closing:
	}
}
