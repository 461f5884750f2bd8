package task

import (
	"runtime"
	"sync/atomic"
)

// word is a State, flags, and one bit more, which is the task's lock. So a transition
// takes the lock and reads the old bits, and stores the new ones and releases it: two
// atomic operations. A mutex beside the bits would take three, and eight bytes more.
//
// A goroutine that finds the lock taken tries again and yields in between. It is held
// for some tens of nanoseconds.
type word struct{ bits uint32 }

const locked uint32 = 1 << 31

// load returns the bits. It needs no lock.
func (w *word) load() uint32 { return atomic.LoadUint32(&w.bits) }

// init stores the bits of a task that is not shared yet.
func (w *word) init(bits uint32) { w.bits = bits }

// lock takes the lock and returns the bits.
func (w *word) lock() (bits uint32) {
	if bits = w.load() &^ locked; atomic.CompareAndSwapUint32(&w.bits, bits, bits|locked) {
		return bits
	}
	return w.lockSlow()
}

func (w *word) lockSlow() (bits uint32) {
	for tries := 1; ; tries++ {
		bits = w.load() &^ locked
		if atomic.CompareAndSwapUint32(&w.bits, bits, bits|locked) {
			return bits
		}
		if tries >= 3 {
			runtime.Gosched()
		}
	}
}

// swap replaces the bits old by bits without taking the lock. It reports false if
// they are not old, or the lock is held.
func (w *word) swap(old, bits uint32) bool {
	return atomic.CompareAndSwapUint32(&w.bits, old, bits)
}

// unlock stores the bits and releases the lock.
func (w *word) unlock(bits uint32) { atomic.StoreUint32(&w.bits, bits) }
