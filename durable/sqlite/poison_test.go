package sqlite

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/executor-go/executor/durable/internal/poisontest"
	durablestore "github.com/executor-go/executor/durable/store"
)

// A row that is not as ours are is declined by the database, or does no harm. See package poisontest.
func TestPoisonedRows(t *testing.T) {
	types := []poisontest.Case{{Column: "state", Value: "'waiting'"}, {Column: "epoch", Value: "1.5"}, {Column: "id", Value: "'text'"},
		{Column: "id", Value: "x'0102'"}, {Column: "kind", Value: "x'00ff'"}, {Column: "payload", Value: "'text'"},
		{Column: "due", Value: "'soon'"}, {Column: "owner", Value: "x'ff'"}, {Column: "attempt", Value: "x''"},
		{Column: "error", Value: "17"}, {Column: "key", Value: "x'ff'"}, {Column: "result", Value: "'text'"}, {Column: "payload", Value: "x'00'"}}
	for i := range types {
		types[i].Declined = types[i].Column != "error" && types[i].Value != "x'00'"
	}
	for i, c := range append(poisontest.Cases(), types...) {
		if os.Getenv("EXECUTOR_LONG") == "" && i%7 > 0 {
			continue
		}
		for _, held := range []bool{false, true} {
			t.Run(poisontest.Name(c, held), func(t *testing.T) {
				t.Parallel()
				store := must(Open(filepath.Join(t.TempDir(), "jobs.db"), Normal()))
				defer store.Close()
				waits, runs := poisontest.Fill(t, store)
				id := waits
				if held {
					id = runs
				}
				db := must(sql.Open("sqlite", store.DSN()))
				defer db.Close()
				_, err := db.Exec("update executor_job set "+c.String()+" where id = ?", id[:])
				if declined := err != nil; declined != c.Declined && !(held && c.Column == "owner") {
					t.Fatalf("the database answers: %v", err)
				}
				poisontest.Judge(t, store, id)
			})
		}
	}
}

// A history that is newer than the job, as after a part of the tables was restored, stops neither the outcome of a run
// nor the release of what a dead node held.
func TestHistoryNewerThanJobs(t *testing.T) {
	store := must(Open(filepath.Join(t.TempDir(), "jobs.db"), Normal()))
	defer store.Close()
	_, runs := poisontest.Fill(t, store)
	j := must(store.Get(t.Context(), runs))
	must(store.Commit(t.Context(), durablestore.CommitRequest{Node: "dead",
		Begun: []durablestore.Begin{{Ref: durablestore.Ref{ID: j.ID, Epoch: j.Epoch}, Started: j.Due}}}))
	must(store.writer.conn.ExecContext(context.Background(), `insert into executor_run (job, seq, occurrence, attempt, epoch, node,
		started, finished, verdict, error) select id, 1, 0, 1, 1, 'x', 0, 0, 0, '' from executor_job`))
	poisontest.Judge(t, store)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
