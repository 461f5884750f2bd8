// Package complaint is how a command says what is wrong: on standard error, without passwords, and with a bound if
// nobody reads it.
package complaint

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/logwriter"
)

// Stderr is standard error, for what a command says when it fails. A reader that takes
// nothing holds the command up for as long as the log may stand still, once: what is written
// after that is dropped. So a daemon whose output nobody reads ends.
var Stderr io.Writer = &boundedWriter{to: os.Stderr, patience: logwriter.Stall}

// A boundedWriter writes to a file whose reader may be away.
type boundedWriter struct {
	to       *os.File
	patience time.Duration
	stuck    atomic.Bool // a write goes on, and has taken too long
}

// Write writes p, and reports success also if the reader does not take it in time.
func (w *boundedWriter) Write(p []byte) (int, error) {
	if w.stuck.Load() {
		return len(p), nil
	}
	text, done := bytes.Clone(p), make(chan error, 1) // the caller may use p again
	go func() {                                       // it ends with the write, or with the process, which is about to end
		_, err := w.to.Write(text)
		done <- err
	}()
	select {
	case err := <-done:
		return len(p), err
	case <-time.After(w.patience):
		w.stuck.Store(true)
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
