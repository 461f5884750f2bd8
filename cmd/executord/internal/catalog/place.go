package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/setback"
	"github.com/executor-go/executor/durable"
)

// What becomes of a run of a job is what its overlap says of those that have not ended:
//
//	overlap   some have not ended
//	skip      no run, but one that somebody asks for waits for the end of the one in progress
//	queue     it waits for the end of the one in progress
//	replace   they are canceled, and it waits for their end
//	allow n   while n are in progress, it waits for the end of one of them
//
// While one waits there is no other, unless each due time that is missed has a run: then up to ten wait, and the schedule
// waits with the rest.

// early is the Delay of a run that waits for others: it is due when these have ended, also if the clock is set back
// meanwhile.
const early = -dormant

// Place returns how a run is put beside those of a job that have not ended, with why if there is none. asked is set for
// one that is none of the schedule.
func (e Entry) Place(asked bool) durable.Decision {
	d := durable.Decision{Kind: e.kind()}
	n := len(e.Open)
	if n == 0 {
		return d
	}
	overlap, _ := job.ParseOverlap(e.Spec.Overlap) // one that is not known here, of a newer daemon, is skip
	most := 1
	switch {
	case overlap.Do == job.ReplaceOverlap:
		for _, run := range e.Open {
			d.Cancel = append(d.Cancel, run.ID)
		}
		d.After, d.Delay = d.Cancel, early
		return d
	case overlap.Do == job.AllowOverlap:
		most = overlap.Most
	case overlap.Do == job.SkipOverlap && !asked:
		return durable.Decision{LeftOut: "the previous run is still in progress"}
	}
	room := 1 // for runs that wait
	misfire, _ := job.ParseMisfire(e.Spec.Misfire)
	if misfire.All {
		room = 10
	}
	switch {
	case n < most:
	case n >= most+room && misfire.All && !asked:
		return durable.Decision{Later: time.Second}
	case n >= most+room:
		return durable.Decision{LeftOut: "the previous run is still in progress, and another one waits for its end"}
	default:
		for _, run := range e.Open {
			d.After = append(d.After, run.ID)
		}
		d.Need, d.Delay = n-most+1, early
	}
	return d
}

// RunNow adds a run, also of a job that runs after others, whether these have ended or not. The run has the parameters
// given, those of Parameters.Given; nil for the defaults. If one waits already that has the defaults, too, that is due
// at once instead; and if one is in progress, there is no other with the defaults. The answer is Deferred if the run waits
// for the end of another, and TooLate if there is none; number is that of the run.
func RunNow(ctx context.Context, jobs *durable.Jobs, e Entry, values []string) (number int64, answer durable.Answer, err error) {
	var waiting durable.Job
	run, added, err := jobs.AddRun(ctx, e.Key, func(_ context.Context, f durable.Firing) (durable.Decision, error) {
		e, ok := EntryOf(f)
		if !ok || e.Spec.Off || e.State.Done() {
			return durable.Decision{LeftOut: "it is over"}, nil
		}
		if waiting, ok = e.Waiting(); ok {
			return durable.Decision{LeftOut: "one waits already"}, nil
		}
		d := e.Place(true)
		if len(d.After) > 0 && values == nil { // it has begun just now
			return durable.Decision{LeftOut: "one is in progress"}, nil
		}
		d.Payload = Run{Due: f.Occurrence, Asked: true, Given: values}
		if answer = durable.Applied; len(d.After) > 0 {
			answer = durable.Deferred
		}
		return d, nil
	})
	switch {
	case err != nil:
		return 0, durable.TooLate, err
	case added:
		return NumberOf(run), answer, nil
	case waiting.ID == (durable.ID{}), values != nil || RunOf(waiting).Given != nil:
		return 0, durable.TooLate, nil
	case waiting.State == durable.Blocked: // it waits for the end of another
		return NumberOf(waiting), durable.Deferred, nil
	}
	answer, err = jobs.RunNow(ctx, waiting.ID)
	return NumberOf(waiting), answer, err
}

// Asked returns the parameters of a run that somebody has asked for, and that has not begun yet; nil if there is none.
func (e Entry) Asked() []string {
	run, _ := e.Waiting()
	return RunOf(run).Given
}

// actPatience is how long an action waits for a schedule that fires.
const actPatience = 5 * time.Second

// settled returns a job, with its runs, as it is when its schedule does not fire.
func settled(ctx context.Context, store durable.Store, id durable.ID) (Entry, error) {
	for until := time.Now().Add(actPatience); ; {
		row, err := store.Get(ctx, id)
		if err != nil {
			return Entry{}, err
		}
		e, ok := Read(row)
		if !ok {
			return e, fmt.Errorf("%q: %w", row.Key, durable.ErrNotFound)
		}
		if !e.State.Granted() || time.Now().After(until) {
			one := []Entry{e}
			err := AddRuns(ctx, store, one)
			return one[0], err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return e, context.Cause(ctx)
		}
	}
}

// Cancel cancels a job, and ends its runs. The answer is Deferred if one is in progress.
func Cancel(ctx context.Context, jobs *durable.Jobs, store durable.Store, e Entry) (durable.Answer, error) {
	answer, err := jobs.Cancel(ctx, e.ID)
	if err != nil || answer == durable.NotFound {
		return answer, err
	}
	e, err = settled(ctx, store, e.ID)
	if err != nil {
		return answer, err
	}
	for _, run := range e.Open {
		if _, err := jobs.Cancel(ctx, run.ID); err != nil {
			return answer, err
		}
	}
	return e.during(answer), nil
}

// during returns the answer to an action: it is Deferred while a run is in progress.
func (e Entry) during(answer durable.Answer) durable.Answer {
	if answer != durable.Applied && answer != durable.Deferred {
		return answer
	}
	if _, runs := e.InProgress(); runs {
		return durable.Deferred
	}
	return durable.Applied
}

// Pause keeps a job from running, but for a run in progress: then the answer is Deferred. It goes on at the time given,
// unless that is zero.
func Pause(ctx context.Context, jobs *durable.Jobs, store durable.Store, e Entry, until time.Time) (durable.Answer, error) {
	pause := jobs.Pause
	if !until.IsZero() {
		pause = func(ctx context.Context, id durable.ID) (durable.Answer, error) {
			return jobs.PauseUntil(ctx, id, until)
		}
	}
	answer, err := pause(ctx, e.ID)
	if err != nil || !acted(answer) {
		return answer, err
	}
	if e, err = settled(ctx, store, e.ID); err != nil {
		return answer, err
	}
	for _, run := range e.Open {
		if !run.State.Granted() {
			if _, err := pause(ctx, run.ID); err != nil {
				return answer, err
			}
		}
	}
	return e.during(answer), nil
}

// Resume lets a job go on that is paused.
func Resume(ctx context.Context, jobs *durable.Jobs, store durable.Store, e Entry) (durable.Answer, error) {
	e, err := settled(ctx, store, e.ID)
	if err != nil {
		return durable.NotFound, err
	}
	for _, run := range e.Open {
		if _, err := jobs.Resume(ctx, run.ID); err != nil {
			return durable.TooLate, err
		}
	}
	if e.State == durable.Paused {
		paused := e
		paused.State = durable.Waiting
		if err := runAfter(ctx, jobs, store, paused); err != nil { // before the times that have passed
			return durable.TooLate, err
		}
	}
	answer, err := jobs.Resume(ctx, e.ID)
	return e.during(answer), err
}

func acted(a durable.Answer) bool { return a == durable.Applied || a == durable.Deferred }

// errRemoved is the error of Bring for a job that is no longer in its file.
var errRemoved = errors.New("the job was removed from its file a moment ago; put it back there")

// Bring makes a job that is canceled or dead wait again, for its next time. It changes nothing else of the job, which a
// file may do meanwhile.
func Bring(ctx context.Context, jobs *durable.Jobs, store durable.Store, e Entry) error {
	e, err := settled(ctx, store, e.ID)
	if err != nil {
		return err
	}
	if e.Spec.Off {
		return errRemoved
	}
	if err := e.revive(ctx, jobs, store); err != nil {
		return err
	}
	now, err := settled(ctx, store, e.ID)
	switch {
	case err != nil:
	case now.Spec.Off: // it was removed while it was revived
		if _, err = jobs.Cancel(ctx, e.ID); err == nil {
			err = errRemoved
		}
	case now.Schedule != e.Schedule:
		var at time.Time
		if at, err = now.nextTime(ctx, store); err == nil {
			_, err = jobs.Reschedule(ctx, e.ID, at)
		}
	}
	return err
}

// revive makes a job wait for its next time that is canceled or dead.
func (e Entry) revive(ctx context.Context, jobs *durable.Jobs, store durable.Store) error {
	at, err := e.nextTime(ctx, store)
	if err == nil {
		_, err = jobs.ReviveAt(ctx, e.ID, at)
	}
	return err
}

// nextTime returns the next time of the schedule of a job that does not wait.
func (e Entry) nextTime(ctx context.Context, store durable.Store) (time.Time, error) {
	now, err := store.Now(ctx)
	if err != nil {
		return now, err
	}
	if times := Times(e.Job); times != nil {
		if next := times.Next(now); !next.IsZero() {
			return next, nil
		}
	}
	return now.Add(dormant), nil
}

// FollowUp adds a run of a job that runs after others, if these have ended while it was paused: what ends a pause at its
// time knows nothing of that.
func (c *Catalog) FollowUp(ctx context.Context, e Entry) error {
	if len(e.Spec.After) == 0 {
		return nil
	}
	return runAfter(ctx, c.Jobs, c.Store, e)
}

// FollowUpAll is FollowUp for all jobs of the namespace.
func (c *Catalog) FollowUpAll(ctx context.Context) error {
	marks, err := ListMarks(ctx, c.Store, c.Namespace, "")
	var names []string
	for _, m := range marks {
		names = append(names, m.Job)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		row, err := c.Store.Find(ctx, Key(c.Namespace, name))
		if errors.Is(err, durable.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if e, ok := Read(row); ok {
			if err := c.FollowUp(ctx, e); err != nil {
				return err
			}
		}
	}
	return err
}

// mostExcluded is how many due times of a job may be excluded by hand.
const mostExcluded = 100

// ExcludeNext excludes the next due time of a job, and returns it; the zero Time if there is none. It fails with
// ErrTooManyExcluded if there are too many already.
func ExcludeNext(ctx context.Context, jobs *durable.Jobs, e Entry) (next time.Time, err error) {
	now, err := jobs.Now(ctx)
	if err != nil {
		return next, err
	}
	var tooMany error
	err = jobs.SetState(ctx, e.Key, func(s durable.Schedule) (string, bool) {
		e, ok := read(s.Job, s)
		if next = e.Next(now); !ok || next.IsZero() {
			return "", false
		}
		if len(e.Excluded) == mostExcluded {
			tooMany = ErrTooManyExcluded
			return "", false
		}
		e.Excluded = append(e.Excluded, next)
		return e.StateAfter(time.Time{}, e.Skipped), true
	})
	return next, cmp.Or(err, tooMany)
}

// ErrTooManyExcluded is the error of ExcludeNext for a job of which many times are excluded.
var ErrTooManyExcluded = fmt.Errorf("%d due times are excluded already", mostExcluded)

// PausedUntil returns when the pauses of those of the jobs end that are paused until a time.
func PausedUntil(ctx context.Context, jobs *durable.Jobs, entries []Entry) (map[durable.ID]time.Time, error) {
	var paused []durable.ID
	for _, e := range entries {
		if e.held() == StatePaused {
			paused = append(paused, e.ID)
		}
	}
	return jobs.PausedUntil(ctx, paused...)
}

// Hasten has runs of a namespace begin that wait by a clock that was ahead, see setback.Hasten. That of a run whose due
// time is to come was.
func (c *Catalog) Hasten(ctx context.Context, now time.Time) error {
	kinds, err := GroupKinds(ctx, c.Store, c.Namespace, nil)
	if err != nil {
		return err
	}
	kinds[Kind(c.Namespace)] = 0
	return setback.Hasten(ctx, c.Jobs, now, maps.Keys(kinds), func(run durable.Job) time.Time { return RunOf(run).Due })
}
