package durable_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/store"
)

// bare is a store with nothing but the methods of store.Store.
type bare struct{ store.Store }

// What a store lacks is an error of the calls that ask for it, which names it. Jobs run all the same.
func TestStoreWithoutParts(t *testing.T) {
	for name, hooks := range map[string]durable.Hooks{
		"plain": {}, "timed": {Call: func(string, time.Duration, error) {}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := durable.Config{Store: bare{memory.New()}, Hooks: hooks}
				pool := executor.Scheduled(4)
				defer pool.Close()
				c.Executor = pool
				jobs := must(durable.New(c))
				kind := durable.Handle(jobs, "k", new(diary).handler)
				start(t, jobs)
				id := must(kind.Add(t.Context(), ""))
				must(kind.Await(t.Context(), id))
				time.Sleep(10 * time.Minute) // heartbeats and prunes
				if err := jobs.Healthy(t.Context()); err != nil {
					t.Error(err)
				}
				ctx := t.Context()
				for part, call := range map[string]func() error{
					"History":  func() error { _, err := jobs.History(ctx, id, 0, 1); return err },
					"History ": func() error { _, err := jobs.Latest(ctx, durable.LatestFilter{}); return err },
					"History  ": func() error {
						_, err := jobs.Output(ctx, id, 0)
						return err
					},
					"Counter":   func() error { _, err := jobs.Counts(ctx, durable.Filter{}); return err },
					"Counter ":  func() error { _, err := jobs.DeadGroups(ctx); return err },
					"Pauses":    func() error { return jobs.PauseKind(ctx, "k") },
					"Pauses ":   func() error { _, err := jobs.PausedKinds(ctx); return err },
					"ActLog":    func() error { return jobs.NoteAct(ctx, durable.Act{}) },
					"ActLog ":   func() error { _, err := jobs.Acts(ctx, durable.ActFilter{}); return err },
					"Reports":   func() error { _, err := jobs.Nodes(ctx); return err },
					"Graph":     func() error { _, err := kind.Add(ctx, "", durable.After(id)); return err },
					"Graph ":    func() error { _, err := jobs.CountParents(ctx, id); return err },
					"Graph  ":   func() error { return firstError(jobs.Parents(ctx, id)) },
					"Graph   ":  func() error { return firstError(jobs.Children(ctx, id)) },
					"Graph    ": func() error { _, err := jobs.CountChildren(ctx, id); return err },
					"Reports ":  func() error { _, err := jobs.Progress(ctx, id); return err },
				} {
					err := call()
					if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "store."+strings.TrimSpace(part)) {
						t.Errorf("%s: got %v, want ErrInvalid with the name of the part", part, err)
					}
				}
			})
		})
	}
}
