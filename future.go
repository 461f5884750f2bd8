package executor

import "context"

// A Future is the outcome of one task, for any number of waiters, and the
// handle by which the task is canceled. It always resolves, and once: with the
// body's value or error, with a [*PanicError], [ErrGoexit], a [*CanceledError]
// or a [*RejectedError].
//
// Futures come from [Submit] and its kin. [NewFuture] makes one to be given to
// any Executor, or run by its maker; [NewPromise] makes one that is fulfilled
// by hand. All methods may be called by any goroutine. A Future lets go of its
// body once that will not run again; it keeps the context that it was submitted
// with, and its values, as long as it is kept itself. The zero Future is not usable.
//
// What happened in the body before it returned synchronizes before the return
// of every method that reports the outcome. Java: Future and FutureTask.
type Future[T any] struct {
	// fn is the body, nil in a promise. It is written by whoever completes a
	// task that is not in its body, and by the body's own goroutine.
	fn func(context.Context) (T, error)

	// value is written before the state is Succeeded, and read after. It is not
	// the last field: Go gives a last field without a size eight bytes.
	value T

	task
}

// NewFuture returns a pending Future whose body is fn. It is run by an
// executor's Execute, or by a call of Run. A nil fn fails it with [ErrNilTask], an
// option out of its range with an error that matches [ErrInvalid]. Java: new
// FutureTask(callable).
func NewFuture[T any](fn func(context.Context) (T, error), opts ...Option) *Future[T] {
	f := &Future[T]{fn: fn, task: unattached()}
	if fn == nil {
		f.end(Failed, ErrNilTask)
	} else if err := f.configure(opts); err != nil {
		f.end(Failed, err)
	}
	return f
}

// NewPromise returns a pending Future without a body. Somebody must call
// Complete, Fail or Cancel. Java: CompletableFuture, as far as it is a Future.
func NewPromise[T any]() *Future[T] {
	f := &Future[T]{task: unattached()}
	f.preset(bodiless)
	return f
}

// Get waits for the outcome. It returns the body's value and error; the error
// of a task that never came to an end by itself matches [ErrCanceled],
// [ErrRejected] or [ErrGoexit], or is a [*PanicError]. If ctx ends first, Get
// returns ctx's error, and the task goes on; State tells a task's own error
// from this one. An outcome that is there is returned whatever the state of
// ctx. Java: Future.get.
func (f *Future[T]) Get(ctx context.Context) (T, error) {
	if !f.State().Done() {
		if err := await(ctx, f.Done()); err != nil {
			var zero T
			return zero, err
		}
	}
	return f.value, f.outcome()
}

// Result gives the outcome without waiting; its error is [ErrNotDone] while
// there is none. Java: Future.resultNow.
func (f *Future[T]) Result() (T, error) {
	if !f.State().Done() {
		var zero T
		return zero, ErrNotDone
	}
	return f.value, f.outcome()
}

// Cancel completes the task as canceled: it leaves its queue at once, and a
// body that is running finds its context ended, with the cause [ErrCanceled].
// Get returns at once; Join waits until such a body has returned. Cancel
// reports false, and does nothing, if the task is done. Java: cancel(true).
func (f *Future[T]) Cancel() bool {
	if f.abort() {
		f.fn = nil
		f.ties.pool.forget(f.core())
		return true
	}
	return f.settleIf(false, Canceled, nil, ErrCanceled, f.drop)
}

// Abandon is Cancel without the end of the context: a body that is running
// goes on undisturbed, and its outcome is discarded. Java: cancel(false).
func (f *Future[T]) Abandon() bool { return f.settle(Canceled, nil, f.drop) }

// Complete completes the task with a value, unless it is done. A body that is
// running goes on, and its outcome is discarded; one that is pending never
// runs. Java: FutureTask.set.
func (f *Future[T]) Complete(v T) bool {
	return f.settle(Succeeded, nil, func() {
		f.value = v
		f.drop()
	})
}

// Fail completes the task with an error, unless it is done; a body is treated
// as by Complete. A nil err panics. Java: FutureTask.setException.
func (f *Future[T]) Fail(err error) bool {
	if err == nil {
		panic("executor: Future.Fail: nil error")
	}
	return f.settle(Failed, err, f.drop)
}

// Run runs the body in the calling goroutine and completes the task with its
// outcome, which is also returned; a panic is returned as a [*PanicError]. It
// does nothing, and returns nil, if the task is running or done, is a promise, or
// is periodic work of a pool. ctx is the parent of the body's context, unless the
// task was given to a pool: then the parent is the context that it was submitted
// with. The pool may let go of the task meanwhile, as by ShutdownNow; its outcome is
// that of the body all the same. A nil ctx panics.
//
// A body that waits for a task that it gave to its own pool calls Run first, and
// then Get: unless a worker has begun the task it runs here, without the pool's
// hooks, and so the wait needs no other worker. Java: FutureTask.run.
func (f *Future[T]) Run(ctx context.Context) error {
	mustContext(ctx)
	if l := f.borrow(); l != nil {
		defer close(l.back)
		l.end = ending{ErrGoexit, true} // unless runBody returns
		l.end = f.runBody(ctx, f.conclude)
		return l.end.err
	}
	if f.series() != nil && f.attached() != nil {
		return nil
	}
	ctx, ok := f.beginHere(nil, ctx, false)
	if !ok {
		return nil
	}
	if p := f.attached(); p != nil {
		defer p.forget(f.core()) // it need not wait any more
	}
	return f.runBody(ctx, f.conclude).err
}

// RunAndReset runs the body like Run, but if the body returns nil the task is
// pending again, its value discarded, and RunAndReset reports true. An error or
// a panic fails the task. It reports false, too, if the task was canceled
// meanwhile, or could not be run: one that was given to a pool is run by that pool
// only. A nil ctx panics. Java: FutureTask.runAndReset.
func (f *Future[T]) RunAndReset(ctx context.Context) (again bool) {
	mustContext(ctx)
	ctx, ok := f.beginHere(nil, ctx, true)
	if !ok {
		return false
	}
	f.runBody(ctx, func(v T, end ending) ending {
		if end.err != nil {
			return f.conclude(v, end)
		}
		again = f.pause()
		return end
	})
	return again
}

// runBody calls the body and hands its ending to conclude, on every way out. It
// returns what is to be told of this run.
func (f *Future[T]) runBody(ctx context.Context, conclude func(T, ending) ending) (told ending) {
	returned := false
	defer func() {
		if !returned {
			var zero T
			told = conclude(zero, abrupt(recover()))
		}
	}()
	v, err := f.fn(ctx)
	returned = true
	return conclude(v, ending{err: err})
}

// conclude completes the task with the ending of its body or, in a series, gets
// it ready for the next run. It returns what is to be told of this run: its own
// ending or, worse, that of the whole series.
func (f *Future[T]) conclude(v T, end ending) ending {
	outcome := end
	if s := f.series(); s != nil {
		returned := false
		defer func() {
			if !returned { // the trigger called runtime.Goexit
				f.fail(ErrGoexit)
			}
		}()
		more, last := s.ran(f.core(), end)
		returned = true
		if more {
			f.pause()
			return end
		}
		if outcome = last; last.err != nil {
			end = last
		}
	}
	f.finish(final(outcome.err), outcome.err, func(won bool) {
		if won {
			f.value = v
		}
		f.fn = nil
	})
	return end
}

// pause records that one run of several has returned. It reports whether there
// may be another.
func (f *Future[T]) pause() bool {
	if f.rest() {
		return true
	}
	bits := f.lock()
	f.drop()
	f.unlock(bits)
	return false
}

func (f *Future[T]) invoke(ctx context.Context) ending {
	if f.decorated() != nil {
		return f.lend(ctx)
	}
	return f.runBody(ctx, f.conclude)
}

func (f *Future[T]) end(s State, err error) bool { return f.settleIf(true, s, err, nil, f.drop) }

func (f *Future[T]) fail(err error) {
	f.unbegin()
	f.finish(Failed, err, func(bool) { f.fn = nil })
}

func (f *Future[T]) origin() Runnable { return f }

func (f *Future[T]) apart() func(context.Context) error {
	var fn func(context.Context) (T, error)
	bits := f.lock()
	if !State(bits & stateBits).Done() { // else abort's caller may be at it
		fn = f.fn
	}
	f.unlock(bits)
	if fn == nil {
		return nil
	}
	return func(ctx context.Context) error {
		_, err := fn(ctx)
		return err
	}
}

// drop lets go of the body of a task that will not run, and of all that the
// body holds, even if the future is kept. The caller holds the lock.
func (f *Future[T]) drop() {
	if !f.has(inBody) {
		f.fn = nil
	}
}
