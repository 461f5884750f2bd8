package howto

import (
	"github.com/executor-go/executor"
)

// newMail returns a pool for mails: ten begin in a second, and five at once after a pause. What is too much waits.
func newMail(pool *executor.Pool) (*executor.Pool, error) {
	return pool.Share(executor.ShareConfig{
		Name: "mail",
		Rate: executor.Rate{PerSecond: 10, Burst: 5},
	})
}

// newSearch returns a pool for searches: a hundred begin in a second, four run at a time, and what is too much is
// refused.
func newSearch(pool *executor.Pool) (*executor.Pool, error) {
	return pool.Share(executor.ShareConfig{
		Name:  "search",
		Rate:  executor.Rate{PerSecond: 100},
		Limit: 4,
		Queue: executor.Bounded(20), // a fifth of a second
	})
}

// slowDown halves the rate of a share, as after a 429 of the server.
func slowDown(share *executor.Pool) error {
	return share.Reconfigure(func(s *executor.Settings) { s.Rate.PerSecond /= 2 })
}
