package daemon

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// tailSize is how much of what a command wrote is kept for the history, in
// bytes. Package durable keeps twice as much of an error.
const tailSize = 2 << 10

// tail keeps the last lines that are added to it.
type tail struct {
	mu struct {
		sync.Mutex
		lines []string
		size  int
		cut   bool // there were lines before
	}
}

func (t *tail) add(line []byte) {
	text := end(line)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.lines = append(t.mu.lines, text)
	t.mu.size += len(text) + 1
	for t.mu.size > tailSize && len(t.mu.lines) > 1 {
		t.mu.size -= len(t.mu.lines[0]) + 1
		t.mu.lines, t.mu.cut = t.mu.lines[1:], true
	}
}

// clear forgets the lines.
func (t *tail) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.lines, t.mu.size, t.mu.cut = nil, 0, false
}

// end returns as much of a line's end as there is room for, printable. It is cut
// before escapes are made: half of one would be another text.
func end(line []byte) string {
	from, size := len(line), 0
	for from > 0 {
		_, n := utf8.DecodeLastRune(line[:from])
		if size += len(job.Printable(string(line[from-n : from]))); size > tailSize {
			break
		}
		from -= n
	}
	return job.Printable(string(line[from:]))
}

// String returns the lines, with a mark for those that are not there.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimRight(strings.Join(t.mu.lines, "\n"), "\n")
	if t.mu.cut {
		text = "...\n" + text
	}
	return text
}
