package executor_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/executortest"
	"github.com/executor-go/executor/internal/testkit"
)

// newKeyed returns a Keyed that ends with the test.
func newKeyed[K comparable](t testing.TB, pool *executor.Pool, n int) *executor.Keyed[K] {
	t.Helper()
	k := executor.NewKeyed[K](pool, n)
	testkit.Closing(t, k.Pool())
	return k
}

// Tasks of a key run one at a time, in order; those that wait hold no worker, and other keys
// and the pool's own tasks go on.
func TestKeyedOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 3})
		hosts := newKeyed[string](t, pool, 1)
		var mu sync.Mutex
		var order []string
		for i := range 3 {
			for _, key := range []string{"a", "b"} {
				err := hosts.Go(t.Context(), key, func(context.Context) error {
					mu.Lock()
					order = append(order, fmt.Sprint(key, i))
					mu.Unlock()
					time.Sleep(time.Second)
					return nil
				})
				expect(t, "Go", err, nil)
			}
		}
		s := waitStats(t, hosts.Pool())
		expect(t, "active", s.Active, 2)
		expect(t, "queued", s.Queued, 4)
		expect(t, "queued in the pool", checkStats(t, pool).Queued, 0)
		own := false
		mustGo(t, pool, func(context.Context) error { own = true; return nil })
		synctest.Wait()
		expect(t, "the pool's own task ran", own, true)
		time.Sleep(time.Minute)
		synctest.Wait()
		got := strings.Join(slices.DeleteFunc(slices.Clone(order), func(s string) bool { return s[0] == 'b' }), " ")
		expect(t, "order of a", got, "a0 a1 a2")
		expect(t, "succeeded", waitStats(t, hosts.Pool()).Succeeded, 6)
	})
}

// After each step of a random program as many tasks run as the pool and the limit of their
// keys allow, the oldest of each key, and none other.
func TestKeyedModel(t *testing.T) {
	playRandom(t, 300, 300, func(t *testing.T, code []byte) { runKeyedProgram(t, code) })
}

func FuzzKeyed(f *testing.F) {
	f.Add([]byte{1, 0, 0, 1, 0, 1, 0, 2, 5, 0, 0, 1, 6, 1, 7, 2, 0, 0, 5, 1})
	f.Fuzz(func(t *testing.T, code []byte) {
		synctest.Test(t, func(t *testing.T) { runKeyedProgram(t, code) })
	})
}

// keyedModelTask is a task that runs until it is released.
type keyedModelTask struct {
	key     int
	future  *executor.Future[int]
	release chan struct{}
	running atomic.Bool
}

func runKeyedProgram(t *testing.T, code []byte) {
	p := newProgram(t, code)
	workers, limit := 1+p.next(4), 1+p.next(3)
	pool := newPool(t, executor.Config{Workers: workers})
	keyed := newKeyed[int](t, pool, limit)
	var live []*keyedModelTask // submitted and not over, the oldest first
	t.Cleanup(func() {
		for _, m := range live {
			close(m.release)
		}
	})
	check := func() {
		of := make(map[int]int)
		allowed, running := 0, 0
		for _, m := range live {
			n := of[m.key]
			of[m.key]++
			if n < limit {
				allowed++
			}
			if m.running.Load() {
				running++
				if n >= limit {
					t.Fatalf("the task %d of key %d runs, the limit is %d", n, m.key, limit)
				}
			}
		}
		if want := min(workers, allowed); running != want {
			t.Fatalf("%d tasks run, want %d of %d, of which %d may", running, want, len(live), allowed)
		}
		s := checkStats(t, keyed.Pool())
		expect(t, "Active", s.Active, running)
		expect(t, "Queued", s.Queued, len(live)-running)
		expect(t, "turns in the pool", checkStats(t, pool).Queued, 0)
	}
	p.play(0, func() {
		switch op := p.next(8); {
		case op < 5:
			m := &keyedModelTask{key: p.next(4), release: make(chan struct{})}
			m.future = executor.Submit(t.Context(), keyed.For(m.key), func(ctx context.Context) (int, error) {
				m.running.Store(true)
				<-m.release
				m.running.Store(false)
				return m.key, nil
			})
			live = append(live, m)
		case len(live) == 0:
		case op < 7: // end one that runs
			i := p.next(len(live))
			for range live {
				if m := live[i]; m.running.Load() {
					close(m.release)
					live = slices.Delete(live, i, i+1)
					break
				}
				i = (i + 1) % len(live)
			}
		default: // cancel one that waits
			i := p.next(len(live))
			if m := live[i]; !m.running.Load() {
				expect(t, "Cancel", m.future.Cancel(), true)
				close(m.release)
				live = slices.Delete(live, i, i+1)
			}
		}
	}, check)
}

// The end of its context takes a task out at once, with its place in the line.
func TestKeyedContextLeavesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		keyed := newKeyed[int](t, pool, 1)
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		var fs []*executor.Future[int]
		for i := range 10 {
			fs = append(fs, executor.Submit(ctx, keyed.For(i%3), value(i)))
			expect(t, "Go", keyed.Go(ctx, i, nop), nil)
		}
		expect(t, "queued", waitStats(t, keyed.Pool()).Queued, 20)
		cancel(errTask)
		synctest.Wait()
		for _, f := range fs {
			expectIs(t, "outcome", f.Err(), errTask)
		}
		expect(t, "queued after", checkStats(t, keyed.Pool()).Queued, 0)
		keyed.Pool().Close()
	})
}

// Keys that are idle leave no trace, however many there were, and also keys that equal no
// key.
func TestKeyedLeavesNothing(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 1})
	inUse := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	keyed := newKeyed[float64](t, pool, 1)
	gate := make(chan struct{})
	mustGo(t, pool, func(context.Context) error { <-gate; return nil })
	expect(t, "Go", keyed.Go(t.Context(), -1, nop), nil)
	before := inUse()
	for i := range 100_000 {
		key := float64(i)
		if i%10 == 0 {
			key = math.NaN()
		}
		expect(t, "Go", keyed.Go(context.Background(), key, nop), nil)
	}
	during := inUse()
	close(gate)
	for keyed.Pool().Stats().Ended() < 100_001 {
		runtime.Gosched()
	}
	if after := inUse(); after > before+(during-before)/50 {
		t.Errorf("%d kB more than before, with all keys %d kB", (after-before)>>10, (during-before)>>10)
	}
	runtime.KeepAlive(keyed)
}

// A failing or abrupt task does not stop its key.
func TestKeyedAbruptTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 2})
		keyed := newKeyed[string](t, pool, 1)
		for range 3 {
			keyed.Go(t.Context(), "x", func(context.Context) error { panic("oh") })
			keyed.Go(t.Context(), "x", func(context.Context) error { runtime.Goexit(); return nil })
			keyed.Go(t.Context(), "x", func(context.Context) error { return errTask }, executor.Named("n"))
			keyed.Go(t.Context(), "x", nop)
		}
		s := waitStats(t, keyed.Pool())
		expect(t, "failed", s.Failed, 9)
		expect(t, "succeeded", s.Succeeded, 3)
		expect(t, "panics", s.Panics, 3)
	})
}

// Shutdown runs what waits, ShutdownNow returns it in the order of submission; the pool
// goes on. A Keyed of a pool that is shut down is shut down.
func TestKeyedShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		keyed := newKeyed[int](t, pool, 1)
		for i := range 6 {
			keyed.Go(t.Context(), i%2, func(context.Context) error { time.Sleep(time.Second); return nil })
		}
		keyed.Pool().Shutdown()
		expectIs(t, "after Shutdown", keyed.Go(t.Context(), 1, nop), executor.ErrShutdown)
		<-keyed.Pool().Terminated()
		expect(t, "succeeded", keyed.Pool().Stats().Succeeded, 6)

		now := newKeyed[int](t, pool, 1)
		block := newBlocker(t)
		block.Fill(t, pool, 1)
		var fs []any
		for i := range 6 {
			fs = append(fs, executor.Submit(t.Context(), now.For(i%2), value(i)))
		}
		for i, d := range now.Pool().ShutdownNow() {
			expect(t, "dropped", d.Task(), fs[i])
		}
		<-now.Pool().Terminated()
		block.Release()

		pool.Close()
		late := executor.NewKeyed[int](pool, 1)
		expectIs(t, "late", late.Go(t.Context(), 1, nop), executor.ErrShutdown)
		<-late.Pool().Terminated()
	})
}

// Bad arguments panic, with the package's prefix, also a key that can't be compared.
func TestKeyedMisuse(t *testing.T) {
	pool := newPool(t, executor.Config{Workers: 1})
	keyed := newKeyed[any](t, pool, 1)
	for name, call := range map[string]func(){
		"nil pool": func() { executor.NewKeyed[int](nil, 1) },
		"n = 0":    func() { executor.NewKeyed[int](pool, 0) },
		"Go":       func() { keyed.Go(t.Context(), []int{1}, nop) },
		"For":      func() { keyed.For(map[int]int{}) },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "executor: ") {
					t.Errorf("%s: panic %q", name, text)
				}
			}()
			call()
		}()
	}
	expectIs(t, "nil function", keyed.Go(t.Context(), 1, nil), executor.ErrInvalid)
	expectIs(t, "nil task", keyed.For(1).Execute(t.Context(), nil), executor.ErrInvalid)
	expect(t, "a nil key", keyed.Go(t.Context(), nil, nop), nil)
	expectIs(t, "no option of Go", keyed.Go(t.Context(), 1, nop, executor.Times(1)), executor.ErrInvalid)
}

// A task that is submitted to the share itself waits for no key.
func TestKeyedWithoutKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 8})
		keyed := newKeyed[any](t, pool, 1)
		newBlocker(t).Fill(t, keyed.Pool(), 5)
		f := executor.Submit(t.Context(), keyed.Pool(), value(1))
		expect(t, "Go", keyed.Go(t.Context(), nil, nop), nil)
		s := waitStats(t, keyed.Pool())
		expect(t, "active", s.Active, 5)
		expect(t, "state", f.State(), executor.Succeeded)
	})
}

// While many goroutines submit for keys, cancel and shut down, tasks of a key do not
// overlap, and none is lost or runs twice.
func TestKeyedHistory(t *testing.T) {
	for _, now := range []bool{false, true} {
		pool := newPool(t, executor.Config{Workers: 4})
		keyed := newKeyed[int](t, pool, 1)
		const submitters, tasks, keys = 6, 300, 5
		var inKey [keys]atomic.Int32
		all := make([][]*record, submitters)
		var work sync.WaitGroup
		for s := range submitters {
			work.Go(func() {
				rng := rand.New(rand.NewPCG(rand.Uint64(), 0))
				for i := range tasks {
					r := &record{id: s*tasks + i}
					key := rng.IntN(keys)
					r.runnable = func(context.Context) error {
						if inKey[key].Add(1) > 1 {
							t.Errorf("two tasks of key %d run", key)
						}
						r.runs.Add(1)
						runtime.Gosched()
						inKey[key].Add(-1)
						return nil
					}
					r.future = executor.NewTask(func(ctx context.Context) (int, error) { return r.id, r.Run(ctx) })
					ctx, cancel := context.WithCancel(context.Background())
					r.rejected = keyed.For(key).Execute(ctx, r.future) != nil
					r.future.OnDone(cancel)
					switch rng.IntN(4) {
					case 0:
						r.future.Cancel()
					case 1:
						cancel()
					}
					all[s] = append(all[s], r)
				}
			})
		}
		if now {
			for range rand.IntN(3000) {
				runtime.Gosched()
			}
			pool.ShutdownNow()
		}
		work.Wait()
		pool.Close()
		s := checkStats(t, keyed.Pool())
		var ran int64
		for _, rs := range all {
			for _, r := range rs {
				n := r.runs.Load()
				ran += int64(n)
				if n > 1 || r.rejected && n > 0 || !r.future.State().Done() {
					t.Errorf("task %d, rejected %t, ran %d times: %v", r.id, r.rejected, n, r.future)
				}
			}
		}
		expect(t, "runs", s.Runs, ran)
	}
}

// The Executor of a key passes the suites.
func TestKeyedSuites(t *testing.T) {
	for _, n := range []int{1, 100} {
		make := func(t *testing.T) executor.Executor {
			pool := executor.Fixed(4)
			t.Cleanup(pool.Close)
			return executor.NewKeyed[string](pool, n).For("key")
		}
		executortest.TestExecutor(t, make)
		executortest.TestFuture(t, make)
	}
}

// The bound and the policy of the pool hold for its keys, whatever key the tasks have: of those that wait, only as many
// go beyond the limit of the queue as a free worker takes at once.
func TestKeyedBound(t *testing.T) {
	for name, c := range map[string]struct {
		with     []func(*executor.ShareConfig)
		one, all int // tasks of one key, and of a key each, that are taken
	}{
		"the pool's": {nil, 1 + 4, 2 + 4},
		"its own":    {[]func(*executor.ShareConfig){func(c *executor.ShareConfig) { c.Queue = executor.Bounded(9) }}, 1 + 9, 2 + 9},
		"none":       {[]func(*executor.ShareConfig){func(c *executor.ShareConfig) { c.Queue = executor.Unbounded() }}, 100, 100},
		"no room":    {[]func(*executor.ShareConfig){func(c *executor.ShareConfig) { c.Queue = executor.Handoff() }}, 1, 2},
		"a limit":    {[]func(*executor.ShareConfig){func(c *executor.ShareConfig) { c.Limit = 1 }}, 1 + 4, 1 + 4},
		"a rate": {[]func(*executor.ShareConfig){func(c *executor.ShareConfig) {
			c.Rate = executor.Rate{PerSecond: 0.001}
		}}, 1 + 4, 1 + 4},
	} {
		for keys, want := range map[int]int{1: c.one, 100: c.all} {
			synctest.Test(t, func(t *testing.T) {
				const patience = 50 * time.Millisecond
				pool := newPool(t, executor.Config{Workers: 2, Queue: executor.Bounded(4), Reject: executor.BlockFor(patience)})
				keyed := executor.NewKeyed[int](pool, 1, c.with...)
				block := make(chan struct{})
				taken, start := 0, time.Now()
				for i := range 100 {
					err := keyed.Go(t.Context(), i%keys, func(context.Context) error { <-block; return nil })
					if err == nil {
						taken++
					} else {
						expectIs(t, name, err, executor.ErrSaturated)
					}
				}
				expect(t, fmt.Sprintf("%s: taken of %d keys", name, keys), taken, want)
				expect(t, name+": the time of the refusals", time.Since(start), time.Duration(100-want)*patience)
				checkStats(t, keyed.Pool())
				close(block)
			})
		}
	}
}

// Submitters that wait for room get it in the order of each key, and one whose key is taken keeps no other from it.
func TestKeyedBlockedKeepOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 2, Queue: executor.Bounded(1), Reject: executor.Block})
		keyed := newKeyed[string](t, pool, 1)
		var order []string
		block := make(chan struct{})
		submit := func(key string, i int) {
			go keyed.Go(t.Context(), key, func(context.Context) error {
				order = append(order, fmt.Sprint(key, i))
				if key == "a" {
					<-block
				}
				time.Sleep(time.Second)
				return nil
			})
			synctest.Wait()
		}
		for i := range 4 { // one runs, one waits, two wait for room
			submit("a", i)
		}
		for i := range 3 {
			submit("b", i)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		expect(t, "of another key", strings.Join(order, " "), "a0 b0 b1 b2")
		expect(t, "blocked", checkStats(t, keyed.Pool()).Blocked, 2)
		close(block)
		time.Sleep(time.Minute)
		synctest.Wait()
		expect(t, "order", strings.Join(order, " "), "a0 b0 b1 b2 a1 a2 a3")
	})
}

// The policies keep what a Keyed promises: CallerRuns does not run tasks of a key beside each other, and DiscardOldest
// finds one that waits for its key.
func TestKeyedPolicies(t *testing.T) {
	for name, c := range map[string]struct {
		policy executor.RejectPolicy
		err    error
		first  executor.State // of those that wait
	}{
		"CallerRuns":    {executor.CallerRuns, executor.ErrSaturated, executor.Pending},
		"DiscardOldest": {executor.DiscardOldest, nil, executor.Failed},
		"Discard":       {executor.Discard, nil, executor.Pending},
	} {
		synctest.Test(t, func(t *testing.T) {
			pool := newPool(t, executor.Config{Workers: 2, Queue: executor.Bounded(2), Reject: c.policy})
			keyed := newKeyed[string](t, pool, 1)
			block := newBlocker(t)
			expect(t, "Go", keyed.Go(t.Context(), "k", block.Run), nil)
			synctest.Wait()
			first := executor.Submit(t.Context(), keyed.For("k"), value(1))
			executor.Submit(t.Context(), keyed.For("k"), value(2))
			ran := false
			expectIs(t, name, keyed.Go(t.Context(), "k", func(context.Context) error { ran = true; return nil }), c.err)
			expect(t, name+": ran", ran, false)
			expect(t, name+": the first", first.State(), c.first)
			s := checkStats(t, keyed.Pool())
			expect(t, name+": rejected", s.Rejected, 1)
			expect(t, name+": queued", s.Queued, 2)
			block.Release()
		})
	}
}

// A policy of the user's that leaves a task to one of this package leaves its key to it, too: the tasks of a key do not
// overlap.
func TestKeyedRejectFuncKeepsKey(t *testing.T) {
	for name, c := range map[string]struct {
		policy executor.RejectPolicy
		ran    int
	}{
		"Block":         {executor.Block, 4},
		"DiscardOldest": {executor.DiscardOldest, 2},
	} {
		for _, observer := range []*executor.Observer{nil, {Every: 1}} { // with the latter, what is queued is measured
			synctest.Test(t, func(t *testing.T) {
				pool := newPool(t, executor.Config{Workers: 4, Observer: observer})
				keyed := executor.NewKeyed[string](pool, 1, func(s *executor.ShareConfig) {
					s.Queue, s.Reject = executor.Bounded(1), executor.RejectFunc(c.policy.Reject)
				})
				var running, most, ran atomic.Int32
				for range 4 {
					go keyed.Go(t.Context(), "k", func(context.Context) error {
						most.Store(max(most.Load(), running.Add(1)))
						time.Sleep(time.Second)
						running.Add(-1)
						ran.Add(1)
						return nil
					})
					synctest.Wait()
				}
				time.Sleep(time.Minute)
				expect(t, name+": most at once", most.Load(), 1)
				expect(t, name+": ran", int(ran.Load()), c.ran)
				checkStats(t, keyed.Pool())
			})
		}
	}
}

// Of two tasks that a policy of the user's decides about at the same time each keeps its own key, though both are the same
// function.
func TestKeyedRejectFuncTellsTasksApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 4})
		first := true
		keyed := executor.NewKeyed[string](pool, 1, func(s *executor.ShareConfig) {
			s.Queue = executor.Bounded(1)
			s.Reject = executor.RejectFunc(func(ctx context.Context, task executor.Runnable, pool *executor.Pool) error {
				if first {
					first = false
					time.Sleep(2 * time.Minute)
				}
				return executor.Block.Reject(ctx, task, pool)
			})
		})
		d, begin := new(diary), time.Now()
		submit := func(key string, takes time.Duration) {
			go keyed.Go(context.Background(), key, func(context.Context) error {
				d.note(fmt.Sprint(key, " ", time.Since(begin)))
				time.Sleep(takes)
				return nil
			})
			synctest.Wait()
		}
		submit("a", time.Hour)
		submit("b", time.Minute)
		submit("a", time.Minute) // waits
		submit("a", time.Minute) // is refused, as the next
		submit("b", time.Minute)
		time.Sleep(3 * time.Hour)
		expect(t, "begun", d.String(), "a 0s b 0s b 1m0s a 1h0m0s a 1h1m0s")
	})
}

// For the functions of a group in a task there is room among the tasks of a key, too, however small the queue is.
func TestKeyedGroupInTaskHasRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, executor.Config{Workers: 1})
		keyed := executor.NewKeyed[int](pool, 1, func(c *executor.ShareConfig) { c.Queue = executor.Bounded(1) })
		var ran atomic.Int32
		f := executor.Submit(t.Context(), keyed.For(1), func(ctx context.Context) (int, error) {
			g := executor.NewGroup(ctx, keyed.For(2))
			for range 10 {
				g.Go(func(context.Context) error { time.Sleep(time.Second); ran.Add(1); return nil })
			}
			return 0, g.Wait()
		})
		expect(t, "outcome", f.Wait(t.Context()), nil)
		expect(t, "ran", ran.Load(), 10)
		checkStats(t, keyed.Pool())
	})
}
