// Command job is a node on a SQLite store, jobs.db, until it gets SIGTERM, for scripts/walks:
//
//	job [add]
//
// With add it adds one job, after a second, which is done at once.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
)

func main() {
	if err := run(len(os.Args) > 1); err != nil {
		log.Fatal(err)
	}
}

func run(add bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	store, err := sqlite.Open("jobs.db")
	if err != nil {
		return err
	}
	defer store.Close()
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		return err
	}
	hello := durable.Handle(jobs, "hello", func(_ context.Context, name string) (string, error) { return "hello, " + name, nil })
	if add {
		time.AfterFunc(time.Second, func() {
			if _, err := hello.Add(ctx, "world"); err != nil {
				log.Fatal(err)
			}
		})
	}
	return jobs.Run(ctx)
}
