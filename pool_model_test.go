package executor_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// Programs: random sequences of calls on a pool and on a model of it.

// program runs a sequence of calls on a pool and on the model of it. Its code
// determines the calls: any bytes are a program.
type program struct {
	t     *testing.T
	code  []byte
	begin time.Time

	mu  sync.Mutex
	log []programRun // what the pool ran
}

// next reads a number below n.
func (p *program) next(n int) int {
	if len(p.code) == 0 {
		return 0
	}
	b := p.code[0]
	p.code = p.code[1:]
	return int(b) % n
}

// ms reads a time below n milliseconds.
func (p *program) ms(n int) time.Duration { return time.Duration(p.next(n)) * time.Millisecond }

// note records that a run begins.
func (p *program) note(r programRun) {
	r.began = time.Since(p.begin)
	p.mu.Lock()
	p.log = append(p.log, r)
	p.mu.Unlock()
}

// play takes one step after the other, then lets time pass for what is left.
// After each, when all goroutines are blocked, it calls compare.
func (p *program) play(rest int, step, compare func()) {
	settle := func() {
		synctest.Wait()
		compare()
	}
	for ops := 0; len(p.code) > 0 && ops < 300 && !p.t.Failed(); ops++ {
		step()
		settle()
	}
	for range rest {
		time.Sleep(time.Millisecond)
		settle()
	}
}

// sameRuns compares the runs of the pool with those of the model. If parallel is set,
// runs that begin at the same time are in no order.
func (p *program) sameRuns(model []programRun, parallel bool) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if parallel {
		order := func(a, b programRun) int {
			return cmp.Or(cmp.Compare(a.began, b.began), cmp.Compare(a.task, b.task), cmp.Compare(a.number, b.number))
		}
		slices.SortFunc(p.log, order)
		slices.SortFunc(model, order)
	}
	if !slices.Equal(p.log, model) {
		p.t.Fatalf("after %v the pool ran\n%v, the model\n%v", time.Since(p.begin), p.log, model)
	}
}

// programRun is one run of a task: the task's number, when it began, and, of a
// task on a schedule, when it was due and which of its runs it is.
type programRun struct {
	task   int
	began  time.Duration
	due    time.Duration
	number int64
}

func newProgram(t *testing.T, code []byte) program {
	return program{t: t, code: code, begin: time.Now()}
}

// playRandom plays n programs of up to longest bytes, each in a bubble, fewer in
// short runs. EXECUTOR_SEED=n repeats one.
func playRandom(t *testing.T, n, longest int, play func(t *testing.T, code []byte)) {
	t.Helper()
	n = testkit.Scale(n)
	seed := rand.Uint64()
	if s := os.Getenv("EXECUTOR_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
		n = 1
	}
	for range n {
		r := rand.New(rand.NewPCG(seed, 0))
		code := make([]byte, 20+r.IntN(longest-20))
		for i := range code {
			code[i] = byte(r.Uint32())
		}
		if synctest.Test(t, func(t *testing.T) { play(t, code) }); t.Failed() {
			t.Fatalf("EXECUTOR_SEED=%d", seed)
		}
		seed = r.Uint64()
	}
}

// poolModel is what a pool has to do, in the form of a sorted list and a number of workers.
// Times are since the beginning.
type poolModel struct {
	core, max int
	elastic   bool // grows when all workers are busy
	kept      bool // idle workers above core stay for the whole program
	room      int  // of the queue, -1 for any number
	ranked    bool // the queue is by priority
	policy    executor.RejectPolicy

	now     time.Duration
	stage   executor.Stage
	workers int
	tasks   []*poolModelTask
	queue   []*poolModelTask
	busy    []*poolModelTask // what the workers run, in order of until
	inline  *poolModelTask   // what the submitter runs

	log                                              []programRun
	submitted, succeeded, failed, canceled, rejected int64
}

// submit admits t by the four steps. It reports whether the submission
// succeeds.
func (m *poolModel) submit(t *poolModelTask) bool {
	t.number = len(m.tasks)
	m.tasks = append(m.tasks, t)
	m.submitted++
	if m.stage == executor.StageRunning && m.admit(t) {
		return true
	}
	switch {
	case m.policy == executor.Discard:
	case m.stage != executor.StageRunning, m.policy == executor.Abort:
		m.reject(t)
		return false
	case m.policy == executor.CallerRuns:
		m.rejected++
		m.inline = t
		m.begin(t)
		return true
	case len(m.queue) == 0: // DiscardOldest has nothing to discard
		m.reject(t)
		return false
	case m.policy == executor.DropLowest:
		last := len(m.queue) - 1
		if m.queue[last].priority <= t.priority {
			m.reject(t)
			return false
		}
		m.reject(m.queue[last])
		m.queue = m.queue[:last]
		m.admit(t)
		return true
	default:
		m.reject(m.queue[0])
		m.queue = m.queue[1:]
		m.admit(t)
		return true
	}
	m.reject(t)
	return true
}

func (m *poolModel) reject(t *poolModelTask) {
	t.state = executor.Failed
	m.rejected++
}

func (m *poolModel) admit(t *poolModelTask) bool {
	switch {
	case m.workers < m.core && !m.elastic:
		m.workers++
		m.start(t)
	case m.workers > len(m.busy):
		m.start(t)
	case m.workers < m.eager():
		m.workers++
		m.start(t)
	case m.room < 0 || len(m.queue) < m.room:
		i := len(m.queue)
		if m.ranked {
			i = slices.IndexFunc(m.queue, func(o *poolModelTask) bool { return o.priority > t.priority })
			if i < 0 {
				i = len(m.queue)
			}
		}
		m.queue = slices.Insert(m.queue, i, t)
		if m.workers == 0 {
			m.workers++
			m.next()
		}
	case m.workers < m.max:
		m.workers++
		m.start(t)
	default:
		return false
	}
	return true
}

func (m *poolModel) begin(t *poolModelTask) {
	t.state, t.until = executor.Running, m.now+t.work
	m.log = append(m.log, programRun{task: t.number, began: m.now})
}

func (m *poolModel) start(t *poolModelTask) {
	m.begin(t)
	m.busy = append(m.busy, t)
	slices.SortStableFunc(m.busy, func(a, b *poolModelTask) int { return cmp.Compare(a.until, b.until) })
}

// next is what a worker does after a task.
func (m *poolModel) next() {
	expendable := m.workers > 1 || len(m.queue) == 0
	switch {
	case m.stage == executor.StageStop, m.workers > m.max && expendable:
		m.workers--
	case len(m.queue) > 0:
		t := m.queue[0]
		m.queue = m.queue[1:]
		m.start(t)
	default:
		m.dismissIdle()
	}
}

// dismissIdle dismisses idle workers.
func (m *poolModel) dismissIdle() {
	for m.workers > len(m.busy) {
		over := m.stage != executor.StageRunning && len(m.queue) == 0 ||
			m.workers > m.max || m.workers > m.core && !m.kept
		if !over || m.workers == 1 && len(m.queue) > 0 {
			break
		}
		m.workers--
	}
}

// advance does what happens until now.
func (m *poolModel) advance(now time.Duration) {
	for len(m.busy) > 0 && m.busy[0].until <= now {
		t := m.busy[0]
		m.busy = m.busy[1:]
		m.now = max(m.now, t.until)
		switch m.finish(t); t.state {
		case executor.Succeeded:
			m.succeeded++
		case executor.Failed:
			m.failed++
		default:
			m.canceled++
		}
		m.next()
	}
	if m.inline != nil {
		m.finish(m.inline)
		m.inline = nil
	}
	m.now = now
}

func (m *poolModel) finish(t *poolModelTask) {
	switch {
	case t.state.Done(): // canceled during its run
	case t.sour:
		t.state = executor.Failed
	default:
		t.state = executor.Succeeded
	}
}

// leave takes t out of the queue, if it is there.
func (m *poolModel) leave(t *poolModelTask) bool {
	i := slices.Index(m.queue, t)
	if i < 0 {
		return false
	}
	m.queue = slices.Delete(m.queue, i, i+1)
	m.canceled++
	t.state = executor.Canceled
	return true
}

func (m *poolModel) cancel(t *poolModelTask) bool {
	if t.state.Done() {
		return false
	}
	m.leave(t)
	t.state = executor.Canceled
	return true
}

// eager is the number of workers up to which tasks are not queued.
func (m *poolModel) eager() int {
	if m.elastic {
		return m.max
	}
	return m.core
}

// resize changes core and max, and reports whether it could.
func (m *poolModel) resize(core, most int) bool {
	if most < core || most < 1 {
		return false
	}
	grown := -m.eager()
	m.core, m.max = core, most
	grown += m.eager()
	m.dismissIdle()
	for range min(grown, len(m.queue)) {
		if m.workers < m.eager() && m.stage != executor.StageStop {
			m.workers++
			m.next()
		}
	}
	return true
}

func (m *poolModel) shutdown() {
	m.stage = max(m.stage, executor.StageShutdown)
	m.dismissIdle()
}

// shutdownNow returns the numbers of the tasks that ShutdownNow has to return.
func (m *poolModel) shutdownNow() (back []int) {
	m.stage = executor.StageStop
	for len(m.queue) > 0 {
		back = append(back, m.queue[0].number)
		m.leave(m.queue[0])
	}
	m.dismissIdle()
	return back
}

type poolModelTask struct {
	number   int
	work     time.Duration
	priority int
	sour     bool
	until    time.Duration
	state    executor.State
}

// poolProgram is a program of calls on a pool.
type poolProgram struct {
	program
	share bool // the pool is a share, which has no workers to keep
	pool  *executor.Pool
	model *poolModel
	tasks []*executor.Task[int]
}

func (p *poolProgram) step() {
	switch op := p.next(20); op {
	default:
		p.submit()
	case 9, 10, 11:
		if len(p.tasks) == 0 {
			return
		}
		i := p.next(len(p.tasks))
		f, m := p.tasks[i], p.model.tasks[i]
		switch op {
		case 9:
			expect(p.t, "Cancel", f.Cancel(), p.model.cancel(m))
		case 10:
			expect(p.t, "Abandon", f.Abandon(), p.model.cancel(m))
		case 11:
			expect(p.t, "Remove", p.pool.Remove(f), p.model.leave(m))
		}
		if len(p.model.queue) == 0 {
			p.model.dismissIdle()
		}
	case 12:
		n := p.next(5)
		expect(p.t, "SetWorkers", setWorkers(p.pool, n) == nil, !(p.share && n > 0) && p.model.resize(n, p.model.max))
	case 13:
		n := p.next(12)
		if n >= 6 {
			core := n - 6
			if p.share {
				core = 0
			}
			expect(p.t, "Resize", p.pool.Resize(n-6) == nil, p.model.resize(core, n-6))
			break
		}
		expect(p.t, "SetMax", setMax(p.pool, n) == nil, p.model.resize(p.model.core, n))
	case 14:
		switch p.next(8) {
		case 0:
			p.pool.Shutdown()
			p.model.shutdown()
		case 1:
			p.shutdownNow()
		}
	case 15, 16, 17, 18, 19:
		time.Sleep(p.ms(4))
	}
}

func (p *poolProgram) shutdownNow() {
	want := p.model.shutdownNow()
	var got []int
	for _, u := range p.pool.ShutdownNow() {
		got = append(got, slices.IndexFunc(p.tasks, func(f *executor.Task[int]) bool { return f.Future() == u.Task() }))
	}
	if p.model.ranked { // which returns them in no particular order
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		p.t.Errorf("ShutdownNow: got %v, want %v", got, want)
	}
}

func (p *poolProgram) submit() {
	m := &poolModelTask{work: p.ms(4), priority: p.next(3), sour: p.next(5) == 0}
	number := len(p.tasks)
	f := executor.NewTask(func(context.Context) (int, error) {
		p.note(programRun{task: number})
		time.Sleep(m.work)
		if m.sour {
			return 0, errors.New("sour")
		}
		return number, nil
	}, executor.Priority(m.priority))
	p.tasks = append(p.tasks, f)
	err := p.pool.Execute(context.Background(), f)
	expect(p.t, "accepted", err == nil, p.model.submit(m))
}

// compare compares the pool, whose goroutines are all blocked, with the model.
func (p *poolProgram) compare() {
	m := p.model
	m.advance(time.Since(p.begin))
	p.sameRuns(m.log, m.max > 1 || m.policy == executor.CallerRuns)
	for i, f := range p.tasks {
		if want := m.tasks[i].state; f.State() != want {
			p.t.Fatalf("after %v task %d is %v, in the model %v", m.now, i, f.State(), want)
		}
		if v, err := f.Result(); err == nil && v != i {
			p.t.Fatalf("task %d returned %d", i, v)
		}
	}
	s := checkStats(p.t, p.pool)
	got := [...]int64{int64(s.Workers), int64(s.Active), int64(s.Queued), s.Submitted, s.Succeeded, s.Failed,
		s.Canceled, s.Rejected}
	want := [...]int64{int64(m.workers), int64(len(m.busy)), int64(len(m.queue)), m.submitted, m.succeeded, m.failed,
		m.canceled, m.rejected}
	if got != want {
		p.t.Fatalf("after %v: workers, active, queued, submitted, succeeded, failed, canceled, rejected are\n%v, in the model\n%v", m.now, got, want)
	}
	if over := m.stage != executor.StageRunning && m.workers == 0; over != (s.Stage == executor.StageTerminated) {
		p.t.Fatalf("after %v the pool is %v; in the model it is over: %t", m.now, s.Stage, over)
	}
}

// runPoolProgram runs code and compares order and times of all runs, what each call
// returned, and the counters after it.
func runPoolProgram(t *testing.T, code []byte) {
	p := &poolProgram{program: newProgram(t, code), model: new(poolModel)}
	m := p.model
	m.core = p.next(3)
	m.max = max(1, m.core) + p.next(3)
	m.kept = p.next(2) == 0
	queue := p.next(10)
	m.elastic = queue >= 5
	c := p.configure(queue % 5)
	if m.kept {
		c.KeepAlive = time.Hour
	}
	if m.elastic {
		c.GrowWhenBusy = true
	}
	c.Workers, c.Max = m.core, m.max
	if m.room < 0 && !m.elastic {
		c.Max = max(1, m.core) // New accepts no more, since the pool would not grow
	}
	p.pool = newPool(t, c)
	expect(t, "SetMax", setMax(p.pool, m.max), nil)
	p.play(20, p.step, p.compare)
}

// runShareProgram is runPoolProgram for a share of a pool that always has a worker. Such a
// share is like an elastic pool without workers to keep.
func runShareProgram(t *testing.T, code []byte) {
	p := &poolProgram{program: newProgram(t, code), model: new(poolModel), share: true}
	m := p.model
	m.max = 1 + p.next(4)
	m.elastic = true
	lender := []func() *executor.Pool{
		func() *executor.Pool { return executor.PerTask() }, func() *executor.Pool { return executor.Cached() },
		func() *executor.Pool { return executor.Fixed(20) },
		func() *executor.Pool { return executor.Scheduled(20).Pool },
	}[p.next(4)]()
	defer lender.Close()
	c := p.configure(p.next(5))
	share, err := lender.Share(executor.ShareConfig{Limit: m.max, Queue: c.Queue, Reject: c.Reject})
	if err != nil {
		t.Fatal(err)
	}
	p.pool = testkit.Closing(t, share)
	p.play(20, p.step, p.compare)
}

// configure reads the queue and the policy.
func (p *poolProgram) configure(queue int) (c executor.Config) {
	m := p.model
	m.policy = []executor.RejectPolicy{executor.Abort, executor.CallerRuns, executor.Discard,
		executor.DiscardOldest}[p.next(4)]
	switch queue {
	case 0:
		c.Queue, m.room = executor.Unbounded(), -1
	case 1:
		m.room = 1 + p.next(3)
		c.Queue = executor.Bounded(m.room)
	case 2:
		c.Queue = executor.Handoff()
	case 3:
		c.Queue, m.room, m.ranked = executor.Prioritized(), -1, true
	case 4:
		m.room, m.ranked = 1+p.next(5), true
		c.Queue = executor.BoundedPrioritized(m.room)
		if p.next(3) > 0 {
			m.policy = executor.DropLowest
		}
	}
	c.Reject = m.policy
	return c
}

// Whatever the sequence of calls is, the pool's runs are those of a simple model, in the same order
// and at the same times, and so are results, counters and the number of workers. EXECUTOR_SEED=n
// repeats a failure.
func TestPoolModel(t *testing.T) { playRandom(t, 400, 420, runPoolProgram) }

// Whatever the sequence of calls is, a share behaves as a pool of its limit.
func TestShareModel(t *testing.T) { playRandom(t, 400, 420, runShareProgram) }

// FuzzPool is TestPoolModel for programs that the fuzzer finds.
func FuzzPool(f *testing.F) {
	f.Add([]byte{1, 1, 0, 1, 1, 0, 0, 3, 0, 1, 0, 2, 0, 1, 0, 1, 0, 1, 15, 2})
	f.Add([]byte{0, 0, 1, 3, 0, 0, 3, 2, 1, 0, 2, 1, 1, 0, 1, 0, 1, 16, 3, 9, 1, 12, 2})
	f.Add([]byte{2, 2, 0, 2, 3, 0, 3, 0, 1, 0, 3, 0, 1, 0, 3, 0, 1, 13, 2, 15, 3, 14, 0})
	f.Fuzz(func(t *testing.T, code []byte) {
		synctest.Test(t, func(t *testing.T) { runPoolProgram(t, code) })
	})
}

// Histories: many goroutines use a pool in real time, and the records are judged afterwards.

// record is the history of one task: what was reported about it and what happened.
type record struct {
	id       int
	runs     atomic.Int32
	runnable func(context.Context) error
	future   *executor.Task[int] // nil for a plain task
	rejected bool                // the submission failed
	ends     bool                // its submitter's context ends some time
	back     atomic.Bool         // ShutdownNow returned it
	removed  atomic.Bool         // Remove found it
}

// Run makes a record a Runnable that ShutdownNow returns by identity.
func (r *record) Run(ctx context.Context) error { return r.runnable(ctx) }

// While many goroutines submit, cancel, remove, change the configuration and at last shut down, no
// task runs twice, and one that was accepted runs, is canceled or is returned, as the counters say;
// each snapshot of the counters adds up.
func TestPoolHistory(t *testing.T) {
	for i, c := range []executor.Config{
		{Workers: 4},
		{Workers: 1, Max: 8, KeepAlive: time.Microsecond, Queue: executor.Bounded(4)},
		{Workers: 1, Max: 8, KeepAlive: time.Microsecond, GrowWhenBusy: true},
		{Max: 3, GrowWhenBusy: true, Queue: executor.Bounded(2), Reject: executor.Block},
		{Max: 8, Queue: executor.Handoff(), Reject: executor.Block},
		{Workers: 2, Max: 4, KeepAlive: time.Millisecond, KeepNone: true, Queue: executor.Bounded(2), Reject: executor.Block},
		{Workers: 2, Max: 3, Queue: executor.Bounded(8), Reject: executor.DiscardOldest},
		{Workers: 2, Queue: executor.Prioritized(), Reject: executor.CallerRuns},
		{Workers: 2, Max: 3, Queue: executor.BoundedPrioritized(8), Reject: executor.DropLowest},
		{Workers: 1, Max: 2, Queue: executor.Bounded(1), Reject: executor.CallerRuns},
	} {
		for _, now := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/now=%v", i, now), func(t *testing.T) {
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				history(t, c, now, seed)
			})
		}
	}
}

func history(t *testing.T, c executor.Config, now bool, seed uint64) {
	const submitters, tasks = 8, 250
	pool := newPool(t, c)
	all := make([][]*record, submitters)
	var work, meddle sync.WaitGroup
	stop := make(chan struct{})

	for s := range submitters {
		work.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(s)))
			for i := range tasks {
				r := &record{id: s*tasks + i}
				all[s] = append(all[s], r)
				submitOne(t, pool, r, rng)
			}
		})
	}
	meddle.Go(func() { // changes the configuration, within its limits
		rng := rand.New(rand.NewPCG(seed, 1000))
		for !isClosed(stop) {
			setMax(pool, max(c.Max, c.Workers)+rng.IntN(4))
			setWorkers(pool, rng.IntN(pool.Settings().Workers+2))
			setKeepAlive(pool, time.Duration(1+rng.IntN(1000)))
			pool.Prestart(1)
			for r := range pool.Waiting() {
				if rng.IntN(20) == 0 && pool.Remove(r) {
					if plain, ok := r.(*record); ok {
						plain.removed.Store(true)
					}
				}
			}
			runtime.Gosched()
		}
	})
	meddle.Go(func() { // reads the counters
		for !isClosed(stop) {
			checkStats(t, pool)
			runtime.Gosched()
		}
	})

	if now {
		rng := rand.New(rand.NewPCG(seed, 2000))
		for n := int64(rng.IntN(submitters * tasks / 2)); pool.Stats().Submitted < n; {
			runtime.Gosched()
		}
		for _, u := range pool.ShutdownNow() {
			switch task := u.Task().(type) {
			case *record:
				task.back.Store(true)
			case *executor.Future[int]: // its outcome says so
			}
		}
	}
	work.Wait()
	pool.Shutdown()
	if err := pool.AwaitTermination(context.Background()); err != nil {
		t.Fatal(err)
	}
	close(stop)
	meddle.Wait()
	judge(t, pool, all, c.Reject == executor.DiscardOldest || c.Reject == executor.DropLowest)
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// submitOne submits r in one way or another, perhaps with a goroutine that cancels it,
// and notes the result.
func submitOne(t *testing.T, pool *executor.Pool, r *record, rng *rand.Rand) {
	how := rng.IntN(10)
	r.runnable = func(ctx context.Context) error {
		if r.runs.Add(1) > 1 {
			t.Errorf("task %d runs again", r.id)
		}
		switch {
		case how == 7:
			runtime.Goexit()
		case how == 8:
			runtime.Gosched()
		case how == 9:
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Microsecond):
			}
		}
		return nil
	}
	if how == 7 && pool.Settings().Reject == executor.CallerRuns {
		how = 6 // or the submitter would be lost
	}
	ctx, cancel := context.Background(), func() {}
	if rng.IntN(3) == 0 {
		ctx, cancel = context.WithCancel(ctx)
		r.ends = true
	}
	if rng.IntN(2) == 0 {
		r.rejected = pool.Execute(ctx, r) != nil
	} else {
		r.future = executor.NewTask(func(ctx context.Context) (int, error) { return r.id, r.Run(ctx) },
			executor.Priority(rng.IntN(4)))
		r.rejected = pool.Execute(ctx, r.future) != nil
		if rng.IntN(4) == 0 {
			r.future.Cancel()
		}
	}
	if rng.IntN(2) == 0 {
		cancel()
	} else {
		time.AfterFunc(time.Microsecond, cancel)
	}
}

// judge compares the histories with each other and with the counters.
func judge(t *testing.T, pool *executor.Pool, all [][]*record, discards bool) {
	t.Helper()
	var total, runs, returned int64
	for _, rs := range all {
		for _, r := range rs {
			n := int64(r.runs.Load())
			total++
			runs += n
			if r.back.Load() {
				returned++
			}
			switch {
			case n > 0:
				if r.rejected || r.back.Load() || r.removed.Load() {
					t.Errorf("task %d ran, although rejected: %v, returned: %v, removed: %v", r.id, r.rejected, r.back.Load(), r.removed.Load())
				}
			case r.rejected, r.back.Load(), r.removed.Load(), r.ends, discards:
			case r.future != nil && r.future.State() == executor.Canceled:
			default:
				t.Errorf("task %d was accepted and never ran", r.id)
			}
			if r.future != nil && !r.future.State().Done() {
				t.Errorf("task %d is %v forever", r.id, r.future.State())
			}
		}
	}
	s := checkStats(t, pool)
	expect(t, "Submitted", s.Submitted, total)
	if inline := runs - s.Runs; inline < 0 || inline > s.Rejected {
		t.Errorf("%d task functions ran, of which the pool counts %d: %+v", runs, s.Runs, s)
	}
	if s.Canceled < returned {
		t.Errorf("%d returned: %+v", returned, s)
	}
}

// An accepted task runs, however close the pool's shutdown or the departure of its last worker was
// (JDK-6440728, JDK-8358601).
func TestPoolAcceptedTaskRuns(t *testing.T) {
	for name, c := range map[string]executor.Config{
		"kept":      {Workers: 2},
		"no core":   {Max: 2, Queue: executor.Bounded(3)},
		"elastic":   {Max: 2, GrowWhenBusy: true},
		"transient": {Workers: 2, KeepAlive: 1, KeepNone: true, Queue: executor.Bounded(3)},
		"handoff":   {Max: 2, Queue: executor.Handoff()},
		"blocking":  {Max: 1, Queue: executor.Bounded(1), Reject: executor.Block},
	} {
		t.Run(name, func(t *testing.T) {
			for range 100 {
				pool := newPool(t, c)
				var accepted, ran atomic.Int64
				var submitters sync.WaitGroup
				for range 4 {
					submitters.Go(func() {
						for range 20 {
							if pool.Go(context.Background(),
								func(context.Context) error { ran.Add(1); return nil }) == nil {
								accepted.Add(1)
							}
						}
					})
				}
				for range rand.IntN(200) {
					pool.Stats()
				}
				pool.Close()
				submitters.Wait()
				expect(t, "ran", ran.Load(), accepted.Load())
			}
		})
	}
}
