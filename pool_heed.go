package executor

import "context"

// What a submitter's own code is asked, his context above all: it may panic, or
// call runtime.Goexit.

// ask gives what the submitter's context, or decoration, answers. If it panics, he
// gets the panic, and his task, which is nowhere, is rejected and has failed with it.
func ask[A any](p *Pool, e entry, question func() A) (answer A) {
	answered := false
	defer passOn(&answered, func(err error) {
		p.countRejected()
		e.end(Failed, err)
	})
	answer = question()
	answered = true
	return answer
}

// attend looks after a task that was just queued: it is to leave when the
// submitter's context ends, and at once if it was completed on its way here.
func (p *Pool) attend(ctx context.Context, e entry, t *task) {
	switch {
	case t == nil:
	case t.State().Done():
		p.forget(t)
	case !e.alone(t):
		p.heed(ctx, e.run.(bound))
	}
}

// heed has b, which waits, leave the queue when the submitter's context ends. One
// that panics when it is asked for that is taken as ended: he gets the panic, and
// what he takes for refused does not run, unless it runs by now.
func (p *Pool) heed(ctx context.Context, b bound) {
	var l *link[watched]
	told := false
	defer passOn(&told, func(err error) {
		expire(b, err)
		if l != nil {
			leave(l) // it may have come under a watch by then
		}
	})
	if done := ctx.Done(); done != nil {
		l = &link[watched]{value: watched{of: &p.watches, b: b, ctx: ctx}}
		p.watches.add(l, done)
		b.core().watch(l)
	}
	told = true
}

// passOn, deferred, has a user's panic go on to the goroutine that submits, or runs a
// task by hand, after settle was told of it; likewise runtime.Goexit. It does nothing
// if the user's code has returned.
func passOn(returned *bool, settle func(err error)) {
	if *returned {
		return
	}
	end := abrupt(recover())
	settle(end.err)
	if perr := end.panicked(); perr != nil {
		panic(perr.Value)
	}
}
