package howto

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/executor-go/executor"
)

// deliver posts a message. It makes up to five attempts, of two seconds each.
func deliver(ctx context.Context, pool *executor.Pool, post func(context.Context) (status int, err error)) error {
	return pool.Submit(ctx, func(ctx context.Context) error {
		status, err := post(ctx)
		switch {
		case err != nil:
			return err // the network: try again
		case status == http.StatusTooManyRequests || status >= 500:
			return fmt.Errorf("status %d", status) // the server: try again
		case status >= 400:
			return executor.Permanent(fmt.Errorf("status %d", status)) // our mistake: the next attempt would fail, too
		}
		return nil
	},
		executor.Retry(5, executor.Backoff(100*time.Millisecond, 10*time.Second)),
		executor.Timeout(2*time.Second),
	).Wait(ctx)
}

// everySecond waits for a second after each attempt.
func everySecond(n int) time.Duration { return time.Second }
