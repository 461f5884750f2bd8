package record

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// A store keeps what a run has written as text. A line of standard error has a mark before it, and so has a line of
// standard output that begins like a mark. Another attempt than the first begins with a line that has its number.
const (
	stdoutMark  = "stdout: "
	stderrMark  = "stderr: "
	attemptMark = "attempt: "
)

// EncodeAttempt returns what a store keeps before the lines of an attempt.
func EncodeAttempt(n int) []byte { return fmt.Appendf(nil, "%s%d\n", attemptMark, n) }

// Encode returns a line as a store keeps it.
func Encode(stderr bool, line []byte) []byte {
	mark := ""
	switch {
	case stderr:
		mark = stderrMark
	case slices.ContainsFunc([]string{stdoutMark, stderrMark, attemptMark}, func(m string) bool { return bytes.HasPrefix(line, []byte(m)) }):
		mark = stdoutMark
	}
	text := make([]byte, 0, len(mark)+len(line)+1)
	return append(append(append(text, mark...), line...), '\n')
}

// Stored is what a store has kept of a run.
type Stored struct {
	Head, Tail []Line // without their times; their numbers begin with 1 each
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
	attempt := 0
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if rest, ok := bytes.CutPrefix(line, []byte(attemptMark)); ok {
			if n, err := strconv.Atoi(string(rest)); err == nil {
				attempt = n
				continue
			}
		}
		l := Line{N: int64(len(lines) + 1), Attempt: attempt}
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
