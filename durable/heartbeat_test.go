package durable_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// A heartbeat that reports late that a run is to be canceled does not cancel the next run of the job.
func TestNodeLateCancelSparesNextRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		jobs, elsewhere := newJobs(t, line), newJobs(t, store)
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			time.Sleep(1500 * time.Millisecond)
			if durable.FencingToken(ctx) == 1 {
				return "", errors.New("no")
			}
			return "", context.Cause(ctx)
		})
		start(t, jobs)
		id := must(k.Add(t.Context(), "", durable.Attempts(1)))
		synctest.Wait()
		line.delay("heartbeat", time.Second) // the first asks after 900 ms, and is answered a second later
		time.Sleep(500 * time.Millisecond)
		must(elsewhere.Cancel(t.Context(), id))
		time.Sleep(1050 * time.Millisecond) // the run has returned
		if a := must(jobs.Revive(t.Context(), id)); a != durable.Applied {
			t.Fatalf("Revive: %v", a)
		}
		if _, err := k.Await(t.Context(), id); err != nil {
			t.Error(err)
		}
	})
}

// The handlers of a node that was declared dead are canceled at its next heartbeat, though by its own clock the lease
// is not over.
func TestNodeDeclaredDeadCancelsHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		jobs := newJobs(t, store)
		var cause error
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			if durable.FencingToken(ctx) > 1 {
				return "", nil
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Minute):
			}
			cause = context.Cause(ctx)
			return "", cause
		})
		start(t, jobs)
		id := must(k.Add(t.Context(), ""))
		synctest.Wait()
		// What frees its jobs, too.
		if err := store.Leave(t.Context(), must(jobs.Get(t.Context(), id)).Owner); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if !errors.Is(cause, durable.ErrLeaseLost) {
			t.Errorf("after a second its context has ended with %v", cause)
		}
	})
}

// A node that is cut off from the store cancels its handlers before its lease is over, another node runs the job within
// four seconds, and only one outcome is committed.
func TestNodeCutOffIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		cut := newJobs(t, line)
		var canceled time.Duration
		var tokens []int64
		begun := make(chan struct{})
		k := durable.Handle(cut, "k", func(ctx context.Context, _ string) (string, error) {
			tokens = append(tokens, durable.FencingToken(ctx))
			close(begun)
			at := time.Now()
			<-ctx.Done()
			canceled = time.Since(at)
			if !errors.Is(context.Cause(ctx), durable.ErrLeaseLost) {
				t.Errorf("canceled because %v", context.Cause(ctx))
			}
			time.Sleep(time.Minute) // it does not care
			return "zombie", nil
		})
		start(t, cut)
		id := must(k.Add(t.Context(), ""))
		<-begun
		line.down()
		cutAt := time.Now()

		heir := newJobs(t, store)
		var took time.Duration
		k2 := durable.Handle(heir, "k", func(ctx context.Context, _ string) (string, error) {
			tokens = append(tokens, durable.FencingToken(ctx))
			took = time.Since(cutAt)
			return "heir", nil
		})
		start(t, heir)
		if got := must(k2.Await(t.Context(), id)); got != "heir" {
			t.Errorf("result %q", got)
		}
		synctest.Wait()
		if canceled == 0 || canceled > 3*time.Second || canceled >= took {
			t.Errorf("the handler was canceled after %v, its heir began after %v", canceled, took)
		}
		if took > 4*time.Second {
			t.Errorf("the heir began after %v", took)
		}
		line.up()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if len(tokens) != 2 || tokens[0] >= tokens[1] {
			t.Errorf("fencing tokens are %v", tokens)
		}
		job := must(heir.Get(t.Context(), id))
		if string(job.Result) != `"heir"` {
			t.Errorf("the result has become %s", job.Result)
		}
		succeeded := 0
		for _, run := range must(heir.History(t.Context(), id, 0, 10)) {
			if run.Verdict == durable.RunSucceeded {
				succeeded++
			}
		}
		if succeeded != 1 {
			t.Errorf("%d runs were committed as successes", succeeded)
		}
	})
}

// A periodic job of one attempt whose node is lost goes on with its next occurrence, and the one that was lost is not
// begun again: the log says that it failed for good.
func TestNodeLostKeepsScheduleGoing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		cut := newJobs(t, line)
		var d diary
		k := durable.Handle(cut, "k", func(ctx context.Context, _ string) (string, error) {
			if d.note(ctx); d.count() == 1 {
				time.Sleep(untilNoted)
				line.down()
				<-ctx.Done()
			}
			return "", nil
		})
		start(t, cut)
		synctest.Wait() // or it may look before the job is there, and a second later
		var log logLines
		heir := newJobs(t, store, func(c *durable.Config) { c.Logger = log.logger() })
		durable.Handle(heir, "k", d.handler)
		begun := time.Now()
		id := must(k.AtFixedRate(t.Context(), "key", 0, time.Minute, "", durable.Attempts(1)))
		time.Sleep(time.Second)
		start(t, heir)
		time.Sleep(2 * time.Minute)
		d.wants(t, begun, 0, time.Minute, 2*time.Minute)
		var verdicts []durable.Verdict
		for _, run := range must(heir.History(t.Context(), id, 0, 10)) {
			verdicts = append(verdicts, run.Verdict)
		}
		if want := []durable.Verdict{durable.RunSucceeded, durable.RunSucceeded,
			durable.RunLost}; !slices.Equal(verdicts, want) {
			t.Errorf("the history is %v, want %v", verdicts, want)
		}
		if log.count("a job failed for good") != 1 || log.count("key=key kind=k attempt=1 error=\"durable: node") != 1 {
			t.Errorf("the log is %s", &log.buf)
		}
	})
}

// A job that its nodes do not survive is dead in the end, and the log says so. If it kills them at once, before it
// could be noted that it has begun, the first time does not count.
func TestJobThatKillsNodesIsDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var log logLines
		watch := newJobs(t, store, func(c *durable.Config) { c.Logger = log.logger() })
		start(t, watch)
		runs := 0
		var id durable.ID
		for i := range durable.MaxLost + 3 {
			line := newFaulty(store)
			jobs := newJobs(t, line)
			k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
				runs++
				line.down()
				<-ctx.Done()
				return "", nil
			})
			if i == 0 {
				id = must(k.AtFixedRate(t.Context(), "key", 0, time.Second, "", durable.Attempts(3)))
			}
			stop := start(t, jobs)
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			stop()
		}
		if job := must(watch.Get(t.Context(), id)); runs != durable.MaxLost+1 || job.State != durable.Dead {
			t.Errorf("after %d runs it is %v", runs, job.State)
		}
		if n := log.count("a job is dead"); n != 1 {
			t.Errorf("the log says %d times that a job is dead", n)
		}
	})
}

// A node that was declared dead joins again by itself, and works.
func TestNodeDeclaredDeadJoinsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		cut, k, _ := newNode(t, line)
		start(t, cut)
		start(t, newJobs(t, store)) // a node that notices
		time.Sleep(time.Second)
		line.down()
		time.Sleep(time.Minute)
		line.up()
		time.Sleep(2 * time.Second)
		id := must(k.Add(t.Context(), ""))
		must(k.Await(t.Context(), id))
	})
}

// A store that does not answer for a while loses no job and ends no node: what was due meanwhile runs when it is back,
// a run that ended meanwhile is committed, and handlers are not disturbed unless the lease is over.
func TestNodeOutlastsOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs := newJobs(t, line)
		runs := 0
		k := durable.Handle(jobs, "k", func(ctx context.Context, d time.Duration) (int, error) {
			runs++
			time.Sleep(d)
			return runs, ctx.Err()
		})
		start(t, jobs)
		long := must(k.Add(t.Context(), 1500*time.Millisecond))
		later := must(k.AddAfter(t.Context(), 20*time.Second, 0))
		time.Sleep(time.Second)
		line.down()
		if _, err := k.Add(t.Context(), 0); !errors.Is(err, errDown) {
			t.Errorf("Schedule: %v", err)
		}
		time.Sleep(1200 * time.Millisecond)
		line.up()
		time.Sleep(2 * time.Second)
		if job := must(jobs.Get(t.Context(), long)); job.State != durable.Succeeded || job.Attempt != 1 {
			t.Errorf("the long run is %v in attempt %d", job.State, job.Attempt)
		}
		line.down()
		time.Sleep(time.Minute)
		line.up()
		if got := must(k.Await(t.Context(), later)); got != 2 {
			t.Errorf("it was run %d", got)
		}
	})
}

// A node that is stopped as a whole and goes on after its lease begins nothing of what it had claimed.
func TestNodeSuspendedBeginsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		jobs, k, d := newNode(t, line, func(c *durable.Config) { c.Lease = 300 * time.Millisecond })
		start(t, jobs)
		must(k.AddAfter(t.Context(), 900*time.Millisecond, "")) // claimed at once
		line.down()
		time.Sleep(10 * time.Second)
		if d.count() != 0 {
			t.Error("it was begun without a lease")
		}
		line.up()
		time.Sleep(5 * time.Second)
		if d.count() != 1 {
			t.Errorf("it was begun %d times", d.count())
		}
	})
}

// A node that was cut off and polls seldom takes jobs again as soon as its lease is renewed.
func TestNodeFencedPollsOnceRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		jobs := newJobs(t, line, func(c *durable.Config) { c.Poll = time.Hour })
		var d diary
		durable.Handle(jobs, "k", d.handler)
		start(t, jobs)
		time.Sleep(time.Second)
		line.down()
		time.Sleep(10 * time.Second)
		must(durable.KindOf[string, string](newJobs(t, store), "k").Add(t.Context(), ""))
		line.up()
		begun := time.Now()
		time.Sleep(10 * time.Second)
		if since := d.since(begun); len(since) != 1 || since[0] > time.Second {
			t.Errorf("it was begun after %v", since)
		}
	})
}

// What a node had claimed under the name by which it was declared dead is not begun when the answer comes, though the
// node has joined again: another one has the job.
func TestNodeDropsClaimOfDeadName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		jobs, other := newJobs(t, line), newJobs(t, store)
		var d, heir diary
		durable.Handle(jobs, "k", d.handler)
		k := durable.Handle(other, "k", heir.handler)
		start(t, jobs)
		synctest.Wait() // it has joined, and does not heartbeat any more
		line.set(func(op string) (error, error) {
			if op == "heartbeat" {
				return errDown, nil
			}
			return nil, nil
		})
		time.Sleep(1500 * time.Millisecond)
		line.delay("claim", 2900*time.Millisecond)
		must(k.Add(t.Context(), "")) // claimed after two seconds
		time.Sleep(600 * time.Millisecond)
		start(t, other)
		time.Sleep(1820 * time.Millisecond) // it has declared the other dead
		if heir.count() != 1 {
			t.Fatalf("the other node began it %d times", heir.count())
		}
		line.up()
		time.Sleep(10 * time.Second)
		if d.count() != 0 || heir.count() != 1 {
			t.Errorf("it was begun %d times by the node that was dead, and %d times by the other", d.count(), heir.count())
		}
	})
}

// A run that was confirmed, and waits for a worker, does not begin once the lease is over: not even in the moment in
// which it ends, when the node is about to notice.
func TestNodeWithoutLeaseBeginsNothing(t *testing.T) {
	for range 30 { // what happens first in that moment is left to chance
		synctest.Test(t, func(t *testing.T) {
			line := newFaulty(memory.New())
			pool := executor.Scheduled(1)
			t.Cleanup(pool.Close)
			jobs := newJobs(t, line, func(c *durable.Config) { c.Executor = pool })
			var d diary
			busy := durable.Handle(jobs, "busy", func(ctx context.Context, work time.Duration) (int, error) {
				time.Sleep(work)
				return 0, nil
			})
			k := durable.Handle(jobs, "k", d.handler)
			start(t, jobs)
			synctest.Wait() // it has joined, and has not beaten yet
			must(busy.Add(t.Context(), 2500*time.Millisecond))
			synctest.Wait()
			id := must(k.Add(t.Context(), ""))
			if j := must(jobs.Get(t.Context(), id)); j.State != durable.Confirmed {
				t.Fatalf("job is %v", j.State)
			}
			line.down()
			time.Sleep(10 * time.Second)
			if d.count() != 0 {
				t.Error("it was begun without a lease")
			}
			line.up()
			must(k.Await(t.Context(), id))
			if d.count() != 1 {
				t.Errorf("it was begun %d times", d.count())
			}
		})
	}
}

// A heartbeat that is answered too late to be of use does not let the node go on.
func TestNodeLateHeartbeatIsNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		jobs, k, d := newNode(t, line)
		start(t, jobs)
		line.mu.Lock()
		line.late = map[string]time.Duration{"heartbeat": 2900 * time.Millisecond}
		line.mu.Unlock()
		time.Sleep(3 * time.Second) // fenced, since no heartbeat has been answered yet
		id := must(k.Add(t.Context(), ""))
		time.Sleep(20 * time.Second)
		if j := must(jobs.Get(t.Context(), id)); d.count() != 0 || j.Epoch != 0 {
			t.Errorf("without a lease it was begun %d times; job is %+v", d.count(), j)
		}
		line.mu.Lock()
		line.late = nil
		line.mu.Unlock()
		must(k.Await(t.Context(), id))
	})
}

// Jobs that died with another node are named in the log, but a store that is slow to return their names does not cost
// this node its lease.
func TestNodeLogsDeadJobsAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line, dies := newFaulty(store), newFaulty(store)
		jobs, other := newJobs(t, line), newJobs(t, dies)
		var cause error
		long := durable.Handle(jobs, "long", func(ctx context.Context, _ string) (string, error) {
			select {
			case <-ctx.Done():
				cause = context.Cause(ctx)
				return "", cause
			case <-time.After(time.Minute):
				return "", nil
			}
		})
		k := durable.Handle(other, "k", func(ctx context.Context, _ string) (string, error) { <-ctx.Done(); return "", nil })
		start(t, jobs)
		start(t, other)
		must(long.Add(t.Context(), ""))
		must(k.Add(t.Context(), "", durable.Attempts(1)))
		time.Sleep(untilNoted)
		synctest.Wait()
		line.delay("get", 10*time.Second)
		dies.down()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		dies.up()
		if line.callsOf("get") == 0 || cause != nil {
			t.Errorf("the handler of a node that is well was canceled: %v, after %d calls", cause, line.callsOf("get"))
		}
	})
}

// lonely is a store of a single node.
type lonely struct{ *faulty }

func (s lonely) Heartbeat(ctx context.Context, node string, lease time.Duration,
	w durablestore.Watch) (durablestore.HeartbeatResult, error) {
	p, err := s.faulty.Heartbeat(ctx, node, lease, w)
	p.Alone = true
	return p, err
}

// A node that is alone does not cancel its handlers when the store does not answer: nobody could begin them again. What
// they have done is committed when the store is back. It begins nothing meanwhile.
func TestNodeAloneKeepsHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs := newJobs(t, lonely{line})
		var mu sync.Mutex
		var begun []time.Duration
		zero := time.Now()
		k := durable.Handle(jobs, "k", func(ctx context.Context, d time.Duration) (int, error) {
			mu.Lock()
			begun = append(begun, time.Since(zero).Round(time.Second))
			mu.Unlock()
			select {
			case <-ctx.Done():
			case <-time.After(d):
			}
			return 0, context.Cause(ctx)
		})
		start(t, jobs)
		long := must(k.Add(t.Context(), 2*time.Minute))
		later := must(k.AddAfter(t.Context(), 20*time.Second, 0))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		line.down()
		time.Sleep(time.Minute)
		synctest.Wait()
		line.up()
		for _, id := range []durable.ID{long, later} {
			if _, err := k.Await(t.Context(), id); err != nil {
				t.Error(err)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if len(begun) != 2 || begun[0] != 0 || begun[1] < 70*time.Second {
			t.Errorf("handlers were called at %v, want at 0 and after 70 s", begun)
		}
	})
}

// A heartbeat whose answer comes late, but within the lease, is followed by another one in time.
func TestNodeLateHeartbeatIsFollowedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs := newJobs(t, line, func(c *durable.Config) { c.Lease = 6 * time.Second })
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (int, error) {
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Second):
			}
			return 0, context.Cause(ctx)
		})
		start(t, jobs)
		id := must(k.Add(t.Context(), "", durable.Attempts(1)))
		line.mu.Lock()
		line.late = map[string]time.Duration{"heartbeat": 3 * time.Second}
		line.mu.Unlock()
		time.Sleep(4 * time.Second) // the first is under way
		line.mu.Lock()
		line.late = nil
		line.mu.Unlock()
		if _, err := k.Await(t.Context(), id); err != nil {
			t.Error(err)
		}
	})
}

// halfway is a store whose heartbeats renew the lease, and fail then.
type halfway struct{ *memory.Store }

func (h halfway) Heartbeat(ctx context.Context, node string, lease time.Duration,
	w durablestore.Watch) (durablestore.HeartbeatResult, error) {
	p, _ := h.Store.Heartbeat(ctx, node, lease, w)
	return durablestore.HeartbeatResult{}, &durablestore.RenewedError{Now: p.Now, Err: errDown}
}

// A node whose heartbeats fail after they have renewed its lease keeps it: its handlers go on.
func TestNodeKeepsLeaseThatWasRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, halfway{memory.New()}, func(c *durable.Config) { c.Lease = time.Minute })
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
			select {
			case <-ctx.Done():
				return 0, context.Cause(ctx)
			case <-time.After(5 * time.Minute):
				return 7, nil
			}
		})
		start(t, jobs)
		id := must(k.Add(t.Context(), 1))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if got, err := k.Await(ctx, id); got != 7 || err != nil {
			t.Errorf("got %d: %v", got, err)
		}
	})
}
