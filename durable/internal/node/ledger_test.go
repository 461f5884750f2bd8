package node

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/store"
)

// A ledgerModel is a store with one node, whose books are tried by random steps. It has what the books are held against:
// the jobs that the store has for the node, and what the node was told.
type ledgerModel struct {
	t   *testing.T
	rng *rand.Rand
	l   *ledger

	name   string
	names  int
	jobs   map[store.ID]store.Job // of the node, as the store has it
	epoch  int64
	turns  map[*run]int // of the runs that were handed to the pool
	live   []*run       // that the node has had
	bodies []*run       // whose handlers have not returned, though the run may be lost
	paused map[string]bool
	asked  bool        // the node is to rest
	alone  atomic.Bool // passAlone was called by the timer
}

// The books hold what their names say after whatever steps: the counts are those of the runs; what the store has for the
// node is held, or to be released; nothing waits that the node may not begin; a claim asks for no more than there is
// room for, and nothing begins beside a run that is alone.
func TestLedgerKeepsItsBooks(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &ledgerModel{
					t: t, rng: rand.New(rand.NewPCG(seed, 1)),
					jobs: make(map[store.ID]store.Job), turns: make(map[*run]int), paused: make(map[string]bool),
				}
				m.l = newLedgerTest(t, &Kind{Name: "a"}, &Kind{Name: "b", Limit: 3}, &Kind{Name: "c", Rate: store.Rate{Every: time.Second, Burst: 1}})
				m.l.mu.passAlone = func() { m.alone.Store(true) }
				m.join()
				steps := []func(){m.claim, m.claim, m.claim, m.insert, m.arm, m.arm, m.confirmed, m.begin, m.begin, m.begin, m.end, m.end,
					m.postpone, m.commit, m.commit, m.pause, m.rest, m.beat, m.beat, m.fence, m.lose, m.release, m.cancel, m.late, m.wait}
				for range 400 {
					steps[m.rng.IntN(len(steps))]()
					m.check()
					if m.rng.IntN(4) == 0 { // a node that is closed is soon open again
						m.open()
						m.check()
					}
				}
				m.drain()
			})
		})
	}
}

func (m *ledgerModel) join() {
	m.names++
	m.name = fmt.Sprint("n", m.names)
	m.l.incarnate(incarnation{m.name, time.Now()})
	m.l.renew(time.Now())
}

// give has the store give the node a new job, or one that it had before and that was freed.
func (m *ledgerModel) give(kind string, state store.State) store.Job {
	m.epoch++
	j := store.Job{ID: store.NewID(), Epoch: m.epoch, Kind: kind, State: state, Payload: make([]byte, m.rng.IntN(1<<20)), Due: time.Now()}
	if state == store.Claimed {
		j.Due = j.Due.Add(time.Second)
	}
	if m.rng.IntN(8) == 0 {
		j.Lost = aloneAfter
	}
	m.jobs[j.ID] = j
	return j
}

func (m *ledgerModel) newRuns(jobs []store.Job) (runs []*run) {
	for _, j := range jobs {
		runs = append(runs, &run{job: j, kind: m.l.kind(j.Kind), since: time.Now()})
	}
	return runs
}

// claim asks for jobs, and has all that was asked for, some, none, or loses the answer. The answer may come after other
// steps, which is as if the name had changed meanwhile.
func (m *ledgerModel) claim() {
	later := m.rng.IntN(2) == 0
	req, ok := m.l.request([]string{"a", "b", "c"}, later, m.rng.IntN(2) == 0, time.Second, 0)
	if !ok {
		return
	}
	if s := m.l.standing(); s != (standing{}) || m.l.mu.due > 0 {
		m.t.Fatalf("it claims though it is %+v, with %d releases due", s, m.l.mu.due)
	}
	per, left := make(map[string]int), req.Limit
	for _, r := range m.l.mu.held {
		per[r.job.Kind]++
	}
	var jobs []store.Job
	for _, k := range req.Kinds {
		if m.paused[k.Kind] || k.Max <= 0 || k.Kind == "b" && per["b"]+k.Max > 3 {
			m.t.Fatalf("it asks for %d of %s, with %v held, %v paused", k.Max, k.Kind, per, m.paused)
		}
		for range m.rng.IntN(min(k.Max, left, 4) + 1) {
			state := store.Confirmed
			if later {
				state = store.Claimed
			}
			jobs = append(jobs, m.give(k.Kind, state))
			left--
		}
	}
	switch m.rng.IntN(8) {
	case 0:
		m.l.loseAnswer()
		return
	case 1:
		m.fence()
	case 2:
		m.pause()
	case 3:
		m.lose()
	}
	m.l.claimed(req.Kinds, jobs, later, m.rng.IntN(2) == 0)
	m.take(m.l.hold(req.Node, m.newRuns(jobs)))
}

// insert places new jobs on the node, while a release goes on at times.
func (m *ledgerModel) insert() {
	add := []store.NewJob{{ID: store.NewID(), Kind: "a"}, {ID: store.NewID(), Kind: "a"}}
	p := m.l.beginInsert(add, false)
	if p.Node == "" {
		return
	}
	var placed []store.Job
	for _, n := range add[:m.rng.IntN(min(p.Limit, 2)+1)] {
		j := m.give("a", store.Confirmed)
		delete(m.jobs, j.ID)
		j.ID = n.ID
		m.jobs[j.ID] = j
		placed = append(placed, j)
	}
	if m.rng.IntN(2) == 0 {
		m.l.audit()
		m.release()
	}
	lost := m.rng.IntN(5) == 0
	if lost {
		placed = nil
	}
	runs, due := m.l.endInsert(p.Node, add, m.newRuns(placed), lost)
	if due != (m.l.mu.due > 0) {
		m.t.Fatalf("a release is due: %t", due)
	}
	m.take(runs)
}

// take arms runs that the node holds now.
func (m *ledgerModel) take(runs []*run) {
	m.live = append(m.live, runs...)
	for _, r := range runs {
		m.armRun(r)
	}
}

// some returns a run in one of the states, nil if there is none.
func (m *ledgerModel) some(states ...runState) *run {
	for _, i := range m.rng.Perm(len(m.live)) {
		for _, s := range states {
			if m.live[i].state == s {
				return m.live[i]
			}
		}
	}
	return nil
}

func (m *ledgerModel) arm() {
	if r := m.some(claimed, armed); r != nil {
		m.armRun(r)
	}
}

func (m *ledgerModel) armRun(r *run) {
	now := time.Now()
	if m.rng.IntN(10) == 0 {
		now = now.Add(-time.Hour) // the store's clock was set back
	}
	switch what, _, turn := m.l.arm(r, now, 2*time.Second, 0); what {
	case confirmLater:
		if !m.l.confirm(r, turn) {
			m.t.Fatal("its own turn is over")
		}
	case submit:
		m.turns[r] = turn
	}
}

func (m *ledgerModel) confirmed() {
	r := m.some(confirming, postponed)
	if r == nil {
		return
	}
	ok := m.rng.IntN(5) > 0
	if !ok {
		delete(m.jobs, r.job.ID)
	}
	if m.l.confirmed(r, ok, time.Time{}, time.Now()) {
		m.armRun(r)
	}
}

func (m *ledgerModel) begin() {
	r := m.some(armed)
	if r == nil {
		return
	}
	solo, running := m.l.mu.solo, m.l.mu.inState[begun]
	turn := m.turns[r]
	if a, _, _ := m.l.begin(r, turn, func(error) {}, time.Now()); a != admitted {
		return
	}
	m.bodies = append(m.bodies, r)
	switch s := m.l.standing(); {
	case s != (standing{}), m.paused[r.job.Kind]:
		m.t.Fatalf("a run of %s begins though the node is %+v, with %v paused", r.job.Kind, s, m.paused)
	case m.l.leaseLeft() <= 0:
		m.t.Fatal("a run begins without a lease")
	case solo != nil && solo != r:
		m.t.Fatal("a run begins beside one that is alone")
	case solo == nil && m.l.mu.solo == r && running > 0:
		m.t.Fatal("a run that is to be alone begins beside others")
	}
}

// returned returns a run whose handler returns now, nil if there is none.
func (m *ledgerModel) returned() *run {
	if len(m.bodies) == 0 {
		return nil
	}
	i := m.rng.IntN(len(m.bodies))
	r := m.bodies[i]
	m.bodies = slices.Delete(m.bodies, i, i+1)
	return r
}

func (m *ledgerModel) end() {
	if r := m.returned(); r != nil {
		m.l.ended(r)
		m.l.workerFreed()
		m.l.bodies.Done()
	}
}

func (m *ledgerModel) postpone() {
	r := m.returned()
	if r == nil {
		return
	}
	was := r.state
	if ask, back := m.l.postpone(r); ask && back || (ask || back) != (was == begun) {
		m.t.Fatalf("of a run that was %s, another occurrence is asked for: %t, and it is given back: %t", was, ask, back)
	}
	m.l.workerFreed()
	m.l.bodies.Done()
}

func (m *ledgerModel) commit() {
	if r := m.some(committing); r != nil {
		delete(m.jobs, r.job.ID)
		m.l.drop(r)
	}
}

func (m *ledgerModel) pause() {
	kind, before := string(rune('a'+m.rng.IntN(3))), slices.Collect(maps.Keys(m.paused))
	if m.paused[kind] = !m.paused[kind]; !m.paused[kind] {
		delete(m.paused, kind)
	}
	m.l.pauseHere(kind, m.paused[kind])
	m.l.hearPaused(time.Now().Add(-1), before) // an answer to what was asked before changes nothing
}

func (m *ledgerModel) rest() {
	m.asked = !m.asked
	m.l.rest(m.asked)
}

// open has the node work again, whatever keeps it from that.
func (m *ledgerModel) open() {
	m.beat()
	if m.asked {
		m.rest()
	}
	for kind := range m.paused {
		delete(m.paused, kind)
		m.l.pauseHere(kind, false)
	}
	m.l.retryRelease()
	m.release()
}

func (m *ledgerModel) beat() { m.l.renew(time.Now()) }

func (m *ledgerModel) fence() {
	m.l.setAlone(m.rng.IntN(2) == 0)
	time.Sleep(m.l.leaseLeft())
	if m.rng.IntN(2) == 0 {
		m.begin() // a worker comes before the timer
	}
	m.l.fence()
}

// lose is what happens when the node was declared dead: the store gives its jobs to others.
func (m *ledgerModel) lose() {
	m.l.lose()
	clear(m.jobs)
	m.join()
}

// release has the store free what the node does not keep. It may fail, or leave some that it could not free.
func (m *ledgerModel) release() {
	r, due := m.l.beginRelease()
	if !due {
		return
	}
	keep := make(map[store.ID]bool)
	for _, id := range r.keep {
		keep[id] = true
	}
	if m.rng.IntN(4) == 0 {
		m.l.endRelease(r, false, errors.New("no answer"))
		return
	}
	left := false
	for id := range m.jobs {
		switch {
		case keep[id]:
		case m.rng.IntN(10) == 0:
			left = true
		default:
			delete(m.jobs, id)
		}
	}
	m.l.endRelease(r, left, nil)
}

func (m *ledgerModel) cancel() {
	r := m.some(claimed, confirming, postponed, armed, begun)
	if r == nil {
		return
	}
	if c := m.l.cancelWanted([]store.Ref{r.ref()}); len(c) > 0 && r.state != begun || !m.l.canceled(r) {
		m.t.Fatalf("a run that is %s is canceled by %d contexts", r.state, len(c))
	}
}

func (m *ledgerModel) late() {
	m.l.retryRelease()
	m.l.giveBackLate(executor.Stats{Active: m.rng.IntN(3), Runs: int64(m.rng.IntN(3))}, time.Second, time.Now().Add(time.Second))
}

func (m *ledgerModel) wait() {
	time.Sleep(time.Duration(m.rng.IntN(15)) * time.Second)
	synctest.Wait()
	if m.alone.Swap(false) {
		runs, _ := m.l.pass()
		for _, r := range runs {
			m.armRun(r)
		}
	}
}

func (m *ledgerModel) check() {
	m.t.Helper()
	l := m.l
	var inState [gone + 1]int
	perKind, bytes := make(map[string]int), 0
	for id, r := range l.mu.held {
		inState[r.state]++
		perKind[r.job.Kind]++
		bytes += len(r.job.Payload)
		if id != r.job.ID || r.state == gone {
			m.t.Fatalf("it holds a run that is %s", r.state)
		}
		if r.state.waits() && (l.standing() != standing{} || m.paused[r.job.Kind]) {
			m.t.Fatalf("a run of %s waits as %s, though the node is %+v, with %v paused", r.job.Kind, r.state, l.standing(), m.paused)
		}
		if _, has := m.jobs[id]; r.state.waits() && !has {
			m.t.Fatalf("a run waits as %s whose job the store does not have for the node", r.state)
		}
	}
	counts, held := l.counts()
	counts[gone] = 0
	if counts != inState || held != len(l.mu.held) || fmt.Sprint(l.mu.perKind) != fmt.Sprint(perKind) || l.mu.payloads.held != bytes {
		m.t.Fatalf("it counts %v, %v and %d bytes, and holds %v, %v and %d", counts, l.mu.perKind, l.mu.payloads.held, inState, perKind, bytes)
	}
	for id := range m.jobs {
		if l.mu.held[id] == nil && l.mu.due == 0 && !l.mu.again && !l.mu.fenced {
			m.t.Fatalf("the store has job %v for the node, which knows nothing of it and releases nothing", id)
		}
	}
	if l.mu.budget < l.workers() || l.mu.budget > maxHeld {
		m.t.Fatalf("its budget is %d", l.mu.budget)
	}
}

// drain has the node end: nothing begins any more, and when the last outcome is in the store it holds nothing.
func (m *ledgerModel) drain() {
	m.l.drain()
	m.check()
	for len(m.bodies) > 0 {
		m.end()
	}
	for m.some(committing) != nil {
		select {
		case <-m.l.empty:
			m.t.Fatal("it is empty before the last outcome is in the store")
		default:
		}
		m.commit()
		m.check()
	}
	<-m.l.empty
	m.l.bodies.Wait()
	m.claim()
	m.check()
}
