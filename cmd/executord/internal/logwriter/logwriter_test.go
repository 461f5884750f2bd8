package logwriter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// reader is a log that takes so many bytes, and then waits until it is read on.
type reader struct {
	mu    sync.Mutex
	taken bytes.Buffer
	fail  error // of each write, while it is set

	open chan struct{} // a write waits for it; closed: the log is read
}

func newReader() *reader { return &reader{open: make(chan struct{})} }

func (r *reader) Write(p []byte) (int, error) {
	<-r.open
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return 0, r.fail
	}
	return r.taken.Write(p)
}

func (r *reader) setFail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = err
}

func (r *reader) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken.String()
}

var errGone = errors.New("gone")

func newWriter(to io.Writer, lost func(error)) *Writer {
	return New(Config{
		To:     to,
		Gap:    func(d Dropped) []byte { return fmt.Appendf(nil, "gap of %d\n", d.Lines) },
		IsGone: func(err error) bool { return err == errGone },
		Gone:   lost,
	})
}

// numbered returns a line of a kilobyte.
func numbered(n int) []byte { return fmt.Appendf(nil, "%-1023d\n", n) }

// report writes lines that are not asked for, as those about runs, and returns how many.
func report(w *Writer, from, n int) int {
	for i := range n {
		w.Write(numbered(from + i))
	}
	return n
}

// say writes a line as a run does, and reports whether there was room.
func say(ctx context.Context, w *Writer, n int) bool {
	line := numbered(n)
	ok := w.Admit(ctx, len(line))
	if ok {
		w.Write(line)
	}
	return ok
}

// check fails the test unless the log has the numbers from 0 up to n in turn, but for gaps of the right size, and
// returns how many are missing.
func check(t *testing.T, log string, n int) (missing int) {
	t.Helper()
	next := 0
	for text := range strings.Lines(log) {
		var got int
		if _, err := fmt.Sscanf(text, "gap of %d\n", &got); err == nil {
			next += got
			missing += got
			continue
		}
		if _, err := fmt.Sscan(text, &got); err != nil || got != next || len(text) != 1024 {
			t.Fatalf("%q (%v), want line %d", text, err, next)
		}
		next++
	}
	if next != n {
		t.Errorf("the log has %d lines or gaps for them, want %d", next, n)
	}
	return missing
}

// What is read at once is written whole and in turn.
func TestWriterKeepsLinesInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader()
		close(r.open)
		w := newWriter(r, nil)
		for n := range 5000 {
			if n%2 == 0 {
				report(w, n, 1)
			} else if !say(t.Context(), w, n) {
				t.Fatalf("no room for line %d", n)
			}
		}
		if left := w.Close(); left.Lines != 0 {
			t.Errorf("%d lines are left", left.Lines)
		}
		if missing := check(t, r.String(), 5000); missing > 0 {
			t.Errorf("%d lines are missing", missing)
		}
	})
}

// No line about a run waits for the reader, also when there is no room.
func TestWriterWriteNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader()
		w := newWriter(r, nil)
		began := time.Now()
		report(w, 0, 10_000)
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
		close(r.open)
		w.Close()
		check(t, r.String(), 10_000)
	})
}

// Runs wait for a reader who turns away for a moment, and nothing is lost.
func TestWriterAdmitWaitsForPausedReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader()
		w := newWriter(r, nil)
		time.AfterFunc(Stall-time.Millisecond, func() { close(r.open) })
		began := time.Now()
		for n := range 3000 {
			say(t.Context(), w, n)
		}
		if waited := time.Since(began); waited != Stall-time.Millisecond {
			t.Errorf("waited %v", waited)
		}
		w.Close()
		if missing := check(t, r.String(), 3000); missing > 0 {
			t.Errorf("%d lines are missing", missing)
		}
	})
}

// A reader who stays away stops a run once, for Stall, and not again. When the reader is back, one line says how
// many lines are missing, in their place.
func TestWriterStandsStillOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader()
		w := newWriter(r, nil)
		began := time.Now()
		n, refused := 0, 0
		for range 3000 {
			if !say(t.Context(), w, n) {
				refused++
			}
			n++
		}
		if waited := time.Since(began); waited != Stall {
			t.Errorf("waited %v, want %v", waited, Stall)
		}
		close(r.open)
		synctest.Wait()
		for range 10 {
			say(t.Context(), w, n)
			n++
		}
		if left := w.Close(); left.Lines > 0 {
			t.Errorf("%d lines are left", left.Lines)
		}
		if missing := check(t, r.String(), n); missing != refused || refused == 0 || strings.Count(r.String(), "gap") != 1 {
			t.Errorf("%d lines are missing in %d gaps, and %d were refused", missing, strings.Count(r.String(), "gap"), refused)
		}
	})
}

// Runs that write much leave room for the lines about runs.
func TestWriterKeepsReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader()
		w := newWriter(r, nil)
		n := 0
		for range 2000 {
			if !say(t.Context(), w, n) {
				break
			}
			n++
		}
		reported := report(w, n, reserve/1024)
		close(r.open)
		synctest.Wait()
		w.Close()
		if got := strings.Count(r.String(), "\n"); got != n+reported+1 {
			t.Errorf("the log has %d lines, want %d of the run, %d about it, and 1 about the gap", got, n, reported)
		}
	})
}

// A run that is to end does not wait.
func TestWriterAdmitEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader()
		w := newWriter(r, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		for n := range 3000 {
			say(ctx, w, n)
		}
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("waited %v", waited)
		}
		close(r.open)
		w.Close()
	})
}

// Close waits for a log that flows, and not for one that stands still.
func TestWriterCloseDoesNotHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader()
		w := newWriter(r, nil)
		report(w, 0, 100)
		began := time.Now()
		if left := w.Close(); left.Lines != 100 {
			t.Errorf("%d lines are left, want 100", left.Lines)
		}
		if waited := time.Since(began); waited != Stall {
			t.Errorf("waited %v, want %v", waited, Stall)
		}
		close(r.open) // the write that is left ends
		<-w.ended
	})
}

// slow takes a piece each second.
type slow struct{ bytes.Buffer }

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(time.Second)
	return s.Buffer.Write(p)
}

// A reader who is slow does not keep Close for longer than Linger.
func TestWriterCloseHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriter(new(slow), nil)
		report(w, 0, 1000)
		began := time.Now()
		if left := w.Close(); left.Lines < 900 {
			t.Errorf("%d lines are left", left.Lines)
		}
		if waited := time.Since(began); waited != Linger {
			t.Errorf("waited %v, want %v", waited, Linger)
		}
		<-w.ended
	})
}

// A full disk that has room again is missing nothing that there was memory for, and half a line is completed.
func TestWriterTriesAgainAfterFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &smallDisk{room: 1500}
		w := newWriter(disk, nil)
		report(w, 0, 10)
		time.Sleep(time.Hour)
		disk.setRoom(1 << 20)
		time.Sleep(time.Second)
		if left := w.Close(); left.Lines > 0 {
			t.Errorf("%d lines are left", left.Lines)
		}
		if missing := check(t, disk.String(), 10); missing > 0 {
			t.Errorf("%d lines are missing", missing)
		}
	})
}

// What a full disk has no room for, and memory neither, is counted with the reason.
func TestWriterCountsWhatFullDiskLoses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader()
		close(r.open)
		full := errors.New("full")
		r.setFail(full)
		var reason error
		w := New(Config{To: r, IsGone: func(error) bool { return false }, Gap: func(d Dropped) []byte {
			reason = d.Err
			return fmt.Appendf(nil, "gap of %d\n", d.Lines)
		}})
		report(w, 0, 1)
		synctest.Wait()
		report(w, 1, 4999)
		r.setFail(nil)
		time.Sleep(time.Minute)
		report(w, 5000, 1)
		w.Close()
		if missing := check(t, r.String(), 5001); missing == 0 || reason != full {
			t.Errorf("%d lines are missing, because of %v", missing, reason)
		}
	})
}

// smallDisk takes so many bytes, until it has room again.
type smallDisk struct {
	mu    sync.Mutex
	taken bytes.Buffer
	room  int
}

func (d *smallDisk) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := min(len(p), d.room)
	d.room -= n
	d.taken.Write(p[:n])
	if n < len(p) {
		return n, errors.New("no space left on device")
	}
	return n, nil
}

func (d *smallDisk) setRoom(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = n
}

func (d *smallDisk) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.taken.String()
}

// When the reader is gone, that is logged once, and no writer waits.
func TestWriterGoneReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader()
		close(r.open)
		r.setFail(errGone)
		calls := 0
		w := newWriter(r, func(err error) {
			if calls++; err != errGone {
				t.Errorf("lost with %v", err)
			}
		})
		began := time.Now()
		for n := range 5000 {
			say(t.Context(), w, n)
			report(w, n, 1)
		}
		w.Close()
		if took := time.Since(began); took > 0 || calls != 1 {
			t.Errorf("waited %v; lost was called %d times", took, calls)
		}
	})
}
