package oracle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/executor-go/executor"
)

// tick is the length of a tick in virtual time.
const tick = time.Second

var errBody = errors.New("body failed")

// errInterrupted is what the JDK's InterruptedException is: an error of the body. The error of
// its context would say that the pool has canceled it.
var errInterrupted = errors.New("body interrupted")

// run is one run of a program on our executors.
type run struct {
	*Program
	jitter jitter
	start  time.Time

	pool  *executor.Pool
	sched *executor.ScheduledPool

	mu        sync.Mutex
	tasks     map[int]executor.Awaitable
	of        map[any]int
	events    []event
	reject    string // the current policy
	hooks     [3]int // before, after, terminated
	bodies    int    // number of runs, those in the submitter included
	dropped   []int
	ambiguous bool
	stepping  time.Time // start of the current step; zero between steps
	measured  map[purpose]int
	late      map[int]bool // canceled when ours was already completed, but the JDK's was not
}

type event struct {
	at   int
	text string
}

// observe runs the program in this synctest bubble and returns the trace. It reports whether
// the trace is ambiguous, and so cannot be compared. That is so if a task that the submitter of a
// plain pool ran took until the next step, so that two steps were in one tick, which no rule
// allows; if an invokeAny ended while tasks of it were queued; or if a body stopped the pool
// while the submitter ran another one.
func observe(p *Program, jitter jitter) (trace string, ambiguous bool) {
	r := &run{
		Program: p, jitter: jitter, start: time.Now(), reject: p.Reject,
		tasks: map[int]executor.Awaitable{}, of: map[any]int{},
		late: map[int]bool{}, measured: map[purpose]int{},
	}
	r.open()
	before := -tick // end of the previous step
	for i, s := range p.Steps {
		r.sleepUntil(s.At, i)
		ambiguous := !p.Scheduled && time.Since(r.start)-before < tick/2
		r.setStepping(ambiguous, time.Now())
		r.do(s)
		r.setStepping(false, time.Time{})
		before = time.Since(r.start)
	}
	r.sleepUntil(p.End, len(p.Steps))
	r.note("stats %s", r.stats())
	r.drop(r.pool.ShutdownNow())
	r.pool.Close()
	return r.trace(), r.ambiguous
}

// setStepping sets the start of the current step, and whether it is too close to the previous.
func (r *run) setStepping(ambiguous bool, stepping time.Time) {
	r.mu.Lock()
	r.ambiguous, r.stepping = r.ambiguous || ambiguous, stepping
	r.mu.Unlock()
}

func (r *run) open() {
	keep := r.lengthen(r.Keep, purpose{task: -1})
	hooks := executor.Hooks{
		BeforeTask: func(ctx context.Context, _ executor.TaskInfo) context.Context {
			r.count(0)
			return ctx
		},
		AfterTask:  func(context.Context, executor.TaskInfo, error) { r.count(1) },
		Terminated: func() { r.count(2) },
		OnPanic:    func(context.Context, executor.TaskInfo, *executor.PanicError) {},
	}
	reject := rejects[r.Reject]
	var err error
	quiet := slog.New(slog.DiscardHandler)
	if r.Scheduled {
		r.sched, err = executor.NewScheduled(executor.ScheduledConfig{
			Workers: r.Workers, KeepAlive: keep, Reject: reject, Hooks: hooks, Logger: quiet,
			DropDelayed: !r.Delayed, KeepPeriodic: r.Periodic,
			Slack: -1, // the JDK has none
		})
		if err == nil {
			r.pool = r.sched.Pool
		}
	} else {
		q := executor.Unbounded()
		if n, ok := strings.CutPrefix(r.Queue, "bounded:"); ok {
			size, _ := strconv.Atoi(n)
			q = executor.Bounded(size)
		} else if r.Queue == "handoff" {
			q = executor.Handoff()
		} else if r.Queue == "prioritized" {
			q = executor.Prioritized()
		}
		most := r.Max
		if r.Queue == "unbounded" || r.Queue == "prioritized" {
			most = max(1, r.Workers) // New accepts no more, since the pool would not grow
		}
		r.pool, err = executor.New(executor.Config{
			Workers: r.Workers, Max: most, KeepAlive: keep, KeepNone: r.CoreToo,
			Queue: q, Reject: reject, Hooks: hooks, Logger: quiet,
		})
		if err == nil {
			err = r.pool.Reconfigure(func(to *executor.Settings) { to.Max = r.Max })
		}
	}
	if err != nil {
		panic(err)
	}
}

var rejects = map[string]executor.RejectPolicy{
	"abort":         executor.Abort,
	"callerruns":    executor.CallerRuns,
	"discard":       executor.Discard,
	"discardoldest": executor.DiscardOldest,
}

func (r *run) do(s Step) {
	ctx := context.Background()
	d := func(i int) time.Duration { return r.lengthen(s.Args[i], purpose{task: s.Task}) }
	var err error
	switch s.Do {
	case "submit":
		t := executor.NewTask(executor.Func(r.body(s)).Call, executor.Priority(s.Args[1]))
		r.keep(s.Task, t.Future(), t.Future())
		if err = r.pool.Execute(ctx, t); err != nil && r.Scheduled {
			r.forget(s.Task) // the JDK throws and returns no future
		}
	case "execute":
		b := &plain{r, r.body(s)}
		r.keep(s.Task, nil, b)
		err = r.pool.Execute(ctx, b)
	case "schedule":
		f := executor.SubmitAfter(ctx, r.sched, d(1), executor.Func(r.body(s)).Call)
		if errors.Is(f.Err(), executor.ErrRejected) && r.reject != "discard" {
			err = f.Err() // the JDK throws and returns no future
		} else {
			r.keep(s.Task, f, f)
		}
	case "rate", "delay":
		var f *executor.Series
		if s.Do == "rate" {
			f, err = r.sched.AtFixedRate(ctx, d(1), d(2), r.periodic(s))
		} else {
			f, err = r.sched.WithFixedDelay(ctx, d(1), d(2), r.periodic(s))
		}
		if f != nil {
			r.keep(s.Task, f, f)
		}
	case "cancel":
		r.note("cancel %d %t", s.Task, r.cancel(s.Task, true))
	case "abandon":
		r.note("abandon %d %t", s.Task, r.cancel(s.Task, false))
	case "remove":
		r.note("remove %d %t", s.Task, r.remove(s.Task))
	case "setcore":
		r.note("setcore %t", r.pool.Reconfigure(func(to *executor.Settings) { to.Workers = s.Args[0] }) == nil)
	case "setmax":
		r.note("setmax %t", r.pool.Reconfigure(func(to *executor.Settings) { to.Max = s.Args[0] }) == nil)
	case "prestart":
		if did := r.pool.Prestart(1); !r.inexactWorkers() {
			r.note("prestart %t", did == 1)
		}
	case "prestartall":
		if did := r.pool.Prestart(math.MaxInt); !r.inexactWorkers() {
			r.note("prestartall %d", did)
		}
	case "setreject":
		r.reject = policies[s.Args[0]]
		r.pool.Reconfigure(func(to *executor.Settings) { to.Reject = rejects[r.reject] })
	case "invokeall", "invokeany":
		go r.invoke(s, d(1))
	case "shutdown":
		r.pool.Shutdown()
	case "shutdownnow":
		r.drop(r.pool.ShutdownNow())
	case "setdelayed", "setperiodic":
		keep := s.Args[0] == 0
		r.pool.Reconfigure(func(to *executor.Settings) {
			if s.Do == "setdelayed" {
				to.DropDelayed = !keep
			} else {
				to.KeepPeriodic = keep
			}
		})
	case "stats":
		time.Sleep(tick) // the counters of the JDK lag behind
		r.note("stats %s", r.stats())
	}
	if err != nil {
		r.note("rejected %d", s.Task)
	}
}

// plain is a Runnable without a future.
type plain struct {
	r    *run
	body func(context.Context) error
}

func (p *plain) Run(ctx context.Context) error { return p.body(ctx) }

// body returns the body of a task. It takes its time, and returns early if it is interrupted,
// unless it is stubborn.
func (r *run) body(s Step) func(context.Context) error {
	return func(ctx context.Context) error {
		r.note("start %d", s.Task)
		r.mu.Lock()
		r.bodies++
		r.mu.Unlock()
		t := time.NewTimer(r.lengthen(s.Args[0], purpose{s.Task, true}))
		defer t.Stop()
		interrupted := ctx.Done()
		if strings.HasPrefix(s.Body, "stubborn") {
			interrupted = nil
		}
		select {
		case <-t.C:
		case <-interrupted:
			r.note("interrupted %d", s.Task)
			return errInterrupted
		}
		r.note("end %d", s.Task)
		switch s.Body {
		case "fail", "stubbornfail":
			return errBody
		case "panic":
			panic(errBody)
		case "cancelself":
			r.note("cancelself %d %t", s.Task, r.cancel(s.Task, true))
		case "spawn":
			child := Step{Task: 1000 + s.Task, Args: [3]int{2}, Body: "ok"}
			b := &plain{r, r.body(child)}
			r.keep(child.Task, nil, b)
			if r.pool.Execute(context.Background(), b) != nil {
				r.note("rejected %d", child.Task)
			}
		case "close":
			r.pool.Shutdown()
		case "stop":
			r.mu.Lock()
			if !r.stepping.IsZero() && time.Since(r.stepping) > 0 {
				r.ambiguous = true // the JDK does not interrupt a body in the submitter
			}
			r.mu.Unlock()
			r.drop(r.pool.ShutdownNow())
		}
		return nil
	}
}

// periodic returns the body of a periodic task. It panics where the JDK's throws, because an
// error does not end our schedules.
func (r *run) periodic(s Step) func(context.Context) error {
	body := r.body(s)
	return func(ctx context.Context) error {
		if err := body(ctx); err != nil {
			panic(err)
		}
		return nil
	}
}

func (r *run) keep(task int, f executor.Awaitable, what any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[what] = task
	if f != nil {
		r.tasks[task] = f
	}
}

func (r *run) forget(task int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.tasks, task)
}

// cancel cancels a task. It also reports true for a task that ours has completed but the JDK
// has left pending.
func (r *run) cancel(task int, interrupt bool) bool {
	f, late := r.cancelAfterCompletion(task)
	if f == nil || late {
		return late
	}
	if interrupt {
		return f.Cancel()
	}
	return f.(interface{ Abandon() bool }).Abandon()
}

// cancelAfterCompletion returns the future of a task, or nil. It reports whether ours is
// completed but the JDK's is still pending, and so is canceled now.
func (r *run) cancelAfterCompletion(task int) (f executor.Awaitable, late bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f = r.tasks[task]
	if f == nil || r.late[task] || !r.pendingInJDK(task) {
		return f, false
	}
	r.late[task] = true
	return f, true
}

// pendingInJDK reports whether the JDK has left the future of a task pending: the task was
// rejected, or ShutdownNow returned it. The caller holds mu.
func (r *run) pendingInJDK(id int) bool {
	err := r.tasks[id].Err()
	returned := errors.Is(err, executor.ErrShutdown) && slices.Contains(r.dropped, id)
	return errors.Is(err, executor.ErrRejected) || returned
}

func (r *run) remove(task int) bool {
	what := r.submitted(task)
	return what != nil && r.pool.Remove(what)
}

// submitted returns the Runnable that was submitted for a task. It returns nil if the JDK
// wrapped it and so does not find it.
func (r *run) submitted(task int) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	for what, t := range r.of {
		if _, bare := what.(*plain); bare && r.Scheduled {
			continue
		}
		if t == task {
			return what
		}
	}
	return nil
}

func (r *run) drop(us []executor.Dropped) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, u := range us {
		task, known := r.of[u.Task()]
		if _, bare := u.Task().(*plain); bare && r.Scheduled {
			known = false // the JDK returns its wrapper
		}
		if !known && r.hasBulk() {
			continue // the JDK also returns canceled tasks, in a wrapper
		}
		if !known {
			task = -1
		}
		r.dropped = append(r.dropped, task)
	}
}

func (r *run) stats() string {
	s := r.pool.Stats()
	stage := "running"
	switch {
	case s.Stage == executor.StageTerminated:
		stage = "terminated"
	case s.Stage != executor.StageRunning:
		stage = "shutdown"
	}
	text := fmt.Sprintf("%s active=%d", stage, s.Active)
	if !r.hasBulk() {
		text += fmt.Sprintf(" queued=%d runs=%d", s.Queued, s.Runs)
	}
	if !r.Scheduled && r.Queue != "prioritized" && !r.hasBulk() {
		var ids []int
		r.mu.Lock()
		for w := range r.pool.Waiting() {
			ids = append(ids, r.of[w])
		}
		r.mu.Unlock()
		text += fmt.Sprintf(" waiting=%v", ids)
	}
	if r.inexactWorkers() || r.Scheduled && s.Stage != executor.StageRunning {
		// After Shutdown the workers of the JDK wait until the last delayed task has ended;
		// ours stop when it has started.
		return text
	}
	return text + fmt.Sprintf(" size=%d largest=%d", s.Workers, s.Largest)
}

// trace returns what was observed, in an order that does not depend on the order within a
// tick.
func (r *run) trace() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortStableFunc(r.events, func(a, b event) int {
		if a.at != b.at {
			return a.at - b.at
		}
		return strings.Compare(a.text, b.text)
	})
	var b strings.Builder
	for _, e := range r.events {
		fmt.Fprintf(&b, "%d %s\n", e.at, e.text)
	}
	if r.Scheduled {
		slices.Sort(r.dropped) // the JDK returns them in heap order
	}
	if r.hasBulk() {
		r.hooks[0], r.hooks[1] = 0, 0
	}
	fmt.Fprintf(&b, "dropped %v\nhooks %v\n", r.dropped, r.hooks)
	ids := make([]int, 0, len(r.tasks))
	for id := range r.tasks {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		fmt.Fprintf(&b, "future %d %s\n", id, r.ending(id))
	}
	fmt.Fprintf(&b, "runs %d\n", r.bodies)
	return b.String()
}

// ending returns the outcome of a future as the JDK has it. The JDK leaves futures pending that
// ours completes with ErrRejected or ErrShutdown, except that it cancels the tasks that Shutdown
// drops by policy.
func (r *run) ending(id int) string {
	if r.pendingInJDK(id) {
		if r.late[id] {
			return "canceled"
		}
		return "pending"
	}
	return r.tasks[id].State().String()
}

func (r *run) count(hook int) {
	r.mu.Lock()
	r.hooks[hook]++
	r.mu.Unlock()
}

func (r *run) note(format string, args ...any) {
	at := int(math.Floor(time.Since(r.start).Seconds()/tick.Seconds() + 0.25))
	r.mu.Lock()
	r.events = append(r.events, event{at, fmt.Sprintf(format, args...)})
	r.mu.Unlock()
}

// lengthen returns n ticks with jitter.
func (r *run) lengthen(n int, what purpose) time.Duration {
	if n <= 0 {
		return time.Duration(n) * tick
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.measured[what]++
	return time.Duration(n)*tick + r.jitter.lengthen(what, r.measured[what])
}

// sleepUntil waits for the tick of step i, with jitter.
func (r *run) sleepUntil(at, i int) {
	time.Sleep(time.Until(r.start.Add(time.Duration(at)*tick)) + r.jitter.step(i, len(r.Steps)))
}
