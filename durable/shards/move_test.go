package shards_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/shards"
	"github.com/executor-go/executor/durable/store"
)

// A ledger notes the runs of jobs.
type ledger struct {
	mu   sync.Mutex
	runs map[string]int
}

func (l *ledger) note(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs == nil {
		l.runs = make(map[string]int)
	}
	l.runs[what]++
}

func (l *ledger) of(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.runs[what]
}

// While jobs are added and run, a store is added and one is emptied: each job runs once, each occurrence of a schedule
// too, a key stays unique, and what was added before is found.
func TestShardsSpreadWhileJobsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b", "c")
		c.owned(c.program(nil))
		c.stores["d"] = &flaky{Store: memory.New()}
		var l ledger
		s, ctx := c.program(nil), t.Context()
		var programs [2]*shards.Shards
		for i := range programs {
			programs[i] = c.program(nil)
			shards.Handle(programs[i], "k", func(ctx context.Context, p string) (string, error) {
				l.note(p)
				time.Sleep(3 * time.Millisecond)
				return p, nil
			})
			shards.Handle(programs[i], "every", func(ctx context.Context, p string) (string, error) {
				j, _ := durable.Current(ctx)
				l.note(p + " at " + j.Occurrence.String())
				l.note(p)
				time.Sleep(50 * time.Millisecond)
				return p, nil
			})
			defer c.run(programs[i])()
		}
		k, every := shards.KindOf[string, string](s, "k"), shards.KindOf[string, string](s, "every")
		for i := range 20 {
			must(every.AtFixedRate(ctx, fmt.Sprint("every ", i), 0, 100*time.Millisecond, fmt.Sprint("every ", i), durable.OnMissed(durable.CatchUp(1000))))
		}
		begun := time.Now()
		type job struct {
			id   durable.ID
			name string
		}
		stop, added := make(chan struct{}), make(chan []job)
		go func() {
			var jobs []job
			for i := 0; ; i++ {
				select {
				case <-stop:
					added <- jobs
					return
				default:
				}
				name := fmt.Sprint("job ", i)
				var opts []durable.Option
				if i%3 == 0 {
					opts = append(opts, durable.Key(name))
				}
				id, err := k.AddAfter(ctx, time.Duration(i%7)*time.Second, name, opts...)
				if err != nil {
					t.Error(name, err)
				}
				if again, err := k.Add(ctx, name, opts...); i%3 == 0 && (err != nil || again != id) {
					t.Errorf("%s has ID %v, and by its key %v, %v", name, id, again, err)
				} else if i%3 != 0 {
					jobs = append(jobs, job{again, name})
				}
				jobs = append(jobs, job{id, name})
				time.Sleep(10 * time.Millisecond)
			}
		}()
		awaited := make(chan error, 20)
		for range 20 { // they are moved meanwhile, from whichever store
			late := must(k.AddAfter(ctx, time.Minute, "late"))
			go func() {
				_, err := k.Await(ctx, late)
				awaited <- err
			}()
		}
		if n := c.owned(s); n["d"] != 0 || n["a"] != 1365 {
			t.Errorf("before there are %v", n)
		}
		must(0, s.Spread(ctx, "a", "b", "c", "d"))
		if n := c.owned(s); n["d"] != 1024 || n["a"] != 1024 {
			t.Errorf("with four stores there are %v", n)
		}
		must(0, s.Spread(ctx, "b", "c", "d"))
		must(0, s.Move(ctx, shards.Range(0, shards.Number), "c"))
		must(0, s.Spread(ctx, "b", "c", "d"))
		for range 20 {
			must(0, <-awaited)
		}
		if n := c.owned(s); n["a"] != 0 || n["b"] < 1365 {
			t.Errorf("without one there are %v", n)
		}
		close(stop)
		jobs := <-added
		for _, j := range jobs {
			if r := must(k.Await(ctx, j.id)); r != j.name {
				t.Errorf("%s has the result %q", j.name, r)
			}
		}
		for _, j := range jobs {
			var n int
			fmt.Sscanf(j.name, "job %d", &n)
			want := 2 // it was added twice, without a key
			if n%3 == 0 {
				want = 1
			}
			if got := l.of(j.name); got != want {
				t.Fatalf("%s, %v, has run %d times, want %d", j.name, j.id, got, want)
			}
		}
		if left := c.here("a"); len(left) > 0 {
			t.Errorf("the store that is left out has %d jobs: %v", len(left), texts(left))
		}
		time.Sleep(time.Second)
		due := int(time.Since(begun) / (100 * time.Millisecond))
		for i := range 20 {
			if n := l.of(fmt.Sprint("every ", i)); n < due-30 || n > due+1 {
				t.Errorf("schedule %d has run %d times in %d periods", i, n, due)
			}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		for what, n := range l.runs {
			if strings.Contains(what, " at ") && n != 1 {
				t.Errorf("%s has run %d times", what, n)
			}
		}
	})
}

// What is moved is as it was: steps, signals, history, pauses with an end, and the runs of a schedule with OnOverlap.
func TestMoveKeepsJobsAsTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b")
		s, ctx := c.program(nil), t.Context()
		c.owned(s)
		var calls ledger
		handler := func(result string) func(context.Context, string) (string, error) {
			return func(ctx context.Context, p string) (string, error) {
				one, err := durable.Step(ctx, "one", func(context.Context) (string, error) { calls.note(p); return result, nil })
				if err != nil {
					return "", err
				}
				got, err := durable.Wait[string](ctx, "go")
				return one + got, err
			}
		}
		k := shards.Handle(s, "k", handler("1"))
		fires := shards.Handle(s, "fires", func(context.Context, string) (string, error) { return "", nil })
		stop := c.run(s)
		var ids []durable.ID
		for i := range 10 {
			ids = append(ids, must(k.Add(ctx, fmt.Sprint(i), durable.Key(fmt.Sprint("k", i)), durable.WithTags("t"))))
		}
		must(fires.AtFixedRate(ctx, "fires", 0, time.Second, "", durable.OnOverlap(durable.OverlapSkip()), durable.KeepRuns(5)))
		time.Sleep(10 * time.Second)
		stop()
		for _, id := range ids[:5] {
			j, _, err := s.Of(ctx, id)
			must(j, err)
			must(j.PauseUntil(ctx, id, time.Now().Add(time.Hour)))
		}
		state := func() map[string]any {
			all := make(map[string]any)
			for _, j := range must(s.List(ctx, durable.Filter{Limit: 1000})) {
				of, _, err := s.Of(ctx, j.ID)
				must(of, err)
				j.Epoch, j.Updated = 0, time.Time{} // others if it was paused for the move
				all[j.ID.String()] = []any{j, must(of.Steps(ctx, j.ID)), must(of.History(ctx, j.ID, 0, 100)), must(of.PausedUntil(ctx, j.ID))}
			}
			return all
		}
		before := state()
		must(0, s.Spread(ctx, "b"))
		if after := state(); !reflect.DeepEqual(before, after) || len(after) < 20 {
			t.Errorf("%d jobs were there, and %d are, or one is another", len(before), len(after))
		}
		if left := c.here("a"); len(left) > 0 {
			t.Errorf("%d jobs are left: %v", len(left), texts(left))
		}
		then := c.program(nil)
		goesOn := shards.Handle(then, "k", handler("2"))
		shards.Handle(then, "fires", func(context.Context, string) (string, error) { return "", nil })
		defer c.run(then)()
		for i, id := range ids {
			of, _, err := then.Of(ctx, id)
			must(of, err)
			must(of.Signal(ctx, id, "go", "!"))
			if r := must(goesOn.Await(ctx, id)); r != "1!" || calls.of(fmt.Sprint(i)) != 1 {
				t.Errorf("job %d has the result %q, and its step has run %d times", i, r, calls.of(fmt.Sprint(i)))
			}
		}
		time.Sleep(10 * time.Second)
		_, j, err := then.Find(ctx, "fires")
		if of, ok := durable.ScheduleOf(j); err != nil || !ok || of.Number < 15 {
			t.Errorf("the schedule goes on as %+v, %v", of, err)
		}
	})
}

// A job that runs is moved when its run has ended; one with a family is left and found there, and waited for if it has a
// key.
func TestMoveWaitsForWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b")
		s, ctx := c.program(nil), t.Context()
		c.owned(s)
		open := make(chan struct{})
		k := shards.Handle(s, "k", func(context.Context, string) (string, error) { <-open; return "done", nil })
		defer c.run(s)()
		var runs durable.ID
		for i := 0; len(c.here("a")) == 0; i++ {
			runs = must(k.Add(ctx, "", durable.Key(fmt.Sprint(i))))
		}
		family := "family"
		for shards.ByShard(family) >= shards.Number/2 { // which the other store has
			family += "'"
		}
		parent := must(k.By(family).AddAfter(ctx, time.Minute, ""))
		child := must(k.By(family).Add(ctx, "", durable.After(parent)))
		keyed := must(k.By(family).Add(ctx, "", durable.After(parent), durable.Key("child")))
		time.Sleep(time.Second)
		moved := make(chan error, 1)
		begun := time.Now()
		go func() { moved <- s.Spread(ctx, "b") }()
		time.Sleep(30 * time.Second)
		select {
		case err := <-moved:
			t.Fatalf("it has ended with a job that runs: %v", err)
		default:
		}
		close(open)
		if err := <-moved; err != nil || time.Since(begun) < time.Minute-2*time.Second || time.Since(begun) > time.Minute+5*time.Second {
			t.Errorf("moved: %v after %v, while a job with a key waited for its parent for a minute", err, time.Since(begun))
		}
		for _, id := range []durable.ID{runs, parent, child, keyed} {
			if r := must(k.Await(ctx, id)); r != "done" {
				t.Errorf("the result is %q", r)
			}
		}
		if of, _, _ := s.Of(ctx, runs); of == nil || must(of.Get(ctx, runs)).State != durable.Succeeded {
			t.Error("the job that ran is not where it was moved to")
		}
		must(k.By(family).Add(ctx, "", durable.After(parent))) // it goes to its parent
	})
}

// Wherever a move is broken off, with or without what was done last being done, the jobs are all there, once, after it
// was made again, and go on.
func TestMoveIsRepeated(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n, done := 0, false; !done; n++ {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, "a", "b")
				s, ctx := c.program(nil), t.Context()
				c.owned(s)
				k := shards.Handle(s, "k", func(context.Context, int) (int, error) { time.Sleep(time.Minute); return 1, nil })
				stop := c.run(s)
				var ids []durable.ID
				for i := range 30 {
					var opts []durable.Option
					if i%2 == 0 {
						opts = append(opts, durable.Key(fmt.Sprint(i)))
					}
					ids = append(ids, must(k.AddAfter(ctx, time.Duration(i%2)*time.Hour, i, opts...)))
				}
				time.Sleep(time.Second)
				var calls atomic.Int64
				for _, of := range c.stores {
					of.mu.Lock()
					of.fail = func() (bool, bool) { return calls.Add(1) == int64(n+1), after }
					of.mu.Unlock()
				}
				// Nodes call the stores, too: their calls count, and are made again.
				err := s.Move(ctx, shards.Range(0, shards.Number), "b")
				done = calls.Load() <= int64(n)
				for _, of := range c.stores {
					of.mu.Lock()
					of.fail = nil
					of.mu.Unlock()
				}
				if err != nil {
					time.Sleep(2 * time.Second)
					err = s.Move(ctx, shards.Range(0, shards.Number), "b")
				}
				if err != nil {
					t.Fatalf("call %d, after %v: %v", n, after, err)
				}
				if owned := c.owned(s); owned["b"] != shards.Number {
					t.Errorf("call %d, after %v: there are %v", n, after, owned)
				}
				here := c.here("b")
				for i, id := range ids {
					j, there := here[id]
					if !there || j.State == durable.Paused {
						t.Errorf("call %d, after %v: job %d is %v", n, after, i, j.State)
					}
				}
				if len(here) != len(ids) || len(c.here("a")) > 0 {
					t.Errorf("call %d, after %v: there are %d and %d jobs", n, after, len(c.here("a")), len(here))
				}
				for _, j := range must(c.stores["a"].Store.List(ctx, store.Filter{Kind: store.ParcelKind})) {
					if !j.State.Done() {
						t.Errorf("call %d, after %v: a parcel is left: %v", n, after, j.ID)
					}
				}
				stop()
			})
			if t.Failed() {
				return
			}
			if n > 400 {
				t.Fatalf("a move makes more than %d calls", n)
			}
		}
	}
}

// Runs of a schedule with OnOverlap are not at the same time in two stores.
func TestMoveKeepsOverlapPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b")
		s, ctx := c.program(nil), t.Context()
		c.owned(s)
		var running, ran atomic.Int64
		k := shards.Handle(s, "k", func(context.Context, string) (string, error) {
			if running.Add(1) > 1 {
				t.Error("two runs at the same time")
			}
			time.Sleep(17 * time.Second)
			running.Add(-1)
			ran.Add(1)
			return "", nil
		})
		defer c.run(s)()
		key := "every"
		for shards.KeyShard(key) >= shards.Number/2 {
			key += "'"
		}
		must(k.AtFixedRate(ctx, key, 0, time.Second, "", durable.OnOverlap(durable.OverlapSkip())))
		time.Sleep(5 * time.Second)
		must(0, s.Spread(ctx, "b"))
		time.Sleep(time.Minute)
		if n := ran.Load(); n < 3 || len(c.here("a")) > 0 {
			t.Errorf("there were %d runs, and left are %v", n, texts(c.here("a")))
		}
	})
}

// A job that is in a parcel, since a move was broken off, is not called missing.
func TestShardsKnowWhatIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b")
		s, ctx := c.program(nil), t.Context()
		c.owned(s)
		k := shards.KindOf[int, int](s, "k")
		var id durable.ID
		for len(c.here("a")) == 0 {
			id = must(k.AddAfter(ctx, time.Hour, 0))
		}
		c.stores["b"].refuse = true
		if err := s.Spread(ctx, "b"); !errors.Is(err, errDown) {
			t.Fatal(err)
		}
		if j, err := s.Get(ctx, id); !errors.Is(err, shards.ErrMoving) {
			t.Errorf("it is %+v, %v", j, err)
		}
		c.stores["b"].refuse = false
		must(0, s.Spread(ctx, "b"))
		must(s.Get(ctx, id))
	})
}

// A job whose parent is moved while it is added is added to its parent.
func TestKindAddFollowsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b")
		s, ctx := c.program(nil), t.Context()
		c.owned(s)
		k := shards.KindOf[int, int](s, "k")
		var parent durable.ID
		for len(c.here("a")) == 0 {
			parent = must(k.AddAfter(ctx, time.Hour, 0))
		}
		a, b, calls, before := c.stores["a"], c.stores["b"], 0, len(c.here("b"))
		a.fail = func() (bool, bool) {
			if calls++; calls == 2 { // it was found, and the child is to be added
				parcel := store.NewID()
				must(a.Store.Pack(ctx, store.PackRequest{Parcel: parcel, Jobs: []store.ID{parent}}))
				must(0, b.Store.Unpack(ctx, must(a.Store.Get(ctx, parcel))))
			}
			return false, false
		}
		child := must(k.Add(ctx, 1, durable.After(parent)))
		if calls < 2 || len(c.here("b")) != before+2 {
			t.Errorf("after %d calls the child %v is not with its parent: %v and %v", calls, child, texts(c.here("a")), texts(c.here("b")))
		}
	})
}

// What a user has paused after a move was broken off stays paused.
func TestMoveKeepsPauseOfUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b")
		s, ctx := c.program(nil), t.Context()
		c.owned(s)
		k := shards.Handle(s, "k", func(context.Context, int) (int, error) { time.Sleep(20 * time.Second); return 0, nil })
		stop := c.run(s)
		var id durable.ID
		for i := 0; len(c.here("a")) == 0; i++ {
			id = must(k.AtFixedRate(ctx, fmt.Sprint(i), 0, time.Second, 0))
		}
		time.Sleep(time.Second)
		one, cancel := context.WithTimeout(ctx, 12*time.Second)
		defer cancel()
		if err := s.Spread(one, "b"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		of, j, err := s.Of(ctx, id)
		if err != nil || j.State == durable.Paused {
			t.Fatalf("after the move was broken off it is %v, %v", j.State, err)
		}
		must(of.Pause(ctx, id))
		must(0, s.Spread(ctx, "b"))
		if j := must(s.Get(ctx, id)); j.State != durable.Paused {
			t.Errorf("it is %v", j.State)
		}
		stop()
	})
}

// Wherever a move is broken off, its virtual shards can be moved on, and then it is made again: each has one store.
func TestMoveIsRepeatedAfterNextMove(t *testing.T) {
	for n, done := int64(0), false; !done; n++ {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, "a", "b", "c")
			s, ctx := c.program(nil), t.Context()
			c.owned(s)
			k := shards.KindOf[int, int](s, "k")
			for i := range 20 {
				must(k.AddAfter(ctx, time.Hour, i, durable.Key(fmt.Sprint(i))))
			}
			var calls atomic.Int64
			c.stores["a"].fail = func() (bool, bool) { return calls.Add(1) == n+1, false }
			all := shards.Range(0, shards.Number)
			err := s.Move(ctx, shards.Range(0, 1000), "b")
			c.stores["a"].fail = nil
			if done = err == nil; !done {
				time.Sleep(2 * time.Second)
				for _, p := range must(s.Status(ctx)) { // what has come to b goes on to c
					if p.Store == "b" {
						must(0, s.Move(ctx, p.Has, "c"))
					}
				}
				for _, p := range must(s.Status(ctx)) {
					if p.To != "" {
						must(0, s.Move(ctx, all, p.To))
					}
				}
			}
			if c.owned(s); len(c.here("a"))+len(c.here("b"))+len(c.here("c")) != 20 {
				t.Errorf("call %d: there are other jobs", n)
			}
		})
		if t.Failed() || n > 400 {
			t.Fatalf("it was call %d", n)
		}
	}
}

// Of two programs that make a move, one goes on, and nothing is doubled.
func TestMoveIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b")
		s, ctx := c.program(nil), t.Context()
		k := shards.KindOf[int, int](s, "k")
		for i := range 1000 {
			must(k.AddAfter(ctx, time.Hour, i))
		}
		ended := make(chan error, 2)
		for range 2 {
			go func() { ended <- c.program(nil).Move(ctx, shards.Range(0, shards.Number), "b") }()
		}
		one, other := <-ended, <-ended
		if (one == nil) == (other == nil) {
			t.Errorf("they have ended with %v and %v", one, other)
		}
		if len(c.here("b")) != 1000 || len(c.here("a")) > 0 {
			t.Errorf("there are %d and %d jobs", len(c.here("a")), len(c.here("b")))
		}
	})
}

// Add of a job whose virtual shard is given away by a move that was broken off says so, in time.
func TestKindAddSaysThatMoveWasBrokenOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b")
		s := c.program(nil)
		c.owned(s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Move(ctx, shards.Range(0, shards.Number), "b"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		k, failed, begun := shards.KindOf[int, int](s, "k"), 0, time.Now()
		time.Sleep(10 * time.Second)
		for i := 0; failed == 0 && i < 20; i++ {
			must(k.Add(t.Context(), i)) // it belongs to none
			if _, err := k.Add(t.Context(), i, durable.Key(fmt.Sprint(i))); errors.Is(err, shards.ErrMoving) {
				failed++
			}
		}
		mine := durable.NewID()
		for shards.VirtualShard(mine) >= shards.Number/2 {
			mine = durable.NewID()
		}
		asked := time.Now()
		if _, err := k.Add(t.Context(), 0, durable.WithID(mine)); !errors.Is(err, shards.ErrMoving) || time.Since(asked) < 30*time.Second {
			t.Errorf("with an ID of the caller's: %v after %v", err, time.Since(asked))
		}
		if took := asked.Sub(begun); failed != 1 || took > 2*time.Minute {
			t.Errorf("%d have failed, after %v", failed, took)
		}
		if err := s.Move(t.Context(), shards.Range(0, 1), "nowhere"); !errors.Is(err, executor.ErrInvalid) {
			t.Error(err)
		}
	})
}
