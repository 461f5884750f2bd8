package storetest

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// RunTx holds a durable.TxStore against what is demanded of transactions. db is
// another connection to its database.
func RunTx(t *testing.T, open func(t *testing.T) (store durable.Store, db *sql.DB)) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, func(*testing.T) (durable.Store, *sql.DB))
	}{
		{"ScheduleTxIsThereWithTheCommit", scheduleTx},
		{"ScheduleTxReusesAKeyWithTheCommit", scheduleTxReusing},
		{"CompleteTxIsOneWithTheEffect", completeTx},
		{"CompleteTxAgainIsRefused", completeTxAgain},
		{"CompleteTxIsTheEndOfTheRun", completeTxEnds},
		{"CompleteTxIsInTheHistory", completeTxHistory},
		{"CompleteTxOfAZombieIsRefused", completeTxZombie},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer unexpected(t)
			test.run(t, open)
		})
	}
}

func newJobs(t *testing.T, store durable.Store) *durable.Jobs {
	return must(durable.New(durable.Config{Store: store, Poll: 20 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)}))
}

// run runs jobs until the test ends.
func run(t *testing.T, jobs *durable.Jobs) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- jobs.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A job that was added in a transaction is there if that is committed, and was
// never there if it is rolled back.
func scheduleTx(t *testing.T, open func(*testing.T) (durable.Store, *sql.DB)) {
	store, db := open(t)
	k := durable.Refer[int, int](newJobs(t, store), "k")
	if _, err := k.ScheduleTx(t.Context(), nil, 0, 1); !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("without a transaction: %v", err)
	}
	for _, commit := range []bool{false, true} {
		tx := must(db.BeginTx(t.Context(), nil))
		id := must(k.ScheduleTx(t.Context(), tx, time.Hour, 1, durable.Key("key")))
		if commit {
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
		} else if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Get(t.Context(), id); commit != (err == nil) {
			t.Errorf("commit %v: %v", commit, err)
		}
	}
}

// A job that is over loses its key to one that was added in a transaction if that is
// committed, and keeps it if it is rolled back.
func scheduleTxReusing(t *testing.T, open func(*testing.T) (durable.Store, *sql.DB)) {
	store, db := open(t)
	jobs := newJobs(t, store)
	k := durable.Refer[int, int](jobs, "k")
	first := must(k.Schedule(t.Context(), time.Hour, 1, durable.Key("key")))
	must(jobs.Cancel(t.Context(), first))
	for _, commit := range []bool{false, true} {
		tx := must(db.BeginTx(t.Context(), nil))
		id := must(k.ScheduleTx(t.Context(), tx, time.Hour, 1, durable.Key("key"), durable.ReuseKey()))
		end, want := tx.Rollback, first
		if commit {
			end, want = tx.Commit, id
		}
		must(0, end())
		if got := must(jobs.Find(t.Context(), "key")); id == first || got.ID != want {
			t.Errorf("committed is %v: added %v, and the key belongs to %v, want %v", commit, id, got.ID, want)
		}
	}
}

// A handler's effect and the end of its run are committed together: a run that
// fails after the commit is not repeated, one that fails before it is, and the
// effect is there once.
func completeTx(t *testing.T, open func(*testing.T) (durable.Store, *sql.DB)) {
	store, db := open(t)
	must(db.ExecContext(t.Context(), "create table effect (n integer)"))
	jobs := newJobs(t, store)
	tries := 0
	k := durable.Handle(jobs, "k", func(ctx context.Context, n int) (int, error) {
		tries++
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return 0, err
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(ctx, "insert into effect values (1)"); err != nil {
			return 0, err
		}
		if err := durable.CompleteTx(ctx, tx, n); err != nil {
			return 0, err
		}
		if tries == 1 {
			return 0, errors.New("before the commit")
		}
		if err := tx.Commit(); err != nil {
			return 0, err
		}
		return 0, errors.New("after the commit")
	}, durable.Backoff(time.Millisecond, time.Millisecond))
	run(t, jobs)
	id := must(k.Schedule(t.Context(), 0, 42))
	if got := must(k.Await(t.Context(), id)); got != 42 {
		t.Errorf("result %d", got)
	}
	effects := 0
	if err := db.QueryRowContext(t.Context(), "select count(*) from effect").Scan(&effects); err != nil {
		t.Fatal(err)
	}
	if effects != 1 || tries != 2 {
		t.Errorf("%d effects in %d tries", effects, tries)
	}
}

// A handler that repeats its transaction, since the commit seemed to fail, is
// refused if it had not: the effect is there once.
func completeTxAgain(t *testing.T, open func(*testing.T) (durable.Store, *sql.DB)) {
	store, db := open(t)
	must(db.ExecContext(t.Context(), "create table effect (n integer)"))
	jobs := newJobs(t, store)
	refused := make(chan error, 2)
	k := durable.Handle(jobs, "k", func(ctx context.Context, n int) (int, error) {
		for range 2 {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return 0, err
			}
			defer tx.Rollback()
			if _, err := tx.ExecContext(ctx, "insert into effect values (1)"); err != nil {
				return 0, err
			}
			err = durable.CompleteTx(ctx, tx, n)
			if refused <- err; err != nil {
				return 0, err
			}
			if err := tx.Commit(); err != nil {
				return 0, err
			}
		}
		return 0, nil
	})
	run(t, jobs)
	id := must(k.Schedule(t.Context(), 0, 42))
	must(k.Await(t.Context(), id))
	if first, second := <-refused, <-refused; first != nil || !errors.Is(second, durable.ErrRefused) {
		t.Errorf("CompleteTx: %v, and then %v", first, second)
	}
	effects := 0
	if err := db.QueryRowContext(t.Context(), "select count(*) from effect").Scan(&effects); err != nil || effects != 1 {
		t.Errorf("%d effects: %v", effects, err)
	}
}

// What a handler returns after the commit is not heard: a schedule goes on though
// it is executor.Done.
func completeTxEnds(t *testing.T, open func(*testing.T) (durable.Store, *sql.DB)) {
	store, db := open(t)
	jobs := newJobs(t, store)
	runs := make(chan error, 2)
	k := durable.Handle(jobs, "k", func(ctx context.Context, n int) (int, error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return 0, err
		}
		defer tx.Rollback()
		if err := durable.CompleteTx(ctx, tx, n); err != nil {
			return 0, err
		}
		err = tx.Commit()
		select {
		case runs <- err:
		default:
		}
		return 0, executor.Done
	})
	run(t, jobs)
	must(k.AtFixedRate(t.Context(), "key", 0, 20*time.Millisecond, 1))
	for range cap(runs) {
		if err := <-runs; err != nil {
			t.Error(err)
		}
	}
}

// The history says of a run that was completed in a transaction when it began,
// which is not when its node claimed it, ahead of its time.
func completeTxHistory(t *testing.T, open func(*testing.T) (durable.Store, *sql.DB)) {
	store, db := open(t)
	jobs := newJobs(t, store)
	k := durable.Handle(jobs, "k", func(ctx context.Context, n int) (int, error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return 0, err
		}
		defer tx.Rollback()
		if err := durable.CompleteTx(ctx, tx, n); err != nil {
			return 0, err
		}
		return 0, tx.Commit()
	})
	run(t, jobs)
	id := must(k.Schedule(t.Context(), 300*time.Millisecond, 1))
	must(k.Await(t.Context(), id))
	for _, r := range must(store.Runs(t.Context(), id, 0, 10)) {
		if r.Started.Before(r.Occurrence) || r.Finished.Before(r.Started) {
			t.Errorf("due at %v, begun at %v, over at %v", r.Occurrence, r.Started, r.Finished)
		}
	}
}

// A run that is no longer its node's can't be completed.
func completeTxZombie(t *testing.T, open func(*testing.T) (durable.Store, *sql.DB)) {
	store, db := open(t)
	jobs := newJobs(t, store)
	refused := make(chan error, 1)
	k := durable.Handle(jobs, "k", func(ctx context.Context, n int) (int, error) {
		job, _ := durable.Current(ctx)
		if job.Attempt > 1 || job.Epoch > 1 {
			return 0, nil
		}
		// What the store does when it takes this node for dead.
		if _, err := store.Release(ctx, job.Owner, nil); err != nil {
			return 0, err
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return 0, err
		}
		defer tx.Rollback()
		refused <- durable.CompleteTx(ctx, tx, n)
		return 0, nil
	})
	run(t, jobs)
	id := must(k.Schedule(t.Context(), 0, 1))
	if err := <-refused; !errors.Is(err, durable.ErrRefused) {
		t.Errorf("CompleteTx: %v", err)
	}
	must(k.Await(t.Context(), id))
}
