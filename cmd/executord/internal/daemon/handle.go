package daemon

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/durable"
)

// ending is the error of a run that is not ok. The history has its label and its text.
type ending struct {
	label outcome.Label
	text  string
	then  error // by which package durable knows what becomes of the run
}

func (e *ending) Error() string { return e.text }
func (e *ending) Unwrap() error { return e.then }

// over is the ending of a run: it is not tried again.
func over(label outcome.Label, text string) *ending {
	return &ending{label, text, executor.Permanent(errors.New(text))}
}

// cut is the ending of a run that this daemon has ended, or has not come to. It is run again after a wait, by any
// daemon; no attempt is counted.
func cut(label outcome.Label, text string, wait time.Duration) *ending {
	return &ending{label, text, durable.Snooze(wait)}
}

// errDrain is the error of a run whose command was not started before the drain began.
var errDrain = cut(outcome.Label{Outcome: outcome.Delayed}, "delayed: executord ended before the command was started", 0)

// handled is a run of a job of the store.
type handled struct {
	run
	row   durable.Job // when it began
	asked catalog.Run

	ran  bool          // the command, as far as it came to that
	took time.Duration // so long, as the log says

	// The clock is the store's, which may differ from this machine's: it showed base, or a little more, when ours
	// showed began.
	base, began time.Time
}

// now returns the time of the store, or one a little earlier. What the clock was put forward during the run is left
// out, and what it was put back is taken off: of the monotonic clock and the wall clock the slower one counts.
func (r *handled) now() time.Time {
	now := time.Now()
	return r.base.Add(min(now.Sub(r.began), now.Round(0).Sub(r.began.Round(0))))
}

// handle does a run, and returns when it has ended. An error that is not permanent has it tried again.
func (d *base) handle(ctx context.Context, asked catalog.Run) (struct{}, error) {
	label, err := d.begin(ctx, asked)
	var end *ending
	if errors.As(err, &end) {
		label = end.label
	}
	durable.SetLabel(ctx, label.String())
	return struct{}{}, err
}

// begin does a run. The label is that of one without an error.
func (d *base) begin(ctx context.Context, asked catalog.Run) (outcome.Label, error) {
	row, _ := durable.Current(ctx)
	key, number := durable.RunNumber(row.Key)
	name, ours := strings.CutPrefix(key, catalog.Key(d.Store.Namespace, ""))
	if !ours {
		return outcome.Label{}, executor.Permanent(fmt.Errorf("%q is not a key of executord", row.Key))
	}
	r := &handled{row: row, asked: asked, base: row.Due, began: time.Now()}
	if row.Updated.After(row.Due) {
		r.base = row.Updated // it was due when it was claimed, or confirmed
	}
	r.run = run{
		entry: d.entry(name), number: int(number), attempt: row.Attempt, due: asked.Due, given: asked.Given,
		extra: []string{"EXECUTORD_TOKEN=" + strconv.FormatInt(token(number, row.Epoch), 10)}, causes: asked.Traces,
	}
	r.continues()
	r.log = r.entry.log.With("run", r.number)
	if r.attempt > 1 {
		r.log = r.log.With("attempt", r.attempt)
	}
	if err := r.define(ctx, key); err != nil {
		return outcome.Label{}, err
	}
	if d.Store.shared() {
		r.node = row.Owner
		r.stored, r.before = record.NewWriter(durable.Output(ctx)), r.history
	}
	if err := r.handle(ctx); err != nil {
		return outcome.Label{}, err
	}
	return r.label(outcome.OK), nil
}

// token returns the fencing token of a run: it grows from one to the next, and each time that a daemon takes it in hand.
func token(number, epoch int64) int64 {
	const most = 1<<20 - 1
	return number*(most+1) + min(epoch, most)
}

// define looks for the definition of the job: that of the file that was applied last.
func (r *handled) define(ctx context.Context, key string) error {
	d := r.entry.base
	var row durable.Job
	err := r.persist(ctx, func() (err error) {
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), patienceOfReaders) // a run that is canceled now is logged, too
		defer cancel()
		row, err = d.Store.Find(asking, key)
		if errors.Is(err, durable.ErrNotFound) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	e, ok := catalog.Read(row)
	if !ok || e.Spec.Off && !r.begunBefore() {
		return over(outcome.Label{Outcome: outcome.Canceled}, "canceled: its job was removed")
	}
	r.job = e.Spec.Job
	r.due = r.due.In(e.Spec.Location())
	if len(r.job.After) > 0 && (r.asked.Asked || len(r.asked.After) > 0) {
		r.extra = append(r.extra, "EXECUTORD_AFTER="+strings.Join(r.asked.After, " "))
	}
	return nil
}

// handle runs the command and accounts for it, in the log and to the store.
func (r *handled) handle(ctx context.Context) error {
	d := r.entry.base
	r.tellLost()
	if why, wrong := r.job.Season.Excludes(r.due); why != "" && wrong == nil && r.begunBefore() && !r.asked.Asked {
		d := dues{why: why}
		d.excluded.add(r.due)
		d.logExcluded(r.log)
		return over(outcome.Label{Outcome: outcome.Excluded}, "excluded: "+why)
	}
	if late := r.tooLate(); late > 0 {
		reason := fmt.Sprintf("the job did not run when it was due, and by its misfire does not %v later", late.Truncate(time.Second))
		r.entry.note(plan{missed: span{n: 1, first: r.due}, reason: reason}, 0)
		return over(outcome.Label{Outcome: outcome.Missed}, "missed: "+reason)
	}
	// The node may begin a run while it learns of the drain.
	if d.leaving.Err() != nil {
		return errDrain
	}
	ctx, stop := r.replaceable(ctx)
	defer stop()
	r.entry.begin()
	result, o := r.execute(ctx, r.skips)
	r.ran, r.took = true, result.Took
	if again, why := r.trigger(ctx, o); again != "" {
		return cut(r.label(again), why, 0)
	}
	return r.verdict(result, o)
}

// tooLate returns how late the run is, if it was never begun and that is more than the job's misfire allows; else 0. What
// it has waited for the end of other runs does not count: it is due then. Nor does what it has waited for its group.
func (r *handled) tooLate() time.Duration {
	m, err := job.ParseMisfire(r.job.Misfire)
	if err != nil || m.Within == 0 || r.begunBefore() || r.asked.Asked || r.job.Group != "" {
		return 0
	}
	due := r.row.Due
	if due.Before(r.due) { // it was to wait for others, which had ended when the store had it
		due = r.due
	}
	if late := r.now().Sub(due); late > m.Within {
		return late
	}
	return 0
}

// replaceable returns a context whose cause is errReplaced if the run is canceled for one of a later time.
func (r *handled) replaceable(ctx context.Context) (context.Context, func()) {
	overlap, _ := job.ParseOverlap(r.job.Overlap)
	if overlap.Do != job.ReplaceOverlap {
		return ctx, func() {}
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		if errors.Is(cause, executor.ErrCanceled) {
			asking, end := context.WithTimeout(context.WithoutCancel(ctx), lastTry)
			defer end()
			schedule, number := durable.RunNumber(r.row.Key)
			if _, err := r.entry.base.Store.Find(asking, durable.RunKey(schedule, number+1)); err == nil {
				cause = errReplaced
			}
		}
		cancel(cause)
	})
	return own, func() { stop(); cancel(nil) }
}

// skips returns how many times of the job have passed during the run.
func (r *handled) skips(ctx context.Context) int {
	d := r.entry.base
	r.entry.logSkips()
	n := r.entry.skippedDuring(r.number)
	if d.Store.shared() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTry)
		defer cancel()
		key, _ := durable.RunNumber(r.row.Key)
		row, err := d.Store.Find(ctx, key)
		if e, ok := catalog.Read(row); err == nil && ok && e.Number == int64(r.number) {
			n = max(n, e.Skipped)
		}
	}
	return n
}

// firstPause and mostPause bound the wait for another try of persist.
const firstPause, mostPause = 10 * time.Millisecond, time.Second

// persist calls fn, which asks the store, until it answers, unless the daemon ends or the run is canceled meanwhile.
func (r *handled) persist(ctx context.Context, fn func() error) error {
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		err := fn()
		if err == nil {
			return nil
		}
		if pause == firstPause {
			r.log.Info("run waits", about.Key, about.RunWaits, "due", stamp(r.due), "reason", "the store: "+err.Error())
		}
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-r.entry.base.leaving.Done():
			t.Stop()
			return errDrain
		case <-ctx.Done():
			t.Stop()
			return fmt.Errorf("not started: %w", context.Cause(ctx))
		}
	}
}

// begunBefore reports whether the run was begun and is begun again, since its daemon was lost or ended.
func (r *handled) begunBefore() bool {
	return r.row.Attempt > 1 || r.row.Suspect || r.row.Due.After(r.row.Occurrence)
}

// wasLost reports whether the run of a row that begins was begun before by a daemon that was killed or lost the store:
// the store has noticed that, or that daemon has said so.
func wasLost(row durable.Job) bool {
	return row.Suspect || outcome.ParseLabel(row.Label).Outcome == outcome.Lost
}

// tellLost tells that the run was lost before, if it was. Its daemon can't, or does not know what became of it. A row
// begins once for each loss, in one daemon.
func (r *handled) tellLost() {
	if wasLost(r.row) {
		r.entry.tell(notify.Event{Kind: notify.Lost, Run: r.number, Due: r.due})
	}
}

// continues takes over how often a run has failed before the daemon ended that had begun it.
func (r *handled) continues() {
	if label := outcome.ParseLabel(r.row.Label); label.Open() {
		r.failures = label.Attempts
		r.attempt += label.Attempts
	}
}

// label returns what the history has of an outcome of the run, of its attempts, and of its command.
func (r *handled) label(o outcome.Outcome) outcome.Label {
	return outcome.Label{Outcome: o, Attempts: r.attempt - r.row.Attempt + 1, Took: r.took, Timed: r.ran}
}

// verdict returns what stands in the history: nil, or an error with what there is to know. What failed is not tried
// again; what this daemon has cut is.
func (r *handled) verdict(result process.Result, o outcome.Outcome) error {
	if o == outcome.OK {
		return nil
	}
	text := r.failure(result, o)
	switch {
	case o.Resumes(): // before its command was started, too
		return cut(r.label(o), text, r.rest)
	case result.Err != nil && o != outcome.Replaced: // whatever else kept it from its start
		o = outcome.NotStarted
	}
	return over(r.label(o), text)
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
		_, o := r.execute(ctx, func(context.Context) int { return 0 })
		r.trigger(ctx, o) // it is begun once, whatever comes of that
		return nil
	}, executor.Named(j.Name))
	if err != nil {
		e.log.Error("job not scheduled", "schedule", j.Schedule.Text, "reason", err.Error()) // executord ends already
	}
}
