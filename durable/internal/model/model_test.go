// Package model holds that all stores answer alike.
package model

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/pgtest"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/postgres"
	"github.com/executor-go/executor/durable/sqlite"
	durablestore "github.com/executor-go/executor/durable/store"
)

var server *pgtest.Server

func TestMain(m *testing.M) {
	os.Exit(pgtest.Main(m.Run, &server, "fsync=off"))
}

// seeds returns n seeds that nobody has drawn before, or half as many, the same each time, in the short form of the tests.
func seeds(n int) []uint64 {
	if os.Getenv("EXECUTOR_LONG") == "" {
		n /= 2
	}
	all := make([]uint64, n)
	for i := range all {
		if all[i] = uint64(i); os.Getenv("EXECUTOR_LONG") != "" {
			all[i] = rand.Uint64()
		}
	}
	return all
}

// The statements of SQLite and PostgreSQL do what package transition does, which the store in memory uses: random calls
// are made to all of them, and each answer, each row and each line of the history is the same.
func TestStoresAgree(t *testing.T) {
	for _, seed := range seeds(6) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			m := &model{T: t, Rand: rand.New(rand.NewPCG(seed, 0)), names: []string{"memory"},
				stores: []durable.Store{memory.New()}}
			add := func(name string, store durable.Store, err error) {
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { store.Close() })
				m.names, m.stores = append(m.names, name), append(m.stores, store)
			}
			file, err := sqlite.Open(filepath.Join(t.TempDir(), "jobs.db"), sqlite.Normal())
			add("sqlite", file, err)
			db, err := sql.Open("sqlite", file.DSN())
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			db.SetMaxOpenConns(1)
			m.begin = map[durable.Store]func() (durable.Tx,
				error){file: func() (durable.Tx, error) { return db.BeginTx(t.Context(), nil) }}
			if server != nil {
				dsn := server.Schema(t)
				database, err := postgres.Open(dsn)
				add("postgres", database, err)
				pool, err := pgxpool.New(t.Context(), dsn)
				if err != nil {
					t.Fatal(err)
				}
				defer pool.Close()
				m.begin[database] = func() (durable.Tx, error) {
					if m.step%3 == 0 {
						return database.DB().BeginTx(t.Context(), nil)
					}
					tx, err := pool.Begin(t.Context())
					return postgres.Tx(tx), err
				}
			}
			for m.step = range 250 {
				m.call()
				m.compare("jobs", func(s durable.Store) (any, error) {
					jobs, err := s.List(t.Context(), durable.Filter{Limit: 1000})
					return jobs, err
				})
				m.jobs, _ = m.stores[0].List(t.Context(), durable.Filter{Limit: 1000})
				if len(m.jobs) > 0 {
					id := m.jobs[m.IntN(len(m.jobs))].ID
					m.compare("parents", func(s durable.Store) (any, error) { return s.Parents(t.Context(), id, 0, 10) })
					m.compare("children", func(s durable.Store) (any, error) { return s.Children(t.Context(), id, durable.ID{}, 10) })
					m.compare("counts of parents", func(s durable.Store) (any, error) {
						c, err := s.CountParents(t.Context(), id)
						if errors.Is(err, durable.ErrNotFound) {
							err = nil
						}
						return c, err
					})
					m.compare("runs", func(s durable.Store) (any, error) { return s.Runs(t.Context(), id, 0, 100) })
					m.compare("kept steps", func(s durable.Store) (any, error) {
						kept, err := s.KeptSteps(t.Context(), id)
						slices.SortFunc(kept, func(a, b durable.KeptStep) int {
							return cmp.Or(a.Occasion.Compare(b.Occasion), cmp.Compare(a.Name, b.Name), cmp.Compare(len(a.Result), len(b.Result)))
						})
						return kept, err
					})
				}
			}
		})
	}
}

// model draws the calls.
type model struct {
	*testing.T
	*rand.Rand
	names  []string
	stores []durable.Store
	begin  map[durable.Store]func() (durable.Tx, error) // begins a caller's transaction, where there are any
	step   int
	jobs   []durable.Job // as they are
	added  []durable.NewJob
	slack  time.Duration // how far the stores were apart at most when they were asked the same
}

// The times that are drawn are far from those at which a claim that looks ahead for
// ahead ends, so that it does not matter if the stores' times differ a little. So are
// those of lead, after which nothing begins.
const lead, ahead, lease = 15 * time.Minute, 90 * time.Minute, 30 * time.Minute

var (
	nodes = []string{"a", "b", "c"}
	kinds = []string{"k", "l"}
)

func pick[T any](m *model, of ...T) T { return of[m.IntN(len(of))] }

func (m *model) time() time.Time {
	if m.IntN(20) == 0 {
		return time.Unix(0, 0).UTC() // which databases write as they do no time
	}
	return m.now().Add(pick(m, -2*time.Hour, -time.Hour, time.Hour, 5*time.Hour,
		6*time.Hour)).Add(time.Duration(m.step) * time.Microsecond)
}

func (m *model) now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

func (m *model) newJob() durable.NewJob {
	if len(m.added) > 0 && m.IntN(8) == 0 {
		return pick(m, m.added...) // once more
	}
	j := durable.NewJob{
		ID: durable.NewID(), Key: pick(m, "", "x", "y", "z"), Kind: pick(m, "k", "k", "l"), Payload: []byte(pick(m, `1`, `"two"`)),
		Priority: pick(m, durable.Low, durable.Normal, durable.High), Schedule: pick(m, "once", "rate 1h0m0s", "delay 2h0m0s"), Missed: pick(m, "", "skip 1m0s"),
		Attempts: 1 + m.IntN(3), Timeout: pick(m, 0, time.Minute), ReuseKey: m.IntN(3) == 0,
	}
	if j.Queue = pick(m, "", "", "", "q"); j.Queue == "" {
		j.Partition = pick(m, "", "p", "q", "r")
	}
	if m.IntN(3) == 0 {
		j.Meta = map[string]string{"by": pick(m, "me", "you")}
	}
	if m.IntN(3) == 0 {
		j.Tags = pick(m, []string{"s"}, []string{"t"}, []string{"s", "t"})
	}
	j.Replace = j.Schedule == "once" && m.IntN(3) == 0
	if j.Schedule == "once" && m.IntN(4) == 0 {
		j.Among = []durable.State{durable.Waiting, durable.Claimed, durable.Paused, durable.Blocked}
		if m.IntN(2) == 0 {
			j.Among = append(j.Among, durable.Confirmed, durable.Running)
		}
		j.Among = append(j.Among, pick(m, nil, []durable.State{durable.Succeeded}, []durable.State{durable.Dead, durable.Canceled})...)
	}
	j.ReuseKey, j.KeepTime = j.ReuseKey || j.Replace, j.Replace && m.IntN(2) == 0
	if m.IntN(2) == 0 {
		j.Due = m.time()
	} else {
		j.Delay = pick(m, -time.Hour, 0, time.Hour, 5*time.Hour)
	}
	for _, p := range m.jobs {
		if len(j.After.Parents) < 3 && m.IntN(3) == 0 {
			j.After.Parents = append(j.After.Parents, p.ID)
		}
	}
	if n := len(j.After.Parents); n > 0 {
		j.Schedule, j.ReuseKey, j.Replace, j.Among = "once", false, false, nil // as package durable has it
		j.After.Need, j.After.Anyway = pick(m, n, 1+m.IntN(n)), m.IntN(3) == 0
	}
	m.added = append(m.added, j)
	return j
}

// live returns the jobs that may still run.
func (m *model) live() []durable.Job {
	return slices.DeleteFunc(slices.Clone(m.jobs), func(j durable.Job) bool { return j.State.Done() })
}

// ref returns a job's, mostly that which it has now.
func (m *model) ref() (durablestore.Ref, durable.Job) {
	if len(m.jobs) == 0 {
		return durablestore.Ref{ID: durable.NewID()}, durable.Job{}
	}
	j := pick(m, m.jobs...)
	if live := m.live(); len(live) > 0 && m.IntN(8) > 0 {
		j = pick(m, live...)
	}
	if held := slices.DeleteFunc(slices.Clone(m.jobs),
		func(j durable.Job) bool { return !j.State.Held() }); len(held) > 0 && m.IntN(4) > 0 {
		j = pick(m, held...)
	}
	return durablestore.Ref{ID: j.ID, Epoch: j.Epoch - int64(m.IntN(8)/7)}, j
}

func (m *model) batch() durablestore.CommitRequest {
	b := durablestore.CommitRequest{Node: pick(m, nodes...), History: pick(m, 1, 3)}
	for range 1 + m.IntN(2) {
		ref, j := m.ref()
		if slices.ContainsFunc(b.Confirms, func(c durablestore.Confirm) bool { return c.ID == ref.ID }) {
			continue
		}
		if j.State.Granted() && j.Epoch == ref.Epoch && m.IntN(2) == 0 {
			b.Begun = append(b.Begun, durablestore.Begin{Ref: ref, Started: m.now()})
		}
		if m.IntN(4) == 0 {
			b.Confirms = append(b.Confirms, durablestore.Confirm{Ref: ref, Occurrence: pick(m, time.Time{}, m.time())})
			continue
		}
		if slices.ContainsFunc(b.Outcomes, func(o durable.Outcome) bool { return o.ID == ref.ID }) {
			continue
		}
		o := durable.Outcome{
			Ref: ref, State: pick(m, durable.Waiting, durable.Waiting, durable.Succeeded, durable.Succeeded,
				durable.Dead, durable.Canceled),
			Due: m.time(), Occurrence: m.time(), Attempt: m.IntN(3), Error: pick(m, "", "no"), Result: pick(m, nil,
				[]byte("1")), Unrecorded: m.IntN(4) == 0,
		}
		if o.State == durable.Waiting {
			o.Signals = pick(m, nil, []string{"go"}, []string{"stop", "go"})
		}
		if o.State == durable.Succeeded && m.IntN(3) > 0 {
			o.Due = time.Time{}
		}
		o.Run = durable.Run{Occurrence: j.Occurrence, Attempt: j.Attempt, Started: m.now(), Finished: m.now(),
			Verdict: durable.Verdict(m.IntN(4)), Error: pick(m, o.Error, "of the run"), Label: pick(m, "", "late")}
		b.Outcomes = append(b.Outcomes, o)
	}
	return b
}

// call draws a call and makes it.
func (m *model) call() {
	ctx, node := m.Context(), pick(m, nodes...)
	few := len(m.live()) < 8 // so that much is done with the same job
	switch n := m.IntN(100); {
	case n < 25 && few:
		jobs := []durable.NewJob{m.newJob()}
		other := m.newJob()
		if m.IntN(3) == 0 && other.ID != jobs[0].ID && (other.Key != jobs[0].Key || other.Key == "") {
			jobs = append(jobs, other)
		}
		p := pick(m, durablestore.Placement{}, durablestore.Placement{Node: node, Ahead: ahead, Lead: lead, Limit: 10})
		if len(jobs) > 1 {
			p = durablestore.Placement{} // a store may leave several, of which some have keys, to a claim
		}
		m.compare(fmt.Sprintf("insert %+v %+v", jobs, p), func(s durable.Store) (any, error) {
			if m.begin[s] != nil && p.Node == "" {
				return inTx(m, s, func(s durablestore.TxStore, tx durable.Tx) (any,
					error) {
					return orphan(s.InsertTx(ctx, tx, jobs))
				})
			}
			return orphan(s.Insert(ctx, jobs, p))
		})
	case n < 25:
		b := m.batch()
		m.compare(fmt.Sprintf("settle %+v", b), func(s durable.Store) (any, error) {
			if m.begin[s] != nil && m.step%2 == 0 {
				a, err := inTx(m, s, func(s durablestore.TxStore, tx durable.Tx) (any, error) {
					c, err := s.CompleteTx(ctx, tx, b)
					c.Released = false
					return c, err
				})
				if err == nil {
					// PostgreSQL tells the children of parents by another call.
					_, err = s.Prune(ctx, durable.Retention{})
				}
				return a, err
			}
			c, err := s.Commit(ctx, b)
			c.Released = false // which may be a hint that is not needed
			return c, err
		})
	case n < 31 && m.IntN(2) == 0:
		drain := m.IntN(3) == 0
		m.compare(fmt.Sprintf("drain %s: %v", node, drain), func(s durable.Store) (any, error) { return s.DrainNode(ctx, node, drain) })
	case n < 31:
		m.compare("join "+node, func(s durable.Store) (any, error) { return s.Join(ctx, node, lease) })
	case n < 38:
		for range 1 + m.IntN(2) { // it dies, and somebody finds out
			m.beat(node, -time.Second)
			node = pick(m, nodes...)
		}
		fallthrough
	case n < 45:
		m.beat(node, lease)
	case n < 48:
		m.compare("leave "+node, func(s durable.Store) (any, error) { return nil, s.Leave(ctx, node) })
	case n < 64:
		r := durablestore.ClaimRequest{Node: node, Ahead: ahead, Lead: lead, Limit: 100}
		limited := m.IntN(2) == 0
		for _, kind := range kinds[:1+m.IntN(2)] {
			limit := durablestore.KindLimit{Kind: kind, Max: pick(m, 100, 100, 2), Global: pick(m, 0, 0, 4, 100)}
			if limited {
				limit.PerPartition = pick(m, 0, 1, 2)
				limit.Rate = pick(m, durablestore.Rate{}, durablestore.Rate{}, durablestore.Rate{Every: 25 * time.Minute, Burst: 3})
			}
			if m.tied() {
				limit = durablestore.KindLimit{Kind: kind, Max: 100}
			}
			r.Kinds = append(r.Kinds, limit)
		}
		queue := pick(m, "", "", "", "q")
		m.compare(fmt.Sprintf("claim of queue %q %+v", queue, r), func(s durable.Store) (any, error) {
			claim := s.Claim
			switch {
			case queue != "":
				claim = func(ctx context.Context, r durablestore.ClaimRequest) (durablestore.ClaimResult, error) {
					return s.ClaimQueue(ctx, queue, r)
				}
			case limited:
				claim = s.ClaimLimited
			}
			c, err := claim(ctx, r)
			slices.SortFunc(c.Jobs, func(a, b durable.Job) int { return bytes.Compare(a.ID[:], b.ID[:]) })
			return c, err
		})
	case n < 67:
		var keep []durable.ID
		for _, j := range m.jobs {
			if m.IntN(2) == 0 {
				keep = append(keep, j.ID)
			}
		}
		m.compare("release "+node, func(s durable.Store) (any, error) { return s.Release(ctx, node, keep) })
	case n < 74:
		ref, _ := m.ref()
		k := durable.KeptStep{Name: pick(m, "go", "stop"), Signal: m.IntN(3) > 0, Result: []byte(pick(m, "1", "2"))}
		if k.Signal {
			k.Result = nil
		}
		m.compare(fmt.Sprintf("keep %v %+v", ref, k), func(s durable.Store) (any, error) {
			j, err := there(s.Get(ctx, ref.ID))
			if err != nil {
				return nil, err
			}
			of, k := j.(durable.Job), k
			k.Occasion = of.Occasion()
			result, ok, err := s.KeepStep(ctx, ref, k)
			return fmt.Sprintf("%q %t", result, ok), err
		})
	case n < 80:
		ref, _ := m.ref()
		name, payload := pick(m, "go", "stop"), []byte(pick(m, "1", "2"))
		m.compare(fmt.Sprintf("signal %v %s", ref.ID, name),
			func(s durable.Store) (any, error) { return s.Signal(ctx, ref.ID, name, payload) })
	case n < 96:
		ref, _ := m.ref()
		waits := pick(m, durable.OpCancel, durable.OpPause, durable.OpReschedule) // for the end of a run
		c := durable.Change{Op: pick(m, waits, waits, durable.OpResume, durable.OpReschedule, durable.OpRunNow,
			durable.OpRevive, durable.OpDelete, durable.OpMove), Due: m.time(), Queue: pick(m, "", "q"), Absent: m.IntN(2) == 0}
		m.compare(fmt.Sprintf("change %v %+v", ref.ID, c), func(s durable.Store) (any, error) { return s.Change(ctx, ref.ID, c) })
	case n < 97:
		kind, pause := pick(m, kinds...), m.IntN(2) == 0
		m.compare(fmt.Sprintf("pause %s %v", kind, pause),
			func(s durable.Store) (any, error) { return nil, s.PauseKind(ctx, kind, pause) })
	case n < 98:
		r := durable.Retention{Succeeded: pick(m, 0, time.Microsecond, time.Hour),
			Dead: pick(m, 0, time.Microsecond, time.Hour), History: pick(m, 0, time.Microsecond, time.Hour)}
		m.compare(fmt.Sprintf("prune %+v", r), func(s durable.Store) (any, error) { return s.Prune(ctx, r) })
	default:
		ref, j := m.ref()
		m.compare("get", func(s durable.Store) (any, error) {
			if m.begin[s] != nil && m.step%2 == 0 {
				return inTx(m, s, func(s durablestore.TxStore, tx durable.Tx) (any,
					error) {
					return there(s.GetTx(ctx, tx, ref.ID))
				})
			}
			return there(s.Get(ctx, ref.ID))
		})
		key := cmp.Or(j.Key, pick(m, "x", "q"))
		m.compare("find "+key, func(s durable.Store) (any, error) { return there(s.Find(ctx, key)) })
		before, limit := int64(m.IntN(3)), m.IntN(3)
		m.compare("page of runs", func(s durable.Store) (any, error) { return s.Runs(ctx, ref.ID, before, limit) })
		m.compare("paused kinds", func(s durable.Store) (any, error) {
			kinds, err := s.PausedKinds(ctx)
			slices.Sort(kinds)
			return kinds, err
		})
		m.compare("kinds", func(s durable.Store) (any, error) { return s.Kinds(ctx) })
		f := durable.Filter{Kind: pick(m, "", "k"), Prefix: pick(m, "", "x"), Tags: pick(m, nil, nil, []string{"s"}, []string{"s", "t"}),
			States: pick(m, nil, []durable.State{durable.Waiting, durable.Dead}, []durable.State{durable.Succeeded, durable.Dead},
				[]durable.State{durable.Waiting}, []durable.State{durable.Running}, []durable.State{durable.Paused},
				[]durable.State{durable.Blocked}), Limit: pick(m, 0, 2)}
		m.compare(fmt.Sprintf("counts %+v", f), func(s durable.Store) (any, error) {
			counts, err := s.Counts(ctx, f)
			slices.SortFunc(counts, func(a, b durable.Count) int {
				return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.State, b.State))
			})
			return counts, err
		})
		if ref, _ := m.ref(); m.IntN(2) == 0 {
			f.After = ref.ID
		}
		m.compare(fmt.Sprintf("list %+v", f), func(s durable.Store) (any, error) { return s.List(ctx, f) })
	}
}

// inTx asks in a transaction of the caller: first in one that is rolled back, of
// which nothing is to be left.
func inTx(m *model, s durable.Store, ask func(durablestore.TxStore, durable.Tx) (any, error)) (answer any, err error) {
	for _, end := range []func(durable.Tx) error{durable.Tx.Rollback, durable.Tx.Commit} {
		tx, err := m.begin[s]()
		if err != nil {
			return nil, err
		}
		if answer, err = ask(s.(durablestore.TxStore), tx); err != nil {
			tx.Rollback()
			return nil, err
		}
		if err := end(tx); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// orphan returns what an insert answers, or its error if a parent is missing.
func orphan(placed []durable.InsertResult, err error) (any, error) {
	if errors.Is(err, durable.ErrNotFound) {
		return err.Error(), nil
	}
	return placed, err
}

// there returns the job, or the zero one if there is none.
func there(j durable.Job, err error) (any, error) {
	if errors.Is(err, durable.ErrNotFound) {
		err = nil
	}
	return j, err
}

// tied reports whether jobs wait of which none is before the other, as those that a
// heartbeat has freed together: which of them a limit leaves out is up to the store.
func (m *model) tied() bool {
	type place struct {
		kind     string
		priority durable.Priority
		due      time.Time
	}
	seen := make(map[place]bool)
	for _, j := range m.jobs {
		if p := (place{j.Kind, j.Priority, j.Due}); j.State == durable.Waiting {
			if seen[p] {
				return true
			}
			seen[p] = true
		}
	}
	return false
}

func (m *model) beat(node string, lease time.Duration) {
	m.Helper()
	w := durablestore.Watch{Kinds: kinds[:m.IntN(3)], Ahead: ahead}
	m.compare(fmt.Sprintf("beat %s %v %+v", node, lease, w), func(s durable.Store) (any, error) {
		p, err := s.Heartbeat(m.Context(), node, lease, w)
		if p.Freed > 0 {
			p.Due = false // those just freed may not count
		}
		p.Alone = false // which a file alone can say
		slices.Sort(p.Paused)
		slices.SortFunc(p.Dead, func(a, b durable.ID) int { return bytes.Compare(a[:], b[:]) })
		slices.SortFunc(p.Canceled, func(a, b durablestore.Ref) int { return bytes.Compare(a.ID[:], b.ID[:]) })
		return p, err
	})
}

// compare asks all stores the same and holds the answers against the first's.
func (m *model) compare(call string, ask func(durable.Store) (any, error)) {
	m.Helper()
	begun := time.Now()
	answers := make([]any, len(m.stores))
	for i, s := range m.stores {
		var err error
		if answers[i], err = ask(s); err != nil {
			m.Fatalf("step %d, %s: %s: %v", m.step, call, m.names[i], err)
		}
	}
	m.slack = max(m.slack, time.Since(begun)+time.Millisecond)
	for i, a := range answers[1:] {
		if path := m.differ(reflect.ValueOf(answers[0]), reflect.ValueOf(a)); path != "" {
			m.Fatalf("step %d, %s:\nmemory returns %+v\n%s returns %+v\nat %s", m.step, call, answers[0], m.names[i+1], a, path)
		}
	}
}

// differ returns where two values differ, "" if they are the same but for times that are
// not far apart.
func (m *model) differ(a, b reflect.Value) string {
	if !a.IsValid() || !b.IsValid() {
		if a.IsValid() != b.IsValid() {
			return "."
		}
		return ""
	}
	if t, ok := a.Interface().(time.Time); ok {
		if u := b.Interface().(time.Time); t.IsZero() != u.IsZero() || t.Sub(u).Abs() > m.slack {
			return fmt.Sprint(": ", t, " and ", u)
		}
		return ""
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if path := m.differ(a.Field(i), b.Field(i)); path != "" {
				return "." + a.Type().Field(i).Name + path
			}
		}
		return ""
	case reflect.Slice:
		if a.Len() != b.Len() {
			return fmt.Sprint(": ", a.Len(), " and ", b.Len(), " entries")
		}
		for i := range a.Len() {
			if path := m.differ(a.Index(i), b.Index(i)); path != "" {
				return fmt.Sprint("[", i, "]", path)
			}
		}
		return ""
	case reflect.Map:
		if a.Len() != b.Len() {
			return fmt.Sprint(": ", a.Len(), " and ", b.Len(), " entries")
		}
		for _, key := range a.MapKeys() {
			if path := m.differ(a.MapIndex(key), b.MapIndex(key)); path != "" {
				return fmt.Sprint("[", key, "]", path)
			}
		}
		return ""
	}
	return cmp.Or(map[bool]string{false: fmt.Sprintf(": %v and %v", a, b)}[a.Equal(b)], "")
}
