package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// trial is a shaper with four workers, and when its tasks began.
type trial struct {
	*shaper
	start time.Time

	mu    sync.Mutex
	begun []time.Duration
}

func in(t *testing.T, test func(*testing.T, *trial)) {
	synctest.Test(t, func(t *testing.T) {
		s, err := newShaper(4)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		test(t, &trial{shaper: s, start: time.Now()})
	})
}

// task returns a task that takes so long.
func (r *trial) task(takes time.Duration) func(context.Context) error {
	return func(context.Context) error {
		r.mu.Lock()
		r.begun = append(r.begun, time.Since(r.start))
		r.mu.Unlock()
		time.Sleep(takes)
		return nil
	}
}

// after lets d pass and returns when tasks have begun.
func (r *trial) after(d time.Duration) []time.Duration {
	time.Sleep(d)
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.begun)
}

const ms = time.Millisecond

// Mails begin a tenth of a second apart, and two at a time.
func TestMail(t *testing.T) {
	in(t, func(t *testing.T, r *trial) {
		for range 5 {
			r.mail.Go(t.Context(), r.task(250*ms))
		}
		want := []time.Duration{0, 100 * ms, 250 * ms, 350 * ms, 500 * ms}
		if got := r.after(time.Second); !slices.Equal(got, want) {
			t.Errorf("mails began at %v, want %v", got, want)
		}
	})
}

// Reports leave workers to others, and what is too much is refused.
func TestReports(t *testing.T) {
	in(t, func(t *testing.T, r *trial) {
		for i := range 8 {
			err := r.reports.Go(t.Context(), r.task(time.Second))
			if refused := errors.Is(err, executor.ErrSaturated); refused != (i >= 6) {
				t.Errorf("report %d: %v", i, err)
			}
		}
		if n := len(r.after(100 * ms)); n != 2 {
			t.Errorf("%d reports at once, want 2", n)
		}
		other := executor.Submit(t.Context(), r.pool, executor.Func(r.task(0)).Call)
		synctest.Wait()
		if !other.State().Done() {
			t.Error("another task waits for reports")
		}
	})
}

// A status is shown once in a second, and those between are dropped.
func TestStatus(t *testing.T) {
	in(t, func(t *testing.T, r *trial) {
		for range 25 {
			r.status.Go(t.Context(), r.task(0))
			time.Sleep(100 * ms)
		}
		want := []time.Duration{0, time.Second, 2 * time.Second}
		if got := r.after(time.Minute); !slices.Equal(got, want) {
			t.Errorf("shown at %v, want %v", got, want)
		}
	})
}

// What changes often is indexed once, a second after the last change.
func TestIndex(t *testing.T) {
	in(t, func(t *testing.T, r *trial) {
		for range 10 {
			r.index.call(t.Context(), r.task(0))
			time.Sleep(300 * ms)
		}
		want := []time.Duration{3700 * ms}
		if got := r.after(time.Minute); !slices.Equal(got, want) {
			t.Errorf("indexed at %v, want %v", got, want)
		}
		r.index.call(t.Context(), r.task(0))
		if got := r.after(time.Minute); len(got) != 2 {
			t.Errorf("indexed at %v, want one more after another change", got)
		}
	})
}
