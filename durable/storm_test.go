package durable_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/history"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// Whatever goes wrong between nodes and store, calls that fail, calls that are slow, answers that are lost, a line that
// is cut for seconds: nothing is lost, no occurrence is committed twice, nothing begins early.
func TestHistoryWithFaultyStore(t *testing.T) {
	lost, twice, seeds := 0, 0, uint64(8)
	if os.Getenv("EXECUTOR_LONG") == "" {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := trial(t, seed)
				lost += v.Lost
				twice += v.Twice
			})
		})
	}
	if lost == 0 || twice == 0 {
		t.Errorf("%d runs were lost with their node, and %d begun twice: too quiet to prove anything", lost, twice)
	}
}

// trial lets three nodes run a few thousand occurrences on a bad line each.
func trial(t *testing.T, seed uint64) *history.Verdict {
	store := memory.New()
	var mu sync.Mutex
	var starts []history.Start
	handler := func(ctx context.Context, work time.Duration) (int, error) {
		j, _ := durable.Current(ctx)
		mu.Lock()
		starts = append(starts, history.Start{Job: j.ID, Epoch: j.Epoch, Occurrence: j.Occurrence, At: time.Now()})
		mu.Unlock()
		select {
		case <-time.After(work):
			return 0, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	var lines []*faulty
	var kinds []*durable.Kind[time.Duration, int]
	for i := range 3 {
		line := newFaulty(store)
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		line.set(trouble(r))
		lines = append(lines, line)
		jobs := newJobs(t, line, func(c *durable.Config) { c.History = 1 << 20 })
		kinds = append(kinds, durable.Handle(jobs, "k", handler))
		start(t, jobs)
	}
	r := rand.New(rand.NewPCG(seed, 99))
	for i := range 200 {
		k := kinds[r.IntN(3)]
		add := func() error {
			if i < 10 {
				_, err := k.AtFixedRate(t.Context(), fmt.Sprint("rate", i), 0, time.Second, upTo(r, time.Second),
					durable.OnMissed(durable.CatchUp(1<<20)), durable.Attempts(1000))
				return err
			}
			_, err := k.AddAfter(t.Context(), upTo(r, 10*time.Second), upTo(r, 3*time.Second),
				durable.Key(fmt.Sprint(i)), durable.Attempts(1000))
			return err
		}
		for add() != nil {
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(upTo(r, 500*time.Millisecond))
	}
	for _, line := range lines {
		line.up()
	}
	time.Sleep(5 * time.Minute)
	synctest.Wait()
	mu.Lock()
	defer mu.Unlock()
	v := must(history.Check(t.Context(), store, starts))
	for _, f := range v.Faults {
		t.Error(f)
	}
	t.Logf("%d committed, %d lost with their node, %d begun twice", v.Committed, v.Lost, v.Twice)
	if v.Committed < 1000 {
		t.Errorf("only %d occurrences were committed", v.Committed)
	}
	return v
}

// trouble returns a fault that strikes at random, and now and then for a while.
func trouble(r *rand.Rand) func(op string) (error, error) {
	var mu sync.Mutex
	var until time.Time // the line is cut
	return func(op string) (error, error) {
		mu.Lock()
		now := time.Now()
		var pause time.Duration
		var err1, err2 error
		switch n := r.IntN(1000); {
		case now.Before(until):
			err1 = errDown
		case n < 5:
			until = now.Add(upTo(r, 8*time.Second))
			err1 = errDown
		case n < 50:
			err1 = errDown
		case n < 100:
			err2 = errLost
		case n < 150:
			pause = upTo(r, 300*time.Millisecond)
		}
		mu.Unlock()
		time.Sleep(pause)
		return err1, err2
	}
}

// upTo returns a random duration below d.
func upTo(r *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(d)))
}

// crowd is who runs at the moment, on nodes that have their lease: a context ends
// with it.
type crowd struct {
	mu      sync.Mutex
	running map[int]context.Context
	next    int
	most    int
	starts  []history.Start
}

// enterAt is enter on any node.
func (c *crowd) enterAt(_ int, ctx context.Context) (leave func()) { return c.enter(ctx) }

// enter counts ctx's run in, and returns how it leaves.
func (c *crowd) enter(ctx context.Context) (leave func()) {
	j, _ := durable.Current(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starts = append(c.starts, history.Start{Job: j.ID, Epoch: j.Epoch, Occurrence: j.Occurrence, At: time.Now()})
	me := c.next
	c.next++
	c.running[me] = ctx
	n := 0
	for _, other := range c.running {
		if other.Err() == nil {
			n++
		}
	}
	c.most = max(c.most, n)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, me)
	}
}

// Whatever goes wrong between three nodes and the store, no more of a kind run at the same time, on nodes that have
// their lease, than its global limit; and nothing is lost, nor committed twice.
func TestHistoryOfGlobalLimit(t *testing.T) {
	const limit = 3
	full := 0
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &crowd{running: make(map[int]context.Context)}
				m := mob{store: memory.New(), seed: seed, jobs: 200, pause: 500 * time.Millisecond, work: 2 * time.Second,
					enter: c.enterAt, limits: []durable.HandlerOption{durable.GlobalLimit(limit)}}
				m.run(t)
				c.mu.Lock()
				defer c.mu.Unlock()
				if c.most > limit {
					t.Errorf("%d ran at the same time, of %d", c.most, limit)
				}
				if c.most == limit {
					full++
				}
				m.lost(t, c.starts)
			})
		})
	}
	if full == 0 {
		t.Error("the limit was never reached: too quiet to prove anything")
	}
}

// jumps are those that a database's clock makes in these tests: by hand, at a
// failover, by a step of NTP that counts as a jump, and by one that does not.
var jumps = []time.Duration{time.Hour, -time.Hour, 3 * time.Second, -3 * time.Second, 50 * time.Millisecond,
	-50 * time.Millisecond}

// Random programs of jobs, faults and jumps of the clock, one for each seed, keep every promise. Which of several
// things that happen at the same moment comes first is up to the Go scheduler, but the delays are such that few do.
func TestHistoryOfStorms(t *testing.T) {
	programs := uint64(150)
	switch {
	case os.Getenv("EXECUTOR_SOAK") != "":
		programs = 5_000
	case os.Getenv("EXECUTOR_LONG") == "":
		programs = 40
	}
	for seed := range programs {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newStorm(t, seed).play() })
		})
	}
}

// kindsOfStorm are the kinds, and how many of each may run at once on a node and on all.
var kindsOfStorm = map[string]struct{ limit, global int }{"free": {}, "limited": {limit: 1}, "global": {global: 2}}

// chore is the payload of a job: a run takes that long, and the first attempts fail.
type chore struct {
	Work  time.Duration
	Fails int
}

type storm struct {
	*testing.T
	*rand.Rand
	store *memory.Store
	asks  sync.WaitGroup // calls of users
	seed  uint64
	nodes []*stormNode

	mu       sync.Mutex
	jumps    []time.Time // of the store's clock, on this machine's
	forward  time.Time   // when it was put forward last
	back     bool        // one of them was back
	again    int         // how many were back by so much that schedules have their times again
	running  map[durable.ID]bool
	began    map[string]bool // by job, epoch and occurrence
	together map[string]int  // of kind, by node and of all
	moved    map[durable.ID]bool
}

func newStorm(t *testing.T, seed uint64) *storm {
	return &storm{
		T: t, Rand: rand.New(rand.NewPCG(seed, 0)), store: memory.New(), seed: seed,
		running: make(map[durable.ID]bool), began: make(map[string]bool),
		together: make(map[string]int), moved: make(map[durable.ID]bool),
	}
}

// stormNode is a node, and its line to the store.
type stormNode struct {
	*storm
	*faulty
	jobs  *durable.Jobs
	kinds map[string]*durable.Kind[chore, int]
	stop  func()
	log   *logLines
	since int // how many jumps there had been before

	// These are guarded by storm.mu.
	draw    *rand.Rand
	calm    bool
	slow    time.Time // until then all calls are
	cut     time.Time // until then all fail
	answers []timed
	paused  map[string]time.Time // kinds, from when on
}

func (s *storm) start() *stormNode {
	n := &stormNode{
		storm: s, faulty: newFaulty(s.store), log: new(logLines), kinds: make(map[string]*durable.Kind[chore, int]),
		draw: rand.New(rand.NewPCG(s.seed,
			uint64(len(s.nodes)+1))), paused: make(map[string]time.Time), since: len(s.jumps),
	}
	n.faulty.around = n.call
	pool := executor.Scheduled(1 + s.IntN(4))
	s.Cleanup(pool.Close)
	lease, poll := []time.Duration{time.Second, 3 * time.Second}[s.IntN(2)], []time.Duration{200 * time.Millisecond,
		time.Second, 5 * time.Second}[s.IntN(3)]
	n.jobs = newJobs(s.T, n, func(c *durable.Config) {
		c.Executor, c.Lease, c.Poll, c.Drain = pool, lease, poll, time.Second
		c.Logger, c.History = n.log.logger(), 1<<20
	})
	for name, k := range kindsOfStorm {
		opts := []durable.HandlerOption{durable.WithBackoff(executor.Backoff(20*time.Millisecond, 200*time.Millisecond))}
		if k.limit > 0 {
			opts = append(opts, durable.Limit(k.limit))
		}
		if k.global > 0 {
			opts = append(opts, durable.GlobalLimit(k.global))
		}
		n.kinds[name] = durable.Handle(n.jobs, name, n.handle, opts...)
	}
	n.stop = start(s.T, n.jobs)
	s.nodes = append(s.nodes, n)
	return n
}

// handle is the handler of all jobs.
func (n *stormNode) handle(ctx context.Context, c chore) (int, error) {
	j, _ := durable.Current(ctx)
	mine, all := fmt.Sprintf("%p %s", n, j.Kind), j.Kind
	n.mu().Lock()
	n.judge(j)
	n.storm.running[j.ID] = true
	n.together[mine]++
	n.together[all]++
	if k := kindsOfStorm[j.Kind]; k.limit > 0 && n.together[mine] > k.limit || k.global > 0 &&
		n.together[all] > k.global && !n.ahead() {
		n.Errorf("%d jobs of kind %s run on a node, and %d on all", n.together[mine], j.Kind, n.together[all])
	}
	n.mu().Unlock()
	defer func() {
		n.mu().Lock()
		defer n.mu().Unlock()
		n.storm.running[j.ID] = false
		n.together[mine]--
		n.together[all]--
	}()
	select {
	case <-time.After(c.Work):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if j.Attempt <= c.Fails {
		return 0, errBoom
	}
	return 0, nil
}

func (n *stormNode) mu() *sync.Mutex { return &n.storm.mu }

// ahead reports whether the clock was put forward just now. A node that has joined
// since knows nothing of that, and may declare others dead that are not.
func (s *storm) ahead() bool { return time.Since(s.forward) < 6*time.Second }

// judge reports what is wrong with a run that begins, with the lock.
func (n *stormNode) judge(j durable.Job) {
	now := time.Now()
	if n.storm.running[j.ID] && !n.ahead() {
		n.Errorf("job %v runs twice at once", j.ID)
	}
	right := fmt.Sprint(j.ID, j.Epoch, j.Occurrence)
	if n.began[right] {
		n.Errorf("job %v was begun twice by epoch %d", j.ID, j.Epoch)
	}
	n.began[right] = true
	if at, ok := n.paused[j.Kind]; ok && now.After(at) {
		n.Errorf("job %v of kind %s was begun %v after that was paused here", j.ID, j.Kind, now.Sub(at))
	}
	due := j.Due
	if j.Attempt <= 1 && j.Occurrence.After(due) {
		due = j.Occurrence
	}
	due = due.Add(-2 * time.Millisecond) // what a node bears, and how exact the store's time is
	if truth, _ := n.store.Now(context.Background()); truth.Before(due) {
		known := !n.back
		for _, a := range n.answers {
			if a.sent.After(n.jumps[len(n.jumps)-1]) && a.heard.Before(now) && now.Add(a.most).Before(due) {
				known = true
			}
		}
		if known {
			n.Errorf("job %v was begun %v early, as its node knew", j.ID, due.Sub(truth))
		}
	}
}

// call makes a call on a bad line.
func (n *stormNode) call(op string, call func() error) error {
	sent := time.Now()
	there, back, err1, err2 := n.weather()
	time.Sleep(there)
	if err1 != nil {
		return err1
	}
	err := call()
	read, _ := n.store.Now(context.Background())
	time.Sleep(back)
	if err = errors.Join(err, err2); err == nil && slices.Contains([]string{"insert", "join", "heartbeat", "claim", "commit"}, op) {
		n.mu().Lock()
		n.answers = append(n.answers, timed{sent: sent, heard: time.Now(), most: read.Sub(sent)})
		n.mu().Unlock()
	}
	return err
}

// weather returns how long a call and its answer take, and how it fails.
func (n *stormNode) weather() (there, back time.Duration, err1, err2 error) {
	n.mu().Lock()
	defer n.mu().Unlock()
	delay := func() time.Duration {
		d := 50*time.Microsecond + upTo(n.draw, 500*time.Microsecond)
		switch k := n.draw.IntN(100); {
		case n.calm:
		case time.Now().Before(n.slow), k < 4:
			d += upTo(n.draw, 700*time.Millisecond)
		case k < 15:
			d += upTo(n.draw, 50*time.Millisecond)
		}
		return d
	}
	there, back = delay(), delay()
	switch k := n.draw.IntN(100); {
	case n.calm:
	case time.Now().Before(n.cut), k < 4:
		err1 = errDown
	case k < 8:
		err2 = errLost
	}
	return there, back, err1, err2
}

// overtaken decides that a call is given up, and reaches the store later.
func (n *stormNode) overtaken(ctx context.Context, call func(ctx context.Context)) error {
	n.mu().Lock()
	yes, by := !n.calm && n.draw.IntN(50) == 0, upTo(n.draw, 800*time.Millisecond)
	n.mu().Unlock()
	if !yes {
		return nil
	}
	time.AfterFunc(by, func() { call(context.WithoutCancel(ctx)) })
	return errLost
}

func (n *stormNode) Insert(ctx context.Context, jobs []durable.NewJob,
	p durablestore.Placement) ([]durable.InsertResult, error) {
	if err := n.overtaken(ctx, func(ctx context.Context) { n.store.Insert(ctx, jobs, p) }); err != nil {
		return nil, err
	}
	return n.faulty.Insert(ctx, jobs, p)
}

func (n *stormNode) Claim(ctx context.Context, r durablestore.ClaimRequest) (durablestore.ClaimResult, error) {
	if err := n.overtaken(ctx, func(ctx context.Context) { n.store.Claim(ctx, r) }); err != nil {
		return durablestore.ClaimResult{}, err
	}
	return n.faulty.Claim(ctx, r)
}

func (n *stormNode) PauseKind(ctx context.Context, kind string, pause bool) error {
	return n.call("pause", func() error { return n.store.PauseKind(ctx, kind, pause) })
}

func (n *stormNode) PausedKinds(ctx context.Context) (kinds []string, err error) {
	err = n.call("paused", func() (err error) { kinds, err = n.store.PausedKinds(ctx); return err })
	return kinds, err
}

// play is the program.
func (s *storm) play() {
	for range 1 + s.IntN(3) {
		s.start()
	}
	live := slices.Clone(s.nodes)
	var pausing, ending sync.WaitGroup
	paused, ended := false, false
	for range 60 {
		time.Sleep(upTo(s.Rand, 400*time.Millisecond))
		i := s.IntN(len(live))
		n := live[i]
		switch k := s.IntN(100); {
		case k < 45:
			s.add(n)
		case k < 65:
			s.change(n)
		case k < 75:
			s.jump()
		case k < 80:
			if !paused || s.IntN(4) == 0 {
				paused = true
				pausing.Wait()
				kind, length, by := s.kind(), upTo(s.Rand, 3*time.Second), live[s.IntN(len(live))]
				pausing.Go(func() { s.pause(n, kind, length, by) })
			}
		case k < 85:
			if !ended {
				ended = true
				ending.Go(n.stop)
				live[i] = s.start()
			}
		case k < 93:
			s.mu.Lock()
			n.slow = time.Now().Add(upTo(s.Rand, 4*time.Second))
			s.mu.Unlock()
		default:
			s.mu.Lock()
			n.cut = time.Now().Add(upTo(s.Rand, 4*time.Second))
			s.mu.Unlock()
		}
	}
	pausing.Wait()
	s.asks.Wait()
	ending.Wait()
	s.end()
	for _, n := range live {
		n.stop()
	}
	s.check()
}

func (s *storm) kind() string { return []string{"free", "limited", "global"}[s.IntN(3)] }

// add adds a job on a node.
func (s *storm) add(n *stormNode) {
	k := n.kinds[s.kind()]
	c := chore{Work: upTo(s.Rand, 300*time.Millisecond), Fails: max(0, s.IntN(5)-2)}
	delay := []time.Duration{0, upTo(s.Rand, 40*time.Millisecond), upTo(s.Rand, 3*time.Second),
		upTo(s.Rand, 8*time.Second)}[s.IntN(4)]
	opts := []durable.Option{durable.Attempts(1000)}
	key := fmt.Sprint("key", s.IntN(3))
	switch s.IntN(8) {
	case 0:
		c.Fails = 0
		s.asks.Go(func() { k.AtFixedRate(s.Context(), key, delay, time.Second, c, opts...) })
	case 1:
		c.Fails = 0
		s.asks.Go(func() {
			k.WithFixedDelay(s.Context(), key, delay, 300*time.Millisecond, c,
				append(opts, durable.OnMissed(durable.CatchUp(5)))...)
		})
	default:
		s.asks.Go(func() { k.AddAfter(s.Context(), delay, c, opts...) })
	}
}

// change asks something of a job that is not over.
func (s *storm) change(n *stormNode) {
	open := s.open()
	if len(open) == 0 {
		return
	}
	id := open[s.IntN(len(open))].ID
	at := must(s.store.Now(s.Context())).Add(upTo(s.Rand, 4*time.Second))
	wait := upTo(s.Rand, time.Second)
	op := s.IntN(10)
	if op < 7 {
		s.mu.Lock()
		s.moved[id] = true
		s.mu.Unlock()
	}
	s.asks.Go(func() {
		switch ctx := s.Context(); {
		case op < 4:
			n.jobs.RunNow(ctx, id)
		case op < 7:
			n.jobs.Reschedule(ctx, id, at)
		case op < 8:
			n.jobs.Cancel(ctx, id)
		default:
			n.jobs.Pause(ctx, id)
			time.Sleep(wait)
			n.jobs.Resume(ctx, id)
		}
	})
}

// open returns the jobs that are not over.
func (s *storm) open() []durable.Job {
	return must(s.store.List(s.Context(),
		durable.Filter{States: []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed,
			durable.Running, durable.Paused},
			Limit: 1000}))
}

// jump shifts the store's clock, unless it has just jumped: what lies between two
// jumps that one answer has seen nobody can know.
func (s *storm) jump() {
	by := []time.Duration{time.Hour, -time.Hour, 3 * time.Second, -3 * time.Second, -300 * time.Millisecond,
		50 * time.Millisecond, -50 * time.Millisecond, -90 * time.Millisecond}[s.IntN(8)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.jumps) > 0 && time.Since(s.jumps[len(s.jumps)-1]) < 5*time.Second {
		return
	}
	s.jumps, s.back = append(s.jumps, time.Now()), s.back || by < 0
	if by < -time.Second {
		s.again++
	}
	if by > 0 {
		s.forward = time.Now()
	}
	s.store.Shift(by)
}

// pause pauses a kind on n, and has it go on by another.
func (s *storm) pause(n *stormNode, kind string, length time.Duration, by *stormNode) {
	if n.jobs.PauseKind(s.Context(), kind) == nil {
		s.mu.Lock()
		n.paused[kind] = time.Now()
		s.mu.Unlock()
	}
	time.Sleep(length)
	s.mu.Lock()
	delete(n.paused, kind)
	s.mu.Unlock()
	for by.jobs.ResumeKind(s.Context(), kind) != nil {
		time.Sleep(50 * time.Millisecond)
	}
}

// end has all that goes on come to an end, on lines that are good again.
func (s *storm) end() {
	ctx := s.Context()
	s.mu.Lock()
	for _, n := range s.nodes {
		n.calm = true
	}
	s.mu.Unlock()
	operator := newJobs(s.T, s.store)
	for _, j := range s.open() {
		if must(operator.Resume(ctx, j.ID)); j.Periodic() {
			must(operator.Cancel(ctx, j.ID))
		}
	}
	time.Sleep(10 * time.Second)
	var ids []durable.ID
	for name := range kindsOfStorm { // nothing that waits for its time keeps others from running
		ids = append(ids, must(durable.KindOf[chore, int](operator, name).Add(ctx, chore{})))
	}
	time.Sleep(15 * time.Second)
	for _, id := range ids {
		if j := must(s.store.Get(ctx, id)); j.State != durable.Succeeded {
			s.Errorf("nothing is in its way, but it does not run: %+v", j)
		}
	}
	for range 60 {
		now := must(s.store.Now(ctx))
		for _, j := range s.open() {
			if j.Periodic() { // one whose call reached the store late
				must(operator.Cancel(ctx, j.ID))
			} else if must(operator.Resume(ctx, j.ID)); !j.State.Granted() && j.Due.Sub(now) > time.Second {
				s.moved[j.ID] = true
				must(operator.RunNow(ctx, j.ID))
			}
		}
		time.Sleep(time.Second)
	}
}

// check judges what is left.
func (s *storm) check() {
	for _, n := range s.nodes {
		if lines := n.log.count("clock of the database jumped"); lines > len(s.jumps)-n.since {
			s.Errorf("the log of a node has %d jumps, of %d", lines, len(s.jumps)-n.since)
		}
	}
	for _, j := range must(s.store.List(s.Context(), durable.Filter{Limit: 1000})) {
		if j.State != durable.Succeeded && j.State != durable.Canceled {
			s.Errorf("in the end a job is %+v", j)
		}
		tried := 0
		done := make(map[time.Time]int)
		runs := must(s.store.Runs(s.Context(), j.ID, 0, 1<<20))
		slices.Reverse(runs)
		for _, r := range runs {
			if tried++; !j.Periodic() && !s.moved[j.ID] && r.Attempt != tried {
				s.Errorf("job %v: run %d was attempt %d", j.ID, tried, r.Attempt)
			}
			if r.Verdict != durable.RunSucceeded {
				continue
			}
			done[r.Occurrence]++
			if most := 1 + s.again; done[r.Occurrence] > most && !s.moved[j.ID] || !j.Periodic() && done[r.Occurrence] > 1 {
				s.Errorf("job %v was committed %d times for %v", j.ID, done[r.Occurrence], r.Occurrence)
			}
		}
	}
}
