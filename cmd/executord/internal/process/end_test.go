//go:build unix

package process

import (
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
