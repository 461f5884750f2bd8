package executor

import (
	"context"
	"fmt"
)

// Keyed runs tasks by key on a pool: at most n at once for each key, in the order of their
// submission, and as many keys at once as the pool has workers. It is made by [NewKeyed].
//
// What waits for its key holds no worker, and leaves at once when it is canceled or its
// context ends. There is no limit to the number of keys, and a key without tasks takes no
// memory. Keys that have tasks take turns.
//
// A Keyed is a share of the pool, as by [Pool.Share], and ends with it. All methods may be
// called by any goroutine.
type Keyed[K comparable] struct{ pool *Pool }

// NewKeyed returns a Keyed on the workers of pool, which may be a share. With n = 1 the
// tasks of a key never overlap. It panics if pool is nil or n is less than 1. If pool is
// shut down, so is the Keyed.
func NewKeyed[K comparable](pool *Pool, n int) *Keyed[K] {
	if pool == nil {
		panic("executor: NewKeyed: nil Pool")
	}
	if n < 1 {
		panic(fmt.Sprintf("executor: NewKeyed: n is %d; it must be at least 1", n))
	}
	return &Keyed[K]{pool.keyed(n)}
}

// Go submits fn as a task of key, to be run once and forgotten, as [Pool.Go]. The error
// matches [ErrRejected] if the Keyed is shut down. A key that cannot be compared, as an
// interface with a slice in it, panics.
func (k *Keyed[K]) Go(ctx context.Context, key K, fn func(context.Context) error, opts ...Option) error {
	return k.pool.goOn(ctx, k.For(key), fn, opts)
}

// For returns the Executor of a key, for [Submit], [NewGroup] and others:
//
//	f := executor.Submit(ctx, hosts.For("example.org"), fetch)
//
// It costs nothing to keep or to make anew. A key that cannot be compared panics.
func (k *Keyed[K]) For(key K) Executor {
	mustHash(key)
	return &keyExecutor{k.pool, key}
}

// Pool returns the share that runs the tasks, for its Stats, Shutdown and Close. A task
// that is submitted to it directly has no key, and waits for none.
func (k *Keyed[K]) Pool() *Pool { return k.pool }

// keyed returns a share whose tasks have keys.
func (p *Pool) keyed(n int) *Pool {
	s := must(p.newShare(ShareConfig{}, &lanes{limit: n, byKey: make(map[any]*lane)}, maxQueued))
	if !p.lend(s) {
		s.Shutdown()
	}
	return s
}

// submitKeyed is submit for a task of a key.
func (p *Pool) submitKeyed(ctx context.Context, r Runnable, key any) error {
	mustContext(ctx)
	p.mustBeMade()
	e, t := p.newEntry(ctx, r)
	if t == nil { // it needs a place
		c := newTaskRunnable(e.run)
		c.core.AttachNew(&p.owner, ctx)
		e, t = entry{c}, &c.core
	}
	return p.enter(ctx, entry{&keyedTask{Runnable: e.run, key: key}}, t)
}

// keyExecutor is the Executor of a key.
type keyExecutor struct {
	pool *Pool
	key  any
}

func (x *keyExecutor) Execute(ctx context.Context, task Runnable) error {
	r, err := runnable(task)
	if err != nil {
		return err
	}
	return x.pool.submitKeyed(ctx, r, x.key)
}

func (x *keyExecutor) String() string { return fmt.Sprintf("executor: key %v of %v", x.key, x.pool) }

// mustHash panics if key cannot be a key of a map: the one in lanes is under a lock.
func mustHash[K comparable](key K) {
	defer func() {
		if v := recover(); v != nil {
			panic(fmt.Sprintf("executor: Keyed: key %v of type %T cannot be compared", key, key))
		}
	}()
	_ = map[K]struct{}(nil)[key]
}
