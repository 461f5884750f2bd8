package executor_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// slowNext is a decoration that takes its time to say when it is due.
type slowNext struct {
	executor.ScheduledTask
	due time.Time
}

func (d *slowNext) Next() time.Time {
	time.Sleep(time.Millisecond)
	return d.due
}

// A task may be asked for its time by anybody from the moment on in which
// Decorate was given it, as by a page that lists what is scheduled.
func TestDecoratedTaskIsListedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		due := time.Now().Add(time.Hour)
		listed := make(chan struct{})
		p := newScheduled(t, executor.ScheduledConfig{Core: 1, Decorate: func(task executor.ScheduledTask) executor.ScheduledTask {
			go func() { // while slowNext is thinking
				defer close(listed)
				task.Next()
			}()
			return &slowNext{task, due}
		}})
		f := executor.Schedule(context.Background(), p, time.Second, nopValue)
		<-listed
		expect(t, "Next", f.Next(), due)
	})
}

// A task may be canceled by anybody from that moment on, too, even while its pool
// rejects it.
func TestDecoratedTaskIsCanceledAtOnce(t *testing.T) {
	var canceling sync.WaitGroup
	p := newScheduled(t, executor.ScheduledConfig{Core: 1,
		Decorate: func(task executor.ScheduledTask) executor.ScheduledTask {
			begun := make(chan struct{})
			canceling.Go(func() {
				close(begun)
				task.(*executor.ScheduledFuture[struct{}]).Cancel()
			})
			<-begun
			return nil
		},
		Reject: executor.RejectFunc(func(context.Context, executor.Runnable, *executor.Pool) error { return nil })})
	p.Shutdown()
	for range 5000 {
		f := executor.Schedule(context.Background(), p, time.Hour, nopValue)
		canceling.Wait()
		if !errors.Is(f.Err(), executor.ErrCanceled) {
			t.Fatalf("outcome: %v", f.Err())
		}
	}
}
