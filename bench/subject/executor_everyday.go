package subject

import (
	"context"
	"iter"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/bench/drive"
)

// body is a task in our form.
func body(task func()) func(context.Context) error {
	return func(context.Context) error { task(); return nil }
}

func ourEverydayWork() drive.Funcs {
	ctx := context.Background()
	return merge(
		drive.FanOut(func(workers int) drive.Groups {
			pool := executor.Fixed(workers)
			return drive.Groups{
				Run: func(n int, task func()) {
					g, fn := executor.NewGroup(ctx, pool), body(task)
					for range n {
						g.Go(fn)
					}
					must(g.Wait())
				},
				Close: pool.Close,
			}
		}),
		drive.Map(func(workers int) (drive.Mapping, func()) {
			pool := executor.Fixed(workers)
			return func(n int, seq iter.Seq[int], fn func(int) int, yield func(int)) {
				square := func(_ context.Context, i int) (int, error) { return fn(i), nil }
				for v, err := range executor.Map(ctx, pool, n, seq, square) {
					must(err)
					yield(v)
				}
			}, pool.Close
		}),
		drive.Share(func(workers, limit int, task func()) drive.Pool {
			pool := executor.Fixed(workers)
			share, err := pool.Share(executor.ShareConfig{Limit: limit})
			must(err)
			return ourShare{ourPool{share, body(task)}, pool}
		}),
		drive.Keyed(func(workers int) drive.KeyedPool {
			pool := executor.Fixed(workers)
			keyed := executor.NewKeyed[int](pool, 1)
			return drive.KeyedPool{
				Go:   func(key int, task func()) { must(keyed.Go(ctx, key, body(task))) },
				Wait: pool.Close,
			}
		}),
		drive.Retry(func(workers int, pause time.Duration) drive.RetryPool {
			pool := executor.Fixed(workers)
			retry := executor.Retry(3, func(int) time.Duration { return pause })
			var all []*executor.Future[struct{}]
			return drive.RetryPool{
				Go: func(task func() error) {
					fn := func(context.Context) error { return task() }
					all = append(all, executor.Submit(ctx, pool, executor.Func(fn).Call, retry))
				},
				Wait: func() {
					for _, f := range all {
						_, err := f.Get(ctx)
						must(err)
					}
					pool.Close()
				},
			}
		}),
		drive.Submit(func(workers int, task func() int) drive.Requests[*executor.Future[int]] {
			pool := executor.Fixed(workers)
			fn := func(context.Context) (int, error) { return task(), nil }
			return drive.Requests[*executor.Future[int]]{
				Submit: func(ctx context.Context) *executor.Future[int] { return executor.Submit(ctx, pool, fn) },
				Get: func(ctx context.Context, f *executor.Future[int]) int {
					n, err := f.Get(ctx)
					must(err)
					return n
				},
				Close: pool.Close,
			}
		}),
		drive.Wait(func(workers int) drive.FuncPool {
			pool := executor.Fixed(workers)
			return drive.FuncPool{Go: func(task func()) { must(pool.Go(ctx, body(task))) }, Close: pool.Close}
		}),
	)
}

type ourShare struct {
	ourPool
	lender *executor.Pool
}

func (s ourShare) Wait() { s.lender.Close() }
