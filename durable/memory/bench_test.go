package memory_test

import (
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// waiting returns a store with n jobs that are due, and a node.
func waiting(b *testing.B, n int) *memory.Store {
	s := memory.New()
	jobs := make([]durable.NewJob, n)
	for i := range jobs {
		jobs[i] = durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1}
	}
	if _, err := s.Insert(b.Context(), jobs, durablestore.Placement{}); err != nil {
		b.Fatal(err)
	}
	if _, err := s.Join(b.Context(), "n", time.Hour); err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkWork is what a node does beside 20,000 jobs that wait: it claims 500, and commits that they wait again.
// heartbeat is one heartbeat, and insert adds 500 jobs, which are removed again.
func BenchmarkWork(b *testing.B) {
	const n, batch = 20_000, 500
	claim := durablestore.ClaimRequest{Node: "n", Limit: batch, Kinds: []durablestore.KindLimit{{Kind: "k", Max: batch}}}
	b.Run("claim", func(b *testing.B) {
		s := waiting(b, n)
		for b.Loop() {
			if c, err := s.Claim(b.Context(), claim); err != nil || len(c.Jobs) != batch {
				b.Fatal(len(c.Jobs), err)
			}
			b.StopTimer()
			s.Release(b.Context(), "n", nil)
			b.StartTimer()
		}
	})
	b.Run("commit", func(b *testing.B) {
		s := waiting(b, n)
		for b.Loop() {
			b.StopTimer()
			c, _ := s.Claim(b.Context(), claim)
			r := durablestore.CommitRequest{Node: "n", History: 1}
			for _, j := range c.Jobs {
				r.Outcomes = append(r.Outcomes, durable.Outcome{Ref: durablestore.Ref{ID: j.ID, Epoch: j.Epoch}, State: durable.Waiting, Due: j.Due.Add(time.Millisecond), Occurrence: j.Due})
			}
			b.StartTimer()
			if a, err := s.Commit(b.Context(), r); err != nil || len(a.Committed) != batch {
				b.Fatal(len(a.Committed), err)
			}
		}
	})
	b.Run("heartbeat", func(b *testing.B) {
		s := waiting(b, n)
		for b.Loop() {
			if p, err := s.Heartbeat(b.Context(), "n", time.Hour, durablestore.Watch{Kinds: []string{"k"}}); err != nil || !p.Due {
				b.Fatal(p, err)
			}
		}
	})
	b.Run("insert", func(b *testing.B) {
		s := waiting(b, n)
		for b.Loop() {
			jobs := make([]durable.NewJob, batch)
			for i := range jobs {
				jobs[i] = durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1}
			}
			if _, err := s.Insert(b.Context(), jobs, durablestore.Placement{}); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			for _, j := range jobs {
				s.Change(b.Context(), j.ID, durable.Change{Op: durable.OpDelete})
			}
			b.StartTimer()
		}
	})
}
