package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// This file runs the suite on stores with planted faults. What is wrong is to be
// said by the tests that meet it: none may panic, or go on for ever.

// recorder takes the failures of a test in the place of a *testing.T.
type recorder struct {
	testing.TB // for what is not a failure

	mu       sync.Mutex
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(stop{})
}

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failures) > 0
}

// stop unwinds a test that has called Fatal.
type stop struct{}

// findings runs the suite on stores made by plant, and returns the first failure of
// each test that has one.
func findings(t *testing.T, plant func(durable.Store) durable.Store) map[string]string {
	found := map[string]string{}
	for _, test := range tests {
		r := &recorder{TB: t}
		func() {
			defer func() {
				if v := recover(); v != nil && v != (stop{}) {
					t.Errorf("%s panics: %v", test.name, v)
				}
			}()
			defer unexpected(r)
			test.run(&bench{TB: r, store: newPartial(plant(memory.New()))})
		}()
		if len(r.failures) > 0 {
			found[test.name] = r.failures[0]
		}
	}
	return found
}

// faulty is a store with a flaw in one of its methods.
type faulty struct {
	durable.Store
	claim  func(context.Context, durablestore.ClaimRequest) (durablestore.ClaimResult, error)
	settle func(context.Context, durablestore.CommitRequest) (durablestore.CommitResult, error)
	list   func(context.Context, durable.Filter) ([]durable.Job, error)
	runs   func(context.Context, durable.ID, int64, int) ([]durable.Run, error)
}

func (f *faulty) Claim(ctx context.Context, r durablestore.ClaimRequest) (durablestore.ClaimResult, error) {
	if f.claim != nil {
		return f.claim(ctx, r)
	}
	return f.Store.Claim(ctx, r)
}

func (f *faulty) Commit(ctx context.Context, b durablestore.CommitRequest) (durablestore.CommitResult, error) {
	if f.settle != nil {
		return f.settle(ctx, b)
	}
	return f.Store.Commit(ctx, b)
}

func (f *faulty) List(ctx context.Context, filter durable.Filter) ([]durable.Job, error) {
	if f.list != nil {
		return f.list(ctx, filter)
	}
	return f.Store.List(ctx, filter)
}

func (f *faulty) Runs(ctx context.Context, id durable.ID, before int64, limit int) ([]durable.Run, error) {
	if f.runs != nil {
		return f.runs(ctx, id, before, limit)
	}
	return f.Store.Runs(ctx, id, before, limit)
}

func TestFaults(t *testing.T) {
	const stuck = "ClaimsTogetherObeyGlobalLimits" // finds it when there has been no progress for long
	broken := errors.New("the store is broken")
	for _, test := range []struct {
		name  string
		plant func(durable.Store) durable.Store
		by    string // a test that finds it
		says  string // what that says
	}{
		{"none", func(s durable.Store) durable.Store { return s }, "", ""},
		{"an error", func(s durable.Store) durable.Store {
			return &faulty{Store: s, list: func(context.Context, durable.Filter) ([]durable.Job, error) {
				return nil,
					broken
			}}
		}, "ListGivesPages", "list.go"},
		{"List begins anew", func(s durable.Store) durable.Store {
			return &faulty{Store: s, list: func(ctx context.Context, f durable.Filter) ([]durable.Job, error) {
				f.After = durable.ID{}
				return s.List(ctx, f)
			}}
		}, "ListGivesPages", "want"},
		{"Runs begins anew", func(s durable.Store) durable.Store {
			return &faulty{Store: s, runs: func(ctx context.Context, id durable.ID, _ int64,
				limit int) ([]durable.Run, error) {
				return s.Runs(ctx, id, 0, limit)
			}}
		}, "SettleKeepsTheLatestRuns", "want"},
		{"Claim returns nothing", func(s durable.Store) durable.Store {
			return &faulty{Store: s, claim: func(ctx context.Context, r durablestore.ClaimRequest) (durablestore.ClaimResult,
				error) {
				now, err := s.Now(ctx)
				return durablestore.ClaimResult{Now: now}, err
			}}
		}, stuck, "0 of 120"},
		{"Claim returns a job again", func(s durable.Store) durable.Store {
			return &faulty{Store: s, claim: func(ctx context.Context, r durablestore.ClaimRequest) (durablestore.ClaimResult,
				error) {
				claims, err := s.Claim(ctx, r)
				s.Release(ctx, r.Node, nil)
				return claims, err
			}}
		}, "ClaimGivesEachJobOnce", "twice"},
		{"Settle never knows", func(s durable.Store) durable.Store {
			return &faulty{Store: s, settle: func(ctx context.Context, b durablestore.CommitRequest) (durablestore.CommitResult,
				error) {
				settled, err := s.Commit(ctx, b)
				for _, o := range b.Outcomes {
					settled.Locked = append(settled.Locked, o.Ref)
				}
				return settled, err
			}}
		}, stuck, " for 50ms"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.by == stuck { // the others make progress, however slow the machine
				defer func(d time.Duration) { patience = d }(patience)
				patience = 50 * time.Millisecond
			}
			found := findings(t, test.plant)
			if test.by == "" {
				if len(found) > 0 {
					t.Errorf("found %v", found)
				}
			} else if !strings.Contains(found[test.by], test.says) || found[test.by] == "" {
				t.Errorf("%s says %q, found %v", test.by, found[test.by], slices.Sorted(maps.Keys(found)))
			}
		})
	}
}
