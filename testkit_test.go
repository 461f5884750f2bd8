package executor_test

import (
	"context"
	"testing"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
	"github.com/executor-go/executor/internal/testkit/check"
)

func TestMain(m *testing.M) { check.Main(m) }

// Short names for what most tests here use.
// The helpers are in package internal/testkit; those that fewer files use go by their full names.
var (
	newPool      = testkit.NewPool
	newScheduled = testkit.NewScheduled
	scheduled    = testkit.Scheduled
	mustGo       = testkit.MustGo
	checkStats   = testkit.CheckStats
	waitStats    = testkit.WaitStats
	elapse       = testkit.Elapse
	newBlocker   = testkit.NewBlocker
	newDiary     = testkit.NewDiary
	futureIs     = testkit.FutureIs
	nop          = testkit.Nop
	nopValue     = testkit.NopValue
	errTask      = testkit.ErrTask
	expectIs     = check.Is
)

func expect[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	check.Equal(t, what, got, want)
}

func value[T any](v T) func(context.Context) (T, error) { return testkit.Value(v) }

// contextKey is the key of values in contexts.
type contextKey struct{}

// anyFuture is a ScheduledFuture of the tests.
type anyFuture = executor.ScheduledFuture[struct{}]

// timedTask is what a ScheduledFuture and a Series have in common.
type timedTask interface {
	executor.Awaitable
	executor.Runnable
	Abandon() bool
	Next() time.Time
	Delay() time.Duration
}
