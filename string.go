package executor

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/internal/task"
)

// String describes the future in one line, for logs: its name, its state, and why it
// failed or was canceled, as `future "mail": failed: no route to host`. The form may
// change.
func (f *Future[T]) String() string { return describe("future", &f.core) }

func describe(what string, t *task.Task) string {
	s := State(t.State())
	return fmt.Sprintf("%s: %v%s", titled(what, t.Options().Name), s, because(s, errorOf(t)))
}

// because returns the reason of a state that needs one, in one line.
func because(s State, err error) string {
	if s != Failed && s != Canceled {
		return ""
	}
	if c, ok := err.(*CanceledError); ok && s == Canceled {
		if err = c.Cause; err == ErrCanceled {
			return ""
		}
	}
	line, _, _ := strings.Cut(task.Reason(err), "\n")
	return ": " + line
}

// String is like that of [Future], and says when a task that waits is due.
func (f *ScheduledFuture[T]) String() string { return f.Future.String() + due(f.State(), f.Next()) }

// String is like that of [ScheduledFuture], as `series "tidy": pending, due ...`.
func (s *Series) String() string { return describe("series", s.taskCore()) + due(s.State(), s.Next()) }

// due says when a task that waits is due.
func due(s State, next time.Time) string {
	if s != Pending || next.IsZero() {
		return ""
	}
	return next.Format(", due 2006-01-02T15:04:05.000Z07:00")
}

// String describes the pool in one line, for logs: its name, its stage, its workers and
// its tasks, as `pool "mail": running, 3 of 4 workers active, 12 queued, 250 ended`.
// The form may change; [Pool.Stats] returns the same as numbers.
func (p *Pool) String() string {
	s := p.Stats()
	return fmt.Sprintf("%s: %v, %d of %d workers active, %d queued, %d ended",
		titled("pool", s.Name), s.Stage, s.Active, s.Workers, s.Queued, s.Ended())
}

// titled returns what something is, with its name if it has one.
func titled(what, name string) string {
	if name == "" {
		return what
	}
	return what + " " + strconv.Quote(name)
}
