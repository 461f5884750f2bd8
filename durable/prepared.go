package durable

import (
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// A Prepared is a job that [Jobs.Add] adds, together with others of any kinds. Kind.Prepare makes it without a call of
// the store. After an error it is safe to add it again: it is added once.
type Prepared struct {
	jobs *Jobs
	job  addition
	err  error // what is wrong with it
}

// Prepare returns the job that AddAfter would add.
func (k *Kind[P, R]) Prepare(delay time.Duration, payload P, opts ...Option) Prepared {
	job, err := k.prepare(NewJob{Schedule: store.Once, Delay: max(delay, 0)}, payload, opts)
	return Prepared{k.jobs, job, err}
}

// ID returns the ID that the job will have, for After of another job. If a job with the key exists already, that job is
// the parent instead.
func (p Prepared) ID() ID { return p.job.ID }

// Given reports whether the ID is that of WithID.
func (p Prepared) Given() bool { return p.job.given != ID{} }

// Key returns the key that the job will have, without the period of UniqueFor; "" for none, or if an option is wrong,
// which Add says.
func (p Prepared) Key() string { return p.job.Key }

// Partition returns the partition that the job will be in, "" for none.
func (p Prepared) Partition() string { return p.job.Partition }

// Parents returns the IDs that the job is added After. They must not be changed.
func (p Prepared) Parents() []ID { return p.job.NewJob.After.Parents }

// Add adds jobs of any kinds in one transaction: all or none. The parents of a job, see After, must be in the store, or
// before it in the list. No two jobs may have the same key. The IDs are in the order of the arguments; see
// Kind.AddAfter for the errors. In SQLite no other transaction writes meanwhile: see Kind.AddAll.
//
// To make a batch, add several jobs, and one job After them with EvenIfFailed. The handler of that job gets from
// CountParents how many have failed; Jobs.CountParents returns how many have ended.
func (j *Jobs) Add(ctx context.Context, jobs ...Prepared) ([]ID, error) {
	mustContext(ctx)
	adds, err := j.additions(jobs)
	if len(adds) == 0 || err != nil {
		return nil, err
	}
	return j.insert(ctx, adds)
}

// AddTx is Add as a part of the caller's transaction; see Kind.AddTx.
func (j *Jobs) AddTx(ctx context.Context, tx Tx, jobs ...Prepared) ([]ID, error) {
	mustContext(ctx)
	s, err := j.transact(tx)
	if err != nil {
		return nil, err
	}
	adds, err := j.additions(jobs)
	if len(adds) == 0 || err != nil {
		return nil, err
	}
	return j.insertTx(ctx, s, tx, adds)
}

// additions returns the jobs that are prepared, or what is wrong with them.
func (j *Jobs) additions(jobs []Prepared) ([]addition, error) {
	place := make(map[ID]int, len(jobs))
	for i, p := range jobs {
		if p.jobs != j {
			return nil, invalid("job %d: it must be made by Prepare of a Kind of these Jobs", i)
		}
		if p.err != nil {
			return nil, p.err
		}
		if _, twice := place[p.job.ID]; twice {
			return nil, invalid("job %d: it is in the list twice", i)
		}
		place[p.job.ID] = i
	}
	adds := make([]addition, len(jobs))
	keys := make(map[string]int)
	for i, p := range jobs {
		adds[i] = p.job
		if other, twice := keys[p.job.Key]; twice && p.job.Key != "" {
			return nil, invalid("job %d: key %q is also that of job %d; keys must be unique", i, p.job.Key, other)
		}
		keys[p.job.Key] = i
		if k := slices.IndexFunc(p.job.NewJob.After.Parents, func(id ID) bool { at, here := place[id]; return here && at >= i }); k >= 0 {
			return nil, invalid("job %d: it waits for job %d, which must come before it", i, place[p.job.NewJob.After.Parents[k]])
		}
	}
	return adds, nil
}
