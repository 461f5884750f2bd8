// Package complaint is how a command says what is wrong: on standard error, without passwords, and with a bound if
// nobody reads it.
package complaint

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/logwriter"
)

// Stderr is standard error, for what a command says when it fails. A reader that takes
// nothing holds the command up for as long as the log may stand still, once: what is written
// after that is dropped. So a daemon whose output nobody reads ends.
var Stderr = &boundedWriter{to: os.Stderr, patience: logwriter.Stall}

// A boundedWriter writes to a file whose reader may be away.
type boundedWriter struct {
	to       *os.File
	patience time.Duration

	mu    sync.Mutex
	stuck bool // a write has taken longer than patience, and goes on
}

// Write writes p, and reports success also if the reader does not take it in time.
func (w *boundedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stuck {
		return len(p), nil
	}
	type result struct {
		n   int
		err error
	}
	text := append([]byte(nil), p...) // the caller may use p again
	done := make(chan result, 1)
	go func() { // it ends with the write, or with the process, which is about to end
		n, err := w.to.Write(text)
		done <- result{n, err}
	}()
	timer := time.NewTimer(w.patience)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.n, r.err
	case <-timer.C:
		w.stuck = true
		return len(p), nil
	}
}

// Cause returns what is wrong with a file, without its name.
func Cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
