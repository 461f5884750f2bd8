package durable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/executor-go/executor/durable/internal/node"
)

// Step calls fn, and keeps what it returns in the store under a name. The next run of the same occurrence, after a
// failure or the death of the node, gets the kept result and does not call fn again. So a handler of several steps
// continues where it was: it is called from its top, and skips the steps that are done. A later run may take other
// steps. The result is converted to JSON and back, also in the run that has called fn.
//
// An error of fn is returned as it is, and is not kept. If the program dies between the end of fn and the commit of its
// result, fn is called again: so fn must be safe to repeat, for example by an idempotency key made of the job's ID and
// the name. Step does not return before the result is kept; while the store does not answer, it retries until ctx ends.
// If the run is no longer this node's, the result is not kept, and the error is ErrRefused, which the handler must
// return. Once ctx has ended, fn is not called, and the error is the cause.
//
// A name has 1 to MaxStep bytes, and means one step: a second call with the same name in the same run returns the same
// result. The error matches executor.ErrInvalid if the second call has another type or the first has not returned, if
// ctx is not a handler's, after CompleteTx, if fn is nil, and if the store is not a store.Steps. Steps with different
// names may run at the same time, also one inside another. A result has up to MaxResult bytes; a larger one is a
// Permanent error.
//
// The results are removed with the job, when it is deleted or pruned, or with the first step or signal of its next
// occurrence. A job that runs once and is added again, by Replace or ReuseKey, begins from its first step; a job that
// is revived continues. Reschedule and RunNow make another occurrence of a periodic job, but not of a job that runs
// once. A handler without steps costs nothing extra. A handler with steps costs one read of its results, and a commit
// for each new result.
func Step[T any](ctx context.Context, name string, fn func(ctx context.Context) (T, error)) (T, error) {
	var v T
	h, err := stepping(ctx, "step", name)
	if err == nil && fn == nil {
		err = invalid("step %q: its function must not be nil", name)
	}
	if err != nil {
		return v, err
	}
	data, err := h.Step(ctx, name, "a Step of "+reflect.TypeFor[T]().String(), func() ([]byte, error) {
		v, err := fn(ctx)
		if err != nil {
			return nil, err
		}
		return h.Kind().Encode(fmt.Sprintf("result of step %q", name), v, MaxResult)
	})
	if err != nil {
		return v, err
	}
	return v, h.Kind().Decode(fmt.Sprintf("result of step %q", name), data, &v)
}

// SnoozeOnce postpones the job until d has passed since the first call with this name in the occurrence. Until then SnoozeOnce
// returns an error, which the handler must return: the run ends, as by Snooze, and holds no worker. The next run begins
// at that time, calls SnoozeOnce again, and gets nil. Put what the handler does before SnoozeOnce into steps.
//
// A SnoozeOnce and a step must not have the same name; other errors are those of Step. If d is 0 or negative, SnoozeOnce returns
// nil at once. RunNow does not shorten a SnoozeOnce.
func SnoozeOnce(ctx context.Context, name string, d time.Duration) error {
	h, err := stepping(ctx, "sleep", name)
	if err != nil {
		return err
	}
	data, err := h.Step(ctx, name, "a SnoozeOnce", func() ([]byte, error) {
		return json.Marshal(h.Now().Add(max(d, 0)).UTC())
	})
	if err != nil {
		return err
	}
	var until time.Time
	if err := json.Unmarshal(data, &until); err != nil {
		return fmt.Errorf("durable: sleep %q: %w", name, err)
	}
	return h.SleepUntil(until)
}

// Wait returns the payload of the signal with that name, once Jobs.Signal has sent the signal to the job for this
// occurrence. Until then Wait returns an error, which the handler must return: the run ends, as by Snooze, and the job
// waits without a worker, for up to a hundred years. The signal makes the job due. Each later run gets the same
// payload.
//
// WaitFor bounds the wait. Other errors are those of Step. A signal may have the name of a step.
func Wait[T any](ctx context.Context, name string) (T, error) {
	var v T
	h, err := stepping(ctx, "signal", name)
	if err != nil {
		return v, err
	}
	data, err := h.Signal(ctx, name, "a Wait for "+reflect.TypeFor[T]().String())
	if err != nil {
		return v, err
	}
	return v, h.Kind().Decode(fmt.Sprintf("payload of signal %q", name), data, &v)
}

// WaitFor is Wait until d has passed since the first call with this name in the occurrence. If the signal has not come
// by then, came is false, the payload is the zero T, and the error is nil: also in each later run, as that is kept in
// the store. A signal that comes later has no effect, although the answer of Jobs.Signal is Applied. If d is 0 or
// negative, WaitFor does not wait. A step of the run must not have the same name.
func WaitFor[T any](ctx context.Context, name string, d time.Duration) (payload T, came bool, err error) {
	h, err := stepping(ctx, "signal", name)
	if err != nil {
		return payload, false, err
	}
	data, err := h.SignalFor(ctx, name, "a WaitFor for "+reflect.TypeFor[T]().String(), d)
	if err != nil || data == nil {
		return payload, false, err
	}
	err = h.Kind().Decode(fmt.Sprintf("payload of signal %q", name), data, &payload)
	return payload, err == nil, err
}

// stepping returns the run of a handler that may have steps, and checks the name of one.
func stepping(ctx context.Context, what, name string) (*node.Handling, error) {
	mustContext(ctx)
	if err := checkName(what, name, MaxStep); err != nil {
		return nil, err
	}
	h, ok := node.Of(ctx)
	switch {
	case !ok:
		return h, invalid("%s %q: the context must be that of a handler of durable jobs", what, name)
	case !h.HasSteps():
		return h, invalid("%s %q: the store does not have the methods of store.Steps", what, name)
	}
	return h, nil
}

// Signal sends a signal to a job: to the occurrence that is running, or else to the next. Wait returns its payload. A
// job that waits for the signal is due at once; otherwise the job gets the signal when it calls Wait. The payload has
// up to MaxPayload bytes as it is stored. It must have the type that Wait expects, which Signal does not check.
//
// The first signal of a name counts: the answer is TooLate for a second one, unless its payload is the same, and for a
// job that has ended. A call may be repeated after an error. If an occurrence of a periodic job is left out, because
// one run makes up for several, a signal to that occurrence is left out, too. A signal that was sent before the job was
// added again, as by Replace, does not count for the new job, since approval of the old payload is not approval of the
// new one.
func (j *Jobs) Signal(ctx context.Context, id ID, name string, payload any) (Answer, error) {
	mustContext(ctx)
	if err := checkName("signal", name, MaxStep); err != nil {
		return NotFound, err
	}
	if j.parts.Steps == nil {
		return NotFound, j.lacks("signal", "Steps")
	}
	job, err := j.store.Get(ctx, id)
	switch {
	case errors.Is(err, ErrNotFound):
		return NotFound, nil
	case err != nil:
		return NotFound, failed("signal", err)
	}
	plain, err := marshal("payload of the signal", payload)
	if err != nil {
		return NotFound, err
	}
	data, err := j.stored(job.Kind, "payload of the signal", plain, MaxPayload)
	if err != nil {
		return NotFound, err
	}
	answer, err := j.parts.Steps.Signal(ctx, id, name, data)
	if err == nil && answer == TooLate && !job.State.Done() && j.cfg.Codec != nil {
		answer, err = j.signaledBefore(ctx, job, name, plain)
	}
	if err == nil && answer == Applied {
		if n := j.node(); n != nil {
			n.Wake()
		}
	}
	return answer, failed("signal", err)
}

// signaledBefore returns Applied if the job has a signal of that name with this payload as JSON, and else TooLate: a
// codec may make other bytes of the same each time.
func (j *Jobs) signaledBefore(ctx context.Context, job Job, name string, plain []byte) (Answer, error) {
	kept, err := j.parts.Steps.KeptSteps(ctx, job.ID)
	if err != nil {
		return NotFound, err
	}
	for _, k := range kept {
		if !k.Signal || k.Name != name || k.Result == nil || !k.Occasion.Equal(job.Occasion()) {
			continue
		}
		there, err := j.cfg.Codec.Decode(job.Kind, k.Result)
		if err != nil {
			return NotFound, fmt.Errorf("payload of the signal: the codec failed: %w", err)
		}
		if bytes.Equal(there, plain) {
			return Applied, nil
		}
	}
	return TooLate, nil
}

// Steps returns the results of the steps of a job, and its signals, in the order in which they were stored: those of
// the present occurrence or, until that has its first step or signal, of the one before. A job that does not exist has
// none.
func (j *Jobs) Steps(ctx context.Context, id ID) ([]KeptStep, error) {
	mustContext(ctx)
	if j.parts.Steps == nil {
		return nil, j.lacks("steps", "Steps")
	}
	kept, err := j.parts.Steps.KeptSteps(ctx, id)
	return kept, failed("steps", err)
}
