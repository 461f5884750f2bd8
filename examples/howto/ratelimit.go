package howto

import (
	"github.com/executor-go/executor"
)

// newMail returns a pool for mails: ten begin in a second, and up to five at once after a pause. Further mails wait.
func newMail(pool *executor.Pool) (*executor.Pool, error) {
	return pool.Share(executor.ShareConfig{
		Name: "mail",
		Rate: executor.Rate{PerSecond: 10, Burst: 5},
	})
}

// newSearch returns a pool for searches: a hundred begin in a second, and four run at a time. Further searches are
// refused.
func newSearch(pool *executor.Pool) (*executor.Pool, error) {
	return pool.Share(executor.ShareConfig{
		Name:  "search",
		Rate:  executor.Rate{PerSecond: 100},
		Limit: 4,
		Queue: executor.Bounded(20), // a fifth of a second
	})
}

// newMailByAddress returns what sends mails to one address in their order.
func newMailByAddress(pool *executor.Pool) *executor.Keyed[string] {
	return executor.NewKeyed[string](pool, 1, func(c *executor.ShareConfig) {
		c.Rate = executor.Rate{PerSecond: 10}
		c.Queue = executor.Bounded(1000)
	})
}

// slowDown halves the rate of a share: call it when the server answers 429, for example.
func slowDown(share *executor.Pool) error {
	return share.Reconfigure(func(s *executor.Settings) { s.Rate.PerSecond /= 2 })
}
