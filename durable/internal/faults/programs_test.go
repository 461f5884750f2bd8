//go:build linux

package faults

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/history"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/store"
)

// A chore is the payload of a job of a program.
type chore struct {
	Work   time.Duration
	Fails  int    // so many of its first attempts
	Dies   bool   // it fails for good
	Signal bool   // it waits for one
	Key    string // of a job that is asked for again and again
}

// A program is a random one: nodes that serve some queues each, on bad lines; users who add jobs, move, pause, cancel and
// delete them, one and many at once; and nodes that are killed, stopped and drained. What it was told is kept outside.
type program struct {
	*rand.Rand
	ctx     context.Context
	seed    uint64
	store   store.Full
	workers []*worker // all that there were
	asks    sync.WaitGroup

	mu       sync.Mutex
	record   history.Record
	accepted map[durable.ID]bool
	touched  map[durable.ID]bool // they were canceled or deleted, or may have been
	families map[durable.ID]relative
	wishes   []wish
	begun    map[string]time.Time // when a job with that key was begun last
	faults   []string
}

// A relative is a job that was added with others, of which some are its parents.
type relative struct {
	parents      []durable.ID
	anyway, dies bool
}

// A wish is a call for a job with a key: a run of it that begins later must follow.
type wish struct {
	key string
	at  time.Time
}

// A worker is a node of a program.
type worker struct {
	*program
	*line
	jobs   *durable.Jobs
	kinds  map[string]*durable.Kind[chore, int]
	serves []string
	stop   context.CancelFunc
	done   chan struct{}
	drains bool // it was drained
	killed bool // guarded by program.mu
}

var errPlanned = errors.New("it was to fail")

// plays plays a program on a store, and returns what is wrong.
func plays(t *testing.T, seed uint64, s store.Full) []string {
	p := &program{Rand: rand.New(rand.NewPCG(seed, 0)), ctx: t.Context(), seed: seed, store: s,
		accepted: make(map[durable.ID]bool), touched: make(map[durable.ID]bool), families: make(map[durable.ID]relative), begun: make(map[string]time.Time)}
	p.record.PerPartition, p.record.Global = map[string]int{"parted": 2}, map[string]int{"global": 3}
	p.record.Rates = map[string]executor.Rate{"rated": often}
	p.record.Excused = p.excused
	p.play()
	return p.judge()
}

func (p *program) fault(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, fmt.Sprintf(format, args...))
}

func (p *program) upTo(d time.Duration) time.Duration { return time.Duration(p.Int64N(int64(d))) }

// start starts a node. Any two of three serve all queues.
func (p *program) start(slot int) *worker {
	w := &worker{program: p, serves: [][]string{{"", "a"}, {"a", "b"}, {"", "b"}}[slot], done: make(chan struct{})}
	w.line = newLine(p.store, &p.asks, rand.New(rand.NewPCG(p.seed, uint64(len(p.workers)+1))))
	pool := executor.Scheduled(1 + p.IntN(5))
	poll := []time.Duration{500 * time.Millisecond, 3 * time.Second, 10 * time.Second}[p.IntN(3)]
	var err error
	w.jobs, err = durable.New(durable.Config{Store: w.line, Executor: pool, Queues: w.serves, Lease: 3 * time.Second, Poll: poll,
		Drain: 3 * time.Second, History: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	w.kinds = make(map[string]*durable.Kind[chore, int])
	for name, opt := range map[string]durable.HandlerOption{"free": nil, "local": durable.Limit(2), "global": durable.GlobalLimit(3),
		"parted": durable.PartitionLimit(2), "rated": durable.GlobalRate(often), "family": nil, history.Again: nil, "steps": nil} {
		opts := []durable.HandlerOption{durable.Backoff(10*time.Millisecond, 100*time.Millisecond)}
		if opt != nil {
			opts = append(opts, opt)
		}
		w.kinds[name] = durable.Handle(w.jobs, name, w.handle, opts...)
	}
	ctx, stop := context.WithCancel(p.ctx)
	w.stop = stop
	go func() {
		defer close(w.done)
		defer pool.Close()
		w.jobs.Run(ctx)
	}()
	p.workers = append(p.workers, w)
	return w
}

// kill has a node do nothing any more.
func (w *worker) kill() {
	w.line.die()
	w.program.mu.Lock()
	w.killed = true
	w.program.mu.Unlock()
	w.stop()
}

// write writes something down, unless the node was killed.
func (w *worker) write(f func(r *history.Record)) (alive bool) {
	w.program.mu.Lock()
	defer w.program.mu.Unlock()
	if !w.killed {
		f(&w.record)
	}
	return !w.killed
}

// handle is the handler of all kinds.
func (w *worker) handle(ctx context.Context, c chore) (sum int, err error) {
	j, _ := durable.Current(ctx)
	defer func() {
		w.write(func(r *history.Record) {
			r.Ends = append(r.Ends, history.End{Job: j.ID, Epoch: j.Epoch, Ended: time.Now()})
		})
	}()
	if !w.write(func(r *history.Record) {
		r.Starts = append(r.Starts, history.Start{Job: j.ID, Epoch: j.Epoch, Occurrence: j.Occurrence, At: time.Now(), Node: j.Owner,
			Queue: j.Queue, Serves: w.serves})
		w.begun[c.Key] = time.Now()
	}) {
		<-ctx.Done()
	}
	if j.Kind == "steps" {
		return w.steps(ctx, j, c)
	}
	if err := busy(ctx, c.Work); err != nil {
		return 0, err
	}
	switch {
	case c.Dies:
		return 0, executor.Permanent(errPlanned)
	case j.Attempt <= c.Fails:
		return 0, errPlanned
	}
	return 1, nil
}

func busy(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// steps has a sleep after the first of three steps, and a wait for a signal after the second.
func (w *worker) steps(ctx context.Context, j durable.Job, c chore) (sum int, err error) {
	for i := range 3 {
		n, err := durable.Step(ctx, history.StepName(i), func(ctx context.Context) (int, error) {
			if err := busy(ctx, c.Work/3); err != nil {
				return 0, err
			}
			n := rand.N(1 << 30)
			w.write(func(r *history.Record) {
				r.Steps = append(r.Steps, history.Step{Job: j.ID, Epoch: j.Epoch, Step: i, Value: n})
			})
			return n, nil
		})
		if err == nil && i == 0 {
			err = durable.Sleep(ctx, "nap", c.Work)
		}
		if err == nil && i == 1 && c.Signal {
			_, err = durable.Wait[int](ctx, "go")
		}
		if err == nil && i == 1 && j.Attempt <= c.Fails {
			err = errPlanned
		}
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// add has a user add jobs by a node.
func (p *program) add(w *worker) {
	c := chore{Work: time.Millisecond + p.upTo(200*time.Millisecond), Fails: max(0, p.IntN(5)-2), Signal: p.IntN(2) == 0}
	delay := []time.Duration{0, p.upTo(40 * time.Millisecond), p.upTo(2 * time.Second)}[p.IntN(3)]
	opts := []durable.Option{durable.Attempts(1000), durable.WithPriority(durable.Priority(p.IntN(3) - 1))}
	queue := queues[p.IntN(len(queues))]
	if queue != "" {
		opts = append(opts, durable.Queue(queue))
	}
	kind := []string{"free", "local", "global", "parted", "rated", "steps", "steps", history.Again, history.Again, "family", "family"}[p.IntN(11)]
	switch kind {
	case "family":
		p.addFamily(w, delay, opts)
		return
	case history.Again: // by several at the same time, who all want it
		c.Key, c.Fails = fmt.Sprint("again", p.IntN(3)), 0
		opts = append(opts, durable.Key(c.Key), []durable.Option{durable.ReplaceTime(), durable.Replace(), durable.ReplacePayload(),
			durable.ReuseKey()}[p.IntN(4)])
	case "parted":
		if queue == "" {
			opts = append(opts, durable.Partition(fmt.Sprint(p.IntN(3))))
		}
		fallthrough
	default: // until it is accepted: with a key that is safe
		opts = append(opts, durable.Key(durable.NewID().String()))
	}
	p.asks.Go(func() {
		for try := 0; try < 50 && p.ctx.Err() == nil; try++ {
			at := wish{c.Key, time.Now()}
			id, err := w.kinds[kind].Schedule(p.ctx, delay, c, opts...)
			if err == nil {
				p.accept(id)
				p.mu.Lock()
				defer p.mu.Unlock()
				if kind == history.Again {
					p.wishes = append(p.wishes, at)
				}
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
}

// addFamily adds some jobs, each after some of those before it, in any queues.
func (p *program) addFamily(w *worker, delay time.Duration, opts []durable.Option) {
	var all []durable.Prepared
	p.mu.Lock()
	for range 2 + p.IntN(4) {
		c := chore{Work: p.upTo(200 * time.Millisecond), Dies: p.IntN(6) == 0}
		r := relative{anyway: p.IntN(2) == 0, dies: c.Dies}
		opts := slices.Concat(opts, []durable.Option{durable.Queue(queues[1+p.IntN(2)])})
		for _, before := range all {
			if p.IntN(2) == 0 {
				r.parents = append(r.parents, before.ID())
			}
		}
		if len(r.parents) > 0 {
			opts = append(opts, durable.After(r.parents...))
			if r.anyway {
				opts = append(opts, durable.EvenIfFailed())
			}
		}
		k := w.kinds["family"].Prepare(delay, c, opts...)
		p.families[k.ID()] = r
		if len(r.parents) > 0 && !r.anyway {
			p.record.Edges = append(p.record.Edges, history.Edge{Child: k.ID(), Parents: r.parents})
		}
		all = append(all, k)
	}
	p.mu.Unlock()
	p.asks.Go(func() {
		if ids, err := w.jobs.Add(p.ctx, all...); err == nil {
			p.accept(ids...)
		}
	})
}

func (p *program) accept(ids ...durable.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		p.accepted[id] = true
	}
}

// some returns a job that was accepted lately.
func (p *program) some() (durable.ID, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ids []durable.ID
	for id := range p.accepted {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b durable.ID) int { return slices.Compare(a[:], b[:]) })
	if ids = ids[max(0, len(ids)-20):]; len(ids) == 0 {
		return durable.ID{}, false
	}
	return ids[p.IntN(len(ids))], true
}

// act has a user change jobs by a node.
func (p *program) act(w *worker) {
	id, ok := p.some()
	if !ok {
		return
	}
	ctx, wait, queue := p.ctx, p.upTo(800*time.Millisecond), queues[p.IntN(len(queues))]
	waiting := durable.Filter{Queue: queues[1+p.IntN(2)], States: []durable.State{durable.Waiting, durable.Claimed}, Limit: 20}
	var ask func()
	switch p.IntN(8) {
	case 0:
		op := []func(context.Context, durable.ID) (durable.Answer, error){w.jobs.Cancel, w.jobs.Delete}[p.IntN(2)]
		if j, err := p.store.Get(ctx, id); err != nil || j.Kind == history.Again {
			return
		}
		p.mu.Lock()
		p.touched[id] = true
		p.mu.Unlock()
		ask = func() { op(ctx, id) }
	case 1, 2:
		ask = func() { w.jobs.Move(ctx, id, queue) }
	case 3, 4:
		ask = func() { w.jobs.ChangeAll(ctx, durable.Change{Op: durable.OpMove, Queue: queue}, waiting) }
	case 5:
		ask = func() { w.jobs.ChangeAll(ctx, durable.Change{Op: durable.OpRunNow}, waiting) }
	case 6:
		ask = func() {
			w.jobs.ChangeAll(ctx, durable.Change{Op: durable.OpPause}, waiting)
			time.Sleep(wait)
			w.jobs.ChangeAll(ctx, durable.Change{Op: durable.OpResume}, durable.Filter{})
		}
	case 7:
		kind := []string{"free", "parted", "global", "steps"}[p.IntN(4)]
		ask = func() {
			w.jobs.PauseKind(ctx, kind)
			time.Sleep(wait)
			w.jobs.ResumeKind(ctx, kind)
		}
	}
	p.asks.Go(ask)
}

// drain has a user drain a node once, and let it take jobs again after a while.
func (p *program) drain(w *worker, operator *durable.Jobs) {
	s, ok := w.jobs.Node()
	if !ok || w.drains {
		return
	}
	w.drains = true
	wait := p.upTo(3 * time.Second)
	p.asks.Go(func() {
		if operator.DrainNode(p.ctx, s.Name) == nil {
			d := history.Drain{Node: s.Name, From: time.Now()}
			nodes, err := operator.Nodes(p.ctx)
			seen := err == nil && slices.ContainsFunc(nodes, func(n durable.NodeInfo) bool { return n.Name == s.Name && n.Jobs == 0 })
			time.Sleep(wait)
			p.mu.Lock()
			if d.To = time.Now(); seen {
				p.record.Drains = append(p.record.Drains, d)
			}
			p.mu.Unlock()
		}
		for err := errDown; err != nil && !errors.Is(err, durable.ErrNoNode); {
			err = operator.UndrainNode(p.ctx, s.Name)
		}
	})
}

// play is the program.
func (p *program) play() {
	operator, err := durable.New(durable.Config{Store: p.store})
	if err != nil {
		panic(err)
	}
	live := []*worker{p.start(0), p.start(1), p.start(2)}
	for range 200 {
		time.Sleep(p.upTo(300 * time.Millisecond))
		i := p.IntN(len(live))
		switch w, k := live[i], p.IntN(100); {
		case k < 60:
			p.add(w)
		case k < 78:
			p.act(w)
		case k < 84:
			w.line.cut(p.upTo(6 * time.Second))
		case k < 89:
			w.kill()
			live[i] = p.start(i)
		case k < 93:
			w.stop()
			live[i] = p.start(i)
		default:
			p.drain(w, operator)
		}
	}
	for _, w := range p.workers {
		w.line.calm()
	}
	p.asks.Wait()
	p.settle(operator)
	for _, w := range p.workers {
		w.stop()
		<-w.done
	}
}

// settle has all end that has not: within some minutes, since what a node has without knowing it is freed within one.
func (p *program) settle(operator *durable.Jobs) {
	ctx := p.ctx
	open := durable.Filter{Limit: 1000, States: []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed, durable.Running,
		durable.Paused, durable.Blocked}}
	for left := 300; ; left-- {
		kinds, err1 := operator.PausedKinds(ctx)
		jobs, err2 := operator.List(ctx, open)
		nodes, err3 := operator.Nodes(ctx)
		if err := errors.Join(err1, err2, err3); err != nil || len(jobs) == 0 {
			return // what is wrong with the store, the judge will say
		}
		for _, n := range nodes {
			if n.Draining { // one that was declared dead drains under its new name, too
				operator.UndrainNode(ctx, n.Name)
			}
		}
		for _, kind := range kinds {
			operator.ResumeKind(ctx, kind)
		}
		for _, j := range jobs {
			if operator.Resume(ctx, j.ID); j.Kind == "steps" {
				operator.Signal(ctx, j.ID, "go", 7)
			}
			if left == 0 {
				p.fault("a job waits for ever: %+v", j)
			}
		}
		if left == 0 {
			return
		}
		time.Sleep(time.Second)
	}
}

// excused reports whether a job need not be a success: somebody has ended it, it was to fail, or its parents have failed.
func (p *program) excused(j durable.Job) bool {
	r := p.families[j.ID]
	if p.touched[j.ID] || r.dies && j.State == durable.Dead {
		return true
	}
	return j.State == durable.Canceled && !r.anyway && slices.ContainsFunc(r.parents, func(id durable.ID) bool {
		parent, err := p.store.Get(p.ctx, id)
		return err != nil || parent.State != durable.Succeeded
	})
}

// judge returns what is wrong.
func (p *program) judge() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.record.Edges = slices.DeleteFunc(p.record.Edges, func(e history.Edge) bool {
		return slices.ContainsFunc(e.Parents, func(id durable.ID) bool { return p.touched[id] }) // it may be gone with its history
	})
	v, err := p.record.Check(p.ctx, p.store)
	if err == nil {
		var ids []durable.ID
		for id := range p.accepted {
			if !p.touched[id] {
				ids = append(ids, id)
			}
		}
		err = v.Ledger(p.ctx, p.store, ids, nil)
	}
	if err != nil {
		return []string{err.Error()}
	}
	for _, w := range p.wishes {
		if !p.begun[w.key].Before(w.at) {
			continue
		}
		v.Faults = append(v.Faults, fmt.Sprintf("a call of %v for %s has led to no run after it", w.at, w.key))
	}
	return append(p.faults, v.Faults...)
}

// What random programs add is neither lost nor done twice, and nothing waits for ever: with queues, limits, rates, steps
// and signals, keys that several ask for, jobs after others that fail, are canceled and deleted; while nodes are killed,
// stopped, cut off and drained, and many jobs are moved, paused and resumed at once.
func TestProgramsKeepEveryPromise(t *testing.T) {
	programs := uint64(40)
	if soak(t) > 0 {
		programs = 5000
	}
	for seed := range programs {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, fault := range plays(t, seed, memory.New()) {
					t.Error(fault)
				}
			})
		})
	}
}

// forgetful loses jobs, mixed gives jobs of another queue, and deaf gives some to nodes that are to drain.
type (
	forgetful struct{ *memory.Store }
	mixed     struct{ *memory.Store }
	deaf      struct{ *memory.Store }
)

func (s forgetful) Insert(ctx context.Context, jobs []durable.NewJob, p store.Placement) ([]durable.InsertResult, error) {
	placed, err := s.Store.Insert(ctx, jobs, p)
	if err == nil && jobs[0].ID[15]%16 == 0 {
		s.Store.Change(ctx, jobs[0].ID, durable.Change{Op: durable.OpDelete})
	}
	return placed, err
}

func (s mixed) ClaimQueue(ctx context.Context, queue string, r store.ClaimRequest) (store.ClaimResult, error) {
	return s.Store.ClaimQueue(ctx, map[string]string{"a": "b", "b": "a"}[queue], r)
}

func (s deaf) DrainNode(ctx context.Context, node string, drain bool) (bool, error) {
	nodes, err := s.Store.Nodes(ctx)
	return slices.ContainsFunc(nodes, func(n durable.NodeInfo) bool { return n.Name == node }), err
}

// unkept keeps no step, and twice lets jobs run again that are over.
type (
	unkept struct{ *memory.Store }
	twice  struct{ *memory.Store }
)

func (s unkept) KeptSteps(context.Context, durable.ID) ([]durable.KeptStep, error) { return nil, nil }

func (s twice) Commit(ctx context.Context, r store.CommitRequest) (store.CommitResult, error) {
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.State == durable.Succeeded && o.ID[15]%16 == 0 && o.Epoch < 3 {
			o.State, o.Due = durable.Waiting, o.Run.Finished
		}
	}
	return s.Store.Commit(ctx, r)
}

// The judge of programs finds faults that are planted in the store.
func TestProgramsFindPlantedFaults(t *testing.T) {
	for fault, open := range map[string]func() store.Full{
		"was accepted, and is not there": func() store.Full { return forgetful{memory.New()} },
		"which serves":                   func() store.Full { return mixed{memory.New()} },
		"had drained":                    func() store.Full { return deaf{memory.New()} },
		"was done again":                 func() store.Full { return unkept{memory.New()} },
		"was committed twice":            func() store.Full { return twice{memory.New()} },
	} {
		found := false
		for seed := uint64(0); seed < 20 && !found; seed++ {
			synctest.Test(t, func(t *testing.T) {
				found = slices.ContainsFunc(plays(t, seed, open()), func(s string) bool { return strings.Contains(s, fault) })
			})
		}
		if !found {
			t.Errorf("no program finds that a job %s", fault)
		}
	}
}
