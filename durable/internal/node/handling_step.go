package node

import (
	"context"
	"time"

	"github.com/executor-go/executor/durable/internal/argument"
	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// readSteps asks the store for what is kept, unless that is known.
func (h *Handling) readSteps(ctx context.Context) error {
	s := &h.steps
	s.mu.Lock()
	known := s.all != nil
	s.mu.Unlock()
	if known {
		return nil
	}
	var kept []store.KeptStep
	err := h.insist(ctx, "kept_steps", func(ctx context.Context) (err error) {
		kept, err = h.env.Parts.Steps.KeptSteps(ctx, h.job.ID)
		return err
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all != nil { // by another goroutine meanwhile
		return nil
	}
	s.all = make(map[stepName]*step)
	for _, k := range kept {
		if k.Occasion.Equal(h.job.Occasion()) {
			s.all[stepName{k.Name, k.Signal}] = &step{result: k.Result, since: k.At}
		}
	}
	return nil
}

// beginStep returns the step with a name, which is as, and is busy until endStep is called.
func (h *Handling) beginStep(ctx context.Context, name stepName, as string) (*step, error) {
	if h.inTx.Load() {
		return nil, argument.Invalid("durable: step %q: the run was already completed by CompleteTx; call it before CompleteTx", name.name)
	}
	if err := h.readSteps(ctx); err != nil {
		return nil, err
	}
	s := &h.steps
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.all[name]
	switch {
	case t == nil:
		t = new(step)
		s.all[name] = t
	case t.busy:
		return nil, argument.Invalid("durable: step %q: it is already running in this run; give each step its own name", name.name)
	case t.as != "" && t.as != as:
		return nil, argument.Invalid("durable: step %q: it is %s, and was %s before in this run; give each step its own name", name.name, as, t.as)
	}
	t.as, t.busy, t.called = as, true, name.signal
	return t, nil
}

// endStep takes the result of a step, nil if it has none.
func (h *Handling) endStep(t *step, result *[]byte) {
	h.steps.mu.Lock()
	defer h.steps.mu.Unlock()
	t.busy, t.result = false, *result
}

// insist makes a call of the store until it succeeds or ctx ends, which does not break it off: once a step has done its
// work, its result is worth more than the time of the handler.
func (h *Handling) insist(ctx context.Context, what string, call func(context.Context) error) error {
	o := &outage{health: new(health), log: h.env.Log(), what: what} // the node's does not depend on a handler that may be over
	for {
		opCtx, cancel := h.env.opContext(context.WithoutCancel(ctx))
		err := call(opCtx)
		cancel()
		if o.over(err) {
			return nil
		}
		if o.wait(ctx); ctx.Err() != nil {
			return err
		}
	}
}

// keep keeps a step, and returns the result that the store has.
func (h *Handling) keep(ctx context.Context, k store.KeptStep) (result []byte, err error) {
	k.Occasion = h.job.Occasion()
	ok := false
	err = h.insist(ctx, "keep_step", func(ctx context.Context) (err error) {
		result, ok, err = h.env.Parts.Steps.KeepStep(ctx, h.ref(), k)
		return err
	})
	if err == nil && !ok {
		err = ErrRefused
	}
	return result, err
}

// Step returns the result of a step: the one that is kept, or else that of do, which is kept then. In one run the name
// is always for the same, which as says.
func (h *Handling) Step(ctx context.Context, name, as string, do func() ([]byte, error)) (result []byte, err error) {
	t, err := h.beginStep(ctx, stepName{name, false}, as)
	if err != nil {
		return nil, err
	}
	result = t.result
	defer h.endStep(t, &result)
	if result != nil {
		return result, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	done, err := do()
	if err != nil {
		return nil, err
	}
	result, err = h.keep(ctx, store.KeptStep{Name: name, Result: done})
	return result, err
}

// forever is how long a job waits for a signal.
const forever = 100 * 365 * 24 * time.Hour

// Signal returns the payload of a signal. If it has not come, the error is one by which the job waits for it.
func (h *Handling) Signal(ctx context.Context, name, as string) (payload []byte, err error) {
	payload, _, err = h.await(ctx, name, as)
	if err == nil && payload == nil {
		err = &snoozeError{d: forever, why: "waiting for the signal " + name}
	}
	return payload, err
}

// SignalFor is Signal until the job has waited for that long: if the signal has not come by then, the payload is nil,
// and that is kept as a step of the same name.
func (h *Handling) SignalFor(ctx context.Context, name, as string, d time.Duration) (payload []byte, err error) {
	t, err := h.beginStep(ctx, stepName{name, false}, as)
	if err != nil {
		return nil, err
	}
	over := t.result
	defer h.endStep(t, &over)
	if over != nil {
		return nil, nil
	}
	payload, since, err := h.await(ctx, name, as)
	if err != nil || payload != nil {
		return payload, err
	}
	until := timetable.Ceil(since.Add(max(d, 0)))
	if left := until.Sub(h.Now()); left > 0 {
		return nil, &snoozeError{d: left, until: until, why: "waiting for the signal " + name + " until " + until.Format(time.RFC3339)}
	}
	h.steps.giveUp(name)
	over, err = h.keep(ctx, store.KeptStep{Name: name, Result: []byte("null")})
	return nil, err
}

// await returns the payload of a signal, or since when the job waits for it.
func (h *Handling) await(ctx context.Context, name, as string) (payload []byte, since time.Time, err error) {
	t, err := h.beginStep(ctx, stepName{name, true}, as)
	if err != nil {
		return nil, time.Time{}, err
	}
	payload = t.result
	defer h.endStep(t, &payload)
	if payload == nil && t.since.IsZero() {
		if payload, err = h.keep(ctx, store.KeptStep{Name: name, Signal: true}); err == nil {
			t.since = h.Now()
		}
	}
	return payload, t.since, err
}

// SleepUntil returns an error by which the job is put off until then, nil if the time has come.
func (h *Handling) SleepUntil(t time.Time) error {
	d := t.Sub(h.Now())
	if d <= 0 {
		return nil
	}
	return &snoozeError{d: d, until: timetable.Ceil(t), why: "sleeping until " + t.Format(time.RFC3339)}
}
