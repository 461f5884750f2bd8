package store_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
	"github.com/executor-go/executor/durable/storetest"
)

// mapStore is a whole store over a map. Each method is one step under a lock, where a database has a transaction; what
// a step does to the row of a job is a function of package transition.
type mapStore struct {
	mu     sync.Mutex
	jobs   map[store.ID]*store.Job
	leases map[string]mapLease // of the nodes that are alive
}

type mapLease struct {
	until  time.Time
	length time.Duration
}

func newMapStore() *mapStore {
	return &mapStore{jobs: make(map[store.ID]*store.Job), leases: make(map[string]mapLease)}
}

// now returns the clock of the store, by which all times are. Stores keep microseconds.
func (s *mapStore) now() time.Time { return time.Now().UTC().Round(0).Truncate(time.Microsecond) }

func (s *mapStore) Now(context.Context) (time.Time, error) { return s.now(), nil }

// byKey returns the job that a new one stands for, nil if there is none: it is the same, or has its key.
func (s *mapStore) byKey(n store.NewJob) *store.Job {
	if j := s.jobs[n.ID]; j != nil || n.Key == "" {
		return j
	}
	for _, j := range s.jobs {
		if j.Key == n.Key {
			return j
		}
	}
	return nil
}

// Insert adds all of the jobs, or none if one can't be added.
func (s *mapStore) Insert(_ context.Context, jobs []store.NewJob, p store.Placement) ([]store.InsertResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	results := make([]store.InsertResult, len(jobs))
	conflict := false
	for i, n := range jobs {
		results[i].Now = now
		if j := s.byKey(n); j != nil && !(j.ID != n.ID && transition.Reuses(j, n, now)) {
			results[i].Job, results[i].KindTaken = *j, j.Kind != n.Kind
			conflict = conflict || j.ID != n.ID && transition.Conflicts(j, n)
		}
	}
	if conflict {
		return results, nil
	}
	_, alive := s.leases[p.Node]
	held := 0
	for i, n := range jobs {
		j := s.byKey(n)
		if j != nil && j.ID != n.ID && transition.Reuses(j, n, now) {
			j.Key, j = "", nil // it is over, and lets the new one have its key
		}
		switch {
		case j == nil:
			added := transition.New(n, p, alive && held < p.Limit, now)
			j = &added
			s.jobs[n.ID] = j
			results[i].Changed, results[i].Held = true, j.State.Held()
			if j.State.Held() {
				held++
			}
		case j.ID != n.ID:
			results[i].Changed = transition.Amend(j, n, now)
		}
		results[i].Job = *j
	}
	return results, nil
}

func (s *mapStore) Join(_ context.Context, node string, lease time.Duration) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.leases[node] = mapLease{now.Add(lease), lease}
	return now, nil
}

// Heartbeat renews the lease of a node, ends those that are over, and frees what their nodes held.
func (s *mapStore) Heartbeat(_ context.Context, node string, lease time.Duration,
	w store.Watch) (store.HeartbeatResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	own, alive := s.leases[node]
	late := alive && own.until.Before(now) // the store was away, or its clock has jumped: spare the others
	for name, l := range s.leases {
		switch over := l.until.Before(now); {
		case name == node:
			s.leases[name] = mapLease{now.Add(lease), lease}
		case over && late, l.until.After(now.Add(l.length + time.Second)):
			s.leases[name] = mapLease{now.Add(l.length), l.length}
		case over:
			delete(s.leases, name)
		}
	}
	r := store.HeartbeatResult{Now: now, Alive: alive}
	for _, j := range s.jobs {
		_, owned := s.leases[j.Owner]
		switch {
		case j.State == store.Waiting:
			r.Due = r.Due || slices.Contains(w.Kinds, j.Kind) && !j.Due.After(now.Add(w.Ahead))
		case !j.State.Held():
		case !owned:
			transition.Reap(j, now)
			if r.Freed++; j.State == store.Dead {
				r.Dead = append(r.Dead, j.ID)
			}
		case j.Owner == node && j.Pending == store.PendingCancel:
			r.Canceled = append(r.Canceled, store.Ref{ID: j.ID, Epoch: j.Epoch})
		}
	}
	return r, nil
}

func (s *mapStore) Leave(ctx context.Context, node string) error {
	_, err := s.Release(ctx, node, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.leases, node)
	return err
}

// Claim gives a node jobs that are due, the most urgent and earliest first.
func (s *mapStore) Claim(_ context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	result := store.ClaimResult{Now: s.now()}
	if _, alive := s.leases[r.Node]; !alive {
		return result, nil
	}
	room := make(map[string]int)
	for _, k := range r.Kinds {
		room[k.Kind] = k.Max
		if k.Global > 0 {
			room[k.Kind] = min(k.Max, k.Global-s.held(k.Kind))
		}
	}
	var due []*store.Job
	for _, j := range s.jobs {
		if j.State == store.Waiting && !j.Due.After(result.Now.Add(r.Ahead)) {
			due = append(due, j)
		}
	}
	slices.SortFunc(due, func(a, b *store.Job) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.Due.Compare(b.Due))
	})
	for _, j := range due {
		if room[j.Kind] > 0 && len(result.Jobs) < r.Limit {
			room[j.Kind]--
			transition.Claim(j, r.Node, r.Lead, result.Now)
			result.Jobs = append(result.Jobs, *j)
		}
	}
	result.More = len(result.Jobs) >= r.Limit
	return result, nil
}

// held counts what nodes hold of a kind.
func (s *mapStore) held(kind string) (n int) {
	for _, j := range s.jobs {
		if j.Kind == kind && j.State.Held() {
			n++
		}
	}
	return n
}

func (s *mapStore) Release(_ context.Context, node string, keep []store.ID) (left bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		if j.State.Held() && j.Owner == node && !slices.Contains(keep, j.ID) {
			transition.Release(j, s.now())
		}
	}
	return false, nil
}

// Commit carries out what still has the epoch that the node knows.
func (s *mapStore) Commit(_ context.Context, c store.CommitRequest) (store.CommitResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := store.CommitResult{Now: s.now()}
	of := func(ref store.Ref) *store.Job {
		if j := s.jobs[ref.ID]; j != nil && j.Epoch == ref.Epoch {
			return j
		}
		return nil
	}
	for _, b := range c.Begun {
		if j := of(b.Ref); j != nil && j.State == store.Confirmed {
			transition.Begin(j, b.Started)
		}
	}
	for _, f := range c.Confirms {
		j := of(f.Ref)
		ok := j != nil && j.State.Held()
		if ok {
			transition.Confirm(j, f, r.Now)
		}
		r.Confirmed = append(r.Confirmed, ok)
	}
	for _, o := range c.Outcomes {
		j := of(o.Ref)
		switch {
		case j != nil && j.State.Granted():
			transition.Commit(j, o, c.Node, r.Now)
		case j != nil: // an earlier call has committed it
			r.Before = append(r.Before, o.Ref)
		}
		r.Committed = append(r.Committed, j != nil)
	}
	return r, nil
}

func (s *mapStore) Change(_ context.Context, id store.ID, c store.Change) (store.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[id]
	if j == nil {
		return store.NotFound, nil
	}
	answer := transition.Change(j, c, s.now())
	if c.Op == store.OpDelete && answer == store.Applied {
		delete(s.jobs, id)
	}
	return answer, nil
}

func (s *mapStore) Get(_ context.Context, id store.ID) (store.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobs[id]; j != nil {
		return *j, nil
	}
	return store.Job{}, store.ErrNotFound
}

func (s *mapStore) Find(_ context.Context, key string) (store.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.byKey(store.NewJob{Key: key}); j != nil {
		return *j, nil
	}
	return store.Job{}, store.ErrNotFound
}

func (s *mapStore) List(_ context.Context, f store.Filter) ([]store.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	order := func(a, b store.ID) int { return bytes.Compare(a[:], b[:]) }
	if f.LatestFirst {
		order = func(a, b store.ID) int { return bytes.Compare(b[:], a[:]) }
	}
	var page []store.Job
	for _, j := range s.jobs {
		if (f.After == store.ID{} || order(j.ID, f.After) > 0) && f.Matches(j) {
			page = append(page, *j)
		}
	}
	slices.SortFunc(page, func(a, b store.Job) int { return order(a.ID, b.ID) })
	return page[:min(len(page), cmp.Or(f.Limit, 100))], nil
}

// Prune removes the jobs that have been over for long enough.
func (s *mapStore) Prune(_ context.Context, r store.Retention) (removed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, j := range s.jobs {
		keep := r.Dead
		if j.State == store.Succeeded {
			keep = r.Succeeded
		}
		if j.State.Done() && keep > 0 && j.Updated.Before(s.now().Add(-keep)) {
			delete(s.jobs, id)
			removed++
		}
	}
	return removed, nil
}

// A store of your own needs thirteen methods. This one, over a map, has no more than these: what it lacks, as a
// history, is an error of the calls that ask for it.
func Example() {
	jobs, err := durable.New(durable.Config{Store: newMapStore(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	greet := durable.Handle(jobs, "greet", func(ctx context.Context, name string) (string, error) {
		return "hello " + name, nil
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- jobs.Run(ctx) }()
	id, err := greet.Add(ctx, "gopher")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(greet.Await(ctx, id))
	_, err = jobs.Counts(ctx, durable.Filter{})
	fmt.Println(err)
	cancel()
	fmt.Println(<-done)
	// Output:
	// hello gopher <nil>
	// durable: counts: the store, a *store_test.mapStore, does not have the methods of store.Counter
	// <nil>
}

// The store passes the tests of what it has.
func TestMapStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return newMapStore() })
}
