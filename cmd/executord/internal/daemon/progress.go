package daemon

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// progressMark begins a line by which a command says how far it has come. It is documented.
const progressMark = "::progress "

// maxNote is how much of the text of such a line is kept.
const maxNote = 200

// parseProgress returns what a line says: ::progress 42/100 text. It returns false for any other line.
func parseProgress(line []byte) (p view.Progress, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(progressMark))
	if !ok {
		return p, false
	}
	numbers, note, _ := strings.Cut(strings.TrimSpace(string(rest)), " ")
	done, total, ok := strings.Cut(numbers, "/")
	if !ok {
		return p, false
	}
	d, err1 := strconv.ParseInt(done, 10, 64)
	t, err2 := strconv.ParseInt(total, 10, 64)
	if err1 != nil || err2 != nil || d < 0 || t < 1 || t > math.MaxInt64/1000 {
		return p, false
	}
	note = job.Printable(note)
	if short := []rune(note); len(short) > maxNote {
		note = string(short[:maxNote])
	}
	return view.Progress{Done: min(d, t), Total: t, Note: note}, true
}
