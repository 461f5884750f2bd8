package durable_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// addMany adds jobs that wait for an hour, with keys a/0, a/1 and so on.
func addMany(t *testing.T, kind *durable.Kind[string, string], prefix string, n int) {
	t.Helper()
	for i := range n {
		must(kind.AddAfter(t.Context(), time.Hour, "", durable.Key(fmt.Sprint(prefix, "/", i))))
	}
}

// A change reaches all jobs that the filter selects, once each, over however many calls, and no others.
func TestChangeAllByPages(t *testing.T) {
	for _, limit := range []int{0, 1, 7, 100, 250, 251} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			jobs, kind, _ := newNode(t, memory.New())
			addMany(t, kind, "a", 250)
			addMany(t, kind, "b", 5)
			f := durable.Filter{Prefix: "a/", Limit: limit}
			total, calls := 0, 0
			for {
				done := must(jobs.ChangeAll(t.Context(), durable.Change{Op: durable.OpCancel}, f))
				if limit > 0 && done.Jobs() > limit || done.Applied != done.Jobs() {
					t.Fatalf("got %+v, with a limit of %d", done, limit)
				}
				total += done.Jobs()
				calls++
				if !done.More {
					break
				}
				f.After = done.After
			}
			canceled := must(jobs.List(t.Context(), durable.Filter{States: []durable.State{durable.Canceled}, Limit: 1000}))
			if total != 250 || len(canceled) != 250 {
				t.Errorf("%d calls have changed %d jobs, and %d are canceled, want 250", calls, total, len(canceled))
			}
		})
	}
}

// The answers are those of the single changes.
func TestChangeAllCountsAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, kind, _ := newNode(t, memory.New())
		addMany(t, kind, "a", 3)
		done := must(jobs.Find(t.Context(), "a/0"))
		must(jobs.Cancel(t.Context(), done.ID))
		got := must(jobs.ChangeAll(t.Context(), durable.Change{Op: durable.OpPause}, durable.Filter{}))
		if got.Applied != 2 || got.TooLate != 1 || got.Jobs() != 3 || got.More {
			t.Errorf("pause: got %+v, want 2 applied and 1 too late", got)
		}
		at := time.Now().Add(2 * time.Hour)
		paused := durable.Filter{States: []durable.State{durable.Paused}}
		must(jobs.ChangeAll(t.Context(), durable.Change{Op: durable.OpReschedule, Due: at}, paused))
		for _, j := range must(jobs.List(t.Context(), paused)) {
			if !j.Due.Equal(at) {
				t.Errorf("%s is due at %v, want %v", j.Key, j.Due, at)
			}
		}
		if got := must(jobs.ChangeAll(t.Context(), durable.Change{Op: durable.OpDelete}, durable.Filter{})); got.Applied != 3 {
			t.Errorf("delete: got %+v, want 3 applied", got)
		}
		if left := must(jobs.List(t.Context(), durable.Filter{})); len(left) > 0 {
			t.Errorf("there are still %+v", left)
		}
	})
}

// After an error of the store a call goes on where the first has stopped.
func TestChangeAllGoesOnAfterError(t *testing.T) {
	store := newFaulty(memory.New())
	jobs, kind, _ := newNode(t, store)
	addMany(t, kind, "a", 10)
	changes := 0
	store.set(func(op string) (error, error) {
		if op == "change" {
			if changes++; changes == 5 {
				return errDown, nil
			}
		}
		return nil, nil
	})
	first, err := jobs.ChangeAll(t.Context(), durable.Change{Op: durable.OpCancel}, durable.Filter{})
	if !errors.Is(err, errDown) || first.Applied != 4 || !first.More {
		t.Fatalf("got %+v and %v, want 4 applied, more, and the store's error", first, err)
	}
	rest := must(jobs.ChangeAll(t.Context(), durable.Change{Op: durable.OpCancel}, durable.Filter{After: first.After}))
	if rest.Applied != 6 || rest.More {
		t.Errorf("got %+v, want 6 applied, and no more", rest)
	}
}

// Wrong arguments are errors before anything is changed.
func TestChangeAllChecksArguments(t *testing.T) {
	jobs, kind, _ := newNode(t, memory.New())
	addMany(t, kind, "a", 1)
	for name, c := range map[string]struct {
		c durable.Change
		f durable.Filter
	}{
		"change": {c: durable.Change{Op: 99}},
		"time":   {c: durable.Change{Op: durable.OpReschedule}},
		"limit":  {c: durable.Change{Op: durable.OpCancel}, f: durable.Filter{Limit: -1}},
	} {
		if done, err := jobs.ChangeAll(t.Context(), c.c, c.f); !errors.Is(err, executor.ErrInvalid) || done.Jobs() != 0 {
			t.Errorf("%s: got %+v and %v, want ErrInvalid", name, done, err)
		}
	}
	if j := must(jobs.Find(t.Context(), "a/0")); j.State != durable.Waiting {
		t.Errorf("the job is %v, want waiting", j.State)
	}
}
