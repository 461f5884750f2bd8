package durable_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// overlapping are runs, and how many of them were in progress at the same time.
type overlapping struct {
	mu        sync.Mutex
	open      int
	most      int
	began     []time.Time // their occurrences, in the order in which they began
	took      func(n int) time.Duration
	cutShort  int
	succeeded int
}

func (o *overlapping) handle(ctx context.Context, _ string) (string, error) {
	job, _ := durable.Current(ctx)
	o.mu.Lock()
	o.open++
	o.most = max(o.most, o.open)
	o.began = append(o.began, job.Anchor)
	d := o.took(len(o.began))
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.open--
	}()
	select {
	case <-time.After(d):
		o.mu.Lock()
		defer o.mu.Unlock()
		o.succeeded++
		return "", nil
	case <-ctx.Done():
		o.mu.Lock()
		defer o.mu.Unlock()
		o.cutShort++
		return "", context.Cause(ctx)
	}
}

// always returns a function that returns d.
func always(d time.Duration) func(int) time.Duration {
	return func(int) time.Duration { return d }
}

// remember keeps the whole history of a schedule.
func remember(c *durable.Config) { c.History = 1000 }

// spawning starts a node with a schedule of one minute, lets it run for an hour, and returns its runs, how often its
// history has each label, and the jobs that are runs.
func spawning(t *testing.T, took func(int) time.Duration, opts ...durable.Option) (*overlapping, map[string]int, []durable.Job) {
	t.Helper()
	o := &overlapping{took: took}
	jobs := newJobs(t, memory.New(), remember)
	kind := durable.Handle(jobs, "k", o.handle)
	stop := start(t, jobs)
	id := must(kind.AtFixedRate(t.Context(), "s", time.Minute, time.Minute, "payload", opts...))
	time.Sleep(time.Hour + 30*time.Second)
	labels := make(map[string]int)
	for _, run := range must(jobs.History(t.Context(), id, 0, 1000)) {
		labels[run.Label]++
	}
	runs := must(jobs.List(t.Context(), durable.Filter{Kind: "k", Limit: 1000}))
	stop()
	return o, labels, runs
}

// leftOut returns how many occurrences the history of a schedule has that were left out.
func leftOut(labels map[string]int) (n int) {
	for label, times := range labels {
		if strings.HasPrefix(label, "left out, ") {
			n += times
		}
	}
	return n
}

// Each run is a job with the key, the occurrence, the payload and the options of its own.
func TestOverlapRunIsJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, labels, runs := spawning(t, always(time.Second), durable.OnOverlap(durable.OverlapSkip()), durable.Attempts(3),
			durable.WithTags("team=a"), durable.WithPriority(durable.High))
		if len(runs) != 60 || len(labels) != 60 || labels["run 7"] != 1 {
			t.Fatalf("%d runs, history %v", len(runs), labels)
		}
		first := time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC)
		for i, run := range runs {
			if run.Key != fmt.Sprintf("s#%d", i+1) || !run.Anchor.Equal(first.Add(time.Duration(i)*time.Minute)) ||
				run.State != durable.Succeeded || string(run.Payload) != `"payload"` || run.Attempts != 3 ||
				run.Priority != durable.High || !slices.Equal(run.Tags, []string{"team=a"}) {
				t.Fatalf("run %d is %+v", i+1, run)
			}
		}
	})
}

// With OverlapSkip an occurrence during a run is left out.
func TestOverlapSkip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, labels, runs := spawning(t, always(150*time.Second), durable.OnOverlap(durable.OverlapSkip()))
		if o.most != 1 || len(runs) != 20 || leftOut(labels) != 40 {
			t.Errorf("%d runs, %d at a time, history %v", len(runs), o.most, labels)
		}
	})
}

// With OverlapQueue the runs follow each other in the order of their occurrences, and no more wait than it says.
func TestOverlapQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, labels, runs := spawning(t, always(150*time.Second), durable.OnOverlap(durable.OverlapQueue(2)))
		blocked := 0
		for _, run := range runs {
			if run.State == durable.Blocked {
				blocked++
			}
		}
		if o.most != 1 || !slices.IsSortedFunc(o.began, time.Time.Compare) || blocked > 2 || leftOut(labels)+len(runs) != 60 {
			t.Errorf("%d runs, %d at a time, %d wait, in order %v; history %v", len(runs), o.most, blocked, o.began, labels)
		}
	})
}

// A run that waits for the one before it does not begin because a run between them was canceled.
func TestOverlapQueueKeepsItsOrderAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &overlapping{took: always(time.Hour)}
		jobs := newJobs(t, memory.New())
		kind := durable.Handle(jobs, "k", o.handle)
		start(t, jobs)
		ctx := t.Context()
		must(kind.AtFixedRate(ctx, "s", time.Minute, time.Minute, "", durable.OnOverlap(durable.OverlapQueue(1))))
		time.Sleep(2*time.Minute + time.Second)
		must(jobs.Cancel(ctx, must(jobs.Find(ctx, "s#2")).ID))
		time.Sleep(time.Minute)
		if third := must(jobs.Find(ctx, "s#3")); third.State != durable.Blocked {
			t.Errorf("run 3 is %v while run 1 is in progress", third.State)
		}
	})
}

// With OverlapAllow so many runs are in progress at a time, and no more.
func TestOverlapAllow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, labels, runs := spawning(t, always(1000*time.Second), durable.OnOverlap(durable.OverlapAllow(3)))
		if o.most != 3 || leftOut(labels)+len(runs) != 60 || leftOut(labels) == 0 {
			t.Errorf("%d runs, %d at a time, history %v", len(runs), o.most, labels)
		}
	})
}

// With OverlapReplace each occurrence cancels the run before it, and begins when that has ended.
func TestOverlapReplace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, labels, runs := spawning(t, always(150*time.Second), durable.OnOverlap(durable.OverlapReplace()))
		if o.most != 1 || o.cutShort < 59 || len(runs) != 60 || labels["run 7, which replaces 1 run"] != 1 {
			t.Errorf("%d runs, %d at a time, %d cut short, history %v", len(runs), o.most, o.cutShort, labels)
		}
	})
}

// The limits of a kind bound the runs of a schedule, and not the schedule, which notices that they are behind.
func TestOverlapLimitsBoundRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &overlapping{took: always(150 * time.Second)}
		jobs := newJobs(t, memory.New())
		kind := durable.Handle(jobs, "k", o.handle, durable.GlobalLimit(1))
		start(t, jobs)
		for _, key := range []string{"a", "b"} {
			must(kind.AtFixedRate(t.Context(), key, time.Minute, time.Minute, "", durable.OnOverlap(durable.OverlapSkip())))
		}
		time.Sleep(time.Hour)
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.most != 1 || o.succeeded < 20 {
			t.Errorf("%d at a time, %d runs", o.most, o.succeeded)
		}
	})
}

// OnMissed decides for what no node ran: CatchUp adds a run for each, and Coalesce one for all.
func TestOverlapCatchesUp(t *testing.T) {
	for _, c := range []struct {
		missed durable.Missed
		runs   int
	}{{durable.Coalesce(), 1}, {durable.CatchUp(5), 5}, {durable.Skip(time.Second), 0}} {
		synctest.Test(t, func(t *testing.T) {
			store := memory.New()
			o := &overlapping{took: always(time.Second)}
			jobs := newJobs(t, store)
			kind := durable.Handle(jobs, "k", o.handle)
			must(kind.AtFixedRate(t.Context(), "s", time.Minute, time.Minute, "", durable.OnOverlap(durable.OverlapQueue(10)),
				durable.OnMissed(c.missed)))
			time.Sleep(10*time.Minute + 30*time.Second) // no node runs
			start(t, jobs)
			time.Sleep(20 * time.Second)
			o.mu.Lock()
			defer o.mu.Unlock()
			if len(o.began) != c.runs {
				t.Errorf("%+v: %d runs: %v", c.missed, len(o.began), o.began)
			}
		})
	}
}

// What OnOverlap can't do is refused when the schedule is registered.
func TestOverlapRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, kind, _ := newNode(t, memory.New())
		ctx := t.Context()
		skip := durable.OnOverlap(durable.OverlapSkip())
		_, once := kind.Add(ctx, "", skip)
		_, delay := kind.WithFixedDelay(ctx, "s", 0, time.Minute, "", skip)
		_, during := kind.AtFixedRate(ctx, "s", 0, time.Minute, "", skip, durable.OnMissed(durable.SkipOverlap()))
		_, none := kind.AtFixedRate(ctx, "s", 0, time.Minute, "", durable.OnOverlap(durable.OverlapQueue(0)))
		_, zero := kind.AtFixedRate(ctx, "s", 0, time.Minute, "", durable.OnOverlap(durable.Overlap{}))
		_, long := kind.AtFixedRate(ctx, strings.Repeat("s", durable.MaxKey-19), 0, time.Minute, "", skip)
		for name, err := range map[string]error{"once": once, "delay": delay, "SkipOverlap": during, "none": none, "zero": zero, "key": long} {
			if !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if all := must(jobs.List(ctx, durable.Filter{})); len(all) > 0 {
			t.Errorf("the store has %v", all)
		}
		defer func() {
			if recover() == nil {
				t.Error("a handler of schedules is allowed")
			}
		}()
		durable.Handle(jobs, durable.ScheduleKind("other"), new(diary).handler)
	})
}

// forgetful is a store whose answers to inserts and commits are lost at random, after they took effect or before.
type forgetful struct {
	*memory.Store
	mu sync.Mutex
	r  *rand.Rand
}

func (f *forgetful) forgets() (before, after error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch f.r.IntN(8) {
	case 0:
		return errDown, nil
	case 1:
		return nil, errLost
	}
	return nil, nil
}

func (f *forgetful) Insert(ctx context.Context, jobs []durable.NewJob, p durablestore.Placement) ([]durable.InsertResult, error) {
	before, after := f.forgets()
	if before != nil {
		return nil, before
	}
	results, err := f.Store.Insert(ctx, jobs, p)
	if after != nil {
		return nil, after
	}
	return results, err
}

func (f *forgetful) Commit(ctx context.Context, b durablestore.CommitRequest) (durablestore.CommitResult, error) {
	before, after := f.forgets()
	if before != nil {
		return durablestore.CommitResult{}, before
	}
	result, err := f.Store.Commit(ctx, b)
	if after != nil {
		return durablestore.CommitResult{}, after
	}
	return result, err
}

// noted reports whether one of the labels has the text.
func noted(labels map[int64]string, text string) bool {
	for _, label := range labels {
		if strings.Contains(label, text) {
			return true
		}
	}
	return false
}

// However calls of the store fail, and whichever node fires: no occurrence has two runs, each is run or left out, and no
// more runs are in progress than the policy says.
func TestOverlapWithFaultyStore(t *testing.T) {
	policies := []struct {
		durable.Overlap
		most int
	}{{durable.OverlapSkip(), 1}, {durable.OverlapQueue(3), 1}, {durable.OverlapAllow(2), 2}, {durable.OverlapReplace(), 1}}
	seeds := uint64(12)
	if os.Getenv("EXECUTOR_LONG") != "" {
		seeds = 1000
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 0))
		policy := policies[r.IntN(len(policies))]
		synctest.Test(t, func(t *testing.T) {
			store := memory.New()
			o := &overlapping{took: func(int) time.Duration { return time.Duration(r.Int64N(int64(15 * time.Second))) }}
			var id durable.ID
			var jobs *durable.Jobs
			for range 2 { // nodes
				jobs = newJobs(t, &forgetful{store, sync.Mutex{}, rand.New(rand.NewPCG(seed, r.Uint64()))}, remember)
				kind := durable.Handle(jobs, "k", o.handle)
				start(t, jobs)
				for {
					var err error
					if id, err = kind.AtFixedRate(t.Context(), "s", 5*time.Second, 5*time.Second, "", durable.OnOverlap(policy.Overlap)); err == nil {
						break
					}
				}
			}
			const times = 100
			time.Sleep(times*5*time.Second + 4*time.Second) // a firing that fails is tried again before the next time
			last := time.Now()
			must(jobs.Pause(t.Context(), id))
			time.Sleep(2 * time.Minute)

			due := make(map[int64]string)
			for _, run := range must(store.Runs(t.Context(), id, 0, 1000)) {
				if run.Verdict == durablestore.RunSucceeded {
					due[run.Occurrence.Unix()] = run.Label
				}
			}
			ran := make(map[int64]bool)
			for _, job := range must(store.List(t.Context(), durable.Filter{Kind: "k", Limit: 1000})) {
				at := job.Anchor.Unix()
				if last.Sub(job.Anchor) < 30*time.Second {
					continue // what was fired may not be noted yet, since the schedule is paused
				}
				if ran[at] {
					t.Errorf("seed %d, %+v: two runs for %v", seed, policy, job.Anchor)
				}
				ran[at] = true
				note := fmt.Sprintf("run %s for %s; ", strings.TrimPrefix(job.Key, "s#"), job.Anchor.Format(time.RFC3339))
				if !strings.HasPrefix(due[at], "run ") && !noted(due, note) {
					t.Errorf("seed %d, %+v: %s ran for %v, of which the history says %q", seed, policy, job.Key, job.Anchor, due[at])
				}
			}
			for at, label := range due {
				if last.Sub(time.Unix(at, 0)) < 30*time.Second {
					continue
				}
				if i := strings.LastIndex(label, "; "); i >= 0 {
					label = label[i+2:]
				}
				if strings.HasPrefix(label, "run ") != ran[at] {
					t.Errorf("seed %d, %+v: the history says %q of %v; ran: %v", seed, policy, label, time.Unix(at, 0), ran[at])
				}
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			if o.most > policy.most || len(due) < times*3/4 {
				t.Errorf("seed %d, %+v: %d at a time, %d of %d times", seed, policy, o.most, len(due), times)
			}
		})
	}
}
