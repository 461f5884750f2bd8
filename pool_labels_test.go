package executor_test

import (
	"bytes"
	"context"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit/check"
)

// labels gives the pprof labels of each goroutine in whose stack the function
// occurs, as the goroutine profile shows them, once all is still.
func labels(t *testing.T, function string) []string {
	t.Helper()
	synctest.Wait()
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	var all []string
	for record := range strings.SplitSeq(profile.String(), "\n\n") {
		if !strings.Contains(record, function) {
			continue
		}
		found := ""
		for line := range strings.Lines(record) {
			if rest, ok := strings.CutPrefix(line, "# labels: "); ok {
				found = strings.TrimSpace(rest)
			}
		}
		all = append(all, found)
	}
	slices.Sort(all)
	return all
}

func expectLabels(t *testing.T, what, function string, want ...string) {
	t.Helper()
	if got := labels(t, function); !slices.Equal(got, want) {
		t.Errorf("%s: labels %q, want %q", what, got, want)
	}
}

// amongOurselves runs test in a bubble when no worker of the tests before is left,
// whose labels a profile would show too: one that is dismissed counts as gone at
// once, but its goroutine ends a moment later.
func amongOurselves(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	expect(t, "workers of tests before", check.Goroutines("(*Pool).work(", 0), 0)
	synctest.Test(t, test)
}

const (
	atWork = "(*Blocker).Run"
	atRest = "(*Pool).park"
)

// A worker bears its pool's name and its own number, whether it waits or works.
func TestPoolLabelsOfWorkers(t *testing.T) {
	amongOurselves(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Name: "p", Core: 2})
		pool.PrestartAll()
		both := []string{`{"executor":"p", "worker":"1"}`, `{"executor":"p", "worker":"2"}`}
		expectLabels(t, "prestarted", atRest, both...)
		block := newBlocker(t)
		block.Fill(t, pool, 2)
		expectLabels(t, "at work", atWork, both...)
		block.Release()
		expectLabels(t, "idle again", atRest, both...)
	})
}

// A task bears the labels of its submitter's context too, with those of the
// worker, which come first if both have the same; no later task and no idle
// worker has them any more.
func TestPoolLabelsDoNotLeak(t *testing.T) {
	amongOurselves(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Name: "p", Core: 1})
		run := func(ctx context.Context, want string) {
			t.Helper()
			block := newBlocker(t)
			if err := pool.Go(ctx, block.Run); err != nil {
				t.Fatal(err)
			}
			expectLabels(t, "at work", atWork, want)
			block.Release()
			expectLabels(t, "idle", atRest, `{"executor":"p", "worker":"1"}`)
		}
		labeled := pprof.WithLabels(t.Context(), pprof.Labels("user", "ann", "executor", "mine"))
		pprof.Do(labeled, pprof.Labels("inside", "do"), func(ctx context.Context) {
			run(ctx, `{"executor":"p", "inside":"do", "user":"ann", "worker":"1"}`)
			run(t.Context(), `{"executor":"p", "worker":"1"}`)
		})
		run(context.Background(), `{"executor":"p", "worker":"1"}`)
	})
}

// In a pool without a name a worker has no labels, not even those of the
// goroutine that caused its start, and a task those of its submitter's context.
func TestPoolLabelsWithoutName(t *testing.T) {
	amongOurselves(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Core: 1})
		block := newBlocker(t)
		pprof.Do(t.Context(), pprof.Labels("user", "ann"), func(ctx context.Context) {
			mustGo(t, pool, block.Run) // not in ctx
			expectLabels(t, "of a stranger", atWork, "")
			pool.Go(ctx, block.Run)
			block.ReleaseOne()
			expectLabels(t, "of its submitter", atWork, `{"user":"ann"}`)
		})
		block.Release()
		expectLabels(t, "idle", atRest, "")
	})
}

// Labels that a body sets for its goroutine end with the task.
func TestPoolLabelsSetByBody(t *testing.T) {
	amongOurselves(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Name: "p", Core: 1})
		mustGo(t, pool, func(ctx context.Context) error {
			pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("left", "behind")))
			return nil
		})
		newBlocker(t).Fill(t, pool, 1)
		expectLabels(t, "the next task", atWork, `{"executor":"p", "worker":"1"}`)
	})
}
