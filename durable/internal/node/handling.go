package node

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/durable/internal/output"
	"github.com/executor-go/executor/durable/internal/storeclock"
	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// A Handling is what this program does with a job that it may run now: it finds out which occurrence that is for, calls
// the handler, and says what is to follow. It knows neither who holds the job nor why it is run now. The context of the
// handler carries it.
type Handling struct {
	env     *environment
	holder  holder
	kind    *Kind
	decided bool // the store has the occurrence that the job is for

	// These are set before the handler is called.
	job     store.Job // with this attempt
	started storeclock.Start
	times   timetable.Timetable // of its schedule; zero if this program can't read that
	// before and during are called once; during is nil unless the policy is SkipOverlap. See LeftOutBefore and
	// LeftOutDuring.
	before func() LeftOut
	during func() overlap

	// progress and output are what the handler has noted and written, and label is what it has set last; nil before.
	progress atomic.Pointer[store.RunProgress]
	output   atomic.Pointer[output.Buffer]
	label    atomic.Pointer[string]
	// steps are what the handler knows of them.
	steps steps
	// inTx is set when CompleteTx has locked the row of the job, in a transaction of the handler.
	inTx atomic.Bool
	// completed is the outcome with which the handler has called CompleteTx; nil before. If that was committed, it is the
	// outcome of the run, whatever the handler returns, and the job may be in its next run before the store is asked.
	completed atomic.Pointer[store.Outcome]
	// last is the outcome of the run while its trigger is asked for the next time; nil before.
	last *store.Outcome
}

// LeftOut are successive occurrences of a periodic job at which it did not run, as durable.LeftOut.
type LeftOut struct {
	Count int
	First time.Time
}

// overlap is what has passed during a run, and where the schedule goes on; or why that is not known.
type overlap struct {
	LeftOut
	next time.Time
	err  error
}

// An environment is what the handlings of one program have in common.
type environment struct {
	*Work
	clock   *storeclock.Clock
	leaving context.Context // ends when the program begins to drain
	cursors cursors
	unread  sync.Map // schedules and policies of jobs that were left to other nodes, and that the log has
}

// A holder is who has the job that is handled, and may lose it.
type holder interface {
	// calling is called when the handler is about to be called, at the time at. It returns when that may be, which takes
	// long if the store has to know of it before. The error is ctx's cause if that ended first, errEarly or errNotKept.
	calling(ctx context.Context, at storeclock.Start) error
	// canceled reports whether somebody wants the job to be canceled.
	canceled() bool
}

// errEarly is the error of a run whose time is yet to come, since the store's clock was put back while it was noted
// that the run begins.
var errEarly = errors.New("durable: the clock of the database was set back to before the time of the job")

// errNotKept is the error of a run that is to be given back, as all that had not begun was while the trigger was asked,
// or the begin was noted.
var errNotKept = errors.New("durable: the node does not begin the job any more")

type handlingKey struct{}

// Of returns the Handling of a handler's context. It reports false if ctx is none.
func Of(ctx context.Context) (*Handling, bool) {
	h, ok := ctx.Value(handlingKey{}).(*Handling)
	return h, ok
}

// Job returns the job as it was when the run began.
func (h *Handling) Job() store.Job { return h.job }

// ref returns the run.
func (h *Handling) ref() store.Ref { return store.Ref{ID: h.job.ID, Epoch: h.job.Epoch} }

// Kind returns the kind of the job.
func (h *Handling) Kind() *Kind { return h.kind }

// Now returns the time of the store.
func (h *Handling) Now() time.Time { return h.env.clock.Now() }

// Progress notes how far the run has come.
func (h *Handling) Progress(done, total int64, note string) {
	h.progress.Store(&store.RunProgress{Job: h.job.ID, Epoch: h.job.Epoch, Done: done, Total: total, Note: note,
		At: h.Now().Truncate(time.Microsecond)})
}

// Graph returns what the store knows of parents and children.
func (h *Handling) Graph() store.Graph { return h.env.Parts.Graph }

// HasSteps reports whether the store keeps steps.
func (h *Handling) HasSteps() bool { return h.env.Parts.Steps != nil }

// Decode reads into v what is stored of a job of that kind. what says what it is.
func (h *Handling) Decode(kind, what string, stored []byte, v any) error {
	return h.env.Decode(kind, what, stored, v)
}

// SetLabel sets the label of the run.
func (h *Handling) SetLabel(label string) { h.label.Store(&label) }

// Output returns the writer for what the run says.
func (h *Handling) Output() io.Writer {
	if h.env.Output == 0 {
		return io.Discard
	}
	if o := h.output.Load(); o != nil {
		return o
	}
	h.output.CompareAndSwap(nil, output.NewBuffer(h.env.Output))
	return h.output.Load()
}

// packed returns the output of the run as the store keeps it, nil if there is none.
func (h *Handling) packed() []byte {
	if o := h.output.Load().Snapshot(); o.Written > 0 {
		return output.Pack(o)
	}
	return nil
}
