package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
)

// A drain waits for the claim that is under way, so that what it gives the node is seen when the drain is.
func TestDrainNodeWaitsForClaims(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "a", time.Hour))
	end := leaveOpen(t, store, "select from executor_node where id = 'a' for key share") // as a claim does
	done := make(chan bool)
	go func() { done <- must(store.DrainNode(t.Context(), "a", true)) }()
	waitForWaiting(t, store, 1)
	if must(store.Nodes(t.Context()))[0].Draining {
		t.Error("the node is to drain, and a claim may give it a job yet")
	}
	end()
	if !<-done || !must(store.Nodes(t.Context()))[0].Draining {
		t.Error("the node is not to drain")
	}
}

// However many jobs wait in a queue that nobody serves, a claim of another reads few pages, and so does one of the
// default queue, and a heartbeat that looks in both.
func TestClaimQueueReadsFewPages(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "a", time.Hour))
	for i := range 20 {
		batch := make([]durable.NewJob, 1000)
		for k := range batch {
			batch[k] = durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Delay: -time.Hour, Attempts: 3, Queue: "gone"}
		}
		if i == 0 {
			batch[0].Queue, batch[1].Queue = "q", ""
		}
		must(store.Insert(t.Context(), batch, durablestore.Placement{}))
	}
	zero := []int64{0}
	claim := []any{"a", time.Second.Microseconds(), 0, 10, []string{"k"}, []int64{10}, zero, zero, zero}
	beat := []any{"a", time.Hour.Microseconds(), []string{"k"}, time.Second.Microseconds(), zero, zero, zero}
	for _, analyzed := range []bool{false, true} { // a planner without statistics finds the indexes as well
		if analyzed {
			must(store.DB().Exec("vacuum analyze"))
		}
		for i, n := range []int{
			pages(t, store, postgres.ClaimQueued, append(claim, "q")...),
			pages(t, store, postgres.ClaimPlenty, claim...),
			pages(t, store, postgres.HeartbeatQueues, append(beat, []string{"k"}, []string{"q"})...),
		} {
			if n > 300 {
				t.Errorf("analyzed %v: statement %d reads %d pages", analyzed, i, n)
			}
		}
		must(store.Release(t.Context(), "a", nil))
	}
	if counts := must(store.QueueCounts(t.Context())); fmt.Sprint(len(counts), counts[0].Jobs+counts[1].Jobs) != "2 19999" {
		t.Errorf("queues are %+v", counts)
	}
}
