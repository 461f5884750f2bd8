package durable_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// whereRun makes programs that serve these queues each, and note where their jobs ran: by the payload, the Config.Name.
func whereRun(t *testing.T, store durable.Store, queues map[string][]string) func() map[string]string {
	type run struct{ payload, name string }
	runs := make(chan run, 1000)
	for name, served := range queues {
		jobs := newJobs(t, store, func(c *durable.Config) { c.Name, c.Queues = name, served })
		durable.Handle(jobs, "k", func(ctx context.Context, payload string) (string, error) {
			runs <- run{payload, name}
			return "", nil
		})
		start(t, jobs)
	}
	all := make(map[string]string)
	return func() map[string]string {
		for len(runs) > 0 {
			r := <-runs
			all[r.payload] += r.name
		}
		return all
	}
}

// A job in a queue runs on a node that serves it, however it comes to that; and one in none where that is served.
func TestQueueRunsOnNodesThatServeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		where := whereRun(t, store, map[string][]string{"a": nil, "b": {"gpu"}, "c": {"gpu", durable.DefaultQueue, "gpu", "disk"}})
		jobs := newJobs(t, store)
		k := durable.KindOf[string, string](jobs, "k")
		for _, delay := range []time.Duration{0, 500 * time.Millisecond, time.Hour} {
			for _, queue := range []string{"gpu", "disk"} {
				must(k.AddAfter(t.Context(), delay, queue+delay.String(), durable.Queue(queue)))
			}
			must(k.AddAfter(t.Context(), delay, "none"+delay.String()))
		}
		must(k.AtFixedRate(t.Context(), "rate", time.Second, 2*time.Hour, "disk rate", durable.Queue("disk")))
		time.Sleep(90 * time.Minute)
		if n := len(where()); n != 10 {
			t.Errorf("%d of 10 have run", n)
		}
		for payload, name := range where() {
			ok := map[string]string{"gpu": "bc", "dis": "c", "non": "ac"}[payload[:3]]
			if len(name) != 1 || !strings.Contains(ok, name) {
				t.Errorf("%s ran on %s", payload, name)
			}
		}
	})
}

// A job in a queue that a node adds itself, and does not serve, does not begin there.
func TestQueueKeepsJobsFromTheNodeThatAddsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", d.handler)
		start(t, jobs)
		time.Sleep(time.Second)
		id := must(k.Add(t.Context(), "", durable.Queue("elsewhere")))
		time.Sleep(time.Hour)
		if job := must(jobs.Get(t.Context(), id)); d.count() != 0 || job.State != durable.Waiting || job.Queue != "elsewhere" {
			t.Errorf("it began %d times, and is %+v", d.count(), job)
		}
	})
}

// A node takes the jobs of queues that it is told to serve while it runs, and reports them; of those that it does not
// serve any more it gives back what has not begun, and lets go on what has.
func TestSetQueuesChangesWhatANodeTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var d diary
		node := newJobs(t, store, func(c *durable.Config) {
			c.Executor = executor.Scheduled(1)
			t.Cleanup(c.Executor.Close)
		})
		k := durable.Handle(node, "k", func(ctx context.Context, payload string) (string, error) {
			time.Sleep(10 * time.Second)
			return d.handler(ctx, payload)
		})
		must(0, node.SetQueues("b", "a", "b")) // before Run
		start(t, node)
		operator := newJobs(t, store)
		begun := must(k.Add(t.Context(), "begun", durable.Queue("a")))
		waits := must(k.Add(t.Context(), "waits", durable.Queue("b")))
		other := must(k.Add(t.Context(), "other", durable.Queue("c")))
		none := must(k.Add(t.Context(), "none"))
		time.Sleep(2 * time.Second)
		served := func() []string { return must(operator.Nodes(t.Context()))[0].Queues }
		if got := served(); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("the node serves %q", got)
		}
		must(0, node.SetQueues("c"))
		time.Sleep(15 * time.Second)
		if got := served(); !slices.Equal(got, []string{"c"}) {
			t.Errorf("the node serves %q", got)
		}
		must(k.Await(t.Context(), begun))
		must(k.Await(t.Context(), other))
		time.Sleep(time.Hour)
		for _, id := range []durable.ID{waits, none} {
			if job := must(operator.Get(t.Context(), id)); job.State != durable.Waiting || job.Attempt != 0 {
				t.Errorf("a job of another queue is %+v", job)
			}
		}
		must(0, node.SetQueues()) // the default queue
		must(k.Await(t.Context(), none))
		if got := served(); d.count() != 3 || got != nil {
			t.Errorf("%d have run, and the node serves %q", d.count(), got)
		}
	})
}

// Queues says which queues have jobs that wait, and how many nodes serve them; a queue that no node serves is in the
// log, once.
func TestJobsQueuesNamesThoseThatNobodyServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var log logLines
		for _, queues := range [][]string{nil, {"a"}, {"a", "b"}} {
			jobs := newJobs(t, store, func(c *durable.Config) {
				c.Queues = queues
				if queues == nil {
					c.Logger = log.logger()
				}
			})
			durable.Handle(jobs, "k", func(context.Context, string) (string, error) { return "", nil })
			start(t, jobs)
		}
		jobs := newJobs(t, store)
		k := durable.KindOf[string, string](jobs, "k")
		id := must(k.Add(t.Context(), "", durable.Queue("gone")))
		must(k.AddAfter(t.Context(), time.Hour, "", durable.Queue("a")))
		must(k.AddAfter(t.Context(), time.Hour, "", durable.Queue("a")))
		time.Sleep(10 * time.Minute)
		due := func(id durable.ID) time.Time { return must(jobs.Get(t.Context(), id)).Due }
		first := must(jobs.List(t.Context(), durable.Filter{Queue: "a"}))[0]
		want := []durable.QueueInfo{{Name: "a", Jobs: 2, Due: first.Due, Nodes: 2}, {Name: "b", Nodes: 1}, {Name: "gone", Jobs: 1, Due: due(id)}}
		if got := must(jobs.Queues(t.Context())); !slices.Equal(got, want) {
			t.Errorf("queues are %+v, want %+v", got, want)
		}
		if n := log.count("jobs wait in a queue that no node serves"); n != 1 {
			t.Errorf("the log says %d times that nobody serves a queue", n)
		}
	})
}

// A queue whose only node drains is one that nobody serves: that is in the log.
func TestDrainNodeLeavesItsQueueUnserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var log logLines
		jobs := newJobs(t, store, func(c *durable.Config) { c.Queues, c.Logger = []string{"a"}, log.logger() })
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) { return "", nil })
		start(t, jobs)
		name := must(jobs.Nodes(t.Context()))[0].Name
		must(0, jobs.DrainNode(t.Context(), name))
		must(k.Add(t.Context(), "", durable.Queue("a")))
		time.Sleep(10 * time.Minute)
		if n := log.count("jobs wait in a queue that no node serves"); n != 1 {
			t.Errorf("the log says %d times that nobody serves the queue", n)
		}
	})
}

// A node does not count what waits in queues that are served, nor where it has warned already: it asks for the names.
func TestNodeCountsNoServedQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := make(map[string]int)
		var mu sync.Mutex
		jobs := newJobs(t, memory.New(), func(c *durable.Config) {
			c.Queues = []string{"served"}
			c.Hooks.Call = func(op string, _ time.Duration, _ error) {
				mu.Lock()
				defer mu.Unlock()
				calls[op]++
			}
		})
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) { return "", nil })
		start(t, jobs)
		must(k.AddAfter(t.Context(), 48*time.Hour, "", durable.Queue("served")))
		counted := func() int {
			time.Sleep(time.Hour)
			synctest.Wait()
			return calls["queue_counts"]
		}
		if n := counted(); n > 0 || calls["queue_names"] < 40 {
			t.Errorf("calls: %v", calls)
		}
		must(k.Add(t.Context(), "", durable.Queue("other")))
		if n := counted(); n < 1 || n > 5 {
			t.Errorf("with a queue that no node serves: %v", calls)
		}
	})
}

// A node that is seen to drain, and to have no job, begins none, though it has not heard of the drain yet.
func TestDrainNodeHasDrainedWhenItHasNoJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, k, d := newNode(t, memory.New())
		start(t, jobs)
		time.Sleep(time.Second)
		name := must(jobs.Nodes(t.Context()))[0].Name
		must(0, jobs.DrainNode(t.Context(), name))
		if n := must(jobs.Nodes(t.Context()))[0]; !n.Draining || n.Jobs != 0 {
			t.Errorf("the node is %+v", n)
		}
		must(k.Add(t.Context(), ""))
		time.Sleep(time.Minute)
		synctest.Wait()
		if d.count() != 0 {
			t.Error("a node that had drained has begun a job")
		}
	})
}

// What can't be in a queue, or is none, is an error that says so.
func TestQueueDeclinesMistakes(t *testing.T) {
	jobs := newJobs(t, memory.New())
	k := durable.KindOf[string, string](jobs, "k")
	for what, opts := range map[string][]durable.Option{
		"empty":     {durable.Queue("")},
		"long":      {durable.Queue(strings.Repeat("q", durable.MaxKind+1))},
		"control":   {durable.Queue("a\nb")},
		"partition": {durable.Queue("q"), durable.Partition("p")},
	} {
		if _, err := k.Add(t.Context(), "", opts...); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := durable.New(durable.Config{Store: memory.New(), Queues: []string{"a\nb"}}); !errors.Is(err, executor.ErrInvalid) {
		t.Error(err)
	}
	if err := jobs.SetQueues("a\nb"); !errors.Is(err, executor.ErrInvalid) {
		t.Error(err)
	}
	bare := struct{ durablestore.Store }{memory.New()} // with nothing but what a node needs
	if err := must(durable.New(durable.Config{Store: bare})).SetQueues("q"); !errors.Is(err, executor.ErrInvalid) {
		t.Error(err)
	}
	if _, err := durable.New(durable.Config{Store: bare, Queues: []string{"q"}}); !errors.Is(err, executor.ErrInvalid) {
		t.Error(err)
	}
	k = durable.KindOf[string, string](must(durable.New(durable.Config{Store: bare})), "k")
	if _, err := k.Add(t.Context(), "", durable.Queue("q")); !errors.Is(err, executor.ErrInvalid) {
		t.Error(err)
	}
}

// A node that is asked to drain, from another program, finishes what runs, gives back what has not begun, and takes
// nothing, also when it was declared dead meanwhile; others run it. When it is asked to, it takes jobs again.
func TestDrainNodeTakesNothingNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var d diary
		worker := newJobs(t, store, func(c *durable.Config) {
			c.Executor = executor.Scheduled(1)
			t.Cleanup(c.Executor.Close)
		})
		k := durable.Handle(worker, "k", func(ctx context.Context, payload string) (string, error) {
			time.Sleep(10 * time.Second)
			return d.handler(ctx, payload)
		})
		start(t, worker)
		operator := newJobs(t, store)
		running := must(k.Add(t.Context(), "running"))
		waits := must(k.Add(t.Context(), "waits"))
		time.Sleep(2 * time.Second)
		node := func() durable.NodeInfo { return must(operator.Nodes(t.Context()))[0] }
		name := node().Name
		must(0, operator.DrainNode(t.Context(), name))
		time.Sleep(time.Second)
		if s, _ := worker.Node(); !node().Draining || !s.Draining || node().Jobs != 1 {
			t.Errorf("the node is %+v, and in its program %+v", node(), s)
		}
		must(k.Await(t.Context(), running))
		must(k.Add(t.Context(), "added here"))
		time.Sleep(time.Minute)
		if job := must(operator.Get(t.Context(), waits)); d.count() != 1 || job.State != durable.Waiting || job.Attempt != 0 || node().Jobs != 0 {
			t.Fatalf("%d have run, and what waited is %+v", d.count(), job)
		}
		must(0, store.Leave(t.Context(), name)) // it is declared dead
		time.Sleep(10 * time.Second)
		if again := node(); again.Name == name || !again.Draining || d.count() != 1 {
			t.Errorf("it has joined again as %+v, and %d have run", again, d.count())
		}
		must(0, operator.UndrainNode(t.Context(), node().Name))
		must(k.Await(t.Context(), waits))
		if node().Draining {
			t.Error("it still drains")
		}
		if err := operator.DrainNode(t.Context(), name); !errors.Is(err, durable.ErrNoNode) {
			t.Error(err)
		}
		if err := operator.UndrainNode(t.Context(), "a\nb"); !errors.Is(err, durable.ErrNoNode) {
			t.Error(err)
		}
	})
}

// A run that is about to begin, while its trigger still says for which time or the store notes the begin, does not begin
// on a node that does not take it any more.
func TestNodeGivesBackWhatIsAboutToBegin(t *testing.T) {
	for name, leave := range map[string]func(operator, worker *durable.Jobs, stop func()) error{
		"drained": func(operator, _ *durable.Jobs, _ func()) error {
			err := operator.DrainNode(t.Context(), must(operator.Nodes(t.Context()))[0].Name)
			time.Sleep(time.Second) // a heartbeat tells it
			return err
		},
		"not served": func(_, worker *durable.Jobs, _ func()) error { return worker.SetQueues("others") },
		"paused":     func(_, worker *durable.Jobs, _ func()) error { return worker.PauseKind(t.Context(), "k") },
		"stopped":    func(_, _ *durable.Jobs, stop func()) error { stop(); return nil },
	} {
		for _, job := range []string{"due", "missed", "suspect"} {
			t.Run(name+", "+job, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := memory.New()
					line := newFaulty(store)
					var slow atomic.Bool
					worker, k, d := newNode(t, line, func(c *durable.Config) {
						c.Queues = []string{"a"}
						c.Triggers = map[string]executor.Trigger{"hourly": hourly{&slow}}
					})
					id := must(k.On(t.Context(), "key", durable.NamedTrigger("hourly"), "", durable.Queue("a")))
					time.Sleep(time.Hour)
					switch job {
					case "missed":
						time.Sleep(90 * time.Minute)
					case "suspect":
						must(store.Join(t.Context(), "lost", time.Second))
						must(store.ClaimQueue(t.Context(), "a", durablestore.ClaimRequest{Node: "lost", Limit: 1,
							Kinds: []durablestore.KindLimit{{Kind: "k", Max: 1}}}))
						time.Sleep(2 * time.Second)
						must(store.Join(t.Context(), "other", time.Second))
						must(store.Heartbeat(t.Context(), "other", time.Second, durablestore.Watch{}))
						must(0, store.Leave(t.Context(), "other"))
						line.delay("commit", 2*time.Second)
					}
					slow.Store(job != "suspect")
					stop := start(t, worker)
					time.Sleep(500 * time.Millisecond)
					if held := worker.Held(); len(held) != 1 || held[0].Phase != durable.PhaseRunning {
						t.Fatalf("the node has %+v", held)
					}
					must(0, leave(newJobs(t, store), worker, stop))
					time.Sleep(time.Minute)
					if job := must(worker.Get(t.Context(), id)); d.count() != 0 || job.State != durable.Waiting || job.Attempt != 0 || job.Runs != 0 {
						t.Errorf("after %d runs the job is %+v", d.count(), job)
					}
				})
			})
		}
	}
}

// Jobs of a queue that nobody serves any more are moved to one that is served, all at once.
func TestMoveTakesJobsToAnotherQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, k, d := newNode(t, memory.New())
		start(t, jobs)
		for range 20 {
			must(k.Add(t.Context(), "", durable.Queue("gone")))
		}
		one := must(jobs.List(t.Context(), durable.Filter{Queue: "gone"}))[0]
		if a := must(jobs.Move(t.Context(), one.ID, "elsewhere")); a != durable.Applied {
			t.Errorf("the answer is %v", a)
		}
		done := must(jobs.ChangeAll(t.Context(), durable.Change{Op: durable.OpMove}, durable.Filter{Queue: "gone"}))
		time.Sleep(time.Minute)
		if done.Applied != 19 || d.count() != 19 {
			t.Errorf("moved %+v, and %d have run", done, d.count())
		}
		if _, err := jobs.Move(t.Context(), one.ID, "a\nb"); !errors.Is(err, executor.ErrInvalid) {
			t.Error(err)
		}
		if _, err := jobs.ChangeAll(t.Context(), durable.Change{Op: durable.OpMove, Queue: "a\nb"}, durable.Filter{}); !errors.Is(err, executor.ErrInvalid) {
			t.Error(err)
		}
	})
}

// Whatever goes wrong between three nodes and the store, and while nodes are asked to drain and to go on, each job runs
// on a node that serves its queue; and nothing is lost, nor committed twice.
func TestHistoryOfQueues(t *testing.T) {
	served := [][]string{{durable.DefaultQueue, "a"}, {"a", "b"}, {durable.DefaultQueue, "b"}}
	drained, lost := 0, 0
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				c := &crowd{running: make(map[int]context.Context)}
				operator := newJobs(t, store)
				each := func(do func(n durable.NodeInfo) error) {
					for _, n := range must(operator.Nodes(t.Context())) {
						if err := do(n); err != nil && !errors.Is(err, durable.ErrNoNode) {
							t.Error(err)
						}
					}
				}
				m := mob{store: store, seed: seed, jobs: 300, pause: 300 * time.Millisecond, work: time.Second,
					limits: []durable.HandlerOption{durable.GlobalLimit(20)},
					nodes:  func(i int, c *durable.Config) { c.Queues = served[i] },
					options: func(r *rand.Rand) []durable.Option {
						if queue := []string{"", "a", "b"}[r.IntN(3)]; queue != "" {
							return []durable.Option{durable.Queue(queue)}
						}
						return nil
					},
					enter: func(node int, ctx context.Context) (leave func()) {
						if j, _ := durable.Current(ctx); !slices.Contains(served[node], j.Queue) {
							t.Errorf("node %d runs a job of queue %q", node, j.Queue)
						}
						return c.enter(ctx)
					}}
				added := 0
				m.between = func(r *rand.Rand) {
					if added++; added == m.jobs { // in the end all nodes go on
						each(func(n durable.NodeInfo) error { return operator.UndrainNode(t.Context(), n.Name) })
					} else if added%10 == 0 {
						each(func(n durable.NodeInfo) error {
							if r.IntN(3) == 0 {
								drained++
								return operator.DrainNode(t.Context(), n.Name)
							}
							return operator.UndrainNode(t.Context(), n.Name)
						})
					}
				}
				go func() { // one that has joined again meanwhile drains under its new name
					for range 10 {
						time.Sleep(time.Minute)
						each(func(n durable.NodeInfo) error { return operator.UndrainNode(t.Context(), n.Name) })
					}
				}()
				m.run(t)
				c.mu.Lock()
				defer c.mu.Unlock()
				lost += m.lost(t, c.starts)
				if n := len(must(operator.List(t.Context(), durable.Filter{States: []durable.State{durable.Succeeded}, Limit: 1000}))); n != m.jobs {
					t.Errorf("%d of %d have succeeded", n, m.jobs)
				}
			})
		})
	}
	if drained == 0 || lost == 0 {
		t.Errorf("%d drains, and %d runs were lost: too quiet to prove anything", drained, lost)
	}
}
