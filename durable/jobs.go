package durable

import (
	"container/list"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"

	executor "github.com/executor-go/executor"
)

// Jobs is a program's view of the jobs in a store: it adds them, looks at them
// and changes them, and, while Run runs, is a node that runs those it has
// handlers for. All methods may be called by any goroutine.
type Jobs struct {
	cfg   Config
	store Store

	// mu is a leaf lock.
	mu struct {
		sync.Mutex
		kinds   map[string]*kind
		started bool
		node    *node             // nil unless Run is running
		waiters map[ID]*list.List // of channels, see watch; none of them is empty
	}
}

// New returns Jobs, or an error that matches executor.ErrInvalid and says which
// field of c is out of its range. It starts nothing and asks the store nothing.
func New(c Config) (*Jobs, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c.setDefaults()
	j := &Jobs{cfg: c, store: c.Store}
	j.mu.kinds = make(map[string]*kind)
	j.mu.waiters = make(map[ID]*list.List)
	return j, nil
}

// Run is this program's part in running the jobs. It returns nil after ctx has
// ended and it has drained: it claims no more, gives back what has not begun,
// and waits for the handlers that run, see Config.Drain. A store that does not
// answer does not end it; nor does it keep it, once the handlers have returned, for
// longer than four leases. Handlers get the values of ctx. Run is called once.
func (j *Jobs) Run(ctx context.Context) error {
	mustContext(ctx)
	j.mu.Lock()
	started := j.mu.started
	j.mu.started = true
	j.mu.Unlock()
	if started {
		return ErrRunning
	}
	pool := j.cfg.Executor
	if pool == nil {
		pool = executor.Scheduled(10)
		defer pool.Close()
	}
	n := newNode(ctx, j, pool)
	j.setNode(n)
	defer j.setNode(nil)
	n.run(ctx)
	return nil
}

func (j *Jobs) setNode(n *node) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mu.node = n
}

// node gives the node, or nil if Run is not running.
func (j *Jobs) node() *node {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.mu.node
}

// kind gives what handles the jobs of that name, or nil.
func (j *Jobs) kind(name string) *kind {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.mu.kinds[name]
}

// kindNames gives the names of the kinds that this program handles, in order.
func (j *Jobs) kindNames() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Sorted(maps.Keys(j.mu.kinds))
}

// logOf is for lines about one job, which all name it alike.
func (j *Jobs) logOf(job *Job) *slog.Logger {
	return j.log().With("job", job.ID, "key", job.Key, "kind", job.Kind)
}

func (j *Jobs) log() *slog.Logger {
	if j.cfg.Logger != nil {
		return j.cfg.Logger
	}
	return slog.Default()
}
