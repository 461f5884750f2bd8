package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// lineage is a context of a random tree, and what the model knows of it.
type lineage struct {
	context.Context
	parent *lineage
	end    func() // nil if it ends with its parent only
	over   bool   // it was ended

	// vague tells that its cause may become another after its end: it ends by itself, and
	// has the values of one that has yet to end, among which package context finds a cause.
	vague bool
}

// ended reports whether the context has ended, by itself or with one above it.
func (l *lineage) ended() bool {
	for ; l != nil; l = l.parent {
		if l.over {
			return true
		}
	}
	return false
}

// Futures that wait in some pools, with contexts of all kinds that end at random while
// others are submitted and canceled, are canceled exactly if their own context ends, and
// with its error. No context is watched when nobody waits any more.
func TestPoolContextsModel(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { contextsProgram(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func contextsProgram(t *testing.T, draw *rand.Rand) {
	type key struct{}
	type waiting struct {
		future  *executor.Future[int]
		ctx     *lineage
		touched bool // by somebody who knows nothing of its context
	}
	var pools []*executor.Pool
	for _, q := range []executor.Queue{executor.Unbounded(), executor.Prioritized(), executor.Bounded(1 << 20)} {
		pools = append(pools, newPool(t, executor.Config{Core: 1, Queue: q}))
	}
	b := newBlocker(t)
	for _, pool := range pools {
		b.Fill(t, pool, 1)
	}
	root := &lineage{Context: context.Background()}
	all := []*lineage{root}
	var hooked []*hookable
	for range 4 + draw.IntN(20) {
		parent := all[draw.IntN(len(all))]
		c := &lineage{parent: parent}
		switch draw.IntN(7) {
		case 0:
			c.Context, c.vague = context.WithValue(parent, key{}, 1), parent.vague
		case 1:
			ctx, cancel := context.WithCancel(parent)
			c.Context, c.end = ctx, cancel
		case 2:
			ctx, cancel := context.WithCancelCause(parent)
			c.Context, c.end = ctx, func() { cancel(errors.New("cause")) }
		case 3:
			ctx, cancel := context.WithTimeout(parent, time.Hour)
			c.Context, c.end = ctx, cancel
		case 4:
			f := foreign{parent.Context, make(chan struct{})}
			c.Context, c.end, c.parent, c.vague = f, func() { close(f.done) }, nil, true
		case 5:
			h := newHookable()
			c.Context, c.end, c.parent = h, h.end, nil
			hooked = append(hooked, h)
		case 6:
			c.Context, c.parent = context.WithoutCancel(parent), nil
		}
		all = append(all, c)
	}

	var mu sync.Mutex
	var made []*waiting
	ends := map[*lineage]bool{}
	for _, c := range all {
		if c.end != nil && draw.IntN(2) == 0 {
			ends[c] = true
		}
	}
	var wg sync.WaitGroup
	for range 3 {
		draw := rand.New(rand.NewPCG(draw.Uint64(), 2))
		wg.Go(func() {
			for range 100 {
				w := &waiting{ctx: all[draw.IntN(len(all))]}
				w.future = executor.NewFuture(func(context.Context) (int, error) { return 1, nil })
				err := pools[draw.IntN(len(pools))].Execute(w.ctx, w.future)
				if draw.IntN(4) == 0 { // is a plain Runnable to another
					_ = pools[draw.IntN(len(pools))].Execute(context.Background(), w.future)
				}
				switch draw.IntN(6) {
				case 0:
					w.touched = true
					w.future.Cancel()
				case 1:
					w.touched = true
					_ = w.future.Run(context.Background())
				case 2:
					w.touched = true
					pools[draw.IntN(len(pools))].Remove(w.future)
				}
				if err == nil {
					mu.Lock()
					made = append(made, w)
					mu.Unlock()
				}
			}
		})
	}
	wg.Go(func() {
		for c := range ends {
			c.end()
		}
	})
	wg.Wait()
	synctest.Wait()
	for c := range ends {
		c.over = true
	}
	for i, w := range made {
		switch state := w.future.State(); {
		case w.touched:
			continue
		case !w.ctx.ended():
			if state != executor.Pending {
				t.Errorf("future %d is %v, its context has not ended", i, state)
			}
		case state != executor.Canceled || !errors.Is(w.future.Err(), w.ctx.Err()) || !w.ctx.vague && !errors.Is(w.future.Err(), context.Cause(w.ctx)):
			t.Errorf("future %d is %v with the error %v, its context has ended: %v", i, state, w.future.Err(), w.ctx.Err())
		}
	}
	b.Release()
	synctest.Wait()
	for i, w := range made {
		if !w.touched && !w.ctx.ended() {
			expect(t, fmt.Sprintf("state of future %d in the end", i), w.future.State(), executor.Succeeded)
		}
	}
	for _, h := range hooked {
		expect(t, "functions to be called in the end", h.watchers(), 0)
	}
	for _, c := range all {
		if c.end != nil && !c.over {
			c.end()
		}
	}
}
