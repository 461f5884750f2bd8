// Package figures measures the durable tier on a SQLite file and on a PostgreSQL
// server of its own, both with every commit on the disk:
//
//	go test -run=NONE -bench=. -benchtime=1x ./durable/internal/figures
package figures

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/pgtest"
	"github.com/executor-go/executor/durable/postgres"
	"github.com/executor-go/executor/durable/sqlite"
	durablestore "github.com/executor-go/executor/durable/store"
)

var server *pgtest.Server

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m.Run, &server)) }

// each runs a benchmark on each store.
func each(b *testing.B, run func(b *testing.B, store durable.Store)) {
	b.Run("sqlite", func(b *testing.B) {
		store, err := sqlite.Open(filepath.Join(b.TempDir(), "jobs.db"))
		if err != nil {
			b.Fatal(err)
		}
		defer store.Close()
		run(b, store)
	})
	b.Run("postgres", func(b *testing.B) {
		store, err := postgres.Open(server.Schema(b))
		if err != nil {
			b.Fatal(err)
		}
		defer store.Close()
		run(b, store)
	})
}

type payload struct {
	To, Subject string
	Numbers     []int
}

var mail = payload{"somebody@example.com", "an ordinary payload of about a hundred bytes", []int{1, 2, 3, 4, 5}}

func newJobs(b *testing.B, store durable.Store, pool *executor.ScheduledPool) *durable.Jobs {
	jobs, err := durable.New(durable.Config{Store: store, Executor: pool, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	return jobs
}

// start runs jobs until the function returned is called.
func start(b *testing.B, jobs *durable.Jobs) (stop func()) {
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- jobs.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}

func report(b *testing.B, name string, ds []time.Duration) {
	slices.Sort(ds)
	at := func(q float64) float64 { return float64(ds[int(q*float64(len(ds)-1))].Microseconds()) / 1000 }
	b.ReportMetric(at(0), name+"-min-ms")
	b.ReportMetric(at(0.5), name+"-p50-ms")
	b.ReportMetric(at(0.99), name+"-p99-ms")
	b.ReportMetric(at(1), name+"-max-ms")
	b.ReportMetric(0, "ns/op")
}

// Lateness of jobs that are scheduled 5 ms to 2 s ahead, on the node that runs
// them and by a program that runs none.
func BenchmarkLateness(b *testing.B) {
	each(b, func(b *testing.B, store durable.Store) {
		pool := executor.Scheduled(4)
		defer pool.Close()
		jobs := newJobs(b, store, pool)
		late := make(chan time.Duration, 1000)
		local := durable.Handle(jobs, "k", func(ctx context.Context, _ payload) (int, error) {
			now := time.Now()
			j, _ := durable.Current(ctx)
			late <- now.Sub(j.Due)
			return 0, nil
		})
		remote := durable.KindOf[payload, int](newJobs(b, store, nil), "k")
		stop := start(b, jobs)
		defer stop()
		time.Sleep(2 * time.Second)
		const n = 200
		for name, add := range map[string]func(time.Duration) error{
			"local": func(d time.Duration) error { _, err := local.AddAfter(b.Context(), d, mail); return err },
			"remote": func(d time.Duration) error {
				_, err := remote.AddAfter(b.Context(), max(d, 100*time.Millisecond), mail)
				return err
			},
		} {
			for range n {
				if err := add(5*time.Millisecond + rand.N(2*time.Second)); err != nil {
					b.Fatal(err)
				}
				time.Sleep(rand.N(20 * time.Millisecond))
			}
			var ds []time.Duration
			for range n {
				ds = append(ds, <-late)
			}
			report(b, name, ds)
		}
	})
}

// Time of one durable Schedule, alone, and by 16 goroutines at the same time.
func BenchmarkSchedule(b *testing.B) {
	each(b, func(b *testing.B, store durable.Store) {
		k := durable.KindOf[payload, int](newJobs(b, store, nil), "k")
		var ds []time.Duration
		for range 300 {
			begun := time.Now()
			if _, err := k.AddAfter(b.Context(), time.Hour, mail); err != nil {
				b.Fatal(err)
			}
			ds = append(ds, time.Since(begun))
		}
		report(b, "alone", ds)
		var wg sync.WaitGroup
		begun := time.Now()
		for range 16 {
			wg.Go(func() {
				for range 300 {
					if _, err := k.AddAfter(b.Context(), time.Hour, mail); err != nil {
						b.Error(err)
					}
				}
			})
		}
		wg.Wait()
		b.ReportMetric(16*300/time.Since(begun).Seconds(), "16-at-once/s")
	})
}

// Throughput of jobs that do nothing: added in thousands, then claimed, run and
// completed with payload, result and history.
func BenchmarkThroughput(b *testing.B) {
	each(b, func(b *testing.B, store durable.Store) {
		const n = 30_000
		pool := executor.Scheduled(8)
		defer pool.Close()
		jobs := newJobs(b, store, pool)
		var left atomic.Int64
		left.Store(n)
		ended := make(chan struct{})
		k := durable.Handle(jobs, "k", func(context.Context, payload) (int, error) {
			if left.Add(-1) == 0 {
				close(ended)
			}
			return 1, nil
		})
		mails := make([]payload, 1000)
		for i := range mails {
			mails[i] = mail
		}
		begun := time.Now()
		for range n / len(mails) {
			if _, err := k.AddAll(b.Context(), 0, mails); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(n/time.Since(begun).Seconds(), "added/s")
		begun = time.Now()
		stop := start(b, jobs)
		<-ended
		stop() // drained: all are committed
		b.ReportMetric(n/time.Since(begun).Seconds(), "run/s")
		b.ReportMetric(0, "ns/op")
		waiting, err := store.List(b.Context(),
			durable.Filter{States: []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed,
				durable.Running}, Limit: 1})
		if err != nil || len(waiting) > 0 {
			b.Errorf("%d jobs are left: %v", len(waiting), err)
		}
	})
}

// A look of an idle node, and a claim of 500, with a million jobs pending.
func BenchmarkMillionPending(b *testing.B) {
	each(b, func(b *testing.B, store durable.Store) {
		ctx := b.Context()
		batch := make([]durable.NewJob, 5000)
		for i := range 200 {
			for k := range batch {
				batch[k] = durable.NewJob{ID: durable.NewID(), Kind: fmt.Sprint("k", k%5), Payload: []byte(`{"a":1}`),
					Schedule: "once", Delay: time.Hour + time.Duration(i)*time.Minute, Attempts: 3}
			}
			if _, err := store.Insert(ctx, batch, durablestore.Placement{}); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := store.Join(ctx, "node", time.Hour); err != nil {
			b.Fatal(err)
		}
		r := durablestore.ClaimRequest{Node: "node", Ahead: time.Second, Lead: time.Millisecond, Limit: 500}
		for i := range 5 {
			r.Kinds = append(r.Kinds, durablestore.KindLimit{Kind: fmt.Sprint("k", i), Max: 500})
		}
		for _, step := range []struct {
			name  string
			ahead time.Duration
			want  int
		}{{"idle", time.Second, 0}, {"claim500", 1000 * time.Hour, 500}} {
			r.Ahead = step.ahead
			var ds []time.Duration
			for range 50 {
				begun := time.Now()
				c, err := store.Claim(ctx, r)
				if err != nil || len(c.Jobs) != step.want {
					b.Fatalf("claimed %d: %v", len(c.Jobs), err)
				}
				ds = append(ds, time.Since(begun))
			}
			report(b, step.name, ds)
		}
	})
}
