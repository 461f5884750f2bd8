package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/graphtest"
	"github.com/executor-go/executor/durable/postgres"
)

// tables are those that a store has.
var tables = []string{"executor_act", "executor_after", "executor_begun", "executor_job", "executor_limit", "executor_node",
	"executor_parent", "executor_part", "executor_pause", "executor_progress", "executor_run", "executor_schema", "executor_step", "executor_tag"}

// Open, and the script of MigrationSQL, make a table anew that was dropped, as it was. Without the jobs, or the
// versions, they say what is missing.
func TestOpenMakesMissingTables(t *testing.T) {
	fresh := dsn(t)
	must(0, open(t, fresh).Close())
	want := layout(t, fresh)
	for _, table := range tables {
		t.Run(table, func(t *testing.T) {
			byOpen, byScript := dsn(t), dsn(t)
			for _, dsn := range []string{byOpen, byScript} {
				must(open(t, dsn).DB().Exec("drop table " + table))
			}
			again, err := postgres.Open(byOpen)
			if err == nil {
				defer again.Close()
			}
			script, scriptErr := postgres.MigrationSQL(t.Context(), byScript)
			if table == "executor_job" || table == "executor_schema" {
				for _, err := range []error{err, scriptErr} {
					if err == nil || !strings.Contains(err.Error(), table) || !strings.Contains(err.Error(), "from a backup") {
						t.Errorf("the error is %v", err)
					}
				}
				return
			}
			if err != nil || scriptErr != nil {
				t.Fatal(err, scriptErr)
			}
			conn := must(pgx.Connect(t.Context(), byScript))
			defer conn.Close(t.Context())
			must(conn.PgConn().Exec(t.Context(), script).ReadAll())
			for _, dsn := range []string{byOpen, byScript} {
				if got := layout(t, dsn); got != want {
					t.Errorf("there is\n%s\n\nand was\n%s", got, want)
				}
			}
			if more := must(postgres.MigrationSQL(t.Context(), byScript)); more != "" {
				t.Errorf("afterwards there is still to do\n%s", more)
			}
		})
	}
}

// The outcome of a run that could not be committed for want of a table is committed once another program has opened the
// database, and so made the table anew.
func TestRunOutlastsDroppedHistory(t *testing.T) {
	dsn := dsn(t)
	store := open(t, dsn)
	jobs := must(durable.New(durable.Config{Store: store}))
	ran := make(chan int, 10)
	k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
		if _, err := store.DB().ExecContext(ctx, "drop table executor_run"); err != nil {
			t.Error(err)
		}
		ran <- 1
		return 7, nil
	})
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error)
	go func() { over <- jobs.Run(ctx) }()
	defer func() { stop(); <-over }()
	id := must(k.Add(ctx, 1))
	<-ran
	open(t, dsn)
	soon, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if v, err := k.Await(soon, id); err != nil || v != 7 || len(ran) > 0 {
		t.Errorf("%d, %v, and %d more runs", v, err, len(ran))
	}
	if runs := must(jobs.History(ctx, id, 0, 9)); len(runs) != 1 {
		t.Errorf("history is %v", runs)
	}
}

// Where what a job waits for was lost with a table, no job waits for ever: it is dead, with an error that says so, and
// runs when it is revived.
func TestBlockedJobIsDeadWithoutItsParents(t *testing.T) {
	for _, lost := range []string{"executor_parent", "executor_after", "executor_parent, executor_after"} {
		t.Run(lost, func(t *testing.T) {
			dsn := dsn(t)
			store := open(t, dsn)
			graphtest.Lose(t, store, func() durable.Store {
				must(store.DB().Exec("drop table " + lost))
				return open(t, dsn)
			})
		})
	}
}
