package beside

import (
	"context"
	"sync"
	"time"

	"github.com/executor-go/executor"
	"github.com/panjf2000/ants/v2"
)

// ResizeByAnts makes all thumbnails with four workers, and reports panics.
func ResizeByAnts(names []string, resize func(name string), report func(any)) error {
	pool, err := ants.NewPool(4, ants.WithPanicHandler(report))
	if err != nil {
		return err
	}
	defer pool.ReleaseTimeout(time.Minute)
	var all sync.WaitGroup
	for _, name := range names {
		all.Add(1)
		err := pool.Submit(func() { // waits for a worker
			defer all.Done()
			resize(name)
		})
		if err != nil {
			all.Done()
			return err
		}
	}
	all.Wait()
	return nil
}

// Resize does the same.
func Resize(ctx context.Context, names []string, resize func(name string), report func(any)) error {
	pool, err := executor.New(executor.Config{
		Workers: 4,
		Queue:   executor.Handoff(),
		Reject:  executor.Block, // waits for a worker, or until ctx ends
		Hooks: executor.Hooks{
			OnPanic: func(_ context.Context, _ executor.TaskInfo, err *executor.PanicError) { report(err.Value) },
		},
	})
	if err != nil {
		return err
	}
	defer pool.Close() // waits for all
	for _, name := range names {
		if err := pool.Go(ctx, func(context.Context) error { resize(name); return nil }); err != nil {
			return err
		}
	}
	return nil
}
