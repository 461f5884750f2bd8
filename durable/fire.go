package durable

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/node"
	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// A Firing is an occurrence of a schedule with OnOverlap of which is to be decided what becomes of it.
type Firing struct {
	// Schedule is the schedule, with the kind and the payload of its runs.
	Schedule Job
	// Occurrence is that for which it fires. With AddRun it is the present.
	Occurrence time.Time
	// Now is the time of the store.
	Now time.Time
	// LeftOut are the occurrences before Occurrence that OnMissed leaves out. Only the first attempt has them.
	LeftOut LeftOut
	// Number is that of the run, if there is to be one: one more than that of the latest.
	Number int64
	// Open are the runs that have not ended, in the order of their numbers.
	Open []Job
	// State is Decision.State as the schedule fired last.
	State string
	// Policy is what OnOverlap says.
	Policy Decision
	// Run is that of Occurrence, if a node has added it that was lost before it had noted that; else the zero Job. Then
	// there is nothing left to decide: of a Decision only Cancel, State, Label and Done are used.
	Run Job

	jobs  *Jobs
	times timetable.Timetable
}

// Payload decodes the payload of the schedule.
func (f Firing) Payload(v any) error {
	return f.jobs.decode(f.Schedule.Kind, "payload of schedule "+f.Schedule.Key, f.Schedule.Payload, v)
}

// Occurrences returns the occurrences that the firing is about: those of LeftOut, and Occurrence, which is the last.
func (f Firing) Occurrences() iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		if f.LeftOut.Count == 0 {
			yield(f.Occurrence)
			return
		}
		for t := f.LeftOut.First; t.Before(f.Occurrence) && yield(t); {
			next := f.times.Next(f.Schedule.Anchor, t, t)
			if !next.After(t) || !next.Before(f.Occurrence) {
				yield(f.Occurrence)
				return
			}
			t = next
		}
	}
}

// A Decision is what becomes of an occurrence of a schedule with OnOverlap. The zero Decision is a run that begins at
// once.
type Decision struct {
	// LeftOut is why there is no run. If it is not empty, the fields up to Cancel are not used.
	LeftOut string
	// Later has the schedule fire again for the same occurrence so much later, unless it is 0. Meanwhile later
	// occurrences wait. The fields up to Cancel are not used, and nothing is in the history.
	Later time.Duration

	// ID is that of the run, so that it is added once however often that is tried; the zero ID for another one.
	ID ID
	// Delay is how much later than the occurrence the run is due. Its Anchor is the time at which it is due. With a
	// negative one, it is due at once even if the clock of the store is set back by that.
	Delay time.Duration
	// Kind is that of the run, which needs a handler; "" is that of the schedule. The payload is encoded for it.
	Kind string
	// Payload is that of the run; nil is that of the schedule.
	Payload any
	// After are jobs, such as earlier runs, of which Need must have ended in any way before the run begins; a Need of 0
	// is all.
	After []ID
	Need  int
	// Cancel are earlier runs that are canceled when the run has been added.
	Cancel []ID

	// State is for the next Firing; see SetState, too. AddRun does not keep it.
	State string
	// Label is added to that of the schedule's history.
	Label string
	// Done, unless nil, is called with the run that has been added, or with the zero Job if there is none. In rare cases
	// it is called twice for one run, as after a node was lost.
	Done func(run Job)
}

// OnFire has decide say what becomes of each occurrence of the schedules with OnOverlap whose runs are of the kind; by
// default that is Firing.Policy. decide may be called again for an occurrence: if its error is not nil, after a while;
// and if somebody else adds a run at the same time, with that among Firing.Open.
func OnFire(decide func(ctx context.Context, f Firing) (Decision, error)) HandlerOption {
	return func(k *kind) error {
		if decide == nil {
			return invalid("OnFire of kind %q: it must not be nil", k.Name)
		}
		k.decide = decide
		return nil
	}
}

// decider is what decides for a schedule.
type decider func(ctx context.Context, f Firing) (Decision, error)

// AddRun adds a run to the schedule with OnOverlap that has the key, besides those for its occurrences; in all else it is
// one of these. decide is as for OnFire; nil is Firing.Policy. The result is false, with the zero Job, if decide has left
// it out or put it off. It does not matter whether the schedule is paused, or has ended. If there is no such schedule the
// error matches ErrNotFound.
func (j *Jobs) AddRun(ctx context.Context, key string,
	decide func(ctx context.Context, f Firing) (Decision, error)) (run Job, added bool, err error) {
	mustContext(ctx)
	s, err := j.Find(ctx, key)
	if err != nil {
		return Job{}, false, err
	}
	now, err := j.now(ctx)
	if err != nil {
		return Job{}, false, err
	}
	f, err := j.newFiring(s)
	if err != nil {
		return Job{}, false, err
	}
	f.Occurrence, f.Now = timetable.Ceil(now), now
	d, err := f.decide(ctx, decide)
	if err != nil || f.run.ID == (ID{}) {
		return Job{}, false, err
	}
	if d.Done != nil {
		d.Done(f.run)
	}
	result, err := f.progress(ctx, f.was.State)
	if err != nil {
		return f.run, true, err
	}
	// If the schedule fires meanwhile, that notes it, or finds the run.
	_, err = j.change(ctx, s.ID, Change{Op: store.OpNote, Note: store.Note{Epoch: s.Epoch, Updated: s.Updated, Result: result}})
	return f.run, true, err
}

// SetState gives the schedule with OnOverlap that has the key another State, which its next Firing has. change returns it,
// or false if it is to stay as it is; change is called again if the schedule changes meanwhile. While the schedule fires,
// SetState waits. If there is no such schedule the error matches ErrNotFound.
func (j *Jobs) SetState(ctx context.Context, key string, change func(s Schedule) (state string, ok bool)) error {
	mustContext(ctx)
	for {
		job, err := j.Find(ctx, key)
		if err != nil {
			return err
		}
		if !job.State.Granted() {
			f, err := j.newFiring(job)
			if err != nil {
				return err
			}
			s, _ := ScheduleOf(job)
			state, ok := change(s)
			if !ok {
				return nil
			}
			f.was.State = state
			result, _ := json.Marshal(f.was) // never fails
			note := store.Note{Epoch: job.Epoch, Updated: job.Updated, Result: result}
			if answer, err := j.change(ctx, job.ID, Change{Op: store.OpNote, Note: note}); err != nil || answer == Applied {
				return err
			}
		}
		select {
		case <-time.After(statePause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// statePause is how long SetState waits for a schedule that fires, until it looks again.
const statePause = 20 * time.Millisecond

// firingKind is the kind of the schedules with OnOverlap whose runs are of a kind.
func (j *Jobs) firingKind(of string, decide decider) *node.Kind {
	return &node.Kind{Name: ScheduleKind(of), Internal: true, Backoff: executor.Backoff(100*time.Millisecond, 10*time.Second),
		Handle: func(ctx context.Context, _ []byte) ([]byte, error) { return j.fire(ctx, decide) }}
}

// firing is a Firing while it is decided, with all that is known of the runs.
type firing struct {
	Firing
	spawns
	policy overlap
	// catchesUp is set if OnMissed is CatchUp.
	catchesUp bool
	was       progress
	own       ID            // of the run of the occurrence; zero with AddRun
	runs      map[int64]Job // those that were open, and those since the latest that was noted
	number    int64         // of the latest
	run       Job           // that was added
}

// newFiring returns the firing of a schedule.
func (j *Jobs) newFiring(s Job) (*firing, error) {
	f := &firing{}
	var ok bool
	if f.Schedule, f.spawns, ok = unwrap(s); !ok {
		return nil, fmt.Errorf("%w: %q is no schedule with OnOverlap", ErrNotFound, s.Key)
	}
	if len(s.Result) > 0 {
		if err := json.Unmarshal(s.Result, &f.was); err != nil {
			return nil, fmt.Errorf("durable: result of schedule %q: %w", s.Key, err)
		}
	}
	var err error
	if f.policy, err = parseOverlap(f.Overlap); err != nil {
		return nil, err
	}
	f.jobs, f.State = j, f.was.State
	missed, err := timetable.ParsePolicy(s.Missed)
	if err != nil {
		return nil, err
	}
	f.catchesUp = missed.CatchesUp()
	f.times, err = timetable.Parse(s.Schedule, j.cfg.Triggers)
	return f, err
}

// fire adds the run of a schedule's occurrence, unless it is left out.
func (j *Jobs) fire(ctx context.Context, decide decider) ([]byte, error) {
	s, _ := Current(ctx)
	f, err := j.newFiring(s)
	if err != nil {
		return nil, err
	}
	if f.Now, err = j.now(ctx); err != nil {
		return nil, err
	}
	f.Occurrence, f.LeftOut = s.Occurrence, LeftOutBefore(ctx)
	f.own = ownID(s, f.was)
	d, err := f.decide(ctx, decide)
	if err != nil {
		return nil, err
	}
	if d.Later > 0 {
		return nil, node.Unnoted(d.Later)
	}
	label := "left out, " + d.LeftOut
	if f.run.ID != (ID{}) {
		_, n := RunNumber(f.run.Key)
		if label = fmt.Sprintf("run %d", n); len(d.Cancel) > 0 {
			label += ", which replaces " + counted(len(d.Cancel))
		}
	}
	if d.Label != "" {
		label += ", " + d.Label
	}
	SetLabel(ctx, label)
	if d.Done != nil {
		d.Done(f.run)
	}
	return f.progress(ctx, d.State)
}

// progress deletes the runs that are too many, and returns what is to be noted.
func (f *firing) progress(ctx context.Context, state string) ([]byte, error) {
	pruned, err := f.prune(ctx)
	if err != nil {
		return nil, err
	}
	p := progress{Number: f.number, Pruned: pruned, State: state}
	for _, run := range f.open(f.number + 1) {
		_, n := RunNumber(run.Key)
		p.Open = append(p.Open, n)
	}
	return json.Marshal(p)
}

// ownID returns the ID of the run for an occurrence. It is the same whichever node fires, until one has noted that. Then
// it is another, as the times come again after a clock that was ahead.
func ownID(s Job, p progress) ID {
	return store.IDOf(s.Occurrence, fmt.Appendf(s.ID[:], "%d %d", p.Number, s.Occurrence.UnixMicro()))
}

// decide decides, and adds the run.
func (f *firing) decide(ctx context.Context, decide decider) (d Decision, err error) {
	for {
		if f.runs == nil {
			if err := f.look(ctx); err != nil {
				return d, err
			}
		}
		var there bool
		f.Number = f.number + 1
		if f.Run, there = f.ownRun(); there {
			_, f.Number = RunNumber(f.Run.Key)
		}
		f.Open = f.open(f.Number)
		f.Policy = f.policy.decide(f.Open, f.catchesUp)
		f.Policy.State = f.State
		d = f.Policy
		if decide != nil {
			if d, err = decide(ctx, f.Firing); err != nil {
				return d, err
			}
		}
		switch {
		case there:
			d.LeftOut, d.Later, f.run = "", 0, f.Run
		case d.LeftOut != "" || d.Later > 0:
			return d, nil
		default:
			if f.run, err = f.add(ctx, d); err != nil {
				return d, err
			}
		}
		if f.run.ID == (ID{}) {
			continue // somebody else has added one
		}
		for _, id := range d.Cancel {
			if _, err := f.jobs.Cancel(ctx, id); err != nil {
				return d, err
			}
		}
		return d, nil
	}
}

// ownRun returns the run of the occurrence, if a node has added it that was lost, or gave the schedule back, before it
// had noted it.
func (f *firing) ownRun() (Job, bool) {
	if f.own != (ID{}) {
		for n, run := range f.runs {
			if n > f.was.Number && run.ID == f.own {
				return run, true
			}
		}
	}
	return Job{}, false
}

// add adds the next run. If somebody else has added one, the result is zero, and f has that one.
func (f *firing) add(ctx context.Context, d Decision) (Job, error) {
	s := f.Schedule
	n := NewJob{
		ID: d.ID, Key: RunKey(s.Key, f.Number), Kind: cmp.Or(d.Kind, s.Kind), Payload: s.Payload,
		Schedule: store.Once, Due: timetable.Ceil(f.Occurrence.Add(d.Delay)), Attempts: s.Attempts, Timeout: s.Timeout,
		Priority: s.Priority, Partition: s.Partition, Queue: s.Queue, Meta: s.Meta, Tags: s.Tags,
	}
	switch {
	case n.ID != (ID{}):
	case f.own != (ID{}):
		n.ID = f.own
	default:
		n.ID = NewID()
	}
	if d.Payload != nil {
		var err error
		if n.Payload, err = f.jobs.encode(n.Kind, "payload of a run of schedule "+s.Key, d.Payload, MaxPayload); err != nil {
			return Job{}, err
		}
	}
	if len(d.After) > 0 {
		n.After = store.After{Parents: d.After, Need: cmp.Or(d.Need, len(d.After)), Anyway: true}
	}
	news := []NewJob{n}
	var placed []InsertResult
	err := f.jobs.adding(ctx, news, func(ctx context.Context) (err error) {
		placed, err = f.jobs.place(ctx, news)
		return err
	})
	if errors.Is(err, ErrNotFound) && len(d.After) > 0 { // a run was deleted meanwhile
		f.runs = nil
		return Job{}, nil
	}
	if err != nil {
		return Job{}, err
	}
	run := placed[0].Job
	_, number := RunNumber(run.Key)
	f.runs[number] = run
	f.number = max(f.number, number)
	if run.ID != n.ID {
		return Job{}, nil
	}
	return run, nil
}

// open returns the runs before a number that have not ended.
func (f *firing) open(before int64) (open []Job) {
	for n, run := range f.runs {
		if n < before && !run.State.Done() && !run.Periodic() {
			open = append(open, run)
		}
	}
	slices.SortFunc(open, func(a, b Job) int {
		_, n := RunNumber(a.Key)
		_, m := RunNumber(b.Key)
		return cmp.Compare(n, m)
	})
	return open
}

// look finds the runs that were open, the latest, and those since. These are all there: none is deleted for KeepRuns
// before it is noted.
func (f *firing) look(ctx context.Context) error {
	f.runs, f.number = make(map[int64]Job), f.was.Number
	looked := f.was.Open
	for size := 1; ; size = min(4*size, 1000) { // there is mostly none since
		end := f.number + int64(size)
		if err := f.find(ctx, append(numbers(f.number+1, size), looked...)); err != nil || f.number < end {
			return err
		}
		looked = nil
	}
}

// numbers returns n successive numbers.
func numbers(first int64, n int) (all []int64) {
	for i := range n {
		all = append(all, first+int64(i))
	}
	return all
}

// find finds the runs with these numbers, of those that are there.
func (f *firing) find(ctx context.Context, all []int64) error {
	keys := make([]string, len(all))
	for i, n := range all {
		keys[i] = RunKey(f.Schedule.Key, n)
	}
	runs, err := f.jobs.List(ctx, Filter{Keys: keys, Limit: len(keys)})
	for _, run := range runs {
		_, n := RunNumber(run.Key)
		f.runs[n], f.number = run, max(f.number, n)
	}
	return err
}

// mostPruned is how many numbers one firing looks at.
const mostPruned = 1000

// prune deletes the runs that are too many, and returns up to which number it has. None is deleted before it is noted, see
// look; and what is deleted without that this is noted, since somebody else has added a run, is looked at again.
func (f *firing) prune(ctx context.Context) (pruned int64, err error) {
	pruned = f.was.Pruned
	last, batch := min(f.number-int64(f.Keep), f.was.Number), int64(f.Keep/8+1)
	if f.Keep == 0 {
		return pruned, nil
	}
	var old []ID
	for n, run := range f.runs {
		if n <= pruned && run.State.Done() { // it was open for long
			old = append(old, run.ID)
		}
	}
	if last-pruned >= batch {
		var keys []string
		for _, n := range numbers(pruned+1, int(min(last-pruned, mostPruned))) {
			keys, pruned = append(keys, RunKey(f.Schedule.Key, n)), n
		}
		runs, err := f.jobs.List(ctx, Filter{Keys: keys, Limit: len(keys)})
		if err != nil {
			return 0, err
		}
		for _, run := range runs {
			if run.State.Done() {
				old = append(old, run.ID)
			}
		}
	}
	if len(old) > 0 {
		_, err = f.jobs.changeEach(ctx, old, Change{Op: OpDelete})
	}
	return pruned, err
}
