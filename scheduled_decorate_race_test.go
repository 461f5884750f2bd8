package executor_test

import (
	"context"
	"testing"
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
	bubble(t, func(t *testing.T) {
		due := time.Now().Add(time.Hour)
		listed := make(chan struct{})
		p := scheduledPool(t, executor.ScheduledConfig{Core: 1, Decorate: func(task executor.ScheduledTask) executor.ScheduledTask {
			go func() { // while slowNext is thinking
				defer close(listed)
				task.Next()
			}()
			return &slowNext{task, due}
		}})
		f := executor.Schedule(context.Background(), p, time.Second, schedNopValue)
		<-listed
		expect(t, "Next", f.Next(), due)
	})
}
