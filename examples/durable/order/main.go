// Command order runs the orders of a shop. Each is a job of steps: reserve, charge, ship. A large one waits, without a
// worker, until a human has decided on it, and the carrier declines some at first. The program may be killed at any
// time: when it is started again, each order goes on with the step in which it was.
//
//	go run ./examples/durable/order -crash 300ms       # exits without cleanup, as after kill -9
//	go run ./examples/durable/order                    # goes on
//	go run ./examples/durable/order -approve order-3   # in another terminal; or -decline order-3
//	cat orders.txt                                     # what the bank and the carrier saw
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

// Order is the payload of a job. It is stored as JSON.
type Order struct {
	Name string
	Euro int
}

func main() {
	n := flag.Int("n", 6, "how many orders there are")
	approve := flag.String("approve", "", "approve the `order`, and exit")
	decline := flag.String("decline", "", "decline the `order`, and exit")
	world.Main("orders", func(ctx context.Context, store durable.Store, outside *world.Ledger) error {
		jobs, err := durable.New(durable.Config{Store: store, Lease: time.Second})
		if err != nil {
			return err
		}
		s := &shop{jobs: jobs, outside: outside}
		s.orders = durable.Handle(jobs, "order", s.handle, durable.WithBackoff(executor.Backoff(100*time.Millisecond, time.Second)))
		switch {
		case *approve != "":
			return s.decide(ctx, *approve, true)
		case *decline != "":
			return s.decide(ctx, *decline, false)
		}
		return s.run(ctx, *n)
	})
}

// Outcome is the result of a job: an order that a human has declined has an end as good as any.
type Outcome struct {
	Parcel   string `json:",omitempty"`
	Declined bool   `json:",omitempty"`
}

// A shop is the program, and what it calls.
type shop struct {
	jobs    *durable.Jobs
	orders  *durable.Kind[Order, Outcome]
	outside *world.Ledger
}

// run takes n orders, and returns when all are over.
func (s *shop) run(ctx context.Context, n int) error {
	ids := make([]durable.ID, n)
	for i := range ids {
		// With a key this is safe to repeat: a second call adds nothing.
		o := Order{Name: fmt.Sprint("order-", i+1), Euro: 10 + i%3*50}
		id, err := s.orders.Add(ctx, o, durable.Key(o.Name))
		if err != nil {
			return err
		}
		ids[i] = id
	}
	defer world.Start(ctx, s.jobs)()
	for i, id := range ids {
		o, err := s.orders.Await(ctx, id)
		switch {
		case err != nil:
			return err
		case o.Declined:
			fmt.Printf("order-%d is declined\n", i+1)
		default:
			fmt.Printf("order-%d is on its way, parcel %s\n", i+1, o.Parcel)
		}
	}
	return nil
}

// handle is the handler of an order. What an attempt has done the next one does not do again.
func (s *shop) handle(ctx context.Context, o Order) (done Outcome, err error) {
	if _, err := s.step(ctx, "reserve", o); err != nil {
		return done, err
	}
	if o.Euro > 100 {
		if _, err := s.step(ctx, "ask", o); err != nil {
			return done, err
		}
		approved, err := durable.Wait[bool](ctx, "decision")
		if err != nil {
			return done, err // there is none yet: this ends the run, and the decision begins the next one
		}
		if !approved {
			durable.SetLabel(ctx, "declined")
			_, err := s.step(ctx, "return", o)
			return Outcome{Declined: true}, err
		}
	}
	if _, err := s.step(ctx, "charge", o); err != nil {
		return done, err
	}
	done.Parcel, err = s.step(ctx, "ship", o)
	return done, err
}

// step has the outside do something, and keeps the receipt. If the program dies before that is kept the call is made
// again, with the same key: so the customer is charged once.
func (s *shop) step(ctx context.Context, name string, o Order) (receipt string, err error) {
	return durable.Step(ctx, name, func(context.Context) (string, error) {
		fmt.Println(o.Name, name)
		switch {
		case name == "ask":
			fmt.Printf("%s of %d € waits: run this program with -approve %[1]s or -decline %[1]s\n", o.Name, o.Euro)
		case name == "ship" && o.Euro == 60 && !s.outside.Done("refuse", o.Name):
			_, err := s.outside.Do("refuse", o.Name, "-")
			return "", errors.Join(errors.New("the carrier has no room"), err)
		}
		return s.outside.Do(name, o.Name, fmt.Sprint(o.Euro))
	})
}

// decide sends an order the decision of a human. Repeating it is safe; the first decision counts.
func (s *shop) decide(ctx context.Context, order string, approved bool) error {
	job, err := s.jobs.Find(ctx, order)
	if err != nil {
		return fmt.Errorf("%s: %w", order, err)
	}
	if _, err := s.outside.Do(map[bool]string{true: "approve", false: "decline"}[approved], order, "-"); err != nil {
		return err
	}
	answer, err := s.jobs.Signal(ctx, job.ID, "decision", approved)
	if err == nil && answer != durable.Applied {
		err = fmt.Errorf("%s: somebody has decided before: %v", order, answer)
	}
	return err
}
