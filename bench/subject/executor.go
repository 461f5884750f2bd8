package subject

import (
	"context"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/bench/drive"
	"github.com/executor-go/executor/bench/workload"
)

var ours = Subject{
	ID: Ours, Title: "executor", Own: true, Charts: true,
	How: "`Fixed(n)` with `Go` for tasks without a result and `Submit` for results; " +
		"`Scheduled(n)` with `SubmitAfter`, `AtFixedRate` and `Cancel`. " +
		"The context is `context.Background()`. `Group`, `Map`, `Share`, `Keyed` and `Retry` on `Fixed(n)`.",
	Funcs: merge(
		executes(openOurPool),
		drive.Submits(func(workers int, task func() int) drive.Futures[*executor.Future[int]] {
			ctx := context.Background()
			pool := executor.Fixed(workers)
			fn := func(context.Context) (int, error) { return task(), nil }
			return drive.Futures[*executor.Future[int]]{
				Submit: func() *executor.Future[int] { return executor.Submit(ctx, pool, fn) },
				Get: func(f *executor.Future[int]) int {
					n, err := f.Get(ctx)
					must(err)
					return n
				},
				Close: func() { pool.Close() },
			}
		}),
		drive.Schedules(func(workers int, task func()) drive.Timers[*executor.Future[struct{}]] {
			ctx := context.Background()
			pool := executor.Scheduled(workers)
			fn := func(context.Context) (struct{}, error) { task(); return struct{}{}, nil }
			return drive.Timers[*executor.Future[struct{}]]{
				After: func(d time.Duration) *executor.Future[struct{}] {
					return executor.SubmitAfter(ctx, pool, d, fn)
				},
				Cancel: func(f *executor.Future[struct{}]) bool { return f.Cancel() },
				Close:  func() { pool.ShutdownNow() },
			}
		}),
		drive.Lateness(func(workers int, tasks []*drive.Periodic) func() {
			ctx := context.Background()
			pool := executor.Scheduled(workers)
			for _, b := range tasks {
				run := func(context.Context) error { b.Run(); return nil }
				_, err := pool.AtFixedRate(ctx, time.Until(b.First), b.Period, run)
				must(err)
			}
			return func() { pool.ShutdownNow() }
		}),
		drive.Funcs{workload.Observed: drive.Execute(openOurPool)},
		ourEverydayWork(),
	),
}

type ourPool struct {
	*executor.Pool
	fn func(context.Context) error
}

func openOurPool(workers int, task func()) drive.Pool {
	return ourPool{executor.Fixed(workers), func(context.Context) error { task(); return nil }}
}

func (p ourPool) Go()   { must(p.Pool.Go(context.Background(), p.fn)) }
func (p ourPool) Wait() { p.Close() }
