package durable_test

import (
	"context"
	"log/slog"
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

// A run that makes up for an occurrence which had passed only while the store's clock was ahead is given back, for the
// one that has passed, and its schedule goes on. It keeps no other job from running, and costs no attempt.
func TestClockAheadHoldsUpNoOtherJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &chronicle{store: memory.New()}
		line := newFaulty(c.store)
		pool := executor.Scheduled(1)
		t.Cleanup(pool.Close)
		jobs := newJobs(t, line, func(c *durable.Config) { c.Executor = pool })
		k := durable.Handle(jobs, "k", c.handler)
		added := time.Now()
		id := must(k.AtFixedRate(t.Context(), "tick", 0, time.Minute, 0))
		c.store.Shift(time.Hour)
		line.delay("commit", 2*time.Second)
		start(t, jobs)
		time.Sleep(time.Second) // it is confirmed for the latest
		c.store.Shift(-time.Hour)
		time.Sleep(2 * time.Second)
		line.delay("commit", 0)

		begun := time.Now()
		must(k.Await(t.Context(), must(k.Add(t.Context(), 0))))
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("the next job took %v", took)
		}
		calls := line.count()
		time.Sleep(10 * time.Second)
		if n := line.count() - calls; n > 20 {
			t.Errorf("%d calls in ten seconds", n)
		}
		if j := must(jobs.Get(t.Context(), id)); j.State != durable.Waiting || j.Runs != 1 ||
			!j.Due.Equal(added.Add(time.Minute)) {
			t.Errorf("it is %v after %d runs, due at %v", j.State, j.Runs, j.Due)
		}
		if n := len(c.begun(t)); n != 2 {
			t.Errorf("%d of 2 were begun", n)
		}
	})
}

// A job that was about to begin, and is far away since the store's clock was put back, keeps neither Run from returning
// nor the program's pool from being closed.
func TestClockPutBackKeepsNothingOpen(t *testing.T) {
	for what, own := range map[string]bool{"pool of Run": false, "pool of the program": true} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				c := durable.Config{Store: store, Poll: time.Hour, Logger: slog.New(slog.DiscardHandler)}
				if own {
					c.Executor = executor.Scheduled(1)
				}
				jobs := must(durable.New(c))
				var d diary
				k := durable.Handle(jobs, "k", d.handler)
				stop := start(t, jobs)
				id := must(k.AddAfter(t.Context(), 20*time.Millisecond, "")) // it is confirmed at once
				synctest.Wait()
				store.Shift(-time.Minute)
				must(k.AddAfter(t.Context(), 3*time.Hour, "")) // by whose answer the node learns of it
				synctest.Wait()
				if j := must(jobs.Get(t.Context(), id)); j.State != durable.Confirmed {
					t.Fatalf("the job is %v", j.State)
				}
				begun := time.Now()
				stop()
				if own {
					c.Executor.Close()
				}
				if took := time.Since(begun); took > time.Second {
					t.Errorf("it took %v", took)
				}
				if j := must(jobs.Get(t.Context(), id)); j.State != durable.Waiting || j.Attempt != 0 ||
					d.count() != 0 {
					t.Errorf("the job was begun %d times, and is %+v", d.count(), j)
				}
			})
		})
	}
}

// The history has for how long a run went on, whatever the store's clock did meanwhile.
func TestClockJumpKeepsLengthOfRun(t *testing.T) {
	for _, jump := range jumps {
		synctest.Test(t, func(t *testing.T) {
			store := memory.New()
			jobs := newJobs(t, store)
			k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
				time.Sleep(time.Minute)
				return "", nil
			})
			start(t, jobs)
			id := must(k.Add(t.Context(), ""))
			time.Sleep(30 * time.Second)
			store.Shift(jump)
			must(k.Await(t.Context(), id))
			runs := must(jobs.History(t.Context(), id, 0, 10))
			if len(runs) != 1 || runs[0].Finished.Sub(runs[0].Started) != time.Minute {
				t.Errorf("after a jump by %v the history is %+v", jump, runs)
			}
		})
	}
}

// The store's clock is put forward or back while jobs are pending: those far away, those claimed ahead and those about
// to be confirmed. Each begins once, never before its time on that clock, and no later than a poll after it, if the
// clock is then past it, else at its time.
func TestClockJumpMovesPendingJobs(t *testing.T) {
	for _, jump := range jumps {
		t.Run(jump.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &chronicle{store: memory.New()}
				jobs := newJobs(t, c.store)
				k := durable.Handle(jobs, "k", c.handler)
				start(t, jobs)
				base := time.Now().UTC()
				for _, d := range []time.Duration{30 * time.Millisecond, 40 * time.Millisecond,
					100 * time.Millisecond, 900 * time.Millisecond, 5 * time.Second, 20 * time.Minute, 70 * time.Minute} {
					must(k.AddAfter(t.Context(), d, 0))
				}
				time.Sleep(2 * time.Millisecond)
				c.store.Shift(jump)
				jumped := must(c.store.Now(t.Context()))
				time.Sleep(150 * time.Minute)
				begun := c.begun(t)
				all := must(jobs.List(t.Context(), durable.Filter{}))
				if len(begun) != len(all) {
					t.Fatalf("%d of %d jobs were begun", len(begun), len(all))
				}
				for _, j := range all {
					// What fell due by the jump, or just after it, is late by no more
					// than the next word from the store.
					latest := j.Due.Add(time.Second + 50*time.Millisecond)
					if jumped.After(j.Due) {
						latest = jumped.Add(time.Second + 50*time.Millisecond)
					} else if j.Due.Sub(jumped) > 2*time.Second {
						latest = j.Due
					}
					if at := begun[j.ID]; at.After(latest) {
						t.Errorf("the job for %v was begun %v late", j.Due.Sub(base), at.Sub(latest))
					}
				}
			})
		})
	}
}

// A node learns from any answer that the store's clock has jumped: what it has claimed far ahead begins then, and not
// by the clock as it was. The log has one line about it.
func TestClockJumpIsNoticed(t *testing.T) {
	for jump, late := range map[time.Duration]time.Duration{time.Hour: 0, -time.Hour: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			c := &chronicle{store: memory.New()}
			log := new(logLines)
			jobs := newJobs(t, c.store, func(cfg *durable.Config) {
				cfg.Poll, cfg.Logger = 20*time.Second,
					log.logger()
			})
			k := durable.Handle(jobs, "k", c.handler)
			start(t, jobs)
			begun := time.Now()
			id := must(k.AddAfter(t.Context(), 10*time.Second, 0)) // claimed at once
			c.store.Shift(jump)
			must(k.Await(t.Context(), id))
			took := time.Since(begun)
			if late == 0 && took > 1100*time.Millisecond || late > 0 && took < late+10*time.Second {
				t.Errorf("after a jump by %v it took %v", jump, took)
			}
			c.begun(t)
			if n := log.count("clock of the database jumped"); n != 1 {
				t.Errorf("the log says %d times that the clock jumped by %v", n, jump)
			}
		})
	}
}

// An answer that was read before the store's clock jumped, and comes after one that was read after it, does not undo
// that: nothing begins early, and the log has one jump.
func TestClockIgnoresAnswerFromBeforeJump(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			c := &chronicle{store: memory.New()}
			log := new(logLines)
			line := newFaulty(c.store)
			line.delay("heartbeat", 500*time.Millisecond)
			jobs := newJobs(t, line, func(cfg *durable.Config) { cfg.Poll, cfg.Logger = 20*time.Second, log.logger() })
			k := durable.Handle(jobs, "k", c.handler)
			start(t, jobs)
			for line.callsOf("heartbeat") < 1 {
				time.Sleep(time.Millisecond)
			}
			id := must(k.AddAfter(t.Context(), 10*time.Second, 0)) // claimed at once
			time.Sleep(time.Millisecond)
			c.store.Shift(jump)
			must(k.AddAfter(t.Context(), 3*time.Hour, 0)) // by whose answer the node learns of it
			must(k.Await(t.Context(), id))
			c.begun(t)
			if n := log.count("clock of the database jumped"); n != 1 {
				t.Errorf("the log says %d times that the clock jumped by %v", n, jump)
			}
		})
	}
}

// keeping is a store that keeps back the answer to its first insert.
type keeping struct {
	*memory.Store
	kept atomic.Bool
	let  chan struct{}
}

func (k *keeping) Insert(ctx context.Context, jobs []durable.NewJob,
	p durablestore.Placement) ([]durable.InsertResult, error) {
	placed, err := k.Store.Insert(ctx, jobs, p)
	if k.kept.CompareAndSwap(false, true) {
		<-k.let
	}
	return placed, err
}

// So it is with an answer to a call that was sent in the same instant as the one that brought the jump, on a clock that
// is coarse.
func TestClockIgnoresAnswerOfTheSameInstant(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			c := &chronicle{store: memory.New()}
			log := new(logLines)
			store := &keeping{Store: c.store, let: make(chan struct{})}
			jobs := newJobs(t, store, func(cfg *durable.Config) { cfg.Poll, cfg.Logger = 20*time.Second, log.logger() })
			k := durable.Handle(jobs, "k", c.handler)
			start(t, jobs)
			time.Sleep(time.Second)
			go k.AddAfter(t.Context(), 3*time.Hour, 0)
			synctest.Wait()
			c.store.Shift(jump)
			id := must(k.AddAfter(t.Context(), 10*time.Second, 0)) // by whose answer the node learns of it
			close(store.let)
			must(k.Await(t.Context(), id))
			c.begun(t)
			if n := log.count("clock of the database jumped"); n != 1 {
				t.Errorf("the log says %d times that the clock jumped by %v", n, jump)
			}
		})
	}
}

// The answer by which a node has joined may come after another one, which was read after the store's clock jumped: then
// the node has known no other time, and the log has no jump.
func TestClockFirstAnswerIsNoJump(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			c := &chronicle{store: memory.New()}
			log := new(logLines)
			line := newFaulty(c.store)
			line.delay("join", 500*time.Millisecond)
			jobs := newJobs(t, line, func(cfg *durable.Config) { cfg.Logger = log.logger() })
			k := durable.Handle(jobs, "k", c.handler)
			start(t, jobs)
			time.Sleep(100 * time.Millisecond)
			c.store.Shift(jump)
			must(k.Await(t.Context(), must(k.AddAfter(t.Context(), 2*time.Second, 0))))
			c.begun(t)
			if n := log.count("clock of the database jumped"); n != 0 {
				t.Errorf("the log says %d times that the clock jumped by %v", n, jump)
			}
		})
	}
}

// Answers that are slow for a while, and then quick again, are no jump of the clock; but what waits by the clock as it
// was known meanwhile begins on time.
func TestClockSlowAnswersAreNoJump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &chronicle{store: memory.New()}
		log := new(logLines)
		line := newFaulty(c.store)
		jobs := newJobs(t, line, func(cfg *durable.Config) { cfg.Poll, cfg.Logger = 10*time.Minute, log.logger() })
		k := durable.Handle(jobs, "k", c.handler)
		start(t, jobs)
		for _, op := range []string{"heartbeat", "insert"} {
			line.delay(op, 500*time.Millisecond)
		}
		time.Sleep(time.Minute)
		due := time.Now().Add(5 * time.Minute)
		id := must(k.AddAfter(t.Context(), 5*time.Minute, 0)) // claimed at once
		line.delay("insert", 0)
		must(k.AddAfter(t.Context(), 3*time.Hour, 0))
		must(k.Await(t.Context(), id))
		c.begun(t)
		if late := time.Since(due); late > 10*time.Millisecond {
			t.Errorf("it was %v late", late)
		}
		if n := log.count("clock of the database jumped"); n != 0 {
			t.Errorf("the log says %d times that the clock jumped", n)
		}
	})
}

// When the store's clock was put back far, no node holds what was about to begin until it is near again, also if a node
// learns only then that it has it: it keeps no other job from running, neither by the limit of its kind nor by what its
// node holds, and it costs no attempt.
func TestClockPutBackHoldsUpNoOtherJob(t *testing.T) {
	for what, tt := range map[string]struct {
		delay, late time.Duration
		opts        []durable.HandlerOption
	}{
		"claimed":    {500 * time.Millisecond, 0, []durable.HandlerOption{durable.Limit(4)}},
		"confirmed":  {20 * time.Millisecond, 0, nil},
		"on its way": {20 * time.Millisecond, 2 * time.Second, nil},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &chronicle{store: memory.New()}
				line := newFaulty(c.store)
				line.delay("insert", tt.late)
				jobs := newJobs(t, line)
				k := durable.Handle(jobs, "k", c.handler, tt.opts...)
				start(t, jobs)
				added := make(chan []durable.ID, 1)
				go func() { added <- must(k.AddAll(t.Context(), tt.delay, make([]time.Duration, 4))) }()
				time.Sleep(2 * time.Millisecond) // they are the node's
				c.store.Shift(-10 * time.Minute)
				ids := <-added
				line.delay("insert", 0)
				begun := time.Now()
				must(k.Await(t.Context(), must(k.Add(t.Context(), 0))))
				if took := time.Since(begun); took > 2*time.Second {
					t.Errorf("the next job took %v", took)
				}
				synctest.Wait()
				for _, id := range ids {
					if j := must(jobs.Get(t.Context(), id)); j.State != durable.Waiting || j.Attempt != 0 {
						t.Errorf("a job that is far away is %v in attempt %d", j.State, j.Attempt)
					}
				}
				time.Sleep(20 * time.Minute)
				if n := len(c.begun(t)); n != 5 {
					t.Errorf("%d of 5 were begun", n)
				}
			})
		})
	}
}

// A clock that is put back by less than what counts as a jump makes nothing begin early: what is confirmed already
// waits for its time again.
func TestClockSmallStepBackBeginsNothingEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &chronicle{store: memory.New()}
		jobs := newJobs(t, c.store)
		k := durable.Handle(jobs, "k", c.handler)
		start(t, jobs)
		id := must(k.AddAfter(t.Context(), 20*time.Millisecond, 0)) // running at once, for the database
		time.Sleep(5 * time.Millisecond)
		c.store.Shift(-50 * time.Millisecond)
		must(k.AddAfter(t.Context(), time.Hour, 0)) // whose answer has the time
		must(k.Await(t.Context(), id))
		c.begun(t)
	})
}

// A clock that is put back a little while answers take long is not taken for later than it is: nothing begins early.
func TestClockSmallStepBackOnSlowLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &chronicle{store: memory.New()}
		line := newFaulty(c.store)
		jobs := newJobs(t, line)
		k := durable.Handle(jobs, "k", c.handler)
		start(t, jobs)
		time.Sleep(5 * time.Second)
		c.store.Shift(-90 * time.Millisecond)
		// On its way there.
		line.set(func(op string) (error, error) { time.Sleep(40 * time.Millisecond); return nil, nil })
		for range 20 {
			must(k.AddAfter(t.Context(), 500*time.Millisecond, 0))
			time.Sleep(200 * time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		if n := len(c.begun(t)); n != 20 {
			t.Errorf("%d of 20 were begun", n)
		}
	})
}

// A jump of the store's clock ends no lease: runs go on, on all nodes, and each is run once and committed once.
func TestClockJumpDisturbsNoRun(t *testing.T) {
	for _, jump := range jumps {
		t.Run(jump.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &chronicle{store: memory.New()}
				var k *durable.Kind[time.Duration, int]
				for range 3 {
					jobs := newJobs(t, c.store)
					k = durable.Handle(jobs, "k", c.handler)
					start(t, jobs)
					time.Sleep(300 * time.Millisecond) // heartbeats at different moments
				}
				ids := must(k.AddAll(t.Context(), 0,
					[]time.Duration{10 * time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second,
						10 * time.Second, 10 * time.Second}))
				time.Sleep(2 * time.Second)
				c.store.Shift(jump)
				for _, id := range ids {
					must(k.Await(t.Context(), id))
					if j := must(c.store.Get(t.Context(), id)); j.Runs != 1 || j.Attempt != 1 {
						t.Errorf("job is %+v", j)
					}
				}
				c.begun(t)
			})
		})
	}
}

// A node that dies is replaced as soon as ever, although the store's clock was put back an hour just before.
func TestClockPutBackDelaysNoTakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		line := newFaulty(store)
		cut := newJobs(t, line)
		begun := make(chan struct{})
		k := durable.Handle(cut, "k", func(ctx context.Context, _ string) (string, error) {
			close(begun)
			<-ctx.Done()
			return "", ctx.Err()
		})
		start(t, cut)
		id := must(k.Add(t.Context(), ""))
		<-begun
		heir := newJobs(t, store)
		k2 := durable.Handle(heir, "k", func(context.Context, string) (string, error) { return "heir", nil })
		start(t, heir)
		time.Sleep(100 * time.Millisecond)
		line.down()
		store.Shift(-time.Hour)
		at := time.Now()
		if got := must(k2.Await(t.Context(), id)); got != "heir" {
			t.Errorf("result %q", got)
		}
		if took := time.Since(at); took > 6*time.Second {
			t.Errorf("the heir took %v", took)
		}
	})
}

// A schedule keeps its grid through jumps of the store's clock: forward, what was jumped over is coalesced; back, it
// follows the clock at once, and is due again when that shows the same times again.
func TestClockJumpKeepsGrid(t *testing.T) {
	for _, jump := range jumps[:2] {
		synctest.Test(t, func(t *testing.T) {
			c := &chronicle{store: memory.New()}
			jobs := newJobs(t, c.store)
			k := durable.Handle(jobs, "k", c.handler)
			start(t, jobs)
			must(k.AtFixedRate(t.Context(), "rate", time.Minute, time.Minute, 0))
			must(k.On(t.Context(), "cron", cron.MustParse("CRON_TZ=UTC */5 * * * *"), 0))
			time.Sleep(10*time.Minute + 30*time.Second)
			c.store.Shift(jump)
			time.Sleep(2 * time.Hour)
			c.mu.Lock()
			defer c.mu.Unlock()
			seen := make(map[string]int)
			for _, r := range c.runs {
				at := r.job.Key + r.job.Occurrence.String()
				if seen[at]++; seen[at] > 1 && (jump > 0 || seen[at] > 2) {
					t.Errorf("%s was run %d times", at, seen[at])
				}
				if r.begun.Before(r.job.Occurrence) {
					t.Errorf("%s was begun %v early", at, r.job.Occurrence.Sub(r.begun))
				}
				if r.job.Occurrence.Second() != 0 {
					t.Errorf("%s is not on the grid", at)
				}
			}
			want := 130 + 26 // two hours and ten minutes in real time
			if n := len(c.runs); n < want-2 || n > want+2 {
				t.Errorf("%d runs, want %d", n, want)
			}
		})
	}
}

// The clock of the machine may be wrong by an hour, and put right while the program runs: all times are the store's,
// also the first of a schedule, and also in a program that is no node.
func TestClockIsTheStores(t *testing.T) {
	for _, node := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			store := memory.New()
			store.Shift(90 * time.Minute)
			jobs := newJobs(t, store)
			k := durable.KindOf[int, int](jobs, "k")
			if node {
				start(t, jobs)
			}
			now := must(store.Now(t.Context()))
			id := must(k.On(t.Context(), "key", cron.MustParse("CRON_TZ=UTC 0 * * * *"), 0))
			if j, want := must(jobs.Get(t.Context(), id)), now.Truncate(time.Hour).Add(time.Hour); !j.Due.Equal(want) {
				t.Errorf("at %v it is due first at %v, want %v", now, j.Due, want)
			}
		})
	}
}

// A node keeps time by the store's clock, and is right if its own is an hour off.
func TestClockOfTheMachineDoesNotCount(t *testing.T) {
	for _, skew := range []time.Duration{time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			store := newFaulty(memory.New())
			store.skew = skew
			jobs, k, d := newNode(t, store)
			start(t, jobs)
			begun := time.Now().UTC().Round(0)
			must(k.AddAfter(t.Context(), time.Minute, ""))
			must(k.AddAt(t.Context(), begun.Add(skew+2*time.Minute), ""))
			must(k.On(t.Context(), "key", cron.MustParse("CRON_TZ=UTC */10 * * * *"), ""))
			time.Sleep(11 * time.Minute)
			d.wants(t, begun, time.Minute, 2*time.Minute, 10*time.Minute)
		})
	}
}

// No occurrence is lost that was missed before a run whose clock is put back before it begins: when its time comes
// again, each is run, or made up for and reported.
func TestClockPutBackLosesNothingMissed(t *testing.T) {
	for what, suspect := range map[string]bool{"given back": false, "while its begin is noted": true} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				line := newFaulty(store)
				heir, a := newJobs(t, line), new(account)
				k := durable.Handle(heir, "k", a.handle)
				first := time.Now()
				id := must(k.AtFixedRate(t.Context(), "key", 0, time.Minute, ""))
				time.Sleep(5*time.Minute + 30*time.Second)
				if suspect {
					cut := newFaulty(store)
					dies := newJobs(t, cut)
					durable.Handle(dies, "k", func(ctx context.Context, _ string) (string, error) {
						cut.down() // before it is noted that this has begun
						<-ctx.Done()
						return "", nil
					})
					start(t, dies)
					time.Sleep(time.Second)
				}
				line.delay("commit", 2*time.Second)
				start(t, heir)
				for {
					j := must(store.Get(t.Context(), id))
					if j.Occurrence.After(j.Due) && (j.Suspect && j.State == durable.Running || !suspect) {
						break
					}
					time.Sleep(100 * time.Millisecond)
				}
				store.Shift(-3*time.Minute - 10*time.Second)
				line.delay("commit", 0)
				time.Sleep(8 * time.Minute)
				a.mu.Lock()
				defer a.mu.Unlock()
				covered := make(map[int]bool)
				for _, run := range a.runs {
					covered[int(run.occurrence.Sub(first)/time.Minute)] = true
					for i := range run.before.Count {
						covered[int(run.before.First.Sub(first)/time.Minute)+i] = true
					}
				}
				for m := range 10 {
					if !covered[m] {
						t.Errorf("minute %d was neither run nor reported; runs are %v", m, a.runs)
					}
				}
			})
		})
	}
}
