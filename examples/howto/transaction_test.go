package howto

import (
	"database/sql"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/executor-go/executor/durable"
)

// A purchase that can't be stored adds no job, and one that can has one bill, whose number is the result of the job.
func TestPurchaseHasOneBill(t *testing.T) {
	store, db, err := openShop(filepath.Join(t.TempDir(), "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	t.Cleanup(func() { db.Close() })
	const tables = `
		create table purchases (customer text, item text check (item <> ''));
		create table bills (number integer primary key, customer text, item text)`
	if _, err := db.ExecContext(t.Context(), tables); err != nil {
		t.Fatal(err)
	}
	jobs, err := durable.New(durable.Config{Store: store, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	bills := newBills(jobs, db)
	if err := buy(t.Context(), db, bills, "ann", ""); err == nil {
		t.Error("a purchase of nothing was stored")
	}
	if err := buy(t.Context(), db, bills, "ann", "hat"); err != nil {
		t.Fatal(err)
	}
	all, err := jobs.List(t.Context(), durable.Filter{})
	if err != nil || len(all) != 1 || all[0].Key != "bill/ann/hat" {
		t.Fatalf("jobs: %+v, %v", all, err)
	}
	runJobs(t, jobs)
	if number, err := bills.Await(t.Context(), all[0].ID); err != nil || number != 1 {
		t.Errorf("bill %d, %v", number, err)
	}
	if n := count(t, db, "bills"); n != 1 {
		t.Errorf("%d bills", n)
	}
	if n := count(t, db, "purchases"); n != 1 {
		t.Errorf("%d purchases", n)
	}
}

func count(t *testing.T, db *sql.DB, table string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "select count(*) from "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
