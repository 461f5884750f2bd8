package postgres_test

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
)

// This program may run on as many machines as like. Each of them is a node, and each
// night one of them makes the report.
func Example() {
	store, err := postgres.Open(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		log.Fatal(err)
	}
	report := durable.Handle(jobs, "report", func(ctx context.Context, of string) (string, error) {
		return of + ".pdf", nil
	}, durable.GlobalLimit(1))

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if _, err := report.On(ctx, "report/sales", cron.MustParse("CRON_TZ=Europe/Berlin 30 2 * * *"), "sales"); err != nil {
		log.Fatal(err)
	}
	if err := jobs.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

// A user is added together with the job that welcomes them: both are there, or
// neither. The transaction is one of pgx's own.
func ExampleTx() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	store, err := postgres.Open(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		log.Fatal(err)
	}
	welcome := durable.KindOf[string, string](jobs, "welcome")

	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "insert into users (name) values ($1)", "Ada"); err != nil {
			return err
		}
		_, err := welcome.AddTx(ctx, postgres.Tx(tx), 0, "Ada")
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
}
