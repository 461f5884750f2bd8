package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/postgres"
)

// A beat finds by the index whether a job is due: it does not cost more where more
// jobs wait.
func TestBeatUsesIndex(t *testing.T) {
	store := open(t, dsn(t))
	later := time.Now().Add(24 * time.Hour).UnixMicro()
	must(store.DB().Exec(`insert into executor_job (`+sqlrow.Columns+`)
		select gen_random_uuid(), null, 'k', '', 0, 'once', '', 0, $1::bigint + i, 0, 0, 0, 0, 0, '', 0, 1, 0, 0, 0, '', null, 0, 0
		from generate_series(1, 20000) i`, later))
	must(store.DB().Exec("analyze executor_job"))
	must(store.Join(t.Context(), "a", time.Hour))
	rows := must(store.DB().Query("explain (analyze, timing off) "+postgres.Heartbeat, "a", time.Hour.Microseconds(), []string{"k", "other"}, time.Minute.Microseconds()))
	plan := strings.Join(must(sqlrow.Strings(rows, nil)), "\n")
	if !strings.Contains(plan, "using executor_job_due") || strings.Contains(plan, "Seq Scan on executor_job ") {
		t.Errorf("the plan is\n%s", plan)
	}
}

// A prune finds by the index what is old enough: it does not cost more where more
// is kept.
func TestPruneUsesIndex(t *testing.T) {
	for _, state := range []durable.State{durable.Succeeded, durable.Dead, durable.Canceled} {
		store := open(t, dsn(t))
		must(store.DB().Exec(`insert into executor_job (`+sqlrow.Columns+`)
			select gen_random_uuid(), null, 'k', '', 0, 'once', '', 0, 0, 0, 0, $1::smallint, 0, 0, '', 0, 1, 0, 0, 0, '', null, 0, $2::bigint - i * 1000
			from generate_series(1, 20000) i`, int64(state), time.Now().UnixMicro()))
		must(store.DB().Exec("analyze executor_job"))
		rows := must(store.DB().Query("explain (analyze, timing off) "+postgres.PruneJobs(state), time.Hour.Microseconds(), 5000))
		plan := strings.Join(must(sqlrow.Strings(rows, nil)), "\n")
		if !strings.Contains(plan, "using executor_job_over") || strings.Contains(plan, "Rows Removed by Filter") {
			t.Errorf("%v: the plan is\n%s", state, plan)
		}
	}
}

// A list of keys that begin alike does not cost more where more jobs are kept: it
// finds few of them by the index of the keys, and many by that of the order.
func TestListOfPrefixUsesIndex(t *testing.T) {
	store := open(t, dsn(t))
	must(store.DB().Exec(`insert into executor_job (` + sqlrow.Columns + `)
		select gen_random_uuid(), 'key/' || i % 1000 || '/' || i, 'k', '', 0, 'once', '', 0, 0, 0, 0, 0, 0, 0, '', 0, 1, 0, 0, 0, '', null, 0, 0
		from generate_series(1, 20000) i`))
	must(store.DB().Exec("analyze executor_job"))
	for prefix, index := range map[string]string{"key/7/": "executor_job_key_key", "nothing": "executor_job_key_key", "key/": "executor_job_pkey"} {
		statement, args := postgres.ListJobs(durable.Filter{Prefix: prefix})
		rows := must(store.DB().Query("explain (analyze, timing off) "+statement, args...))
		plan := strings.Join(must(sqlrow.Strings(rows, nil)), "\n")
		if !strings.Contains(plan, index) || strings.Contains(plan, "Rows Removed by Filter") {
			t.Errorf("%q: the plan is\n%s", prefix, plan)
		}
	}
}
