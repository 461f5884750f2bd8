package turnstile_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/executor-go/executor/internal/turnstile"
)

// What goroutines do between Lock and Unlock, they do one after the other, and
// each of them gets its turn.
func TestExclusion(t *testing.T) {
	const goroutines, turns = 16, 2_000
	var m turnstile.Mutex
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
		t.Errorf("%d turns of %d", n, goroutines*turns)
	}
}

// Nobody gets in while the lock is held, however many wait, and all of them do
// when it is released, be it by another goroutine.
func TestWaiting(t *testing.T) {
	var m turnstile.Mutex
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
		t.Errorf("%d are in", in)
	}
	m.Unlock()
	wg.Wait()
	m.Lock() // after the last of them
	defer m.Unlock()
	if in != 8 {
		t.Errorf("%d of 8 were in", in)
	}
}

// The cost of a short section, alone and in a crowd, beside that of a plain
// sync.Mutex.
func BenchmarkLock(b *testing.B) {
	for _, kind := range []struct {
		name string
		lock sync.Locker
	}{{"turnstile", new(turnstile.Mutex)}, {"sync", new(sync.Mutex)}} {
		for _, crowd := range []struct {
			name  string
			times int
		}{{"alone", 0}, {"crowd", 8}} {
			b.Run(crowd.name+"/"+kind.name, func(b *testing.B) {
				n := 0
				section := func() {
					kind.lock.Lock()
					n++
					kind.lock.Unlock()
				}
				if crowd.times == 0 {
					for b.Loop() {
						section()
					}
					return
				}
				b.SetParallelism(crowd.times)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						section()
					}
				})
			})
		}
	}
}
