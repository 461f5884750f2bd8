package record

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A store keeps what a run has written as text. A line of standard error has a mark before it, and so has a line of
// standard output that begins like a mark. Before a line of another second than that of the line before there is one with
// the second, since 1970, and before that of another attempt than the first one with its number.
const (
	stdoutMark  = "stdout: "
	stderrMark  = "stderr: "
	attemptMark = "attempt: "
	secondMark  = "second: "
)

var marks = [][]byte{[]byte(stdoutMark), []byte(stderrMark), []byte(attemptMark), []byte(secondMark)}

// Writer writes lines as a store keeps them. Its methods may be called by several goroutines.
type Writer struct {
	to io.Writer

	mu struct {
		sync.Mutex
		second int64 // of the latest line
	}
}

// NewWriter returns a Writer to a store. What that does not take is lost.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// BeginAttempt says which attempt of the run writes the lines that are added from now on.
func (w *Writer) BeginAttempt(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.to.Write([]byte(attemptMark + strconv.Itoa(n) + "\n"))
}

// Add adds a line. It does not keep it.
func (w *Writer) Add(at time.Time, stderr bool, line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := make([]byte, 0, len(line)+len(secondMark)+len(stderrMark)+12)
	if second := at.Unix(); second != w.mu.second {
		w.mu.second = second
		text = append(strconv.AppendInt(append(text, secondMark...), second, 10), '\n')
	}
	switch {
	case stderr:
		text = append(text, stderrMark...)
	case slices.ContainsFunc(marks, func(mark []byte) bool { return bytes.HasPrefix(line, mark) }):
		text = append(text, stdoutMark...)
	}
	_, _ = w.to.Write(append(append(text, line...), '\n'))
}

// Stored is what a store has kept of a run.
type Stored struct {
	Head, Tail []Line // with the seconds of their times, as far as they are known; their numbers begin with 1 each
	Omitted    int64  // bytes between them
}

// Decode returns what a store has kept of a run: its begin, its end, and how many bytes between them it has not. Of
// lines that are cut there is nothing.
func Decode(head, tail []byte, omitted int64) Stored {
	if omitted == 0 {
		return Stored{Head: decode(append(bytes.Clone(head), tail...))}
	}
	whole := bytes.LastIndexByte(head, '\n') + 1
	rest := 0
	if i := bytes.IndexByte(tail, '\n'); i >= 0 {
		rest = i + 1
	}
	return Stored{decode(head[:whole]), decode(tail[rest:]), omitted + int64(len(head)-whole) + int64(rest)}
}

func decode(text []byte) (lines []Line) {
	attempt, at := 0, time.Time{}
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if n, is := numberOf(line, attemptMark); is {
			attempt = int(n)
			continue
		}
		if second, is := numberOf(line, secondMark); is {
			at = time.Unix(second, 0)
			continue
		}
		l := Line{N: int64(len(lines) + 1), At: at, Attempt: attempt}
		if rest, ok := bytes.CutPrefix(line, []byte(stderrMark)); ok {
			l.Stderr, line = true, rest
		} else {
			line = bytes.TrimPrefix(line, []byte(stdoutMark))
		}
		l.Text = string(line)
		lines = append(lines, l)
	}
	return lines
}

// numberOf returns the number of a line that is not one of the run, but has a mark and a number.
func numberOf(line []byte, mark string) (n int64, is bool) {
	rest, is := bytes.CutPrefix(line, []byte(mark))
	if is {
		var err error
		n, err = strconv.ParseInt(string(rest), 10, 64)
		is = err == nil
	}
	return n, is
}
