package realtime

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/tests/internal/check"
	"github.com/executor-go/executor/tests/internal/testkit"
)

// Half of many waiting tasks are canceled at random from four goroutines while two workers run
// those that are due. No task is lost, runs twice or runs out of order, and the memory is returned.
// There are a hundred thousand tasks, or a million if EXECUTOR_SOAK is set.
func TestScheduledPoolMillionTasks(t *testing.T) {
	n := testkit.Scale(100_000)
	if os.Getenv("EXECUTOR_SOAK") != "" {
		n = 1_000_000
	}
	type workerKey struct{}
	p := testkit.NewScheduled(t, executor.ScheduledConfig{Workers: 2, Hooks: executor.Hooks{
		BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
			return context.WithValue(ctx, workerKey{}, info.Worker)
		},
	}})
	before := check.HeapInUse()

	// Both workers are busy until all tasks are scheduled. From then on each takes
	// tasks in order.
	busy, gate := make(chan struct{}), make(chan struct{})
	for range 2 {
		testkit.MustGo(t, p.Pool, func(context.Context) error { busy <- struct{}{}; <-gate; return nil })
	}
	for range 2 {
		<-busy
	}
	var last [2]struct { // the last task of each worker
		due   time.Time
		index int
	}
	ran := make([]atomic.Int32, n)
	fs := make([]*executor.Future[int], n)
	start := time.Now().Add(time.Duration(n) * 2 * time.Microsecond)
	for i := range fs {
		due := start.Add(rand.N(time.Duration(n) * 4 * time.Microsecond))
		fs[i] = executor.SubmitAfter(context.Background(), p, time.Until(due), func(ctx context.Context) (int, error) {
			ran[i].Add(1)
			before, due := &last[ctx.Value(workerKey{}).(int)-1], executor.Due(ctx)
			if due.Before(before.due) || due.Equal(before.due) && i < before.index {
				t.Errorf("task %d, due at %v, ran after task %d, due at %v", i, due, before.index, before.due)
			}
			if time.Now().Before(due) {
				t.Errorf("task %d ran %v before its time", i, time.Until(due))
			}
			before.due, before.index = due, i
			return i, nil
		})
	}
	check.Equal(t, "queued", p.Stats().Queued, n)
	full := check.HeapInUse() - before
	time.Sleep(time.Until(start))

	// All goroutines have canceled some tasks before the workers begin.
	canceled := make([]bool, n)
	var wg, ready sync.WaitGroup
	ready.Add(4)
	for g := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(rand.Uint64(), 0))
			for k, i := range r.Perm(n / 4) {
				if i = 4*i + g; r.IntN(2) == 0 {
					canceled[i] = fs[i].Cancel()
				}
				if k == n/100 {
					ready.Done()
				}
			}
		})
	}
	ready.Wait()
	close(gate)
	wg.Wait()
	p.Close()

	var nCanceled int64
	for i, f := range fs {
		if canceled[i] {
			nCanceled++
			if runs := ran[i].Load(); f.State() != executor.Canceled || runs > 1 {
				t.Errorf("canceled task %d is %v and ran %d times", i, f.State(), runs)
			}
		} else if v, err := f.Result(); v != i || err != nil || ran[i].Load() != 1 {
			t.Errorf("task %d ran %d times and returned %d, %v", i, ran[i].Load(), v, err)
		}
	}
	s := testkit.CheckStats(t, p)
	check.Equal(t, "canceled", s.Canceled, nCanceled)
	check.Equal(t, "succeeded", s.Succeeded, int64(n)-nCanceled+2)
	if nCanceled < int64(n)/100 {
		t.Errorf("only %d tasks were canceled in time", nCanceled)
	}

	fs, ran, canceled = nil, nil, nil
	if left := check.HeapInUse() - before; left > full/20+1<<16 {
		t.Errorf("%d bytes are left of %d", left, full)
	}
	runtime.KeepAlive(p)
}
