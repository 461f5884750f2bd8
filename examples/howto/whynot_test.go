package howto

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/durabletest"
)

// The reason is that of the state which the schedule is in.
func TestWhyIdleNamesState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Scheduled(1)
		defer pool.Close()
		var fail atomic.Bool
		series, err := pool.AtFixedRate(t.Context(), time.Hour, time.Hour, func(context.Context) error {
			if fail.Load() {
				return executor.Permanent(errors.New("no disk"))
			}
			time.Sleep(time.Minute)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		wants := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := whyIdle(series); !strings.Contains(got, want) {
				t.Errorf("got %q, want %q in it", got, want)
			}
		}
		wants("the next run is due at 2000-01-01T01:00:00Z")
		time.Sleep(time.Hour)
		wants("it is running, since 2000-01-01T01:00:00Z")
		fail.Store(true)
		time.Sleep(time.Hour)
		wants("no disk")
		series.Pause()
		wants("the schedule is paused")
		series.Cancel()
		wants("the schedule has ended")
	})
}

// The reason is that of what has to change before the job runs.
func TestWhyWaitingNamesCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := durabletest.New(t, func(c *durable.Config) { c.Queues = []string{durable.DefaultQueue} })
		handled := durable.Handle(jobs, "handled", func(context.Context, int) (int, error) {
			return 0, executor.Permanent(errors.New("no disk"))
		})
		other := durable.KindOf[int, int](jobs, "other")
		durabletest.Start(t, jobs)
		if err := jobs.PauseKind(t.Context(), "paused"); err != nil {
			t.Fatal(err)
		}
		add := func(k *durable.Kind[int, int], delay time.Duration, opts ...durable.Option) durable.ID {
			id, err := k.AddAfter(t.Context(), delay, 1, opts...)
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		parent := add(handled, time.Hour)
		pausedJob := add(handled, time.Hour)
		if _, err := jobs.Pause(t.Context(), pausedJob); err != nil {
			t.Fatal(err)
		}
		reasons := map[string]durable.ID{
			"it is dead: no disk":      add(handled, 0),
			"it is due in 59m0s":       parent,
			"it is paused":             pausedJob,
			"it waits for its parents": add(handled, 0, durable.After(parent)),
			`kind "paused" is paused`:  add(durable.KindOf[int, int](jobs, "paused"), 0),
			`none of 1 nodes runs jobs of kind "other" in queue ""`:       add(other, 0),
			`none of 1 nodes runs jobs of kind "handled" in queue "slow"`: add(handled, 0, durable.Queue("slow")),
		}
		time.Sleep(time.Minute) // what can run has run, and the node has reported what it handles
		synctest.Wait()
		for want, id := range reasons {
			if got, err := whyWaiting(t.Context(), jobs, id); err != nil || !strings.Contains(got, want) {
				t.Errorf("got %q, %v, want %q in it", got, err, want)
			}
		}
	})
}
