package howto

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// Somebody who has not answered is reminded after a day.
func TestFollowUpReminds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Scheduled(1)
		defer pool.Close()
		asked := time.Now()
		f := followUp{pool, func(_ context.Context, name string) error {
			if d := time.Since(asked); name != "ann" || d != 24*time.Hour {
				t.Errorf("%s was reminded after %v, want ann after 24h", name, d)
			}
			return nil
		}}
		reminder, err := f.asked(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		if err := reminder.Wait(t.Context()); err != nil { // a day passes at once
			t.Error(err)
		}
	})
}

// Somebody who has answered is not reminded.
func TestFollowUpEndsByAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Scheduled(1)
		defer pool.Close()
		f := followUp{pool, func(_ context.Context, name string) error {
			t.Errorf("%s was reminded", name)
			return nil
		}}
		reminder, err := f.asked(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(23 * time.Hour)
		reminder.Cancel()
		time.Sleep(2 * time.Hour)
	})
}

// While the worker is busy and the queue is full, work is refused after a tenth of a second.
func TestAcceptRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, err := newPatient(1, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		release := make(chan struct{})
		defer close(release) // before Close, which waits for the tasks
		busy := func(context.Context) error { <-release; return nil }
		for range 2 { // one runs, one waits
			if ok, err := accept(t.Context(), pool, busy); !ok {
				t.Fatal("refused:", err)
			}
		}
		synctest.Wait() // until the worker has begun, and all goroutines are blocked
		if s := pool.Stats(); s.Active != 1 || s.Queued != 1 {
			t.Errorf("%d tasks run and %d wait, want one of each", s.Active, s.Queued)
		}
		start := time.Now()
		if ok, err := accept(t.Context(), pool, busy); ok || err != nil {
			t.Errorf("got %v, %v; want a refusal", ok, err)
		}
		if d := time.Since(start); d != 100*time.Millisecond {
			t.Errorf("it was refused after %v, want 100ms", d)
		}
	})
}
