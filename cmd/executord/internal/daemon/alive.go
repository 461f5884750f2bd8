package daemon

import (
	"context"

	"github.com/executor-go/executor"
)

// Alive reports whether the daemon starts what is due: a task that is due now ran before ctx ended, on a worker, and
// took the locks that a run takes. That all workers have runs is no fault, and at the end nothing is due any more. The
// store is not asked: a daemon is of use without, for a while, and a restart would not help the store.
//
// It does not return if the pool is stuck.
func (d *Daemon) Alive(ctx context.Context) bool {
	f := executor.SubmitAfter(ctx, d.pool, 0, executor.Func(func(context.Context) error {
		d.Figures()
		d.catalog.Jobs.Node()
		return nil
	}).Call)
	if _, err := f.Get(ctx); err == nil {
		return true
	}
	s := d.pool.Stats()
	return s.Stage != executor.StageRunning || s.Active >= d.pool.Settings().Workers
}
