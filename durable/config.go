package durable

import (
	"log/slog"
	"reflect"
	"time"

	executor "github.com/executor-go/executor"
)

// Config says what Jobs are to be.
type Config struct {
	// Store keeps the jobs. There is no default. It stays its maker's, who
	// closes it after Run has returned.
	Store Store

	// Executor runs the handlers and fires them when they are due; its Core is
	// how many run at the same time. It stays its maker's, who shuts it down
	// after Run has returned: a node whose pool is shut down takes no more jobs. The
	// default, nil, is a pool of Run's own with ten workers. Its Hooks see each run,
	// with the kind as TaskInfo.Name; the handler's context is derived from what
	// BeforeTask returns, and AfterTask gets the handler's error, a *PanicError if it
	// panicked, which Stats counts as Failed. executor.Stop and Snooze are no errors to
	// them, and a run that was withdrawn as it was to begin has none. Current is for
	// the handler alone.
	Executor *executor.ScheduledPool

	// Name is put before the random name of this node, in Job.Owner, in the
	// history and in the log. The default is the host's name.
	Name string

	// Lease is how long after a node's last sign of life the others wait until
	// they take over its jobs. A node gives a sign at each three tenths of it. It
	// must be 100ms to 8760h; the default, 0, is 3s.
	Lease time.Duration

	// Poll is how often a node looks for jobs. What falls due up to the next
	// look is claimed ahead, and begins at its time; what another node adds in
	// between may wait for the next look, or sign of life, if the store does not
	// tell, as PostgreSQL does of what is due within five seconds. It must be 1ms to
	// 8760h; the default, 0, is 1s.
	Poll time.Duration

	// Drain is how long Run waits, once its context has ended, for the handlers
	// that are running. Then it cancels their contexts, with the cause
	// executor.ErrShutdown, and goes on waiting for those that do not heed it. Let
	// it be less than the time that the program is given before it is killed, which
	// is 30s in Kubernetes: a run that is cut short is not an attempt, one that is
	// killed is. The default, 0, is 30s; a negative Drain means at once.
	Drain time.Duration

	// Triggers are the meanings of the NamedTriggers. The default is none. A job
	// with one that is not here is left to other nodes, and begins late for it.
	Triggers map[string]executor.Trigger

	// Keep says how long jobs and runs are kept that are over: all of the store,
	// whoever added or handles them, so that those who share one should agree. A
	// zero field has the default: a day for jobs that succeeded, thirty days for
	// the dead and canceled, seven days for history. A negative one keeps for ever.
	Keep Retention

	// History is how many runs are kept of each job, within Keep.History. The
	// default, 0, is 100; a negative number keeps none.
	History int

	// Logger is told of outages and recoveries, dead jobs, panics, lost leases, kinds
	// that are paused and jobs that nobody handles. The default, nil, is slog.Default.
	Logger *slog.Logger
}

// longest is the most that Lease and Poll may be: with what is meant for ever the
// times that are computed from them would overflow.
const longest = 365 * 24 * time.Hour

func (c *Config) check() error {
	switch {
	case c.Store == nil || isNil(c.Store):
		return invalid("Config.Store: it must not be nil; sqlite.Open gives one")
	case c.Lease != 0 && (c.Lease < 100*time.Millisecond || c.Lease > longest):
		return invalid("Config.Lease %v: it must be 100ms to %v", c.Lease, longest)
	case c.Poll != 0 && (c.Poll < time.Millisecond || c.Poll > longest):
		return invalid("Config.Poll %v: it must be 1ms to %v", c.Poll, longest)
	}
	if c.Name != "" {
		if err := checkName("Config.Name", c.Name, MaxKind); err != nil {
			return err
		}
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

// isNil reports whether a store is a nil pointer, as that of an Open whose error nobody
// has looked at.
func isNil(s Store) bool {
	v := reflect.ValueOf(s)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

func (c *Config) setDefaults() {
	setDefault(&c.Lease, 3*time.Second)
	setDefault(&c.Poll, time.Second)
	setDefault(&c.Drain, 30*time.Second)
	setDefault(&c.Keep.Succeeded, 24*time.Hour)
	setDefault(&c.Keep.Dead, 30*24*time.Hour)
	setDefault(&c.Keep.History, 7*24*time.Hour)
	setDefault(&c.History, 100)
	c.Keep.Succeeded = max(c.Keep.Succeeded, 0)
	c.Keep.Dead = max(c.Keep.Dead, 0)
	c.Keep.History = max(c.Keep.History, 0)
	c.History = max(c.History, 0)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
