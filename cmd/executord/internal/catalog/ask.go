package catalog

import (
	"context"
	"errors"
	"time"

	"github.com/executor-go/executor/durable"
)

// asked is the By of an ask, the mark of somebody who asks for a run: no job can be called so.
//
//	run-now ──▶ ask ──▶ the job is due ──▶ its run takes the ask: it keeps the parameters as its own, and removes it
//
// An ask is for the first run that is for no time before it; a run takes all that there are for it. It is set before the
// job is made due, so that whoever moves the times of the job finds it afterwards, and makes the job due again: a file
// with another schedule, and the end of a run that leaves out the times which have passed. What the job is due for says
// nothing of an ask.
//
// A row of its own for each such run lost: the store would run it beside that of the schedule, and each of overlap,
// pause, end-run and the history is about one row.
const asked = "@run-now"

// RunNow makes a job due at once, also one that runs after others, whether these have ended or not. The run has the
// parameters given, those of Parameters.Given; nil for the defaults. If a run with the defaults begins meanwhile, there
// is no other; one with parameters follows it, and the answer is Deferred.
func RunNow(ctx context.Context, jobs *durable.Jobs, store durable.Store, e Entry, values []string) (durable.Answer, error) {
	now, err := store.Now(ctx)
	if err != nil {
		return durable.TooLate, err
	}
	id, err := addAsk(ctx, jobs, e, now, values)
	if err != nil {
		return durable.TooLate, err
	}
	var answer durable.Answer
	if values == nil {
		answer, err = jobs.RunNow(ctx, e.ID)
	} else if _, answer, err = makeDue(ctx, jobs, store, e); err == nil && answer == durable.Applied && e.State == durable.Paused {
		_, err = jobs.Resume(ctx, e.ID)
	}
	if answer == durable.Applied || answer == durable.Deferred {
		return answer, err
	}
	if _, wrong := jobs.Delete(ctx, id); err == nil { // it would be for a later run
		err = wrong
	}
	return answer, err
}

func addAsk(ctx context.Context, jobs *durable.Jobs, e Entry, at time.Time, values []string) (durable.ID, error) {
	m := mark{Job: e.Name, By: asked, At: at.Truncate(time.Microsecond), Values: values}
	return addMark(ctx, jobs, e.Namespace, asked+"/"+durable.NewID().String(), m)
}

// makeDue makes a job due now, or when its run in progress has ended. It returns the time for which it is due.
func makeDue(ctx context.Context, jobs *durable.Jobs, store durable.Store, e Entry) (time.Time, durable.Answer, error) {
	now, err := store.Now(ctx)
	if err != nil {
		return now, durable.TooLate, err
	}
	now = now.Truncate(time.Microsecond)
	if behind := e.Updated.Sub(now); behind >= 0 && behind < time.Second { // a new schedule may begin then; more, and the clock was set back
		now = e.Updated.Add(time.Microsecond)
	}
	answer, err := jobs.Reschedule(ctx, e.ID, now)
	return now, answer, err
}

// Asked returns the parameters of a run that somebody has asked for, and that has not begun yet; nil if there is none.
func Asked(ctx context.Context, store durable.Store, e Entry) ([]string, error) {
	if len(e.Spec.Parameters) == 0 || e.State.Done() || e.State.Granted() {
		return nil, nil
	}
	marks, err := ListMarks(ctx, store, e.Namespace, e.Name)
	return marks.Values(), err
}

// Follow makes a job due whose run, which began as this row, is about to end, if another run is to follow: somebody has
// asked for one meanwhile, or the jobs have ended that it runs after. It returns for when, the zero Time if none follows.
//
// The caller has left out the times that pass during the run before, if it does: they would take this one with them.
func Follow(ctx context.Context, jobs *durable.Jobs, store durable.Store, began durable.Job) (time.Time, error) {
	row, err := store.Get(ctx, began.ID)
	if err != nil {
		return time.Time{}, err
	}
	e, ok := Read(row)
	if !ok || e.Epoch != began.Epoch || e.Spec.Off {
		return time.Time{}, nil
	}
	marks, err := ListMarks(ctx, store, e.Namespace, e.Name)
	if err != nil || !marks.Complete(e.Spec.After) { // the run has taken its own, and those that are left are for another
		return time.Time{}, err
	}
	at, _, err := makeDue(ctx, jobs, store, e)
	return at, err
}

// RenewAsks makes jobs of a namespace due for which somebody has asked when the clock showed a later time than now: it was
// set back since, and they would wait until it shows that time again.
func (c *Catalog) RenewAsks(ctx context.Context, now time.Time) error {
	marks, err := ListMarks(ctx, c.Store, c.Namespace, "")
	if err != nil {
		return err
	}
	for _, m := range marks.Asks() {
		if !m.At.After(now.Add(askAhead)) {
			continue
		}
		row, err := c.Store.Find(ctx, Key(c.Namespace, m.Job))
		if errors.Is(err, durable.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		e, ok := Read(row)
		if !ok {
			continue
		}
		renewed, err := addAsk(ctx, c.Jobs, e, now, m.Values)
		if err != nil {
			return err
		}
		// Of the daemons that do so one goes on.
		answer, err := c.Jobs.Delete(ctx, m.id)
		if err != nil {
			return err
		}
		if answer != durable.Applied {
			if _, err := c.Jobs.Delete(ctx, renewed); err != nil {
				return err
			}
			continue
		}
		if _, _, err := makeDue(ctx, c.Jobs, c.Store, e); err != nil {
			return err
		}
	}
	return nil
}

// askAhead is by how much two answers of a store may differ about its clock without that it was set back: one of several
// servers may have answered before.
const askAhead = time.Second

// askAgain makes a job due again that was due, since somebody has asked for a run or other jobs have ended, when a step
// gave it another schedule: that has dropped this time as it drops the times of the schedule before.
func (c *Catalog) askAgain(ctx context.Context, s *Step) error {
	if s.Action != Change || !s.Mine || s.Err != nil || s.Was.Schedule == s.Now.Schedule {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	marks, err := ListMarks(ctx, c.Store, c.Namespace, s.Name)
	if err != nil {
		return err
	}
	if s.Now.State.Granted() { // it has taken the others
		marks = marks.after(s.Now.Occurrence)
	}
	waits := marks.Complete(s.Now.Spec.After)
	begun := s.Was.Runs != s.Now.Runs || s.Was.State.Granted() != s.Now.State.Granted()
	if at, ok := s.Was.other(); ok && !begun && !at.After(s.Now.Updated) {
		s.Asked = true
		if !waits { // the run was begun, has taken its marks, and was interrupted
			values, err := FindGiven(ctx, c.Store, c.Namespace, s.Name, at)
			if err == nil {
				_, err = addAsk(ctx, c.Jobs, s.Now, s.Now.Updated, values)
			}
			if err != nil {
				return err
			}
			waits = true
		}
	}
	if waits {
		_, _, err = makeDue(ctx, c.Jobs, c.Store, s.Now)
	}
	return err
}

// dropAsks removes the asks for runs of a job that is to wait for its next time.
func dropAsks(ctx context.Context, jobs *durable.Jobs, store durable.Store, e Entry) error {
	marks, err := ListMarks(ctx, store, e.Namespace, e.Name)
	if err != nil {
		return err
	}
	return marks.Asks().Remove(ctx, jobs)
}

// other returns the time of the next run of a job if that is none of its schedule, false if it is.
func (e Entry) other() (at time.Time, ok bool) {
	switch at = e.Occurrence; {
	case e.State.Done():
		return at, false
	case e.State.Granted():
		at = e.NextDue // that of the run after the one in progress
	case e.Due.Before(at):
		at = e.Due // the run makes up for other times, too
	}
	return at, !at.IsZero() && !Scheduled(e.Job, at)
}
