//go:build linux

package faults

import (
	"context"
	"errors"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// A step is a job of a graph. Its result is how many steps there are on the longest way to it.
type step struct {
	Work  time.Duration
	Fails bool
}

var errStep = errors.New("it was to fail")

func (s step) run(ctx context.Context, begin func(context.Context, time.Duration) (int, error)) (int, error) {
	if _, err := begin(ctx, s.Work); err != nil {
		return 0, err
	}
	if s.Fails {
		return 0, executor.Permanent(errStep)
	}
	longest := 0
	results, err := durable.ParentResults[int](ctx)
	for _, n := range results {
		longest = max(longest, n)
	}
	return longest + 1, err
}

// planned is a step of a graph as it must end.
type planned struct {
	durable.Prepared
	parents []int
	state   durable.State
	result  int
}

// plan returns a graph of layers, of which each step waits for some of the layer before.
func plan(r *rand.Rand, kind *durable.Kind[step, int], layers, width int) []planned {
	var all []planned
	for layer := range layers {
		for range width {
			s := step{Work: time.Duration(r.IntN(60)) * time.Millisecond, Fails: r.IntN(25) == 0}
			anyway := r.IntN(3) > 0
			p := planned{state: durable.Succeeded, result: 1}
			var ids []durable.ID
			for range min(layer, 1) * (1 + r.IntN(4)) {
				k := (layer-1)*width + r.IntN(width)
				p.parents, ids = append(p.parents, k), append(ids, all[k].ID())
			}
			for _, k := range p.parents {
				if all[k].state == durable.Succeeded {
					p.result = max(p.result, all[k].result+1)
				} else if !anyway {
					p.state = durable.Canceled
				}
			}
			if s.Fails && p.state == durable.Succeeded {
				p.state = durable.Dead
			}
			opts := []durable.Option{durable.After(ids...), durable.Attempts(1000)}
			if anyway {
				opts = append(opts, durable.EvenIfFailed())
			}
			p.Prepared = kind.Prepare(0, s, opts...)
			all = append(all, p)
		}
	}
	return all
}

// Steps that wait for others, while one process after the other is killed: each ends as it must, by the results of
// those before it, and begins after they have ended. None is lost, or committed twice.
func TestHistoryOfGraphWithKilledProcesses(t *testing.T) {
	for name, newStore := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, newStore(t))
			store, err := openStore(f.direct)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			jobs, err := durable.New(config(store))
			if err != nil {
				t.Fatal(err)
			}
			all := plan(rand.New(rand.NewPCG(1, 2)), durable.Client[step, int](jobs, "step"), 60, 20)
			var prepared []durable.Prepared
			for _, p := range all {
				prepared = append(prepared, p.Prepared)
			}
			if _, err := jobs.Add(t.Context(), prepared...); err != nil {
				t.Fatal(err)
			}
			nodes := []*node{f.start(), f.start(), f.start()}
			unfinished := durable.Filter{Limit: 1, States: []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed,
				durable.Running, durable.Blocked}}
			kills := 0
			for victim := 0; ; {
				left, err := jobs.List(t.Context(), unfinished)
				if err != nil {
					t.Fatal(err)
				}
				if len(left) == 0 {
					break
				}
				f.reach(min(100*(kills+1), len(all)/2)) // else they would kill each other before anything is done
				time.Sleep(lease)
				nodes[victim].end(syscall.SIGKILL)
				nodes[victim] = f.start()
				victim = (victim + 1) % len(nodes)
				if kills++; kills > 60 {
					t.Fatalf("it goes on and on; one that is left is %+v", left[0])
				}
			}
			for _, n := range f.nodes {
				n.end(syscall.SIGTERM)
			}
			f.judgeGraph(jobs, all)
			t.Logf("%d processes were killed", kills)
			if kills < 3 {
				t.Errorf("only %d processes were killed: too quiet to prove anything", kills)
			}
		})
	}
}

// judgeGraph holds the steps against the plan.
func (f *fleet) judgeGraph(jobs *durable.Jobs, all []planned) {
	first := make(map[durable.ID]time.Time)
	for _, s := range f.seen {
		if at, ok := first[s.Job]; !ok || s.At.Before(at) {
			first[s.Job] = s.At
		}
	}
	ended := make([]time.Time, len(all))
	kind := durable.Client[step, int](jobs, "step")
	for i, p := range all {
		j, err := jobs.Get(context.Background(), p.ID())
		if err != nil {
			f.Fatal(err)
		}
		if ended[i] = j.Updated; j.State != p.state {
			f.Errorf("step %d is %v, want %v: %s", i, j.State, p.state, j.Error)
			continue
		}
		if p.state == durable.Succeeded {
			if n, err := kind.Await(context.Background(), p.ID()); n != p.result || err != nil {
				f.Errorf("the result of step %d is %d, %v; want %d", i, n, err, p.result)
			}
		}
		runs, err := jobs.History(context.Background(), p.ID(), 0, 1000)
		if err != nil {
			f.Fatal(err)
		}
		committed := 0
		for _, r := range runs {
			if r.Verdict == durable.RunSucceeded || r.Verdict == durable.RunFailed && r.Error == errStep.Error() {
				committed++
			}
		}
		if want := map[bool]int{true: 1}[p.state != durable.Canceled]; committed != want {
			f.Errorf("step %d was committed %d times, want %d", i, committed, want)
		}
		at, ran := first[p.ID()]
		if ran == (p.state == durable.Canceled) {
			f.Errorf("step %d is %v, and has begun: %v", i, p.state, ran)
		}
		for _, k := range p.parents {
			if ran && at.Before(ended[k].Add(-5*time.Millisecond)) {
				f.Errorf("step %d was begun %v before its parent %d has ended", i, ended[k].Sub(at), k)
			}
		}
	}
}
