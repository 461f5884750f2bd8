package node

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/output"
	"github.com/executor-go/executor/durable/internal/storeclock"
	"github.com/executor-go/executor/durable/store"
)

// A testHolder has a job, and may lose it.
type testHolder struct {
	refuses error // of calling
	wanted  bool  // somebody wants the job to be canceled
	called  int
}

func (h *testHolder) calling(context.Context, storeclock.Start) error {
	h.called++
	return h.refuses
}

func (h *testHolder) canceled() bool { return h.wanted }

// A trial is a handling without a node.
type trial struct {
	start  time.Time
	job    store.Job
	holder testHolder
	work   Work
	kind   Kind
	decided,
	leaving bool
	// handler is what the user has written; cancel ends its context as a node does.
	handler func(ctx context.Context, cancel context.CancelCauseFunc) ([]byte, error)
	handled int

	// These are what has become of it.
	outcome    *store.Outcome
	occurrence time.Time
	err        error // of the pool
	done       int
}

// newTrial returns one of a job that runs once, is due now, is in its first of three attempts, and waits for a second
// after each. Its handler returns at once.
func newTrial() *trial {
	start := time.Now().UTC()
	return &trial{
		start: start,
		job: store.Job{ID: store.NewID(), Kind: "k", Schedule: store.Once, State: store.Running, Epoch: 7, Owner: "n",
			Anchor: start, Due: start, Occurrence: start, Attempt: 1, Attempts: 3, Payload: []byte("in")},
		work: Work{
			Lease: time.Minute, History: 1, Output: 100,
			Log: func() *slog.Logger { return slog.New(slog.DiscardHandler) },
			Around: func(ctx context.Context, _ store.Job, run func(context.Context) error) error {
				return run(ctx)
			},
		},
		kind: Kind{Name: "k", Backoff: func(n int) time.Duration { return time.Duration(n) * time.Second }},
		handler: func(context.Context, context.CancelCauseFunc) ([]byte, error) {
			return []byte("out"), nil
		},
	}
}

// handle has the job handled in a goroutine of its own, which may end by runtime.Goexit.
func (w *trial) handle(t *testing.T) {
	leaving, leave := context.WithCancelCause(context.Background())
	defer leave(nil)
	if w.leaving {
		leave(executor.ErrShutdown)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	w.kind.Handle = func(ctx context.Context, payload []byte) ([]byte, error) {
		w.handled++
		if string(payload) != "in" {
			t.Errorf("the payload is %q", payload)
		}
		return w.handler(ctx, cancel)
	}
	h := &Handling{
		env:    &environment{Work: &w.work, clock: storeclock.New(), leaving: leaving},
		holder: &w.holder, kind: &w.kind, decided: w.decided, job: w.job,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.err = h.handle(ctx, func(o *store.Outcome, occurrence time.Time) {
			w.outcome, w.occurrence = o, occurrence
			w.done++
		})
	}()
	<-ended
	if w.done != 1 {
		t.Fatalf("it says %d times what is to follow", w.done)
	}
}

// trigger has the job wait for the times of a trigger.
func (w *trial) trigger(next func(time.Time) time.Time) {
	w.job.Schedule = "trigger t"
	w.work.Triggers = map[string]executor.Trigger{"t": triggerFunc(next)}
}

type triggerFunc func(time.Time) time.Time

func (f triggerFunc) Next(t time.Time) time.Time { return f(t) }

func fails(err error) func(context.Context, context.CancelCauseFunc) ([]byte, error) {
	return func(context.Context, context.CancelCauseFunc) ([]byte, error) { return nil, err }
}

// ends returns a handler whose context ends, for that cause, and that returns the error.
func ends(cause, err error) func(context.Context, context.CancelCauseFunc) ([]byte, error) {
	return func(ctx context.Context, cancel context.CancelCauseFunc) ([]byte, error) {
		cancel(cause)
		<-ctx.Done()
		return nil, err
	}
}

// What becomes of a job follows from how its handler ended, and why its context did.
func TestHandlingOutcome(t *testing.T) {
	boom := errors.New("boom")
	for _, test := range []struct {
		name       string
		change     func(w *trial)
		state      store.State
		verdict    store.Verdict
		attempt    int           // that the job has then
		due        time.Duration // after the start, of a job that waits
		text       string        // in the error of the outcome; "" for none
		unrecorded bool
	}{
		{"returns", func(w *trial) {}, store.Succeeded, store.RunSucceeded, 1, 0, "", false},
		{"fails", func(w *trial) { w.handler = fails(boom) }, store.Waiting, store.RunFailed, 1, time.Second, "boom", false},
		{"fails in its second attempt", func(w *trial) { w.job.Attempt, w.handler = 2, fails(boom) },
			store.Waiting, store.RunFailed, 2, 2 * time.Second, "boom", false},
		{"fails in its last attempt", func(w *trial) { w.job.Attempt, w.handler = 3, fails(boom) },
			store.Dead, store.RunFailed, 3, 0, "boom", false},
		{"fails for good", func(w *trial) { w.handler = fails(executor.Permanent(boom)) }, store.Dead, store.RunFailed, 1, 0, "boom", false},
		{"panics", func(w *trial) {
			w.handler = func(context.Context, context.CancelCauseFunc) ([]byte, error) { panic("oops") }
		}, store.Waiting, store.RunFailed, 1, time.Second, "oops", false},
		{"calls Goexit", func(w *trial) {
			w.handler = func(context.Context, context.CancelCauseFunc) ([]byte, error) { runtime.Goexit(); return nil, nil }
		}, store.Waiting, store.RunFailed, 1, time.Second, "Goexit", false},
		{"has returned when what is around it calls Goexit", func(w *trial) {
			w.work.Around = func(ctx context.Context, _ store.Job, run func(context.Context) error) error {
				defer runtime.Goexit()
				return run(ctx)
			}
		}, store.Succeeded, store.RunSucceeded, 1, 0, "", false},
		{"returns an error whose methods panic", func(w *trial) { w.handler = fails((*nilError)(nil)) },
			store.Waiting, store.RunFailed, 1, time.Second, "methods panic", false},
		{"stops its schedule", func(w *trial) { w.job.Schedule, w.handler = "rate 1m0s", fails(executor.ErrStop) },
			store.Succeeded, store.RunSucceeded, 1, 0, "", false},
		{"snoozes", func(w *trial) { w.handler = fails(Snooze(time.Hour)) }, store.Waiting, store.RunSnoozed, 0, time.Hour, "snoozed", false},
		{"snoozes in its last attempt", func(w *trial) { w.job.Attempt, w.handler = 3, fails(Snooze(time.Hour)) },
			store.Waiting, store.RunSnoozed, 2, time.Hour, "snoozed", false},
		{"snoozes unnoted", func(w *trial) { w.handler = fails(Unnoted(time.Hour)) }, store.Waiting, store.RunSnoozed, 0, time.Hour, "snoozed", true},
		{"asks for a later retry", func(w *trial) { w.handler = fails(RetryAfter(boom, time.Hour)) },
			store.Waiting, store.RunFailed, 1, time.Hour, "boom", false},
		{"asks for an earlier retry", func(w *trial) { w.handler = fails(RetryAfter(boom, 1)) },
			store.Waiting, store.RunFailed, 1, time.Second, "boom", false},
		{"has a backoff that panics", func(w *trial) {
			w.handler, w.kind.Backoff = fails(boom), func(int) time.Duration { panic("oops") }
		}, store.Waiting, store.RunFailed, 1, badBackoff, "boom", false},
		{"times out", func(w *trial) {
			w.job.Timeout = time.Minute
			w.handler = func(ctx context.Context, _ context.CancelCauseFunc) ([]byte, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
		}, store.Waiting, store.RunFailed, 1, time.Minute + time.Second, executor.ErrTimeout.Error(), false},
		{"is canceled", func(w *trial) { w.holder.wanted, w.handler = true, ends(executor.ErrCanceled, executor.ErrCanceled) },
			store.Canceled, store.RunCanceled, 1, 0, executor.ErrCanceled.Error(), false},
		{"succeeds though it is canceled", func(w *trial) { w.holder.wanted, w.handler = true, ends(executor.ErrCanceled, nil) },
			store.Succeeded, store.RunSucceeded, 1, 0, "", false},
		{"loses its lease", func(w *trial) { w.handler = ends(ErrLeaseLost, ErrLeaseLost) },
			store.Waiting, store.RunFailed, 0, time.Microsecond, ErrLeaseLost.Error(), true},
		{"loses its lease in its last attempt", func(w *trial) { w.job.Attempt, w.handler = 3, ends(ErrLeaseLost, boom) },
			store.Waiting, store.RunFailed, 2, time.Microsecond, "boom", true},
		{"fails for good when it loses its lease", func(w *trial) { w.handler = ends(ErrLeaseLost, executor.Permanent(boom)) },
			store.Dead, store.RunFailed, 1, 0, "boom", false},
		{"succeeds when it loses its lease", func(w *trial) { w.handler = ends(ErrLeaseLost, nil) },
			store.Succeeded, store.RunSucceeded, 1, 0, "", false},
		{"ends in a shutdown", func(w *trial) { w.handler = ends(executor.ErrShutdown, context.Canceled) },
			store.Waiting, store.RunFailed, 0, time.Microsecond, "canceled", true},

		// Those that follow are periodic.
		{"has a next time", func(w *trial) { w.job.Schedule = "rate 1m0s" }, store.Waiting, store.RunSucceeded, 0, time.Minute, "", false},
		{"has a next time after a delay", func(w *trial) {
			w.job.Schedule = "delay 1m0s"
			w.handler = func(context.Context, context.CancelCauseFunc) ([]byte, error) {
				time.Sleep(time.Second)
				return nil, nil
			}
		}, store.Waiting, store.RunSucceeded, 0, time.Minute + time.Second, "", false},
		{"has no next time", func(w *trial) { w.trigger(func(time.Time) time.Time { return time.Time{} }) },
			store.Succeeded, store.RunSucceeded, 1, 0, "", false},
		{"fails in its last attempt, and has a next time", func(w *trial) {
			w.job.Schedule, w.job.Attempt, w.handler = "rate 1m0s", 3, fails(boom)
		}, store.Waiting, store.RunFailed, 0, time.Minute, "boom", false},
		{"has a trigger that panics", func(w *trial) { w.trigger(func(time.Time) time.Time { panic("oops") }); w.job.Attempt = 2 },
			store.Dead, store.RunSucceeded, 2, 0, "oops", false},
		{"has a trigger that calls Goexit", func(w *trial) {
			w.trigger(func(time.Time) time.Time { runtime.Goexit(); return time.Time{} })
			w.job.Attempt = 2
		}, store.Dead, store.RunSucceeded, 2, 0, "Goexit", false},
		{"overlaps its next times", func(w *trial) {
			w.job.Schedule, w.job.Missed, w.work.Store = "rate 1m0s", "skip overlap", jobStore{w: w}
			w.handler = func(context.Context, context.CancelCauseFunc) ([]byte, error) {
				time.Sleep(150 * time.Second)
				return nil, nil
			}
		}, store.Waiting, store.RunSucceeded, 0, 3 * time.Minute, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTrial()
				test.change(w)
				w.handle(t)
				o := w.outcome
				if o == nil {
					t.Fatalf("it is postponed to %v", w.occurrence)
				}
				if w.holder.called != 1 || w.handled != 1 {
					t.Errorf("the handler is announced %d times, and called %d times", w.holder.called, w.handled)
				}
				if o.State != test.state || o.Run.Verdict != test.verdict || o.Attempt != test.attempt || o.Unrecorded != test.unrecorded {
					t.Errorf("the outcome is %+v", o)
				}
				if due := w.start.Add(test.due); o.State == store.Waiting && !o.Due.Equal(due) {
					t.Errorf("it is due at %v, not %v", o.Due, due)
				}
				if (o.Error == "") != (test.text == "") || !strings.Contains(o.Error, test.text) {
					t.Errorf("its error is %q", o.Error)
				}
				if o.Ref != (store.Ref{ID: w.job.ID, Epoch: 7}) || !o.Run.Started.Equal(w.start) {
					t.Errorf("the outcome is of %+v, which began at %v", o.Ref, o.Run.Started)
				}
			})
		})
	}
}

type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

// jobStore has the job as it was when the run began.
type jobStore struct {
	store.Store
	w *trial
}

func (s jobStore) Get(context.Context, store.ID) (store.Job, error) { return s.w.job, nil }

// A handler is not called if its time has not come, or is another, or if the holder does not begin the job any more: then
// the job waits as if it had not been tried, or the occurrence is said that it is for.
func TestHandlingCallsNoHandler(t *testing.T) {
	for _, test := range []struct {
		name      string
		change    func(w *trial)
		announced int           // how often
		due       time.Duration // after the start, of a job that waits
		attempt   int
		verdict   store.Verdict
		postponed bool
		to        time.Duration // after the start
	}{
		{name: "is not kept", change: func(w *trial) { w.holder.refuses = errNotKept }, announced: 1, postponed: true},
		{name: "is early", change: func(w *trial) { w.holder.refuses = errEarly }, announced: 1, verdict: store.RunFailed},
		{name: "ends before", change: func(w *trial) { w.holder.refuses = executor.ErrShutdown }, announced: 1, verdict: store.RunFailed},
		{name: "has a trigger that is not known", change: func(w *trial) { w.job.Schedule = "trigger other" },
			due: leavePause, verdict: store.RunFailed},
		{name: "has a policy that is not known", change: func(w *trial) { w.job.Missed = "dance" }, due: leavePause, verdict: store.RunFailed},
		{name: "has a trigger that panics", change: func(w *trial) { w.late(); w.trigger(func(time.Time) time.Time { panic("oops") }) },
			due: leavePause, verdict: store.RunFailed},
		{name: "has a trigger that calls Goexit", change: func(w *trial) {
			w.late()
			w.trigger(func(time.Time) time.Time { runtime.Goexit(); return time.Time{} })
		}, due: leavePause, verdict: store.RunFailed},
		{name: "has missed times", change: func(w *trial) { w.late(); w.job.Schedule = "rate 1m0s" }, postponed: true, to: -30 * time.Second},
		{name: "leaves out what it has missed", change: func(w *trial) {
			w.late()
			w.job.Schedule, w.job.Missed = "rate 1m0s", "skip 1s"
		}, due: 30 * time.Second, verdict: store.RunSkipped},
		{name: "has used up its attempts", change: func(w *trial) { w.job.Schedule, w.job.Attempt = "rate 1m0s", 4 },
			due: time.Minute, verdict: store.RunFailed},
		{name: "drains while it catches up", change: func(w *trial) {
			w.leaving = true
			w.job.Missed, w.job.Due = "catchup 100000", w.start.Add(-time.Hour)
			w.job.Occurrence = w.job.Due
			w.trigger(func(at time.Time) time.Time { return at.Add(time.Millisecond) })
		}, due: -time.Hour, verdict: store.RunFailed},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTrial()
				test.change(w)
				w.handle(t)
				if w.handled != 0 || w.holder.called != test.announced {
					t.Errorf("the handler is called %d times, and announced %d times", w.handled, w.holder.called)
				}
				if (w.outcome == nil) != test.postponed {
					t.Fatalf("the outcome is %+v", w.outcome)
				}
				if test.postponed {
					if to := w.start.Add(test.to); !w.occurrence.Equal(to) {
						t.Errorf("it is for %v, not %v", w.occurrence, to)
					}
					return
				}
				o := w.outcome
				if due := w.start.Add(test.due); o.State != store.Waiting || o.Attempt != 0 || o.Run.Verdict != test.verdict ||
					o.Due.Sub(due).Abs() > time.Microsecond {
					t.Errorf("it is to wait until %v, not %v: %+v", o.Due, due, o)
				}
				if o.Unrecorded != (test.verdict == store.RunFailed) {
					t.Errorf("it is unrecorded: %t", o.Unrecorded)
				}
			})
		})
	}
}

// late makes the job one that was due 150 seconds ago.
func (w *trial) late() {
	w.job.Anchor = w.start.Add(-150 * time.Second)
	w.job.Due, w.job.Occurrence = w.job.Anchor, w.job.Anchor
}

// What was decided stays so: an occurrence that the store has is run, though a later one has come since.
func TestHandlingRunsWhatIsDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTrial()
		w.late()
		w.job.Schedule, w.decided = "rate 1m0s", true
		w.handle(t)
		if w.handled != 1 || !w.outcome.Run.Occurrence.Equal(w.job.Occurrence) {
			t.Errorf("the handler is called %d times, for %v", w.handled, w.outcome.Run.Occurrence)
		}
	})
}

// The context of a handler carries what the run knows, and what it notes and says is in the outcome.
func TestHandlingIsInTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTrial()
		w.handler = func(ctx context.Context, _ context.CancelCauseFunc) ([]byte, error) {
			h, ok := Of(ctx)
			if !ok || h.Job().ID != w.job.ID || h.Kind() != &w.kind || !h.Job().Started.Equal(w.start) {
				t.Errorf("it carries one: %t", ok)
			}
			h.SetLabel("blue")
			h.Progress(1, 2, "half")
			if p := h.progress.Load(); p.Done != 1 || p.Epoch != 7 {
				t.Errorf("its progress is %+v", p)
			}
			h.Output().Write([]byte("said"))
			return []byte("out"), nil
		}
		w.handle(t)
		o := w.outcome
		if said, err := output.Unpack(o.Output); string(o.Result) != "out" || o.Run.Label != "blue" || err != nil || string(said.Head) != "said" {
			t.Errorf("its outcome is %+v, and it has said %+v, %v", o, said, err)
		}
		if _, ok := Of(t.Context()); ok {
			t.Error("a context of no handler carries one")
		}
	})
}

// What a trial has done in a transaction is its outcome only if that was committed.
func TestHandlingSettlesWhatATransactionCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h *Handling
		w := newTrial()
		w.handler = func(ctx context.Context, _ context.CancelCauseFunc) ([]byte, error) {
			h, _ = Of(ctx)
			if err := h.CompleteTx(ctx, jobTx{w: w}, nil, []byte("effect")); err != nil {
				t.Error(err)
			}
			if _, err := h.Step(ctx, "s", "a step", func() ([]byte, error) { return []byte("1"), nil }); !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("a step after that: %v", err)
			}
			return nil, errors.New("boom")
		}
		w.handle(t)
		for _, test := range []struct {
			ok, before, effect, settled bool
		}{{true, false, false, true}, {true, true, true, true}, {false, false, true, true}} {
			o, ok := h.settled(w.outcome, test.ok, test.before)
			if effect := string(o.Result) == "effect"; effect != test.effect || ok != test.settled {
				t.Errorf("committed %t, before %t: it is that of the transaction: %t, and settled: %t", test.ok, test.before, effect, ok)
			}
		}
	})
}

// jobTx takes each outcome of the job.
type jobTx struct {
	store.TxStore
	w *trial
}

func (s jobTx) GetTx(context.Context, store.Tx, store.ID) (store.Job, error) { return s.w.job, nil }

func (s jobTx) CompleteTx(_ context.Context, _ store.Tx, r store.CommitRequest) (store.CommitResult, error) {
	if r.Node != "n" || r.History != 1 {
		return store.CommitResult{}, errors.New("it is of node " + r.Node)
	}
	return store.CommitResult{Committed: []bool{true}}, nil
}

// A step is done once, however often the job is tried; the store is asked again and again while it does not answer, and
// a run that is no longer this node's keeps nothing.
func TestHandlingKeepsSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, kept, done := newTrial(), &stepStore{silent: 3}, 0
		w.work.Parts.Steps = kept
		w.handler = func(ctx context.Context, _ context.CancelCauseFunc) ([]byte, error) {
			h, _ := Of(ctx)
			for _, name := range []string{"a", "b"} {
				if _, err := h.Step(ctx, name, "a step", func() ([]byte, error) { done++; return []byte("1"), nil }); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}
		kept.refuses = "b"
		w.handle(t)
		if w.outcome.Error != ErrRefused.Error() || done != 2 {
			t.Errorf("the error is %q, after %d steps", w.outcome.Error, done)
		}
		kept.refuses, w.done = "", 0
		w.handle(t)
		if w.outcome.State != store.Succeeded || done != 3 {
			t.Errorf("tried again, it is %s, after %d steps", w.outcome.State, done)
		}
	})
}

// stepStore keeps steps, but for one that it refuses. It does not answer the first calls.
type stepStore struct {
	store.Steps
	silent  int
	refuses string
	kept    []store.KeptStep
}

func (s *stepStore) KeptSteps(context.Context, store.ID) ([]store.KeptStep, error) {
	if s.silent--; s.silent >= 0 {
		return nil, errors.New("silent")
	}
	return s.kept, nil
}

func (s *stepStore) KeepStep(_ context.Context, _ store.Ref, k store.KeptStep) ([]byte, bool, error) {
	if k.Name == s.refuses {
		return nil, false, nil
	}
	s.kept = append(s.kept, k)
	return k.Result, true, nil
}
