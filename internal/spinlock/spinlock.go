// Package spinlock is a mutex for short critical sections that many goroutines want
// at once.
//
// A goroutine that finds the mutex locked spins first, then waits. At most one
// goroutine waits for the mutex itself; the others wait at a second mutex, the
// entrance. Locks that restrict the number of waiters in this way are described by
// Dice and Kogan, "Avoiding Scalability Collapse by Restricting Concurrency",
// Euro-Par 2019.
//
//	goroutines that spin            try inner, three times
//	goroutines that wait   ──▶ entrance ──▶ one waits for inner ──▶ critical section
//
// Unlock rarely has a goroutine to wake, which takes ten times as long as the
// sections that the mutex is for. With a [sync.Mutex] and more goroutines than
// processors each holder wakes the next waiter, which finds the mutex locked again
// and goes back to sleep.
//
// A Mutex that is free is locked by one compare-and-swap. It takes 16 bytes.
package spinlock

import "sync"

// Mutex is a mutual exclusion lock. The zero Mutex is unlocked. It must not be
// copied after its first use.
type Mutex struct {
	inner sync.Mutex

	// entrance is held by the goroutine that waits for inner, and released as soon
	// as that goroutine has inner. No goroutine holds it in a critical section.
	entrance sync.Mutex
}

// spins is how often inner is tried before a goroutine waits. A [sync.Mutex] that is
// locked spins by itself, but for longer than a short section lasts before it looks
// again.
const spins = 3

// Lock locks m. If m is locked, it waits until it is unlocked.
func (m *Mutex) Lock() {
	for range 1 + spins {
		if m.inner.TryLock() {
			return
		}
	}
	m.entrance.Lock()
	m.inner.Lock()
	m.entrance.Unlock()
}

// Unlock unlocks m. Any goroutine may unlock it. It is a fatal error if m is not
// locked.
func (m *Mutex) Unlock() { m.inner.Unlock() }
