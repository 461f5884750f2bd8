// Command durable sends letters, one every tenth of a second. It may be killed at any
// time: when it is started again, it sends the letters that are left, and none again that
// it had sent before.
//
//	go run ./examples/durable -crash 1s    # exits without cleanup, as after kill -9
//	go run ./examples/durable              # continues
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
)

// Letter is the payload of a job. It is stored as JSON.
type Letter struct{ To string }

// Receipt is the result of a job.
type Receipt struct{ Attempt int }

func main() {
	db := flag.String("db", "letters.db", "the `file` with the jobs")
	crash := flag.Duration("crash", 0, "exit without cleanup after this time")
	flag.Parse()
	if err := run(*db, *crash); err != nil {
		log.Fatal(err)
	}
}

func run(db string, crash time.Duration) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	store, err := sqlite.Open(db) // or postgres.Open, for several machines
	if err != nil {
		return err
	}
	defer store.Close()
	jobs, err := durable.New(durable.Config{Store: store, Lease: time.Second})
	if err != nil {
		return err
	}
	letters := durable.Handle(jobs, "letter", send)

	var ids []durable.ID
	for i := range 20 {
		// With a key this is safe to repeat: a second call adds nothing.
		to := fmt.Sprintf("reader %d", i+1)
		delay := time.Duration(i) * 100 * time.Millisecond
		id, err := letters.Schedule(ctx, delay, Letter{To: to}, durable.Key("letter to "+to))
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if crash > 0 {
		time.AfterFunc(crash, func() { os.Exit(137) })
	}

	ctx, done := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- jobs.Run(ctx) }()
	defer func() { done(); <-ended }()
	again := 0
	for _, id := range ids {
		receipt, err := letters.Await(ctx, id)
		if err != nil {
			return err
		}
		if receipt.Attempt > 1 {
			again++
		}
	}
	fmt.Printf("all %d letters are sent, %d of them in a second attempt\n", len(ids), again)
	return nil
}

func send(ctx context.Context, l Letter) (Receipt, error) {
	job, _ := durable.Current(ctx)
	fmt.Printf("writing to %s, attempt %d\n", l.To, job.Attempt)
	select {
	case <-time.After(300 * time.Millisecond): // the work
	case <-ctx.Done():
		return Receipt{}, context.Cause(ctx)
	}
	fmt.Printf("sent to %s\n", l.To)
	return Receipt{job.Attempt}, nil
}
