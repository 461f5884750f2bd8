package durable

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// prepare completes a new job, or returns what is wrong with it.
func (k *Kind[P, R]) prepare(job NewJob, payload P, opts []Option) (addition, error) {
	j := addition{NewJob: job}
	j.ID, j.Kind, j.Attempts = NewID(), k.name, 12
	if err := checkName("kind", k.name, MaxKind); err != nil {
		return j, err
	}
	key := j.Key
	if j.Schedule != store.Once {
		if err := checkName("key", key, MaxKey); err != nil {
			return j, err
		}
	}
	for _, opt := range opts {
		if opt == nil {
			return j, invalid("nil Option")
		}
		if err := opt(&j); err != nil {
			return j, err
		}
	}
	switch {
	case j.Schedule == store.Once:
		if j.Missed != "" {
			return j, invalid("OnMissed does not apply to a job that runs once; the handler can compare the time with Current's Occurrence")
		}
	case j.Key != key:
		return j, invalid("key %q: the job has the key %q already, since it is periodic; leave the option out", j.Key, key)
	case j.Missed == "":
		j.Missed = Coalesce().text
	}
	var err error
	if j.plain, err = marshal("payload", payload); err != nil {
		return j, err
	}
	if err := j.unique(j.plain); err != nil {
		return j, err
	}
	if k.jobs.cfg.Codec == nil {
		if err := j.encode(k.jobs); err != nil {
			return j, err
		}
	}
	if (j.ReuseKey || j.Replace) && j.Key == "" {
		return j, invalid("ReuseKey, or a Replace option: the job has no key; give it one with Key")
	}
	switch {
	case j.Queue == DefaultQueue:
	case k.jobs.parts.Queues == nil:
		return j, k.jobs.lacks("queue "+strconv.Quote(j.Queue), "Queues")
	case j.Partition != "":
		return j, invalid("queue %q: a job in a queue can't have a Partition, which is %q; leave out one of them", j.Queue, j.Partition)
	}
	if err := j.after(k.jobs); err != nil {
		return j, err
	}
	if err := j.spawns.check(&j, k.jobs); err != nil {
		return j, err
	}
	if !j.Due.IsZero() {
		j.Due = timetable.Ceil(j.Due)
	}
	return j, nil
}

func (k *Kind[P, R]) add(ctx context.Context, j NewJob, payload P, opts []Option) (ID, error) {
	mustContext(ctx)
	add, err := k.prepare(j, payload, opts)
	if err != nil {
		return ID{}, err
	}
	ids, err := k.jobs.insert(ctx, []addition{add})
	if ids == nil {
		return ID{}, err
	}
	return ids[0], err
}

// AddAll is AddAfter for many payloads, in one transaction: all are added or none. The jobs share the options, so
// they can't have a Key; with UniquePayload no two payloads may be the same. In SQLite no other transaction writes
// meanwhile: a call should take less than a third of the lease, or the nodes lose their leases.
func (k *Kind[P, R]) AddAll(ctx context.Context, delay time.Duration, payloads []P, opts ...Option) ([]ID, error) {
	mustContext(ctx)
	jobs := make([]addition, 0, len(payloads))
	first := make(map[string]int) // payloads, by their keys
	ids := make(map[ID]bool)
	for i, p := range payloads {
		j, err := k.prepare(NewJob{Schedule: store.Once, Delay: max(delay, 0)}, p, opts)
		if err != nil {
			return nil, err
		}
		if ids[j.ID] {
			return nil, invalid("WithID: the jobs of AddAll can't share an ID; leave the option out")
		}
		ids[j.ID] = true
		switch at, twice := first[j.Key]; {
		case j.Key == "":
		case !j.byPayload:
			return nil, invalid("key %q: the jobs of AddAll can't share a key", j.Key)
		case twice:
			return nil, invalid("payload %d: it is the same as payload %d, and UniquePayload allows one", i, at)
		default:
			first[j.Key] = i
		}
		if j.result != nil {
			return nil, invalid("WithResult: the jobs of AddAll can't share one InsertResult; leave the option out")
		}
		jobs = append(jobs, j)
	}
	if len(jobs) == 0 {
		return nil, nil
	}
	return k.jobs.insert(ctx, jobs)
}

// AddTx is AddAfter as a part of the caller's transaction: the job exists if and only if tx is committed. Its
// delay counts from this call, not from the commit. If the store does not report commits, as SQLite does not, the job
// may begin up to Config.Poll late, also on the node of this program; RunNow, called after the commit, makes that node
// poll at once.
func (k *Kind[P, R]) AddTx(ctx context.Context, tx Tx, delay time.Duration, payload P,
	opts ...Option) (ID, error) {
	mustContext(ctx)
	s, err := k.jobs.transact(tx)
	if err != nil {
		return ID{}, err
	}
	j, err := k.prepare(NewJob{Schedule: store.Once, Delay: max(delay, 0)}, payload, opts)
	if err != nil {
		return ID{}, err
	}
	ids, err := k.jobs.insertTx(ctx, s, tx, []addition{j})
	if ids == nil {
		return ID{}, err
	}
	return ids[0], err
}

// insertTx adds jobs in a transaction.
func (j *Jobs) insertTx(ctx context.Context, s store.TxStore, tx Tx, adds []addition) ([]ID, error) {
	jobs, err := j.newJobs(ctx, adds)
	if err != nil {
		return nil, err
	}
	var ids []ID
	err = j.adding(ctx, jobs, func(ctx context.Context) error {
		placed, err := s.InsertTx(ctx, tx, jobs)
		if err != nil {
			return failed("schedule", err)
		}
		ids, err = acceptAll(adds, placed)
		return err
	})
	return ids, err
}

// accepted returns the ID of the job, or of the one that stands for it, by the store's answer. The error is ErrKeyTaken
// if that can't, and matches ErrDead if that is a schedule that does not go on.
func (j *addition) accepted(p *InsertResult) (ID, error) {
	if p.ID == (ID{}) { // it was not added, since another of the jobs can't be
		return ID{}, nil
	}
	if j.result != nil {
		*j.result = *p
	}
	switch {
	case p.KindTaken:
		return ID{}, fmt.Errorf("%w: %q belongs to a job of kind %q", ErrKeyTaken, p.Key, p.Kind)
	case p.Schedule == j.Schedule:
	case p.Schedule == store.Once:
		return ID{}, fmt.Errorf("%w: %q belongs to a job that runs once", ErrKeyTaken, p.Key)
	case j.Schedule == store.Once:
		return ID{}, fmt.Errorf("%w: %q belongs to a periodic job", ErrKeyTaken, p.Key)
	}
	if p.State == Dead && j.Schedule != store.Once {
		return p.ID, &JobError{ID: p.ID, State: Dead, Text: p.Error, Label: p.Label}
	}
	return p.ID, nil
}

// insert adds jobs. Those that are due soon are placed on this program's node, so that they begin in time without
// another call of the store.
func (j *Jobs) insert(ctx context.Context, adds []addition) ([]ID, error) {
	mustContext(ctx)
	jobs, err := j.newJobs(ctx, adds)
	if err != nil {
		return nil, err
	}
	var ids []ID
	err = j.adding(ctx, jobs, func(ctx context.Context) error {
		placed, err := j.place(ctx, jobs)
		if err != nil {
			return err
		}
		ids, err = acceptAll(adds, placed)
		return err
	})
	return ids, err
}

// encode encodes the payload, unless that is done. A codec is asked for it each time that the job is added, since it
// may fail for a while.
func (j *addition) encode(jobs *Jobs) (err error) {
	if j.plain != nil {
		j.Payload, err = jobs.stored(j.Kind, "payload", j.plain, MaxPayload)
		j.plain = nil
	}
	if err == nil {
		j.wrap()
	}
	return err
}

// newJobs returns the jobs of additions, complete.
func (j *Jobs) newJobs(ctx context.Context, adds []addition) ([]NewJob, error) {
	if err := j.date(ctx, adds); err != nil {
		return nil, err
	}
	jobs := make([]NewJob, len(adds))
	for i := range adds {
		if err := adds[i].encode(j); err != nil {
			return nil, err
		}
		jobs[i] = adds[i].NewJob
	}
	return jobs, nil
}

// acceptAll returns the IDs of jobs, by the store's answer.
func acceptAll(adds []addition, placed []InsertResult) (ids []ID, err error) {
	ids = make([]ID, len(placed))
	for i := range placed {
		if ids[i], err = adds[i].accepted(&placed[i]); err != nil {
			return ids, err
		}
	}
	return ids, nil
}

// place calls the store to add jobs, and takes those that it has placed on this node.
func (j *Jobs) place(ctx context.Context, jobs []NewJob) ([]InsertResult, error) {
	insert := func(p store.Placement) ([]InsertResult, error) { return j.store.Insert(ctx, jobs, p) }
	placed, err := j.node().Insert(jobs, insert)
	if err != nil {
		return nil, failed("schedule", err)
	}
	if err := j.setBack(ctx, placed); err != nil {
		return nil, err
	}
	return placed, nil
}

// setBack has those of the jobs go on from the present that are schedules whose times were found while the store's clock
// was ahead. A node does so with those of its kinds that wait; but there may be no node, and what is paused waits until
// it is resumed.
func (j *Jobs) setBack(ctx context.Context, placed []InsertResult) error {
	var jobs []Job
	var of []int
	for i := range placed {
		if placed[i].Periodic() && placed[i].Updated.After(placed[i].Now) {
			jobs, of = append(jobs, placed[i].Job), append(of, i)
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	c := j.nodeConfig(nil)
	_, err := c.SetBack(ctx, jobs, time.Time{}, 0, placed[0].Now)
	for k, i := range of {
		placed[i].Job = jobs[k]
	}
	return failed("schedule", err)
}

// now returns the time of the store: a node knows it, other programs ask.
func (j *Jobs) now(ctx context.Context) (time.Time, error) {
	mustContext(ctx)
	if now, ok := j.node().Now(); ok {
		return now, nil
	}
	now, err := j.store.Now(ctx)
	if err != nil {
		return now, failed("schedule", err)
	}
	return now, nil
}
