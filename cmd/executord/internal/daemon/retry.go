package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// attempts runs the command, and again for as long as it fails and the job says so. Of the result, the start is that of
// the first attempt.
//
// All attempts are one run: a job that waits for the next one is running, and due times that pass are skipped. It keeps
// its worker meanwhile, of which there is one for each job. Attempts of package durable lost: each of them is a run of
// its own in the history, and their wait is the same for all jobs.
func (r *run) attempts(ctx context.Context) (process.Result, outcome.Outcome) {
	var began time.Time
	for {
		r.beginAttempt()
		r.kept.Output().BeginAttempt(r.attempt)
		if r.stored != nil && r.attempt > 1 {
			r.stored.BeginAttempt(r.attempt)
		}
		result := r.command(ctx)
		o := r.outcomeOf(result)
		r.spans.endAttempt(result, o, r.reason(result, o))
		if began.IsZero() {
			began = result.Began
		}
		if r.failures++; !o.IsFailure() || r.job.Retry.Times < r.failures {
			return spanning(result, began), o
		}
		wait := r.job.Retry.Pause(r.failures + 1)
		r.noteRetry(result, o, wait)
		if o, ended := r.await(ctx, wait, &result); ended {
			return spanning(result, began), o
		}
		r.attempt++
		r.log = r.spans.log(r.entry.log.With("run", r.number, "attempt", r.attempt))
		r.tail.clear()
		r.kept.Change(func(v *view.Run) { v.Attempt = r.attempt })
	}
}

// spanning returns the result of a run whose first attempt began then.
func spanning(result process.Result, began time.Time) process.Result {
	if result.Err == nil && began.Before(result.Began) {
		result.Took += result.Began.Sub(began)
		result.Began = began
	}
	return result
}

// await waits for the next attempt. If something else ends the run before, it returns the outcome.
func (r *run) await(ctx context.Context, wait time.Duration, result *process.Result) (outcome.Outcome, bool) {
	d := r.entry.base
	timer, until := time.NewTimer(wait), time.Now().Add(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return "", false
	case <-ctx.Done():
		cause := context.Cause(ctx)
		if r.replaced = errors.Is(cause, errReplaced); !r.replaced { // else it has failed, and nobody goes on with it
			result.Stopped, result.Cause = true, cause
		}
		return r.outcomeOf(*result), true
	case <-d.leaving.Done():
		if r.stored == nil { // nobody goes on with it
			return r.outcomeOf(*result), true
		}
		r.rest = max(time.Until(until), 1)
		return outcome.Delayed, true
	}
}

// noteRetry logs that there will be another attempt.
func (r *run) noteRetry(result process.Result, o outcome.Outcome, wait time.Duration) {
	attrs := []any{about.Key, about.RunRetried, "outcome", string(o), "took", result.Took, "wait", wait, "left", r.job.Retry.Times - r.failures + 1}
	switch {
	case result.Err != nil:
		attrs = append(attrs, "reason", result.Err.Error())
	case result.Signal != "":
		attrs = append(attrs, "signal", result.Signal)
	default:
		attrs = append(attrs, "exit", result.Code)
	}
	r.log.Warn("run will be retried", attrs...)
}
