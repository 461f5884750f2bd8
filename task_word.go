package executor

import (
	"runtime"
	"sync/atomic"
)

// word is what there is to know of a task at a glance, a State and flags, and
// the task's lock, which is one bit more. So a transition takes the lock and
// finds the old bits, and gives it back and leaves the new ones: two atomic
// operations, where a mutex beside the bits would take three, and eight bytes more.
//
// Whoever finds the lock taken looks again until it is free, and lets others run
// meanwhile. It is held for some tens of nanoseconds.
type word struct{ bits uint32 }

const held uint32 = 1 << 31

// load gives the bits, to anybody.
func (w *word) load() uint32 { return atomic.LoadUint32(&w.bits) }

// preset stores the bits of a task that is not shared yet.
func (w *word) preset(bits uint32) { w.bits = bits }

// lock takes the lock and gives the bits.
func (w *word) lock() (bits uint32) {
	if bits = w.load() &^ held; atomic.CompareAndSwapUint32(&w.bits, bits, bits|held) {
		return bits
	}
	return w.wait()
}

// wait is lock for a goroutine that found it taken.
func (w *word) wait() (bits uint32) {
	for tries := 1; ; tries++ {
		bits = w.load() &^ held
		if atomic.CompareAndSwapUint32(&w.bits, bits, bits|held) {
			return bits
		}
		if tries >= 3 {
			runtime.Gosched()
		}
	}
}

// swap stores the bits without taking the lock, unless they are no longer old or the
// lock is held.
func (w *word) swap(old, bits uint32) bool {
	return atomic.CompareAndSwapUint32(&w.bits, old, bits)
}

// unlock stores the bits and gives the lock back.
func (w *word) unlock(bits uint32) { atomic.StoreUint32(&w.bits, bits) }
