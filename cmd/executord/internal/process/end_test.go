//go:build unix

package process

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// A command that has ended by itself before its timeout was not ended by that, however late its end is noticed.
func TestRunEndsBeforeTimeout(t *testing.T) {
	s := supervise(t, time.Minute)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 20 {
				c := sh("true")
				c.Timeout = time.Duration(1+rand.IntN(20_000)) * time.Microsecond
				result := s.Run(t.Context(), c, newRecord().observer())
				if errors.Is(result.Cause, ErrTimeout) && result.Took < c.Timeout {
					t.Errorf("it has ended after %v of %v: %+v", result.Took, c.Timeout, result)
				}
			}
		})
	}
	all.Wait()
}

// A command that Kill has killed has not failed by itself, however late that its end is noticed.
func TestKillStopsRuns(t *testing.T) {
	s := supervise(t, time.Minute)
	ctx, stop := context.WithCancel(t.Context())
	var all, begun sync.WaitGroup
	for range 64 {
		begun.Add(1)
		all.Go(func() {
			o := newRecord().observer()
			started := o.Started
			o.Started = func(pid int, at time.Time) {
				started(pid, at)
				begun.Done()
			}
			result := s.Run(ctx, sh("sleep 60"), o)
			if !result.Stopped || result.Signal != "SIGKILL" && result.Signal != "SIGTERM" {
				t.Errorf("%+v", result)
			}
		})
	}
	begun.Wait()
	stop() // the second signal, and the third
	s.Kill()
	all.Wait()
}
