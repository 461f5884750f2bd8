package daemon

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/durable"
)

// ending is the error of a run that is not ok. The history has its label and its text.
type ending struct {
	label outcome.Label
	text  string
	then  error // by which package durable knows what becomes of the occurrence
}

func (e *ending) Error() string { return e.text }
func (e *ending) Unwrap() error { return e.then }

// over is the ending of an occurrence: it is not tried again.
func over(label outcome.Label, text string) *ending {
	return &ending{label, text, executor.Permanent(errors.New(text))}
}

// cut is the ending of a run that this daemon has ended, or has not come to. The occurrence is run again after a wait, by
// any daemon; no attempt is counted.
func cut(label outcome.Label, text string, wait time.Duration) *ending {
	return &ending{label, text, durable.Snooze(wait)}
}

// errDrain is the error of a run whose command was not started before the drain began. The next one has no jitter.
var errDrain = cut(outcome.Label{Outcome: outcome.Delayed}, "delayed: executord ended before the command was started", 0)

// errIdle is the error of a run of a job that is not to run.
var errIdle = over(outcome.Label{Outcome: outcome.Idle}, "nothing was run: the job is off")

// handled is a run of a job of the store.
type handled struct {
	run
	row     durable.Job // when it began
	overlap job.Overlap
	spec    catalog.Spec

	// The clock is the store's, which may differ from this machine's: it showed base, or a little more, when ours
	// showed began.
	base, began time.Time
}

// handle runs a job that is due, and returns when it has ended. An error that is not permanent has the occurrence tried
// again.
func (d *Daemon) handle(ctx context.Context, spec catalog.Spec) (struct{}, error) {
	label, err := d.begin(ctx, spec)
	var end *ending
	if errors.As(err, &end) {
		label = end.label
	}
	durable.SetLabel(ctx, label.String())
	return struct{}{}, err
}

// begin runs a job that is due. The label is that of a run without an error.
func (d *Daemon) begin(ctx context.Context, spec catalog.Spec) (outcome.Label, error) {
	row, _ := durable.Current(ctx)
	if spec.Off {
		return outcome.Label{}, errIdle
	}
	name, ours := strings.CutPrefix(row.Key, catalog.Key(d.Store.Namespace, ""))
	if !ours {
		return outcome.Label{}, executor.Permanent(fmt.Errorf("%q is not a key of executord", row.Key))
	}
	r := &handled{row: row, spec: spec, base: row.Due, began: time.Now()}
	if row.Updated.After(row.Due) {
		r.base = row.Updated // it was due when it was claimed, or confirmed
	}
	r.run = run{
		entry: d.entry(name), job: spec.Job(name), number: int(row.Runs) + 1, attempt: row.Attempt,
		due:   row.Occurrence.In(spec.Location()),
		extra: []string{"EXECUTORD_TOKEN=" + strconv.FormatInt(row.Epoch, 10)},
	}
	r.overlap, _ = job.ParseOverlap(r.job.Overlap) // one that is not known here, of a newer daemon, is skip
	r.continues()
	r.log = r.entry.log.With("run", r.number)
	if r.attempt > 1 {
		r.log = r.log.With("attempt", r.attempt)
	}
	if d.Store.shared() {
		r.node = row.Owner
		r.stored = durable.Output(ctx)
	}
	if err := r.handle(ctx); err != nil {
		return outcome.Label{}, err
	}
	if r.letGo.Load() { // it goes on, and counts its attempts
		return outcome.Label{Outcome: outcome.Apart}, nil
	}
	return r.label(outcome.OK), nil
}

// now returns the time of the store, or one a little earlier. What the clock was put forward during the run is left
// out, and what it was put back is taken off: of the monotonic clock and the wall clock the slower one counts.
func (r *handled) now() time.Time {
	now := time.Now()
	return r.base.Add(min(now.Sub(r.began), now.Round(0).Sub(r.began.Round(0))))
}

// handle runs the command and accounts for it, in the log and to the store.
func (r *handled) handle(ctx context.Context) error {
	if err := r.noteLeftOut(ctx); err != nil {
		return err
	}
	// The node may begin a run while it learns of the drain, above all one whose jitter the drain has just cut short.
	if r.entry.daemon.leaving.Err() != nil {
		return errDrain
	}
	if r.scheduled() {
		if err := r.exclude(); err != nil {
			return err
		}
	}
	if r.jitters() {
		if err := r.delay(ctx, rand.N(r.job.Jitter)); err != nil {
			return err
		}
	}
	if err := r.awaitTurn(ctx); err != nil {
		return err
	}
	if err := r.takeMarks(ctx); err != nil {
		return err
	}
	watch := r.watchOverlaps()
	defer watch.stop() // after a panic, too
	if r.overlap.Do == job.AllowOverlap {
		return r.beside(ctx)
	}
	result, o := r.execute(ctx, func(o outcome.Outcome) int { return watch.end(ctx, o) })
	if err := r.trigger(ctx, o); err != nil {
		return err
	}
	return r.verdict(result, o)
}

// jitters reports whether the run is to be delayed. It is not if it was delayed before, and in vain, nor if somebody
// asked for it.
func (r *handled) jitters() bool {
	return r.job.Jitter > 0 && r.row.Attempt <= 1 && r.failures == 0 && outcome.ParseLabel(r.row.Label) != errDrain.label && r.scheduled()
}

// scheduled reports whether the run is for a time of its schedule. One that somebody asked for is not.
func (r *handled) scheduled() bool {
	times := catalog.Times(r.row)
	before := r.row.Occurrence.Add(-time.Microsecond) // a store rounds up
	return times == nil || !times.Next(before).After(r.row.Occurrence)
}

// exclude returns an error if the due time of the run does not count. The error stands in the history.
func (r *run) exclude() error {
	if r.job.Season.IsZero() {
		return nil
	}
	reason, err := r.job.Season.Excludes(r.due)
	if err != nil {
		r.log.Warn("exceptions not read", "reason", err.Error(), "hint", "correct the file; until then the job runs")
	}
	if reason == "" {
		return nil
	}
	r.log.Info("run excluded", "due", stamp(r.due), "reason", reason)
	return over(outcome.Label{Outcome: outcome.Excluded}, "excluded: "+reason)
}

// delay waits, unless the daemon ends or the run is canceled meanwhile.
func (r *handled) delay(ctx context.Context, d time.Duration) error {
	r.log.Info("run delayed", "due", stamp(r.due), "until", stamp(r.now().Add(d).In(r.due.Location())), "reason", "jitter")
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-r.entry.daemon.leaving.Done():
		return errDrain
	case <-ctx.Done():
		return fmt.Errorf("not started: %w", context.Cause(ctx))
	}
}

// verdict returns what stands in the history: nil, or an error with what there is to know. What failed is not tried
// again before its next time; what this daemon has cut is.
func (r *handled) verdict(result process.Result, o outcome.Outcome) error {
	if o == outcome.OK {
		return nil
	}
	text := r.failure(result, o)
	switch {
	case o == outcome.Delayed:
		return cut(r.label(o), text, r.rest)
	case result.Err != nil: // whatever kept it from its start
		o = outcome.NotStarted
	case o == outcome.Stopped, o == outcome.Lost:
		return cut(r.label(o), text, 0)
	}
	return over(r.label(o), text)
}

// runAtStart runs a job once, now. It is not in the store: each daemon runs it at its start.
func (d *Daemon) runAtStart(j job.Job, now time.Time) {
	e := d.entry(j.Name)
	e.log.Info("job scheduled", "schedule", j.Schedule.Text)
	r := &run{entry: e, job: j, number: 1, attempt: 1, due: now.In(j.Schedule.Location()), log: e.log.With("run", 1)}
	if r.exclude() != nil {
		return
	}
	err := d.pool.Go(context.Background(), func(ctx context.Context) error {
		_, o := r.execute(ctx, func(outcome.Outcome) int { return 0 })
		r.trigger(ctx, o) // it is begun once, whatever the error
		return nil
	}, executor.Named(j.Name))
	if err != nil {
		e.log.Error("job not scheduled", "schedule", j.Schedule.Text, "reason", err.Error()) // executord ends already
	}
}
