//go:build linux

package faults

import (
	"bytes"
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
	"github.com/executor-go/executor/durable/transfer"
)

// A program is a random one: nodes that serve some queues each, on bad lines; users who add jobs and change them, one
// and many at once; and nodes that are killed, stopped and drained. What it was told is kept outside.
type program struct {
	*rand.Rand
	*ledger
	ctx     context.Context
	seed    uint64
	store   whole
	next    []func() whole // the stores that it is moved to, in turn
	workers []*worker      // all that there were
	asks    sync.WaitGroup
	faults  []string
}

// A worker is a node of a program, and its user.
type worker struct {
	*program
	*line
	*user
	serves []string
	stop   context.CancelFunc
	done   chan struct{}
	drains bool // it was drained
	killed bool // guarded by ledger.mu
}

// plays plays a program on a store, which is moved to others, and returns what is wrong.
func plays(t *testing.T, seed uint64, s whole, next ...func() whole) []string {
	p := &program{Rand: rand.New(rand.NewPCG(seed, 0)), ledger: newLedger(), ctx: t.Context(), seed: seed, store: s, next: next}
	p.play()
	p.mu.Lock()
	defer p.mu.Unlock()
	v, err := p.record.Check(p.ctx, p.store)
	if err != nil {
		return []string{err.Error()}
	}
	return append(p.faults, v.Faults...)
}

func (p *program) upTo(d time.Duration) time.Duration { return time.Duration(p.Int64N(int64(d))) }

// start starts a node. Any two of three serve all queues.
func (p *program) start(slot int) *worker {
	w := &worker{program: p, serves: [][]string{{"", "a"}, {"a", "b"}, {"", "b"}}[slot], done: make(chan struct{})}
	w.line = newLine(p.store, &p.asks, rand.New(rand.NewPCG(p.seed, uint64(len(p.workers)+1))))
	pool := executor.Scheduled(1 + p.IntN(5))
	poll := []time.Duration{500 * time.Millisecond, 3 * time.Second, 10 * time.Second}[p.IntN(3)]
	jobs, err := durable.New(durable.Config{Store: w.line, Executor: pool, Queues: w.serves, Lease: 3 * time.Second, Poll: poll,
		Drain: 3 * time.Second, History: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	w.user = &user{machine: newMachine(jobs, w.write), Rand: p.Rand, batch: 5, work: 200 * time.Millisecond, delay: 2 * time.Second, keys: 3}
	ctx, stop := context.WithCancel(p.ctx)
	w.stop = stop
	go func() {
		defer close(w.done)
		defer pool.Close()
		jobs.Run(ctx)
	}()
	p.workers = append(p.workers, w)
	return w
}

// write writes something down, unless the node was killed.
func (w *worker) write(n note) (alive bool) {
	w.ledger.mu.Lock()
	alive = !w.killed
	w.ledger.mu.Unlock()
	if n.Start != nil {
		n.Start.Serves = w.serves
	}
	if alive {
		w.take(n)
	}
	return alive
}

// kill has a node do nothing any more.
func (w *worker) kill() {
	w.line.die()
	w.ledger.mu.Lock()
	w.killed = true
	w.ledger.mu.Unlock()
	w.stop()
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
	const rounds = 200
	every := rounds / (len(p.next) + 1)
	for round := range rounds {
		if time.Sleep(p.upTo(300 * time.Millisecond)); round%every == every-1 && len(p.next) > 0 {
			operator = p.move()
			live = []*worker{p.start(0), p.start(1), p.start(2)}
		}
		i := p.IntN(len(live))
		switch w, k := live[i], p.IntN(100); {
		case k < 60:
			p.asks.Go(w.add(p.ctx))
		case k < 78:
			p.asks.Go(w.act(p.ctx))
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

// move ends all nodes and users, some of them as they are, and goes on with the next store and what the one before has.
// It returns a view of that store for people.
func (p *program) move() (operator *durable.Jobs) {
	for _, w := range p.workers {
		if p.IntN(2) == 0 { // it may end what it does, but its user is told nothing any more
			w.line.calm()
			w.stop()
			<-w.done
		}
		w.kill()
	}
	var lines bytes.Buffer
	_, err := transfer.Export(p.ctx, p.store, &lines)
	for errors.Is(err, executor.ErrInvalid) { // what was killed is alive until its lease ends
		time.Sleep(time.Second)
		lines.Reset()
		_, err = transfer.Export(p.ctx, p.store, &lines)
	}
	p.store, p.next = p.next[0](), p.next[1:]
	if err == nil {
		_, err = transfer.Import(p.ctx, p.store, &lines)
	}
	if err == nil {
		operator, err = durable.New(durable.Config{Store: p.store})
	}
	if err != nil {
		panic(err)
	}
	return operator
}

// settle has all end that has not: within some minutes, since what a node has without knowing it is freed within one.
func (p *program) settle(operator *durable.Jobs) {
	for left := 300; ; left-- {
		jobs, err := operator.List(p.ctx, durable.Filter{Limit: 1000, States: unfinished})
		if err != nil || len(jobs) == 0 {
			return // what is wrong with the store, the judge will say
		}
		nodes, err := operator.Nodes(p.ctx)
		for _, n := range nodes {
			if n.Draining { // one that was declared dead drains under its new name, too
				err = errors.Join(err, operator.UndrainNode(p.ctx, n.Name))
			}
		}
		if err := errors.Join(err, nudge(p.ctx, operator)); err != nil && !errors.Is(err, durable.ErrNoNode) {
			p.faults = append(p.faults, err.Error())
		}
		if left == 0 {
			p.faults = append(p.faults, fmt.Sprintf("%d jobs wait for ever, one of them %+v", len(jobs), jobs[0]))
			return
		}
		time.Sleep(time.Second)
	}
}

// What random programs add is neither lost nor done twice, and nothing waits for ever: with queues, limits, rates,
// steps and signals, keys that several ask for, jobs after others that fail, are canceled and deleted; while nodes are
// killed, stopped, cut off and drained, and many jobs are moved, paused and resumed at once.
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

// The same goes for programs whose store is moved to another one, twice, while nodes and users are at work or are ended.
func TestProgramsMoveTheirStore(t *testing.T) {
	programs := uint64(20)
	if soak(t) > 0 {
		programs = 2000
	}
	next := func() whole { return memory.New() }
	for seed := range programs {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, fault := range plays(t, seed, memory.New(), next, next) {
					t.Error(fault)
				}
			})
		})
	}
}

// finds reports whether a program finds a fault of a store.
func finds(t *testing.T, fault string, open func() whole, next ...func() whole) (found bool) {
	for seed := uint64(0); seed < 60 && !found; seed++ {
		synctest.Test(t, func(t *testing.T) {
			found = slices.ContainsFunc(plays(t, seed, open(), next...), func(s string) bool { return strings.Contains(s, fault) })
		})
	}
	return found
}

// The judge of programs finds faults that are planted in the store.
func TestProgramsFindPlantedFaults(t *testing.T) {
	for fault, plant := range planted {
		if !finds(t, fault, func() whole { return plant(memory.New()) }) {
			t.Errorf("no program finds that a job %s", fault)
		}
	}
}

// The judge of programs finds it if a move leaves something out.
func TestProgramsFindWhatMovesLeaveOut(t *testing.T) {
	for fault, out := range map[string]func(row store.Row) bool{
		"was accepted, and is not there": func(row store.Row) bool { return row.Job != nil && !row.Job.HasChildren && row.Job.ID[15]%8 == 0 },
		"committed 0 times":              func(row store.Row) bool { return row.Run != nil },
		"was done again":                 func(row store.Row) bool { return row.Step != nil },
	} {
		next := func() whole { return memory.New() }
		if !finds(t, fault, func() whole { return leaky{memory.New(), out} }, next) {
			t.Errorf("no program finds that a job %s", fault)
		}
	}
}
