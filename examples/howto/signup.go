package howto

import (
	"context"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// A Welcome is the payload of a job that welcomes a user.
type Welcome struct{ User string }

// newWelcomes sets the handler of welcomes. After a failure the next attempt waits for up to ten minutes, then for up to
// twenty, and so on.
func newWelcomes(jobs *durable.Jobs, mail func(ctx context.Context, user, text string) error) *durable.Kind[Welcome, bool] {
	return durable.Handle(jobs, "welcome", func(ctx context.Context, w Welcome) (bool, error) {
		return true, mail(ctx, w.User, "Welcome!")
	}, durable.WithBackoff(executor.Backoff(10*time.Minute, time.Hour)))
}

// signUp adds the welcome of a user: it is sent an hour later, in three attempts at most.
func signUp(ctx context.Context, welcomes *durable.Kind[Welcome, bool], user string) error {
	_, err := welcomes.AddAfter(ctx, time.Hour, Welcome{user}, durable.Key("welcome/"+user), durable.Attempts(3))
	return err
}
