package postgres_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/postgres"
)

// A prune finds by the index what is old enough, and by others what belongs to it: it does not cost more where more is
// kept, also before the server has statistics of it.
func TestPruneUsesIndex(t *testing.T) {
	for _, state := range []durable.State{durable.Succeeded, durable.Dead, durable.Canceled} {
		store := open(t, dsn(t))
		must(store.DB().Exec(`insert into executor_job (`+sqlrow.Columns+`)
			select gen_random_uuid(), null, 'k', '', 0, 'once', '', 0, 0, 0, 0, $1::smallint, 0, 0, '', 0, 1, 0, 0, 0, '', null, 0, $2::bigint - i * 1000, false, '', '', '', '', 0, ''
			from generate_series(1, 20000) i`, int64(state), time.Now().UnixMicro()))
		must(store.DB().Exec("analyze executor_job"))
		must(store.DB().Exec(`insert into executor_run (` + sqlrow.RunColumns + `)
			select id, 1, 0, 1, 1, 'a', 0, 1, 0, '', '' from executor_job`))
		must(store.DB().Exec("insert into executor_step select id, 0, false, 's', '1', 0 from executor_job"))
		must(store.DB().Exec(`insert into executor_parent (child, ord, parent, state, late)
			select id, 0, gen_random_uuid(), 3, false from executor_job`))
		rows := must(store.DB().Query("explain (analyze, timing off) "+postgres.PruneJobs(state), time.Hour.Microseconds(), 5000))
		plan := strings.Join(must(sqlrow.Strings(rows, nil)), "\n")
		if !strings.Contains(plan, "using executor_job_over") || strings.Contains(plan, "Rows Removed by Filter") ||
			regexp.MustCompile("Seq Scan on executor_(job|run|step|parent)").MatchString(plan) {
			t.Errorf("%v: the plan is\n%s", state, plan)
		}
	}
}

// addRuns adds a history of one run for each of so many jobs, of which one in a
// thousand finished long ago.
func addRuns(t *testing.T, store *postgres.Store, jobs int) {
	must(store.DB().Exec(`insert into executor_run (`+sqlrow.RunColumns+`)
		select gen_random_uuid(), 1, 0, 1, 1, 'a', 0, case when i % 1000 = 0 then 1 else $1::bigint end, 0, '', '' from generate_series(1, $2::int) i`,
		time.Now().UnixMicro(), jobs))
	must(store.DB().Exec("analyze executor_run"))
}

// What is old is removed from the history by the next prune, wherever it is, and however much is kept.
func TestPruneFindsOldRuns(t *testing.T) {
	store := open(t, dsn(t))
	for range 2 {
		addRuns(t, store, 50_000)
		if n := must(store.Prune(t.Context(), durable.Retention{History: time.Hour})); n != 50 {
			t.Errorf("removed %d of 50", n)
		}
	}
}

// A prune finds by the index which runs are old: it does not cost more where more is kept.
func TestPruneOfHistoryUsesIndex(t *testing.T) {
	store := open(t, dsn(t))
	addRuns(t, store, 50_000)
	rows := must(store.DB().Query("explain (analyze, timing off) "+postgres.PruneRuns, time.Hour.Microseconds(), 1000, []int16{0, 1, 2, 3, 4, 5}))
	plan := strings.Join(must(sqlrow.Strings(rows, nil)), "\n")
	if !strings.Contains(plan, "using executor_run_latest") || strings.Contains(plan, "Seq Scan on executor_run ") ||
		strings.Contains(plan, "Rows Removed by Filter") {
		t.Errorf("the plan is\n%s", plan)
	}
}

// A prune finds one partition after the other by the index: it does not cost more where more jobs wait for each, nor
// where there are more than it looks at.
func TestPruneOfPartitionsUsesIndex(t *testing.T) {
	store := open(t, dsn(t))
	must(store.DB().Exec(`insert into executor_job (` + sqlrow.Columns + `)
		select gen_random_uuid(), null, 'k', '', 0, 'once', '', 0, i, 0, 0, 0, 0, 0, '', 0, 1, 0, 0, 0, '', null, 0, 0, false, '', '', '', 'part ' || i % 10, 0, ''
		from generate_series(1, 20000) i`))
	must(store.DB().Exec("analyze executor_job"))
	for _, most := range []int{5, 1000} {
		rows := must(store.DB().Query("explain (analyze, timing off) "+postgres.RelineJobs, "", "", 0, most))
		plan := strings.Join(must(sqlrow.Strings(rows, nil)), "\n")
		if !strings.Contains(plan, "(ROW(kind, part, priority) > ROW(look") || strings.Contains(plan, "Seq Scan on executor_") ||
			regexp.MustCompile(`Removed by [\w ]+: \d{3}`).MatchString(plan) {
			t.Errorf("the plan is\n%s", plan)
		}
	}
}

// A prune puts partitions in line again that were lost, however many there are: some with each call.
func TestPruneFindsAllLostPartitions(t *testing.T) {
	const parts = 2500
	store := open(t, dsn(t))
	must(store.DB().Exec(`insert into executor_job (`+sqlrow.Columns+`, lined)
		select gen_random_uuid(), null, 'k', '', 0, 'once', '', 0, 1, 0, 0, 0, 0, 0, '', 0, 1, 0, 0, 0, '', null, 0, 0, false, '', '', '', 'part ' || i, 0, '', 0
		from generate_series(1, $1::int) i`, parts))
	for range 4 {
		must(store.Prune(t.Context(), durable.Retention{}))
	}
	left := 0
	if err := store.DB().QueryRow("select count(*) from executor_job where lined = epoch").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d of %d are taken for being in line: %v", left, parts, err)
	}
}
