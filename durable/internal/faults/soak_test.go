//go:build linux

package faults

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
)

// soak returns how long the long form of a test is to last, 0 for the short one.
func soak(t *testing.T) time.Duration {
	text := os.Getenv("EXECUTOR_SOAK")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// begun returns how many runs were begun.
func (f *fleet) begun() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.record.Starts)
}

// enough returns how many occurrences a soak is to have on each store.
func enough(t *testing.T) int {
	text := os.Getenv("EXECUTOR_SOAK_OCCURRENCES")
	if text == "" {
		return 100_000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("EXECUTOR_SOAK_OCCURRENCES is %q, and must be a positive number", text)
	}
	return n
}

// A transaction is left open that has locked some jobs' rows and keeps dead rows from being removed, for minutes in the
// long form. The other jobs go on on their grids, those wait, and nothing is lost, committed twice or begun early. The
// test logs what it cost.
func TestHistoryWithOpenTransaction(t *testing.T) {
	length := max(soak(t), 6*lease)
	f := newFleet(t, stores(t)["postgres"](t))
	trial(t, f, 100*int(length/time.Second), func() {
		db, err := sql.Open("pgx", f.direct)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		victim := f.start()
		f.start()
		f.reach(1)
		time.Sleep(lease)
		conn, err := db.Conn(t.Context()) // what locks rows has a number, and holds vacuum back by it
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, statement := range []string{
			"begin",
			"select from executor_job where key in ('tick0', 'tick1', 'tick2') for update",
		} {
			if _, err := conn.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		opened := time.Now()
		before, early, others := f.begun(), claimTime(t, f.direct), f.occurrences()
		time.Sleep(length / 2)
		victim.end(syscall.SIGKILL) // some of what it held is locked
		f.start()
		time.Sleep(length / 2)
		// Claims become slower with the dead rows that they pass: that is known.
		f.reach(others + 37*10*int(length/time.Second)/5)
		took, during, late, dead := time.Since(opened), f.begun()-before, claimTime(t, f.direct), 0
		if err := db.QueryRowContext(t.Context(), "select n_dead_tup from pg_stat_user_tables where relname = 'executor_job' and schemaname = current_schema()").Scan(&dead); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.ExecContext(t.Context(), "rollback"); err != nil {
			t.Fatal(err)
		}
		t.Logf("open for %v: %d begun meanwhile, %.0f a second; %d dead rows, a claim took %v, and %v at the begin",
			took.Round(time.Second), during, float64(during)/took.Seconds(), dead, late, early)
		time.Sleep(5 * lease) // those that were locked catch up
	})
}

// claimTime returns how long a claim takes that finds nothing, but has to pass all that was due.
func claimTime(t *testing.T, dsn string) time.Duration {
	store, err := postgres.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ctx := context.Background()
	name := fmt.Sprint("onlooker", time.Now().UnixNano())
	if _, err := store.Join(ctx, name, time.Minute); err != nil {
		t.Fatal(err)
	}
	defer store.Leave(ctx, name)
	best := time.Hour
	for range 5 {
		begun := time.Now()
		if _, err := store.Claim(ctx, durablestore.ClaimRequest{Node: name, Ahead: -5 * time.Second, Limit: 1,
			Kinds: []durablestore.KindLimit{{Kind: "tick", Max: 1}}}); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(begun))
	}
	return best
}
