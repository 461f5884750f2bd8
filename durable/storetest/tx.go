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
	durablestore "github.com/executor-go/executor/durable/store"
)

// DB begins transactions in the database of a store, on other connections than the store's own, for [RunTx].
type DB interface {
	// Begin begins a transaction that the methods of the store.TxStore accept.
	Begin(ctx context.Context) (durable.Tx, error)
	// Exec runs a statement in tx, which comes from Begin.
	Exec(ctx context.Context, tx durable.Tx, statement string) error
	// Count runs a statement in tx that selects one number, and returns the number.
	Count(ctx context.Context, tx durable.Tx, statement string) (int, error)
}

// SQL returns a [DB] whose transactions are a *[sql.Tx] of db.
func SQL(db *sql.DB) DB { return standard{db} }

type standard struct{ db *sql.DB }

func (s standard) Begin(ctx context.Context) (durable.Tx, error) { return s.db.BeginTx(ctx, nil) }

func (s standard) Exec(ctx context.Context, tx durable.Tx, statement string) error {
	_, err := tx.(*sql.Tx).ExecContext(ctx, statement)
	return err
}

func (s standard) Count(ctx context.Context, tx durable.Tx, statement string) (n int, err error) {
	err = tx.(*sql.Tx).QueryRowContext(ctx, statement).Scan(&n)
	return n, err
}

// RunTx tests a store that implements [store.TxStore]: jobs that are added, and runs that are completed, in a
// transaction of the caller. Each subtest calls open once. open returns an empty store and its database, and arranges
// to close both. The subtests create tables of their own in the database.
func RunTx(t *testing.T, open func(t *testing.T) (durable.Store, DB)) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, func(*testing.T) (durable.Store, DB))
	}{
		{"ScheduleTxIsThereWithTheCommit", scheduleTx},
		{"ScheduleTxReusesAKeyWithTheCommit", scheduleTxReusing},
		{"ScheduleTxKeepsTags", scheduleTxTags},
		{"ScheduleTxDeclinesWhatItCanNotWorkIn", scheduleTxDeclines},
		{"InsertTxOfSeveralIsAllOrNothing", insertTxSeveral},
		{"CompleteTxIsOneWithTheEffect", completeTx},
		{"CompleteTxAgainIsRefused", completeTxAgain},
		{"CompleteTxIsTheEndOfTheRun", completeTxEnds},
		{"CompleteTxIsInTheHistory", completeTxHistory},
		{"CompleteTxOfAZombieIsRefused", completeTxZombie},
		{"CompleteTxDoesNotWaitForItself", completeTxSkips},
		{"ScheduleTxAddsParentsAndChildren", scheduleTxGraph},
		{"CompleteTxReleasesTheChildren", completeTxGraph},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer unexpected(t)
			test.run(t, open)
		})
	}
}

func newJobs(t *testing.T, store durable.Store) *durable.Jobs {
	return must(durable.New(durable.Config{Store: store, Poll: 20 * time.Millisecond,
		Logger: slog.New(slog.DiscardHandler)}))
}

// within runs fn in a transaction, which is committed.
func within(t *testing.T, db DB, fn func(tx durable.Tx) error) {
	t.Helper()
	tx := must(db.Begin(t.Context()))
	defer tx.Rollback()
	must(0, fn(tx))
	must(0, tx.Commit())
}

// effects counts what handlers have left in the table for it.
func effects(t *testing.T, db DB) (n int) {
	t.Helper()
	within(t, db, func(tx durable.Tx) (err error) {
		n, err = db.Count(t.Context(), tx, "select count(*) from effect")
		return err
	})
	return n
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
func scheduleTx(t *testing.T, open func(*testing.T) (durable.Store, DB)) {
	store, db := open(t)
	k := durable.KindOf[int, int](newJobs(t, store), "k")
	for _, commit := range []bool{false, true} {
		tx := must(db.Begin(t.Context()))
		id := must(k.AddTx(t.Context(), tx, time.Hour, 1, durable.Key("key")))
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

// A transaction that is none, or of a kind that the store does not know, is an error.
func scheduleTxDeclines(t *testing.T, open func(*testing.T) (durable.Store, DB)) {
	store, _ := open(t)
	k := durable.KindOf[int, int](newJobs(t, store), "k")
	for _, tx := range []durable.Tx{nil, (*sql.Tx)(nil), unheardOf{}} {
		if _, err := k.AddTx(t.Context(), tx, 0, 1); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("%T: %v", tx, err)
		}
	}
	for name, ask := range map[string]func(durablestore.TxStore) error{
		"GetTx": func(s durablestore.TxStore) error {
			_, err := s.GetTx(t.Context(), unheardOf{}, durable.ID{1})
			return err
		},
		"InsertTx": func(s durablestore.TxStore) error { _, err := s.InsertTx(t.Context(), unheardOf{}, nil); return err },
		"CompleteTx": func(s durablestore.TxStore) error {
			_, err := s.CompleteTx(t.Context(), unheardOf{}, durablestore.CommitRequest{})
			return err
		},
	} {
		if err := ask(store.(durablestore.TxStore)); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of several jobs that are added in a transaction all are added, or none if one can't have its key. What the
// transaction did before is committed in both cases.
func insertTxSeveral(t *testing.T, open func(*testing.T) (durable.Store, DB)) {
	store, db := open(t)
	taken := job(time.Hour, key("taken"))
	must(store.Insert(t.Context(), []durable.NewJob{taken}, durablestore.Placement{}))
	for _, kind := range []string{"other", taken.Kind} {
		before := job(time.Hour, key("before "+kind))
		jobs := []durable.NewJob{job(time.Hour, key("new")), job(time.Hour, key("taken")), job(time.Hour)}
		jobs[1].Kind = kind
		within(t, db, func(tx durable.Tx) error {
			must(store.(durablestore.TxStore).InsertTx(t.Context(), tx, []durable.NewJob{before}))
			placed, err := store.(durablestore.TxStore).InsertTx(t.Context(), tx, jobs)
			for i := range placed {
				if added := kind == taken.Kind && i != 1; placed[i].Changed != added {
					t.Errorf("kind %s: job %d: changed is %v", kind, i, placed[i].Changed)
				}
			}
			if got := placed[1]; got.ID != taken.ID || got.KindTaken != (kind != taken.Kind) {
				t.Errorf("kind %s: got %+v", kind, got)
			}
			return err
		})
		must(store.Get(t.Context(), before.ID))
		for _, i := range []int{0, 2} {
			if _, err := store.Get(t.Context(), jobs[i].ID); (err == nil) != (kind == taken.Kind) {
				t.Errorf("kind %s: job %d: %v", kind, i, err)
			}
		}
	}
}

// unheardOf is a transaction of a library that no store knows.
type unheardOf struct{}

func (unheardOf) Commit() error   { return nil }
func (unheardOf) Rollback() error { return nil }

// A job that is over loses its key to one that was added in a transaction if that is
// committed, and keeps it if it is rolled back.
func scheduleTxReusing(t *testing.T, open func(*testing.T) (durable.Store, DB)) {
	store, db := open(t)
	jobs := newJobs(t, store)
	k := durable.KindOf[int, int](jobs, "k")
	first := must(k.AddAfter(t.Context(), time.Hour, 1, durable.Key("key")))
	must(jobs.Cancel(t.Context(), first))
	for _, commit := range []bool{false, true} {
		tx := must(db.Begin(t.Context()))
		id := must(k.AddTx(t.Context(), tx, time.Hour, 1, durable.Key("key"), durable.ReuseKey()))
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
func completeTx(t *testing.T, open func(*testing.T) (durable.Store, DB)) {
	store, db := open(t)
	within(t, db, func(tx durable.Tx) error { return db.Exec(t.Context(), tx, "create table effect (n integer)") })
	jobs := newJobs(t, store)
	tries := 0
	k := durable.Handle(jobs, "k", func(ctx context.Context, n int) (int, error) {
		tries++
		tx, err := db.Begin(ctx)
		if err != nil {
			return 0, err
		}
		defer tx.Rollback()
		if err := db.Exec(ctx, tx, "insert into effect values (1)"); err != nil {
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
	}, durable.WithBackoff(executor.Backoff(time.Millisecond, time.Millisecond)))
	run(t, jobs)
	id := must(k.Add(t.Context(), 42))
	if got := must(k.Await(t.Context(), id)); got != 42 {
		t.Errorf("result %d", got)
	}
	if n := effects(t, db); n != 1 || tries != 2 {
		t.Errorf("%d effects in %d tries", n, tries)
	}
}

// A handler that repeats its transaction, since the commit seemed to fail, is
// refused if it had not: the effect is there once.
func completeTxAgain(t *testing.T, open func(*testing.T) (durable.Store, DB)) {
	store, db := open(t)
	within(t, db, func(tx durable.Tx) error { return db.Exec(t.Context(), tx, "create table effect (n integer)") })
	jobs := newJobs(t, store)
	refused := make(chan error, 2)
	k := durable.Handle(jobs, "k", func(ctx context.Context, n int) (int, error) {
		for range 2 {
			tx, err := db.Begin(ctx)
			if err != nil {
				return 0, err
			}
			defer tx.Rollback()
			if err := db.Exec(ctx, tx, "insert into effect values (1)"); err != nil {
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
	id := must(k.Add(t.Context(), 42))
	must(k.Await(t.Context(), id))
	if first, second := <-refused, <-refused; first != nil || !errors.Is(second, durable.ErrRefused) {
		t.Errorf("CompleteTx: %v, and then %v", first, second)
	}
	if n := effects(t, db); n != 1 {
		t.Errorf("%d effects", n)
	}
}

// What a handler returns after the commit is not heard: a schedule goes on though
// it is executor.ErrStop.
func completeTxEnds(t *testing.T, open func(*testing.T) (durable.Store, DB)) {
	store, db := open(t)
	jobs := newJobs(t, store)
	runs := make(chan error, 2)
	k := durable.Handle(jobs, "k", func(ctx context.Context, n int) (int, error) {
		tx, err := db.Begin(ctx)
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
		return 0, executor.ErrStop
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
// which is not when its node claimed it, ahead of its time. A node reads the store's clock to within a millisecond.
func completeTxHistory(t *testing.T, open func(*testing.T) (durable.Store, DB)) {
	store, db := open(t)
	jobs := newJobs(t, store)
	k := durable.Handle(jobs, "k", func(ctx context.Context, n int) (int, error) {
		tx, err := db.Begin(ctx)
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
	id := must(k.AddAfter(t.Context(), 300*time.Millisecond, 1))
	must(k.Await(t.Context(), id))
	for _, r := range must(store.Runs(t.Context(), id, 0, 10)) {
		if r.Started.Before(r.Occurrence.Add(-time.Millisecond)) || r.Finished.Before(r.Started) {
			t.Errorf("due at %v, begun at %v, over at %v", r.Occurrence, r.Started, r.Finished)
		}
	}
}

// A run that is no longer its node's can't be completed.
func completeTxZombie(t *testing.T, open func(*testing.T) (durable.Store, DB)) {
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
		tx, err := db.Begin(ctx)
		if err != nil {
			return 0, err
		}
		defer tx.Rollback()
		refused <- durable.CompleteTx(ctx, tx, n)
		return 0, nil
	})
	run(t, jobs)
	id := must(k.Add(t.Context(), 1))
	if err := <-refused; !errors.Is(err, durable.ErrRefused) {
		t.Errorf("CompleteTx: %v", err)
	}
	must(k.Await(t.Context(), id))
}

// A job whose policy is SkipOverlap can be moved during a run that ends in a transaction: the run is committed at once,
// and leaves out what its own schedule says.
func completeTxSkips(t *testing.T, open func(*testing.T) (durable.Store, DB)) {
	store, db := open(t)
	jobs := newJobs(t, store)
	took := make(chan time.Duration, 1)
	k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
		j, _ := durable.Current(ctx)
		must(jobs.Reschedule(ctx, j.ID, time.Now().Add(time.Millisecond)))
		time.Sleep(20 * time.Millisecond) // so that this time has passed
		tx := must(db.Begin(ctx))
		defer tx.Rollback()
		begun := time.Now()
		if err := durable.CompleteTx(ctx, tx, 1); err != nil {
			return 0, err
		}
		err := tx.Commit()
		select {
		case took <- time.Since(begun):
		default:
		}
		return 1, errors.Join(err, executor.ErrStop)
	})
	id := must(k.AtFixedRate(t.Context(), "key", 0, time.Hour, 1, durable.OnMissed(durable.SkipOverlap())))
	run(t, jobs)
	if d := <-took; d > time.Second {
		t.Errorf("CompleteTx took %v", d)
	}
	if j := must(jobs.Get(t.Context(), id)); j.Runs < 1 {
		t.Errorf("it is %+v", j)
	}
}

// Parents and children that were added in a transaction, one by one or together, are there with its commit.
func scheduleTxGraph(t *testing.T, open func(*testing.T) (durable.Store, DB)) {
	store, db := open(t)
	jobs := newJobs(t, store)
	k := durable.KindOf[int, int](jobs, "k")
	before := must(k.AddAfter(t.Context(), time.Hour, 1))
	for _, commit := range []bool{false, true} {
		tx := must(db.Begin(t.Context()))
		parent := must(k.AddTx(t.Context(), tx, time.Hour, 1))
		child := must(k.AddTx(t.Context(), tx, 0, 1, durable.After(parent, before)))
		if _, err := k.AddTx(t.Context(), tx, 0, 1, durable.After(durable.NewID())); !errors.Is(err, durable.ErrNotFound) {
			t.Errorf("a parent that is not there: %v", err)
		}
		p := k.Prepare(time.Hour, 1)
		ids := must(jobs.AddTx(t.Context(), tx, p, k.Prepare(0, 1, durable.After(p.ID(), child))))
		if commit {
			must(0, tx.Commit())
		} else {
			must(0, tx.Rollback())
		}
		for id, parents := range map[durable.ID]int{child: 2, ids[1]: 2} {
			j, err := jobs.Get(t.Context(), id)
			if !commit {
				if !errors.Is(err, durable.ErrNotFound) {
					t.Errorf("after a rollback there is %+v, %v", j, err)
				}
				continue
			}
			if c := must(jobs.CountParents(t.Context(), id)); err != nil || j.State != durable.Blocked || c.Total != parents {
				t.Errorf("it is %+v with the counts %+v, %v", j, c, err)
			}
		}
		if j := must(jobs.Get(t.Context(), before)); j.HasChildren != commit {
			t.Errorf("committed is %v: the parent that was there before is %+v", commit, j)
		}
	}
}

// A handler that ends its run in a transaction releases those that wait for the job.
func completeTxGraph(t *testing.T, open func(*testing.T) (durable.Store, DB)) {
	store, db := open(t)
	jobs := newJobs(t, store)
	k := durable.Handle(jobs, "k", func(ctx context.Context, n int) (int, error) {
		tx, err := db.Begin(ctx)
		if err != nil {
			return 0, err
		}
		defer tx.Rollback()
		if err := durable.CompleteTx(ctx, tx, n); err != nil {
			return 0, err
		}
		return 0, tx.Commit()
	})
	sum := durable.Handle(jobs, "sum", func(ctx context.Context, n int) (int, error) {
		results, err := durable.ParentResults[int](ctx)
		for _, r := range results {
			n += r
		}
		return n, err
	})
	ids := must(k.AddAll(t.Context(), 0, []int{1, 2, 3, 4, 5}))
	last := must(sum.Add(t.Context(), 0, durable.After(ids...)))
	run(t, jobs)
	if got := must(sum.Await(t.Context(), last)); got != 15 {
		t.Errorf("the sum is %d, want 15", got)
	}
}
