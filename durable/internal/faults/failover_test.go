//go:build linux

package faults

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
)

// What a killed process was running begins elsewhere; the test logs how soon, with the default lease.
func TestFailover(t *testing.T) {
	t.Parallel()
	for name, newStore := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, newStore(t))
			f.defaults = true
			store, err := openStore(f.store)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			jobs, err := durable.New(durable.Config{Store: store})
			if err != nil {
				t.Fatal(err)
			}
			begun := make(chan time.Time, 1)
			free := durable.KindOf[chore, int](jobs, "free")
			if _, err := free.Add(t.Context(), chore{Work: time.Hour}); err != nil {
				t.Fatal(err)
			}
			victim := f.start()
			f.reach(1)
			durable.Handle(jobs, "free", func(context.Context, chore) (int, error) {
				begun <- time.Now()
				return 0, nil
			})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- jobs.Run(ctx) }()
			victim.end(syscall.SIGKILL)
			killed := time.Now()
			t.Logf("%.2fs from kill -9 to the run elsewhere", (<-begun).Sub(killed).Seconds())
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}
