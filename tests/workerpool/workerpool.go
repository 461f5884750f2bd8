// Package workerpool has the interface of github.com/gammazero/workerpool over an executor.Pool, so that the tests of
// that module, which are not here, can be run over it.
package workerpool

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor"
)

// ErrStopped is the error of a task that came after Stop, or was waiting then.
var ErrStopped = errors.New("workerpool: stopped")

// DefaultIdleTimeout is how long a worker stays idle before it exits.
const DefaultIdleTimeout = 2 * time.Second

// Option changes the configuration of a pool.
type Option func(*executor.Config)

// WithIdleTimeout sets how long a worker stays idle before it exits: always if d is negative.
func WithIdleTimeout(d time.Duration) Option {
	return func(c *executor.Config) {
		switch {
		case d < 0:
			c.Workers = c.Max
		case d > 0:
			c.KeepAlive = d
		}
	}
}

// WorkerPool is an elastic pool.
type WorkerPool struct {
	pool       *executor.Pool
	maxWorkers int

	pausing sync.Mutex
	stopped atomic.Bool
	unpause context.Context // ends at Stop
	stop    context.CancelFunc
	unrun   atomic.Int64 // tasks that were waiting at Stop
}

// New returns a pool of up to maxWorkers workers, at least one.
func New(maxWorkers int, options ...Option) *WorkerPool {
	if maxWorkers < 1 {
		maxWorkers = 1
	}
	c := executor.Config{Max: maxWorkers, GrowWhenBusy: true, KeepAlive: DefaultIdleTimeout}
	for _, o := range options {
		o(&c)
	}
	pool, err := executor.New(c)
	if err != nil {
		panic(err)
	}
	w := &WorkerPool{pool: pool, maxWorkers: c.Max}
	w.unpause, w.stop = context.WithCancel(context.Background())
	return w
}

// Size returns the most workers.
func (w *WorkerPool) Size() int { return w.maxWorkers }

// Stopped reports whether Stop or StopWait was called.
func (w *WorkerPool) Stopped() bool { return w.stopped.Load() }

// WaitingQueueSize returns how many tasks wait or, after Stop, never ran.
func (w *WorkerPool) WaitingQueueSize() int { return w.pool.Stats().Queued + int(w.unrun.Load()) }

// Do submits a task.
func (w *WorkerPool) Do(task func()) error {
	if task == nil {
		return nil
	}
	return stoppedError(w.pool.Go(context.Background(), body(task)))
}

// DoWait submits a task and waits for it.
func (w *WorkerPool) DoWait(task func()) error {
	if task == nil {
		return nil
	}
	f := executor.Submit(context.Background(), w.pool, executor.Func(body(task)).Call)
	_, err := f.Get(context.Background())
	return stoppedError(err)
}

// Submit is Do, and panics with its error.
func (w *WorkerPool) Submit(task func()) { must(w.Do(task)) }

// SubmitWait is DoWait, and panics with its error.
func (w *WorkerPool) SubmitWait(task func()) { must(w.DoWait(task)) }

// Pause has all workers wait until ctx ends, or the pool is stopped. It returns when all do.
func (w *WorkerPool) Pause(ctx context.Context) {
	w.pausing.Lock()
	defer w.pausing.Unlock()
	var ready sync.WaitGroup
	for range w.maxWorkers {
		ready.Add(1)
		if w.Do(func() {
			ready.Done()
			select {
			case <-ctx.Done():
			case <-w.unpause.Done():
			}
		}) != nil {
			return
		}
	}
	ready.Wait()
}

// Stop waits for the tasks that run; those that wait never run.
func (w *WorkerPool) Stop() {
	w.end(func() { w.unrun.Store(int64(len(w.pool.ShutdownNow()))) })
}

// StopWait waits for all tasks.
func (w *WorkerPool) StopWait() { w.end(w.pool.Shutdown) }

func (w *WorkerPool) end(shutdown func()) {
	w.stop()
	w.pausing.Lock() // a pause in progress comes to its end
	if !w.stopped.Swap(true) {
		shutdown()
	}
	w.pausing.Unlock()
	<-w.pool.Terminated()
}

func body(task func()) func(context.Context) error {
	return func(context.Context) error { task(); return nil }
}

// stoppedError is ErrStopped if err is that of a pool that is shut down.
func stoppedError(err error) error {
	if errors.Is(err, executor.ErrShutdown) {
		return ErrStopped
	}
	return err
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
