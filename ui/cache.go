package ui

import (
	"context"
	"errors"
	"sync"
	"time"
)

// cache keeps what was read last under each key. While one request reads, the others have what was read before, or
// wait if there is nothing. It is ready as the zero value.
type cache struct {
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

// sourceKey is the key of a view of a database.
type sourceKey struct {
	source *source
	key    any
}

// reset makes all be read again.
func (c *cache) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
}

// entry returns that of a key.
func (c *cache) entry(key any) *entry {
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
func (c *cache) drop() {
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

// cached returns what was read under a key, by read if that is too long ago, and as of when it is. life returns for how
// long it is good after it has taken so long to read it. After an error the value, if there was one, is that of before.
func cached[T any](ctx context.Context, c *cache, key any, life func(took time.Duration) time.Duration,
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
			return value, asOf, errLeft
		}
	}
	defer func() { <-e.turn }()
	if known = e.get(); time.Now().Before(known.until) { // another has read it meanwhile
		return result[T](known)
	}
	begun := time.Now()
	value, err = read()
	if errors.Is(err, errLeft) {
		return value, known.asOf, err // that of the request alone
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

// errLeft is matched by the error of a request that has ended before it could read.
var errLeft = errors.New("ui: the request has ended")

func result[T any](r reading) (T, time.Time, error) {
	value, _ := r.value.(T)
	return value, r.asOf, r.err
}

const (
	queryTime  = 10 * time.Second // the most that reading a view of a database may take
	queryLife  = 2 * time.Second
	queryShare = 20
)

// databaseLife is how long a view of a database is good.
func databaseLife(took time.Duration) time.Duration { return max(queryLife, queryShare*took) }

// query returns what read reads from a source, as cached does. key names it among the views of the source, and must be
// comparable.
func query[T any](ctx context.Context, u *UI, s *source, key any,
	read func(context.Context) (T, error)) (T, time.Time, error) {
	return cached(ctx, &u.cache, sourceKey{s, key}, databaseLife, func() (value T, err error) {
		select {
		case s.turn <- struct{}{}:
		case <-ctx.Done():
			return value, errLeft
		}
		defer func() { <-s.turn }()
		// Others share what is read, so that it does not end with this request.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), queryTime)
		defer cancel()
		return read(ctx)
	})
}
