package howto

import (
	"context"
	"database/sql"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
)

// openShop opens a file that has the jobs and the tables of the program. Close the database and then the store at the
// end of the program.
func openShop(file string) (*sqlite.Store, *sql.DB, error) {
	store, err := sqlite.Open(file)
	if err != nil {
		return nil, nil, err
	}
	db, err := sql.Open("sqlite", store.DSN()) // with PostgreSQL: db := store.DB()
	if err != nil {
		store.Close()
		return nil, nil, err
	}
	db.SetMaxOpenConns(1) // transactions wait in turn: SQLite has one writer
	return store, db, nil
}

// A Bill is the payload of a job that sends a bill.
type Bill struct{ Customer, Item string }

// buy stores a purchase and adds the job that sends its bill: both, or neither.
func buy(ctx context.Context, db *sql.DB, bills *durable.Kind[Bill, int64], customer, item string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "insert into purchases (customer, item) values (?, ?)", customer, item); err != nil {
		return err
	}
	if _, err := bills.AddTx(ctx, tx, 0, Bill{customer, item}, durable.Key("bill/"+customer+"/"+item)); err != nil {
		return err
	}
	return tx.Commit()
}

// newBills sets the handler of bills. The row of a bill is written once, however often its job runs: the row is
// committed together with the end of the run.
func newBills(jobs *durable.Jobs, db *sql.DB) *durable.Kind[Bill, int64] {
	return durable.Handle(jobs, "bill", func(ctx context.Context, b Bill) (number int64, err error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return 0, err
		}
		defer tx.Rollback()
		row := tx.QueryRowContext(ctx, "insert into bills (customer, item) values (?, ?) returning number", b.Customer, b.Item)
		if err := row.Scan(&number); err != nil {
			return 0, err
		}
		if err := durable.CompleteTx(ctx, tx, number); err != nil { // the number is the result of the job
			return 0, err
		}
		return number, tx.Commit()
	})
}
