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
	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/durable"
)

// handle runs a job that is due, and returns when it has ended. An error that is not permanent has the occurrence tried
// again.
func (d *base) handle(ctx context.Context, spec catalog.Spec) (struct{}, error) {
	label, err := d.begin(ctx, spec)
	var end *ending
	if errors.As(err, &end) {
		label = end.label
	}
	durable.SetLabel(ctx, label.String())
	return struct{}{}, err
}

// begin runs a job that is due. The label is that of a run without an error.
func (d *base) begin(ctx context.Context, spec catalog.Spec) (outcome.Label, error) {
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
	r.job.Schedule.Text = spec.Schedule
	r.overlap, _ = job.ParseOverlap(r.job.Overlap) // one that is not known here, of a newer daemon, is skip
	r.continues()
	r.log = r.entry.log.With("run", r.number)
	if r.attempt > 1 {
		r.log = r.log.With("attempt", r.attempt)
	}
	if d.Store.shared() {
		r.node = row.Owner
		r.stored, r.before = durable.Output(ctx), r.history
	}
	if err := r.handle(ctx); err != nil {
		return outcome.Label{}, err
	}
	if r.letGo.Load() { // it goes on, and counts its attempts
		return outcome.Label{Outcome: outcome.Apart}, nil
	}
	return r.label(outcome.OK), nil
}

// handle runs the command and accounts for it, in the log and to the store.
func (r *handled) handle(ctx context.Context) error {
	if err := r.noteLeftOut(ctx); err != nil {
		r.noteLeftOutSince(ctx)
		return err
	}
	if err := r.takeParameters(ctx); err != nil {
		return err
	}
	// The node may begin a run while it learns of the drain, above all one whose jitter the drain has just cut short.
	if r.entry.base.leaving.Err() != nil {
		return errDrain
	}
	if r.scheduled() {
		if err := r.exclude(); err != nil {
			r.noteLeftOutSince(ctx)
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
	r.entry.begin()
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
	r.log.Info("run excluded", about.Key, about.RunExcluded, "due", stamp(r.due), "reason", reason)
	return over(outcome.Label{Outcome: outcome.Excluded}, "excluded: "+reason)
}

// delay waits, unless the daemon ends or the run is canceled meanwhile.
func (r *handled) delay(ctx context.Context, d time.Duration) error {
	r.log.Info("run delayed", about.Key, about.RunDelayed, "due", stamp(r.due), "until", stamp(r.now().Add(d).In(r.due.Location())), "reason", "jitter")
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-r.entry.base.leaving.Done():
		return errDrain
	case <-ctx.Done():
		return fmt.Errorf("not started: %w", context.Cause(ctx))
	}
}

// runAtStart runs a job once, now. It is not in the store: each daemon runs it at its start.
func (d *base) runAtStart(j job.Job, now time.Time) {
	e := d.entry(j.Name)
	e.log.Info("job scheduled", about.Key, about.JobScheduled, "schedule", j.Schedule.Text)
	r := &run{entry: e, job: j, number: 1, attempt: 1, due: now.In(j.Schedule.Location()), log: e.log.With("run", 1)}
	if r.exclude() != nil {
		return
	}
	err := d.pool.Go(context.Background(), func(ctx context.Context) error {
		e.begin()
		_, o := r.execute(ctx, func(outcome.Outcome) int { return 0 })
		r.trigger(ctx, o) // it is begun once, whatever the error
		return nil
	}, executor.Named(j.Name))
	if err != nil {
		e.log.Error("job not scheduled", "schedule", j.Schedule.Text, "reason", err.Error()) // executord ends already
	}
}
