package queue_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/executor-go/executor/queue"
)

// big is an element that the runtime does not pack with others.
type big struct{ key, _, _, _ int }

var bigs = map[string]func() *queue.Blocking[*big]{
	"Bounded":   func() *queue.Blocking[*big] { return queue.NewBounded[*big](1 << 20) },
	"Unbounded": queue.NewUnbounded[*big],
	"Handoff":   queue.NewHandoff[*big],
	"Priority":  func() *queue.Blocking[*big] { return queue.NewPriority(func(v *big) int { return v.key }) },
	"Delay": func() *queue.Blocking[*big] {
		return queue.NewDelay(func(v *big) time.Time { return time.Unix(int64(v.key), 0) })
	},
}

// collected collects garbage and fails the test if there still is one of all.
func collected(t *testing.T, all []weak.Pointer[big]) {
	t.Helper()
	runtime.GC()
	for i, p := range all {
		if p.Value() != nil {
			t.Errorf("element %d is retained", i)
		}
	}
}

var one = new(big)

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// An element that has left by any method can be collected, also the last one
// (JDK-6215625, JDK-7161229).
func TestBlockingRetainsNothing(t *testing.T) {
	for name, make := range bigs {
		if name == "Handoff" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			q := make()
			for _, remove := range []func(){
				func() { q.Poll() },
				func() { q.Take(t.Context()) },
				func() { q.Drain(1) },
				func() { q.RemoveFunc(func(v *big) bool { return true }) },
				q.Clear,
			} {
				var all []weak.Pointer[big]
				for i := range 7 {
					v := &big{key: i}
					all = append(all, weak.Make(v))
					q.Offer(v)
				}
				for q.Len() > 0 {
					remove()
				}
				collected(t, all)
			}
			runtime.KeepAlive(q)
		})
	}
}

// An element that was handed to a waiter can be collected (SynchronousQueue20Test).
func TestBlockingHandingOverRetainsNothing(t *testing.T) {
	for name, make := range bigs {
		t.Run(name, func(t *testing.T) {
			q := make()
			var all []weak.Pointer[big]
			var wg sync.WaitGroup
			for i := range 250 {
				v := &big{key: i}
				all = append(all, weak.Make(v))
				wg.Go(func() { q.Put(t.Context(), v) })
				wg.Go(func() { q.Take(t.Context()) })
			}
			wg.Wait()
			collected(t, all)
			runtime.KeepAlive(q)
		})
	}
}

// The element of a put that was given up can be collected.
func TestBlockingGivenUpPutRetainsNothing(t *testing.T) {
	for _, q := range []*queue.Blocking[*big]{queue.NewHandoff[*big](), queue.NewBounded[*big](1)} {
		if q.Cap() > 0 {
			q.Offer(nil)
		}
		var all []weak.Pointer[big]
		for range 20 {
			v := new(big)
			all = append(all, weak.Make(v))
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { q.Put(ctx, v); close(done) }()
			for _, putters := q.Waiting(); putters == 0; _, putters = q.Waiting() {
				runtime.Gosched()
			}
			cancel()
			<-done
		}
		collected(t, all)
		runtime.KeepAlive(q)
	}
}

// A queue releases its memory when many elements have left.
func TestBlockingReleasesMemory(t *testing.T) {
	for name, make := range bigs {
		if name == "Handoff" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			q := make()
			before := heapInUse()
			for range 100_000 {
				q.Offer(one)
			}
			q.Drain(1000)
			q.RemoveFunc(func(*big) bool { return true })
			if after := heapInUse(); after > before+1<<18 {
				t.Errorf("%d bytes more than before", after-before)
			}
			if n := q.Len(); n != 0 {
				t.Errorf("%d are left", n)
			}
		})
	}
}

// The few elements that are left of many take little memory, also if they are scattered
// among the removed ones.
func TestBlockingReleasesMemoryOfHoles(t *testing.T) {
	type fat struct {
		n int
		_ [1016]byte
	}
	const n, left = 64_000, 1000
	for name, q := range map[string]*queue.Blocking[fat]{
		"Bounded":   queue.NewBounded[fat](n),
		"Unbounded": queue.NewUnbounded[fat](),
		"Priority":  queue.NewPriority(func(f fat) int { return f.n }),
		"Jumbled":   queue.NewPriority(func(f fat) int { return f.n * 7919 % n }),
		"Delay":     queue.NewDelay(func(f fat) time.Time { return time.Unix(int64(f.n), 0) }),
	} {
		t.Run(name, func(t *testing.T) {
			before := heapInUse()
			for i := range n {
				q.Offer(fat{n: i})
			}
			q.RemoveFunc(func(f fat) bool { return f.n%(n/left) != 0 })
			if after := heapInUse(); after > before+16*left*1024 {
				t.Errorf("%d kB for %d of 1 kB", (after-before)>>10, q.Len())
			}
			for i := range left {
				if f, ok := q.Poll(); !ok || name != "Jumbled" && f.n != i*(n/left) {
					t.Fatalf("the %d. is %d, %t", i, f.n, ok)
				}
			}
			mustBeEmpty(t, q)
		})
	}
}
