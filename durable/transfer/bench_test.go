package transfer_test

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/executor-go/executor/durable/postgres"
	"github.com/executor-go/executor/durable/sqlite"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/transfer"
)

// BenchmarkMove exports 100,000 jobs, of which half have run, and imports them into SQLite and PostgreSQL.
func BenchmarkMove(b *testing.B) {
	const n = 100_000
	from := must(sqlite.Open(filepath.Join(b.TempDir(), "from.db"), sqlite.Normal()))
	defer from.Close()
	must(from.Join(b.Context(), "n", time.Hour))
	jobs := make([]store.NewJob, n)
	for i := range jobs {
		jobs[i] = store.NewJob{ID: store.NewID(), Kind: "k", Payload: make([]byte, 100), Schedule: store.Once, Attempts: 1, Delay: time.Duration(i%2) * time.Hour}
	}
	must(from.Insert(b.Context(), jobs, store.Placement{}))
	c := must(from.Claim(b.Context(), store.ClaimRequest{Node: "n", Limit: n, Kinds: []store.KindLimit{{Kind: "k", Max: n}}}))
	end := store.CommitRequest{Node: "n", History: 1}
	for _, j := range c.Jobs {
		end.Outcomes = append(end.Outcomes, store.Outcome{Ref: store.Ref{ID: j.ID, Epoch: j.Epoch}, State: store.Succeeded, Due: j.Due, Occurrence: j.Occurrence,
			Result: make([]byte, 100), Run: store.Run{Occurrence: j.Occurrence, Started: c.Now, Finished: c.Now}})
	}
	must(from.Commit(b.Context(), end))
	var exported bytes.Buffer
	b.Run("Export", func(b *testing.B) {
		for b.Loop() {
			exported.Reset()
			must(transfer.Export(b.Context(), from, &exported))
		}
		b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "jobs/s")
	})
	for name, open := range map[string]func(b *testing.B) store.Full{
		"sqlite":   func(b *testing.B) store.Full { return must(sqlite.Open(filepath.Join(b.TempDir(), "to.db"))) },
		"postgres": func(b *testing.B) store.Full { return must(postgres.Open(server.Schema(b))) },
	} {
		b.Run("Import/"+name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				to := open(b)
				b.StartTimer()
				must(transfer.Import(b.Context(), to, bytes.NewReader(exported.Bytes()), transfer.Options{}))
				to.Close()
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}
