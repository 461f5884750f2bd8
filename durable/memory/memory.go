// Package memory keeps jobs in memory, for tests and for programs whose jobs need not outlive them. It does what the
// stores in databases do, and forgets everything at the end of the program. Several Jobs may share one Store, as nodes
// share a database. It has no transactions: ScheduleTx and CompleteTx fail with an error that matches
// executor.ErrInvalid. Its methods never wait, and ignore their contexts.
package memory

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// A Store is a durable.Store. Its clock is time.Now, which in a bubble of testing/synctest is the bubble's, plus what
// Shift adds to it.
type Store struct {
	mu struct {
		sync.Mutex
		shift    time.Duration
		jobs     map[durable.ID]*durable.Job
		keys     map[string]durable.ID
		runs     map[durable.ID][]line // ascending
		progress map[durable.ID]durable.RunProgress
		steps    map[durable.ID][]durable.KeptStep // in the order in which they were kept
		leases   map[string]lease
		paused   map[string]bool // kinds
		limits
		acts     []durable.Act // ascending
		lastAct  int64
		parents  map[durable.ID]*upbringing
		children map[durable.ID]map[durable.ID]bool
	}
}

// line is one of the history.
type line struct {
	durable.Run
	output []byte
}

// lease is that of a node.
type lease struct {
	until   time.Time
	length  time.Duration
	joined  time.Time
	details durable.NodeDetails
	drain   bool
}

// New returns an empty store.
func New() *Store {
	s := new(Store)
	s.mu.jobs = make(map[durable.ID]*durable.Job)
	s.mu.keys = make(map[string]durable.ID)
	s.mu.runs = make(map[durable.ID][]line)
	s.mu.progress = make(map[durable.ID]durable.RunProgress)
	s.mu.steps = make(map[durable.ID][]durable.KeptStep)
	s.mu.leases = make(map[string]lease)
	s.mu.paused = make(map[string]bool)
	s.mu.limits = limits{make(map[string]time.Time), make(map[partition]time.Time), make(map[durable.ID]int64)}
	s.mu.parents = make(map[durable.ID]*upbringing)
	s.mu.children = make(map[durable.ID]map[durable.ID]bool)
	return s
}

// Shift puts the store's clock forward by d, or back if d is negative, as an operator may set the clock of a database.
func (s *Store) Shift(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.shift += d
}

// Now returns the store's time.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nowLocked(), nil
}

func (s *Store) nowLocked() time.Time {
	return time.Now().Add(s.mu.shift).UTC().Round(0).Truncate(time.Microsecond)
}

// Insert adds jobs.
func (s *Store) Insert(ctx context.Context, jobs []durable.NewJob,
	p store.Placement) ([]durable.InsertResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.nowLocked()
	takes := s.takesLocked(p.Node)
	held := 0
	placed := make([]durable.InsertResult, len(jobs))
	if err := s.parentsLocked(jobs); err != nil {
		return nil, err
	}
	if s.conflictLocked(jobs, placed, now) {
		return placed, nil
	}
	ids := make(map[durable.ID]durable.ID, len(jobs))
	for i, n := range jobs {
		j := s.mu.jobs[n.ID]
		if j == nil && n.Key != "" {
			if j = s.mu.jobs[s.mu.keys[n.Key]]; j != nil && transition.Reuses(j, n, now) {
				j.Key, j = "", nil
			}
		}
		if j == nil {
			grafted := len(n.After.Parents) > 0
			j = new(transition.New(n, p, takes && held < p.Limit && !grafted, now))
			if s.mu.jobs[n.ID] = j; grafted {
				s.graftLocked(j, n.After, ids)
			}
			placed[i].Changed = true
			if n.Key != "" {
				s.mu.keys[n.Key] = n.ID
			}
			if j.State.Held() {
				held++
				placed[i].Held = true
			}
		} else if j.ID != n.ID {
			if placed[i].Changed = transition.Amend(j, n, now); placed[i].Changed {
				delete(s.mu.lined, j.ID)
			}
		}
		ids[n.ID] = j.ID
		placed[i].Job, placed[i].Now, placed[i].KindTaken = *j, now, j.Kind != n.Kind
	}
	for i := range placed {
		placed[i].Job = *s.mu.jobs[placed[i].ID] // it may have children now
	}
	return placed, nil
}

// conflictLocked reports whether one of several jobs can't have its key. Then the results are those of all.
func (s *Store) conflictLocked(jobs []durable.NewJob, placed []durable.InsertResult, now time.Time) bool {
	conflict := false
	for i, n := range jobs {
		j := s.mu.jobs[n.ID]
		if j == nil && n.Key != "" {
			if j = s.mu.jobs[s.mu.keys[n.Key]]; j != nil && transition.Reuses(j, n, now) {
				j = nil
			}
		}
		if placed[i].Now = now; j == nil {
			continue
		}
		placed[i].Job, placed[i].KindTaken = *j, j.Kind != n.Kind
		conflict = conflict || j.ID != n.ID && transition.Conflicts(j, n)
	}
	return conflict
}

// takesLocked reports whether a node is alive, and not to drain.
func (s *Store) takesLocked(node string) bool {
	l, alive := s.mu.leases[node]
	return alive && !l.drain
}

// Join adds a node.
func (s *Store) Join(ctx context.Context, node string, length time.Duration) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.nowLocked()
	l := s.mu.leases[node] // if the answer to an earlier call was lost, it may be there, and be drained
	l.until, l.length, l.joined = now.Add(length), length, now
	s.mu.leases[node] = l
	return now, nil
}

// Heartbeat renews a lease, frees the jobs of dead nodes, and looks for a job.
func (s *Store) Heartbeat(ctx context.Context, node string, length time.Duration,
	w store.Watch) (store.HeartbeatResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pulse := store.HeartbeatResult{Now: s.nowLocked(), Paused: slices.Collect(maps.Keys(s.mu.paused))}
	for _, j := range s.mu.jobs {
		if j.State == durable.Waiting && slices.Contains(w.Kinds, j.Kind) && watched(&w, j.Queue) && !j.Due.After(pulse.Now.Add(w.Ahead)) {
			pulse.Due = true
		}
	}
	mine, ok := s.mu.leases[node]
	pulse.Draining = mine.drain
	if pulse.Alive = ok; ok {
		renewed := mine
		renewed.until, renewed.length = pulse.Now.Add(length), length
		s.mu.leases[node] = renewed
	}
	late := ok && mine.until.Before(pulse.Now)
	for name, l := range s.mu.leases {
		begin := l
		begin.until = pulse.Now.Add(l.length)
		switch over := l.until.Before(pulse.Now); {
		case name == node:
		case over && late, l.until.After(begin.until.Add(time.Second)):
			s.mu.leases[name] = begin
		case over:
			delete(s.mu.leases, name)
		}
	}
	var ended []durable.ID
	for _, j := range s.mu.jobs {
		if !j.State.Held() {
			continue
		}
		if j.Owner == node && pulse.Alive && j.Pending == durable.PendingCancel {
			pulse.Canceled = append(pulse.Canceled, store.Ref{ID: j.ID, Epoch: j.Epoch})
		}
		if _, alive := s.mu.leases[j.Owner]; !alive {
			pulse.Freed++
			if run, ok := transition.Reap(j, pulse.Now); ok {
				s.mu.runs[j.ID] = append(s.mu.runs[j.ID], line{Run: run})
			}
			if j.State == durable.Dead {
				pulse.Dead = append(pulse.Dead, j.ID)
			}
			ended = append(ended, j.ID)
		}
	}
	s.endedLocked(pulse.Now, ended...)
	return pulse, nil
}

// Leave removes a node.
func (s *Store) Leave(ctx context.Context, node string) error {
	_, err := s.Release(ctx, node, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mu.leases, node)
	return err
}

// Claim gives waiting jobs to a node.
func (s *Store) Claim(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	return s.claim("", r)
}

func (s *Store) claim(queue string, r store.ClaimRequest) (store.ClaimResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	claims := store.ClaimResult{Now: s.nowLocked()}
	if !s.takesLocked(r.Node) {
		return claims, nil
	}
	room := make(map[string]int)
	for _, k := range r.Kinds {
		room[k.Kind] = k.Max
		if k.Global > 0 {
			room[k.Kind] = min(k.Max, k.Global-s.heldLocked(k.Kind))
		}
	}
	var near []*durable.Job
	for _, j := range s.mu.jobs {
		if j.State == durable.Waiting && j.Queue == queue && room[j.Kind] > 0 && !j.Due.After(claims.Now.Add(r.Ahead)) {
			near = append(near, j)
		}
	}
	slices.SortFunc(near, func(a, b *durable.Job) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.Due.Compare(b.Due), bytes.Compare(a.ID[:], b.ID[:]))
	})
	for _, j := range near {
		if len(claims.Jobs) < r.Limit && room[j.Kind] > 0 {
			room[j.Kind]--
			transition.Claim(j, r.Node, r.Lead, claims.Now)
			claims.Jobs = append(claims.Jobs, *j)
		}
	}
	claims.More = len(claims.Jobs) >= r.Limit
	return claims, nil
}

// heldLocked counts the jobs of a kind that nodes hold.
func (s *Store) heldLocked(kind string) int {
	n := 0
	for _, j := range s.mu.jobs {
		if j.Kind == kind && j.State.Held() {
			n++
		}
	}
	return n
}

// Release frees the jobs that a node holds, except keep.
func (s *Store) Release(ctx context.Context, node string, keep []durable.ID) (left bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.nowLocked()
	var ended []durable.ID
	for _, j := range s.mu.jobs {
		if j.State.Held() && j.Owner == node && !slices.Contains(keep, j.ID) {
			transition.Release(j, now)
			ended = append(ended, j.ID)
		}
	}
	s.endedLocked(now, ended...)
	return false, nil
}

// Commit confirms claims and commits outcomes.
func (s *Store) Commit(ctx context.Context, b store.CommitRequest) (store.CommitResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := store.CommitResult{Now: s.nowLocked()}
	for _, r := range b.Begun {
		if j := s.mu.jobs[r.ID]; j != nil && j.Epoch == r.Epoch && j.State == durable.Confirmed {
			transition.Begin(j, r.Started)
		}
	}
	for _, c := range b.Confirms {
		j := s.mu.jobs[c.ID]
		ok := j != nil && j.Epoch == c.Epoch && j.State.Held()
		if ok {
			transition.Confirm(j, c, answer.Now)
		}
		answer.Confirmed = append(answer.Confirmed, ok)
	}
	var ended []durable.ID
	for _, o := range b.Outcomes {
		j := s.mu.jobs[o.ID]
		ok := j != nil && j.Epoch == o.Epoch
		switch {
		case ok && !j.State.Granted():
			answer.Before = append(answer.Before, o.Ref)
		case ok:
			run := transition.Commit(j, o, b.Node, answer.Now)
			s.signaledLocked(j, o.Signals, answer.Now)
			ended = append(ended, j.ID)
			if !o.Unrecorded {
				lines := append(s.mu.runs[j.ID], line{run, o.Output})
				s.mu.runs[j.ID] = lines[max(0, len(lines)-b.History):]
			}
		}
		answer.Committed = append(answer.Committed, ok)
	}
	answer.Released = s.endedLocked(answer.Now, ended...)
	return answer, nil
}

// Change carries out an action on a job.
func (s *Store) Change(ctx context.Context, id durable.ID, c durable.Change) (durable.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.mu.jobs[id]
	if j == nil {
		return durable.NotFound, nil
	}
	now := s.nowLocked()
	answer := transition.Change(j, c, now)
	switch {
	case answer != durable.Applied:
		return answer, nil
	case c.Op == durable.OpDelete:
		s.removeLocked(j)
	case c.Op == durable.OpRevive:
		s.reviveLocked(j)
	}
	s.endedLocked(now, id)
	return answer, nil
}

// removeLocked removes a job and its history, and returns how many lines that had.
func (s *Store) removeLocked(j *durable.Job) (lines int) {
	lines = len(s.mu.runs[j.ID])
	delete(s.mu.jobs, j.ID)
	delete(s.mu.keys, j.Key)
	delete(s.mu.runs, j.ID)
	delete(s.mu.progress, j.ID)
	delete(s.mu.steps, j.ID)
	delete(s.mu.lined, j.ID)
	s.orphanLocked(j.ID)
	return lines
}

// Get returns a job.
func (s *Store) Get(ctx context.Context, id durable.ID) (durable.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.mu.jobs[id]; j != nil {
		return *j, nil
	}
	return durable.Job{}, durable.ErrNotFound
}

// Find returns the job with a key.
func (s *Store) Find(ctx context.Context, key string) (durable.Job, error) {
	s.mu.Lock()
	id, ok := s.mu.keys[key]
	s.mu.Unlock()
	if !ok {
		return durable.Job{}, durable.ErrNotFound
	}
	return s.Get(ctx, id)
}

// List returns a page of jobs.
func (s *Store) List(ctx context.Context, f durable.Filter) ([]durable.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Limit == 0 {
		f.Limit = 100
	}
	var found []*durable.Job // those of the page, and some that come after it
	byID := func(a, b *durable.Job) int { return bytes.Compare(a.ID[:], b.ID[:]) }
	var last *durable.Job // one that comes after it is not on the page; nil if not known
	for _, j := range s.mu.jobs {
		if bytes.Compare(j.ID[:], f.After[:]) <= 0 || last != nil && byID(j, last) > 0 || !f.Matches(j) {
			continue
		}
		if found = append(found, j); len(found)/2 >= f.Limit {
			slices.SortFunc(found, byID)
			found, last = found[:f.Limit], found[f.Limit-1]
		}
	}
	slices.SortFunc(found, byID)
	page := make([]durable.Job, min(len(found), f.Limit))
	for i := range page {
		page[i] = *found[i]
	}
	return page, nil
}

// Runs returns a page of a job's history.
func (s *Store) Runs(ctx context.Context, id durable.ID, before int64, limit int) ([]durable.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var page []durable.Run
	for _, run := range slices.Backward(s.mu.runs[id]) {
		if (before == 0 || run.Seq < before) && len(page) < limit {
			page = append(page, run.Run)
		}
	}
	return page, nil
}

// Kinds returns the kinds that have waiting jobs.
func (s *Store) Kinds(ctx context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var kinds []string
	for _, j := range s.mu.jobs {
		if j.State == durable.Waiting && !slices.Contains(kinds, j.Kind) {
			kinds = append(kinds, j.Kind)
		}
	}
	slices.Sort(kinds)
	return kinds, nil
}

// Counts counts the jobs that f selects, of each kind in each state.
func (s *Store) Counts(ctx context.Context, f durable.Filter) ([]durable.Count, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var counts []durable.Count
	for _, j := range s.mu.jobs {
		if f.Matches(j) {
			counts = counted(counts, j)
		}
	}
	return counts, nil
}

// counted returns counts with one job more.
func counted(counts []durable.Count, j *durable.Job) []durable.Count {
	i := slices.IndexFunc(counts, func(c durable.Count) bool { return c.Kind == j.Kind && c.State == j.State })
	if i < 0 {
		i, counts = len(counts), append(counts, durable.Count{Kind: j.Kind, State: j.State, Due: j.Due})
	}
	counts[i].Jobs++
	if j.Due.Before(counts[i].Due) {
		counts[i].Due = j.Due
	}
	return counts
}

// PauseKind pauses a kind, or ends its pause.
func (s *Store) PauseKind(ctx context.Context, kind string, pause bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.mu.paused, kind); pause {
		s.mu.paused[kind] = true
	}
	return nil
}

// PausedKinds returns the kinds that are paused.
func (s *Store) PausedKinds(ctx context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.mu.paused)), nil
}

// Prune removes jobs and runs whose retention has ended.
func (s *Store) Prune(ctx context.Context, r durable.Retention) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, n := s.nowLocked(), 0
	awaited := make(map[durable.ID]bool) // as one prune sees it, whatever its order
	for id := range s.mu.children {
		awaited[id] = s.awaitedLocked(id)
	}
	for _, j := range s.mu.jobs {
		keep := r.Dead
		if j.State == durable.Succeeded {
			keep = r.Succeeded
		}
		if j.State.Done() && keep > 0 && j.Updated.Before(now.Add(-keep)) && !awaited[j.ID] {
			n += 1 + s.removeLocked(j)
		}
	}
	for id, lines := range s.mu.runs {
		rest := slices.DeleteFunc(lines, func(run line) bool {
			return r.History > 0 && run.Finished.Before(now.Add(-r.History))
		})
		n += len(lines) - len(rest)
		s.mu.runs[id] = rest
	}
	return n, nil
}

// Close does nothing.
func (s *Store) Close() error { return nil }
