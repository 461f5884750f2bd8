// Package filled fills stores at random, for tests of what is done with all that a store keeps.
package filled

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// A filler fills a store.
type filler struct {
	store.Full
	*rand.Rand
	ctx  context.Context
	node string
	ids  []store.ID
}

// Fill does what programs and people do, n times, so that the store has something of everything, and returns the first
// error. Some jobs are held by a node at the end, which is alive.
func Fill(ctx context.Context, s store.Full, r *rand.Rand, n int) error {
	f := &filler{Full: s, Rand: r, ctx: ctx, node: fmt.Sprint("node-", r.Uint32())}
	if _, err := s.Join(ctx, f.node, time.Hour); err != nil {
		return err
	}
	acts := []func() error{f.add, f.add, f.add, f.work, f.work, f.change, f.other}
	for range n {
		if err := acts[f.IntN(len(acts))](); err != nil {
			return err
		}
	}
	for _, act := range []func() error{f.lose, f.add, f.work, f.schedule, f.hold} {
		if err := act(); err != nil {
			return err
		}
	}
	return nil
}

const kinds = 3

func (f *filler) kind() string { return fmt.Sprint(`k"é\`, f.IntN(kinds)) }

// some returns a job that was added, or the zero ID.
func (f *filler) some() (id store.ID) {
	if len(f.ids) > 0 {
		id = f.ids[f.IntN(len(f.ids))]
	}
	return id
}

// data returns bytes that are no text.
func (f *filler) data() []byte {
	data := make([]byte, f.IntN(40))
	for i := range data {
		data[i] = byte(f.Uint32())
	}
	return data
}

// add adds jobs of all sorts, some with parents.
func (f *filler) add() error {
	var jobs []store.NewJob
	for i := range 1 + f.IntN(3) {
		j := store.NewJob{ID: store.NewID(), Kind: f.kind(), Payload: f.data(), Schedule: store.Once, Attempts: 1 + f.IntN(3),
			Priority: store.Priority(f.IntN(3) - 1), Delay: time.Duration(f.IntN(4)-2) * time.Hour, Timeout: time.Duration(f.IntN(2)) * time.Minute}
		if f.IntN(3) == 0 {
			j.Key = fmt.Sprint("key/ü", j.ID)
		}
		if f.IntN(3) == 0 {
			j.Tags = slices.Compact(slices.Sorted(slices.Values([]string{fmt.Sprint("t=", f.IntN(3)), "täg <&>"})))
		}
		if f.IntN(3) == 0 {
			j.Meta = map[string]string{"trace": strings.Repeat("é", f.IntN(20))}
		}
		if f.IntN(2) == 0 {
			j.Partition = fmt.Sprint("part", f.IntN(3))
		} else if f.IntN(3) == 0 {
			j.Queue = fmt.Sprint("queue", f.IntN(2))
		}
		switch f.IntN(4) {
		case 0:
			j.Key, j.Schedule, j.Missed = fmt.Sprint("every/", j.ID), "rate 1m0s", "coalesce"
		case 1:
			j.Key = cmp.Or(j.Key, "after/"+j.ID.String())
			var parents []store.ID
			for range 1 + f.IntN(3) {
				if id := f.some(); id != (store.ID{}) && !slices.Contains(parents, id) {
					parents = append(parents, id)
				}
			}
			if i > 0 {
				parents = append(parents, jobs[i-1].ID)
			}
			j.After.Parents = parents
			if len(parents) > 0 {
				j.After.Need, j.After.Anyway = 1+f.IntN(len(parents)), f.IntN(2) == 0
			}
		}
		jobs = append(jobs, j)
	}
	for i := range jobs { // what has been deleted is no parent
		jobs[i].After.Parents = slices.DeleteFunc(jobs[i].After.Parents, func(id store.ID) bool {
			_, err := f.Get(f.ctx, id)
			return err != nil && !slices.ContainsFunc(jobs[:i], func(j store.NewJob) bool { return j.ID == id })
		})
		jobs[i].After.Need = min(jobs[i].After.Need, len(jobs[i].After.Parents))
	}
	if _, err := f.Insert(f.ctx, jobs, store.Placement{}); err != nil {
		return err
	}
	for _, j := range jobs {
		f.ids = append(f.ids, j.ID)
	}
	return nil
}

// claim claims some jobs.
func (f *filler) claim() ([]store.Job, error) {
	r := store.ClaimRequest{Node: f.node, Ahead: 2 * time.Hour, Lead: 90 * time.Minute, Limit: 1 + f.IntN(4)}
	for i := range kinds {
		r.Kinds = append(r.Kinds, store.KindLimit{Kind: fmt.Sprint(`k"é\`, i), Max: 2})
	}
	claim := f.Claim
	if f.IntN(2) == 0 {
		claim = f.ClaimLimited
		r.Kinds[0].Rate = store.Rate{Every: time.Second, Burst: 10}
		r.Kinds[1].PerPartition = 2
	}
	c, err := claim(f.ctx, r)
	return c.Jobs, err
}

// begin has the runs of some jobs begin, some of which keep steps, and wait for signals.
func (f *filler) begin(jobs []store.Job) (granted []store.Job, err error) {
	now, err := f.Now(f.ctx)
	if err != nil {
		return nil, err
	}
	b := store.CommitRequest{Node: f.node}
	for _, j := range jobs {
		if !j.State.Granted() {
			continue
		}
		granted = append(granted, j)
		of := store.Ref{ID: j.ID, Epoch: j.Epoch}
		if f.IntN(3) > 0 {
			b.Begun = append(b.Begun, store.Begin{Ref: of, Started: now})
		}
		for i := range f.IntN(3) {
			k := store.KeptStep{Name: fmt.Sprint("stép", i), Signal: f.IntN(2) == 0, Occasion: j.Occasion()}
			if !k.Signal || f.IntN(2) == 0 {
				k.Result = append([]byte{}, f.data()...)
			}
			if _, _, err := f.KeepStep(f.ctx, of, k); err != nil {
				return nil, err
			}
		}
	}
	_, err = f.Commit(f.ctx, b)
	return granted, err
}

// work claims jobs, and ends their runs in some way.
func (f *filler) work() error {
	jobs, err := f.claim()
	if err == nil {
		jobs, err = f.begin(jobs)
	}
	if err != nil {
		return err
	}
	now, err := f.Now(f.ctx)
	if err != nil {
		return err
	}
	b := store.CommitRequest{Node: f.node, History: 5}
	for _, j := range jobs {
		o := store.Outcome{Ref: store.Ref{ID: j.ID, Epoch: j.Epoch}, Due: j.Due, Occurrence: j.Occurrence,
			Run: store.Run{Occurrence: j.Occurrence, Attempt: j.Attempt + 1, Started: now, Finished: now.Add(time.Second), Label: "lábel"}}
		switch f.IntN(4) {
		case 0:
			o.State, o.Due, o.Occurrence = store.Waiting, j.Due.Add(time.Hour), j.Occurrence.Add(time.Hour)
		case 1:
			o.State, o.Error, o.Run.Error, o.Run.Verdict = store.Dead, "it föiled", "it failed", store.RunFailed
		default:
			o.State, o.Result = store.Succeeded, append([]byte{0}, f.data()...)
		}
		if f.IntN(2) == 0 {
			o.Output = append([]byte("x"), f.data()...)
		}
		b.Outcomes = append(b.Outcomes, o)
	}
	_, err = f.Commit(f.ctx, b)
	return err
}

// hold leaves jobs with the node.
func (f *filler) hold() error {
	jobs, err := f.claim()
	if err == nil {
		_, err = f.begin(jobs)
	}
	return err
}

// lose has a node die with what it runs.
func (f *filler) lose() error {
	alive := f.node
	defer func() { f.node = alive }()
	f.node = fmt.Sprint("lost-", f.Uint32())
	_, err := f.Join(f.ctx, f.node, time.Hour)
	if err == nil {
		err = f.hold()
	}
	if err == nil {
		_, err = f.Heartbeat(f.ctx, f.node, -time.Second, store.Watch{})
	}
	if err == nil {
		_, err = f.Heartbeat(f.ctx, alive, time.Hour, store.Watch{})
	}
	return err
}

// schedule has a periodic job run, and move meanwhile.
func (f *filler) schedule() error {
	now, err := f.Now(f.ctx)
	if err != nil {
		return err
	}
	j := store.NewJob{ID: store.NewID(), Key: "moved/" + store.NewID().String(), Kind: "moved", Schedule: "rate 1m0s", Missed: "coalesce", Attempts: 3}
	_, err = f.Insert(f.ctx, []store.NewJob{j}, store.Placement{Node: f.node, Ahead: time.Hour, Lead: time.Hour, Limit: 1})
	if err == nil {
		_, err = f.Change(f.ctx, j.ID, store.Change{Op: store.OpReschedule, Due: now.Add(time.Hour)})
	}
	return err
}

// change does to a job what a person may.
func (f *filler) change() error {
	ops := []store.Op{store.OpCancel, store.OpPause, store.OpPause, store.OpResume, store.OpReschedule, store.OpRunNow, store.OpRevive, store.OpDelete}
	now, err := f.Now(f.ctx)
	if err == nil {
		_, err = f.Change(f.ctx, f.some(), store.Change{Op: ops[f.IntN(len(ops))], Due: now.Add(time.Hour)})
	}
	return err
}

// other does what is not about one job.
func (f *filler) other() error {
	switch f.IntN(4) {
	case 0:
		return f.PauseKind(f.ctx, f.kind(), f.IntN(3) > 0)
	case 1:
		return f.NoteAct(f.ctx, store.Act{Who: "ops' é", Action: "cancel", Job: f.some(), Key: "k", Reason: "it <was> late", Answer: "applied"})
	case 2:
		_, err := f.Signal(f.ctx, f.some(), fmt.Sprint("stép", f.IntN(3)), []byte{})
		return err
	}
	return f.hold()
}
