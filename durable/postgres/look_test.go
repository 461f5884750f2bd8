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

// A page of the latest runs does not cost more where more are kept, the first or one that follows, and be few of that
// verdict.
func TestLatestUsesIndex(t *testing.T) {
	store := open(t, dsn(t))
	must(store.DB().Exec(`insert into executor_job (` + sqlrow.Columns + `)
		select gen_random_uuid(), null, 'k', '', 0, 'once', '', 0, 0, 0, 0, 3, 0, 0, '', 0, 1, 0, 0, 0, '', null, 0, 0, false, '', '', '', '', 0, ''
		from generate_series(1, 20000) i`))
	must(store.DB().Exec(`insert into executor_run (` + sqlrow.RunColumns + `)
		select id, 1, 0, 1, 1, 'n', 0, row_number() over (), case when row_number() over () % 1000 = 0 then 1 else 0 end, '', '' from executor_job`))
	must(store.DB().Exec("analyze executor_job, executor_run"))
	for _, f := range []durable.LatestFilter{
		{Verdicts: []durable.Verdict{durable.RunSucceeded, durable.RunFailed, durable.RunLost}, Limit: 50},
		{Verdicts: []durable.Verdict{durable.RunFailed}, Limit: 10},
		{Verdicts: []durable.Verdict{durable.RunSucceeded}, Limit: 50, Before: durable.Run{Finished: time.UnixMicro(10_000), Seq: 1}},
	} {
		statement, args := postgres.Latest(f)
		rows := must(store.DB().Query("explain (analyze, timing off) "+statement, args...))
		plan := strings.Join(must(sqlrow.Strings(rows, nil)), "\n")
		if !strings.Contains(plan, "using executor_run_latest") || strings.Contains(plan, "Seq Scan") {
			t.Errorf("%+v: the plan is\n%s", f, plan)
		}
		if got := must(store.Latest(t.Context(), f)); len(got) != f.Limit {
			t.Errorf("%+v: %d runs", f, len(got))
		}
	}
}

// The runs of jobs with some keys are found by these keys, however many runs are kept.
func TestLatestOfKeysUsesIndex(t *testing.T) {
	store := open(t, dsn(t))
	must(store.DB().Exec(`insert into executor_job (` + sqlrow.Columns + `)
		select gen_random_uuid(), 'key ' || i, 'k', '', 0, 'once', '', 0, 0, 0, 0, 3, 0, 0, '', 0, 1, 0, 0, 0, '', null, 0, 0, false, '', '', '', '', 0, ''
		from generate_series(1, 20000) i`))
	must(store.DB().Exec(`insert into executor_run (` + sqlrow.RunColumns + `)
		select id, 1, 0, 1, 1, 'n', 0, row_number() over (), 0, '', '' from executor_job`))
	must(store.DB().Exec("analyze executor_job, executor_run"))
	f := durable.LatestFilter{Verdicts: durablestore.Verdicts(), Limit: 500}
	for i := range 50 {
		f.Keys = append(f.Keys, fmt.Sprint("key ", i*7+1))
	}
	statement, args := postgres.Latest(f)
	rows := must(store.DB().Query("explain (analyze, timing off) "+statement, args...))
	if plan := strings.Join(must(sqlrow.Strings(rows, nil)), "\n"); strings.Contains(plan, "Seq Scan") {
		t.Errorf("the plan is\n%s", plan)
	}
	if got := must(store.Latest(t.Context(), f)); len(got) != len(f.Keys) {
		t.Errorf("%d runs of %d keys", len(got), len(f.Keys))
	}
}

// Acts are forgotten after a year, when the next is noted.
func TestActsAreForgotten(t *testing.T) {
	note := func(store *postgres.Store, action string) {
		if err := store.NoteAct(t.Context(), durable.Act{Action: action}); err != nil {
			t.Fatal(err)
		}
	}
	store := open(t, dsn(t))
	for range 2 {
		note(store, "run")
	}
	must(store.DB().Exec("update executor_act set noted = noted - $1", durable.KeepActs.Microseconds()))
	note(store, "pause")
	if acts := must(store.Acts(t.Context(), durable.ActFilter{Limit: 10})); len(acts) != 1 || acts[0].Action != "pause" {
		t.Errorf("acts are %v", acts)
	}
}

// The names of the queues that jobs wait in are found by the index, by one read for each, however many jobs wait.
func TestQueueNamesUsesIndex(t *testing.T) {
	store := open(t, dsn(t))
	jobs := make([]durable.NewJob, 5000)
	for i := range jobs {
		jobs[i] = durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1, Queue: []string{"a", "b"}[i%2]}
	}
	must(store.Insert(t.Context(), jobs, durablestore.Placement{}))
	must(store.DB().Exec("analyze executor_job"))
	rows := must(store.DB().Query("explain (analyze, timing off) " + sqlrow.QueueNames))
	plan := strings.Join(must(sqlrow.Strings(rows, nil)), "\n")
	if strings.Contains(plan, "Seq Scan on executor_job") || strings.Contains(plan, "rows=2500") || strings.Count(plan, "executor_job_queue") < 2 {
		t.Error(plan)
	}
}

// A page of children reads the jobs of that page alone, however many children a job has.
func TestChildrenReadsOnePage(t *testing.T) {
	store := open(t, dsn(t))
	parent := durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1}
	others := make([]durable.NewJob, 5000)
	for i := range others {
		others[i] = durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1}
	}
	must(store.Insert(t.Context(), append(others, parent), durablestore.Placement{}))
	children := make([]durable.NewJob, 5000)
	for i := range children {
		children[i] = durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1,
			After: durablestore.After{Parents: []durable.ID{parent.ID}, Need: 1}}
	}
	must(store.Insert(t.Context(), children, durablestore.Placement{}))
	must(store.DB().Exec("analyze executor_job, executor_parent"))
	rows := must(store.DB().Query("explain (analyze, timing off) "+postgres.ListChildren, parent.ID.String(), durable.ID{}.String(), 10))
	plan := must(sqlrow.Strings(rows, nil))
	read := 0
	for _, line := range plan {
		if strings.Contains(line, "on executor_job ") {
			read++
			if !strings.Contains(line, "rows=1 loops=10)") && !strings.Contains(line, "rows=1.00 loops=10)") {
				t.Errorf("it reads others: %s", line)
			}
		}
	}
	if got := must(store.Children(t.Context(), parent.ID, durable.ID{}, 10)); read == 0 || len(got) != 10 {
		t.Errorf("%d children; the plan is\n%s", len(got), strings.Join(plan, "\n"))
	}
}
