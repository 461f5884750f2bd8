package durable

import (
	"log/slog"
	"reflect"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/output"
	"github.com/executor-go/executor/durable/store"
)

// Config configures Jobs.
type Config struct {
	// Store keeps the jobs. It is required. If the store lacks an interface that a method needs, the method returns an
	// error that matches [executor.ErrInvalid]. Close the store after Run returns.
	Store store.Store

	// Executor runs the handlers when they are due; its Workers is how many run at the same time. Shut it down after Run
	// has returned, because a node whose pool is shut down takes no more jobs. The default, nil, is a pool of ten
	// workers that Run makes and closes.
	//
	// The Hooks of the pool are called for each run, with the kind as TaskInfo.Name. The handler's context is derived
	// from what BeforeTask returns. AfterTask gets the handler's error, a *PanicError if it panicked, and Stats counts
	// it as Failed. AfterTask gets nil for executor.ErrStop, for Snooze, and for a run that was given back just before it
	// began. Current works only in handlers.
	Executor *executor.ScheduledPool

	// Name is the beginning of this node's name in Job.Owner, in the history and in the log; a random part follows. The
	// default is the host's name.
	Name string

	// Queues are the queues that this node serves, see Queue: it runs the jobs in them, of the kinds that it has
	// handlers for. DefaultQueue is the queue of jobs without a Queue. The default, nil, is DefaultQueue alone; a node
	// that names other queues serves DefaultQueue only if it is among them. SetQueues changes them while the node runs.
	Queues []string

	// Lease is how long after a node's last heartbeat the other nodes take over its jobs. A node sends a heartbeat
	// every three tenths of Lease. It must be 100ms to 8760h; the default, 0, is 3s.
	Lease time.Duration

	// Poll is the time between two polls, in which a node asks for jobs. A job that is due before the next poll is
	// claimed ahead of its time, and begins at its time. A job that another node adds in between may wait for the next
	// poll or heartbeat, unless the store reports it, as PostgreSQL does for what is due within five seconds. It must
	// be 1ms to 8760h; the default, 0, is 1s.
	Poll time.Duration

	// Drain is how long Run waits, once its context has ended, for the handlers that are running. Then Run cancels
	// their contexts, with the cause executor.ErrShutdown, and goes on waiting for handlers that ignore that. Drain
	// should be less than the time after which the program is killed, which is 30s in Kubernetes: a run that is cut
	// short does not count as an attempt, but a run that is killed does. Even then, a handler that returns
	// executor.Permanent of an error other than the error of its context has failed for good. The default, 0, is 30s;
	// with a negative Drain, Run cancels the contexts at once.
	Drain time.Duration

	// Codec converts payloads and results to the bytes that are stored, and back, to encrypt them for example. All
	// programs that share kinds must use the same Codec. The default, nil, stores JSON.
	Codec Codec

	// Triggers has the trigger for each NamedTrigger. The default is none. If the trigger of a job is missing here,
	// this node leaves the job to other nodes, so the job begins late.
	Triggers map[string]executor.Trigger

	// Keep is how long jobs and runs are kept after their end. It applies to everything in the store, whichever program
	// added or handles it, so programs that share a store should agree on it. A zero field has the default: a day for
	// jobs that succeeded, thirty days for dead and canceled ones, seven days for history. A negative field keeps for
	// ever.
	Keep Retention

	// History is how many runs are kept of each job, within Keep.History. The default, 0, is 100; a negative number
	// keeps none.
	History int

	// Output is how many bytes are kept of the beginning, and how many of the end, of what a run writes to Output. It
	// may be up to 1 MiB; the default, 0, is 64 KiB. A negative number keeps none.
	Output int

	// Hooks are called around the work of the Jobs. The default is none.
	Hooks Hooks

	// Logger gets a line for outages and recoveries, dead jobs, panics, lost leases, kinds that are paused, and jobs
	// without a handler. The default, nil, is slog.Default.
	Logger *slog.Logger
}

// longest is the most that Lease and Poll may be: times that are computed from more might overflow.
const longest = 365 * 24 * time.Hour

func (c *Config) check() error {
	switch {
	case c.Store == nil || isNil(c.Store):
		return invalid("Config.Store: it must not be nil; sqlite.Open returns one")
	case c.Lease != 0 && (c.Lease < 100*time.Millisecond || c.Lease > longest):
		return invalid("Config.Lease %v: it must be 100ms to %v", c.Lease, longest)
	case c.Poll != 0 && (c.Poll < time.Millisecond || c.Poll > longest):
		return invalid("Config.Poll %v: it must be 1ms to %v", c.Poll, longest)
	case c.Output > output.Most:
		return invalid("Config.Output %d: it must be at most %d", c.Output, output.Most)
	}
	if c.Name != "" {
		if err := checkName("Config.Name", c.Name, MaxKind); err != nil {
			return err
		}
	}
	if err := checkQueues("Config.Queues", c.Store, c.Queues); err != nil {
		return err
	}
	for name, t := range c.Triggers {
		if t == nil {
			return invalid("Config.Triggers: %q must not be nil", name)
		}
		if err := checkName("name of a trigger", name, MaxKind); err != nil {
			return err
		}
	}
	return nil
}

// isNil reports whether a store is a nil pointer, as that of an Open whose error was ignored.
func isNil(s store.Store) bool {
	v := reflect.ValueOf(s)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

func (c *Config) setDefaults() {
	setDefault(&c.Lease, 3*time.Second)
	setDefault(&c.Poll, time.Second)
	c.Queues = servedQueues(c.Queues)
	setDefault(&c.Drain, 30*time.Second)
	setDefault(&c.Keep.Succeeded, 24*time.Hour)
	setDefault(&c.Keep.Dead, 30*24*time.Hour)
	setDefault(&c.Keep.History, 7*24*time.Hour)
	setDefault(&c.History, 100)
	setDefault(&c.Output, 64<<10)
	c.Keep.Succeeded = max(c.Keep.Succeeded, 0)
	c.Keep.Dead = max(c.Keep.Dead, 0)
	c.Keep.History = max(c.Keep.History, 0)
	c.History = max(c.History, 0)
	c.Output = max(c.Output, 0)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
