package howto

import (
	"context"
	"time"

	"github.com/executor-go/executor"
)

// followUp reminds those who have not answered for a day.
type followUp struct {
	pool   *executor.ScheduledPool
	remind func(ctx context.Context, name string) error
}

// asked is called when somebody is asked. Cancel the future that it returns when the answer arrives.
func (f followUp) asked(ctx context.Context, name string) (*executor.Future[struct{}], error) {
	return f.pool.GoAfter(ctx, 24*time.Hour, func(ctx context.Context) error { return f.remind(ctx, name) })
}
