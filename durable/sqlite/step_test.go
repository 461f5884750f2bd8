package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/steptest"
	"github.com/executor-go/executor/durable/sqlite"
)

// No step begins whose result is kept, though programs are killed between the steps of their jobs.
func TestStepUnderKills(t *testing.T) {
	const file = "EXECUTOR_TEST_STEPS_FILE"
	if steptest.Child(func() (durable.Store, error) { return sqlite.Open(os.Getenv(file)) }) {
		return
	}
	path := filepath.Join(t.TempDir(), "jobs.db")
	store, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	steptest.Kill(t, store, func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStepUnderKills$")
		cmd.Env = []string{file + "=" + path}
		return cmd
	})
}

// After CompleteTx there is no step: it would wait for the handler's own transaction.
func TestStepAfterCompleteTx(t *testing.T) {
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	db, err := sql.Open("sqlite", store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	kind := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (int, error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return 0, err
		}
		defer tx.Rollback()
		if err := durable.CompleteTx(ctx, tx, 7); err != nil {
			return 0, err
		}
		if _, err := durable.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil }); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("got %v, want ErrInvalid", err)
		}
		return 0, tx.Commit()
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan error)
	go func() { done <- jobs.Run(ctx) }()
	id, err := kind.Add(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := kind.Await(ctx, id); n != 7 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	cancel()
	<-done
}
