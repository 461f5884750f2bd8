package sqlite_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
	durablestore "github.com/executor-go/executor/durable/store"
)

// counting opens connections that count the statements which are not closed.
type counting struct {
	driver driver.Driver
	dsn    string
	open   int
}

func (c *counting) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.driver.Open(c.dsn)
	return countingConn{conn, c}, err
}

func (c *counting) Driver() driver.Driver { return c.driver }

type countingConn struct {
	driver.Conn
	c *counting
}

func (c countingConn) Prepare(query string) (driver.Stmt, error) {
	s, err := c.Conn.Prepare(query)
	if err == nil {
		c.c.open++
	}
	return countingStmt{s, c.c}, err
}

type countingStmt struct {
	driver.Stmt
	c *counting
}

func (s countingStmt) Close() error {
	s.c.open--
	return s.Stmt.Close()
}

// A transaction that adds many jobs does not keep the statements of each until it ends.
func TestTxKeepsNoStatements(t *testing.T) {
	store := open(t)
	plain, err := sql.Open("sqlite", store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	c := &counting{driver: plain.Driver(), dsn: store.DSN()}
	db := sql.OpenDB(c)
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for range 10 {
		j := durable.NewJob{ID: durable.NewID(), Key: "key", Kind: "k", Schedule: "once", Delay: time.Hour, Attempts: 1}
		p, err := store.InsertTx(t.Context(), tx, []durable.NewJob{j})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.GetTx(t.Context(), tx, p[0].ID); err != nil {
			t.Fatal(err)
		}
		if _, err := store.CompleteTx(t.Context(), tx,
			durablestore.CommitRequest{Confirms: []durablestore.Confirm{{Ref: durablestore.Ref{ID: j.ID}}}}); err != nil {
			t.Fatal(err)
		}
	}
	if c.open != 0 {
		t.Errorf("%d statements are kept", c.open)
	}
}

// A call in a transaction that fails changes nothing, also if the transaction is committed all the same.
func TestTxCallIsAllOrNothing(t *testing.T) {
	store := open(t)
	db, err := sql.Open("sqlite", store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	jobs := make([]durable.NewJob, 2)
	for i := range jobs {
		jobs[i] = durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Delay: time.Hour, Attempts: 1}
	}
	jobs[1].Tags = []string{"tag"}
	if _, err := store.Join(t.Context(), "a", time.Hour); err != nil {
		t.Fatal(err)
	}
	running := durable.NewJob{ID: durable.NewID(), Kind: "running", Schedule: "once", Attempts: 1}
	p, err := store.Insert(t.Context(), []durable.NewJob{running}, durablestore.Placement{Node: "a", Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`create trigger no_run before insert on executor_run begin select raise(abort, 'not now'); end;
		create trigger no_tag before insert on executor_tag begin select raise(abort, 'not now'); end`); err != nil {
		t.Fatal(err)
	}
	end := durable.Outcome{Ref: durablestore.Ref{ID: running.ID, Epoch: p[0].Epoch}, State: durable.Succeeded}
	for what, call := range map[string]func(tx durable.Tx) error{
		"InsertTx": func(tx durable.Tx) error {
			_, err := store.InsertTx(t.Context(), tx, jobs)
			return err
		},
		"CompleteTx": func(tx durable.Tx) error {
			b := durablestore.CommitRequest{Node: "a", Outcomes: []durable.Outcome{end}, History: 1}
			_, err := store.CompleteTx(t.Context(), tx, b)
			return err
		},
	} {
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := call(tx); err == nil || !strings.Contains(err.Error(), "not now") {
			t.Errorf("%s: %v", what, err)
		}
		if err := tx.Commit(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	all, err := store.List(t.Context(), durable.Filter{})
	if err != nil || len(all) != 1 || all[0].State != durable.Confirmed {
		t.Errorf("there are %+v, %v; want the one that runs", all, err)
	}
}

// logged returns the jobs of a store, a database for transactions in it, and the log.
func logged(t *testing.T, store *sqlite.Store) (*durable.Jobs, *sql.DB, *strings.Builder) {
	db, err := sql.Open("sqlite", store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	log := new(strings.Builder)
	jobs, err := durable.New(durable.Config{Store: store, Poll: 10 * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return jobs, db, log
}

// The log does not say that an outcome was refused if the handler has completed its run itself and returned after the
// next one was claimed.
func TestCompleteTxThenReturnLogsNothing(t *testing.T) {
	store := open(t)
	jobs, db, log := logged(t, store)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
		job, _ := durable.Current(ctx)
		if job.Epoch > 1 {
			cancel()
			return 0, nil
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return 0, err
		}
		defer tx.Rollback()
		if err := durable.CompleteTx(ctx, tx, 0); err != nil {
			return 0, err
		}
		if err := tx.Commit(); err != nil {
			return 0, err
		}
		for job.Epoch == 1 && err == nil {
			job, err = store.Get(ctx, job.ID)
		}
		return 0, err
	})
	if _, err := k.AtFixedRate(ctx, "key", 0, 50*time.Millisecond, 0); err != nil {
		t.Fatal(err)
	}
	if err := jobs.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log.String(), "refused") {
		t.Error(log.String())
	}
}

// A transaction in another file is an error with that reason.
func TestTxOfAnotherFile(t *testing.T) {
	t.Chdir(t.TempDir()) // whose name may not be fit for a URL
	db, err := sql.Open("sqlite", "file:other.db")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	job := durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1}
	if _, err := open(t).InsertTx(t.Context(), tx, []durable.NewJob{job}); !errors.Is(err, executor.ErrInvalid) ||
		!strings.Contains(err.Error(), "in another file") {
		t.Error(err)
	}
}

// The log does not say that a job failed for good if its handler has completed it in a transaction, and failed then, in
// its last attempt.
func TestCompleteTxThenFailureLogsNothing(t *testing.T) {
	store := open(t)
	jobs, db, log := logged(t, store)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return 0, err
		}
		defer tx.Rollback()
		defer cancel()
		return 0, errors.Join(durable.CompleteTx(ctx, tx, 1), tx.Commit(), errors.New("afterwards"))
	})
	id, err := k.Add(ctx, 1, durable.Attempts(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := jobs.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if j, err := store.Get(t.Context(), id); err != nil || j.State != durable.Succeeded {
		t.Errorf("job is %+v: %v", j, err)
	}
	if strings.Contains(log.String(), "a job failed for good") || !strings.Contains(log.String(), "after CompleteTx") {
		t.Errorf("log:\n%s", log)
	}
}

// Settled has what the store has of a run, not what the handler returns, if the handler has completed it in a
// transaction: that of CompleteTx if it was committed, and else that of the handler.
func TestCompleteTxSettledHasTheOutcome(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(*sql.Tx) error
		want durable.State
		text string
	}{
		"committed":   {(*sql.Tx).Commit, durable.Succeeded, ""},
		"rolled back": {(*sql.Tx).Rollback, durable.Dead, "afterwards"},
	} {
		t.Run(name, func(t *testing.T) {
			store := open(t)
			_, db, _ := logged(t, store)
			settled := make(chan durable.Outcome, 1)
			jobs, err := durable.New(durable.Config{Store: store, Logger: slog.New(slog.DiscardHandler),
				Hooks: durable.Hooks{Settled: func(_ durable.Job, o durable.Outcome, _ bool) { settled <- o }}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
				tx, err := db.BeginTx(ctx, nil)
				if err != nil {
					return 0, err
				}
				defer tx.Rollback()
				defer cancel()
				return 0, errors.Join(durable.CompleteTx(ctx, tx, 1), test.end(tx), errors.New("afterwards"))
			})
			id, err := k.Add(ctx, 1, durable.Attempts(1))
			if err != nil {
				t.Fatal(err)
			}
			if err := jobs.Run(ctx); err != nil {
				t.Fatal(err)
			}
			o := <-settled
			o.Run.Started, o.Run.Finished = o.Run.Started.Truncate(time.Microsecond), o.Run.Finished.Truncate(time.Microsecond)
			runs, err := store.Runs(t.Context(), id, 0, 1)
			if err != nil || len(runs) != 1 || !reflect.DeepEqual(o.Run, runs[0]) {
				t.Errorf("the hook had\n%+v, the history has\n%+v: %v", o.Run, runs, err)
			}
			if o.State != test.want || o.Error != test.text {
				t.Errorf("it is %v with the error %q, want %v with %q", o.State, o.Error, test.want, test.text)
			}
		})
	}
}
