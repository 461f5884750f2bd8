package subject

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/executor-go/executor/bench/drive"
	"github.com/executor-go/executor/bench/workload"
)

var goroutine = Subject{
	ID: "goroutine", Title: "bare goroutines", Charts: true,
	How: "`WaitGroup.Go` for each task, without a limit; for results a channel of capacity one for each. " +
		"Periodic tasks have a Ticker each; for a retry the goroutine waits for a timer or the end of a context, " +
		"recovers from panics and sends the result; a semaphore limits the attempts.",
	Choose: "when the number of tasks is small or limited elsewhere: nothing is simpler.",
	Funcs: merge(
		executes(func(_ int, task func()) drive.Pool { return &goroutines{task: task} }),
		drive.Submits(func(_ int, task func() int) drive.Futures[chan int] {
			return drive.Futures[chan int]{
				Submit: func() chan int {
					c := make(chan int, 1)
					go func() { c <- task() }()
					return c
				},
				Get:   func(c chan int) int { return <-c },
				Close: func() {},
			}
		}),
		drive.Funcs{workload.Idle: drive.IdleProcess}, // waits for nothing
		drive.FanOut(func(int) drive.Groups {
			return drive.Groups{
				Run: func(n int, task func()) {
					var g sync.WaitGroup
					for range n {
						g.Go(task)
					}
					g.Wait()
				},
				Close: func() {},
			}
		}),
		drive.Retry(func(workers int, pause time.Duration) drive.RetryPool {
			ctx, cancel := context.WithCancel(context.Background())
			free := make(chan struct{}, workers)
			var results []chan error
			return drive.RetryPool{
				Go: func(task func() error) {
					result := make(chan error, 1)
					results = append(results, result)
					go func() { result <- attempts(ctx, free, pause, task) }()
				},
				Wait: func() {
					for _, result := range results {
						must(<-result)
					}
					cancel()
				},
			}
		}),
		drive.Lateness(func(_ int, tasks []*drive.Periodic) func() {
			over := make(chan struct{})
			for _, b := range tasks {
				go func() {
					time.Sleep(time.Until(b.First))
					ticker := time.NewTicker(b.Period)
					defer ticker.Stop()
					for b.Run(); ; b.Run() {
						select {
						case <-over:
							return
						case <-ticker.C:
						}
					}
				}()
			}
			return func() { close(over) }
		}),
	),
}

type goroutines struct {
	sync.WaitGroup
	task func()
}

func (g *goroutines) Go() { g.WaitGroup.Go(g.task) }

// attempts calls a task up to three times, with pauses that end with ctx.
func attempts(ctx context.Context, free chan struct{}, pause time.Duration, task func() error) (err error) {
	for range 3 {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		err = recovered(task)
		<-free
		if err == nil {
			return nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
	return err
}

// recovered calls a task, and returns its panic as an error.
func recovered(task func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return task()
}
