package beside

import (
	"context"

	"github.com/executor-go/executor"
	"golang.org/x/sync/errgroup"
)

// FetchByErrgroup fetches all URLs, up to eight at a time, and ends at the first error.
func FetchByErrgroup(ctx context.Context, urls []string, fetch func(context.Context, string) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for _, url := range urls {
		g.Go(func() error { return fetch(ctx, url) })
	}
	return g.Wait()
}

// Fetch does the same. A pool that lives as long as the program limits all callers together.
func Fetch(ctx context.Context, urls []string, fetch func(context.Context, string) error) error {
	pool := executor.Fixed(8)
	defer pool.Close()
	g := executor.NewGroup(ctx, pool)
	for _, url := range urls {
		g.Go(func(ctx context.Context) error { return fetch(ctx, url) })
	}
	return g.Wait()
}
