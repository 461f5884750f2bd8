package durable

import (
	"container/list"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/node"
	"github.com/executor-go/executor/durable/store"
)

// Jobs is a program's view of the jobs in a store. It adds jobs, reads them and changes them; while Run runs, it is a
// node that runs the jobs it has handlers for. All methods may be called by any goroutine.
type Jobs struct {
	cfg   Config
	store store.Store // Config.Store, or what times the calls of it
	parts store.Parts // of Config.Store, the same
	tally tally

	served atomic.Pointer[[]string] // the queues, in order, each once

	// mu is a leaf lock.
	mu struct {
		sync.Mutex
		kinds   map[string]*node.Kind
		started bool
		node    *node.Node        // nil unless Run is running
		waiters map[ID]*list.List // of channels, see subscribe; no list is empty
	}
}

// New returns Jobs, or an error that matches executor.ErrInvalid and names the field of c that is out of its range. It
// starts no goroutine and does not call the store.
func New(c Config) (*Jobs, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c.setDefaults()
	j := &Jobs{cfg: c, store: c.Store, parts: store.PartsOf(c.Store), tally: newTally()}
	if c.Hooks.Call != nil {
		j.store, j.parts = timed{c.Store, j}, timedParts(j.parts, j)
	}
	j.served.Store(&j.cfg.Queues)
	j.mu.kinds = make(map[string]*node.Kind)
	j.mu.waiters = make(map[ID]*list.List)
	return j, nil
}

// Run makes this program a node, which runs jobs, until ctx ends. Then the node claims no more jobs, releases those
// that have not begun, and waits for the handlers that run, see Config.Drain; after that, Run returns nil. If the store
// does not answer, Run goes on; once ctx has ended and the handlers have returned, it waits for the store for four
// leases at most. Contexts of handlers have the values of ctx. A second call does nothing, and returns an error that
// matches [executor.ErrInvalid]. Run panics if ctx is nil.
func (j *Jobs) Run(ctx context.Context) error {
	mustContext(ctx)
	j.mu.Lock()
	started := j.mu.started
	j.mu.started = true
	j.mu.Unlock()
	if started {
		return invalid("Run was already called; for another node make other Jobs with New")
	}
	pool := j.cfg.Executor
	if pool == nil {
		pool = executor.Scheduled(10)
		defer pool.Close()
	}
	n := node.New(ctx, j.nodeConfig(pool))
	j.setNode(n)
	defer j.setNode(nil)
	n.Run(ctx)
	return nil
}

// nodeConfig returns what the node needs to know.
func (j *Jobs) nodeConfig(pool *executor.ScheduledPool) node.Config {
	c := node.Config{
		Work: node.Work{
			Store: j.store, Parts: j.parts, Lease: j.cfg.Lease, History: j.cfg.History, Output: j.cfg.Output,
			Triggers: j.cfg.Triggers, Log: j.log, Around: j.around, Decode: j.decode, Transact: j.transact,
		},
		Pool: pool, Name: j.cfg.Name, Poll: j.cfg.Poll, Drain: j.cfg.Drain, Keep: j.cfg.Keep,
		Kind: j.kind, Kinds: j.kindNames, Queues: j.queues, Changed: j.notify,
	}
	if j.cfg.Hooks.Settled != nil {
		c.Settled = j.settled
	}
	if j.cfg.Hooks.Failed != nil {
		c.Failed = j.failed
	}
	return c
}

func (j *Jobs) setNode(n *node.Node) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mu.node = n
}

// node returns the node, or nil if Run is not running.
func (j *Jobs) node() *node.Node {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.mu.node
}

// kind returns the kind that this program handles under that name, or nil.
func (j *Jobs) kind(name string) *node.Kind {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.mu.kinds[name]
}

// kindNames returns the names of the kinds that this program handles, in order.
func (j *Jobs) kindNames() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Sorted(maps.Keys(j.mu.kinds))
}

func (j *Jobs) log() *slog.Logger {
	if j.cfg.Logger != nil {
		return slog.New(guarded{j.cfg.Logger.Handler()})
	}
	return slog.New(guarded{slog.Default().Handler()})
}

// guarded is a handler of the program's that may panic: that ends nothing here, and is a line on the standard error.
type guarded struct{ handler slog.Handler }

func (g guarded) Enabled(ctx context.Context, l slog.Level) (ok bool) {
	defer guard("")
	return g.handler.Enabled(ctx, l)
}

func (g guarded) Handle(ctx context.Context, r slog.Record) error {
	defer guard(r.Message)
	return g.handler.Handle(ctx, r)
}

func (g guarded) WithAttrs(attrs []slog.Attr) (h slog.Handler) {
	h = g // if that panics
	defer guard("")
	return guarded{g.handler.WithAttrs(attrs)}
}

func (g guarded) WithGroup(name string) (h slog.Handler) {
	h = g
	defer guard("")
	return guarded{g.handler.WithGroup(name)}
}

// guard is deferred around a call of the program's logger.
func guard(line string) {
	if v := recover(); v != nil {
		fmt.Fprintf(os.Stderr, "durable: the logger panicked: %v; the line was %q\n", v, line)
	}
}
