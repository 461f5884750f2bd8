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
	Now  *Entry // what has become of it; nil if Err is not
	Mine bool   // to Add or Change it was left to this call: no other daemon had done it meanwhile
	Err  error  // why it is not in the store, if that is for this job alone
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
	Keep      int // runs of each job
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
	if err := c.dropOld(ctx); err != nil {
		return err
	}
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
			done(some[i])
			some[i].Now = nil // all of them would be much
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
		var set []durable.PreparedSchedule
		var of []*Step
		for i := range steps {
			s := &steps[i]
			var r durable.PreparedSchedule
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
			now, _ := Read(r.Job)
			of[i].Now = &now
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
		err = nil // pruned a moment ago
	}
	now, _ := Read(row)
	s.Now = &now
	return err
}

// putBack makes a job that is off be that of the file. It waits for its next time, unless something else than its removal
// keeps it from running. A daemon that is killed meanwhile leaves it off, though it may be due: then it runs nothing.
func (c *Catalog) putBack(ctx context.Context, j job.Job, was Entry) (durable.ID, error) {
	was, err := settled(ctx, c.Store, was.ID)
	if err != nil {
		return was.ID, err
	}
	switch held := was.held(); {
	case held == StateCanceled || held == StateDead:
	default:
		if err := was.revive(ctx, c.Jobs, c.Store); err != nil {
			return was.ID, err
		}
		if held == StatePaused {
			if _, err := c.Jobs.Pause(ctx, was.ID); err != nil {
				return was.ID, err
			}
		}
	}
	return c.register(ctx, NewSpec(j), j)
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

func (c *Catalog) registration(spec Spec, j job.Job) (durable.PreparedSchedule, error) {
	kind := durable.KindOf[Spec, struct{}](c.Jobs, Kind(c.Namespace))
	key := Key(c.Namespace, j.Name)
	options := []durable.Option{
		durable.OnOverlap(durable.OverlapSkip()), // the daemon decides
		durable.KeepRuns(max(c.Keep, 1)), durable.OnMissed(missedOf(j)), durable.WithPriority(priorities[j.Priority]), durable.WithTags(spec.Tags...),
	}
	if queue := queueOf(j.On); queue != durable.DefaultQueue {
		options = append(options, durable.Queue(queue))
	}
	if j.Schedule.After {
		return kind.PrepareAtFixedRate(key, dormant, dormant, spec, options...), nil
	}
	if every := j.Schedule.Every(); every > 0 {
		return kind.PrepareAtFixedRate(key, every, every, spec, options...), nil
	}
	times, err := j.Schedule.Calendar(spec.Zone)
	if err != nil {
		return durable.PreparedSchedule{}, fmt.Errorf("%w: %w", executor.ErrInvalid, err)
	}
	return kind.PrepareOn(key, times, spec, options...), nil
}

var priorities = map[string]durable.Priority{"low": durable.Low, "": durable.Normal, "normal": durable.Normal, "high": durable.High}

// mostCaughtUp is how many due times are run that a job with misfire all has missed, the latest. It is documented.
const mostCaughtUp = 1000

// missedOf returns what package durable is to do with due times that pass without a run. That those in time of the
// misfire alone count, the daemon sees to.
func missedOf(j job.Job) durable.Missed {
	if misfire, _ := job.ParseMisfire(j.Misfire); misfire.All {
		return durable.CatchUp(mostCaughtUp)
	}
	return durable.Coalesce()
}

// remove cancels a job that is not in the file any more, and its runs, except those in progress.
func (c *Catalog) remove(ctx context.Context, e Entry) error {
	loc, err := job.LoadZone(e.Spec.Zone)
	if err != nil {
		loc = time.UTC
	}
	j := e.Spec.Job
	j.Schedule, _, _ = job.ParseSchedule(e.Spec.Schedule, loc) // register says if it is none
	e.Spec.Held = e.held()
	e.Spec.Off = true
	_, err = c.register(ctx, e.Spec, j)
	if errors.Is(err, executor.ErrInvalid) { // a newer version has written what is none here
		j.Schedule = job.Schedule{After: true}
		_, err = c.register(ctx, e.Spec, j)
	}
	if err != nil {
		return err
	}
	if _, err := c.Jobs.Cancel(ctx, e.ID); err != nil {
		return err
	}
	if e, err = settled(ctx, c.Store, e.ID); err != nil {
		return err
	}
	for _, run := range e.Open {
		if !run.State.Granted() {
			if _, err := c.Jobs.Cancel(ctx, run.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// oldRoot began the kinds of a version that had one row for all runs of a job.
const oldRoot = "executord/"

// dropOld ends the jobs of that version, which no daemon of this one runs. A run in progress ends by itself.
func (c *Catalog) dropOld(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	filter := durable.Filter{Kind: oldRoot + c.Namespace, Prefix: oldRoot + c.Namespace + "/", Limit: pageSize}
	for {
		old, err := c.Store.List(ctx, filter)
		for _, row := range old {
			if err == nil && !row.State.Done() {
				_, err = c.Jobs.Pause(ctx, row.ID)
			}
			filter.After = row.ID
		}
		if err != nil || len(old) < pageSize {
			return err
		}
	}
}
