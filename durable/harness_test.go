package durable_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// logLines is a log that a test looks at.
type logLines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logLines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *logLines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.buf.String(), text)
}

// newJobs returns Jobs on the store, with a pool of four workers that the test
// closes.
func newJobs(t *testing.T, store durable.Store, change ...func(*durable.Config)) *durable.Jobs {
	t.Helper()
	c := durable.Config{Store: store, Name: "node", Logger: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&c)
	}
	if c.Executor == nil {
		c.Executor = executor.Scheduled(4)
		t.Cleanup(c.Executor.Close)
	}
	jobs, err := durable.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

// newNode returns Jobs, with a kind whose runs are in the diary. The test starts them.
func newNode(t *testing.T, store durable.Store, change ...func(*durable.Config)) (*durable.Jobs,
	*durable.Kind[string, string], *diary) {
	t.Helper()
	jobs, d := newJobs(t, store, change...), new(diary)
	return jobs, durable.Handle(jobs, "k", d.handler), d
}

// lazy makes a node look and heartbeat seldom, for tests that last for days.
func lazy(c *durable.Config) { c.Poll, c.Lease = 10*time.Minute, time.Hour }

// start runs jobs until the function returned is called, or the test ends. When it returns, the node has joined and
// looked for jobs once, unless its store takes time: what is due from then on is not left to the poll a second later,
// at the end of which a test may ask.
func start(t *testing.T, jobs *durable.Jobs) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- jobs.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
	t.Cleanup(stop)
	synctest.Wait()
	return stop
}

// untilNoted is after how long a store surely has noted that a run has begun.
const untilNoted = 10 * time.Millisecond

// must returns v, and ends the test if there was an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var (
	errDown = errors.New("store is down")
	errLost = errors.New("answer was lost")
)

// faulty is a node's connection to a store that can fail: before the call takes
// effect, or after it.
type faulty struct {
	durable.Store
	skew time.Duration // of the store's clock against this machine's

	mu sync.Mutex
	// fault is asked before each call; err1 makes it fail without effect, err2
	// after it took effect. It may sleep.
	fault func(op string) (err1, err2 error)
	calls map[string]int
	late  map[string]time.Duration // how long an answer takes, after the call took effect
	// around, unless nil, makes the calls in place of all that.
	around func(op string, call func() error) error
}

func newFaulty(s durable.Store) *faulty {
	return &faulty{Store: s, calls: make(map[string]int), late: make(map[string]time.Duration)}
}

// set changes the fault; nil means none.
func (f *faulty) set(fault func(op string) (error, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

func (f *faulty) down() { f.set(func(string) (error, error) { return errDown, nil }) }

func (f *faulty) up() { f.set(nil) }

func (f *faulty) count() int { f.mu.Lock(); defer f.mu.Unlock(); return f.calls["all"] }

// callsOf returns how many calls there were of that sort.
func (f *faulty) callsOf(op string) int { f.mu.Lock(); defer f.mu.Unlock(); return f.calls[op] }

// delay sets how long the answers to calls of that sort take.
func (f *faulty) delay(op string, d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late[op] = d
}

func (f *faulty) do(op string, call func() error) error {
	f.mu.Lock()
	fault, around := f.fault, f.around
	f.calls[op]++
	f.calls["all"]++
	f.mu.Unlock()
	if around != nil {
		return around(op, call)
	}
	var err1, err2 error
	if fault != nil {
		err1, err2 = fault(op)
	}
	if err1 != nil {
		return err1
	}
	err := call()
	f.mu.Lock()
	late := f.late[op]
	f.mu.Unlock()
	time.Sleep(late)
	return errors.Join(err, err2)
}

func (f *faulty) Insert(ctx context.Context, jobs []durable.NewJob,
	p durablestore.Placement) (r []durable.InsertResult, err error) {
	err = f.do("insert", func() (err error) {
		for i := range jobs {
			if !jobs[i].Due.IsZero() {
				jobs[i].Due = jobs[i].Due.Add(-f.skew)
			}
		}
		r, err = f.Store.Insert(ctx, jobs, p)
		for i := range r {
			r[i].Now = r[i].Now.Add(f.skew)
			f.shift(&r[i].Job)
		}
		return err
	})
	return r, err
}

func (f *faulty) shift(j *durable.Job) {
	j.Due, j.Occurrence, j.Anchor = j.Due.Add(f.skew), j.Occurrence.Add(f.skew), j.Anchor.Add(f.skew)
}

func (f *faulty) Join(ctx context.Context, node string, lease time.Duration) (t time.Time, err error) {
	err = f.do("join", func() (err error) { t, err = f.Store.Join(ctx, node, lease); return err })
	return t.Add(f.skew), err
}

func (f *faulty) Heartbeat(ctx context.Context, node string, lease time.Duration,
	w durablestore.Watch) (p durablestore.HeartbeatResult, err error) {
	err = f.do("heartbeat", func() (err error) { p, err = f.Store.Heartbeat(ctx, node, lease, w); return err })
	p.Now = p.Now.Add(f.skew)
	return p, err
}

func (f *faulty) Leave(ctx context.Context, node string) error {
	return f.do("leave", func() error { return f.Store.Leave(ctx, node) })
}

func (f *faulty) Claim(ctx context.Context, r durablestore.ClaimRequest) (c durablestore.ClaimResult, err error) {
	err = f.do("claim", func() (err error) { c, err = f.Store.Claim(ctx, r); return err })
	c.Now = c.Now.Add(f.skew)
	for i := range c.Jobs {
		f.shift(&c.Jobs[i])
	}
	return c, err
}

func (f *faulty) ClaimLimited(ctx context.Context, r durablestore.ClaimRequest) (c durablestore.ClaimResult, err error) {
	err = f.do("claim", func() (err error) { c, err = f.Store.ClaimLimited(ctx, r); return err })
	c.Now = c.Now.Add(f.skew)
	if !c.Next.IsZero() {
		c.Next = c.Next.Add(f.skew)
	}
	for i := range c.Jobs {
		f.shift(&c.Jobs[i])
	}
	return c, err
}

func (f *faulty) Release(ctx context.Context, node string, keep []durable.ID) (left bool, err error) {
	err = f.do("release", func() (err error) { left, err = f.Store.Release(ctx, node, keep); return err })
	return left, err
}

func (f *faulty) Now(ctx context.Context) (t time.Time, err error) {
	err = f.do("now", func() (err error) { t, err = f.Store.Now(ctx); return err })
	return t.Add(f.skew), err
}

func (f *faulty) Commit(ctx context.Context, b durablestore.CommitRequest) (s durablestore.CommitResult, err error) {
	err = f.do("commit", func() (err error) {
		for i := range b.Outcomes {
			o := &b.Outcomes[i]
			o.Due, o.Occurrence = o.Due.Add(-f.skew), o.Occurrence.Add(-f.skew)
		}
		for i := range b.Confirms {
			if c := &b.Confirms[i]; !c.Occurrence.IsZero() {
				c.Occurrence = c.Occurrence.Add(-f.skew)
			}
		}
		s, err = f.Store.Commit(ctx, b)
		return err
	})
	s.Now = s.Now.Add(f.skew)
	return s, err
}

func (f *faulty) Change(ctx context.Context, id durable.ID, c durable.Change) (a durable.Answer, err error) {
	if !c.Due.IsZero() {
		c.Due = c.Due.Add(-f.skew)
	}
	err = f.do("change", func() (err error) { a, err = f.Store.Change(ctx, id, c); return err })
	return a, err
}

func (f *faulty) Get(ctx context.Context, id durable.ID) (j durable.Job, err error) {
	err = f.do("get", func() (err error) { j, err = f.Store.Get(ctx, id); return err })
	f.shift(&j)
	return j, err
}

func (f *faulty) KeptSteps(ctx context.Context, id durable.ID) (kept []durable.KeptStep, err error) {
	err = f.do("kept_steps", func() (err error) { kept, err = f.Store.KeptSteps(ctx, id); return err })
	return kept, err
}

func (f *faulty) KeepStep(ctx context.Context, of durablestore.Ref, k durable.KeptStep) (r []byte, ok bool, err error) {
	err = f.do("keep_step", func() (err error) { r, ok, err = f.Store.KeepStep(ctx, of, k); return err })
	return r, ok, err
}

// moment is a run as it looked from the store.
type moment struct {
	job   durable.Job
	begun time.Time // on the store's clock
}

// chronicle notes runs with the store's time.
type chronicle struct {
	store *memory.Store
	mu    sync.Mutex
	runs  []moment
}

func (c *chronicle) handler(ctx context.Context, work time.Duration) (int, error) {
	j, _ := durable.Current(ctx)
	now, err := c.store.Now(ctx)
	c.mu.Lock()
	c.runs = append(c.runs, moment{j, now})
	c.mu.Unlock()
	time.Sleep(work)
	return 0, err
}

// begun returns when each job's only run began, on the store's clock.
func (c *chronicle) begun(t *testing.T) map[durable.ID]time.Time {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	begun := make(map[durable.ID]time.Time)
	for _, r := range c.runs {
		if !begun[r.job.ID].IsZero() {
			t.Errorf("job %s was begun twice", r.job.ID)
		}
		begun[r.job.ID] = r.begun
		if r.begun.Before(r.job.Due) {
			t.Errorf("the job due at %v was begun %v early", r.job.Due, r.job.Due.Sub(r.begun))
		}
	}
	return begun
}

// on registers a trigger.
func on(s executor.Trigger, m durable.Missed) func(*durable.Kind[string, string], context.Context) (durable.ID, error) {
	return func(k *durable.Kind[string, string], ctx context.Context) (durable.ID, error) {
		return k.On(ctx, "key", s, "", durable.OnMissed(m))
	}
}

// trigger is a function that counts its calls.
type trigger struct {
	next  func(time.Time) time.Time
	calls atomic.Int64
}

func (t *trigger) Next(after time.Time) time.Time {
	t.calls.Add(1)
	return t.next(after)
}

// hourly is a trigger that takes a second to say when, if it is slow.
type hourly struct{ slow *atomic.Bool }

func (h hourly) Next(t time.Time) time.Time {
	if h.slow.Load() {
		time.Sleep(time.Second)
	}
	return t.Truncate(time.Hour).Add(time.Hour)
}

// outages returns how often that call was reported as failing, and as succeeding again.
func (l *logLines) outages(call string) (begun, over int) {
	return l.count(`does not answer; retrying" call=` + call), l.count(`answers again" call=` + call)
}

var errBoom = errors.New("boom")

// diary notes when runs began, and what for.
type diary struct {
	mu    sync.Mutex
	begun []time.Time
	jobs  []durable.Job
}

func (d *diary) note(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun = append(d.begun, time.Now().UTC().Round(0))
	j, _ := durable.Current(ctx)
	d.jobs = append(d.jobs, j)
}

func (d *diary) handler(ctx context.Context, _ string) (string, error) {
	d.note(ctx)
	return "", nil
}

// count returns how many runs there were.
func (d *diary) count() int { return len(d.all()) }

// all returns the jobs, as they were in each run.
func (d *diary) all() []durable.Job {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.jobs)
}

// since returns how long after t each run began.
func (d *diary) since(t time.Time) []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	var ds []time.Duration
	for _, b := range d.begun {
		ds = append(ds, b.Sub(t))
	}
	return ds
}

func (d *diary) wants(t *testing.T, since time.Time, want ...time.Duration) {
	t.Helper()
	if got := d.since(since); !slices.Equal(got, want) {
		t.Errorf("runs began after %v, want %v", got, want)
	}
}

// A trigger that ends.
type until time.Time

func (u until) Next(t time.Time) time.Time {
	if next := t.Add(time.Hour); !next.After(time.Time(u)) {
		return next
	}
	return time.Time{}
}

// timed is an answer that carried the time: the store's cannot be later than this
// machine's by more than most.
type timed struct {
	sent, heard time.Time
	most        time.Duration
}
