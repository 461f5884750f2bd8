package durable_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// counting is a store whose Counts take a second.
type counting struct {
	durable.Store
	calls, now atomic.Int64
	err        atomic.Pointer[error]
}

func (s *counting) Counts(ctx context.Context, f durable.Filter) ([]durable.Count, error) {
	s.calls.Add(1)
	if s.now.Add(1) > 1 {
		panic("two at once")
	}
	defer s.now.Add(-1)
	time.Sleep(time.Second)
	if err := s.err.Load(); err != nil {
		return nil, *err
	}
	return s.Store.Counts(ctx, f)
}

// However many ask for counts, the store is asked once in the age that they allow.
func TestTallyIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counting{Store: memory.New()}
		jobs := newJobs(t, store)
		must(durable.KindOf[int, int](jobs, "k").AddAfter(t.Context(), time.Hour, 1))
		begun := time.Now()
		var callers sync.WaitGroup
		for range 10 {
			callers.Go(func() {
				counts, asOf, err := jobs.Tally(t.Context(), 2*time.Second)
				if err != nil || len(counts) != 1 || counts[0].Jobs != 1 || !asOf.Equal(begun) {
					t.Errorf("%+v as of %v: %v", counts, asOf, err)
				}
			})
		}
		callers.Wait()
		time.Sleep(time.Second) // they are two seconds old now
		if _, asOf, err := jobs.Tally(t.Context(), 2*time.Second); err != nil || !asOf.Equal(begun) {
			t.Errorf("as of %v: %v", asOf, err)
		}
		if n := store.calls.Load(); n != 1 {
			t.Errorf("the store was asked %d times", n)
		}
		time.Sleep(time.Nanosecond)
		_, asOf, err := jobs.Tally(t.Context(), 2*time.Second)
		if err != nil || asOf.Equal(begun) || store.calls.Load() != 2 {
			t.Errorf("as of %v after %d calls: %v", asOf, store.calls.Load(), err)
		}
	})
}

// A caller waits no longer than its context, and an error is not shared.
func TestTallyThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counting{Store: memory.New()}
		store.err.Store(&errDown)
		jobs := newJobs(t, store)
		first := make(chan error)
		go func() {
			_, _, err := jobs.Tally(t.Context(), time.Hour)
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, _, err := jobs.Tally(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the second: %v", err)
		}
		if err := <-first; !errors.Is(err, errDown) {
			t.Errorf("the first: %v", err)
		}
		store.err.Store(nil)
		if _, _, err := jobs.Tally(t.Context(), time.Hour); err != nil {
			t.Errorf("the third: %v", err)
		}
	})
}
