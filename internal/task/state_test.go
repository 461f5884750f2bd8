package task

import (
	"runtime"
	"sync"
	"testing"
)

// What many do to a word, each under its lock, is all there in the end, and so
// is what the lock guards.
func TestWordExcludes(t *testing.T) {
	const goroutines, turns = 8, 2_000
	var w word
	w.init(free | made)
	var guarded uint32 // the race detector watches it
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range turns {
				bits := w.lock()
				guarded++
				w.unlock(bits + 1)
			}
		})
	}
	wg.Wait()
	if bits := w.lock() &^ (free | made); bits != goroutines*turns || guarded != bits {
		t.Errorf("%d in the word, %d beside it, want %d", bits, guarded, goroutines*turns)
	}
}

// While the lock is held its bits can be read, and no other goroutine gets it. A goroutine
// that waits for it gets the bits of the unlock, not those that it saw first.
func TestWordWaits(t *testing.T) {
	var w word
	w.init(free | made | 1)
	got := make(chan uint32)
	old := w.lock()
	if old != free|made|1 || w.load() != made|1 {
		t.Errorf("%d locked, %d read, want 1", old, w.load())
	}
	go func() {
		bits := w.lock()
		w.unlock(bits)
		got <- bits
	}()
	for range 1000 {
		runtime.Gosched() // it waits, or is about to
	}
	select {
	case bits := <-got:
		t.Fatalf("%d locked while the lock was held", bits)
	default:
	}
	w.unlock(free | made | 2)
	if bits := <-got; bits != free|made|2 {
		t.Errorf("%d locked, want 2", bits)
	}
}
