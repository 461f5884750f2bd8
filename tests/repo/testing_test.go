package repo

import (
	"context"
	"testing"

	"github.com/executor-go/executor"
)

// closing shuts pool down at the end of the test and waits until it is terminated.
func closing[P interface {
	ShutdownNow() []executor.Dropped
	AwaitTermination(context.Context) error
}](t *testing.T, pool P) P {
	t.Helper()
	t.Cleanup(func() {
		pool.ShutdownNow()
		if err := pool.AwaitTermination(context.Background()); err != nil {
			t.Errorf("AwaitTermination: %v", err)
		}
	})
	return pool
}

// expect reports a value that is not the wanted one.
func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
