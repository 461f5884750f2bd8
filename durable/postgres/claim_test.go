package postgres_test

import (
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	durablestore "github.com/executor-go/executor/durable/store"
)

// A kind with a limit for all nodes is claimed also if its row was lost while nodes run, as at a failover to a server
// that does not have the newest commits.
func TestClaimMakesLostLimitAgain(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "a", time.Hour))
	claim := func() durablestore.ClaimResult {
		return must(store.Claim(t.Context(), durablestore.ClaimRequest{
			Node: "a", Ahead: time.Minute, Limit: 10, Kinds: []durablestore.KindLimit{{Kind: "k", Max: 10, Global: 3}},
		}))
	}
	claim()
	must(store.DB().Exec("truncate executor_limit"))
	must(store.Insert(t.Context(), []durable.NewJob{{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 3}},
		durablestore.Placement{}))
	for n := 0; ; n++ {
		c := claim()
		if len(c.Jobs) == 1 {
			break
		}
		if n == 10 {
			t.Fatalf("nothing was claimed, busy is %v", c.Busy)
		}
	}
}

// A claim does not wait for a job whose row an open transaction has locked: it takes the others.
func TestClaimSkipsLockedJobs(t *testing.T) {
	store := open(t, dsn(t))
	jobs := claimed(t, store, "a", 3, 0)
	must(store.Release(t.Context(), "a", nil))
	leaveOpen(t, store, lockJob, uuidText(jobs[0]))
	for _, limit := range []int{3, 2} { // with a kind's limit, and without
		c := must(store.Claim(soon(t),
			durablestore.ClaimRequest{Node: "a", Limit: 3, Kinds: []durablestore.KindLimit{{Kind: "k", Max: limit}}}))
		if len(c.Jobs) != 2 || c.Jobs[0].ID == jobs[0].ID || c.Jobs[1].ID == jobs[0].ID {
			t.Errorf("claimed %+v", c.Jobs)
		}
		must(store.Release(t.Context(), "a", nil))
	}
}
