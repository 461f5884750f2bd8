package sqlite_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/sqlite"
)

// awaited adds so many jobs that have ended in turn, each with a child that waits, and behind them jobs without.
func awaited(t *testing.T, store *sqlite.Store, jobs, free int) {
	execute(t, store, `with recursive s (i) as (select 1 union all select i + 1 from s where i < `+fmt.Sprint(jobs+free)+`)
		insert into executor_job (`+sqlrow.Columns+`)
		select randomblob(16), null, 'k', x'', 0, 'once', '', 0, 0, 0, 0, 3, 0, 0, '', 0, 1, 0, 0, 0, '', null, 0, i / 3, false, '', '', '', '', i <= `+fmt.Sprint(jobs)+`, ''
		from s`,
		sqlrow.SQL(`insert into executor_job (`+sqlrow.Columns+`)
		select randomblob(16), 'k' || rowid, 'k', x'', 0, 'once', '', 0, 0, 0, 0, {Paused}, 0, 0, '', 0, 1, 0, 0, 0, '', null, 0, 0, false, '', '', '', '', {HasParents} + {IsBlocked}, ''
		from executor_job where family = {HasChildren}`),
		sqlrow.SQL(`insert into executor_parent (child, ord, parent, state)
		select c.id, 0, p.id, 3 from executor_job p join executor_job c on c.key = 'k' || p.rowid`))
}

// A prune looks at so many jobs and no more, of which it removes none, and the next goes on from there: what is behind
// jobs that children wait for is removed, and so are these once that has ended.
func TestPruneGoesOnBehindWhatIsAwaited(t *testing.T) {
	const window, windows = 500, 20
	store, _ := openAt(t)
	awaited(t, store, 2*window*windows+500, 7)
	old := durable.Retention{Succeeded: time.Hour}
	for _, want := range []int{0, 0, 7, 0} {
		if n, err := store.Prune(t.Context(), old); n != want || err != nil {
			t.Fatalf("removed %d: %v, want %d", n, err, want)
		}
	}
	execute(t, store, sqlrow.SQL("update executor_job set state = {Canceled}, family = 2 where state = {Paused}"))
	removed := 0
	for range 15 { // from the beginning again
		n, err := store.Prune(t.Context(), old)
		if removed += n; err != nil || n > 2000 {
			t.Fatalf("removed %d: %v", n, err)
		}
	}
	if want := 2*window*windows + 500; removed != want {
		t.Errorf("removed %d, want %d", removed, want)
	}
}

// A job with more children than a prune looks at stays until the others are removed, whether they have ended or not.
func TestPruneOfLargeFamily(t *testing.T) {
	store, _ := openAt(t)
	awaited(t, store, 1, 0)
	execute(t, store, sqlrow.SQL("update executor_job set state = {Canceled}, family = 2, updated = 1 << 60 where state = {Paused}"),
		fmt.Sprintf(`with recursive s (i) as (select 1 union all select i + 1 from s where i < %d)
			insert into executor_parent (child, ord, parent, state) select child, i, parent, state from executor_parent, s`, sqlrow.FamilyMost))
	for _, want := range []int{0, 1} {
		if n, err := store.Prune(t.Context(), durable.Retention{Succeeded: time.Hour}); n != want || err != nil {
			t.Errorf("removed %d: %v, want %d", n, err, want)
		}
		execute(t, store, "delete from executor_parent where ord = 1")
	}
}

// What is noted of runs that are over is forgotten, some at a time, and what is noted of others stays.
func TestPruneForgetsNotes(t *testing.T) {
	store, _ := openAt(t)
	const notes = 5000
	execute(t, store, fmt.Sprintf(`with recursive s (i) as (select 1 union all select i + 1 from s where i < %d)
		insert into executor_begun (job, epoch, started) select randomblob(16), 1, 1 from s`, notes),
		sqlrow.SQL(`insert into executor_job (`+sqlrow.Columns+`)
		select job, null, 'k', x'', 0, 'once', '', 0, 0, 0, 0, {Granted}, 0, 1, 'a', 0, 1, 0, 0, 0, '', null, 0, 0, false, '', '', '', '', 0, ''
		from executor_begun order by job limit 10 offset 2500`),
		"insert into executor_progress (job, epoch, done, total, note, noted) select job, 1, 1, 1, '', 1 from executor_begun")
	for _, left := range []int{3000, 1010, 10, 10} {
		if _, err := store.Prune(t.Context(), durable.Retention{}); err != nil {
			t.Fatal(err)
		}
		for _, table := range sqlrow.Notes {
			execute(t, store, fmt.Sprintf("create table t (n integer check (n = %d))", left),
				"insert into t select count(*) from "+table, "drop table t")
		}
	}
}

// What is old is removed from the history by the next prune, also behind thousands of runs that are kept.
func TestPruneFindsOldRuns(t *testing.T) {
	store, _ := openAt(t)
	execute(t, store, `with recursive s (i) as (select 1 union all select i + 1 from s where i < 5000)
		insert into executor_run (job, seq, occurrence, attempt, epoch, node, started, finished, verdict, error)
		select randomblob(16), 1, 0, 1, 1, 'a', 0, case when i > 4900 then i else 1 << 60 end, i % 6, '' from s`)
	if n, err := store.Prune(t.Context(), durable.Retention{History: time.Hour}); n != 100 || err != nil {
		t.Errorf("removed %d of 100 runs: %v", n, err)
	}
}
