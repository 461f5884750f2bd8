// Command mailer sends letters, no more than the mail server allows. The program may be killed at any time: when it is
// started again, it sends the letters that are left, and none again of which it knew that it was sent.
//
//	go run ./examples/durable/mailer -crash 1s    # exits without cleanup, as after kill -9
//	go run ./examples/durable/mailer              # continues
//	cat letters.txt                               # what the mail server saw
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/examples/durable/internal/world"
)

// Letter is the payload of a job. It is stored as JSON.
type Letter struct{ To string }

// Receipt is the result of a job.
type Receipt struct {
	Attempt int
	Server  string // what the mail server has answered
}

// allowed is what the mail server takes: twenty letters a second, and four at once after a pause. It holds for all
// programs on the store together.
var allowed = executor.Rate{PerSecond: 20, Burst: 4}

func main() {
	n := flag.Int("n", 60, "how many letters there are")
	world.Main("letters", func(ctx context.Context, store durable.Store, server *world.Ledger) error {
		return run(ctx, store, server, *n)
	})
}

func run(ctx context.Context, store durable.Store, server *world.Ledger, n int) error {
	if _, err := server.Do("start", fmt.Sprint("mailer-", time.Now().UnixNano()), "-"); err != nil {
		return err
	}
	jobs, err := durable.New(durable.Config{Store: store, Lease: time.Second})
	if err != nil {
		return err
	}
	letters := durable.Handle(jobs, "letter", func(ctx context.Context, l Letter) (Receipt, error) {
		return send(ctx, server, l)
	}, durable.GlobalRate(allowed))

	var batch []durable.Prepared
	for i := range n {
		// With a key this is safe to repeat: a second call adds nothing.
		to := fmt.Sprint("reader-", i+1)
		batch = append(batch, letters.Prepare(0, Letter{To: to}, durable.Key(to)))
	}
	ids, err := jobs.Add(ctx, batch...) // all of them or, if the program is killed now, none
	if err != nil {
		return err
	}
	defer world.Start(ctx, jobs)()
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

// send is the handler. If the program dies after the call of the mail server and before the receipt is stored, the
// letter is sent again, with the same key: so the server can drop it.
func send(ctx context.Context, server *world.Ledger, l Letter) (Receipt, error) {
	job, ok := durable.Current(ctx)
	if !ok {
		return Receipt{}, errors.New("send is called by a job only")
	}
	fmt.Printf("writing to %s, attempt %d\n", l.To, job.Attempt)
	answer, err := server.Do("send", job.Key, "-")
	if err != nil {
		return Receipt{}, err
	}
	select {
	case <-time.After(20 * time.Millisecond): // the answer takes its time
	case <-ctx.Done():
		return Receipt{}, context.Cause(ctx)
	}
	fmt.Printf("sent to %s\n", l.To)
	return Receipt{job.Attempt, answer}, nil
}
