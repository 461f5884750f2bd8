package executor

import (
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/executor-go/executor/histogram"
)

// An Observer watches pools, those with it as Config.Observer and those given to Watch, and measures some of their
// tasks: how long they wait, how long they run, and how late they are. Package ui/debug shows it as a page. A pool
// without an Observer measures nothing; that is the default. The zero Observer is ready to use and can be left on. It
// must not be copied, nor its fields changed, once it has a pool.
//
// All methods may be called by any goroutine. An Observer has no goroutine of its own, and need not be closed. It
// refers to a pool until the pool is terminated.
type Observer struct {
	// Every sets how many tasks are measured: on average one in Every, chosen at random. It may be 1, for each task, to
	// 1<<20. The default, 0, is 64, which costs less than can be measured. With 1 each task costs about 200 ns more;
	// use it if tasks take longer than some microseconds, or are rare, as those of schedules.
	Every int

	// MaxNames is how many task names of a pool have figures of their own; tasks with further names are in
	// Figures.OtherNames. It must not be negative. A name takes 8 KiB. The default, 0, means none.
	MaxNames int

	// MaxEvents is how many events of all pools are kept, the latest ones. It must not be negative. An event costs
	// about 100 ns. There may be an event for each task, if workers come and go with tasks, as in PerTask, or if all
	// tasks are rejected. The default, 0, means none.
	MaxEvents int

	// mu is a leaf. It is not needed for a task that is measured.
	mu     sync.Mutex
	pools  []*observed // in the order of their numbers
	last   int         // number of the pool that was added last
	events []Event     // a ring, made with the first pool; event n is at (n-1) % len
	latest int64       // number of the latest event
}

const (
	defaultEvery = 64
	maxEvery     = 1 << 20
)

// check returns an error if o is not nil and a field is out of its range. where names the call
// that o was given to.
func (o *Observer) check(where string) error {
	switch {
	case o == nil:
		return nil
	case o.Every < 0 || o.Every > maxEvery:
		return invalid("%s: Every of the Observer is %d; it must be from 1 to %d, or 0 for %d",
			where, o.Every, maxEvery, defaultEvery)
	case o.MaxNames < 0:
		return invalid("%s: MaxNames of the Observer is %d; it must not be negative; 0 is none", where, o.MaxNames)
	case o.MaxEvents < 0:
		return invalid("%s: MaxEvents of the Observer is %d; it must not be negative; 0 is none", where, o.MaxEvents)
	}
	return nil
}

// add adds a pool. The pool's lock is held, so that the pool can't end meanwhile.
func (o *Observer) add(w *observed) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.events == nil {
		o.events = make([]Event, o.MaxEvents)
	}
	o.last++
	w.number = o.last
	o.pools = append(o.pools, w)
}

// remove removes a pool that is terminated.
func (o *Observer) remove(w *observed) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := make([]*observed, 0, len(o.pools)) // a copy, since Pools may be iterating
	for _, other := range o.pools {
		if other != w {
			kept = append(kept, other)
		}
	}
	o.pools = kept
}

// eventKind is what has happened to a pool; see Event.Kind.
type eventKind uint8

const (
	workerStarted eventKind = iota
	workerLeft
	taskRejected
	panicked
	poolShutdown
	poolStopped
	poolTerminated
	numEventKinds
)

var eventKindNames = [numEventKinds]string{"worker started", "worker left", "rejected", "panicked", "shutdown", "stop",

	"terminated"}

// Event is something that has happened to a pool, once or several times in a second.
type Event struct {
	Number int64     // from 1, one more than that of the event before
	Time   time.Time // when it happened, for the first time
	Count  int64     // how often it happened within a second of Time; it may still grow in that second
	Pool   int       // the number of the pool, see Observer.Pools
	Name   string    // the name of the pool

	// Kind is what happened: "worker started", "worker left", "rejected" if a task was handed
	// to the rejection policy, or evicted by it, "panicked" if a body or a hook did,
	// "shutdown" by Shutdown, "stop" by ShutdownNow, or "terminated".
	Kind string
}

// Events returns the events after the one with the given number, 0 for all, oldest first,
// and how many of these were lost because more than o.MaxEvents came after them.
func (o *Observer) Events(after int64) (events []Event, lost int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	first := max(after, 0) + 1
	if kept := o.latest - int64(len(o.events)) + 1; kept > first {
		lost, first = kept-first, kept
	}
	for n := first; n <= o.latest; n++ {
		events = append(events, *o.event(n))
	}
	return events, lost
}

// event returns the place of event n. The caller holds the lock.
func (o *Observer) event(n int64) *Event { return &o.events[(n-1)%int64(len(o.events))] }

// note adds an event of the pool, if o is not nil and events are kept. The same that
// happens again within a second is counted with the first one.
func (o *observed) note(k eventKind) {
	if o == nil || len(o.observer.events) == 0 {
		return
	}
	now := time.Now()
	all := o.observer
	all.mu.Lock()
	defer all.mu.Unlock()
	if n := o.noted[k]; n > 0 && n > all.latest-int64(len(all.events)) {
		if e := all.event(n); now.Sub(e.Time) < time.Second {
			e.Count++
			return
		}
	}
	all.latest++
	o.noted[k] = all.latest
	*all.event(all.latest) = Event{
		Number: all.latest, Time: now, Count: 1, Pool: o.number, Name: o.name, Kind: eventKindNames[k],
	}
}

// observed is a pool with its Observer.
type observed struct {
	observer *Observer
	pool     Executor // the *Pool
	name     string
	epoch    time.Time            // of the pool's times
	number   int                  // of the pool
	timed    bool                 // it is a scheduled pool
	every    int                  // one task of so many is measured
	noted    [numEventKinds]int64 // numbers of the latest events; under the Observer's lock

	all   figures
	names nameFigures
}

// figures are what is measured of some tasks.
type figures struct {
	wait histogram.Histogram // or the lateness, in a scheduled pool
	run  histogram.Histogram
}

func (f *figures) record(wait, run time.Duration) {
	f.wait.Record(wait)
	f.run.Record(run)
}

// nameFigures are the figures by task name.
type nameFigures struct {
	mu     sync.Mutex // a leaf
	byName map[string]*figures
	others figures // of names beyond the limit
}

// elapsed is Pool.elapsed.
func (o *observed) elapsed() int64 { return int64(time.Since(o.epoch)) }

// choose reports whether a task is chosen: one of Every on average, at random, so that it does
// not follow a pattern of the tasks.
func (o *observed) choose() bool { return rand.Uint32N(uint32(o.every)) == 0 }

// named returns the figures of the tasks with a name, nil if none are asked for.
func (o *observed) named(name string) *figures {
	most := o.observer.MaxNames
	if most == 0 {
		return nil
	}
	n := &o.names
	n.mu.Lock()
	defer n.mu.Unlock()
	f := n.byName[name]
	switch {
	case f != nil:
	case len(n.byName) >= most:
		f = &n.others
	default:
		f = new(figures)
		if n.byName == nil {
			n.byName = make(map[string]*figures)
		}
		n.byName[strings.Clone(name)] = f
	}
	return f
}
