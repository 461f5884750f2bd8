package sqlite_test

import (
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
	durablestore "github.com/executor-go/executor/durable/store"
)

func tagged(kind string, tags ...string) durable.NewJob {
	return durable.NewJob{ID: durable.NewID(), Kind: kind, Schedule: "once", Attempts: 1, Tags: tags}
}

// add inserts jobs that wait.
func add(t *testing.T, store *sqlite.Store, jobs ...durable.NewJob) {
	t.Helper()
	if _, err := store.Insert(t.Context(), jobs, durablestore.Placement{}); err != nil {
		t.Fatal(err)
	}
}

// change makes a change that is applied.
func change(t *testing.T, store *sqlite.Store, id durable.ID, op durable.Op) {
	t.Helper()
	if answer, err := store.Change(t.Context(), id, durable.Change{Op: op}); err != nil || answer != durable.Applied {
		t.Fatalf("change %d: %v, %v", op, answer, err)
	}
}

// Rows of tags go with their jobs, and with tags that jobs no longer have.
func TestTagsLeaveNoRows(t *testing.T) {
	store, _ := openAt(t)
	deleted, pruned, schedule := tagged("k", "a", "b"), tagged("k", "b", "c"), tagged("k", "a", "d")
	schedule.Key, schedule.Schedule = "key", "rate 1h0m0s"
	add(t, store, schedule)
	schedule.ID, schedule.Tags = durable.NewID(), []string{"d", "e"}
	add(t, store, schedule)
	add(t, store, deleted, pruned, tagged("k"))
	change(t, store, deleted.ID, durable.OpDelete)
	change(t, store, pruned.ID, durable.OpCancel)
	execute(t, store, "update executor_job set updated = 1")
	if n, err := store.Prune(t.Context(), durable.Retention{Dead: time.Hour}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	db, err := sql.Open("sqlite", store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var left string
	if err := db.QueryRow("select group_concat(tag, ' ') from (select tag from executor_tag order by tag)").Scan(&left); err != nil || left != "d e" {
		t.Errorf("the tags %q are left, want those of the schedule, d and e: %v", left, err)
	}
}

// What is done with jobs without tags does not touch the table of tags.
func TestJobsWithoutTagsNeedNoTable(t *testing.T) {
	store, _ := openAt(t)
	execute(t, store, "drop table executor_tag")
	if _, err := store.Join(t.Context(), "a", time.Hour); err != nil {
		t.Fatal(err)
	}
	add(t, store, tagged("k"))
	c, err := store.Claim(t.Context(), durablestore.ClaimRequest{Node: "a", Limit: 1, Kinds: []durablestore.KindLimit{{Kind: "k", Max: 1}}})
	if err != nil || len(c.Jobs) != 1 {
		t.Fatal(c, err)
	}
	j := c.Jobs[0]
	end := durable.Outcome{Ref: durablestore.Ref{ID: j.ID, Epoch: j.Epoch}, State: durable.Dead}
	if _, err := store.Commit(t.Context(), durablestore.CommitRequest{Node: "a", Outcomes: []durable.Outcome{end}, History: 9}); err != nil {
		t.Fatal(err)
	}
	change(t, store, j.ID, durable.OpRevive)
	change(t, store, j.ID, durable.OpCancel)
	execute(t, store, "update executor_job set updated = 1")
	if n, err := store.Prune(t.Context(), durable.Retention{Dead: time.Hour}); n != 2 || err != nil {
		t.Errorf("pruned %d: %v", n, err)
	}
	last := tagged("k")
	add(t, store, last)
	change(t, store, last.ID, durable.OpDelete)
}

// Jobs are found by their tags again when the table of tags was made anew.
func TestOpenFillsTableOfTags(t *testing.T) {
	store, path := openAt(t)
	j := tagged("k", "a", "it's b", "\u00e9")
	add(t, store, j, tagged("k"))
	execute(t, store, "drop table executor_tag")
	again, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	found, err := again.List(t.Context(), durable.Filter{Tags: j.Tags})
	if err != nil || len(found) != 1 || !slices.Equal(found[0].Tags, j.Tags) {
		t.Errorf("found %v: %v", found, err)
	}
}
