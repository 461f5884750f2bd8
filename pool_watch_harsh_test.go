package executor_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
)

// silent is a context whose Err does not return once it has ended.
type silent struct{ *hookable }

func (c silent) Err() error {
	if c.hookable.Err() != nil {
		runtime.Goexit()
	}
	return nil
}

// A future that waits is canceled when its context ends, also if that does not say
// how.
func TestPoolContextDoesNotSayHowItEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, ctx := behind(t), newHookable()
		before := submitNothing(ctx, pool)
		mute := submitNothing(silent{ctx}, pool)
		after := submitNothing(ctx, pool)
		ctx.end()
		synctest.Wait()
		expectIs(t, "error of the one before", before.Err(), context.DeadlineExceeded)
		expectIs(t, "error of the one", mute.Err(), executor.ErrGoexit)
		expectIs(t, "error of the one after", after.Err(), context.DeadlineExceeded)
	})
}

// clinging is a context that does not let go of a function: what is to take it back
// does not return.
type clinging struct{ *hookable }

func (c clinging) AfterFunc(f func()) func() bool {
	unhook := c.hookable.AfterFunc(f)
	return func() bool {
		unhook()
		panic("not taken back")
	}
}

// Those who wait for a future are told of its end, also if its context does not
// return when it is to watch no more.
func TestPoolContextDoesNotLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, ctx := behind(t), newHookable()
		f := submitNothing(clinging{ctx}, pool)
		done, called := f.Done(), false
		f.OnDone(func() { called = true })
		func() {
			defer func() { expect(t, "panic", recover(), any("not taken back")) }()
			f.Cancel()
		}()
		select {
		case <-done:
		default:
			t.Error("Done is not closed")
		}
		expect(t, "OnDone is called", called, true)
	})
}

// A future that its submitter takes for refused, since his context did not let go of
// a function, is not what keeps the context watched.
func TestPoolForgetsWhatDidNotLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, ctx := behind(t), newHookable()
		inner := ctx.submitMeanwhile(pool)
		func() {
			defer func() { expect(t, "panic", recover(), any("not taken back")) }()
			submitNothing(clinging{ctx}, pool)
		}()
		(*inner).Cancel()
		expect(t, "functions to be called", ctx.watchers(), 0)
	})
}
