package postgres_test

import (
	"os"
	"testing"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/poisontest"
	durablestore "github.com/executor-go/executor/durable/store"
)

// A row that is not as ours are is declined by the database, or does no harm. Each store has two such rows, of which
// one waits and one is held by a dead node. See package poisontest.
func TestPoisonedRows(t *testing.T) {
	for i, c := range append(poisontest.Cases(), poisontest.Case{Column: "payload", Value: `'\x00'`}) {
		if os.Getenv("EXECUTOR_LONG") == "" && i%7 > 0 {
			continue
		}
		t.Run(poisontest.Name(c, false), func(t *testing.T) {
			t.Parallel()
			store := open(t, dsn(t))
			waits, runs := poisontest.Fill(t, store)
			poisoned := []durable.ID{waits, runs}
			if c.Column == "key" {
				poisoned = poisoned[:1] // two can't have the same
			}
			for _, id := range poisoned {
				_, err := store.DB().Exec("update executor_job set "+c.String()+" where id = $1", id.String())
				if declined := err != nil; declined != c.Declined && !(id == runs && c.Column == "owner") {
					t.Fatalf("the database answers: %v", err)
				}
			}
			poisontest.Judge(t, store, poisoned...)
		})
	}
}

// A history that is newer than the job, as after a part of the tables was restored, stops neither the outcome of a run
// nor the release of what a dead node held.
func TestHistoryNewerThanJobs(t *testing.T) {
	store := open(t, dsn(t))
	_, runs := poisontest.Fill(t, store)
	must(store.DB().Exec(`insert into executor_run (job, seq, occurrence, attempt, epoch, node, started, finished, verdict, error)
		select id, 1, 0, 1, 1, 'x', 0, 0, 0, '' from executor_job`))
	j := must(store.Get(t.Context(), runs))
	must(store.Commit(t.Context(), durablestore.CommitRequest{Node: "dead",
		Begun: []durablestore.Begin{{Ref: durablestore.Ref{ID: j.ID, Epoch: j.Epoch}, Started: j.Due}}}))
	poisontest.Judge(t, store)
}
