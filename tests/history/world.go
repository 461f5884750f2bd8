package history

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/executor-go/executor"
)

// Kinds returns the number of kinds of pools: all presets, all queues with all policies, and
// scheduled pools with all policies.
func Kinds() int { return len(presets) + len(queues)*len(policies) + len(policies) }

var presets = []struct {
	name string
	pool func(n int) *executor.Pool
}{
	{"Fixed", func(n int) *executor.Pool { return executor.Fixed(n) }},
	{"Single", func(int) *executor.Pool { return executor.Single() }},
	{"Cached", func(int) *executor.Pool { return executor.Cached() }},
	{"PerTask", func(int) *executor.Pool { return executor.PerTask() }},
	{"Scheduled", nil},
}

var queues = []struct {
	name  string
	queue func(n int) executor.Queue
}{
	{"Unbounded", func(int) executor.Queue { return executor.Unbounded() }},
	{"Bounded", executor.Bounded},
	{"Handoff", func(int) executor.Queue { return executor.Handoff() }},
	{"Prioritized", func(int) executor.Queue { return executor.Prioritized() }},
	{"BoundedPrioritized", executor.BoundedPrioritized},
}

var policies = []struct {
	name   string
	policy executor.RejectPolicy
}{
	{"Abort", executor.Abort},
	{"CallerRuns", executor.CallerRuns},
	{"Discard", executor.Discard},
	{"DiscardOldest", executor.DiscardOldest},
	{"Block", executor.Block},
	{"own", executor.RejectFunc(func(ctx context.Context, task executor.Runnable, pool *executor.Pool) error {
		return executor.DiscardOldest.Reject(ctx, task, pool)
	})},
}

// allow hookRecords what the policy may do.
func (w *World) addPolicy(i int) {
	switch policies[i].name {
	case "CallerRuns":
		w.CallerRuns = true
	case "Discard", "DiscardOldest":
		w.Discards = true
	case "own":
		w.Discards, w.Resubmits = true, true
	}
}

// stage is a pool, and what is done to it.
type setup struct {
	World
	rng   *rand.Rand
	pool  *executor.Pool
	sched *executor.ScheduledPool // the same pool, or nil

	core, max     int
	reconfigured  bool  // sizes and times are changed
	changing      []int // the policies that are set during the history
	submitters    int
	tasks         int    // of each submitter
	orderly       []bool // one goroutine for each: true for Shutdown, false for ShutdownNow
	shutdownAfter time.Duration
}

// build returns a random setup of the kind.
func build(kind int, seed uint64, hooks executor.Hooks) *setup {
	s := &setup{rng: rand.New(rand.NewPCG(seed, 0))}
	s.Seed = seed
	r := s.rng
	s.submitters, s.tasks = 1+r.IntN(4), 10+r.IntN(50)
	s.shutdownAfter = time.Duration(r.IntN(3000)) * time.Microsecond
	if r.IntN(2) == 0 {
		s.shutdownAfter = time.Hour // when all is submitted
	}
	s.orderly = [][]bool{{true}, {false}, {true, false}, {true, true}, {false, false}}[r.IntN(5)]
	s.core, s.max = r.IntN(3), 0
	s.max = max(1, s.core) + r.IntN(3)
	s.Hooked, s.reconfigured = r.IntN(3) > 0, r.IntN(3) > 0
	if r.IntN(4) == 0 { // one worker, and no changes
		s.core, s.max, s.reconfigured = 1, 1, false
	}
	if !s.Hooked {
		hooks = executor.Hooks{}
	}

	kind %= Kinds()
	if kind < len(presets) {
		s.preset(kind)
	} else if kind -= len(presets); kind < len(queues)*len(policies) {
		s.plain(kind/len(policies), kind%len(policies), hooks)
	} else {
		s.scheduled(kind-len(queues)*len(policies), hooks)
	}
	if s.CallerRuns || s.reconfigured {
		s.OneWorker = false
	}
	return s
}

func (s *setup) preset(kind int) {
	p := presets[kind]
	s.Name, s.Hooked = p.name, false
	switch n := max(1, s.core); p.name {
	case "Scheduled":
		s.sched = executor.Scheduled(s.core)
		s.OneWorker = s.core <= 1
	case "Single":
		s.pool = p.pool(n)
		s.reconfigured, s.OneWorker = false, true
	default:
		s.pool = p.pool(n)
		s.max = s.pool.Settings().Max
		s.OneWorker = p.name == "Fixed" && n == 1
	}
	if s.sched != nil {
		s.pool, s.Scheduled, s.Stops = s.sched.Pool, true, true
	}
}

func (s *setup) plain(queue, policy int, hooks executor.Hooks) {
	s.Name = queues[queue].name + ", " + policies[policy].name
	s.Prioritized = strings.HasSuffix(queues[queue].name, "Prioritized")
	s.reject(policy)
	c := executor.Config{
		Workers: s.core, Max: s.max, Queue: queues[queue].queue(1 + s.rng.IntN(6)), Reject: policies[policy].policy,
		KeepAlive: time.Duration(s.rng.IntN(200)) * time.Microsecond,
		Hooks:     hooks, Logger: slog.New(slog.DiscardHandler),
	}
	if s.rng.IntN(2) == 0 {
		c.GrowWhenBusy = true
	} else if name := queues[queue].name; name == "Unbounded" || name == "Prioritized" {
		c.Max = max(1, c.Workers) // New accepts no more, since the pool would not grow
	}
	c.KeepNone = c.KeepAlive > 0 && s.rng.IntN(2) == 0
	if s.Discards && queues[queue].name == "BoundedPrioritized" && s.rng.IntN(2) == 0 {
		c.Reject = executor.DropLowest
	}
	s.OneWorker = s.max == 1
	s.pool = must(executor.New(c))
	if err := s.pool.Reconfigure(func(to *executor.Settings) { to.Max = s.max }); err != nil {
		panic(err)
	}
}

func (s *setup) scheduled(policy int, hooks executor.Hooks) {
	s.Name = "NewScheduled, " + policies[policy].name
	s.Scheduled = true
	s.reject(policy)
	c := executor.ScheduledConfig{
		Workers: s.core, Reject: policies[policy].policy, Hooks: hooks, Logger: slog.New(slog.DiscardHandler),
		KeepAlive:   time.Duration(s.rng.IntN(200)) * time.Microsecond,
		DropDelayed: s.rng.IntN(2) == 0, KeepPeriodic: s.rng.IntN(2) == 0,
	}
	c.KeepNone = c.KeepAlive > 0 && s.rng.IntN(2) == 0
	s.Drops = c.DropDelayed || s.changing != nil
	s.Stops = !c.KeepPeriodic || s.changing != nil
	s.OneWorker = s.core <= 1
	s.sched = must(executor.NewScheduled(c))
	s.pool = s.sched.Pool
}

// reject determines the policies of the pool.
func (s *setup) reject(first int) {
	s.addPolicy(first)
	if s.rng.IntN(4) > 0 {
		return
	}
	for range 2 {
		i := s.rng.IntN(len(policies))
		s.changing = append(s.changing, i)
		s.addPolicy(i)
	}
	s.changing = append(s.changing, first)
	s.Name += " and others"
}

func (s *setup) String() string {
	return fmt.Sprintf("%s, kept %d, max %d, %d submitters of %d tasks, reconfigured %t, orderly %v after %v: %+v",
		s.Name, s.core, s.max, s.submitters, s.tasks, s.reconfigured, s.orderly, s.shutdownAfter, s.World)
}

func must[P any](p P, err error) P {
	if err != nil {
		panic(err)
	}
	return p
}
