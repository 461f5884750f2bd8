package executor

import (
	"context"
	"iter"
)

// entry is a task in a pool: a Runnable with the context it was submitted with
// and, if it is bound to this pool, its core.
type entry struct {
	run  Runnable
	ctx  context.Context
	task *task
}

// packed is an entry as the queues keep it: a bound task knows its context, and
// an errand that of any other. Queues hold a million of them, and are copied in
// and out of under the pool's lock.
type packed struct{ run Runnable }

// errand is a Runnable without a life of its own together with the context that
// it was submitted with.
type errand struct {
	Runnable
	ctx context.Context
}

// newEntry makes the entry of a Runnable that is not bound to the pool.
func newEntry(r Runnable, ctx context.Context) entry {
	if _, ok := r.(bound); !ok && isBackground(ctx) {
		return entry{run: r, ctx: ctx}
	}
	return entry{run: &errand{r, ctx}, ctx: ctx}
}

// boundEntry makes the entry of a task that is bound to the pool.
func boundEntry(b bound) entry {
	t := b.core()
	return entry{run: b, ctx: t.context(), task: t}
}

func (e entry) pack() packed { return packed{e.run} }

func (x packed) unpack() entry {
	switch r := x.run.(type) {
	case Func:
		return entry{run: r, ctx: context.Background()}
	case *errand:
		return entry{run: r, ctx: r.ctx}
	case bound:
		return boundEntry(r)
	}
	return entry{run: x.run, ctx: context.Background()}
}

// placed is told where the task waits.
func (x packed) placed(place int) {
	switch r := x.run.(type) {
	case Func, *errand:
	case bound:
		r.core().place = int32(place)
	}
}

func unpack(xs []packed) []entry {
	es := make([]entry, len(xs))
	for i, x := range xs {
		es[i] = x.unpack()
	}
	return es
}

func unpacked(xs iter.Seq[packed]) iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for x := range xs {
			if !yield(x.unpack()) {
				return
			}
		}
	}
}

// bound gives the task of an entry that has one.
func (e entry) bound() bound { return e.run.(bound) }

// origin gives the object that was submitted.
func (e entry) origin() Runnable {
	switch {
	case e.task != nil:
		return e.bound().origin()
	case e.run == nil:
		return nil
	}
	if r, ok := e.run.(*errand); ok {
		return r.Runnable
	}
	return e.run
}

// end completes the entry's task, if it has one.
func (e entry) end(s State, err error) {
	if e.task != nil {
		e.bound().end(s, err)
	}
}
