package postgres_test

import (
	"sync"
	"testing"

	"github.com/executor-go/executor/durable/postgres"
)

// Of two transactions that wait for each other the server breaks one off. It is run
// again, and both are done.
func TestDeadlockIsRunAgain(t *testing.T) {
	store := open(t, dsn(t))
	jobs := claimed(t, store, "a", 2, 0)
	const add = "update executor_job set runs = runs + 1 where id = $1"
	var tries [2]int
	var errs [2]error
	var both, done sync.WaitGroup
	both.Add(2)
	for i := range tries {
		done.Go(func() {
			errs[i] = postgres.InTx(t.Context(), store.DB(), func(exec func(string, ...any) error) error {
				tries[i]++
				if err := exec(add, uuidText(jobs[i])); err != nil {
					return err
				}
				if tries[i] == 1 { // each has the row for which the other is to wait
					both.Done()
					both.Wait()
				}
				return exec(add, uuidText(jobs[1-i]))
			})
		})
	}
	done.Wait()
	for i, j := range jobs {
		var runs int
		if err := store.DB().QueryRow("select runs from executor_job where id = $1", uuidText(j)).Scan(&runs); err != nil {
			t.Fatal(err)
		}
		if errs[i] != nil || runs != 2 {
			t.Errorf("job %d has %d changes, want 2: %v", i, runs, errs[i])
		}
	}
	if tries[0]+tries[1] < 3 {
		t.Errorf("there was no deadlock: %v tries", tries)
	}
}
