package daemon

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/durable"
)

// errJitter is the error of an attempt that never came to its command. It is not
// a permanent one: the occurrence is tried again, soon and without jitter.
var errJitter = errors.New("not started: executord ended while the jitter's time went by")

// sharedRun is a run of a job of a store.
type sharedRun struct {
	run
	part *node
	row  durable.Job // when it began
	spec catalog.Spec

	// The clock is the store's, which may differ from this machine's: it was base
	// or a little later when ours was began.
	base, began time.Time
}

// handle runs a job that is due, and returns when it has ended. An error that is
// not permanent has the occurrence tried again.
func (n *node) handle(ctx context.Context, spec catalog.Spec) (struct{}, error) {
	row, _ := durable.Current(ctx)
	if spec.Off {
		return struct{}{}, catalog.ErrIdle
	}
	e, ours := catalog.Read(row)
	if !ours {
		return struct{}{}, durable.Permanent(fmt.Errorf("%q is no key of executord's", row.Key))
	}
	r := &sharedRun{part: n, row: row, spec: spec, base: row.Due, began: time.Now()}
	if row.Updated.After(row.Due) {
		r.base = row.Updated // it was due when it was claimed, or confirmed
	}
	number := int(row.Runs) + 1
	r.run = run{
		entry: n.entry(e.Name), job: spec.Job(e.Name), number: number, due: row.Occurrence.In(spec.Location()),
		node:  row.Owner,
		extra: []string{"EXECUTORD_ATTEMPT=" + strconv.Itoa(row.Attempt), "EXECUTORD_TOKEN=" + strconv.FormatInt(row.Epoch, 10)},
		tail:  new(tail),
	}
	r.log = r.entry.log.With("run", number)
	if row.Attempt > 1 {
		r.log = r.log.With("attempt", row.Attempt)
	}
	return struct{}{}, r.execute(ctx)
}

// now gives the time of the store, or one a little earlier, if nobody has set its clock.
func (r *sharedRun) now() time.Time { return r.base.Add(time.Since(r.began)) }

// execute runs the command and accounts for it, in the log and to the store.
func (r *sharedRun) execute(ctx context.Context) error {
	r.noteMissed()
	if r.job.Jitter > 0 && r.row.Attempt <= 1 {
		if err := r.delay(ctx, rand.N(r.job.Jitter)); err != nil {
			return err
		}
	}
	r.part.running.Add(1)
	defer r.part.running.Add(-1)
	r.mu.Lock()
	r.mu.Runs++
	r.mu.Unlock()
	bad, interrupted := true, false
	defer func() { r.finish(bad, interrupted) }()

	result := r.command(ctx)
	outcome := outcomeOf(result)
	// What a daemon loses while it drains, it has not waited for. Before that, a run
	// that is lost is begun again, and says nothing of how the daemon will end.
	bad, interrupted = outcome != ok, outcome == stopped || outcome == lost && r.part.leaving.Err() != nil
	r.report(result, outcome, r.settle(ctx, outcome))
	return r.verdict(result, outcome)
}

// delay waits, unless the daemon ends or the run is canceled meanwhile.
func (r *sharedRun) delay(ctx context.Context, d time.Duration) error {
	r.log.Info("run delayed", "due", stamp(r.due), "until", stamp(r.now().Add(d).In(r.due.Location())), "reason", "jitter")
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-r.part.leaving.Done():
		return errJitter
	case <-ctx.Done():
		return fmt.Errorf("not started: %w", context.Cause(ctx))
	}
}

// noteMissed counts the times before this one at which no daemon was there: the
// job runs once for all of them.
func (r *sharedRun) noteMissed() {
	if r.row.Attempt > 1 || !r.row.Due.Before(r.row.Occurrence) {
		return
	}
	if n, _ := passed(catalog.Times(r.row), r.row.Due, r.row.Occurrence); n >= 0 {
		r.mu.Lock()
		r.mu.Missed += n + 1 // Due itself is one of them
		r.mu.Unlock()
		r.entry.log.Warn("runs missed", "count", n+1, "first", stamp(r.row.Due.In(r.spec.Location())),
			"reason", "no daemon ran them when they were due")
	}
}

// passed counts the times after one and before another, up to mostMissed of
// them, and gives the next one.
func passed(times job.Trigger, after, before time.Time) (n int, next time.Time) {
	if times == nil {
		return 0, time.Time{}
	}
	next = times.Next(after)
	for !next.IsZero() && next.Before(before) && n < mostMissed {
		n++
		next = times.Next(next)
	}
	if n == mostMissed {
		next = times.Next(before)
	}
	return n, next
}

// settle sees to what has happened to the job in the store while it ran. It
// leaves out the times that passed during the run, and returns how many they
// were: left to itself, the store would have the job run again at once.
//
// If the store does not answer, the job is as it would be without this. That is no
// loss as long as no time has passed, so that nothing waits for it then.
func (r *sharedRun) settle(ctx context.Context, o outcome) (skipped int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	interrupted := o == stopped || o == lost // it is begun again at once
	late := !interrupted && r.overran()
	call := once
	if late {
		call = r.part.insist
	}
	jobs := r.part.catalog.Jobs
	var row durable.Job
	err := call(ctx, func() (err error) {
		row, err = jobs.Get(ctx, r.row.ID)
		return err
	})
	var first time.Time
	if err == nil && row.Epoch == r.row.Epoch {
		e, _ := catalog.Read(row)
		switch {
		case e.Spec.Off:
			err = r.part.catalog.Retire(ctx, row.ID)
		case interrupted:
		default:
			first, skipped, err = r.leaveOut(ctx, row, call)
		}
	}
	switch {
	case err != nil && !late && skipped == 0:
		return 0
	case err != nil:
		r.log.Warn("the store did not answer at the end of the run", "reason", err.Error())
		return 0
	case skipped > 0:
		r.mu.Lock()
		r.mu.Skipped += skipped
		r.mu.Unlock()
		r.entry.log.Warn("runs skipped", "count", skipped, "first", stamp(first.In(r.spec.Location())),
			"reason", "the run before was still going on", "running", r.number)
	}
	return skipped
}

// leaveOut has the job go on behind the times that passed during the run. It gives
// the first of them and how many they are.
//
// A time has passed if the store's clock is past it, and would be if nobody had set
// it. Those over which it was put forward are missed, not skipped; those before which
// it was put back are yet to come.
func (r *sharedRun) leaveOut(ctx context.Context, row durable.Job, call func(context.Context, func() error) error) (first time.Time, n int, err error) {
	now := r.now()
	first, n, _ = r.overlapped(row, now)
	if n == 0 {
		return first, n, nil
	}
	err = call(ctx, func() error {
		told, err := r.part.catalog.Store.Now(ctx)
		if err == nil && told.Before(now) {
			now = told
		}
		return err
	})
	if err != nil {
		return first, n, err
	}
	first, n, next := r.overlapped(row, now)
	if n > 0 && !next.IsZero() {
		err = call(ctx, func() error {
			_, err := r.part.catalog.Jobs.Reschedule(ctx, row.ID, next)
			return err
		})
	}
	return first, n, err
}

func once(_ context.Context, fn func() error) error { return fn() }

// insist calls fn until it succeeds, or ctx ends: the store may be back in a moment,
// and each of the connections that it had before fails once. A daemon that drains
// does not wait: its end is not to come later because of a store that is down.
func (n *node) insist(ctx context.Context, fn func() error) error {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := fn()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-n.leaving.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// overran reports whether a time of the schedule with which the run began has
// passed during it.
func (r *sharedRun) overran() bool {
	times := catalog.Times(r.row)
	if times == nil {
		return false
	}
	next := times.Next(r.row.Occurrence)
	return !next.IsZero() && next.Before(r.now())
}

// overlapped counts the times up to now that have passed during the run, and gives
// the first of them and the one that comes next. A job that got another schedule
// meanwhile, or was put back in the file, has its next time in NextDue: those of
// the schedule are counted from there, as the ones before were never to be.
func (r *sharedRun) overlapped(row durable.Job, now time.Time) (first time.Time, n int, next time.Time) {
	times := catalog.Times(row)
	switch {
	case times == nil:
		return time.Time{}, 0, time.Time{}
	case row.NextDue.IsZero():
		n, next = passed(times, r.row.Occurrence, now)
		return times.Next(r.row.Occurrence), n, next
	case !row.NextDue.Before(now):
		return time.Time{}, 0, time.Time{}
	}
	n, next = passed(times, row.NextDue, now)
	return row.NextDue, n + 1, next
}

// verdict gives what stands in the history: nil, or an error with what there is
// to know. What failed is not tried again before its next time, as without a
// store; what was cut short by this daemon is, which package durable sees to.
func (r *sharedRun) verdict(result process.Result, o outcome) error {
	var text string
	switch {
	case o == ok:
		return nil
	case result.Err != nil: // whatever the outcome, as one may be canceled that waits for its turn
		text = "not started: " + result.Err.Error()
	case o == timeout:
		text = fmt.Sprintf("timeout: it was ended after %v", r.job.Timeout)
	case o != failed:
		text = string(o) + ": it was ended while it ran"
	case result.Signal != "":
		text = "killed by " + result.Signal
	default:
		text = fmt.Sprintf("exit status %d", result.Code)
	}
	if note := aftermath(result); note != "" {
		text += " (" + note + ")"
	}
	if written := r.tail.String(); written != "" {
		text += "\n" + written
	}
	return durable.Permanent(errors.New(text))
}
