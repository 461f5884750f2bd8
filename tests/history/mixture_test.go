package history

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/java"
	"github.com/executor-go/executor/tests/internal/testkit"
)

var mixtures = flag.Uint64("history.mixture", 0, "run the mixture of this seed only")

// Whatever is called at the same time on a pool, its shares, keys, groups and schedules, all of it ends:
// each future has an outcome, each pool terminates, and its counters add up.
func TestMixtureEnds(t *testing.T) {
	n := 150
	if os.Getenv("EXECUTOR_LONG") == "" {
		n = 40
	}
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = rand.Uint64() >> 16
	}
	if *mixtures != 0 {
		for i := range seeds {
			seeds[i] = *mixtures
		}
	}
	for _, seed := range seeds {
		synctest.Test(t, func(t *testing.T) { newMixture(t, seed).play() })
		if t.Failed() {
			t.Fatalf("replay with -history.mixture=%d", seed)
		}
	}
}

// mixture is a pool with all that can be had on it, and what is known of it.
type mixture struct {
	t     *testing.T
	seed  uint64
	rand  *rand.Rand // of the goroutine that makes it
	pool  *executor.Pool
	timed *executor.ScheduledPool // nil, or the one of pool
	pools []*executor.Pool        // pool and its shares
	nests bool                    // tasks may submit to the pool

	mu     sync.Mutex
	tasks  []executor.Awaitable
	series []*executor.Series
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// step returns a time to wait: one of a few, so that much happens at the same instant.
func step(r *rand.Rand) time.Duration { return time.Duration(r.IntN(4)) * 250 * time.Microsecond }

func newMixture(t *testing.T, seed uint64) *mixture {
	r := rand.New(rand.NewPCG(seed, 1))
	m := &mixture{t: t, seed: seed, rand: r, nests: true}
	quiet := slog.New(slog.DiscardHandler)
	var observer *executor.Observer
	if r.IntN(2) == 0 {
		observer = &executor.Observer{Every: 1, MaxNames: 4, MaxEvents: 64}
	}
	if r.IntN(2) == 0 {
		c := executor.ScheduledConfig{Workers: r.IntN(4), Logger: quiet, Observer: observer}
		m.timed = testkit.NewScheduled(t, c)
		m.pool = m.timed.Pool
	} else {
		core := r.IntN(4)
		c := executor.Config{Workers: core, Max: max(1, core+r.IntN(3)), KeepAlive: time.Millisecond}
		c.Logger, c.Observer = quiet, observer
		c.KeepNone = r.IntN(2) == 0
		c.Reject = pick(r, executor.Abort, executor.CallerRuns, executor.Discard, executor.DiscardOldest,
			executor.Block, executor.BlockFor(time.Millisecond))
		c.GrowWhenBusy = r.IntN(2) == 0
		switch r.IntN(5) {
		case 0:
			c.Queue, c.Max = executor.Unbounded(), core
		case 1:
			c.Queue = executor.Bounded(1 + r.IntN(8))
		case 2:
			c.Queue = executor.Handoff()
		case 3:
			c.Queue, c.Max = executor.Prioritized(), core
		case 4:
			c.Queue, c.Reject = executor.BoundedPrioritized(1+r.IntN(4)), executor.DropLowest
		}
		if c.Max == 0 {
			c.Max, c.GrowWhenBusy = 2, true
		}
		m.nests = c.Reject != executor.Block
		m.pool = testkit.NewPool(t, c)
	}
	m.pools = []*executor.Pool{m.pool}
	for range r.IntN(3) {
		c := executor.ShareConfig{Name: "share", Limit: r.IntN(4), Logger: quiet}
		if r.IntN(2) == 0 {
			c.Rate = executor.Rate{PerSecond: 2000, Burst: 3}
		}
		c.Queue = pick(r, nil, executor.Bounded(3), executor.Handoff(), executor.Prioritized())
		c.Reject = pick(r, nil, executor.Discard, executor.DiscardOldest, executor.BlockFor(time.Millisecond))
		if s, err := pick(r, m.pools...).Share(c); err == nil {
			m.pools = append(m.pools, s)
		} else {
			t.Fatal(err)
		}
	}
	return m
}

func (m *mixture) play() {
	keys := executor.NewKeyed[int](pick(m.rand, m.pools...), 1+m.rand.IntN(2))
	m.pools = append(m.pools, keys.Pool())
	ctx, cancel := context.WithTimeout(m.t.Context(), time.Duration(1+m.rand.IntN(20))*time.Millisecond)
	defer cancel()
	hung := time.AfterFunc(time.Minute, m.hang)
	defer hung.Stop()
	var actors sync.WaitGroup
	for n := range 4 {
		r := rand.New(rand.NewPCG(m.seed, uint64(n)+2))
		actors.Go(func() {
			for range 30 {
				c := ctx
				if r.IntN(2) == 0 {
					c = m.t.Context()
				}
				m.act(r, c, keys)
				if r.IntN(4) == 0 {
					time.Sleep(step(r))
				}
			}
		})
	}
	if m.rand.IntN(3) == 0 {
		time.Sleep(time.Duration(m.rand.IntN(8)) * time.Millisecond)
		m.end()
	}
	actors.Wait()
	m.end()
	limit, stop := context.WithTimeout(context.Background(), 10*time.Minute)
	defer stop()
	for _, p := range m.pools {
		if err := p.AwaitTermination(limit); err != nil {
			buf := make([]byte, 1<<20)
			m.t.Fatalf("%v is not terminated: %+v\n%s", p, p.Stats(), buf[:runtime.Stack(buf, true)])
		}
		if s := testkit.CheckStats(m.t, p); s.Queued+s.Active+s.Workers+s.Blocked != 0 {
			m.t.Errorf("%v is terminated and not empty: %+v", p, s)
		}
	}
	for i, f := range m.tasks {
		select {
		case <-f.Done():
		case <-limit.Done():
			m.t.Errorf("task %d of %d is %v", i, len(m.tasks), f)
		}
		if f.Join(limit); limit.Err() != nil {
			m.t.Errorf("the body of task %d of %d, %v, is running", i, len(m.tasks), f)
		}
	}
}

// hang ends the process with all that is known.
func (m *mixture) hang() {
	for _, p := range m.pools {
		fmt.Fprintf(os.Stderr, "%v: %+v\n", p, p.Stats())
		for r := range p.Waiting() {
			fmt.Fprintf(os.Stderr, "\twaits: %v\n", r)
		}
	}
	if m.timed != nil {
		for _, s := range m.timed.Schedules() {
			fmt.Fprintf(os.Stderr, "\tseries: %+v\n", s)
		}
	}
	buf := make([]byte, 1<<20)
	fmt.Fprintf(os.Stderr, "-history.mixture=%d hangs\n%s", m.seed, buf[:runtime.Stack(buf, true)])
	os.Exit(2)
}

// end shuts a pool down.
func (m *mixture) end() {
	switch m.rand.IntN(3) {
	case 0:
		m.pool.Shutdown()
	case 1:
		m.pool.ShutdownNow()
	case 2:
		if m.timed != nil {
			m.timed.Close()
		} else {
			m.pool.Close()
		}
	}
}

func (m *mixture) know(f executor.Awaitable) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tasks = append(m.tasks, f)
}

// known returns a task that was submitted before, or nil.
func (m *mixture) known(r *rand.Rand) executor.Awaitable {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.tasks) == 0 {
		return nil
	}
	return pick(r, m.tasks...)
}

// body returns a task function. Tasks of a pool may wait for tasks of the same pool only.
func (m *mixture) body(r *rand.Rand, on executor.Executor, depth int) func(context.Context) (int, error) {
	kind, long, seed := r.IntN(9), step(r), r.Uint64()
	return func(ctx context.Context) (int, error) {
		switch kind {
		case 0:
			return 0, errors.New("failed")
		case 1:
			panic("boom")
		case 2:
			runtime.Goexit()
		case 3:
			return 0, executor.Permanent(errors.New("failed for good"))
		case 4:
			time.Sleep(long)
			return 0, ctx.Err()
		case 5:
			select {
			case <-time.After(long):
			case <-ctx.Done():
			}
			return 0, context.Cause(ctx)
		case 6:
			if p, ok := on.(*executor.Pool); ok && depth > 0 && m.nests {
				return 0, m.nest(rand.New(rand.NewPCG(seed, 1)), ctx, p, depth-1)
			}
		}
		return kind, nil
	}
}

// nest submits tasks in a task of p, and waits for them.
func (m *mixture) nest(r *rand.Rand, ctx context.Context, p *executor.Pool, depth int) error {
	switch r.IntN(5) {
	case 0:
		g := executor.NewGroup(ctx, p)
		for range r.IntN(4) {
			g.Go(drop(m.body(r, p, depth)))
		}
		return g.Wait()
	case 1:
		f := executor.Submit(ctx, p, m.body(r, p, depth))
		m.know(f)
		_, err := f.Get(ctx)
		return err
	case 2:
		for _, f := range java.InvokeAll(ctx, p, m.body(r, p, depth), m.body(r, p, depth)) {
			m.know(f)
		}
	case 3:
		_, err := executor.Any(ctx, p, m.body(r, p, depth), m.body(r, p, depth))
		return err
	case 4:
		_, err := executor.All(ctx, p, m.body(r, p, depth), m.body(r, p, depth))
		return err
	}
	return nil
}

func drop(fn func(context.Context) (int, error)) func(context.Context) error {
	return func(ctx context.Context) error { _, err := fn(ctx); return err }
}

// act is one call, or a few.
func (m *mixture) act(r *rand.Rand, ctx context.Context, keys *executor.Keyed[int]) {
	p := pick(r, m.pools...)
	var on executor.Executor = p
	if r.IntN(4) == 0 {
		on = keys.For(r.IntN(3))
	}
	body := m.body(r, on, 2)
	var opts []executor.Option
	if r.IntN(3) == 0 {
		opts = append(opts, executor.Named(fmt.Sprint("t", r.IntN(9))))
	}
	if r.IntN(4) == 0 {
		opts = append(opts, executor.Timeout(max(step(r), 1)))
	}
	if r.IntN(4) == 0 {
		opts = append(opts, executor.Retry(1+r.IntN(3), executor.Backoff(time.Millisecond, 4*time.Millisecond)))
	}
	switch r.IntN(18) {
	case 0, 1, 2:
		m.know(executor.Submit(ctx, on, body, opts...))
	case 16, 17: // at the same time
		f := executor.NewTask(body, opts...)
		m.know(f)
		var together sync.WaitGroup
		calls := []func(){func() { f.Run(ctx) }, func() { f.Cancel() }, func() { f.Abandon() }, func() { p.Remove(f) },
			func() { f.Fail(errors.New("by hand")) }}
		together.Go(func() { on.Execute(ctx, f) })
		for range 1 + r.IntN(2) {
			together.Go(pick(r, calls...))
		}
		together.Wait()
		f.Cancel() // a policy may have dropped it
	case 3:
		p.Go(ctx, drop(body), opts...)
	case 4:
		keys.Go(ctx, r.IntN(3), drop(m.body(r, nil, 0)), opts...)
	case 5:
		if f := m.known(r); f != nil {
			f.Cancel()
		}
	case 6:
		switch f := m.known(r).(type) {
		case *executor.Future[int]:
			f.Abandon()
		case *executor.Task[int]:
			f.Run(ctx)
		case *executor.Series:
			f.RunNow()
		}
	case 7:
		g := executor.NewGroup(ctx, on)
		for range r.IntN(5) {
			g.Go(drop(m.body(r, on, 1)))
		}
		g.Wait()
	case 8:
		executor.Any(ctx, on, body, m.body(r, on, 1))
	case 9:
		items := slices.Values([]int{1, 2, 3, 4, 5, 6})
		call := func(ctx context.Context, _ int) (int, error) { return body(ctx) }
		for _, err := range executor.Map(ctx, on, 1+r.IntN(3), items, call) {
			if err != nil || r.IntN(4) == 0 {
				break
			}
		}
	case 10:
		p.Resize(1 + r.IntN(4))
	case 11:
		p.Stats()
		p.Figures()
		p.Workers()
		for range p.Waiting() {
		}
	case 12, 13, 14, 15:
		m.schedule(r, ctx, m.body(r, m.pool, 2))
	}
}

// schedule is a call about series.
func (m *mixture) schedule(r *rand.Rand, ctx context.Context, body func(context.Context) (int, error)) {
	if m.timed == nil {
		return
	}
	m.mu.Lock()
	var s *executor.Series
	if len(m.series) > 0 {
		s = pick(r, m.series...)
	}
	m.mu.Unlock()
	if s == nil || r.IntN(3) == 0 {
		opts := []executor.Option{executor.Named("series")}
		for _, o := range []executor.Option{executor.StartPaused(), executor.ContinueAfterPanic(),
			executor.Timeout(time.Millisecond), executor.Times(1 + r.IntN(8)), executor.Jitter(time.Millisecond),
			executor.StartWithin(time.Millisecond)} {
			if r.IntN(4) == 0 {
				opts = append(opts, o)
			}
		}
		var err error
		period := max(step(r), 100*time.Microsecond)
		if r.IntN(3) == 0 {
			s, err = m.timed.WithFixedDelay(ctx, period, period, drop(body), opts...)
		} else {
			// Work that takes longer than its period, and catches up for ever, would leave no worker to others.
			opts = append(opts, executor.Overlap(1+r.IntN(3)))
			opts = append(opts, pick(r, executor.Times(4), executor.CatchUp(0), executor.CatchUp(1)))
			s, err = m.timed.AtFixedRate(ctx, 0, period, drop(body), opts...)
		}
		if err == nil {
			m.know(s)
			m.mu.Lock()
			m.series = append(m.series, s)
			m.mu.Unlock()
		}
		return
	}
	switch r.IntN(8) {
	case 0:
		s.Pause()
	case 1:
		s.Resume()
	case 2:
		s.RunNow()
	case 3:
		s.Reschedule(pick(r, executor.FixedRate(time.Millisecond), executor.FixedDelay(2*time.Millisecond)))
	case 4:
		s.Info()
		m.timed.Schedules()
	case 5:
		if r.IntN(3) == 0 {
			s.Abandon()
		}
	case 6:
		m.know(executor.SubmitAfter(ctx, m.timed, step(r), body))
	case 7:
		if f, err := m.timed.GoAfter(ctx, time.Millisecond, drop(body)); err == nil {
			m.know(f)
		}
	}
}
