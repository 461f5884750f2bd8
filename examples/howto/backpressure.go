package howto

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/executor-go/executor"
)

// importLines saves all lines, four at a time. It reads no faster than they are saved, and ends at the first error.
func importLines(ctx context.Context, lines iter.Seq[string], save func(context.Context, string) error) error {
	pool, err := executor.New(executor.Config{
		Workers: 4,
		Queue:   executor.Bounded(16),
		Reject:  executor.Block, // a submitter waits for room
	})
	if err != nil {
		return err
	}
	defer pool.Close()

	g := executor.NewGroup(ctx, pool)
	for line := range lines {
		if g.Context().Err() != nil {
			break // a line was not saved, or ctx has ended
		}
		g.Go(func(ctx context.Context) error { return save(ctx, line) })
	}
	return g.Wait()
}

// newPatient returns a pool that refuses a task if there is no room for it within a tenth of a second.
func newPatient(workers, queue int) (*executor.Pool, error) {
	return executor.New(executor.Config{
		Workers: workers,
		Queue:   executor.Bounded(queue),
		Reject:  executor.BlockFor(100 * time.Millisecond),
	})
}

// accept reports whether the pool has taken the work.
func accept(ctx context.Context, pool *executor.Pool, work func(context.Context) error) (bool, error) {
	err := pool.Go(ctx, work)
	if errors.Is(err, executor.ErrSaturated) {
		return false, nil // tell the client to try again later
	}
	return err == nil, err
}
