// Command welcome sends a mail to everyone it is called with, five seconds later. Kill it before that and start it again:
// the mails are sent.
//
//	go run ./examples/durable/welcome ann bob
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
)

// Mail is the payload of a job. The store has it as JSON.
type Mail struct{ To string }

// send is the handler. It is called again if it fails, or if the program is killed during the call.
func send(_ context.Context, m Mail) (string, error) {
	log.Println("welcome,", m.To)
	return "sent to " + m.To, nil
}

func run(ctx context.Context, file string, names []string) error {
	store, err := sqlite.Open(file) // or postgres.Open(dsn), to share the jobs among machines
	if err != nil {
		return err
	}
	defer store.Close()
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		return err
	}
	mails := durable.Handle(jobs, "welcome", send, durable.WithBackoff(executor.Backoff(time.Second, time.Minute)))
	for _, name := range names {
		id, err := mails.AddAfter(ctx, 5*time.Second, Mail{name}, durable.Key("welcome/"+name))
		if err != nil {
			return err
		}
		log.Println("added", id) // the job is on the disk
	}
	return jobs.Run(ctx) // runs what is due, until ctx ends and the handlers have returned
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, "welcome.db", os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
