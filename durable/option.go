package durable

import (
	"time"

	"github.com/executor-go/executor/durable/internal/argument"
	"github.com/executor-go/executor/durable/internal/node"
	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// A store accepts no more than these limits. If a limit is exceeded, the call returns an error; if the result of a run
// is too large, the run fails. Store larger data elsewhere, and let the payload or the result say where.
const (
	MaxKey     = 512     // bytes of a key
	MaxKind    = 128     // bytes of a kind
	MaxPayload = 1 << 20 // bytes of a payload as it is stored: JSON, or the output of Config.Codec
	MaxResult  = 1 << 20 // bytes of a result, of a job or a step, as it is stored
	MaxStep    = 128     // bytes of the name of a step or a signal
)

// An Option changes one property of a job. If an option is out of its range, or does not apply to the job, the call
// fails with an error that matches executor.ErrInvalid.
type Option func(*addition) error

// An addition is a job that is to be added.
type addition struct {
	NewJob
	given     ID            // WithID; zero for none
	plain     []byte        // the payload as JSON, until it is encoded
	result    *InsertResult // what WithResult fills
	byPayload bool          // UniquePayload
	period    time.Duration // of UniqueFor; 0 for none
	among     []State       // of UniqueAmong
	afters    bool          // After
	spawns    spawns        // of OnOverlap and KeepRuns; the zero value for none
}

// Key names the job, by 1 to MaxKey bytes of UTF-8 without control characters. A second job with the same key is not
// added: the call returns the ID of the first job, whether or not that job has run, for as long as the job is kept;
// with ReuseKey only until the first job has ended. If the first is of another kind, or only one of the two is
// periodic, the error matches ErrKeyTaken.
func Key(key string) Option {
	return func(j *addition) error {
		j.Key = key
		return checkName("key", key, MaxKey)
	}
}

// ReuseKey lets the job take its key from an earlier job that has succeeded, is dead or was canceled. The earlier job,
// of any kind, is then kept without a key. So a job that is added many times while it waits runs once, and can be added
// again after that; and a schedule that has ended, or was canceled, starts again when it is registered. If it was
// canceled during a run that is still in progress, it goes on after that run.
//
// If the earlier job is not periodic, and is running or about to run, it runs once more after that run, when this job
// would be due, with the payload and options of this call: the run in progress may have begun before the change that
// this call is for. Further calls until then lead to no further run. Await returns after the last of these runs.
//
// ReuseKey does not change a job that waits for its next attempt, in a SnoozeOnce or in a Wait: its next run goes on after
// its steps. With ReplacePayload it begins from the first step. A job without a key is an error.
func ReuseKey() Option {
	return func(j *addition) error {
		j.ReuseKey = true
		return nil
	}
}

// Replace does what ReuseKey does. Also, if a job with the key waits or is paused, it gets the payload, the options and
// the time of this one: the latest call counts. This is debouncing: a job that is added with a delay at each change
// runs when nothing has changed for that long. Replace is an error for a periodic job, since registering it again does
// the same.
func Replace() Option {
	return func(j *addition) error {
		if j.Schedule != store.Once {
			return invalid("Replace: registering a periodic job again already replaces its payload and schedule; leave the option out")
		}
		j.ReuseKey, j.Replace, j.KeepTime, j.KeepPayload, j.Untried = true, true, false, false, false
		return nil
	}
}

// ReplacePayload is Replace, but a job with the key that waits or is paused keeps its time: it gets only the payload
// and the options of this one. If the job runs, or waits for its next attempt, in a SnoozeOnce or in a Wait, it runs again
// at the time of the first such call since it began. This is throttling: a job that is added with a delay at each
// change runs at most once in each such delay, with the latest payload.
func ReplacePayload() Option {
	return func(j *addition) error {
		if j.Schedule != store.Once {
			return invalid("ReplacePayload: registering a periodic job again already replaces its payload and keeps its times; leave the option out")
		}
		j.ReuseKey, j.Replace, j.KeepTime, j.KeepPayload, j.Untried = true, true, true, false, false
		return nil
	}
}

// ReplaceTime is Replace, but a job with the key that waits or is paused keeps its payload and options, and gets only
// the time of this one. If the job runs, it runs again at the time of the last such call during the run.
func ReplaceTime() Option {
	return func(j *addition) error {
		if j.Schedule != store.Once {
			return invalid("ReplaceTime does not apply to a periodic job; use Reschedule")
		}
		j.ReuseKey, j.Replace, j.KeepTime, j.KeepPayload, j.Untried = true, true, false, true, false
		return nil
	}
}

// ReplaceUntried lets a job that waits or is paused, and of which no attempt has begun, keep its time, and gives it the
// payload and the options of this one; that it was snoozed is no attempt. If an attempt has begun, the call changes
// nothing and adds nothing, whether that attempt is in progress, a retry follows, or the job has ended. WithResult then
// has the job, whose payload says what it has got; the rest is for a job with another key. This is gathering: what
// happens while a job waits becomes part of its payload, and each part is in one job. A job without a key is an error.
func ReplaceUntried() Option {
	return func(j *addition) error {
		if j.Schedule != store.Once {
			return invalid("ReplaceUntried: registering a periodic job again already replaces its payload and keeps its times; leave the option out")
		}
		j.ReuseKey, j.Replace, j.KeepTime, j.KeepPayload, j.Untried = false, true, true, false, true
		return nil
	}
}

// WithID gives the job an ID that the caller has made, by NewID or IDOf. If a job with the ID exists, the call adds
// nothing: so it can be repeated after an error, also without a Key. The zero ID is an error. If another job has the key,
// the ID is not used.
func WithID(id ID) Option {
	return func(j *addition) error {
		if id == (ID{}) {
			return invalid("WithID: the ID must not be zero; NewID makes one")
		}
		j.ID, j.given = id, id
		return nil
	}
}

// WithResult stores in *p the outcome of the call: the job as it is now, and whether this call has added or changed it.
// If the call fails, *p does not change, unless the error is ErrKeyTaken. The result of AddTx holds if the
// transaction is committed. A nil p has no effect. WithResult is an error for AddAll.
func WithResult(p *InsertResult) Option {
	return func(j *addition) error {
		j.result = p
		return nil
	}
}

// WithPriority sets the priority of the job. The default is Normal.
func WithPriority(p Priority) Option {
	return func(j *addition) error {
		if p < Low || p > High {
			return invalid("priority %d: it must be Low, Normal or High", p)
		}
		j.Priority = p
		return nil
	}
}

const maxAttempts = 1000

// Attempts sets how often an occurrence is tried before the job is dead or, if it is periodic, before the schedule goes
// on without it: 1 to 1000 times. The default is 12. If the handler returns an error that executor.Permanent marks,
// there is no further attempt.
func Attempts(n int) Option {
	return func(j *addition) error {
		if n < 1 || n > maxAttempts {
			return invalid("attempts %d: it must be 1 to %d", n, maxAttempts)
		}
		j.Attempts = n
		return nil
	}
}

// Timeout bounds each run: its context ends after d, at least a microsecond, with the cause executor.ErrTimeout. The
// default is no bound.
func Timeout(d time.Duration) Option {
	return func(j *addition) error {
		if d < time.Microsecond {
			return invalid("timeout %v: it must be at least 1µs", d)
		}
		j.Timeout = d
		return nil
	}
}

// OnMissed sets what happens to occurrences of a periodic job that no node ran when they were due. The default is
// Coalesce. With a fixed delay there is only one occurrence at a time, which is run however late it is, so OnMissed has
// no effect. OnMissed does not apply to a job that runs once: its handler can compare the time with Occurrence of
// Current, and return without an error.
func OnMissed(m Missed) Option {
	return func(j *addition) error {
		if _, err := timetable.ParsePolicy(m.text); err != nil {
			return err
		}
		j.Missed = m.text
		return nil
	}
}

// checkName returns what is wrong with a key or a kind.
func checkName(what, s string, limit int) error { return argument.Name("durable: "+what, s, limit) }

// kind is what a program says of a kind of job.
type kind struct {
	node.Kind
	decide decider // of OnFire; nil for the policy of each schedule
}

// A HandlerOption changes one property of a kind, in this program.
type HandlerOption func(*kind) error

// Limit bounds how many jobs of the kind, at least one, this node holds at the same time; GlobalLimit bounds all nodes
// together. By default, only the workers of the pool bound them.
func Limit(n int) HandlerOption {
	return func(k *kind) error {
		if n < 1 {
			return invalid("limit %d of kind %q: it must be positive", n, k.Name)
		}
		k.Limit = n
		return nil
	}
}

// GlobalLimit bounds how many jobs of the kind, at least one, all nodes together hold at the same time. A job counts
// from its claim on, which is up to 1.25 times Config.Poll before its time. The store counts the jobs, and a node that
// was declared dead holds none, so there may briefly be more than n if such a node is in fact alive. All programs must
// set the same n; if they differ, each uses its own. When a place becomes free, another node may use it at its next
// poll. The default is no bound.
func GlobalLimit(n int) HandlerOption {
	return func(k *kind) error {
		if n < 1 {
			return invalid("global limit %d of kind %q: it must be positive", n, k.Name)
		}
		k.Global = n
		return nil
	}
}

// GlobalLimited reports whether the handler of a kind, in this program, has a GlobalLimit or a GlobalRate. They hold among
// all nodes of one store.
func (j *Jobs) GlobalLimited(kind string) bool {
	k := j.kind(kind)
	return k != nil && (k.Global > 0 || k.Rate != store.Rate{})
}

// WithBackoff sets how long a job waits after its nth failed attempt, from 1. By default that is
// executor.Backoff(time.Second, time.Hour). A worker calls backoff after each failed attempt that is not the last. If
// backoff panics or returns a negative duration, that is logged, and the job waits for an hour.
// RetryAfter sets it for one attempt.
func WithBackoff(backoff func(n int) time.Duration) HandlerOption {
	return func(k *kind) error {
		if backoff == nil {
			return invalid("WithBackoff of kind %q: it must not be nil", k.Name)
		}
		k.Backoff = backoff
		return nil
	}
}
