package history

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/executor-go/executor"
)

// Record draws a world of the kind, which counts from 0 to Kinds, runs all of its
// goroutines at once, and returns what they saw when the pool has terminated.
func Record(kind int, seed uint64) *History {
	r := &recording{begin: time.Now().Add(-1)} // no time is 0, which is never
	hooks := executor.Hooks{
		BeforeTask: r.before,
		AfterTask:  r.after,
		Terminated: func() { r.terminated = append(r.terminated, r.now()) },
		OnPanic:    func(context.Context, executor.TaskInfo, *executor.PanicError) {},
	}
	r.stage = build(kind, seed, hooks)
	return r.record()
}

// recording is a history in the making.
type recording struct {
	*stage
	begin      time.Time
	tape       []int   // written by the bodies of an orderly pool, one after the other
	terminated []int64 // written by the hook

	offers chan offer // tasks for the cancelers and waiters
	logs   []*log
}

// log is the log of one goroutine.
type log struct {
	by      int
	events  []Event
	samples []executor.Stats
}

// offer is a task that another goroutine may do something about.
type offer struct {
	job  *job
	hold handle // nil if it has none
}

func (r *recording) since(t time.Time) int64 { return int64(t.Sub(r.begin)) }
func (r *recording) now() int64              { return r.since(time.Now()) }

func (r *recording) before(ctx context.Context, info executor.TaskInfo) context.Context {
	return context.WithValue(ctx, noteKey{}, &note{before: r.now(), number: info.Run})
}

func (r *recording) after(ctx context.Context, _ executor.TaskInfo, err error) {
	n := ctx.Value(noteKey{}).(*note)
	n.after, n.err = r.now(), err
}

// note records a call of f, which fills in the answer.
func (l *log) note(r *recording, kind Kind, task int, f func(e *Event)) {
	l.events = append(l.events, Event{Kind: kind, By: l.by, Task: task, From: r.now()})
	e := &l.events[len(l.events)-1]
	f(e)
	e.To = r.now()
}

// record runs all goroutines and merges their logs.
func (r *recording) record() *History {
	r.offers = make(chan offer, 8)
	jobs := make([][]*job, r.submitters)
	var submitters, others sync.WaitGroup
	submitted, over := make(chan struct{}), make(chan struct{})
	act := func(group *sync.WaitGroup, f func(l *log, rng *rand.Rand)) {
		l := &log{by: len(r.logs)}
		r.logs = append(r.logs, l)
		rng := rand.New(rand.NewPCG(r.Seed, uint64(1+l.by)))
		group.Go(func() { f(l, rng) })
	}
	for i := range r.submitters {
		jobs[i] = make([]*job, r.tasks)
		act(&submitters, func(l *log, rng *rand.Rand) {
			for k := range r.tasks {
				b := r.draw(i*r.tasks+k, rng)
				jobs[i][k] = b
				r.hand(b, l, rng)
			}
		})
	}
	for range 2 {
		act(&others, func(l *log, rng *rand.Rand) { r.meddle(l, rng) })
	}
	for range 2 {
		act(&others, func(l *log, rng *rand.Rand) { r.watch(l, over) })
	}
	if r.tuned {
		act(&others, func(_ *log, rng *rand.Rand) { r.tune(rng, over) })
	}
	if r.fickle != nil {
		act(&others, func(_ *log, rng *rand.Rand) { r.change(rng, over) })
	}
	var ending sync.WaitGroup
	for _, gentle := range r.gentle {
		act(&ending, func(l *log, rng *rand.Rand) { r.shutdown(l, rng, gentle, submitted) })
	}
	act(&ending, r.await)

	submitters.Wait()
	close(submitted)
	close(r.offers)
	ending.Wait()
	close(over)
	others.Wait()
	return r.merge(jobs)
}

// merge returns the history, once all goroutines have ended.
func (r *recording) merge(jobs [][]*job) *History {
	h := &History{World: r.World, Terminated: r.terminated, Tape: r.tape, Final: r.pool.Stats()}
	refused := make(map[int]error)
	for _, l := range r.logs {
		h.Events = append(h.Events, l.events...)
		if l.samples != nil {
			h.Samples = append(h.Samples, l.samples)
		}
		for _, e := range l.events {
			if e.Kind == Submit {
				refused[e.Task] = e.Err
			}
		}
	}
	late := &log{by: len(r.logs)}
	over, end := context.WithCancel(context.Background())
	end()
	for _, js := range jobs {
		for _, b := range js {
			if b.hold != nil { // a late Join need not wait
				late.note(r, Join, b.ID, func(e *Event) { e.Err = b.hold.Join(over) })
			}
			b.close(refused[b.ID])
			h.Tasks = append(h.Tasks, &b.Task)
		}
	}
	h.Events = append(h.Events, late.events...)
	return h
}
