package durable_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// Of a node that dies, what has begun has one attempt less, and is dead if that was its last. What waited behind it for
// a worker was never said to run, has all its attempts, no line in the history, and is run by another node.
func TestNodeLostCountsOnlyWhatHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		pool := executor.Scheduled(2)
		t.Cleanup(pool.Close)
		dies := newJobs(t, line, func(c *durable.Config) { c.Executor = pool })
		k := durable.Handle(dies, "k", untilOver)
		start(t, dies)
		begun := time.Now()
		running := must(k.AddAll(t.Context(), 0, make([]string, 2), durable.Attempts(1)))
		waiting := must(k.AddAll(t.Context(), 0, make([]string, 20), durable.Attempts(1)))
		waiting = append(waiting, must(k.AtFixedRate(t.Context(), "key", 0, time.Hour, "", durable.Attempts(1))))
		waiting = append(waiting, must(k.AddAfter(t.Context(), 200*time.Millisecond, "", durable.Attempts(1))))
		time.Sleep(500 * time.Millisecond)
		for _, id := range running {
			if j := must(dies.Get(t.Context(), id)); j.State != durable.Running || j.Attempt != 1 ||
				!j.Started.Equal(begun) {
				t.Errorf("what runs is %+v", j)
			}
		}
		for _, id := range waiting {
			if j := must(dies.Get(t.Context(), id)); j.State == durable.Running || j.Attempt != 0 {
				t.Errorf("what waits is %+v", j)
			}
		}
		line.down()
		heir, _, d := newNode(t, store)
		start(t, heir)
		time.Sleep(10 * time.Second)
		for _, id := range running {
			if j := must(heir.Get(t.Context(), id)); j.State != durable.Dead || j.Attempt != 1 {
				t.Errorf("what ran is %+v", j)
			}
			if runs := must(heir.History(t.Context(), id, 0, 10)); len(runs) != 1 ||
				runs[0].Verdict != durable.RunLost ||
				!runs[0].Started.Equal(begun) {
				t.Errorf("its history is %+v", runs)
			}
		}
		for _, id := range waiting {
			if j := must(heir.Get(t.Context(), id)); j.Runs != 1 || j.Lost != 0 {
				t.Errorf("what waited is %+v", j)
			}
			if runs := must(heir.History(t.Context(), id, 0, 10)); len(runs) != 1 ||
				runs[0].Verdict != durable.RunSucceeded ||
				runs[0].Attempt != 1 {
				t.Errorf("its history is %+v", runs)
			}
		}
		if d.count() != len(waiting) {
			t.Errorf("the heir made %d runs, want %d", d.count(), len(waiting))
		}
	})
}

// untilOver is a handler that lasts until it is canceled.
func untilOver(ctx context.Context, _ string) (string, error) { <-ctx.Done(); return "", nil }

// A run that is soon over costs no more calls of the store: that it has begun is not noted.
func TestRunThatIsShortIsNotNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &noting{Store: memory.New()}
		jobs := newJobs(t, store)
		k := durable.Handle(jobs, "k", func(_ context.Context, d time.Duration) (int, error) {
			time.Sleep(d)
			return 0, nil
		})
		start(t, jobs)
		for _, id := range must(k.AddAll(t.Context(), 0, make([]time.Duration, 100))) {
			must(k.Await(t.Context(), id))
		}
		time.Sleep(time.Second)
		if store.begun != 0 {
			t.Errorf("%d runs were noted", store.begun)
		}
		for range 3 {
			must(k.Await(t.Context(), must(k.Add(t.Context(), time.Minute))))
		}
		if store.begun != 3 || store.ended != 2 {
			t.Errorf("%d runs were noted, and %d forgotten", store.begun, store.ended)
		}
	})
}

// noting counts what is noted.
type noting struct {
	durable.Store
	begun, ended int
}

func (s *noting) Commit(ctx context.Context, b durablestore.CommitRequest) (durablestore.CommitResult, error) {
	s.begun, s.ended = s.begun+len(b.Begun), s.ended+len(b.Ended)
	return s.Store.Commit(ctx, b)
}

// The handler of a job is not called, once its node was lost when it may have been, until the store has noted that it
// begins: a run that then kills its process is an attempt. One whose node loses its lease meanwhile is not begun.
func TestSuspectIsNotedBeforeItBegins(t *testing.T) {
	for what, broken := range map[string]bool{"noted": false, "the store is away": true} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				line := newFaulty(store)
				dies := newJobs(t, line)
				k := durable.Handle(dies, "k", func(ctx context.Context, _ string) (string, error) {
					line.down() // at once
					<-ctx.Done()
					return "", nil
				})
				start(t, dies)
				id := must(k.Add(t.Context(), "", durable.Attempts(1)))

				second := newFaulty(store)
				heir := newJobs(t, second)
				var called atomic.Pointer[durable.Job]
				durable.Handle(heir, "k", func(ctx context.Context, _ string) (string, error) {
					called.Store(new(must(store.Get(ctx, id))))
					second.down()
					<-ctx.Done()
					return "", nil
				})
				if broken {
					second.set(func(op string) (error, error) {
						return map[string]error{"commit": errDown}[op], nil
					})
				}
				stop := start(t, heir)
				start(t, newJobs(t, store)) // a node that notices
				time.Sleep(20 * time.Second)
				j := called.Load()
				if broken != (j == nil) || j != nil && (j.State != durable.Running || j.Attempt != 1) {
					t.Errorf("when its handler was called, the job was %+v", j)
				}
				second.down()
				time.Sleep(20 * time.Second)
				stop()
				time.Sleep(20 * time.Second)
				last := must(store.Get(t.Context(), id))
				want := durable.Dead
				if broken {
					want = durable.Waiting
				}
				if last.State != want {
					t.Errorf("in the end the job is %+v, want %v", last, want)
				}
			})
		})
	}
}
