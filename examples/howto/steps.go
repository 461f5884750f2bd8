package howto

import (
	"context"
	"errors"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// An order is what somebody buys.
type order struct {
	Item  string
	Cents int
}

// shop is what an order calls. Each takes a key, and does with a key what it did before: a program may die between a
// call and the moment in which its result is kept.
type shop interface {
	Reserve(ctx context.Context, key, item string) (shelf string, err error)
	Charge(ctx context.Context, key string, cents int) (receipt string, err error)
	Ship(ctx context.Context, key, shelf string) (parcel string, err error)
	Return(ctx context.Context, key, shelf string) (string, error)
}

var errDeclined = errors.New("nobody has approved the order")

// handleOrders runs orders. A step that one attempt has finished is not done again by the next.
func handleOrders(jobs *durable.Jobs, s shop) *durable.Kind[order, string] {
	return durable.Handle(jobs, "order", func(ctx context.Context, o order) (parcel string, err error) {
		job, _ := durable.Current(ctx)
		key := job.ID.String()
		shelf, err := durable.Step(ctx, "reserve", func(ctx context.Context) (string, error) {
			return s.Reserve(ctx, key, o.Item)
		})
		if err != nil {
			return "", err
		}
		if o.Cents > 100_00 {
			ok, err := approved(ctx)
			if err != nil {
				return "", err
			}
			if !ok {
				_, err := durable.Step(ctx, "return", func(ctx context.Context) (string, error) {
					return s.Return(ctx, key, shelf)
				})
				return "", errors.Join(err, executor.Permanent(errDeclined))
			}
		}
		if _, err := durable.Step(ctx, "charge", func(ctx context.Context) (string, error) {
			return s.Charge(ctx, key, o.Cents)
		}); err != nil {
			return "", err
		}
		return durable.Step(ctx, "ship", func(ctx context.Context) (string, error) {
			return s.Ship(ctx, key, shelf)
		})
	})
}

// approved waits for up to three days until somebody has decided on an order. A later decision changes nothing.
func approved(ctx context.Context) (bool, error) {
	ok, err := durable.Wait[bool](ctx, "decision")
	if _, waits := durable.Snoozed(err); waits {
		err = durable.Sleep(ctx, "three days", 72*time.Hour)
	}
	if err != nil {
		return false, err
	}
	return durable.Step(ctx, "decided", func(context.Context) (bool, error) { return ok, nil })
}

// decide is called when somebody has decided on an order. It reports whether the decision counts.
func decide(ctx context.Context, jobs *durable.Jobs, order durable.ID, ok bool) (bool, error) {
	answer, err := jobs.Signal(ctx, order, "decision", ok)
	return answer == durable.Applied, err
}
