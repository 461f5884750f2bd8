package daemon

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable"
)

// Shared says how the jobs of a file are kept in a store, where other daemons
// may share them.
type Shared struct {
	Store     durable.Store
	Name      string // of the store, as it may be shown
	Namespace string
	Lease     time.Duration   // as in durable.Config
	Again     <-chan job.File // what is to be instead of Config.File
}

const (
	// keptRuns is how many runs are kept of each job. It is documented.
	keptRuns = 1000

	// leastWorkers is how many runs a daemon can have at once, if its file does
	// not have more jobs than that: others may have brought more to the store.
	leastWorkers = 64

	// patience is how long a look at the jobs in the store may take.
	patience = 30 * time.Second
)

// forEver has a daemon remove nothing from the store. A job that somebody has
// canceled would come back with the next start of a daemon if it were forgotten,
// and jobs of other programs may be in the store, with their own transition.
var forEver = durable.Retention{Succeeded: -1, Dead: -1, History: -1}

// node is the daemon's part in the jobs of a store: it claims those that are
// due, and runs them.
//
//	store            durable.Jobs                 node          process
//	due ──▶ claimed ──▶ confirmed, at its time ──▶ handle ──▶ Supervisor.Run
//	  ◀── next occurrence, history ◀── outcome ◀──┘
//
// A job is a row there, and a row runs once at a time, in all daemons together.
// So there is no dispatching as without a store: the handler waits for the run.
type node struct {
	daemon  *Daemon
	catalog catalog.Catalog
	pool    *executor.ScheduledPool // has a worker for each run

	leaving context.Context // ends with the drain's begin
	leave   context.CancelFunc
	ended   chan struct{} // closed when the node has left, and no run goes on
	running atomic.Int64

	// told has the jobs that the file has brought to the store, and for each what
	// the log has told to keep it from running. It is for the goroutine of
	// Daemon.Run.
	told map[string]string

	// asked is the last job that a look asked for, and had the time to. For that
	// goroutine as well.
	asked string

	// mu is a leaf lock.
	mu struct {
		sync.Mutex
		entries map[string]*entry // those in the file, and those that were run
		order   []*entry
	}
}

func newNode(d *Daemon) (*node, error) {
	n := &node{daemon: d, ended: make(chan struct{})}
	n.leaving, n.leave = context.WithCancel(context.Background())
	n.mu.entries = make(map[string]*entry)
	var err error
	if n.pool, err = executor.NewScheduled(executor.ScheduledConfig{
		Name: "executord store", Core: workers(d.File), KeepAlive: time.Minute, AllowCoreTimeout: true, Logger: d.Log,
	}); err != nil {
		return nil, err
	}
	jobs, err := durable.New(durable.Config{
		Store: d.Shared.Store, Executor: n.pool, Lease: d.Shared.Lease, Drain: math.MaxInt64, // drain does that
		Keep: forEver, History: keptRuns,
		Logger: slog.New(reported{d.Log.Handler()}),
	})
	if err != nil {
		return nil, err
	}
	n.catalog = catalog.Catalog{Namespace: d.Shared.Namespace, Store: d.Shared.Store, Jobs: jobs}
	n.catalog.Kind = durable.Handle(jobs, catalog.Kind(d.Shared.Namespace), n.handle)
	return n, nil
}

func workers(f job.File) int { return max(leastWorkers, 2*len(f.Jobs)) }

// reported leaves out what a daemon has in its log already, in other words: that
// a run has failed, and that there will not be another attempt.
type reported struct{ slog.Handler }

func (h reported) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "durable: a job failed for good" {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h reported) WithAttrs(attrs []slog.Attr) slog.Handler {
	return reported{h.Handler.WithAttrs(attrs)}
}

func (h reported) WithGroup(name string) slog.Handler { return reported{h.Handler.WithGroup(name)} }

// start brings the file to the store, and begins to take part.
func (n *node) start(ctx context.Context) error {
	if err := n.bring(ctx, n.daemon.File); err != nil {
		return err
	}
	go func() { // ends after leave or stop; Run waits for ended
		defer close(n.ended)
		n.catalog.Jobs.Run(n.leaving)
		n.pool.ShutdownNow()
		<-n.pool.Terminated()
	}()
	return nil
}

// stop ends the runs that go on. They are begun again, here or elsewhere.
func (n *node) stop() {
	n.leave()
	n.pool.ShutdownNow()
}

// reload brings another file to the store.
func (n *node) reload(ctx context.Context, file job.File) {
	log := n.daemon.Log
	log.Info("file read again", "file", file.Name, "jobs", len(file.Jobs))
	for _, note := range file.Notes {
		log.Warn("note on the file", "line", note.Line, "what", note.What, "hint", note.Hint)
	}
	if err := n.pool.SetCore(workers(file)); err != nil {
		log.Error("the number of workers stays as it is", "reason", err.Error())
	}
	if err := n.bring(ctx, file); err != nil {
		log.Error("the file is not in the store, or in part", "reason", err.Error(), "hint", "send SIGHUP again, when the store answers")
	}
}

// bring makes the store have the jobs of the file.
func (n *node) bring(ctx context.Context, file job.File) error {
	told := make(map[string]string, len(file.Jobs))
	err := n.catalog.Apply(ctx, file.Jobs, func(s catalog.Step) {
		if s.Action == catalog.Remove {
			n.daemon.Log.Warn("job removed", "job", s.Name, "reason", "it is not in "+file.Name+", and was in the store", "hint", namesakes)
			return
		}
		n.announce(s)
		if s.Err == nil {
			told[s.Name] = held(s.Now)
		}
	})
	if err != nil { // what the store has not answered for is as before
		for name, state := range n.told {
			if _, ok := told[name]; !ok {
				told[name] = state
			}
		}
	}
	n.told = told
	return err
}

// announce logs what became of a job in the store.
func (n *node) announce(s catalog.Step) {
	e, schedule := n.entry(s.Name), s.Job.Schedule.Text
	if s.Err != nil {
		e.log.Error("job not scheduled", "schedule", schedule, "reason", s.Err.Error())
		return
	}
	if state := held(s.Now); state != "" {
		e.log.Warn("job does not run", "schedule", schedule, "store", string(s.Action), "state", state,
			"hint", n.resume(s.Name))
	} else {
		e.log.Info("job scheduled", "schedule", schedule, "store", string(s.Action), "next", stamp(next(s.Now).In(s.Now.Spec.Location())))
	}
	e.noteOwed(s)
}

// noteOwed counts the times of the schedule before this one at which the job should
// have run, and did not or was cut short: a new schedule begins anew. Of the daemons
// that bring it at the same time, the one does whose call it was.
func (e *entry) noteOwed(s catalog.Step) {
	was := s.Was
	if s.Action != catalog.Change || !s.Mine || was.State != durable.Waiting || was.Schedule == s.Now.Schedule || was.Due.After(s.Now.Updated) {
		return
	}
	n, _ := passed(catalog.Times(was.Job), was.Due, s.Now.Updated)
	e.mu.Lock()
	e.mu.Missed += n + 1
	e.mu.Unlock()
	e.log.Warn("runs missed", "count", n+1, "first", stamp(was.Due.In(was.Spec.Location())),
		"reason", "they were owed by another schedule, and a new one begins anew", "hint", "executord run-now, if one is needed")
}

// resume gives the command that lets a job run again.
func (n *node) resume(name string) string {
	shared := n.daemon.Shared
	return job.Command{Args: []string{"executord", "resume", shared.Namespace + "/" + name, "--store", shared.Name}}.String()
}

// next is when a job is due next, as far as that is known.
func next(e catalog.Entry) time.Time {
	if !e.NextDue.IsZero() {
		return e.NextDue
	}
	return e.Due
}

// entry gives the entry of the job of that name.
func (n *node) entry(name string) *entry {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.mu.entries[name]
	if e == nil {
		e = newEntry(n.daemon, job.Job{Name: name})
		n.mu.entries[name] = e
		n.mu.order = append(n.mu.order, e)
	}
	return e
}

// all gives the entries, in the order in which they came up.
func (n *node) all() []*entry {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.mu.order
}
