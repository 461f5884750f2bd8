package shards_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/shards"
	"github.com/executor-go/executor/durable/store"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var errDown = errors.New("the store is down")

// A flaky is a store of which calls fail.
type flaky struct {
	*memory.Store
	mu   sync.Mutex
	down bool
	// refuse has it refuse parcels.
	refuse bool
	// fail, unless nil, is asked for each call of a kind that Move makes: whether it fails, and whether that is after it
	// was carried out.
	fail func() (fails, after bool)
}

// call makes a call, or not.
func call[T any](s *flaky, fn func() (T, error)) (T, error) {
	s.mu.Lock()
	down, fail := s.down, s.fail
	s.mu.Unlock()
	var none T
	if down {
		return none, errDown
	}
	fails, after := false, false
	if fail != nil {
		fails, after = fail()
	}
	if fails && !after {
		return none, errDown
	}
	v, err := fn()
	if fails {
		return none, errDown
	}
	return v, err
}

func (s *flaky) set(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

func (s *flaky) Now(ctx context.Context) (time.Time, error) {
	return call(s, func() (time.Time, error) { return s.Store.Now(ctx) })
}

func (s *flaky) Insert(ctx context.Context, jobs []store.NewJob, p store.Placement) ([]store.InsertResult, error) {
	return call(s, func() ([]store.InsertResult, error) { return s.Store.Insert(ctx, jobs, p) })
}

func (s *flaky) Get(ctx context.Context, id store.ID) (store.Job, error) {
	return call(s, func() (store.Job, error) { return s.Store.Get(ctx, id) })
}

func (s *flaky) Find(ctx context.Context, key string) (store.Job, error) {
	return call(s, func() (store.Job, error) { return s.Store.Find(ctx, key) })
}

func (s *flaky) List(ctx context.Context, f store.Filter) ([]store.Job, error) {
	return call(s, func() ([]store.Job, error) { return s.Store.List(ctx, f) })
}

func (s *flaky) Counts(ctx context.Context, f store.Filter) ([]store.Count, error) {
	return call(s, func() ([]store.Count, error) { return s.Store.Counts(ctx, f) })
}

func (s *flaky) Change(ctx context.Context, id store.ID, c store.Change) (store.Answer, error) {
	return call(s, func() (store.Answer, error) { return s.Store.Change(ctx, id, c) })
}

func (s *flaky) Pack(ctx context.Context, r store.PackRequest) (int, error) {
	return call(s, func() (int, error) { return s.Store.Pack(ctx, r) })
}

func (s *flaky) Unpack(ctx context.Context, parcel store.Job) error {
	if s.refuse {
		return errDown
	}
	_, err := call(s, func() (struct{}, error) { return struct{}{}, s.Store.Unpack(ctx, parcel) })
	return err
}

func (s *flaky) Heartbeat(ctx context.Context, node string, lease time.Duration, w store.Watch) (store.HeartbeatResult, error) {
	return call(s, func() (store.HeartbeatResult, error) { return s.Store.Heartbeat(ctx, node, lease, w) })
}

func (s *flaky) Join(ctx context.Context, node string, lease time.Duration) (time.Time, error) {
	return call(s, func() (time.Time, error) { return s.Store.Join(ctx, node, lease) })
}

func (s *flaky) Claim(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	return call(s, func() (store.ClaimResult, error) { return s.Store.Claim(ctx, r) })
}

func (s *flaky) Commit(ctx context.Context, r store.CommitRequest) (store.CommitResult, error) {
	return call(s, func() (store.CommitResult, error) { return s.Store.Commit(ctx, r) })
}

// A cluster is stores, by name, and programs that use them.
type cluster struct {
	testing.TB
	stores map[string]*flaky
}

func newCluster(t testing.TB, names ...string) *cluster {
	c := &cluster{t, make(map[string]*flaky)}
	for _, name := range names {
		c.stores[name] = &flaky{Store: memory.New()}
	}
	return c
}

// program returns Shards of a program.
func (c *cluster) program(change func(*shards.Config)) *shards.Shards {
	config := shards.Config{Stores: make(map[string]store.Store), Pinned: []string{"pinned"},
		Jobs: durable.Config{Logger: slog.New(slog.DiscardHandler)}}
	for name, s := range c.stores {
		config.Stores[name] = s
	}
	if change != nil {
		change(&config)
	}
	return must(shards.New(config))
}

// run runs a program until the returned function is called.
func (c *cluster) run(s *shards.Shards) (stop func()) {
	ctx, cancel := context.WithCancel(c.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			c.Error(err)
		}
	}
}

// owned returns how many virtual shards each store has, and holds that each has one store.
func (c *cluster) owned(s *shards.Shards) map[string]int {
	c.Helper()
	var all shards.Set
	n := make(map[string]int)
	for _, p := range must(s.Status(c.Context())) {
		n[p.Store] = p.Has.Len()
		for v := range p.Has.All() {
			if all.Has(v) {
				c.Errorf("two stores have virtual shard %d", v)
			}
			all.Add(v)
		}
	}
	if all.Len() != shards.Number {
		c.Errorf("%d virtual shards have a store", all.Len())
	}
	return n
}

// here returns the jobs of users in a store, by ID.
func (c *cluster) here(name string) map[store.ID]store.Job {
	jobs := make(map[store.ID]store.Job)
	for _, j := range must(c.stores[name].Store.List(c.Context(), store.Filter{Limit: 1 << 20})) {
		if j.Kind != shards.TableKind && j.Kind != store.ParcelKind {
			jobs[j.ID] = j
		}
	}
	return jobs
}

func ints(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(i)
	}
	return all
}

// texts returns what jobs are.
func texts(jobs map[store.ID]store.Job) (all []string) {
	for _, j := range jobs {
		all = append(all, fmt.Sprintf("%s %q %v, parents %v, children %v", j.Kind, j.Key, j.State, j.HasParents, j.HasChildren))
	}
	slices.Sort(all)
	return all
}
