package durable_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// Nodes has what each node reports of itself, also when that changes and when it has joined anew.
func TestNodesReportThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		first, _, _ := newNode(t, store, func(c *durable.Config) { c.Name = "first" })
		second := newJobs(t, store, func(c *durable.Config) { c.Name = "second" })
		stop := start(t, first)
		start(t, second)
		time.Sleep(time.Second)
		joined := must(first.Nodes(t.Context()))
		if len(joined) != 2 || !slices.Equal(joined[0].Kinds, []string{"k"}) || joined[0].PID != os.Getpid() ||
			joined[0].Workers != 4 || joined[0].Host == "" || joined[0].Lease != 3*time.Second ||
			len(joined[1].Kinds) != 0 {
			t.Fatalf("nodes are %+v", joined)
		}
		durable.Handle(second, "later", func(context.Context, int) (int, error) { return 0, nil })
		store.Leave(t.Context(), joined[0].Name)
		time.Sleep(3 * time.Second)
		again := must(first.Nodes(t.Context()))
		if len(again) != 2 || again[0].Name == joined[0].Name || !slices.Equal(again[0].Kinds, []string{"k"}) ||
			!again[0].Joined.After(joined[0].Joined) || !slices.Equal(again[1].Kinds, []string{"later"}) {
			t.Errorf("nodes are %+v", again)
		}
		if status, ok := first.Node(); !ok || status.Name != again[0].Name || status.Joined != again[0].Joined {
			t.Errorf("the first is %+v, %v", status, ok)
		}
		stop()
		if left := must(first.Nodes(t.Context())); len(left) != 1 {
			t.Errorf("nodes are %+v", left)
		}
	})
}

// Held may be called while a policy leaves an occurrence out. What would go wrong, the race detector sees.
func TestHeldWhileAnOccurrenceIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &trigger{next: func(after time.Time) time.Time {
			time.Sleep(time.Second)
			return after.Truncate(time.Hour).Add(time.Hour)
		}}
		jobs, k, d := newNode(t, memory.New(),
			func(c *durable.Config) { c.Triggers = map[string]executor.Trigger{"slow": slow} })
		must(k.On(t.Context(), "key", durable.NamedTrigger("slow"), "", durable.OnMissed(durable.Skip(time.Second))))
		time.Sleep(5*time.Hour + time.Minute)
		start(t, jobs)
		time.Sleep(500 * time.Millisecond) // the trigger is asked for the latest occurrence
		if held := jobs.Held(); len(held) != 1 || held[0].Phase != durable.PhaseRunning {
			t.Errorf("held are %+v", held)
		}
		time.Sleep(time.Minute)
		if d.count() != 0 || len(jobs.Held()) != 0 {
			t.Errorf("after %d runs, held are %+v", d.count(), jobs.Held())
		}
	})
}

// Node and Held have what this node holds, in which phase.
func TestNodeHasWhatItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFaulty(memory.New())
		pool := executor.Scheduled(1)
		defer pool.Close()
		jobs := newJobs(t, store, func(c *durable.Config) { c.Executor, c.Poll = pool, time.Minute })
		if _, ok := jobs.Node(); ok || jobs.Held() != nil {
			t.Error("there is a node before Run")
		}
		end := make(chan struct{})
		k := durable.Handle(jobs, "k", func(ctx context.Context, n int) (int, error) {
			durable.Progress(ctx, int64(n), 9, "")
			<-end
			return 0, nil
		})
		stop := start(t, jobs)
		ahead := must(k.AddAfter(t.Context(), 10*time.Second, 3))
		runs := must(k.Add(t.Context(), 1))
		synctest.Wait()
		due := must(k.Add(t.Context(), 2))
		synctest.Wait()
		var ids []durable.ID
		for i, h := range jobs.Held() {
			ids = append(ids, h.Job.ID)
			if want := []durable.Phase{durable.PhaseRunning, durable.PhaseDue, durable.PhaseAhead}[i]; h.Phase != want {
				t.Errorf("job %d is %v, want %v", i, h.Phase, want)
			}
			if (h.Progress != nil) != (i == 0) || h.Job.Payload != nil {
				t.Errorf("job %d: %+v", i, h)
			}
		}
		if want := []durable.ID{runs, due, ahead}; !slices.Equal(ids, want) {
			t.Errorf("held are %v, want %v", ids, want)
		}
		status, ok := jobs.Node()
		if !ok || status.Phases[durable.PhaseAhead] != 1 || status.Phases[durable.PhaseDue] != 1 ||
			status.Phases[durable.PhaseRunning] != 1 || status.Jobs != 3 || status.LeaseLeft <= 0 ||
			status.Workers != 1 {
			t.Errorf("node is %+v, %v", status, ok)
		}
		store.delay("commit", time.Second)
		close(end)
		synctest.Wait()
		if status, _ := jobs.Node(); status.Phases[durable.PhaseEnding] == 0 {
			t.Errorf("at the end the node is %+v", status)
		}
		stop()
		if _, ok := jobs.Node(); ok {
			t.Error("there is a node after Run")
		}
	})
}

// Latest has the runs of all jobs, and takes no verdict that there is not.
func TestLatestHasRunsOfAllJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", func(_ context.Context, n int) (int, error) {
			if n%2 == 1 {
				return 0, executor.Permanent(errors.New("odd"))
			}
			return 0, nil
		})
		start(t, jobs)
		var ids []durable.ID
		for n := range 4 {
			ids = append(ids, must(k.Add(t.Context(), n)))
			k.Await(t.Context(), ids[n])
			time.Sleep(time.Second)
		}
		slices.Reverse(ids)
		var got []durable.ID
		for f := (durable.LatestFilter{Limit: 3}); ; {
			page := must(jobs.Latest(t.Context(), f))
			if len(page) == 0 {
				break
			}
			for _, r := range page {
				got = append(got, r.Job)
			}
			f.Before = page[len(page)-1].Run
		}
		if !slices.Equal(got, ids) {
			t.Errorf("runs of %v, want %v", got, ids)
		}
		failed := must(jobs.Latest(t.Context(), durable.LatestFilter{Kind: "k", Node: "node",
			Verdicts: []durable.Verdict{durable.RunFailed, durable.RunFailed}}))
		if len(failed) != 2 || failed[0].Job != ids[0] || failed[1].Job != ids[2] {
			t.Errorf("failed are %+v", failed)
		}
		for _, f := range []durable.LatestFilter{{Limit: -1}, {Verdicts: []durable.Verdict{6}}} {
			if _, err := jobs.Latest(t.Context(), f); !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("%+v: %v", f, err)
			}
		}
		if none, err := jobs.Latest(t.Context(), durable.LatestFilter{Kind: "\x00"}); err != nil || len(none) > 0 {
			t.Errorf("of a kind that can't be: %v, %v", none, err)
		}
	})
}

// A node that joins again under a new name reports itself, though what it reports has changed while the store took its
// time for that: the report came before the node was there.
func TestNodeThatJoinsSlowlyReportsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		worker := newJobs(t, line)
		durable.Handle(worker, "k", new(diary).handler)
		start(t, worker)
		operator := newJobs(t, store)
		line.set(func(op string) (error, error) {
			if op == "join" {
				time.Sleep(2 * time.Second)
			}
			return nil, nil
		})
		must(0, store.Leave(t.Context(), must(operator.Nodes(t.Context()))[0].Name)) // it is declared dead
		time.Sleep(2 * time.Second)                                                  // it joins
		must(0, worker.SetQueues("gpu"))
		time.Sleep(time.Minute)
		if nodes := must(operator.Nodes(t.Context())); len(nodes) != 1 || !slices.Equal(nodes[0].Queues, []string{"gpu"}) {
			t.Errorf("the nodes are %+v", nodes)
		}
	})
}
