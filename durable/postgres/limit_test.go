package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
)

// parts returns jobs of 10,000 partitions: one has as many jobs that wait as there are others, a fiftieth of the others
// have one that is due, and the rest one that is not.
func parts() []durable.NewJob {
	var batch []durable.NewJob
	for i := range 10_000 {
		j := durable.NewJob{Kind: "k", Schedule: "once", Delay: time.Hour, Attempts: 3}
		if i%50 == 0 {
			j.Delay = -time.Second
		}
		j.ID, j.Partition = durable.NewID(), fmt.Sprintf("customer %d", i)
		batch = append(batch, j)
		j.ID, j.Partition, j.Delay = durable.NewID(), "big", -time.Hour
		batch = append(batch, j)
	}
	return batch
}

// A claim reads neither all jobs of a partition that is at its limit, nor all partitions that have nothing due.
func TestClaimLimitedReadsFewPages(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "a", time.Hour))
	must(store.Insert(t.Context(), parts(), durablestore.Placement{}))
	r := durablestore.ClaimRequest{Node: "a", Ahead: time.Second, Limit: 10,
		Kinds: []durablestore.KindLimit{{Kind: "k", Max: 10, PerPartition: 2}}}
	for claimed, tries := 0, 0; claimed < 20; tries++ { // the first claims put all in line
		claimed += len(must(store.ClaimLimited(t.Context(), r)).Jobs)
		if tries == 100 {
			t.Fatalf("claimed %d jobs", claimed)
		}
	}
	must(store.DB().Exec("vacuum analyze"))
	one := []int64{0}
	n := pages(t, store, postgres.ClaimLimited, "a", r.Ahead.Microseconds(), 0, r.Limit, []string{"k"}, []int64{10}, one, one,
		one, one, one, one, []int64{2})
	if n > 1000 {
		t.Errorf("a claim of 10 jobs reads %d pages", n)
	}
}

// If the line of partitions was lost while nodes run, or the rows of kinds, as at a failover to a server that does not
// have the newest commits, jobs are found all the same: after a prune, and at once.
func TestClaimLimitedOutlivesLostTables(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "a", time.Hour))
	claim := func() int {
		c := must(store.ClaimLimited(t.Context(), durablestore.ClaimRequest{Node: "a", Ahead: time.Minute, Limit: 10,
			Kinds: []durablestore.KindLimit{{Kind: "k", Max: 10, PerPartition: 1}}}))
		return len(c.Jobs)
	}
	var batch []durable.NewJob
	for i := range 4 {
		batch = append(batch, durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 3, Partition: fmt.Sprint(i % 2)})
	}
	must(store.Insert(t.Context(), batch, durablestore.Placement{}))
	if n := claim(); n != 2 {
		t.Fatalf("claimed %d jobs, want 2", n)
	}
	// Two are left, in line.
	must(store.DB().Exec(sqlrow.SQL("update executor_job set state = {Succeeded}, owner = '' where state in {Held}")))
	must(store.DB().Exec("truncate executor_part"))
	if n := claim(); n != 0 {
		t.Fatalf("without a line: claimed %d jobs; this proves nothing", n)
	}
	must(store.Prune(t.Context(), durable.Retention{}))
	if n := claim(); n != 2 {
		t.Fatalf("after the line was lost: claimed %d jobs, want 2", n)
	}
	must(store.Release(t.Context(), "a", nil))
	must(store.DB().Exec("truncate executor_limit"))
	for n := 0; claim() != 2; n++ {
		must(store.Release(t.Context(), "a", nil))
		if n == 10 {
			t.Fatal("after the rows of kinds were lost nothing was claimed")
		}
	}
}
