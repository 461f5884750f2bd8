package sqlite_test

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/graphtest"
	"github.com/executor-go/executor/durable/sqlite"
)

// layout returns all that a file has of tables and indexes.
func layout(t *testing.T, store *sqlite.Store) (all []string, tables []string) {
	t.Helper()
	db, err := sql.Open("sqlite", store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("select type, name, coalesce(sql, '') from sqlite_master where name like 'executor%'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var kind, name, text string
		if err := rows.Scan(&kind, &name, &text); err != nil {
			t.Fatal(err)
		}
		if all = append(all, kind+" "+name+" "+text); kind == "table" {
			tables = append(tables, name)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all, tables
}

// Open makes a table anew that was dropped, as it was. Without the jobs, or the versions, it says what is missing.
func TestOpenMakesMissingTables(t *testing.T) {
	first, _ := openAt(t)
	want, tables := layout(t, first)
	if len(tables) < 8 {
		t.Fatalf("tables are %v", tables)
	}
	for _, table := range tables {
		t.Run(table, func(t *testing.T) {
			store, path := openAt(t)
			execute(t, store, "drop table "+table)
			again, err := sqlite.Open(path)
			if again != nil {
				defer again.Close()
			}
			if table == "executor_job" || table == "executor_schema" {
				if err == nil || !strings.Contains(err.Error(), table) || !strings.Contains(err.Error(), "from a backup") {
					t.Errorf("the error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := layout(t, again); !slices.Equal(got, want) {
				t.Errorf("there is\n%s\n\nand was\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// The outcome of a run that could not be committed for want of a table is committed once another program has opened the
// file, and so made the table anew.
func TestRunOutlastsDroppedHistory(t *testing.T) {
	store, path := openAt(t)
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan int, 10)
	k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) {
		execute(t, store, "drop table executor_run")
		ran <- 1
		return 7, nil
	})
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error)
	go func() { over <- jobs.Run(ctx) }()
	defer func() { stop(); <-over }()
	id, err := k.Add(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	<-ran
	again, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	soon, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if v, err := k.Await(soon, id); err != nil || v != 7 || len(ran) > 0 {
		t.Errorf("%d, %v, and %d more runs", v, err, len(ran))
	}
	if runs, err := jobs.History(ctx, id, 0, 9); err != nil || len(runs) != 1 {
		t.Errorf("history is %v: %v", runs, err)
	}
}

// Where what a job waits for was lost with a table, no job waits for ever: it is dead, with an error that says so, and
// runs when it is revived.
func TestBlockedJobIsDeadWithoutItsParents(t *testing.T) {
	for _, table := range []string{"executor_parent", "executor_after"} {
		t.Run(table, func(t *testing.T) {
			store, path := openAt(t)
			graphtest.Lose(t, store, func() durable.Store {
				execute(t, store, "drop table "+table)
				again, err := sqlite.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { again.Close() })
				return again
			})
		})
	}
}
