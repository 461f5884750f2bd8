// Package turnstile is a mutex for places where goroutines crowd.
package turnstile

import "sync"

// Mutex is a sync.Mutex for what many goroutines want at once, each for some
// tens of nanoseconds. The zero Mutex is unlocked. It must not be copied.
//
// Only one of them waits for it at a time, the others wait for their turn to
// wait. So an Unlock rarely has anybody to wake, which takes ten times as long
// as what the lock is for. At a plain Mutex with more goroutines than
// processors they get into step, and stay there: whoever has the lock wakes the
// next one, which finds it taken again and sleeps.
//
// Before anything else the lock is tried a few times, since a Mutex that is
// found taken spins for longer than such a lock is held before it looks again.
type Mutex struct {
	inner sync.Mutex
	door  sync.Mutex // held by the one that waits for inner
}

// Lock locks m, and waits until it can. It is [Mutex.TryLock] and, if that fails,
// [Mutex.Wait]. Where a call would be felt, write these two instead: TryLock is
// inlined into its caller, and Lock, a little longer, is not.
func (m *Mutex) Lock() {
	if !m.TryLock() {
		m.Wait()
	}
}

// TryLock locks m if nobody has it, and reports whether it did.
func (m *Mutex) TryLock() bool { return m.inner.TryLock() }

// Wait is Lock for a goroutine that has just found m locked.
func (m *Mutex) Wait() {
	for range 3 {
		if m.inner.TryLock() {
			return
		}
	}
	m.door.Lock()
	m.inner.Lock()
	m.door.Unlock()
}

// Unlock unlocks m, which any goroutine may do. It is a fatal error if m is not
// locked.
func (m *Mutex) Unlock() { m.inner.Unlock() }
