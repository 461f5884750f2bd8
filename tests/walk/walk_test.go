package walk

import (
	"context"
	"testing"
	"time"

	"github.com/executor-go/executor"
)

// A task is submitted to a pool whose worker is idle, and its result is awaited.
func TestSubmit(t *testing.T) {
	pool := executor.Fixed(1)
	f := executor.Submit(context.Background(), pool, func(context.Context) (int, error) { return 1, nil })
	if v, err := f.Get(context.Background()); v != 1 || err != nil {
		t.Fatal(v, err)
	}
	time.Sleep(100 * time.Millisecond) // the worker parks
}

// A task runs three times at a fixed rate.
func TestFixedRate(t *testing.T) {
	pool := executor.Scheduled(1)
	runs := make(chan bool, 3)
	_, err := pool.AtFixedRate(context.Background(), 0, time.Millisecond, func(context.Context) error {
		select {
		case runs <- true:
		default:
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range cap(runs) {
		<-runs
	}
}

// A task is scheduled and canceled.
func TestScheduleCancel(t *testing.T) {
	pool := executor.Scheduled(1)
	f := executor.Schedule(context.Background(), pool, time.Hour, func(context.Context) (int, error) { return 1, nil })
	if !f.Cancel() {
		t.Fatal("not canceled")
	}
	time.Sleep(100 * time.Millisecond) // the worker parks again
}
