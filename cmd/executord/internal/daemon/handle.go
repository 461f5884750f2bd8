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
	r.tellLost()
	if err := r.readAsks(ctx); err != nil {
		r.noteLeftOut(0)
		return err
	}
	all, err := r.dues(ctx)
	if err != nil {
		return err
	}
	excluded := r.exclude(all)
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

// dues returns the due times for which a run makes up: its own, and those before it, or none if all count. Of a run that
// is begun again it is its own alone, if that counts or none does: the others were left out when it was begun first.
func (r *handled) dues(ctx context.Context) (dues, error) {
	plan, first, last := planOf(r.row, r.spec), r.row.Due, r.row.Occurrence
	if plan.season.IsZero() || !r.scheduled() {
		return dues{}, nil
	}
	own, again := plan.dues(last, 1), r.begunBefore()
	if again {
		if own.counts.n > 0 {
			return own, nil
		}
		since, err := r.since(ctx)
		if err != nil {
			return own, err
		}
		first = plan.times.Next(since)
	}
	if n, _ := catalog.Passed(plan.times, first, last); first.Before(last) && n < mostExcluded {
		if all := plan.dues(first, n+2); !again || all.counts.n > 0 {
			return all, nil
		}
	}
	return own, nil
}

// exclude leaves out the due times of a run that do not count. The run is for the latest of the others. If there is
// none, exclude returns an error, which stands in the history.
func (r *handled) exclude(all dues) error {
	counts := all.counts
	if !r.begunBefore() || counts.n == 0 {
		all.logExcluded(r.log)
	}
	if counts.n+all.excluded.n > 1 && r.left.Count > 0 {
		r.left = durable.LeftOut{}
		if counts.n > 1 {
			r.left = durable.LeftOut{Count: counts.n - 1, First: counts.first}
		}
	}
	if counts.n > 0 {
		r.due = counts.last
	} else if all.excluded.n > 0 {
		return over(outcome.Label{Outcome: outcome.Excluded}, "excluded: "+all.why)
	}
	return nil
}

// since returns a time before all those for which a run makes up that was begun before: of these the store has the
// latest alone. They have passed since the run for a time before, or since its end, if what passes during a run is
// skipped.
func (r *handled) since(ctx context.Context) (since time.Time, err error) {
	var past []durable.Run
	err = r.persist(ctx, func() (err error) {
		past, err = r.entry.base.catalog.Jobs.History(ctx, r.row.ID, 0, mostRecalled)
		return err
	})
	since = r.row.Created
	if i := slices.IndexFunc(past, func(p durable.Run) bool { return !p.Occurrence.Equal(r.row.Occurrence) }); i >= 0 {
		if since = past[i].Occurrence; r.overlap.Do == job.SkipOverlap && past[i].Finished.After(since) {
			since = past[i].Finished
		}
	} else if len(past) == mostRecalled {
		since = r.row.Occurrence.Add(-1)
	}
	return since, err
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
	var excluded dues
	if excluded.why, excluded.wrong = j.Season.Excludes(r.due); excluded.why != "" {
		excluded.excluded.add(r.due)
	}
	if excluded.logExcluded(r.log); excluded.why != "" {
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
