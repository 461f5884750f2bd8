package durable_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// The last progress of a run is there at once on its node, and on others after its next heartbeats; not after its end.
func TestProgressIsSeenByOthersAfterHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		jobs, other := newJobs(t, store), newJobs(t, store)
		step, end := make(chan int64), make(chan struct{})
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
			for done := range step {
				durable.Progress(ctx, done, 100, fmt.Sprint("at ", done))
			}
			<-end
			return 0, nil
		})
		start(t, jobs)
		synctest.Wait() // it has reported that it has joined
		id := must(k.Add(t.Context(), 1))
		step <- 1
		step <- 2
		synctest.Wait()
		called := time.Now()
		own := must(jobs.Progress(t.Context(), id))[id]
		if own.Done != 2 || own.Total != 100 || own.Note != "at 2" || own.Job != id ||
			own.At.Sub(called).Abs() > time.Millisecond {
			t.Errorf("on its own node: %+v", own)
		}
		if got := must(other.Progress(t.Context(), id)); len(got) != 0 {
			t.Errorf("elsewhere, before a heartbeat: %+v", got)
		}
		time.Sleep(2 * time.Second)
		if got := must(other.Progress(t.Context(), id))[id]; got != own {
			t.Errorf("elsewhere: %+v, want %+v", got, own)
		}
		close(step)
		close(end)
		must(k.Await(t.Context(), id))
		synctest.Wait()
		for _, j := range []*durable.Jobs{jobs, other} {
			if got := must(j.Progress(t.Context(), id)); len(got) != 0 {
				t.Errorf("after the end: %+v", got)
			}
		}
	})
}

// Progress outside of a handler does nothing; numbers and notes are brought into their ranges.
func TestProgressTakesAnything(t *testing.T) {
	durable.Progress(t.Context(), 1, 2, "no handler")
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		seen := make(chan durable.RunProgress)
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
			durable.Progress(ctx, -1, -2, strings.Repeat("ü", 150)+"\x00\xff")
			j, _ := durable.Current(ctx)
			seen <- must(jobs.Progress(ctx, j.ID))[j.ID]
			return 0, nil
		})
		start(t, jobs)
		must(k.Add(t.Context(), 1))
		got := <-seen
		if got.Done != 0 || got.Total != 0 || got.Note != strings.Repeat("ü", 100) || !utf8.ValidString(got.Note) {
			t.Errorf("progress is %+v", got)
		}
	})
}

// reports is a store that counts what is reported.
type reports struct {
	durable.Store
	mu    sync.Mutex
	err   error
	calls int
	most  int // progress of one call
	seen  map[durable.ID]bool
}

func (s *reports) Report(ctx context.Context, node string, r durablestore.Report) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.err != nil {
		return s.err
	}
	if s.most = max(s.most, len(r.Progress)); s.seen == nil {
		s.seen = make(map[durable.ID]bool)
	}
	for _, p := range r.Progress {
		s.seen[p.Job] = true
	}
	return s.Store.Report(ctx, node, r)
}

// A heartbeat reports the progress of a thousand runs at most, and each run has its turn. What has not changed is not
// reported again.
func TestProgressOfManyTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &reports{Store: memory.New()}
		pool := executor.Scheduled(1500)
		defer pool.Close()
		jobs := newJobs(t, store, func(c *durable.Config) { c.Executor, c.Lease = pool, 10*time.Second })
		end := make(chan struct{})
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
			durable.Progress(ctx, 1, 2, "")
			<-end
			return 0, nil
		})
		stop := start(t, jobs)
		must(k.AddAll(t.Context(), 0, make([]int, 1500)))
		time.Sleep(time.Minute)
		store.mu.Lock()
		if len(store.seen) != 1500 || store.most != 1000 || store.calls > 6 {
			t.Errorf("%d runs were reported by %d calls, of %d at most", len(store.seen), store.calls, store.most)
		}
		store.mu.Unlock()
		close(end)
		stop()
	})
}

// A store that takes no reports is no reason to end anything: the log has a line, and what was not reported is reported
// later.
func TestReportThatFailsIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, store := new(logLines), &reports{Store: memory.New(), err: errDown}
		jobs := newJobs(t, store, func(c *durable.Config) { c.Logger = log.logger() })
		end := make(chan struct{})
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
			durable.Progress(ctx, 1, 2, "")
			<-end
			return 0, nil
		})
		start(t, jobs)
		id := must(k.Add(t.Context(), 1))
		time.Sleep(10 * time.Second)
		if err := jobs.Healthy(t.Context()); err != nil {
			t.Error(err)
		}
		store.mu.Lock()
		store.err = nil
		store.mu.Unlock()
		time.Sleep(2 * time.Second)
		if got := must(store.Progress(t.Context(), []durable.ID{id})); len(got) != 1 {
			t.Errorf("progress is %+v", got)
		}
		if n := must(jobs.Nodes(t.Context())); len(n) != 1 || n[0].Workers != 4 {
			t.Errorf("nodes are %+v", n)
		}
		if log.count("call=report") != 2 {
			t.Errorf("the log has %d lines of it", log.count("call=report"))
		}
		close(end)
	})
}
