package howto

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// Ten changes, a second apart, are one run ten seconds after the first, or ten seconds after the last.
func TestSyncsAreOne(t *testing.T) {
	for name, test := range map[string]struct {
		ask  func(context.Context, *durable.Kind[Sync, int], int) (durable.ID, error)
		want time.Duration
	}{"throttle": {askForSync, 10 * time.Second}, "debounce": {askWhenQuiet, 19 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				jobs, err := durable.New(durable.Config{Store: memory.New(), Logger: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Fatal(err)
				}
				begun, runs := time.Now(), []time.Duration(nil)
				syncs := durable.Handle(jobs, "sync", func(context.Context, Sync) (int, error) {
					runs = append(runs, time.Since(begun).Truncate(time.Second))
					return 0, nil
				})
				runJobs(t, jobs)
				for i := range 10 {
					if i > 0 {
						time.Sleep(time.Second)
						synctest.Wait()
					}
					if _, err := test.ask(t.Context(), syncs, 7); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if len(runs) != 1 || runs[0] != test.want {
					t.Errorf("ran after %v, want %v", runs, test.want)
				}
			})
		})
	}
}

// A report that succeeded is not made again within an hour, one that failed is.
func TestReportsAreUnique(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, err := durable.New(durable.Config{Store: memory.New(), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		fails := true
		reports := durable.Handle(jobs, "report", func(context.Context, Sync) (int, error) {
			if fails {
				return 0, executor.Permanent(errors.New("no"))
			}
			return 0, nil
		})
		runJobs(t, jobs)
		ask := func(want bool) {
			t.Helper()
			if _, added, err := askForReport(t.Context(), reports, 7); err != nil || added != want {
				t.Errorf("added %v, %v, want %v", added, err, want)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		ask(true)
		fails = false
		ask(true)
		ask(false)
		time.Sleep(time.Hour)
		synctest.Wait()
		ask(true)
	})
}
