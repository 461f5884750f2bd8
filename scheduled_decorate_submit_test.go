package executor_test

import (
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// A submitter whose task is not decorated, since Decorate or the decoration's Next
// does not return, gets the panic; the task is rejected and has failed with it, for
// whoever was shown it.
func TestDecorateThatDoesNotReturn(t *testing.T) {
	bad := map[string]func(){"panic": func() { panic("bad") }, "Goexit": runtime.Goexit}
	for _, in := range []string{"Decorate", "Next"} {
		for how, leave := range bad {
			t.Run(in+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var shown *executor.ScheduledFuture[struct{}]
					p := newScheduled(t, executor.ScheduledConfig{Core: 1, Decorate: func(task executor.ScheduledTask) executor.ScheduledTask {
						shown = task.(*executor.ScheduledFuture[struct{}])
						if in == "Decorate" {
							leave()
						}
						return &testkit.Decoration{ScheduledTask: task, NextFunc: func(time.Time) time.Time { leave(); return time.Time{} }}
					}})
					got := make(chan any)
					go func() {
						defer func() { got <- recover() }()
						executor.Schedule(t.Context(), p, time.Second, nopValue)
					}()
					v := <-got
					var perr *executor.PanicError
					if how == "Goexit" {
						expect(t, "recovered", v, nil)
						expectIs(t, "outcome", shown.Err(), executor.ErrGoexit)
					} else if expect(t, "recovered", v, any("bad")); !errors.As(shown.Err(), &perr) || perr.Value != v {
						t.Errorf("outcome %v", shown.Err())
					}
					expect(t, "Rejected", checkStats(t, p.Pool).Rejected, 1)
				})
			})
		}
	}
}
