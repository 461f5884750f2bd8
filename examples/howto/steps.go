package howto

import (
	"context"
	"time"

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

// delivery is what came of an order.
type delivery struct {
	Parcel   string
	Declined bool // nobody has approved it: it is an end as good as any, and no failure of the job
}

// handleOrders runs orders. A step that one attempt has finished is not done again by the next.
func handleOrders(jobs *durable.Jobs, s shop) *durable.Kind[order, delivery] {
	return durable.Handle(jobs, "order", func(ctx context.Context, o order) (d delivery, err error) {
		job, _ := durable.Current(ctx)
		key := job.ID.String()
		shelf, err := durable.Step(ctx, "reserve", func(ctx context.Context) (string, error) {
			return s.Reserve(ctx, key, o.Item)
		})
		if err != nil {
			return d, err
		}
		if o.Cents > 100_00 {
			ok, _, err := durable.WaitFor[bool](ctx, "approved", 72*time.Hour)
			if err != nil {
				return d, err
			}
			if !ok {
				_, err := durable.Step(ctx, "return", func(ctx context.Context) (string, error) {
					return s.Return(ctx, key, shelf)
				})
				return delivery{Declined: true}, err
			}
		}
		if _, err := durable.Step(ctx, "charge", func(ctx context.Context) (string, error) {
			return s.Charge(ctx, key, o.Cents)
		}); err != nil {
			return d, err
		}
		d.Parcel, err = durable.Step(ctx, "ship", func(ctx context.Context) (string, error) {
			return s.Ship(ctx, key, shelf)
		})
		return d, err
	})
}

// decide is called when somebody has decided on an order. It reports whether the decision is the first.
func decide(ctx context.Context, jobs *durable.Jobs, order durable.ID, ok bool) (bool, error) {
	answer, err := jobs.Signal(ctx, order, "approved", ok)
	return answer == durable.Applied, err
}
