// Package source reads the stores that pages are about: by one request at a time, and each view of one again only after
// a while.
package source

import (
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/internal/address"
)

// Source is a view of the jobs in a store.
type Source struct {
	Name string
	Jobs *durable.Jobs
	// Named returns how a job with a key is named, and the address of its page, where the program has one of its own.
	// It may be nil.
	Named func(key string) (name, path string)
	// Said returns the word for how a run ended, and the verdict that is drawn like it, where the program has words of
	// its own. It may be nil.
	Said func(durable.Run) (word string, like durable.Verdict)
	// Spent returns how long a run took that has begun, where the program knows better than the store. It may be nil.
	Spent func(durable.Run) time.Duration
	// Tabs are those of the list of runs, nil for one of each verdict.
	Tabs []OutcomeTab
	// Keys returns the keys of the jobs that a name stands for, where that is not the key. It may be nil.
	Keys func(ctx context.Context, name string) ([]string, error)

	cache *Cache
	turn  chan struct{} // one slot
	day   Day           // that was read last; who has the turn uses it
}

// OutcomeTab is a tab of the list of runs.
type OutcomeTab struct {
	Name     string
	Verdicts []durable.Verdict
	Like     []durable.Verdict
}

// Has reports whether a run is on the tab that is drawn like one with a verdict.
func (t OutcomeTab) Has(like durable.Verdict) bool {
	return t.Like == nil || slices.Contains(t.Like, like)
}

// KeysOf returns the keys of the jobs that a name stands for.
func (s *Source) KeysOf(ctx context.Context, name string) ([]string, error) {
	if s.Keys == nil {
		return []string{name}, nil
	}
	return s.Keys(ctx, name)
}

// New returns a Source whose views are kept in a cache.
func New(name string, jobs *durable.Jobs, named func(key string) (name, path string), c *Cache) *Source {
	return &Source{Name: name, Jobs: jobs, Named: named, cache: c, turn: make(chan struct{}, 1)}
}

// Link returns the name of a job, "" if it has none, and the address of its page, with the output of a run of it if
// that is not 0.
func (s *Source) Link(id durable.ID, key string, run int64) (name, path string) {
	if s.Named != nil {
		if name, path = s.Named(key); path != "" {
			return name, path
		}
		key = name
	}
	return key, address.View{Name: "job", Source: s.Name, ID: id, Run: run}.Link()
}

// Outcome returns the word for how a run ended, "" if the run is not shown, and the verdict that is drawn like it.
func (s *Source) Outcome(r *durable.Run) (word string, like durable.Verdict) {
	if s.Said == nil {
		return r.Verdict.String(), r.Verdict
	}
	return s.Said(*r)
}

// Took returns how long a run took, 0 if it has no start.
func (s *Source) Took(r *durable.Run) time.Duration {
	switch {
	case r.Started.IsZero():
		return 0
	case s.Spent != nil:
		return s.Spent(*r)
	}
	return max(r.Finished.Sub(r.Started), 0)
}

const (
	// QueryTime is the most that reading a view of a database may take.
	QueryTime = 10 * time.Second
	// QueryLife is for how long a view is good at least.
	QueryLife = 2 * time.Second

	queryShare = 20
)

// Life returns for how long a view of a database is good that took so long to read.
func Life(took time.Duration) time.Duration { return max(QueryLife, queryShare*took) }

// viewKey is the key of a view of a database.
type viewKey struct {
	source *Source
	key    any
}

// Query returns what read reads from a source, as Cached does. key names it among the views of the source, and must be
// comparable.
func Query[T any](ctx context.Context, s *Source, key any, read func(context.Context) (T, error)) (T, time.Time, error) {
	return queryFor(ctx, s, key, QueryLife, read)
}

// queryFor is Query for a view that is good for a while at least.
func queryFor[T any](
	ctx context.Context, s *Source, key any, least time.Duration, read func(context.Context) (T, error),
) (T, time.Time, error) {
	life := func(took time.Duration) time.Duration { return max(least, Life(took)) }
	return Cached(ctx, s.cache, viewKey{s, key}, life, func() (value T, err error) {
		select {
		case s.turn <- struct{}{}:
		case <-ctx.Done():
			return value, ErrLeft
		}
		defer func() { <-s.turn }()
		// Others share what is read, so that it does not end with this request.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), QueryTime)
		defer cancel()
		return read(ctx)
	})
}

// DeadGroups returns the dead jobs by their errors.
func (s *Source) DeadGroups(ctx context.Context) ([]durable.DeadGroup, time.Time, error) {
	return Query(ctx, s, "dead", s.Jobs.DeadGroups)
}

// Sources are those that pages are about, in their order.
type Sources []*Source

// Find returns the source with that name, the first for "", nil if there is none.
func (all Sources) Find(name string) *Source {
	for _, s := range all {
		if s.Name == name || name == "" {
			return s
		}
	}
	return nil
}
