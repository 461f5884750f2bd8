package daemon

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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
	r.left = durable.LeftOutBefore(ctx)
	if err := r.readAsks(ctx); err != nil {
		r.noteLeftOut(0)
		return err
	}
	excluded := r.exclude()
	if excluded == nil {
		excluded = r.noteLeftOut(r.tooLate(ctx))
	}
	if excluded != nil {
		r.noteLeftOutSince(ctx)
		return excluded
	}
	// The node may begin a run while it learns of the drain, above all one whose jitter the drain has just cut short.
	if r.entry.base.leaving.Err() != nil {
		return errDrain
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

// mostExcluded is for how many due times a run may make up that exclude looks whether they count. Of more, it looks at
// the latest.
const mostExcluded = 10_000

// exclude leaves out the due times of a run that do not count: its own, and those before it for which it makes up. The
// run is for the latest of the others. If there is none, exclude returns an error, which stands in the history. Of a run
// that was cut, and is begun again, the store has the latest time alone.
func (r *handled) exclude() error {
	row, season, times := r.row, r.job.Season, catalog.Times(r.row)
	if season.IsZero() || !r.scheduled() {
		return nil
	}
	all := []time.Time{r.due}
	if n, _ := catalog.Passed(times, row.Due, row.Occurrence); row.Due.Before(row.Occurrence) && n < mostExcluded {
		all = nil
		for t := row.Due; t.Before(row.Occurrence); t = times.Next(t) {
			all = append(all, t.In(r.due.Location()))
		}
		all = append(all, r.due)
	}
	var excluded []time.Time
	var why string // of the latest
	var wrong error
	counts := slices.DeleteFunc(slices.Clone(all), func(t time.Time) bool {
		reason, err := season.Excludes(t)
		if err != nil {
			wrong = err
		}
		if reason != "" {
			excluded, why = append(excluded, t), reason
		}
		return reason != ""
	})
	r.logExcluded(excluded, why, wrong)
	if len(all) > 1 && r.left.Count > 0 {
		r.left = durable.LeftOut{}
		if len(counts) > 1 {
			r.left = durable.LeftOut{Count: len(counts) - 1, First: counts[0]}
		}
	}
	if len(counts) == 0 {
		return over(outcome.Label{Outcome: outcome.Excluded}, "excluded: "+why)
	}
	r.due = counts[len(counts)-1]
	return nil
}

// logExcluded logs due times that do not count, and why the latest does not; and why it is not known of others.
func (r *run) logExcluded(times []time.Time, why string, wrong error) {
	if wrong != nil {
		r.log.Warn("exceptions not read", "reason", wrong.Error(), "hint", "correct the file; until then the job runs")
	}
	if len(times) == 0 {
		return
	}
	attrs := []any{about.Key, about.RunExcluded, "due", stamp(times[len(times)-1]), "reason", why}
	if len(times) > 1 {
		attrs = append(attrs, "count", len(times), "first", stamp(times[0]))
	}
	r.log.Info("run excluded", attrs...)
}

// delay waits, unless the daemon ends or the run is canceled meanwhile.
func (r *handled) delay(ctx context.Context, d time.Duration) error {
	r.log.Info("run delayed", about.Key, about.RunDelayed, "due", stamp(r.due), "until", stamp(r.now().Add(d).In(r.due.Location())), "reason", "jitter")
	return r.wait(ctx, d)
}

// wait waits, unless the daemon ends or the run is canceled meanwhile.
func (r *handled) wait(ctx context.Context, d time.Duration) error {
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

// mostPause is the longest wait for another try of persist.
const mostPause = time.Second

// persist calls fn, which asks the store, until it answers, unless the daemon ends or the run is canceled meanwhile. So
// what the run has waited for already, as its jitter, it does not wait for again.
func (r *handled) persist(ctx context.Context, fn func() error) error {
	for pause := firstTurn; ; pause = min(2*pause, mostPause) {
		err := fn()
		if err == nil {
			return nil
		}
		if pause == firstTurn {
			r.log.Info("run waits", about.Key, about.RunWaits, "due", stamp(r.due), "reason", "the store: "+err.Error())
		}
		if err := r.wait(ctx, pause); err != nil {
			return err
		}
	}
}

// runAtStart runs a job once, now. It is not in the store: each daemon runs it at its start.
func (d *base) runAtStart(j job.Job, now time.Time) {
	e := d.entry(j.Name)
	e.log.Info("job scheduled", about.Key, about.JobScheduled, "schedule", j.Schedule.Text)
	r := &run{entry: e, job: j, number: 1, attempt: 1, due: now.In(j.Schedule.Location()), log: e.log.With("run", 1)}
	reason, wrong := j.Season.Excludes(r.due)
	var excluded []time.Time
	if reason != "" {
		excluded = append(excluded, r.due)
	}
	if r.logExcluded(excluded, reason, wrong); reason != "" {
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
