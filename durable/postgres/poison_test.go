package postgres_test

import (
	"testing"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/poisontest"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
)

// makeFifth makes the schema of a store that of the fifth version, the last that took any number.
func makeFifth(t *testing.T, store *postgres.Store) {
	t.Helper()
	must(store.DB().Exec(`alter table executor_job drop constraint executor_job_sound;
		alter table executor_job drop column suspect; alter table executor_job drop column meta; alter table executor_job drop column label; alter table executor_run drop column label; drop table executor_tag; alter table executor_limit drop column filled; alter table executor_job drop column tags;
		alter table executor_job drop column part, drop column lined; drop table executor_part;
		alter table executor_node drop column joined, drop column info; alter table executor_run drop column output;
		drop index executor_run_latest; drop table executor_progress, executor_act, executor_step, executor_parent, executor_after; alter table executor_job drop column family; drop table executor_begun; alter table executor_schema drop column oldest;
		update executor_schema set version = 5`))
}

// A row that is not as ours are is declined by the database, or does no harm; one that an older store has is set aside
// when that is brought up to date. Each store has two such rows, of which one waits and one is held by a dead node. See
// package poisontest.
func TestPoisonedRows(t *testing.T) {
	for _, old := range []bool{false, true} {
		for i, c := range append(poisontest.Cases(), poisontest.Case{Column: "payload", Value: `'\x00'`}) {
			if testing.Short() && i%7 > 0 || old && c.Column == "meta" { // which came later
				continue
			}
			t.Run(poisontest.Name(c, old, false), func(t *testing.T) {
				t.Parallel()
				dsn := dsn(t)
				store := open(t, dsn)
				waits, runs := poisontest.Fill(t, store)
				if old {
					makeFifth(t, store)
				}
				poisoned := []durable.ID{waits, runs}
				if c.Column == "key" {
					poisoned = poisoned[:1] // two can't have the same
				}
				for _, id := range poisoned {
					_, err := store.DB().Exec("update executor_job set "+c.String()+" where id = $1", id.String())
					if declined := err != nil; declined != (c.Declined && !old) && !(id == runs && c.Column == "owner") {
						t.Fatalf("the database answers: %v", err)
					}
				}
				if old {
					store = open(t, dsn)
				}
				poisontest.Judge(t, store, poisoned...)
			})
		}
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
