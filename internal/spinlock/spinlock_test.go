package spinlock_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/executor-go/executor/internal/spinlock"
)

// Critical sections of one mutex run one after the other, and every Lock returns.
func TestMutexExcludes(t *testing.T) {
	const goroutines, turns = 16, 2_000
	var m spinlock.Mutex
	var n int // the race detector watches it
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range turns {
				m.Lock()
				n++
				m.Unlock()
			}
		})
	}
	wg.Wait()
	if n != goroutines*turns {
		t.Errorf("%d sections of %d", n, goroutines*turns)
	}
}

// No goroutine gets the mutex while it is locked, and all that wait get it after it
// is unlocked, also by another goroutine.
func TestMutexWaiters(t *testing.T) {
	var m spinlock.Mutex
	var wg sync.WaitGroup
	in := 0
	m.Lock()
	for range 8 {
		wg.Go(func() {
			m.Lock()
			in++
			go m.Unlock()
		})
	}
	for range 1000 {
		runtime.Gosched() // they wait, or are about to
	}
	if in != 0 {
		t.Errorf("%d goroutines have the mutex", in)
	}
	m.Unlock()
	wg.Wait()
	m.Lock() // after the last of them
	defer m.Unlock()
	if in != 8 {
		t.Errorf("%d of 8 goroutines had the mutex", in)
	}
}

// BenchmarkMutex measures a short section, by one goroutine and by many, beside
// that of a plain sync.Mutex.
func BenchmarkMutex(b *testing.B) {
	for _, kind := range []struct {
		name string
		lock sync.Locker
	}{{"spinlock", new(spinlock.Mutex)}, {"sync", new(sync.Mutex)}} {
		section := func(n *int) {
			kind.lock.Lock()
			*n++
			kind.lock.Unlock()
		}
		b.Run("one/"+kind.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				section(&n)
			}
		})
		b.Run("many/"+kind.name, func(b *testing.B) {
			n := 0
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					section(&n)
				}
			})
		})
	}
}
