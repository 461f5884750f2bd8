//go:build unix

package etcd

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/executor-go/executor/durable/store"
)

// An ask is a call, as far as it concerns one job or one key.
type ask struct {
	of    string // the job or the key
	op    string
	node  string
	epoch int64    // of a commit
	id    store.ID // of a job that is added, or deleted
}

// A reply is what a call was told. If it is unknown, the call has taken effect, will, or neither.
type reply struct {
	unknown bool
	epoch   int64
	state   store.State
	ok      bool
	answer  store.Answer
	id      store.ID
}

// A standing is that of a job, or of a key.
type standing struct {
	state store.State
	epoch int64
	pause bool // pending
	owner string
	id    store.ID // that has the key
}

// after returns the standing after a call, and whether the call can have that reply.
func (s standing) after(a ask, r reply) (standing, bool) {
	switch a.op {
	case "claim":
		if s.state != store.Waiting {
			return s, false
		}
		s.state, s.owner = store.Confirmed, a.node
		s.epoch++
		return s, s.epoch == r.epoch
	case "commit":
		ok := s.epoch == a.epoch
		if ok && s.state == store.Confirmed {
			s.wait()
		}
		return s, ok == r.ok
	case "release":
		if s.state == store.Confirmed && s.owner == a.node {
			s.wait()
			s.epoch++
		}
		return s, true
	case "get":
		return s, s.state == r.state && s.epoch == r.epoch
	case "pause":
		if s.state == store.Confirmed {
			s.pause = true
		} else if s.state == store.Waiting {
			s.state = store.Paused
			s.epoch++
		}
		return s, r.answer == map[bool]store.Answer{false: store.Applied, true: store.Deferred}[s.state == store.Confirmed]
	case "resume":
		switch {
		case s.state == store.Confirmed && s.pause:
			s.pause = false
			return s, r.answer == store.Deferred
		case s.state == store.Paused:
			s.state = store.Waiting
			s.epoch++
			return s, r.answer == store.Applied
		}
		return s, r.answer == store.TooLate
	case "insert":
		if s.id == (store.ID{}) {
			s.id = a.id
		}
		return s, s.id == r.id
	default: // delete
		if s.id != a.id {
			return s, r.answer == store.NotFound
		}
		s.id = store.ID{}
		return s, r.answer == store.Applied
	}
}

// wait has a job wait after a run, or be paused.
func (s *standing) wait() {
	s.state, s.owner = store.Waiting, ""
	if s.pause {
		s.state, s.pause = store.Paused, false
	}
}

var linearModel = (&porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		of := make(map[string][]porcupine.Operation)
		for _, o := range history {
			name := o.Input.(ask).of
			of[name] = append(of[name], o)
		}
		for _, part := range of {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() []any { return []any{standing{}} },
	Step: func(s, in, out any) []any {
		now, r := s.(standing), out.(reply)
		next, ok := now.after(in.(ask), r)
		switch {
		case r.unknown && next != now:
			return []any{now, next}
		case r.unknown || ok:
			return []any{next}
		}
		return nil
	},
	Equal: func(a, b any) bool { return a == b },
}).ToModel()

// A recorder keeps what clients have asked, and were told.
type recorder struct {
	mu      sync.Mutex
	begun   time.Time
	history []porcupine.Operation
	unknown int
	clients int // one more for each call whose outcome is unknown: it goes on, while its client asks again
}

func (r *recorder) note(client *int, a ask, called time.Time, reply reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := porcupine.Operation{ClientId: *client, Input: a, Call: called.Sub(r.begun).Nanoseconds(), Output: reply, Return: time.Since(r.begun).Nanoseconds()}
	if reply.unknown {
		o.Return = math.MaxInt64
		r.unknown++
		r.clients++
		*client = r.clients
	}
	r.history = append(r.history, o)
}

// calm is for how long nothing goes wrong.
const calm = 2 * time.Second

// A lineClient asks at random.
type lineClient struct {
	*recorder
	id   int
	s    *Store
	node string
	jobs []store.ID
	held []store.Ref
	lost bool // a claim has an unknown outcome
	keys map[string]store.ID
}

func (c *lineClient) name(id store.ID) string { return "job " + id.String() }

// ask asks once.
func (c *lineClient) ask(ctx context.Context) {
	patience := 1500 * time.Millisecond
	if time.Since(c.begun) > calm && rand.IntN(12) == 0 {
		patience = rand.N(3 * time.Millisecond) // so that many outcomes are unknown
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	at, id := time.Now(), c.jobs[rand.IntN(len(c.jobs))]
	due := at.Add(-time.Hour)
	switch op := rand.IntN(12); {
	case op < 3:
		r, err := c.s.Claim(ctx, store.ClaimRequest{Node: c.node, Limit: 1 + rand.IntN(2), Kinds: []store.KindLimit{{Kind: "lin", Max: 2}}})
		if err != nil {
			c.lost = true
			for _, id := range c.jobs { // it may have any
				c.note(&c.id, ask{of: c.name(id), op: "claim", node: c.node}, at, reply{unknown: true})
			}
		}
		for _, j := range r.Jobs {
			c.held = append(c.held, store.Ref{ID: j.ID, Epoch: j.Epoch})
			c.note(&c.id, ask{of: c.name(j.ID), op: "claim", node: c.node}, at, reply{epoch: j.Epoch})
		}
	case op < 6 && len(c.held) > 0:
		n := rand.IntN(len(c.held))
		ref := c.held[n]
		r, err := c.s.Commit(ctx, store.CommitRequest{Node: c.node, Outcomes: []store.Outcome{{Ref: ref, State: store.Waiting, Due: due, Occurrence: due}}})
		a := ask{of: c.name(ref.ID), op: "commit", epoch: ref.Epoch}
		if err != nil {
			c.note(&c.id, a, at, reply{unknown: true})
			return
		}
		if c.note(&c.id, a, at, reply{ok: r.Committed[0]}); rand.IntN(4) > 0 { // else it is asked for again
			c.held = append(c.held[:n], c.held[n+1:]...)
		}
	case op == 6 && c.lost:
		_, err := c.s.Release(ctx, c.node, nil)
		for _, id := range c.jobs {
			c.note(&c.id, ask{of: c.name(id), op: "release", node: c.node}, at, reply{unknown: err != nil})
		}
		c.lost = err != nil
	case op < 8:
		if j, err := c.s.Get(ctx, id); err == nil {
			c.note(&c.id, ask{of: c.name(id), op: "get"}, at, reply{state: j.State, epoch: j.Epoch})
		}
	case op < 10:
		a, change := ask{of: c.name(id), op: "pause"}, store.Change{Op: store.OpPause}
		if rand.IntN(3) > 0 {
			a.op, change.Op = "resume", store.OpResume
		}
		answer, err := c.s.Change(ctx, id, change)
		c.note(&c.id, a, at, reply{answer: answer, unknown: err != nil})
	default:
		key := fmt.Sprint("key", rand.IntN(3))
		if there, ok := c.keys[key]; ok && rand.IntN(2) == 0 {
			answer, err := c.s.Change(ctx, there, store.Change{Op: store.OpDelete})
			c.note(&c.id, ask{of: key, op: "delete", id: there}, at, reply{answer: answer, unknown: err != nil})
			return
		}
		n := store.NewJob{ID: store.NewID(), Kind: "unique", Key: key, Schedule: store.Once, Delay: time.Hour, Attempts: 1}
		placed, err := c.s.Insert(ctx, []store.NewJob{n}, store.Placement{})
		a := ask{of: key, op: "insert", id: n.ID}
		if err != nil {
			c.note(&c.id, a, at, reply{unknown: true})
			return
		}
		c.keys[key] = placed[0].ID
		c.note(&c.id, a, at, reply{id: placed[0].ID})
	}
}

// What clients are told by several programs, while the member that leads is killed again and again, could be told by
// one store that does one thing after the other; and the judge can say no.
func TestHistoryIsLinearizable(t *testing.T) {
	t.Parallel()
	f := newFleet(t, addresses(t, 3), nil)
	dial := func() *Store {
		s, err := Dial(t.Context(), Client{Endpoints: f.members[0].Peers, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	const clients = 6
	r := &recorder{clients: clients}
	first := dial()
	var jobs []store.ID
	for i := range 6 {
		n := store.NewJob{ID: store.NewID(), Kind: "lin", Key: fmt.Sprint("lin", i), Schedule: "rate 1h0m0s", Missed: "coalesce", Due: time.Now().Add(-time.Hour), Attempts: 1 << 30}
		if _, err := first.Insert(t.Context(), []store.NewJob{n}, store.Placement{}); err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, n.ID)
	}
	ctx, stop := context.WithCancel(t.Context())
	var all []*lineClient
	for i := range clients {
		c := &lineClient{recorder: r, id: i, s: dial(), node: fmt.Sprint("client", i), jobs: jobs, keys: make(map[string]store.ID)}
		if _, err := c.s.Join(t.Context(), c.node, time.Hour); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	var asking sync.WaitGroup
	r.begun = time.Now()
	for _, c := range all {
		asking.Go(func() {
			for ctx.Err() == nil {
				pause(ctx, rand.N(30*time.Millisecond))
				c.ask(context.WithoutCancel(ctx))
			}
		})
	}
	kills := 2
	if os.Getenv("EXECUTOR_LONG") != "" {
		kills = 10
	}
	time.Sleep(calm)
	for range kills {
		lead := f.leader(first)
		f.kill(lead)
		time.Sleep(2 * time.Second)
		f.start(lead)
		time.Sleep(1500 * time.Millisecond)
	}
	stop()
	asking.Wait()
	t.Logf("%d calls, %d with an unknown outcome", len(r.history), r.unknown)
	if got := porcupine.CheckOperationsTimeout(linearModel, r.history, time.Minute); got != porcupine.Ok {
		t.Errorf("the history is %v", got)
	}
	var quiet []porcupine.Operation // what was asked before anything went wrong
	for _, o := range r.history {
		if o.Call < calm.Nanoseconds() && !o.Output.(reply).unknown {
			quiet = append(quiet, o)
		}
	}
	for _, op := range []string{"get", "commit", "claim", "insert"} {
		planted := append([]porcupine.Operation(nil), quiet...)
		for i := len(planted) / 2; i < len(planted); i++ {
			wrong := planted[i].Output.(reply)
			if planted[i].Input.(ask).op != op || wrong.unknown {
				continue
			}
			wrong.epoch, wrong.ok, wrong.id[0] = wrong.epoch+3, !wrong.ok, wrong.id[0]^1
			planted[i].Output = wrong
			break
		}
		if got := porcupine.CheckOperationsTimeout(linearModel, planted, time.Minute); got != porcupine.Illegal {
			t.Errorf("a history with a wrong answer to %s is %v", op, got)
		}
	}
}
