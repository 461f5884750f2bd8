package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
)

// An order and the letter about it are there together or not at all; and the letter
// is noted as written exactly once, whatever dies.
func Example() {
	dir, err := os.MkdirTemp("", "shop")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	db, err := sql.Open("sqlite", store.DSN()) // once, for the whole program
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("create table orders (id integer primary key, letters integer not null)"); err != nil {
		log.Fatal(err)
	}
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		log.Fatal(err)
	}

	letter := durable.Handle(jobs, "letter", func(ctx context.Context, order int) (string, error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return "", err
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(ctx, "update orders set letters = letters + 1 where id = ?", order); err != nil {
			return "", err
		}
		if err := durable.CompleteTx(ctx, tx, "written"); err != nil {
			return "", err
		}
		return "", tx.Commit()
	})
	order := func(ctx context.Context, id int) (durable.ID, error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return durable.ID{}, err
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(ctx, "insert into orders values (?, 0)", id); err != nil {
			return durable.ID{}, err
		}
		job, err := letter.AddTx(ctx, tx, 0, id)
		if err != nil {
			return durable.ID{}, err
		}
		return job, tx.Commit()
	}

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	id, err := order(ctx, 1)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := order(ctx, 1); err != nil {
		fmt.Println("a second order of that number, and its letter, are not there")
	}
	var node sync.WaitGroup
	node.Go(func() { jobs.Run(ctx) })
	fmt.Println(letter.Await(ctx, id))
	stop()
	node.Wait()

	var letters int
	err = db.QueryRow("select letters from orders where id = 1").Scan(&letters)
	fmt.Println("letters:", letters, err)
	// Output:
	// a second order of that number, and its letter, are not there
	// written <nil>
	// letters: 1 <nil>
}
