package beside

import (
	"context"
	"slices"

	"github.com/alitto/pond/v2"
	"github.com/executor-go/executor"
)

// TotalByPond adds up prices, which four workers ask for.
func TotalByPond(ctx context.Context, items []string, price func(ctx context.Context, item string) (int, error)) (int, error) {
	pool := pond.NewResultPool[int](4)
	defer pool.StopAndWait()
	group := pool.NewGroupContext(ctx)
	for _, item := range items {
		group.SubmitErr(func() (int, error) { return price(ctx, item) })
	}
	prices, err := group.Wait()
	if err != nil {
		return 0, err
	}
	total := 0
	for _, p := range prices {
		total += p
	}
	return total, nil
}

// Total does the same, and would for a sequence of any length.
func Total(ctx context.Context, items []string, price func(ctx context.Context, item string) (int, error)) (int, error) {
	pool := executor.Fixed(4)
	defer pool.Close()
	total := 0
	for p, err := range executor.Map(ctx, pool, 4, slices.Values(items), price) {
		if err != nil {
			return 0, err
		}
		total += p
	}
	return total, nil
}
