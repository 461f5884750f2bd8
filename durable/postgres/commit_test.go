package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
)

// A transaction that is open on one job's row does not keep others of the same group from being confirmed and
// committed. The answer names that one, and it is done when the transaction is over.
func TestCommitSkipsLockedJobs(t *testing.T) {
	for what, ahead := range map[string]time.Duration{"confirm": time.Minute, "commit": 0} {
		t.Run(what, func(t *testing.T) {
			store := open(t, dsn(t))
			jobs := claimed(t, store, "a", 3, ahead)
			end := leaveOpen(t, store, lockJob, uuidText(jobs[1]))
			b := durablestore.CommitRequest{Node: "a", History: 10}
			for _, j := range jobs {
				if what == "confirm" {
					b.Confirms = append(b.Confirms, durablestore.Confirm{Ref: durablestore.Ref{ID: j.ID, Epoch: j.Epoch}})
				} else {
					b.Outcomes = append(b.Outcomes,
						durable.Outcome{Ref: durablestore.Ref{ID: j.ID, Epoch: j.Epoch}, State: durable.Succeeded,
							Due: j.Due, Occurrence: j.Occurrence})
				}
			}
			for _, want := range []struct {
				done   string
				locked int
			}{{"[true false true]", 1}, {"[true true true]", 0}} {
				s, err := store.Commit(soon(t), b)
				if err != nil {
					t.Fatal(err)
				}
				done := fmt.Sprint(append(s.Confirmed, s.Committed...))
				if done != want.done || len(s.Locked) != want.locked || want.locked == 1 &&
					s.Locked[0].ID != jobs[1].ID {
					t.Errorf("done %v, locked %v, want %v", done, s.Locked, want)
				}
				end()
			}
		})
	}
}

// A commit finds each row by its ID, also where the server has seen that nothing is held, and plans for any number of
// entries: by another way it compares each of these with all that is held.
func TestCommitFindsRowsByID(t *testing.T) {
	store := open(t, dsn(t))
	must(store.DB().Exec(`insert into executor_job (` + sqlrow.Columns + `)
		select gen_random_uuid(), null, 'k', '', 0, 'once', '', 0, 0, 0, 0, 0, 0, 0, '', 0, 1, 0, 0, 0, '', null, 0, 0, false, '', '', '', '', 0, ''
		from generate_series(1, 20000) i`))
	must(store.DB().Exec("analyze executor_job"))
	conn := must(store.DB().Conn(t.Context()))
	defer conn.Close()
	for i, statement := range postgres.Settling {
		must(conn.ExecContext(t.Context(), fmt.Sprintf("prepare settle%d as %s", i, statement)))
		ids := "array_fill('00000000-0000-0000-0000-000000000000'::uuid, array[1000])"
		rest := strings.Repeat(", null", strings.Count(statement, "$19")*16+2)
		for _, plans := range []string{"force_generic_plan", "force_custom_plan"} { // a server begins with custom ones
			must(conn.ExecContext(t.Context(), "set plan_cache_mode = "+plans))
			rows := must(conn.QueryContext(t.Context(), fmt.Sprintf("explain execute settle%d (%s%s)", i, ids, rest)))
			plan := strings.Join(must(sqlrow.Strings(rows, nil)), "\n")
			if !strings.Contains(plan, "using executor_job_pkey") || strings.Contains(plan, "executor_job_owner") ||
				strings.Contains(plan, "Seq Scan on executor_job ") {
				t.Errorf("%s: the plan is\n%s", plans, plan)
			}
		}
	}
}
