package postgres_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
)

// schedules returns n new jobs with keys, at a rate.
func schedules(n int, rate string) []durable.NewJob {
	jobs := make([]durable.NewJob, n)
	for i := range jobs {
		jobs[i] = durable.NewJob{ID: durable.NewID(), Key: fmt.Sprint("key", i), Kind: "k", Schedule: "rate " + rate,
			Delay: time.Hour, Attempts: 1}
	}
	return jobs
}

// However many jobs are inserted, it takes the same few statements: to add them, to find them unchanged, and to change
// them.
func TestInsertOfSeveralTakesFewStatements(t *testing.T) {
	for what, rate := range map[string][2]string{"unchanged": {"1m0s", "1m0s"}, "changed": {"1m0s", "2m0s"}} {
		var counts [2][2]int
		for i, n := range []int{2, 300} {
			store := open(t, dsn(t))
			counts[0][i] = must(postgres.Statements(t.Context(), store, schedules(n, rate[0])))
			counts[1][i] = must(postgres.Statements(t.Context(), store, schedules(n, rate[1])))
		}
		if counts[0] != [2]int{1, 1} || counts[1][0] != counts[1][1] || counts[1][1] > 5 {
			t.Errorf("%s: %v statements of 2 and of 300 jobs that are new, %v of those that are there", what, counts[0], counts[1])
		}
	}
}

// An insert that finds jobs, and then one of them gone, waits for whoever adds that with no row of another locked: that
// one may want it.
func TestInsertOfSeveralWaitsForFreedKeysWithoutLocks(t *testing.T) {
	store := open(t, dsn(t))
	ctx := t.Context()
	jobs := schedules(3, "1m0s")
	placed := must(store.Insert(ctx, jobs, durablestore.Placement{}))
	first, second := must(store.DB().Begin()), must(store.DB().Begin())
	defer first.Rollback()
	defer second.Rollback()
	must(first.Exec("select from executor_job where id = $1 for update", placed[0].ID.String()))
	done := make(chan error)
	go func() {
		again := schedules(3, "2m0s")
		_, err := store.Insert(ctx, again, durablestore.Placement{})
		done <- err
	}()
	waitForPatient(t, store, 200*time.Millisecond) // no longer in its first try, which ends soon
	if a := must(store.Change(ctx, placed[1].ID, durable.Change{Op: durable.OpDelete})); a != durable.Applied {
		t.Fatalf("delete: %v", a)
	}
	must(store.InsertTx(ctx, second, schedules(2, "3m0s")[1:]))
	if err := first.Rollback(); err != nil {
		t.Fatal(err)
	}
	waitForWaiting(t, store, 1) // for the key that the second has taken
	if _, err := second.Exec("select from executor_job where id = $1 for update nowait", placed[2].ID.String()); err != nil {
		t.Errorf("the row of another job: %v", err)
	}
	if err := second.Commit(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Many jobs are changed in one transaction.
func TestChangeAllIsOneTransaction(t *testing.T) {
	store := open(t, dsn(t))
	jobs := must(durable.New(durable.Config{Store: store}))
	must(store.Insert(t.Context(), schedules(500, "1m0s"), durablestore.Placement{}))
	done := must(jobs.ChangeAll(t.Context(), durable.Change{Op: durable.OpPause}, durable.Filter{}))
	transactions := 0
	if err := store.DB().QueryRow("select count(distinct xmin::text) from executor_job").Scan(&transactions); err != nil || transactions != 1 || done.Applied != 500 {
		t.Errorf("%+v in %d transactions: %v", done, transactions, err)
	}
}

// Programs that insert the same jobs at the same time, in any order, each get all of them, and each job is added once.
func TestInsertOfSeveralTogether(t *testing.T) {
	store := open(t, dsn(t))
	const programs, n = 8, 50
	var group sync.WaitGroup
	var mu sync.Mutex
	added := make(map[string]int)
	for p := range programs {
		group.Go(func() {
			jobs := schedules(n, "1m0s")
			for i := range jobs { // each its own order
				k := (i*7 + p*13) % n
				jobs[i], jobs[k] = jobs[k], jobs[i]
			}
			placed, err := store.Insert(t.Context(), jobs, durablestore.Placement{})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			for i := range placed {
				if placed[i].Key != jobs[i].Key {
					t.Errorf("%s: got %s", jobs[i].Key, placed[i].Key)
				}
				if placed[i].Changed {
					added[placed[i].Key]++
				}
			}
		})
	}
	group.Wait()
	for key, times := range added {
		if times != 1 {
			t.Errorf("%s was added %d times", key, times)
		}
	}
	if len(added) != n {
		t.Errorf("%d were added, want %d", len(added), n)
	}
}
