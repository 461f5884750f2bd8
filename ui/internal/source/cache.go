package source

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Cache keeps what was read last under each key. While one request reads, the others have what was read before, or
// wait if there is nothing. It is ready as the zero value.
type Cache struct {
	mu      sync.Mutex
	entries map[any]*entry
}

// entry is what was read last under a key.
type entry struct {
	turn chan struct{} // one slot, for who reads

	mu   sync.Mutex
	read reading
}

// reading is what was read at one time.
type reading struct {
	value any
	err   error // of the latest attempt, after which value is still that of an earlier one
	asOf  time.Time
	until time.Time // when it is to be read again
}

const (
	entryLimit = 200
	entryLife  = time.Minute // after which an entry is dropped, if there are many
)

// Reset makes all be read again.
func (c *Cache) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
}

// entry returns that of a key.
func (c *Cache) entry(key any) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e != nil {
		return e
	}
	if c.entries == nil {
		c.entries = make(map[any]*entry)
	}
	if len(c.entries) >= entryLimit {
		c.drop()
	}
	e = &entry{turn: make(chan struct{}, 1)}
	c.entries[key] = e
	return e
}

// drop removes the entries that are old, and if there is none, all of them: what is being
// read is not lost to its waiters. The caller holds the lock.
func (c *Cache) drop() {
	for key, e := range c.entries {
		if r := e.get(); time.Since(r.until) > entryLife {
			delete(c.entries, key)
		}
	}
	if len(c.entries) >= entryLimit {
		clear(c.entries)
	}
}

func (e *entry) get() reading {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.read
}

// Cached returns what was read under a key, by read if that is too long ago, and as of when it is. life returns for how
// long it is good after it has taken so long to read it. After an error the value, if there was one, is that of before.
func Cached[T any](ctx context.Context, c *Cache, key any, life func(took time.Duration) time.Duration,
	read func() (T, error)) (value T, asOf time.Time, err error) {
	e := c.entry(key)
	known := e.get()
	if time.Now().Before(known.until) {
		return result[T](known)
	}
	select {
	case e.turn <- struct{}{}:
	default:
		if !known.asOf.IsZero() {
			return result[T](known)
		}
		select {
		case e.turn <- struct{}{}:
		case <-ctx.Done():
			return value, asOf, ErrLeft
		}
	}
	defer func() { <-e.turn }()
	if known = e.get(); time.Now().Before(known.until) { // another has read it meanwhile
		return result[T](known)
	}
	begun := time.Now()
	value, err = read()
	if errors.Is(err, ErrLeft) {
		known.err = err // that of the request alone
		return result[T](known)
	}
	took := time.Since(begun)
	next := reading{value, err, begun, time.Now().Add(life(took))}
	if err != nil {
		next.value, next.asOf = known.value, known.asOf
	}
	e.mu.Lock()
	e.read = next
	e.mu.Unlock()
	return result[T](next)
}

// ErrLeft is matched by the error of a request that has ended before it could read. It is kept for no other.
var ErrLeft = errors.New("ui: the request has ended")

func result[T any](r reading) (T, time.Time, error) {
	value, _ := r.value.(T)
	return value, r.asOf, r.err
}
