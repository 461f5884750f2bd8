package testkit

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// ErrTask is the error of task functions that fail.
var ErrTask = errors.New("the task's error")

// Nop is a task function that does nothing.
func Nop(context.Context) error { return nil }

// NopValue is [Nop] for a task with a result.
func NopValue(context.Context) (struct{}, error) { return struct{}{}, nil }

// Value returns a task function that returns v.
func Value[T any](v T) func(context.Context) (T, error) {
	return func(context.Context) (T, error) { return v, nil }
}

// Fail returns a task function that fails with err.
func Fail(err error) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return 0, err }
}

// After returns a task function that returns v after d, or the cause of its context if that ends first.
func After(d time.Duration, v int) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		select {
		case <-time.After(d):
			return v, nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// UntilDone is a task function that waits until its context ends, and returns the cause.
func UntilDone(ctx context.Context) (int, error) {
	<-ctx.Done()
	return 0, context.Cause(ctx)
}

// AnHour is a task function that returns nil after an hour, or the cause of its context if that ends first.
func AnHour(ctx context.Context) error {
	_, err := After(time.Hour, 0)(ctx)
	return err
}

// Stuck returns a task function that ignores its context,
// waits until release is called, and returns v and err. It counts its runs.
func Stuck(v int, err error) (fn func(context.Context) (int, error), runs *int, release func()) {
	gate := make(chan struct{})
	runs = new(int)
	return func(context.Context) (int, error) {
		*runs++
		<-gate
		return v, err
	}, runs, func() { close(gate) }
}

// Step is a Runnable with an identity: a pointer to it can be found in a queue.
type Step struct{ Ran bool }

// Run sets Ran.
func (s *Step) Run(context.Context) error { s.Ran = true; return nil }

// Exits are the ways in which a function can end.
var Exits = []struct {
	Name  string
	Leave func() error
}{
	{"return nil", func() error { return nil }},
	{"return error", func() error { return ErrTask }},
	{"panic value", func() error { panic("value") }},
	{"panic error", func() error { panic(ErrTask) }},
	{"panic nil", func() error { panic(nil) }},
	{"runtime error", func() error { var none []error; return none[len(none)] }},
	{"Goexit", func() error { runtime.Goexit(); return nil }},
}

// HookExits are the ways in which other functions than bodies can end: all but Goexit.
var HookExits = Exits[:len(Exits)-1]

// Returns reports whether f returns, rather than panics or calls [runtime.Goexit].
func Returns(f func() error) bool {
	result := make(chan bool, 1)
	go func() {
		returned := false
		defer func() { recover(); result <- returned }()
		f()
		returned = true
	}()
	return <-result
}

// Panics reports whether f panics.
func Panics(f func() error) bool {
	result := make(chan bool, 1)
	go func() {
		defer func() { result <- recover() != nil }()
		f()
	}()
	return <-result
}

// A Blocker keeps workers busy: its task functions ignore their context and wait to be released.
// Any number of tasks may have them.
type Blocker struct {
	Started atomic.Int64 // the number of tasks that have started
	Ended   atomic.Int64 // the number of tasks that have ended
	gate    chan struct{}
	open    func()
}

// NewBlocker returns a Blocker. Its tasks are released at the end of the test at the latest.
func NewBlocker(t testing.TB) *Blocker {
	b := &Blocker{gate: make(chan struct{})}
	b.open = sync.OnceFunc(func() { close(b.gate) })
	t.Cleanup(b.open)
	return b
}

// Run is the task function.
func (b *Blocker) Run(context.Context) error {
	b.Started.Add(1)
	<-b.gate
	b.Ended.Add(1)
	return nil
}

// Value is the task function for tasks with a result, which is 1.
func (b *Blocker) Value(ctx context.Context) (int, error) { return 1, b.Run(ctx) }

// ReleaseOne releases one task, and waits for one to start if there is none.
func (b *Blocker) ReleaseOne() { b.gate <- struct{}{} }

// Release releases all tasks, including those that have not started.
func (b *Blocker) Release() { b.open() }

// Fill submits n tasks and waits until all other goroutines of the bubble are blocked.
func (b *Blocker) Fill(t testing.TB, pool *executor.Pool, n int) {
	t.Helper()
	for range n {
		MustGo(t, pool, b.Run)
	}
	synctest.Wait()
}

// Occupy keeps a worker of p busy until release is called, or the end of the test.
// It must be called in a bubble.
func Occupy(t testing.TB, p *executor.ScheduledPool) (release func()) {
	t.Helper()
	block := NewBlocker(t)
	block.Fill(t, p.Pool, 1)
	return block.Release
}
