package postgres_test

import (
	"regexp"
	"strconv"
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
		rows := must(store.DB().Query("explain (analyze, timing off) "+postgres.PruneJobs(state), time.Hour.Microseconds(), 5000, 0, 0))
		plan := strings.Join(must(sqlrow.Strings(rows, nil)), "\n")
		if !strings.Contains(plan, "using executor_job_over") || strings.Contains(plan, "Rows Removed by Filter") ||
			regexp.MustCompile("Seq Scan on executor_(job|run|step|parent)").MatchString(plan) {
			t.Errorf("%v: the plan is\n%s", state, plan)
		}
	}
}

// awaited adds so many jobs that have ended in turn, each with a child that waits, and behind them jobs without.
func awaited(t *testing.T, store *postgres.Store, jobs, free int) {
	t.Helper()
	for _, statement := range []string{
		`insert into executor_job (` + sqlrow.Columns + `)
			select gen_random_uuid(), null, 'k', '', 0, 'once', '', 0, i, 0, 0, {Succeeded}, 0, 0, '', 0, 1, 0, 0, 0, '', null, 0, i / 3, false, '', '', '', '', (i <= $1::int)::int, ''
			from generate_series(1, $1::int + $2::int) i`,
		`insert into executor_job (` + sqlrow.Columns + `)
			select gen_random_uuid(), 'k' || due, 'k', '', 0, 'once', '', 0, 0, 0, 0, {Paused}, 0, 0, '', 0, 1, 0, 0, 0, '', null, 0, 0, false, '', '', '', '', {HasParents} + {IsBlocked}, ''
			from executor_job where family = {HasChildren} and $1::int + $2::int > 0`,
		`insert into executor_parent (child, ord, parent, state, late)
			select c.id, 0, p.id, 3, false from executor_job p join executor_job c on c.key = 'k' || p.due where $1::int + $2::int > 0`,
		"analyze",
	} {
		args := []any{jobs, free}
		if statement == "analyze" {
			args = nil
		}
		must(store.DB().Exec(sqlrow.SQL(statement), args...))
	}
}

// A prune looks at so many jobs and no more, of which it removes none, and the next goes on from there: what is behind
// jobs that children wait for is removed, and so are these once that has ended.
func TestPruneGoesOnBehindWhatIsAwaited(t *testing.T) {
	const window, windows, jobs = 5000, 10, 60_000
	store := open(t, dsn(t))
	awaited(t, store, jobs, 7)
	rows := must(store.DB().Query("explain (analyze, timing off) "+postgres.PruneJobs(durable.Succeeded), time.Hour.Microseconds(), window, 0, 0))
	plan := strings.Join(must(sqlrow.Strings(rows, nil)), "\n")
	for _, m := range regexp.MustCompile(`actual rows=(\d+)`).FindAllStringSubmatch(plan, -1) {
		if n := must(strconv.Atoi(m[1])); n > window {
			t.Errorf("a prune of %d jobs reads %d rows by\n%s", window, n, plan)
			break
		}
	}
	if regexp.MustCompile("Seq Scan on executor_(job|parent)").MatchString(plan) {
		t.Errorf("the plan is\n%s", plan)
	}
	old := durable.Retention{Succeeded: time.Hour}
	for _, want := range []int{0, 7, 0} {
		if n := must(store.Prune(t.Context(), old)); n != want {
			t.Fatalf("removed %d, want %d", n, want)
		}
	}
	must(store.DB().Exec(sqlrow.SQL("update executor_job set state = {Canceled}, family = 2 where state = {Paused}")))
	removed := 0
	for range jobs/window + 4 { // from the beginning again
		n := must(store.Prune(t.Context(), old))
		if removed += n; n > window {
			t.Fatalf("removed %d at once", n)
		}
	}
	if removed != jobs {
		t.Errorf("removed %d, want %d", removed, jobs)
	}
}

// A job with more children than a prune looks at stays until the others are removed, whether they have ended or not.
func TestPruneOfLargeFamily(t *testing.T) {
	store := open(t, dsn(t))
	awaited(t, store, 1, 0)
	must(store.DB().Exec(sqlrow.SQL("update executor_job set state = {Canceled}, family = 2 where state = {Paused}")))
	must(store.DB().Exec("insert into executor_parent (child, ord, parent, state, late) select child, i, parent, state, late from executor_parent, generate_series(1, $1::int) i", sqlrow.FamilyMost))
	for _, want := range []int{0, 1} {
		if n := must(store.Prune(t.Context(), durable.Retention{Succeeded: time.Hour})); n != want {
			t.Errorf("removed %d, want %d", n, want)
		}
		must(store.DB().Exec("delete from executor_parent where ord = 1"))
	}
}

// What is noted of runs that are over is forgotten, some at a time and by the index, and what is noted of others stays.
func TestPruneForgetsNotes(t *testing.T) {
	store := open(t, dsn(t))
	must(store.DB().Exec("insert into executor_begun (job, epoch, started) select gen_random_uuid(), 1, 1 from generate_series(1, 12000)"))
	must(store.DB().Exec(sqlrow.SQL(`insert into executor_job (` + sqlrow.Columns + `)
		select job, null, 'k', '', 0, 'once', '', 0, 0, 0, 0, {Granted}, 0, 1, 'a', 0, 1, 0, 0, 0, '', null, 0, 0, false, '', '', '', '', 0, ''
		from executor_begun order by job limit 10 offset 6000`)))
	awaited(t, store, 3000, 0)
	must(store.DB().Exec("insert into executor_progress (job, epoch, done, total, note, noted) select job, 1, 1, 1, '', 1 from executor_begun"))
	must(store.DB().Exec("analyze"))
	for _, table := range sqlrow.Notes {
		tx := must(store.DB().Begin())
		rows := must(tx.Query("explain (analyze, timing off) "+sqlrow.ForgetNotes(table, "$1", "$2"), "00000000-0000-0000-0000-000000000000", "0000ffff-ffff-ffff-ffff-ffffffffffff"))
		plan := strings.Join(must(sqlrow.Strings(rows, nil)), "\n")
		if strings.Contains(plan, "Seq Scan on executor_") || regexp.MustCompile(`actual rows=\d{3}`).MatchString(plan) {
			t.Errorf("%s: the plan is\n%s", table, plan)
		}
		tx.Rollback()
	}
	for _, want := range []int{7000, 2010, 10, 10} {
		must(store.Prune(t.Context(), durable.Retention{}))
		for _, table := range sqlrow.Notes {
			left := 0
			if err := store.DB().QueryRow("select count(*) from " + table).Scan(&left); err != nil || left != want {
				t.Errorf("%d rows are left in %s, want %d: %v", left, table, want, err)
			}
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
