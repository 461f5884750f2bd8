package durable_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// A run that was cut short, since its node was shut down, is for the same time when it is begun again, though the next
// time has come meanwhile.
func TestRunCutShortKeepsOccurrence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var d diary
		jobs := newJobs(t, store, func(c *durable.Config) { c.Drain = time.Second })
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			<-ctx.Done()
			return "", context.Cause(ctx)
		})
		stop := start(t, jobs)
		must(k.AtFixedRate(t.Context(), "key", time.Hour, time.Hour, ""))
		time.Sleep(time.Hour + time.Minute)
		stop()
		time.Sleep(time.Hour)
		next := newJobs(t, store)
		durable.Handle(next, "k", d.handler)
		start(t, next)
		time.Sleep(time.Second)
		if runs := d.all(); len(runs) < 2 || !runs[1].Occurrence.Equal(runs[0].Occurrence) {
			t.Errorf("runs are %+v", runs)
		}
	})
}

// A run that was cut short, since its node could not renew its lease, is no attempt if the node was not declared dead.
func TestRunCutShortByOutageIsNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFaulty(memory.New())
		jobs := newJobs(t, line)
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case <-time.After(4 * time.Second):
				return "", nil
			}
		})
		start(t, jobs)
		id := must(k.Add(t.Context(), "", durable.Attempts(1)))
		synctest.Wait()
		line.down()
		time.Sleep(time.Minute)
		line.up()
		must(k.Await(t.Context(), id))
		if runs := d.all(); len(runs) != 2 || runs[1].Attempt != 1 {
			t.Errorf("runs are %+v", runs)
		}
		if runs := must(jobs.History(t.Context(), id, 0, 10)); len(runs) != 1 {
			t.Errorf("history is %+v", runs)
		}
	})
}

// confirming is a store that reports each confirm which changes an occurrence,
// before and after it is done.
type confirming struct {
	*memory.Store
	before, after func(durablestore.CommitRequest)

	mu       sync.Mutex
	locked   durable.ID // somebody else has locked its row
	confirms []durablestore.Confirm
}

func (c *confirming) lock(id durable.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.locked = id
}

// moved returns how many confirms there were that change an occurrence, of how many.
func (c *confirming) moved() (n, all int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.confirms {
		if !one.Occurrence.IsZero() {
			n++
		}
	}
	return n, len(c.confirms)
}

func (c *confirming) Commit(ctx context.Context, b durablestore.CommitRequest) (durablestore.CommitResult, error) {
	moves := slices.ContainsFunc(b.Confirms, func(one durablestore.Confirm) bool { return !one.Occurrence.IsZero() })
	if moves && c.before != nil {
		c.before(b)
	}
	c.mu.Lock()
	c.confirms = append(c.confirms, b.Confirms...)
	i := slices.IndexFunc(b.Confirms, func(one durablestore.Confirm) bool { return one.ID == c.locked })
	c.mu.Unlock()
	var ref durablestore.Ref
	if i >= 0 {
		ref = b.Confirms[i].Ref
		b.Confirms = slices.Concat(b.Confirms[:i], b.Confirms[i+1:])
	}
	s, err := c.Store.Commit(ctx, b)
	if err == nil && i >= 0 {
		s.Confirmed = slices.Insert(s.Confirmed, i, false)
		s.Locked = append(s.Locked, ref)
	}
	if moves && c.after != nil {
		c.after(b)
	}
	return s, err
}

// neglected returns a store with an hourly job that nobody has run for ten hours
// and the time given, and when it was added.
func neglected(t *testing.T, store durable.Store, and time.Duration,
	opts ...durable.Option) (id durable.ID, added time.Time) {
	t.Helper()
	k := durable.KindOf[string, string](newJobs(t, store), "k")
	added = time.Now().UTC().Round(0)
	id = must(k.AtFixedRate(t.Context(), "key", time.Hour, time.Hour, "", opts...))
	time.Sleep(10*time.Hour + and)
	return id, added
}

// A run that makes up for times that were missed is for the same time when its node is lost and another one begins it
// again, though the next time has come meanwhile; and that is the one which the history has. So it is if the node is
// lost before it could be noted that it has begun, except that the first run is neither an attempt nor in the history.
func TestRunLostKeepsOccurrence(t *testing.T) {
	for name, test := range map[string]struct {
		missed durable.Missed
		want   time.Duration // since the job was added
	}{
		"Coalesce": {durable.Coalesce(), 10 * time.Hour},
		"Skip":     {durable.Skip(time.Hour), 10 * time.Hour},
		"CatchUp":  {durable.CatchUp(3), 8 * time.Hour},
	} {
		for _, schedule := range []string{"rate", "cron", "rate, at once"} {
			schedule, atOnce := strings.CutSuffix(schedule, ", at once")
			t.Run(fmt.Sprint(name, "/", schedule, " ", atOnce), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := memory.New()
					added := time.Now().UTC().Round(0)
					k := durable.KindOf[string, string](newJobs(t, store), "k")
					var id durable.ID
					if schedule == "rate" {
						id = must(k.AtFixedRate(t.Context(), "key", time.Hour, time.Hour, "", durable.OnMissed(test.missed)))
					} else {
						id = must(k.On(t.Context(), "key", cron.MustParse("CRON_TZ=UTC 0 * * * *"), "", durable.OnMissed(test.missed)))
					}
					time.Sleep(11*time.Hour - 2*time.Second)

					line := newFaulty(store)
					lost := newJobs(t, line)
					var d diary
					durable.Handle(lost, "k", func(ctx context.Context, _ string) (string, error) {
						d.note(ctx)
						if !atOnce {
							time.Sleep(untilNoted)
						}
						line.down()
						<-ctx.Done()
						return "", context.Cause(ctx)
					})
					start(t, lost)
					time.Sleep(untilNoted)
					if d.count() != 1 {
						t.Fatalf("%d runs", d.count())
					}
					heir := newJobs(t, store)
					durable.Handle(heir, "k", d.handler)
					start(t, heir)
					time.Sleep(10 * time.Second) // past the next occurrence
					runs := d.all()
					noted := map[bool]int{false: 1}[atOnce]
					if len(runs) < 2 || runs[1].Attempt != 1+noted {
						t.Fatalf("runs are %+v", runs)
					}
					for i, j := range runs[:2] {
						if got := j.Occurrence.Sub(added); got != test.want {
							t.Errorf("attempt %d is for %v, want %v", i+1, got, test.want)
						}
					}
					history := must(heir.History(t.Context(), id, 0, 10))
					if first := history[len(history)-1]; first.Verdict == durable.RunLost == atOnce ||
						first.Occurrence.Sub(added) != test.want {
						t.Errorf("the history begins with %+v, want a lost run for %v", first, test.want)
					}
					line.up()
				})
			})
		}
	}
}

// A run for the time that the store has anyway needs no more of the store than to be confirmed, once at most.
func TestRunStoresOccurrenceOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &confirming{Store: memory.New()}
		jobs, k, d := newNode(t, store)
		start(t, jobs)
		must(k.AtFixedRate(t.Context(), "key", 0, time.Second, ""))
		must(k.Add(t.Context(), ""))
		time.Sleep(10*time.Second + time.Second/2)
		if moved, all := store.moved(); d.count() != 12 || moved != 0 || all > 12 {
			t.Errorf("%d runs, %d confirms, %d of them with an occurrence", d.count(), all, moved)
		}
	})
}

// A run that is no longer its node's when its occurrence is to be stored does not begin; the node that has the job then
// runs it, in its first attempt.
func TestRunRefusedDoesNotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &confirming{Store: memory.New()}
		var once sync.Once
		store.before = func(b durablestore.CommitRequest) {
			once.Do(func() { must(store.Release(t.Context(), b.Node, nil)) })
		}
		neglected(t, store, time.Minute)
		jobs := newJobs(t, store)
		var d diary
		durable.Handle(jobs, "k", d.handler)
		start(t, jobs)
		time.Sleep(10 * time.Second)
		if runs := d.all(); len(runs) != 1 || runs[0].Epoch != 3 || runs[0].Attempt != 1 {
			t.Errorf("runs are %+v, want one by the third right", runs)
		}
	})
}

// A job whose occurrence can't be stored, since another transaction has locked its row, occupies no worker meanwhile,
// and is run when the row is free.
func TestRunPostponedOccupiesNoWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &confirming{Store: memory.New()}
		id, _ := neglected(t, store, time.Minute)
		store.lock(id)
		pool := executor.Scheduled(1)
		t.Cleanup(pool.Close)
		jobs, k, d := newNode(t, store, func(c *durable.Config) { c.Executor = pool })
		start(t, jobs)
		time.Sleep(time.Second)
		other := must(k.Add(t.Context(), ""))
		time.Sleep(5 * time.Second)
		if runs := d.all(); len(runs) != 1 || runs[0].ID != other {
			t.Errorf("while it is locked, runs are %+v", runs)
		}
		store.lock(durable.ID{})
		time.Sleep(5 * time.Second)
		if runs := d.all(); len(runs) != 2 || runs[1].ID != id {
			t.Errorf("afterwards, runs are %+v", runs)
		}
	})
}

// A node that drains while an occurrence is being stored leaves the job to the next one, which begins it in its first
// attempt.
func TestRunPostponedDuringDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &confirming{Store: memory.New()}
		_, added := neglected(t, store, time.Minute)
		var once sync.Once
		store.after = func(durablestore.CommitRequest) { once.Do(func() { time.Sleep(time.Second) }) }
		var d diary
		jobs := newJobs(t, store)
		durable.Handle(jobs, "k", d.handler)
		stop := start(t, jobs)
		time.Sleep(time.Second / 2) // the store has done it, and not answered yet
		stop()
		if d.count() != 0 {
			t.Fatal("it was begun")
		}
		next := newJobs(t, store)
		durable.Handle(next, "k", d.handler)
		start(t, next)
		time.Sleep(time.Second)
		if runs := d.all(); len(runs) != 1 || runs[0].Attempt != 1 ||
			!runs[0].Occurrence.Equal(added.Add(10*time.Hour)) {
			t.Errorf("runs are %+v", runs)
		}
	})
}

// A node that drains while it decides for which occurrence a run is does not begin it; another one does, in its first
// attempt, though the node that ends still waits for a handler.
func TestRunDecidedDuringDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		h := hourly{new(atomic.Bool)}
		named := func(c *durable.Config) { c.Triggers = map[string]executor.Trigger{"hourly": h} }
		var own, d diary
		jobs := newJobs(t, store, named)
		k := durable.Handle(jobs, "k", own.handler)
		long := durable.Handle(jobs, "long",
			func(context.Context, string) (string, error) { time.Sleep(time.Minute); return "", nil })
		must(k.On(t.Context(), "key", durable.NamedTrigger("hourly"), ""))
		time.Sleep(3*time.Hour + time.Minute)
		must(long.Add(t.Context(), ""))
		h.slow.Store(true)
		stop := start(t, jobs)
		time.Sleep(time.Second / 2)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			stop()
		}()
		h.slow.Store(false)
		next := newJobs(t, store, named)
		durable.Handle(next, "k", d.handler)
		start(t, next)
		time.Sleep(3 * time.Second)
		if runs := d.all(); own.count() != 0 || len(runs) != 1 || runs[0].Attempt != 1 {
			t.Errorf("the one that ends began it %d times, and runs are %+v", own.count(), runs)
		}
		<-ended
	})
}

// An occurrence that is being stored when the store's clock jumps is not stored again.
func TestRunPostponedIsAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &confirming{Store: memory.New()}
		_, added := neglected(t, store, time.Minute)
		store.before = func(durablestore.CommitRequest) { time.Sleep(time.Second) }
		jobs, k, d := newNode(t, store)
		start(t, jobs)
		time.Sleep(time.Second / 2)
		store.Shift(30 * time.Minute)
		must(k.AddAfter(t.Context(), 10*time.Hour, "")) // by whose answer the node learns of it
		time.Sleep(time.Second)
		synctest.Wait()
		moved, _ := store.moved()
		if runs := d.all(); moved != 1 || len(runs) != 1 || !runs[0].Occurrence.Equal(added.Add(10*time.Hour)) {
			t.Errorf("%d confirms, runs are %+v", moved, runs)
		}
	})
}

// A run whose occurrence has been stored does not begin before that, though the store's clock is put back meanwhile.
func TestRunPostponedIsNotBegunEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &confirming{Store: memory.New()}
		var once sync.Once
		store.before = func(durablestore.CommitRequest) { once.Do(func() { store.Shift(-20 * time.Minute) }) }
		neglected(t, store, 10*time.Minute)
		jobs := newJobs(t, store)
		c := chronicle{store: store.Store}
		durable.Handle(jobs, "k", func(ctx context.Context, _ string) (int, error) { return c.handler(ctx, 0) })
		start(t, jobs)
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if len(c.runs) != 2 { // for the hour before, which had passed, and for that
			t.Fatalf("%d runs", len(c.runs))
		}
		for _, r := range c.runs {
			if r.begun.Before(r.job.Occurrence) {
				t.Errorf("it was begun %v early", r.job.Occurrence.Sub(r.begun))
			}
		}
	})
}

// A confirm that is under way when the store's clock jumps is not repeated: the run counts as one attempt.
func TestRunConfirmingIsAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		jobs := newJobs(t, line)
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
			time.Sleep(time.Second)
			return "", nil
		})
		start(t, jobs)
		id := must(k.AddAfter(t.Context(), 900*time.Millisecond, ""))
		line.set(func(op string) (error, error) {
			if op == "commit" {
				time.Sleep(50 * time.Millisecond)
			}
			return nil, nil
		})
		time.Sleep(890 * time.Millisecond) // it is being confirmed
		store.Shift(200 * time.Millisecond)
		must(k.AddAfter(t.Context(), time.Hour, "")) // by whose answer the node learns of it
		must(k.Await(t.Context(), id))
		if runs := must(jobs.History(t.Context(), id, 0, 10)); len(runs) != 1 || runs[0].Attempt != 1 {
			t.Errorf("history is %+v", runs)
		}
	})
}
