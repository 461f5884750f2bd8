package memory_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/storetest"
)

// The store in memory passes the suite.
func TestStoreConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) durable.Store { return memory.New() })
}

// A page has the jobs with the lowest IDs after the one given, whatever order they were added in.
func TestListPages(t *testing.T) {
	store := memory.New()
	var want []durable.ID
	for i := range 1000 {
		id := durable.ID{byte(i * 7), byte(i * 7 >> 8), 1}
		want = append(want, id)
		job := durable.NewJob{ID: id, Kind: "k", Schedule: "once", Attempts: 1}
		if _, err := store.Insert(t.Context(), []durable.NewJob{job}, durablestore.Placement{}); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(want, func(a, b durable.ID) int { return bytes.Compare(a[:], b[:]) })
	for _, limit := range []int{1, 7, 499, 500, 999, 1000, 1001} {
		var got []durable.ID
		for f := (durable.Filter{Limit: limit}); ; f.After = got[len(got)-1] {
			page, err := store.List(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range page {
				got = append(got, j.ID)
			}
			if len(page) < limit || limit == 1 && len(got) == 20 {
				break
			}
		}
		if !slices.Equal(got, want[:len(got)]) || limit > 1 && len(got) != len(want) {
			t.Errorf("pages of %d: %d jobs, or in another order", limit, len(got))
		}
	}
}

// BenchmarkList is a page of 51 among 100,000 jobs.
func BenchmarkList(b *testing.B) {
	store := memory.New()
	jobs := make([]durable.NewJob, 100_000)
	for i := range jobs {
		jobs[i] = durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1}
	}
	if _, err := store.Insert(b.Context(), jobs, durablestore.Placement{}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if page, err := store.List(b.Context(), durable.Filter{Limit: 51}); err != nil || len(page) != 51 {
			b.Fatal(len(page), err)
		}
	}
}

// The store does what it answers.
func TestStoreFaults(t *testing.T) {
	storetest.RunFaults(t, func(*testing.T) (durablestore.Store, storetest.Faults) { return memory.New(), storetest.Faults{} })
}
