package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable"
	durablestore "github.com/executor-go/executor/durable/store"
)

// Action is what has to be done about a job to bring a store in line with a
// file.
type Action string

const (
	Add     Action = "new"
	Keep    Action = "unchanged" // its times go on
	Change  Action = "changed"   // its times go on, unless its schedule is another
	Restore Action = "put back"  // it was removed from the file, and is there again
	Remove  Action = "removed"
)

// Step is one action.
type Step struct {
	Action
	Name string
	Job  *job.Job // what is to be, nil for Remove
	Was  *Entry   // what is, nil for Add

	// After Apply:
	Now   Entry // what has become of it
	Mine  bool  // to Add or Change it was left to this call: no other daemon had done it meanwhile
	Asked bool  // of Change, a run that was asked for goes on to wait, and is for none of the times of Was
	Err   error // why it is not in the store, if that is for this job alone
}

// Plan returns the steps after which the store, which has the entries given, has the jobs
// given. Jobs that run AtStart are not kept in a store.
func Plan(jobs []job.Job, have []Entry) []Step {
	there := make(map[string]*Entry, len(have))
	for i := range have {
		there[have[i].Name] = &have[i]
	}
	var steps []Step
	wanted := make(map[string]bool, len(jobs))
	for i := range jobs {
		if jobs[i].Schedule.AtStart {
			continue
		}
		wanted[jobs[i].Name] = true
		step := Step{Name: jobs[i].Name, Job: &jobs[i], Was: there[jobs[i].Name]}
		switch {
		case step.Was == nil:
			step.Action = Add
		case step.Was.Spec.Off:
			step.Action = Restore
		case string(step.Was.Payload) == string(NewSpec(jobs[i]).encode()):
			step.Action = Keep
		default:
			step.Action = Change
		}
		steps = append(steps, step)
	}
	for i := range have {
		e := &have[i]
		if !wanted[e.Name] && !e.Removed() && e.State != durable.Succeeded {
			steps = append(steps, Step{Action: Remove, Name: e.Name, Was: e})
		}
	}
	return steps
}

// Catalog is the jobs of a namespace in a store.
type Catalog struct {
	Namespace string
	Machine   job.Machine // that applies files
	Store     durable.Store
	Jobs      *durable.Jobs
	Kind      *durable.Kind[Spec, struct{}]
}

// patience is how long one step may take. There is no limit for all of them, since a
// file may have any number of jobs, and a store be far away.
const patience = 30 * time.Second

// setSize is how many jobs are registered in one transaction. In SQLite no other
// transaction writes meanwhile.
const setSize = 500

// Apply brings the store in line with a file, and calls done after each step. It
// returns an error if the store does: then it may be called again.
func (c *Catalog) Apply(ctx context.Context, jobs []job.Job, done func(Step)) error {
	have, err := c.list(ctx)
	if err != nil {
		return err
	}
	var set, rest []Step
	for _, s := range Plan(Jobs(c.Machine, jobs, have), have) {
		if s.Action == Remove || s.Action == Restore {
			rest = append(rest, s)
		} else {
			set = append(set, s)
		}
	}
	for some := range slices.Chunk(set, setSize) {
		if err := c.takeSet(ctx, some); err != nil {
			return err
		}
		for i := range some {
			if err := c.askAgain(ctx, &some[i]); err != nil {
				return fmt.Errorf("job %s: %w", some[i].Name, err)
			}
			done(some[i])
		}
	}
	for _, s := range rest {
		if err := c.take(ctx, &s); err != nil {
			return fmt.Errorf("job %s: %w", s.Name, err)
		}
		done(s)
	}
	return nil
}

// takeSet takes steps whose jobs are registered, together. What is wrong with one is in its Err: that job goes on as it
// was, and the others are registered without it.
func (c *Catalog) takeSet(ctx context.Context, steps []Step) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for declined := true; declined; {
		var set []durable.Registration
		var of []*Step
		for i := range steps {
			s := &steps[i]
			var r durable.Registration
			if s.Err == nil {
				r, s.Err = c.registration(NewSpec(*s.Job), *s.Job)
			}
			if s.Err == nil {
				set, of = append(set, r), append(of, s)
			}
		}
		results, err := c.Jobs.Register(ctx, set...)
		if err != nil && results == nil {
			return err
		}
		declined = false
		for i, r := range results {
			if r.Err != nil && !errors.Is(r.Err, durable.ErrDead) {
				declined, of[i].Err = true, r.Err
				continue
			}
			of[i].Mine = r.Effect != durable.EffectNone
			of[i].Now, _ = Read(r.Job)
		}
	}
	return nil
}

func (c *Catalog) list(ctx context.Context) ([]Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return List(ctx, c.Store, c.Namespace)
}

// take takes a step that removes a job, or puts it back. What is wrong with its job alone is in Step.Err.
func (c *Catalog) take(ctx context.Context, s *Step) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := c.do(ctx, s)
	if errors.Is(err, executor.ErrInvalid) || errors.Is(err, durable.ErrKeyTaken) {
		s.Err, err = err, nil
		if s.Was != nil { // as it can't be what it is to be, it must not stay what it was
			err = c.remove(ctx, *s.Was)
		}
	}
	return err
}

func (c *Catalog) do(ctx context.Context, s *Step) error {
	var id durable.ID
	var err error
	if s.Action == Remove {
		id, err = s.Was.ID, c.remove(ctx, *s.Was)
	} else {
		id, err = c.putBack(ctx, *s.Job, *s.Was)
	}
	if err != nil {
		return err
	}
	row, err := c.Store.Get(ctx, id)
	if errors.Is(err, durable.ErrNotFound) {
		return nil // pruned a moment ago
	}
	s.Now, _ = Read(row)
	return err
}

// putBack makes a job that is off be that of the file. It waits for its next time,
// unless something else than its removal keeps it from running.
func (c *Catalog) putBack(ctx context.Context, j job.Job, was Entry) (durable.ID, error) {
	held := was.held()
	register := func(off bool) (durable.ID, error) {
		spec := NewSpec(j)
		if spec.Off = off; off {
			spec.Held = held
		}
		return c.register(ctx, spec, j)
	}
	if err := dropAsks(ctx, c.Jobs, c.Store, was); err != nil {
		return was.ID, err
	}
	if held == "" || held == StatePaused {
		return restore(ctx, c.Jobs, held != "", register)
	}
	// Mostly it is canceled, or dead, already. Being off, it has not run meanwhile.
	if _, err := c.Jobs.Cancel(ctx, was.ID); err != nil {
		return was.ID, err
	}
	return register(false)
}

// register adds a job, or changes the one that has its key into it. One that is dead stays so, which its state shows.
func (c *Catalog) register(ctx context.Context, spec Spec, j job.Job) (durable.ID, error) {
	r, err := c.registration(spec, j)
	if err != nil {
		return durable.ID{}, err
	}
	results, err := c.Jobs.Register(ctx, r)
	if err != nil && !errors.Is(err, durable.ErrDead) {
		return durable.ID{}, err
	}
	return results[0].Job.ID, nil
}

func (c *Catalog) registration(spec Spec, j job.Job) (durable.Registration, error) {
	key, missed, priority := Key(c.Namespace, j.Name), durable.OnMissed(missedOf(j)), durable.WithPriority(priorities[j.Priority])
	tags := durable.WithTags(spec.Tags...)
	options := []durable.Option{missed, priority, tags}
	if queue := queueOf(j.On); queue != durable.DefaultQueue {
		options = append(options, durable.Queue(queue))
	}
	if j.Schedule.After {
		return c.Kind.FixedRate(key, dormant, dormant, spec, options...), nil
	}
	if every := j.Schedule.Every(); every > 0 {
		return c.Kind.FixedRate(key, every, every, spec, options...), nil
	}
	times, err := j.Schedule.Calendar(spec.Zone)
	if err != nil {
		return durable.Registration{}, fmt.Errorf("%w: %w", executor.ErrInvalid, err)
	}
	return c.Kind.Triggered(key, times, spec, options...), nil
}

var priorities = map[string]durable.Priority{"low": durable.Low, "": durable.Normal, "normal": durable.Normal, "high": durable.High}

// mostCaughtUp is how many due times are run that a job with misfire all has missed, the latest. It is documented.
const mostCaughtUp = 1000

// missedOf returns what package durable is to do with due times that pass without a run. That those in time of the
// misfire alone count, the daemon sees to.
func missedOf(j job.Job) durable.Missed {
	overlap, _ := job.ParseOverlap(j.Overlap)
	misfire, _ := job.ParseMisfire(j.Misfire)
	switch {
	case misfire.All:
		return durable.CatchUp(mostCaughtUp)
	case overlap.Do == job.SkipOverlap && !j.Schedule.After: // what ends during its run is news for the next one
		return durable.SkipOverlap()
	}
	return durable.Coalesce()
}

// again is register for a job of which nothing changes but its spec.
func again(ctx context.Context, store durable.Store, e Entry) (durable.ID, error) {
	placed, err := store.Insert(ctx, []durable.NewJob{{
		ID: durable.NewID(), Key: e.Key, Kind: e.Kind, Payload: e.Spec.encode(), Priority: e.Priority,
		Schedule: e.Schedule, Missed: e.Missed, Due: e.Due, Attempts: e.Attempts, Timeout: e.Timeout, Tags: e.Tags,
		Queue: e.Queue,
	}}, durablestore.Placement{})
	if err != nil {
		return durable.ID{}, err
	}
	return placed[0].ID, nil
}

// remove cancels a job that is not in the file any more. If a run of it is in progress, which Cancel would end, the
// job is paused when that has ended.
func (c *Catalog) remove(ctx context.Context, e Entry) error {
	e.Spec.Held = e.held()
	e.Spec.Off = true
	if _, err := again(ctx, c.Store, e); err != nil {
		return err
	}
	answer, err := c.Jobs.Pause(ctx, e.ID) // reports whether it runs, and does no harm
	if err == nil && answer == durable.Applied {
		_, err = c.Jobs.Cancel(ctx, e.ID)
	}
	return err
}

// brought is the By of a mark that a job has while it is brought back: no job can be called so.
const brought = "@resume"

// errRemoved is the error of Bring for a job that is no longer in its file.
var errRemoved = errors.New("the job was removed from its file a moment ago; put it back there")

// Bring makes a job that is canceled or dead wait again, for its next time. It changes nothing else of the job, which a
// file may do meanwhile: while it is revived, and due at once, a mark has it run nothing, and not its spec. A process
// that dies meanwhile leaves the mark, which the next such run removes.
func Bring(ctx context.Context, jobs *durable.Jobs, store durable.Store, e Entry) error {
	if err := dropAsks(ctx, jobs, store, e); err != nil {
		return err
	}
	var id durable.ID
	_, err := restore(ctx, jobs, false, func(off bool) (durable.ID, error) {
		if !off {
			_, err := jobs.Delete(ctx, id)
			return e.ID, err
		}
		row, err := store.Get(ctx, e.ID)
		if now, _ := Read(row); err == nil && now.Spec.Off {
			err = errRemoved
		}
		if err == nil {
			id, err = addMark(ctx, jobs, e.Namespace, brought, mark{Job: e.Name, By: brought})
		}
		return e.ID, err
	})
	if err != nil {
		return err
	}
	row, err := store.Get(ctx, e.ID)
	if now, _ := Read(row); err == nil && now.Spec.Off && !now.State.Done() { // it was removed while it was revived
		if _, err = jobs.Cancel(ctx, e.ID); err == nil {
			err = errRemoved
		}
	}
	return err
}

// TakeBrought reports whether a run of a job is none that somebody has asked for: its job was brought back, and is due at
// once for no other reason. The run takes the mark for that, of those for the job.
func TakeBrought(ctx context.Context, jobs *durable.Jobs, row durable.Job, after []string, marks Marks) (bool, error) {
	own := slices.DeleteFunc(slices.Clone(marks), func(f found) bool { return f.By != brought })
	if len(own) == 0 || Scheduled(row, row.Occurrence) || marks.For(row.Occurrence).Complete(after) {
		return false, nil
	}
	return true, own.Remove(ctx, jobs)
}

// errCrossed is the error of restore if others undo what it does.
var errCrossed = errors.New("the job is canceled again and again")

// restore makes a job wait for its next time that is canceled, dead, or off; if
// paused is true, it waits until it is resumed, too. Others may do the same at
// the same time. register has it run nothing if off is true, and run again if
// not. A process that dies meanwhile leaves the job off.
func restore(ctx context.Context, jobs *durable.Jobs, paused bool, register func(off bool) (durable.ID,
	error)) (durable.ID, error) {
	for range 20 {
		id, err := tryRestore(ctx, jobs, paused, register)
		if err != nil {
			return id, err
		}
		// Another daemon may have removed it meanwhile.
		row, err := jobs.Get(ctx, id)
		if err != nil || row.State != durable.Canceled && row.State != durable.Dead &&
			row.Pending != durable.PendingCancel {
			return id, err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return durable.ID{}, errCrossed
}

// tryRestore is restore, unless the job is canceled meanwhile.
//
// A job that is revived is due at once, and some daemon may run it before it can be paused. So it is off meanwhile:
// such a run is Idle.
func tryRestore(ctx context.Context, jobs *durable.Jobs, paused bool, register func(off bool) (durable.ID,
	error)) (durable.ID, error) {
	id, err := register(true)
	if err != nil {
		return id, err
	}
	if _, err := jobs.Revive(ctx, id); err != nil {
		return id, err
	}
	if _, err := jobs.Pause(ctx, id); err != nil {
		return id, err
	}
	row, err := jobs.Get(ctx, id)
	if err != nil {
		return id, err
	}
	if times := Times(row); times != nil {
		if next := times.Next(time.Now()); !next.IsZero() {
			if _, err := jobs.Reschedule(ctx, id, next); err != nil {
				return id, err
			}
		}
	}
	if _, err := register(false); err != nil || paused {
		return id, err
	}
	_, err = jobs.Resume(ctx, id)
	return id, err
}
