package howto

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/durabletest"
)

// In a day the backup runs once and the rates four times an hour. A schedule that the program no longer has ends when
// the others are registered, and the digest of a user goes on until the user stops it.
func TestSchedulesAreThoseOfTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := durabletest.New(t)
		var mu sync.Mutex
		runs := make(map[string]int)
		counter := func(kind string) *durable.Kind[struct{}, int] {
			return durable.Handle(jobs, kind, func(context.Context, struct{}) (int, error) {
				mu.Lock()
				defer mu.Unlock()
				runs[kind]++
				return 0, nil
			}, durable.Limit(1))
		}
		backup, rates, old := counter("backup"), counter("rates"), counter("old")
		digests := durable.Handle(jobs, "digest", func(_ context.Context, d Digest) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			runs["digest"] += d.User
			return 0, nil
		})
		if _, err := old.AtFixedRate(t.Context(), "app/old", time.Minute, time.Minute, struct{}{}); err != nil {
			t.Fatal(err)
		}
		for range 2 { // a second start changes nothing
			if err := registerSchedules(t.Context(), jobs, backup, rates); err != nil {
				t.Fatal(err)
			}
		}
		if err := chooseTimes(t.Context(), digests, 17, "0 12 * * *"); err != nil {
			t.Fatal(err)
		}
		if err := chooseTimes(t.Context(), digests, 17, "0 25 * * *"); err == nil {
			t.Error("hour 25 was accepted")
		}
		durabletest.Start(t, jobs)
		time.Sleep(24*time.Hour - time.Minute)
		synctest.Wait()
		if runs["backup"] != 1 || runs["rates"] != 96 || runs["old"] != 0 || runs["digest"] != 17 {
			t.Errorf("runs: %v", runs)
		}
		if err := stopDigest(t.Context(), jobs, 17); err != nil {
			t.Fatal(err)
		}
		if err := stopDigest(t.Context(), jobs, 18); err != nil { // there is none
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if runs["digest"] != 17 || runs["backup"] != 2 {
			t.Errorf("a day after the stop: %v", runs)
		}
		if err := chooseTimes(t.Context(), digests, 17, "0 12 * * *"); err != nil { // changes their mind
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if runs["digest"] != 34 {
			t.Errorf("a day after it was chosen again: %v", runs)
		}
	})
}
