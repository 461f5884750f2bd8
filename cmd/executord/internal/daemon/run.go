package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// execute runs the command of a run that entry.begin has counted, and accounts for it: one line at the start, one at the
// end, and the output between them. ctx ends when the run is to end. At the end, skipped returns how many times of the
// job have passed meanwhile.
func (r *run) execute(ctx context.Context, skipped func(context.Context) int) (process.Result, outcome.Outcome) {
	d := r.entry.base
	d.running.Add(1)
	defer d.running.Add(-1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer r.entry.hold(r.number, cancel)()
	r.kept = d.Record.Begin(view.Run{
		Namespace: d.Store.Namespace, Job: r.job.Name, Run: int64(r.number), Attempt: r.attempt, Node: r.node, Due: r.due,
		Parameters: view.Parameters(r.given),
	})
	if d.notifier.Any() {
		r.told = new(tail)
	}
	r.beginSpan()
	result, o, text, skips := process.Result{}, outcome.Failed, "panic", 0
	interrupted := false
	defer func() { // after a panic, too
		r.entry.finish(o, interrupted)
		r.kept.End(func(v *view.Run) {
			v.Outcome, v.Took, v.Error, v.Stderr = o, result.Took.Seconds(), view.Reason(text), view.Written(text)
		})
		r.endSpan(result, o, view.Reason(text), skips) // the rest is output
	}()

	result, o = r.attempts(ctx)
	// A run that is lost before the drain is begun again, and says nothing of how the daemon will end.
	interrupted = o == outcome.Stopped || o == outcome.Lost && d.leaving.Err() != nil
	skips = skipped(ctx)
	text = r.failure(result, o)
	r.report(result, o, skips)
	r.tellEnded(result, o, text, r.recovers(ctx, o))
	return result, o
}

// failure returns what stands in the history of a run that is not ok, "" for one that is: why, and the end of what it
// wrote to standard error.
func (r *run) failure(result process.Result, o outcome.Outcome) string {
	text := r.reason(result, o)
	if text == "" {
		return ""
	}
	if r.failures > 1 && o != outcome.Delayed {
		text += fmt.Sprintf(", after %d attempts", r.failures)
	}
	if written := r.tail.String(); written != "" {
		text += "\n" + written
	}
	return text
}

// report logs the end of the run.
func (r *run) report(result process.Result, o outcome.Outcome, skips int) {
	late := r.late(result.Began)
	if result.Err != nil && o != outcome.Delayed {
		r.reportNotStarted(result, o, late, skips)
		return
	}
	attrs := []slog.Attr{slog.String("outcome", string(o)), slog.Int("exit", result.Code), slog.Any(about.Key, about.RunEnded)}
	if result.Signal != "" {
		attrs[1] = slog.String("signal", result.Signal)
	}
	attrs = append(attrs, slog.Duration("took", result.Took), slog.Duration("late", late), slog.Int("skipped", skips))
	if note := r.note(result); note != "" {
		attrs = append(attrs, slog.String("note", note))
	}
	if n := r.unlogged.Load(); n > 0 {
		attrs = append(attrs, slog.Int64("unlogged", n))
	}
	r.log.LogAttrs(context.Background(), o.Level(), "run ended", attrs...)
}

// reportNotStarted logs why the command was not started.
func (r *run) reportNotStarted(result process.Result, o outcome.Outcome, late time.Duration, skips int) {
	attrs := []any{about.Key, about.RunNotStarted, "due", stamp(r.due), "late", late, "reason", result.Err.Error(), "skipped", skips}
	if !o.IsError() {
		r.log.Warn("run not started", attrs...)
		return
	}
	r.log.Error("run not started", attrs...)
}

// tellEnded tells how the run ended. Again reports whether the one before had failed.
func (r *run) tellEnded(result process.Result, o outcome.Outcome, text string, again bool) {
	kind, told := kinds[o]
	if r.told == nil || !told {
		return // nobody was told of the start, or the run goes on
	}
	reason := view.Reason(text)
	if o == outcome.NotStarted { // the kind says the rest
		reason = result.Err.Error()
	}
	if n := r.entry.replacedInARow(o); n > 0 {
		r.entry.tell(notify.Event{Kind: notify.Skipped, Run: r.number, Count: n, Before: n - 1, Due: r.due,
			Reason: "a run for a later time has replaced each before its end"})
	}
	e := notify.Event{
		Kind: kind, Run: r.number, At: time.Now(), Due: r.due, Took: result.Took, Reason: reason,
		Output: r.told.String(),
	}
	r.entry.tell(e)
	if o == outcome.OK && again {
		e.Kind = notify.Recovered
		r.entry.tell(e)
	}
}
