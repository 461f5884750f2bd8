package howto

import (
	"context"
	"iter"

	"github.com/executor-go/executor"
)

// Page is what was fetched.
type Page struct {
	URL  string
	Size int
}

// sizes adds up the sizes of pages, of which it fetches up to 8 at a time. The results come in the order of the URLs.
func sizes(ctx context.Context, urls iter.Seq[string], fetch func(context.Context, string) (Page, error)) (int, error) {
	pool := executor.Fixed(8)
	defer pool.Close()
	total := 0
	for page, err := range executor.Map(ctx, pool, 8, urls, fetch) {
		if err != nil {
			return 0, err // ends the calls in flight, and waits for them
		}
		total += page.Size
	}
	return total, nil
}

// removeAll removes all names, up to n at a time, and ends at the first error.
func removeAll(ctx context.Context, n int, names []string, remove func(context.Context, string) error) error {
	pool := executor.Fixed(n)
	defer pool.Close()
	g := executor.NewGroup(ctx, pool)
	for _, name := range names {
		g.Go(func(ctx context.Context) error { return remove(ctx, name) })
	}
	return g.Wait() // the first error, nil if there is none
}

// dashboard asks three services at the same time, in a pool that the whole program shares.
func dashboard(
	ctx context.Context, pool *executor.Pool, ask func(ctx context.Context, service string) (string, error),
) (string, error) {
	from := func(service string) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) { return ask(ctx, service) }
	}
	answers, err := executor.All(ctx, pool, from("user"), from("orders"), from("stock"))
	if err != nil {
		return "", err
	}
	return answers[0] + ": " + answers[1] + ", " + answers[2], nil
}

// newReports returns a pool for reports, which take up to two workers of the pool at a time.
func newReports(pool *executor.Pool) (*executor.Pool, error) {
	return pool.Share(executor.ShareConfig{Name: "reports", Limit: 2})
}
