package howto

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// A Quote is the payload of a job that computes a price, and a Price is its result.
type (
	Quote struct{ Article string }
	Price struct{ Cents int }
)

// newPricer sets the handler of quotes. It labels a failure that other programs have to recognize.
func newPricer(jobs *durable.Jobs, price func(context.Context, string) (int, error)) {
	durable.Handle(jobs, "quote", func(ctx context.Context, q Quote) (Price, error) {
		cents, err := price(ctx, q.Article)
		if errors.Is(err, errUnknownArticle) {
			durable.SetLabel(ctx, "unknown article")
			err = executor.Permanent(err) // another attempt would fail, too
		}
		return Price{cents}, err
	})
}

var errUnknownArticle = errors.New("there is no such article")

// priceOf is called in another program that runs no jobs, such as a web server: quotes comes from durable.KindOf. It
// waits for the result for up to a minute. If that is not enough, the job goes on, and its result can be awaited later.
func priceOf(ctx context.Context, quotes *durable.Kind[Quote, Price], q Quote) (Price, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	id, err := quotes.Add(ctx, q, durable.UniquePayload(), durable.ReuseKey())
	if err != nil {
		return Price{}, err
	}
	price, err := quotes.Await(ctx, id)
	var failed *durable.JobError
	switch {
	case errors.As(err, &failed) && failed.Label == "unknown article":
		return Price{}, errUnknownArticle
	case errors.As(err, &failed):
		return Price{}, fmt.Errorf("the price of %q: %v: %s", q.Article, failed.State, failed.Text)
	case errors.Is(err, context.DeadlineExceeded):
		return Price{}, fmt.Errorf("the price of %q is not there yet: ask for job %v later", q.Article, id)
	}
	return price, err
}
