package rows

import (
	"context"
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// A Home keeps the rows of a Store.
type Home interface {
	// Transact calls decide with a transaction of [Rows.Begin] on the rows as they are at one moment. If decide returns
	// nil, it commits the transaction by [Rows.Commit], or as that does, in a database that keeps the rows; if a row has
	// changed since, it calls decide again with another transaction. If decide returns an error, Transact changes nothing and returns the error.
	// decide does not wait. An error of the home leaves the outcome unknown.
	Transact(ctx context.Context, decide func(*Tx) error) error
}

// A Store is a [store.Full] and a [store.Mover] over the rows of a Home. It has no Close.
type Store struct{ home Home }

// NewStore returns the store over a home.
func NewStore(home Home) *Store { return &Store{home} }

// do runs a transaction.
func (s *Store) do(ctx context.Context, decide func(*Tx)) error {
	return s.home.Transact(ctx, func(t *Tx) error {
		decide(t)
		return nil
	})
}

// answer returns what a transaction has answered, if there was no error.
func answer[T any](ctx context.Context, s *Store, decide func(*Tx) (T, error)) (T, error) {
	var decided, none T
	err := s.home.Transact(ctx, func(t *Tx) (err error) {
		decided, err = decide(t)
		return err
	})
	if err != nil {
		return none, err // what was decided may not have been committed
	}
	return decided, nil
}

// look returns what read finds in the rows.
func look[T any](ctx context.Context, s *Store, read func(*Tx) T) (T, error) {
	return answer(ctx, s, func(t *Tx) (T, error) { return read(t), nil })
}

// Now returns the store's time.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	return look(ctx, s, func(t *Tx) time.Time { return t.now })
}

// Insert adds jobs.
func (s *Store) Insert(ctx context.Context, jobs []store.NewJob, p store.Placement) ([]store.InsertResult, error) {
	return answer(ctx, s, func(t *Tx) ([]store.InsertResult, error) {
		if err := t.checkParents(jobs); err != nil {
			return nil, err
		}
		return t.insert(jobs, p), nil
	})
}

// insert adds jobs whose parents are there, all or none.
func (t *Tx) insert(jobs []store.NewJob, p store.Placement) []store.InsertResult {
	placed := make([]store.InsertResult, len(jobs))
	conflict := false
	for i, n := range jobs {
		placed[i].Now = t.now
		if j, there, _ := t.other(n); there {
			placed[i].Job, placed[i].KindTaken = j, j.Kind != n.Kind
			conflict = conflict || j.ID != n.ID && transition.Conflicts(&j, n)
		}
	}
	if conflict {
		return placed
	}
	takes, held := t.takes(p.Node), 0
	ids := make(map[store.ID]store.ID, len(jobs))
	for i, n := range jobs {
		j, there, reused := t.other(n)
		switch {
		case !there:
			if reused {
				j.Key = ""
				t.jobs.put(j.ID, j)
			}
			grafted := len(n.After.Parents) > 0
			j = transition.New(n, p, takes && held < p.Limit && !grafted, t.now)
			if grafted {
				t.graft(&j, n.After, ids)
			}
			if t.jobs.put(j.ID, j); j.Key != "" {
				t.keys.put(j.Key, j.ID)
			}
			placed[i].Changed, placed[i].Held = true, j.State.Held()
			if j.State.Held() {
				held++
			}
		case j.ID != n.ID && transition.Amend(&j, n, t.now):
			t.jobs.put(j.ID, j)
			t.lined.del(j.ID)
			placed[i].Changed = true
		}
		ids[n.ID] = j.ID
		placed[i].Job, placed[i].KindTaken = j, j.Kind != n.Kind
	}
	for i := range placed {
		placed[i].Job = *t.jobs.look(placed[i].ID) // it may have children now
	}
	return placed
}

// other returns the job that stands for a new one already, if there is one. If there is one that gives up its key to
// the new one, it is reused.
func (t *Tx) other(n store.NewJob) (j store.Job, there, reused bool) {
	if j, there = t.jobs.get(n.ID); there || n.Key == "" {
		return j, there, false
	}
	id, ok := t.keys.get(n.Key)
	if !ok {
		return j, false, false
	}
	j, there = t.jobs.get(id)
	reused = there && transition.Reuses(&j, n, t.now)
	return j, there && !reused, reused
}

// takes reports whether a node is alive, and not to drain.
func (t *Tx) takes(name string) bool {
	n, alive := t.nodes.get(name)
	return alive && !n.drain
}

// Join adds a node.
func (s *Store) Join(ctx context.Context, name string, lease time.Duration) (time.Time, error) {
	return look(ctx, s, func(t *Tx) time.Time {
		n, _ := t.nodes.get(name) // if the answer to an earlier call was lost, it may be there, and be drained
		n.joined = t.now
		t.nodes.put(name, n)
		t.beats.put(name, beat{t.now.Add(lease), lease})
		return t.now
	})
}

// Heartbeat renews a lease, declares nodes dead, looks for a job, and frees the jobs of dead nodes.
func (s *Store) Heartbeat(ctx context.Context, name string, lease time.Duration, w store.Watch) (p store.HeartbeatResult, err error) {
	if p, err = look(ctx, s, func(t *Tx) store.HeartbeatResult { return t.beat(name, lease, w) }); err != nil {
		return p, err
	}
	// What the dead nodes had claimed until now is theirs for good: they can claim no more.
	freed, dead := 0, []store.ID(nil)
	if err := s.do(ctx, func(t *Tx) { freed, dead = t.reap() }); err != nil {
		return store.HeartbeatResult{}, &store.RenewedError{Now: p.Now, Err: err}
	}
	p.Freed, p.Dead = freed, dead
	return p, nil
}

// beat renews a lease, and removes the nodes whose leases have ended.
func (t *Tx) beat(name string, lease time.Duration, w store.Watch) store.HeartbeatResult {
	p := store.HeartbeatResult{Now: t.now, Due: t.due(&w)}
	for kind := range t.paused.scan {
		p.Paused = append(p.Paused, kind)
	}
	n, alive := t.nodes.get(name)
	mine, _ := t.beats.get(name)
	if p.Alive, p.Draining = alive, n.drain; alive {
		t.beats.put(name, beat{t.now.Add(lease), lease})
		for j := range t.heldBy(name) {
			if j.Pending == store.PendingCancel {
				p.Canceled = append(p.Canceled, store.Ref{ID: j.ID, Epoch: j.Epoch})
			}
		}
	}
	late := alive && mine.until.Before(t.now)
	for other, b := range t.beats.scan {
		begin := beat{t.now.Add(b.length), b.length}
		switch over := b.until.Before(t.now); {
		case other == name:
		case over && late, b.until.After(begin.until.Add(time.Second)):
			t.beats.put(other, begin)
		case over:
			t.removeNode(other)
		}
	}
	return p
}

// due reports whether a job that w asks for waits.
func (t *Tx) due(w *store.Watch) bool {
	queues := w.Queues
	if !w.Elsewhere {
		queues = append([]string{""}, queues...)
	}
	for _, queue := range queues {
		for _, kind := range w.Kinds {
			for p := store.High; p >= store.Low; p-- {
				for range t.near(line{queue, kind, p}, t.now.Add(w.Ahead)) {
					return true
				}
			}
		}
	}
	return false
}

// near yields the jobs of a line that wait and are due by a time, the earliest first. What the transaction has changed
// is where it was; the loop may change rows.
func (t *Tx) near(l line, until time.Time) func(yield func(*store.Job) bool) {
	return func(yield func(*store.Job) bool) {
		of := t.rows.waiting[l]
		if of == nil {
			return
		}
		for at := range of.from(place{due: math.MinInt64}) {
			if at.due > until.UnixMicro() {
				return
			}
			if j := t.jobs.look(at.id); j != nil && j.State == store.Waiting && !yield(j) {
				return
			}
		}
	}
}

// heldBy yields the jobs that a node holds, in any order. The loop may change rows.
func (t *Tx) heldBy(name string) func(yield func(*store.Job) bool) {
	return func(yield func(*store.Job) bool) {
		for id := range t.rows.held[name] {
			if j := t.jobs.look(id); j != nil && j.State.Held() && !yield(j) {
				return
			}
		}
	}
}

// allHeld yields the jobs that nodes hold, as heldBy does.
func (t *Tx) allHeld(yield func(*store.Job) bool) {
	for name := range t.rows.held {
		for j := range t.heldBy(name) {
			if !yield(j) {
				return
			}
		}
	}
}

// reap frees what nodes hold that are not there, and tells children of parents that have ended what they lack.
func (t *Tx) reap() (freed int, dead []store.ID) {
	var ended []store.ID
	for name := range t.rows.held {
		if _, alive := t.nodes.get(name); alive {
			continue
		}
		for held := range t.heldBy(name) {
			j := *held
			freed++
			if r, ok := transition.Reap(&j, t.now); ok {
				t.runs.put(runKey{j.ID, r.Seq}, run{Run: r})
			}
			if j.State == store.Dead {
				dead = append(dead, j.ID)
			}
			t.jobs.put(j.ID, j)
			ended = append(ended, j.ID)
		}
	}
	t.tell(ended...)
	for id := range t.rows.late {
		if t.told == mostTold {
			break
		}
		t.jobs.get(id) // what revives it at the same time decides again
		t.tell(id)
	}
	return freed, dead
}

func (t *Tx) removeNode(name string) {
	t.nodes.del(name)
	t.beats.del(name)
	t.details.del(name)
}

// Leave removes a node, and frees what it holds.
func (s *Store) Leave(ctx context.Context, name string) error {
	err := s.do(ctx, func(t *Tx) {
		t.release(name, nil)
		t.removeNode(name)
	})
	if err != nil {
		return err
	}
	return s.do(ctx, func(t *Tx) { t.release(name, nil) }) // what it has claimed meanwhile: it can claim no more
}

// Release frees the jobs that a node holds, except keep.
func (s *Store) Release(ctx context.Context, name string, keep []store.ID) (left bool, err error) {
	return false, s.do(ctx, func(t *Tx) { t.release(name, keep) })
}

func (t *Tx) release(name string, keep []store.ID) {
	kept := make(map[store.ID]bool, len(keep))
	for _, id := range keep {
		kept[id] = true
	}
	var ended []store.ID
	for held := range t.heldBy(name) {
		if !kept[held.ID] {
			j := *held
			transition.Release(&j, t.now)
			t.jobs.put(j.ID, j)
			ended = append(ended, j.ID)
		}
	}
	t.tell(ended...)
}

// Claim gives waiting jobs to a node.
func (s *Store) Claim(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	return look(ctx, s, func(t *Tx) store.ClaimResult { return t.claim("", r) })
}

// claim gives jobs that wait in a queue to a node.
func (t *Tx) claim(queue string, r store.ClaimRequest) store.ClaimResult {
	c := store.ClaimResult{Now: t.now}
	if !t.takes(r.Node) {
		return c
	}
	rooms := make(map[string]int, len(r.Kinds))
	for _, k := range r.Kinds {
		rooms[k.Kind] = t.room(k)
	}
	share, until := t.share(r.Node), t.now.Add(r.Ahead)
	for p := store.High; p >= store.Low; p-- {
		var near []candidate
		for kind, room := range rooms {
			near = append(near, t.first(line{queue, kind, p}, until, min(room, r.Limit-len(c.Jobs)), share)...)
		}
		slices.SortFunc(near, func(a, b candidate) int {
			if a.others != b.others {
				if a.others {
					return 1
				}
				return -1
			}
			return comparePlaces(a.place, b.place)
		})
		for _, n := range near[:min(len(near), r.Limit-len(c.Jobs))] {
			rooms[t.grant(n.id, &r, &c)]--
		}
	}
	c.More = len(c.Jobs) >= r.Limit
	t.tookTurns(r.Kinds, &c)
	return c
}

// grant gives a job to the node of a claim, and returns its kind.
func (t *Tx) grant(id store.ID, r *store.ClaimRequest, c *store.ClaimResult) (kind string) {
	j := *t.jobs.look(id)
	transition.Claim(&j, r.Node, r.Lead, t.now)
	t.jobs.put(id, j)
	c.Jobs = append(c.Jobs, j)
	return j.Kind
}

// room returns how many jobs of a kind may be claimed. If other nodes have a say in that, it reads the turn of the kind,
// which tookTurns writes: of two claims that count the same jobs one decides again.
func (t *Tx) room(k store.KindLimit) int {
	if k.Global > 0 || k.PerPartition > 0 {
		t.turns.get(k.Kind)
	}
	if k.Global == 0 {
		return k.Max
	}
	held := 0
	for j := range t.allHeld {
		if j.Kind == k.Kind {
			held++
		}
	}
	return min(k.Max, k.Global-held)
}

// tookTurns writes the turns of the kinds that jobs were claimed of.
func (t *Tx) tookTurns(kinds []store.KindLimit, c *store.ClaimResult) {
	for _, k := range kinds {
		if (k.Global > 0 || k.PerPartition > 0) && slices.ContainsFunc(c.Jobs, func(j store.Job) bool { return j.Kind == k.Kind }) {
			t.turns.put(k.Kind, struct{}{})
		}
	}
}

// A candidate is a job that may be claimed.
type candidate struct {
	place
	others bool // it is in the share of another node
}

// first returns up to most candidates of a line: the first ones in the share, and if these are not enough others.
func (t *Tx) first(l line, until time.Time, most int, share func(store.ID) bool) (mine []candidate) {
	if most <= 0 {
		return nil
	}
	var others []candidate
	for j := range t.near(l, until) {
		switch at := placeOf(j); {
		case share(j.ID):
			if mine = append(mine, candidate{place: at}); len(mine) == most {
				return mine
			}
		case len(others) < most:
			others = append(others, candidate{at, true})
		}
	}
	return append(mine, others[:min(most-len(mine), len(others))]...)
}

// share returns which jobs a node is to claim first: all, unless its claim has met others twice. All nodes want the same
// jobs, the first ones. So those that meet divide them among all nodes.
func (t *Tx) share(name string) func(store.ID) bool {
	if t.try < 2 {
		return func(store.ID) bool { return true }
	}
	n, before := uint64(0), uint64(0)
	for other := range t.nodes.scan {
		if n++; other < name {
			before++
		}
	}
	// The end of an ID is random.
	return func(id store.ID) bool { return binary.BigEndian.Uint64(id[8:])%n == before }
}

// Commit confirms claims and commits outcomes.
func (s *Store) Commit(ctx context.Context, b store.CommitRequest) (store.CommitResult, error) {
	return look(ctx, s, func(t *Tx) store.CommitResult { return t.commit(&b) })
}

func (t *Tx) commit(b *store.CommitRequest) store.CommitResult {
	c := store.CommitResult{Now: t.now}
	for _, r := range b.Begun {
		if j, ok := t.jobs.get(r.ID); ok && j.Epoch == r.Epoch && j.State == store.Confirmed {
			transition.Begin(&j, r.Started)
			t.jobs.put(j.ID, j)
		}
	}
	for _, r := range b.Confirms {
		j, ok := t.jobs.get(r.ID)
		if ok = ok && j.Epoch == r.Epoch && j.State.Held(); ok {
			transition.Confirm(&j, r, t.now)
			t.jobs.put(j.ID, j)
		}
		c.Confirmed = append(c.Confirmed, ok)
	}
	var ended []store.ID
	for _, o := range b.Outcomes {
		j, ok := t.jobs.get(o.ID)
		ok = ok && j.Epoch == o.Epoch
		switch {
		case ok && !j.State.Granted():
			c.Before = append(c.Before, o.Ref)
		case ok:
			r := transition.Commit(&j, o, b.Node, t.now)
			t.heed(&j, o.Signals)
			t.jobs.put(j.ID, j)
			ended = append(ended, j.ID)
			if !o.Unrecorded {
				t.record(run{r, o.Output}, b.History)
			}
		}
		c.Committed = append(c.Committed, ok)
	}
	c.Released = t.tell(ended...)
	return c
}

// record adds a run to the history of its job, which keeps so many. If it is to keep fewer than before, each run removes
// some, so that the commit of many runs stays one that a database takes.
func (t *Tx) record(r run, keep int) {
	if keep > 0 {
		t.runs.put(runKey{r.Job, r.Seq}, r)
	}
	over := min(t.rows.seqs(r.Job).len()+1-keep, mostTrimmed)
	for seq := range t.rows.seqs(r.Job).from(0) {
		if over--; over < 0 {
			return
		}
		t.runs.del(runKey{r.Job, seq})
	}
}

// mostTrimmed is how many earlier runs of a job a run removes.
const mostTrimmed = 50

// Change carries out an action on a job.
func (s *Store) Change(ctx context.Context, id store.ID, c store.Change) (store.Answer, error) {
	return look(ctx, s, func(t *Tx) store.Answer { return t.change(id, c) })
}

// ChangeEach carries out an action on several jobs, in one transaction.
func (s *Store) ChangeEach(ctx context.Context, ids []store.ID, c store.Change) ([]store.Answer, error) {
	return look(ctx, s, func(t *Tx) []store.Answer {
		answers := make([]store.Answer, len(ids))
		for i, id := range ids {
			answers[i] = t.change(id, c)
		}
		return answers
	})
}

func (t *Tx) change(id store.ID, c store.Change) store.Answer {
	j, ok := t.jobs.get(id)
	if !ok {
		return store.NotFound
	}
	answer := transition.Change(&j, c, t.now)
	switch {
	case answer == store.Deferred:
		t.jobs.put(id, j) // with what is pending
		return answer
	case answer != store.Applied:
		return answer
	case c.Op == store.OpDelete:
		t.remove(&j)
	case c.Op == store.OpRevive:
		t.revive(&j)
		t.jobs.put(id, j)
	default:
		t.jobs.put(id, j)
	}
	t.tell(id)
	return answer
}

// remove removes a job and all that belongs to it, and returns how many runs it had.
func (t *Tx) remove(j *store.Job) (runs int) {
	t.jobs.del(j.ID)
	if j.Key != "" {
		t.keys.del(j.Key)
	}
	for seq := range t.rows.seqs(j.ID).from(0) {
		t.runs.del(runKey{j.ID, seq})
		runs++
	}
	for k := range t.steps.of(j.ID) {
		t.steps.del(k)
	}
	t.progress.del(j.ID)
	t.lined.del(j.ID)
	t.orphan(j.ID)
	return runs
}

// Get returns a job.
func (s *Store) Get(ctx context.Context, id store.ID) (store.Job, error) {
	return answer(ctx, s, func(t *Tx) (store.Job, error) { return found(t.jobs.get(id)) })
}

// found returns what is there, or the error that nothing is.
func found[T any](v T, ok bool) (T, error) {
	if !ok {
		return v, store.ErrNotFound
	}
	return v, nil
}

// Find returns the job with a key.
func (s *Store) Find(ctx context.Context, key string) (store.Job, error) {
	return answer(ctx, s, func(t *Tx) (store.Job, error) {
		id, ok := t.keys.get(key)
		if !ok {
			return store.Job{}, store.ErrNotFound
		}
		return found(t.jobs.get(id))
	})
}

// List returns a page of jobs.
func (s *Store) List(ctx context.Context, f store.Filter) ([]store.Job, error) {
	if f.Limit == 0 {
		f.Limit = 100
	}
	return look(ctx, s, func(t *Tx) (page []store.Job) {
		for id := range t.listed(&f) {
			if len(page) == f.Limit {
				break
			}
			if j := t.jobs.look(id); id != f.After && f.Matches(j) {
				page = append(page, *j)
			}
		}
		return page
	})
}

// listed yields the jobs among which those are that a filter selects, in its order.
func (t *Tx) listed(f *store.Filter) iter.Seq[store.ID] {
	var ids sorted[store.ID]
	if ids = t.rows.ids; len(f.Keys) > 0 {
		ids = sorted[store.ID]{compare: compareIDs}
		for _, key := range f.Keys {
			if id, there := t.keys.get(key); there {
				ids.add(id)
			}
		}
	}
	switch {
	case !f.LatestFirst:
		return ids.from(f.After)
	case f.After == store.ID{}:
		return ids.back(nil)
	}
	return ids.back(&f.After)
}

// Prune removes jobs and runs whose retention has ended.
func (s *Store) Prune(ctx context.Context, r store.Retention) (int, error) {
	return look(ctx, s, func(t *Tx) (n int) {
		var over []*store.Job // first, as one prune sees what is awaited, whatever its order
		for _, j := range t.jobs.scan {
			keep := r.Dead
			if j.State == store.Succeeded {
				keep = r.Succeeded
			}
			if j.State.Done() && keep > 0 && j.Updated.Before(t.now.Add(-keep)) && !t.awaited(j) {
				over = append(over, j)
			}
		}
		for _, j := range over {
			if n < mostPruned {
				n += 1 + t.remove(j)
			}
		}
		for k, run := range t.runs.scan {
			if r.History > 0 && n < mostPruned && run.Finished.Before(t.now.Add(-r.History)) {
				t.runs.del(k)
				n++
			}
		}
		return n
	})
}

// mostPruned is after how many rows a prune ends.
const mostPruned = 5000
