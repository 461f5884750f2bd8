package history

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/executor-go/executor"
)

// Record runs a random world of a kind, a number below Kinds, and returns its history. It
// returns when the pool has terminated.
func Record(kind int, seed uint64) *History {
	r := &recording{begin: time.Now().Add(-1)} // so that no time is 0, which means never
	hooks := executor.Hooks{
		BeforeTask: r.before,
		AfterTask:  r.after,
		Terminated: func() { r.terminated = append(r.terminated, r.now()) },
		OnPanic:    func(context.Context, executor.TaskInfo, *executor.PanicError) {},
	}
	r.setup = build(kind, seed, hooks)
	return r.record()
}

// A recording is an unfinished history.
type recording struct {
	*setup
	begin      time.Time
	runOrder   []int   // written by the bodies of a pool with one worker
	terminated []int64 // written by the hook

	offers chan offer // tasks for the goroutines that cancel and wait
	logs   []*log
}

// A log is the log of one goroutine.
type log struct {
	by      int
	events  []Event
	samples []executor.Stats
}

// An offer is a task that another goroutine may cancel or wait for.
type offer struct {
	job    *job
	future future // nil if it has none
}

func (r *recording) since(t time.Time) int64 { return int64(t.Sub(r.begin)) }
func (r *recording) now() int64              { return r.since(time.Now()) }

func (r *recording) before(ctx context.Context, info executor.TaskInfo) context.Context {
	return context.WithValue(ctx, hookKey{}, &hookRecord{before: r.now(), number: info.Run})
}

func (r *recording) after(ctx context.Context, _ executor.TaskInfo, err error) {
	n := ctx.Value(hookKey{}).(*hookRecord)
	n.after, n.err = r.now(), err
}

// call records a call by f, which sets the results.
func (l *log) call(r *recording, kind Kind, task int, f func(e *Event)) {
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
				r.submitAndOffer(b, l, rng)
			}
		})
	}
	for range 2 {
		act(&others, func(l *log, rng *rand.Rand) { r.interfere(l, rng) })
	}
	for range 2 {
		act(&others, func(l *log, rng *rand.Rand) { r.sample(l, over) })
	}
	if r.reconfigured {
		act(&others, func(_ *log, rng *rand.Rand) { r.reconfigure(rng, over) })
	}
	if r.changing != nil {
		act(&others, func(_ *log, rng *rand.Rand) { r.changePolicies(rng, over) })
	}
	var ending sync.WaitGroup
	for _, orderly := range r.orderly {
		act(&ending, func(l *log, rng *rand.Rand) { r.shutdown(l, rng, orderly, submitted) })
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

// merge returns the history after all goroutines have returned.
func (r *recording) merge(jobs [][]*job) *History {
	h := &History{World: r.World, Terminated: r.terminated, Order: r.runOrder, Final: r.pool.Stats()}
	rejected := make(map[int]error)
	for _, l := range r.logs {
		h.Events = append(h.Events, l.events...)
		if l.samples != nil {
			h.Samples = append(h.Samples, l.samples)
		}
		for _, e := range l.events {
			if e.Kind == Submit {
				rejected[e.Task] = e.Err
			}
		}
	}
	late := &log{by: len(r.logs)}
	over, end := context.WithCancel(context.Background())
	end()
	for _, js := range jobs {
		for _, b := range js {
			if b.future != nil { // after the run Join returns at once
				late.call(r, Join, b.ID, func(e *Event) { e.Err = b.future.Join(over) })
			}
			b.close(rejected[b.ID])
			h.Tasks = append(h.Tasks, &b.Task)
		}
	}
	h.Events = append(h.Events, late.events...)
	return h
}
