package postgres_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/storetest/pgserver"
)

// BenchmarkInsert adds jobs with keys that are due at once, by programs that have no node, each with a store of its
// own, to a server that syncs its disk, while a node listens.
func BenchmarkInsert(b *testing.B) {
	own, err := pgserver.Start("max_connections=500")
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(own.Stop)
	for _, backlog := range []int{0, 200_000} {
		for _, adders := range []int{1, 2, 8, 32} {
			b.Run(fmt.Sprintf("backlog=%d/adders=%d", backlog, adders), func(b *testing.B) {
				insertBeside(b, own, backlog, adders)
			})
		}
	}
}

func insertBeside(b *testing.B, own *pgserver.Server, backlog, adders int) {
	conn := must(pgx.Connect(b.Context(), own.DSN()))
	defer conn.Close(b.Context())
	must(conn.Exec(b.Context(), "drop schema if exists adding cascade; create schema adding"))
	dsn := own.DSN() + "&search_path=adding"
	node := must(postgres.Open(dsn))
	defer node.Close()
	for range backlog / 10_000 {
		jobs := make([]durable.NewJob, 10_000)
		for i := range jobs {
			jobs[i] = durable.NewJob{ID: durable.NewID(), Kind: "other", Schedule: "once", Delay: time.Hour, Attempts: 3}
		}
		must(node.Insert(b.Context(), jobs, durablestore.Placement{}))
	}
	var woken atomic.Int64
	listening := make(chan struct{})
	go node.Listen(b.Context(), func() {
		if woken.Add(1) == 1 {
			close(listening)
		}
	})
	<-listening
	stores := make([]*postgres.Store, adders)
	for i := range stores {
		stores[i] = must(postgres.Open(dsn))
		defer stores[i].Close()
	}
	var left atomic.Int64
	left.Store(int64(b.N))
	var all sync.WaitGroup
	b.ResetTimer()
	for _, store := range stores {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				id := durable.NewID()
				must(store.Insert(b.Context(), []durable.NewJob{{ID: id, Key: id.String(), Kind: "k", Schedule: "once", Attempts: 3}},
					durablestore.Placement{}))
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64(woken.Load())/float64(b.N), "wakes/op")
}
