package shards

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// A Kind is a durable.Kind whose jobs are in several stores.
type Kind[P, R any] struct {
	shards *Shards
	name   string
	of     map[*shard]*durable.Kind[P, R]
	by     *string // of By
}

// Handle is durable.Handle for all stores. It also panics if an option is GlobalLimit or GlobalRate, and the kind is not
// among Config.Pinned.
func Handle[P, R any](s *Shards, name string, fn func(ctx context.Context, payload P) (R, error),
	opts ...durable.HandlerOption) *Kind[P, R] {
	k := KindOf[P, R](s, name)
	for _, p := range s.all {
		k.of[p] = durable.Handle(p.jobs, name, fn, opts...)
		if p.jobs.GlobalLimited(name) && !s.pinned[name] {
			panic(invalid("kind %q: its GlobalLimit or GlobalRate would hold in each store by itself; add it to Config.Pinned in all programs", name))
		}
	}
	return k
}

// KindOf is durable.KindOf for all stores.
func KindOf[P, R any](s *Shards, name string) *Kind[P, R] {
	k := &Kind[P, R]{shards: s, name: name, of: make(map[*shard]*durable.Kind[P, R])}
	for _, p := range s.all {
		k.of[p] = durable.KindOf[P, R](p.jobs, name)
	}
	return k
}

// By returns the kind for jobs that are in one store with all others that are added By the same name, of any kinds: those
// of a customer, say. Then a Key is unique among these. Jobs with several parents, or with a key and parents, need it:
// they must be added By the same name as their parents.
func (k *Kind[P, R]) By(name string) *Kind[P, R] {
	by := *k
	by.by = &name
	return &by
}

// Add is durable.Kind.Add. If the store that the job belongs to does not answer, that is the error; a job that belongs to
// none is added to one that answers. A job whose virtual shard is being moved is added after that: Add waits for up to a
// minute, and otherwise for five seconds at most, and ends with an error that matches ErrMoving if that is too short.
func (k *Kind[P, R]) Add(ctx context.Context, payload P, opts ...durable.Option) (durable.ID, error) {
	return k.AddAfter(ctx, 0, payload, opts...)
}

// AddAfter is durable.Kind.AddAfter; see Add.
func (k *Kind[P, R]) AddAfter(ctx context.Context, delay time.Duration, payload P, opts ...durable.Option) (durable.ID, error) {
	return k.add(ctx, "", payload, opts, func(ctx context.Context, of *durable.Kind[P, R], opts []durable.Option) (durable.ID, error) {
		return of.AddAfter(ctx, delay, payload, opts...)
	})
}

// AddAt is durable.Kind.AddAt; see Add.
func (k *Kind[P, R]) AddAt(ctx context.Context, t time.Time, payload P, opts ...durable.Option) (durable.ID, error) {
	return k.add(ctx, "", payload, opts, func(ctx context.Context, of *durable.Kind[P, R], opts []durable.Option) (durable.ID, error) {
		return of.AddAt(ctx, t, payload, opts...)
	})
}

// AtFixedRate is durable.Kind.AtFixedRate; see Add.
func (k *Kind[P, R]) AtFixedRate(ctx context.Context, key string, initial, period time.Duration, payload P,
	opts ...durable.Option) (durable.ID, error) {
	return k.add(ctx, key, payload, opts, func(ctx context.Context, of *durable.Kind[P, R], opts []durable.Option) (durable.ID, error) {
		return of.AtFixedRate(ctx, key, initial, period, payload, opts...)
	})
}

// WithFixedDelay is durable.Kind.WithFixedDelay; see Add.
func (k *Kind[P, R]) WithFixedDelay(ctx context.Context, key string, initial, delay time.Duration, payload P,
	opts ...durable.Option) (durable.ID, error) {
	return k.add(ctx, key, payload, opts, func(ctx context.Context, of *durable.Kind[P, R], opts []durable.Option) (durable.ID, error) {
		return of.WithFixedDelay(ctx, key, initial, delay, payload, opts...)
	})
}

// On is durable.Kind.On; see Add.
func (k *Kind[P, R]) On(ctx context.Context, key string, trigger executor.Trigger, payload P,
	opts ...durable.Option) (durable.ID, error) {
	return k.add(ctx, key, payload, opts, func(ctx context.Context, of *durable.Kind[P, R], opts []durable.Option) (durable.ID, error) {
		return of.On(ctx, key, trigger, payload, opts...)
	})
}

// Await is durable.Kind.Await, wherever the job is, and also if it is moved meanwhile.
func (k *Kind[P, R]) Await(ctx context.Context, id durable.ID) (R, error) {
	for {
		p, _, err := k.shards.locate(ctx, id)
		if err != nil {
			var none R
			return none, err
		}
		r, err := k.of[p].Await(ctx, id)
		if !errors.Is(err, durable.ErrNotFound) {
			return r, err
		}
	}
}

// Payload is durable.Kind.Payload.
func (k *Kind[P, R]) Payload(job durable.Job) (P, error) { return k.any().Payload(job) }

func (k *Kind[P, R]) any() *durable.Kind[P, R] { return k.of[k.shards.all[0]] }

// add adds a job where it belongs. key is that of a schedule.
func (k *Kind[P, R]) add(ctx context.Context, key string, payload P, opts []durable.Option,
	call func(context.Context, *durable.Kind[P, R], []durable.Option) (durable.ID, error)) (durable.ID, error) {
	if ctx == nil {
		panic("durable/shards: nil Context")
	}
	p := k.any().Prepare(0, payload, opts...)
	if key == "" {
		key = p.Key()
	}
	v, bound := k.virtual(key, p)
	id := p.ID()
	switch {
	case p.Given() && bound && VirtualShard(id) != v:
		return durable.ID{}, invalid("WithID: the virtual shard of the job is %d, and the end of ID %s says %d; leave the option out",
			v, id, VirtualShard(id))
	case bound:
		id = at(id, v)
	}
	bound = bound || p.Given()
	to, err := k.target(ctx, id, p.Parents(), bound)
	for tries := 0; err != nil && !bound && tries < spreads && ctx.Err() == nil; tries++ {
		id = durable.NewID()
		to, err = k.target(ctx, id, nil, false)
	}
	if err != nil {
		return durable.ID{}, err
	}
	for tries := 0; ; tries++ {
		one, cancel := context.WithTimeout(ctx, fresh)
		added, err := call(one, k.of[to], append(opts[:len(opts):len(opts)], durable.WithID(id)))
		cancel()
		switch {
		case err == nil:
			return added, nil
		case errors.Is(err, durable.ErrNotFound) && tries < 3: // the parent was moved meanwhile
			if to, err = k.target(ctx, id, p.Parents(), bound); err == nil {
				continue
			}
		case !errors.Is(err, executor.ErrInvalid):
			to.doubt()
			err = to.wrap(err)
		}
		return added, err
	}
}

// spreads is how many virtual shards are tried for a job that can be anywhere.
const spreads = 64

// virtual returns the virtual shard that a job is bound to; false if it can have any.
func (k *Kind[P, R]) virtual(key string, p durable.Prepared) (v int, bound bool) {
	switch {
	case k.shards.pinned[k.name]:
		return hash("kind", k.name), true
	case k.by != nil:
		return hash("by", *k.by), true
	case p.Partition() != "":
		return hash("partition", k.name+"\x00"+p.Partition()), true
	case key != "":
		return hash("key", key), true
	case len(p.Parents()) > 0:
		return VirtualShard(p.Parents()[0]), true
	}
	return 0, false
}

// target returns the store that a job is to be added to: that of its parents, which may have stayed where they were, or
// that of its virtual shard. If wait is set, it waits for the end of a move of that.
func (k *Kind[P, R]) target(ctx context.Context, id durable.ID, parents []durable.ID, wait bool) (*shard, error) {
	v := VirtualShard(id)
	for _, parent := range parents {
		if VirtualShard(parent) != v {
			return nil, invalid("job of kind %q: it belongs to another virtual shard than its parent %s; add both By the same name",
				k.name, parent)
		}
	}
	if len(parents) == 0 {
		return k.shards.owner(ctx, v, wait)
	}
	p, _, err := k.shards.locate(ctx, parents[0])
	if errors.Is(err, durable.ErrNotFound) {
		err = fmt.Errorf("durable/shards: parent %s of a job of kind %s: %w", parents[0], strconv.Quote(k.name), err)
	}
	return p, err
}
