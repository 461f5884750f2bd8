package model

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/postgres"
	"github.com/executor-go/executor/durable/sqlite"
	durablestore "github.com/executor-go/executor/durable/store"
)

// Where many jobs wait, of many partitions, claims with limits take the same in all stores: as many of each partition,
// in the same turns, and as many as the rate has tokens for. The jobs are of one priority: a store need not look at the
// line of another one if it has no room for that, and so may find out later that a partition has no jobs any more.
func TestStoresAgreeOnLimits(t *testing.T) {
	for _, seed := range seeds(6) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			file, err := sqlite.Open(filepath.Join(t.TempDir(), "jobs.db"), sqlite.Normal())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { file.Close() })
			m := &model{T: t, Rand: rand.New(rand.NewPCG(seed, 1)), names: []string{"memory", "sqlite"},
				stores: []durable.Store{memory.New(), file}}
			if server != nil {
				database, err := postgres.Open(server.Schema(t))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { database.Close() })
				m.names, m.stores = append(m.names, "postgres"), append(m.stores, database)
			}
			for _, node := range nodes {
				m.compare("join", func(s durable.Store) (any, error) { return s.Join(t.Context(), node, 10*time.Hour) })
			}
			claimed := 0
			for m.step = range 150 {
				claimed += m.limits()
				m.jobs, _ = m.stores[0].List(t.Context(), durable.Filter{Limit: 1000})
			}
			if claimed < 50 {
				t.Errorf("only %d jobs were claimed", claimed)
			}
		})
	}
}

// limits makes a call that has to do with limits, and returns how many jobs it has claimed.
func (m *model) limits() (claimed int) {
	ctx, node := m.Context(), pick(m, nodes...)
	switch n := m.IntN(10); {
	case n < 3:
		jobs := make([]durable.NewJob, 4)
		for i := range jobs {
			jobs[i] = durable.NewJob{ID: durable.NewID(), Kind: pick(m, kinds...), Schedule: "once", Attempts: 3,
				Partition: pick(m, "", "p", "q", "r", "s", "t", "u"),
				Due:       m.now().Add(pick(m, -2*time.Hour, -time.Hour, time.Hour, 5*time.Hour)).Add(time.Duration(m.step*10+i) * time.Microsecond)}
		}
		m.compare("insert", func(s durable.Store) (any, error) { return s.Insert(ctx, jobs, durablestore.Placement{}) })
	case n < 7:
		r := durablestore.ClaimRequest{Node: node, Ahead: ahead, Lead: lead, Limit: 100}
		for _, kind := range kinds[:1+m.IntN(2)] {
			r.Kinds = append(r.Kinds, durablestore.KindLimit{Kind: kind, Max: 1 + m.IntN(5), Global: pick(m, 0, 0, 8),
				PerPartition: pick(m, 0, 1, 2, 2), Rate: pick(m, durablestore.Rate{}, durablestore.Rate{},
					durablestore.Rate{Every: 7 * time.Minute, Burst: 8})})
		}
		m.compare(fmt.Sprintf("claim %+v", r), func(s durable.Store) (any, error) {
			c, err := s.ClaimLimited(ctx, r)
			slices.SortFunc(c.Jobs, func(a, b durable.Job) int { return bytes.Compare(a.ID[:], b.ID[:]) })
			claimed = len(c.Jobs)
			return c, err
		})
	case n < 8:
		m.compare("release "+node, func(s durable.Store) (any, error) { return s.Release(ctx, node, nil) })
	default:
		held := slices.DeleteFunc(m.live(), func(j durable.Job) bool { return !j.State.Held() })
		b := durablestore.CommitRequest{Node: node}
		for _, j := range held {
			if m.IntN(2) == 0 {
				continue
			}
			ref := durablestore.Ref{ID: j.ID, Epoch: j.Epoch}
			b.Confirms = append(b.Confirms, durablestore.Confirm{Ref: ref})
			b.Outcomes = append(b.Outcomes, durable.Outcome{Ref: ref, State: pick(m, durable.Waiting, durable.Succeeded),
				Due:        j.Due.Add(pick(m, 0, 3*time.Hour)), // never now, which is not the same for each store
				Occurrence: j.Occurrence, Run: durable.Run{Verdict: durable.RunSucceeded}})
		}
		if len(b.Outcomes) == 0 {
			return 0
		}
		m.compare("commit", func(s durable.Store) (any, error) { return s.Commit(ctx, b) })
	}
	return claimed
}
