// Package shards spreads jobs over several stores, for more of them than one database takes: one program has a
// durable.Jobs for each store, with the same handlers and one pool. A store that does not answer stops its own jobs only.
//
// A job belongs to one of 4,096 virtual shards, which the end of its ID says, and each of these to a store. What is
// alike goes to one store: jobs with the same key, the same Partition or the same [Kind.By]; all jobs of a kind that is
// pinned; and a job with its parents. The others are spread evenly, over the stores that answer. So a Key is unique, a
// Partition has its PartitionLimit, and a pinned kind its GlobalLimit, as in one store.
//
// Which virtual shards it has, each store knows by itself, in a job of the kind TableKind, which must not be changed.
// The first program that has all stores shares them out. When there are more stores than that, Move and Spread give
// virtual shards to them, with their jobs, while nodes run.
package shards

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/argument"
	"github.com/executor-go/executor/durable/store"
)

// Number is how many virtual shards there are.
const Number = 4096

// ErrMoving is what the errors of calls match that have waited in vain for the end of a move: repeat the move, if it was
// broken off.
var ErrMoving = errors.New("a virtual shard is being moved to another store")

// Config configures Shards. It must be the same in all programs, except for Jobs.
type Config struct {
	// Stores are the stores by their names, which have 1 to 64 bytes and are stored: a database that moves to another
	// machine keeps its name. A store that is new must be in Stores of all programs before virtual shards are moved to
	// it; one may be left out when it has no jobs any more.
	Stores map[string]store.Store

	// Jobs is the configuration of the Jobs of each store, which have the Executor together. Store must be nil.
	Jobs durable.Config

	// Pinned are the kinds whose jobs are all in one store: those with a GlobalLimit or a GlobalRate.
	Pinned []string
}

// Shards are the jobs in several stores. All methods may be called by any goroutine.
type Shards struct {
	all    []*shard // ordered by name
	pinned map[string]bool
	pool   *executor.ScheduledPool // that Run closes, nil if it is the user's
}

// New returns Shards, or an error that matches executor.ErrInvalid and says what is wrong with c. It starts no goroutine
// and does not call the stores.
func New(c Config) (*Shards, error) {
	if len(c.Stores) == 0 {
		return nil, invalid("Config.Stores: there must be one at least")
	}
	if c.Jobs.Store != nil {
		return nil, invalid("Config.Jobs.Store: it must be nil; the stores are those of Config.Stores")
	}
	s := &Shards{pinned: make(map[string]bool)}
	for _, kind := range c.Pinned {
		s.pinned[kind] = true
	}
	if c.Jobs.Executor == nil {
		s.pool = executor.Scheduled(10)
		c.Jobs.Executor = s.pool
	}
	for _, name := range slices.Sorted(maps.Keys(c.Stores)) {
		if err := argument.Name("durable/shards: the name of a store", name, 64); err != nil {
			return nil, err
		}
		p := &shard{name: name, store: c.Stores[name], turn: make(chan struct{}, 1)}
		of := c.Jobs
		of.Store = p.store
		var err error
		if p.jobs, err = durable.New(of); err != nil {
			return nil, fmt.Errorf("store %q: %w", name, err)
		}
		for _, other := range s.all {
			if other.store == p.store {
				return nil, invalid("Config.Stores: %q and %q are the same store", other.name, name)
			}
		}
		p.packer = store.PartsOf(p.store).Packer
		s.all = append(s.all, p)
	}
	return s, nil
}

// Run makes this program a node of each store, until ctx ends; see [durable.Jobs.Run].
func (s *Shards) Run(ctx context.Context) error {
	var all sync.WaitGroup
	errs := make([]error, len(s.all))
	for i, p := range s.all {
		all.Go(func() { errs[i] = p.jobs.Run(ctx) })
	}
	all.Wait()
	if s.pool != nil {
		s.pool.Close()
	}
	return errors.Join(errs...)
}

// All yields the names of the stores, in order, and their Jobs, for what concerns one store or each: its nodes and
// paused kinds, its health, its audit log. Jobs are added by a Kind of this package.
func (s *Shards) All() iter.Seq2[string, *durable.Jobs] {
	return func(yield func(string, *durable.Jobs) bool) {
		for _, p := range s.all {
			if !yield(p.name, p.jobs) {
				return
			}
		}
	}
}

// Of returns the Jobs of the store that has a job, for any action on it, and the job as it is. The error matches ErrNotFound
// if no store has it, and is that of a store if one that does not answer may have it. A job that is moved between Of and
// the call that follows is not found by that: call Of again.
func (s *Shards) Of(ctx context.Context, id durable.ID) (*durable.Jobs, durable.Job, error) {
	p, job, err := s.locate(ctx, id)
	if err != nil {
		return nil, durable.Job{}, err
	}
	return p.jobs, job, nil
}

// Get returns the job with that ID. See Of for the errors.
func (s *Shards) Get(ctx context.Context, id durable.ID) (durable.Job, error) {
	_, job, err := s.locate(ctx, id)
	return job, err
}

// Find returns the job with that key, of those with a Partition or By any one of them, and the Jobs of its store. See Of
// for the errors.
func (s *Shards) Find(ctx context.Context, key string) (*durable.Jobs, durable.Job, error) {
	p, job, err := s.seek(ctx, hash("key", key), func(p *shard) (durable.Job, error) { return p.jobs.Find(ctx, key) })
	if err != nil {
		return nil, durable.Job{}, err
	}
	return p.jobs, job, nil
}

func (s *Shards) locate(ctx context.Context, id durable.ID) (*shard, durable.Job, error) {
	return s.seek(ctx, VirtualShard(id), func(p *shard) (durable.Job, error) { return p.jobs.Get(ctx, id) })
}

// seek looks for a job, first where it should be, then in the other stores: it may be one that was left where it was,
// since it has a family, or the run of a schedule there, or one that is being moved.
func (s *Shards) seek(ctx context.Context, v int, look func(*shard) (durable.Job, error)) (*shard, durable.Job, error) {
	for begun := time.Now(); ; {
		first, _ := s.holder(ctx, v, false)
		order := slices.Clone(s.all)
		if i := slices.Index(order, first); i > 0 {
			order[0], order[i] = order[i], order[0]
		}
		var unknown error
		for _, p := range order {
			job, err := look(p)
			if err == nil {
				return p, job, nil
			}
			if !errors.Is(err, durable.ErrNotFound) {
				unknown = errors.Join(unknown, p.wrap(err))
			}
		}
		switch {
		case unknown != nil:
			return nil, durable.Job{}, unknown
		case !s.moving(ctx):
			return nil, durable.Job{}, durable.ErrNotFound
		case time.Since(begun) > fresh:
			return nil, durable.Job{}, fmt.Errorf("durable/shards: %w, and the job may be on its way: %w", ErrMoving, durable.ErrNotFound)
		}
		if err := pause(ctx, movePause); err != nil {
			return nil, durable.Job{}, err
		}
	}
}

// List returns the jobs of all stores that f selects, as durable.Jobs.List does those of one, without tables and parcels.
// If stores do not answer, it returns the jobs of the others, and the errors of these.
func (s *Shards) List(ctx context.Context, f durable.Filter) ([]durable.Job, error) {
	limit := f.Limit
	if limit == 0 {
		limit = 100
	}
	pages, err := each(s, func(p *shard) ([]durable.Job, error) { return p.list(ctx, f, limit) })
	all := slices.Concat(pages...)
	slices.SortFunc(all, func(a, b durable.Job) int {
		c := slices.Compare(a.ID[:], b.ID[:])
		if f.LatestFirst {
			return -c
		}
		return c
	})
	return all[:min(len(all), limit)], err
}

// list returns jobs of the store, up to a limit, that are of users.
func (p *shard) list(ctx context.Context, f durable.Filter, limit int) (all []durable.Job, err error) {
	for f.Limit = limit; len(all) < limit; {
		page, err := p.jobs.List(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, j := range page {
			if !own(j.Kind) {
				all = append(all, j)
			}
		}
		if len(page) < f.Limit {
			break
		}
		f.After = page[len(page)-1].ID
	}
	return all[:min(len(all), limit)], nil
}

// own reports whether jobs of a kind are those of this package.
func own(kind string) bool { return kind == TableKind || kind == store.ParcelKind }

// Counts counts the jobs of all stores that f selects, as durable.Jobs.Counts does those of one, without tables and
// parcels. If stores do not answer, it returns the counts of the others, and the errors of these.
func (s *Shards) Counts(ctx context.Context, f durable.Filter) ([]durable.Count, error) {
	counts, err := each(s, func(p *shard) ([]durable.Count, error) { return p.jobs.Counts(ctx, f) })
	type of struct {
		kind  string
		state durable.State
	}
	sums := make(map[of]durable.Count)
	for _, c := range slices.Concat(counts...) {
		if own(c.Kind) {
			continue
		}
		sum, there := sums[of{c.Kind, c.State}]
		if there && sum.Due.Before(c.Due) {
			c.Due = sum.Due
		}
		c.Jobs += sum.Jobs
		sums[of{c.Kind, c.State}] = c
	}
	all := slices.Collect(maps.Values(sums))
	slices.SortFunc(all, func(a, b durable.Count) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.State, b.State))
	})
	return all, err
}

// each calls fn for all stores at once, and returns what it has returned, and the errors with the names of the stores.
func each[T any](s *Shards, fn func(*shard) (T, error)) ([]T, error) {
	results, errs := make([]T, len(s.all)), make([]error, len(s.all))
	var all sync.WaitGroup
	for i, p := range s.all {
		all.Go(func() {
			var err error
			if results[i], err = fn(p); err != nil {
				errs[i] = p.wrap(err)
			}
		})
	}
	all.Wait()
	return results, errors.Join(errs...)
}

// VirtualShard returns the virtual shard of a job, 0 to Number-1: the last 12 bits of its ID.
func VirtualShard(id durable.ID) int { return int(binary.BigEndian.Uint16(id[14:])) % Number }

// at returns an ID with a virtual shard.
func at(id durable.ID, v int) durable.ID {
	last := binary.BigEndian.Uint16(id[14:])
	binary.BigEndian.PutUint16(id[14:], last-last%Number+uint16(v))
	return id
}

// hash returns the virtual shard of jobs that are alike in something. It is stored: do not change it.
func hash(what, of string) int {
	sum := sha256.Sum256([]byte(what + "\x00" + of))
	return int(binary.BigEndian.Uint16(sum[:])) % Number
}

func invalid(format string, args ...any) error {
	return argument.Invalid("durable/shards: "+format, args...)
}

// pause waits, and returns the error of ctx if that ends before.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
