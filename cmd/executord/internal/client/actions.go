package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
)

// Do does to a job what is ordered, and returns what became of it. The text is about the job as it was just before. A
// parameter that is not allowed is an answer, too.
func (c Client) Do(ctx context.Context, o Order, e catalog.Entry) (admin.Answer, error) {
	answer := admin.Answer{Job: e.Job}
	var err error
	switch o.Do {
	case admin.Cancel:
		answer.Outcome, answer.Text, err = c.cancel(ctx, e)
	case admin.Pause:
		answer.Outcome, answer.Text, err = c.pause(ctx, e, o.Until)
	case admin.Resume:
		answer.Outcome, answer.Text, err = c.resume(ctx, e)
	case admin.RunNow:
		answer.Run, answer.Outcome, answer.Text, err = c.runNow(ctx, e, o.Set)
	case ExcludeNext:
		answer.Outcome, answer.Text, err = c.excludeNext(ctx, e)
	case EndRun:
		answer.Run, answer.Outcome, answer.Text, err = c.endRun(ctx, e, o.Run)
	default:
		return answer, fmt.Errorf("%q is no action", string(o.Do))
	}
	switch {
	case err != nil:
		answer.Text = ""
	case answer.Outcome == durable.NotFound:
		answer.Text = "it was removed a moment ago"
	}
	if !answer.Done() {
		answer.Run = 0
	}
	return answer, err
}

// Act is Do by this user, which the audit log keeps with the reason.
func (c Client) Act(ctx context.Context, o Order, e catalog.Entry, reason string) (admin.Answer, error) {
	act := durable.Act{Who: WhoAmI(), Action: string(o.Do), Job: e.ID, Key: e.Key, Reason: reason}
	return admin.CarryOut(ctx, c.Jobs, act, func(ctx context.Context) (admin.Answer, error) { return c.Do(ctx, o, e) })
}

func (c Client) cancel(ctx context.Context, e catalog.Entry) (durable.Answer, string, error) {
	answer, err := catalog.Cancel(ctx, c.Jobs, c.Store, e)
	switch answer {
	case durable.Applied:
		return answer, "canceled", err
	case durable.Deferred:
		return answer, "canceled; its run on " + On(e) + " is being ended", err
	}
	return answer, "it is " + e.Status(time.Now()).String() + " already", err
}

func (c Client) pause(ctx context.Context, e catalog.Entry, until string) (durable.Answer, string, error) {
	var end time.Time
	span := ""
	if when, err := admin.ParseWhen(until, e.Spec.Location()); err == nil {
		now, err := c.Jobs.Now(ctx)
		if err != nil {
			return durable.TooLate, "", err
		}
		if end = when.At(now); !end.After(now) {
			return durable.TooLate, "not paused: " + end.In(e.Spec.Location()).Format(Instant) + " has passed", nil
		}
		span = " until " + end.In(e.Spec.Location()).Format(Instant)
	}
	answer, err := catalog.Pause(ctx, c.Jobs, c.Store, e, end)
	switch answer {
	case durable.Applied:
		return answer, "paused" + span, err
	case durable.Deferred:
		return answer, "will be paused when its run on " + On(e) + " has ended" + strings.Replace(span, " until", ", until", 1), err
	}
	return answer, "cannot be paused: it is " + e.Status(time.Now()).String(), err
}

func (c Client) resume(ctx context.Context, e catalog.Entry) (durable.Answer, string, error) {
	if e.Spec.Off {
		return durable.TooLate, "cannot be resumed: it was removed from its file; put it back there, and start a daemon or send it SIGHUP", nil
	}
	if e.State == durable.Canceled || e.State == durable.Dead {
		if err := catalog.Bring(ctx, c.Jobs, c.Store, e); err != nil {
			return durable.TooLate, "", err
		}
		return durable.Applied, "brought back; " + c.nextTime(ctx, e), nil
	}
	answer, err := catalog.Resume(ctx, c.Jobs, c.Store, e)
	switch answer {
	case durable.Applied:
		return answer, "resumed; " + c.nextTime(ctx, e), err
	case durable.Deferred:
		return answer, "resumed; it will not be paused after its run on " + On(e), err
	}
	return answer, "not paused: it is " + e.Status(time.Now()).String(), err
}

func (c Client) runNow(ctx context.Context, e catalog.Entry, set []string) (number int64, answer durable.Answer, text string, err error) {
	if e.Spec.Off {
		return 0, durable.TooLate, "cannot run: it was removed from its file", nil
	}
	values, err := e.Spec.Parameters.Given(set)
	if err != nil {
		return 0, durable.TooLate, "not run: " + err.Error(), nil
	}
	if e, err = c.settled(ctx, e); errors.Is(err, durable.ErrNotFound) {
		return 0, durable.NotFound, "", nil
	} else if err != nil {
		return 0, durable.TooLate, "", err
	}
	if _, waits := e.Waiting(); waits {
		if asked := e.Asked(); asked != nil || values != nil {
			text = "not run: one is due already that has not begun"
			if asked != nil {
				text += ", with " + view.ShowParameters(asked)
			}
			return 0, durable.TooLate, text, nil
		}
	}
	with := ""
	if values != nil {
		with = ", with " + view.ShowParameters(values)
	}
	answer = durable.TooLate
	_, runs := e.InProgress()
	overlap, _ := job.ParseOverlap(e.Spec.Overlap)
	if runs = runs && overlap.Do != job.AllowOverlap; !runs {
		number, answer, err = catalog.RunNow(ctx, c.Jobs, e, values)
	}
	if err == nil && answer == durable.Applied && e.State == durable.Paused {
		_, err = catalog.Resume(ctx, c.Jobs, c.Store, e)
	}
	if err == nil && answer == durable.Applied && e.Queue != durable.DefaultQueue {
		now := e
		now.State = durable.Waiting
		if nodes, err := catalog.ListNodes(ctx, c.Jobs, e.Namespace); err == nil && nodes.Lack(now) {
			return number, answer, "due now" + with + ", and waits: " + job.Printable(e.Spec.On.Lacking()), nil
		}
	}
	switch {
	case answer == durable.Deferred:
		return number, answer, "due when the run that began just now has ended" + with, err
	case answer == durable.Applied && e.State == durable.Paused:
		return number, answer, "due now, and no longer paused" + with, err
	case answer == durable.Applied:
		return number, answer, "due now" + with, err
	case e.State == durable.Canceled || e.State == durable.Dead:
		return number, answer, "cannot run: it is " + e.State.String() + "; executord resume brings it back", err
	case runs:
		return number, answer, "it is running already, since " + startOf(e).Format(Instant) + ", on " + On(e), err
	}
	return number, answer, "cannot run: it has begun, or it is over", err
}

// excludeNext excludes the next due time of a job.
func (c Client) excludeNext(ctx context.Context, e catalog.Entry) (durable.Answer, string, error) {
	at, err := catalog.ExcludeNext(ctx, c.Jobs, e)
	switch {
	case errors.Is(err, durable.ErrNotFound):
		return durable.NotFound, "", nil
	case errors.Is(err, catalog.ErrTooManyExcluded):
		return durable.TooLate, "nothing is excluded: " + err.Error(), nil
	case err != nil:
		return durable.TooLate, "", err
	case at.IsZero():
		return durable.TooLate, "nothing is excluded: it is " + e.Status(time.Now()).String() + ", and has no next due time", nil
	}
	return durable.Applied, "does not run at " + at.In(e.Spec.Location()).Format(Instant) + "; " + c.nextTime(ctx, e), nil
}

// endRun ends a run that is in progress, whichever daemon has it.
func (c Client) endRun(ctx context.Context, e catalog.Entry, number int64) (int64, durable.Answer, string, error) {
	var runs []durable.Job
	for _, run := range e.Open {
		if run.State.Granted() && (number == 0 || catalog.NumberOf(run) == number) {
			runs = append(runs, run)
		}
	}
	switch {
	case len(runs) == 0 && number > 0:
		return number, durable.TooLate, fmt.Sprintf("run %d is not in progress", number), nil
	case len(runs) == 0:
		return number, durable.TooLate, "no run is in progress", nil
	case len(runs) > 1:
		return number, durable.TooLate, fmt.Sprintf("runs %d to %d are in progress: say which one is to end, as --run %d",
			catalog.NumberOf(runs[0]), catalog.NumberOf(runs[len(runs)-1]), catalog.NumberOf(runs[0])), nil
	}
	number = catalog.NumberOf(runs[0])
	answer, err := c.Jobs.Cancel(ctx, runs[0].ID)
	switch answer {
	case durable.Applied: // its daemon has given it back a moment ago
		return number, answer, fmt.Sprintf("run %d is ended, and is not begun again", number), err
	case durable.Deferred:
		return number, answer, fmt.Sprintf("run %d is being ended", number), err
	}
	return number, durable.TooLate, fmt.Sprintf("run %d has ended by itself", number), err
}

// settling is how long a run may still be in progress for the store whose command has ended.
const settling = 300 * time.Millisecond

// settled returns a job, with its runs, as it is once the store has the end of its run, or when that is not about to end.
func (c Client) settled(ctx context.Context, e catalog.Entry) (catalog.Entry, error) {
	for until := time.Now().Add(settling); ; {
		row, err := c.Jobs.Get(ctx, e.ID)
		if err != nil {
			return e, err
		}
		now, _ := catalog.Read(row)
		one := []catalog.Entry{now}
		if err := catalog.AddRuns(ctx, c.Store, one); err != nil {
			return e, err
		}
		if e = one[0]; !time.Now().Before(until) {
			return e, nil
		}
		if _, runs := e.InProgress(); !runs {
			return e, nil
		}
		select {
		case <-time.After(settling / 20):
		case <-ctx.Done():
			return e, context.Cause(ctx)
		}
	}
}

// On returns the node on which a job is running, as far as that is known.
func On(e catalog.Entry) string {
	run, _ := e.InProgress()
	if run.Owner == "" {
		return "some node"
	}
	return job.Printable(run.Owner)
}

// startOf returns when the run of a job in progress began, in the zone of the job.
func startOf(e catalog.Entry) time.Time {
	run, _ := e.InProgress()
	return view.Current(e, run, time.Now()).Started
}

// nextTime returns when a job is due next.
func (c Client) nextTime(ctx context.Context, e catalog.Entry) string {
	row, err := c.Jobs.Get(ctx, e.ID)
	if err != nil {
		return "its next time is not known"
	}
	if now, ok := catalog.Read(row); ok {
		e = now
	}
	switch next := e.Next(time.Now()); {
	case next.IsZero():
		return "there is no next time"
	case next.Before(time.Now()):
		return "due at once"
	default:
		return "due " + next.In(e.Spec.Location()).Format(Instant)
	}
}
