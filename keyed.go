package executor

import (
	"context"
	"fmt"
)

// Keyed runs tasks by key on a pool: at most n at once for each key, in the order of their submission, and as many keys
// at once as the pool has workers. [NewKeyed] makes a Keyed.
//
// A task that waits for its key holds no worker, and leaves at once when it is canceled or its context ends. There is
// no limit to the number of keys, and a key without tasks takes no memory. Keys with waiting tasks take turns.
//
// A task must not wait for a task of its own key: it keeps its key. For others it may, see [Future.Get].
//
// A Keyed is a share of the pool, see [Pool.Share], and ends with it: without tasks at once when the pool is shut down.
// If you make a Keyed for a single request, shut down its Pool: the pool keeps the Keyed until then. All methods may be
// called by any goroutine.
type Keyed[K comparable] struct{ pool *Pool }

// NewKeyed returns a Keyed on the workers of pool, which may be a share. With n = 1 the
// tasks of a key never overlap. Its ShareConfig, zero but for what the functions in with change,
// bounds all keys together:
//
//	mails := executor.NewKeyed[string](pool, 1, func(c *executor.ShareConfig) { c.Queue = executor.Bounded(1000) })
//
// NewKeyed panics if pool is nil, n is less than 1, or the ShareConfig is invalid. If pool is shut
// down, so is the Keyed.
func NewKeyed[K comparable](pool *Pool, n int, with ...func(*ShareConfig)) *Keyed[K] {
	if pool == nil {
		panic("executor: NewKeyed: nil Pool")
	}
	if n < 1 {
		panic(fmt.Sprintf("executor: NewKeyed: n is %d; it must be at least 1", n))
	}
	return &Keyed[K]{pool.keyed(n, with)}
}

// Go submits fn as a task of key, without a future, like [Pool.Go]. The error matches [ErrRejected] if the Keyed is
// shut down, or has no room for the task. A key that cannot be compared, such as an interface that contains a slice,
// panics.
func (k *Keyed[K]) Go(ctx context.Context, key K, fn func(context.Context) error, opts ...Option) error {
	k.mustBeMade()
	if fn != nil && len(opts) == 0 {
		mustHash(key)
		return k.pool.submitKeyed(ctx, Func(fn), key)
	}
	return k.pool.goOn(ctx, k.For(key), fn, opts)
}

// For returns the Executor of a key, for [Submit], [NewGroup] and others:
//
//	f := executor.Submit(ctx, hosts.For("example.org"), fetch)
//
// The Executor may be kept, or made for each call. A key that cannot be compared panics.
func (k *Keyed[K]) For(key K) Executor {
	k.mustBeMade()
	mustHash(key)
	return &keyExecutor{k.pool, key}
}

// Pool returns the share that runs the tasks, for its Stats, Shutdown and Close. A task that is submitted to the share
// directly has no key, and waits for no key.
func (k *Keyed[K]) Pool() *Pool {
	k.mustBeMade()
	return k.pool
}

func (k *Keyed[K]) mustBeMade() {
	if k == nil || k.pool == nil {
		panic("executor: this Keyed was not made by NewKeyed; the zero value is not usable")
	}
}

// keyed returns a share whose tasks have keys.
func (p *Pool) keyed(n int, with []func(*ShareConfig)) *Pool {
	p.mustBeMade()
	var c ShareConfig
	for _, change := range with {
		mustChange(change != nil)
		change(&c)
	}
	s := must(p.newShare(c, n))
	if !p.addShare(s) {
		s.Shutdown()
	}
	return s
}

// submitKeyed is submit for a task of a key.
func (p *Pool) submitKeyed(ctx context.Context, r Runnable, key any) error {
	mustContext(ctx)
	p.mustBeMade()
	u, t, err := p.newWork(ctx, r)
	if err != nil {
		return err
	}
	return p.enter(ctx, withKey(u, key), t, false)
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

// mustHash panics if key cannot be a key of a map: that of the backlog is under a lock.
func mustHash[K comparable](key K) {
	defer func() {
		if v := recover(); v != nil {
			panic(fmt.Sprintf("executor: Keyed: key %v of type %T cannot be compared", key, key))
		}
	}()
	_ = map[K]struct{}(nil)[key]
}
