package sqlite_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// A prune puts partitions in line again that were lost, however many there are: some with each call.
func TestPruneFindsAllLostPartitions(t *testing.T) {
	s, _ := openAt(t)
	jobs := make([]durable.NewJob, 2500)
	for i := range jobs {
		jobs[i] = durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1, Partition: fmt.Sprint("part ", i)}
	}
	claim := func() int {
		c, err := s.ClaimLimited(t.Context(), store.ClaimRequest{Node: "n", Limit: len(jobs),
			Kinds: []store.KindLimit{{Kind: "k", Max: len(jobs), PerPartition: 1}}})
		if err != nil {
			t.Fatal(err)
		}
		return len(c.Jobs)
	}
	if _, err := s.Join(t.Context(), "n", time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Insert(t.Context(), jobs, store.Placement{}); err != nil {
		t.Fatal(err)
	}
	execute(t, s, "update executor_job set lined = epoch") // but no partition has a place
	if n := claim(); n != 0 {
		t.Fatalf("claimed %d jobs; this proves nothing", n)
	}
	for range 4 {
		if _, err := s.Prune(t.Context(), durable.Retention{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := claim(); n != len(jobs) {
		t.Errorf("claimed %d of %d jobs", n, len(jobs))
	}
}
