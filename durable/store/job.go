package store

import (
	"slices"
	"strconv"
	"time"
)

// Once is the Schedule of a job that has one occurrence.
const Once = "once"

// A State is the state of a job. These are the changes of state:
//
//	Waiting -> Claimed                      a node took it ahead of its time
//	Claimed -> Confirmed                    the node confirmed it, just before it is due
//	Waiting -> Confirmed                    a node took it when it was due already
//	Confirmed -> Running                    its handler was called: noted if it lasts for some milliseconds
//	Claimed, Confirmed, Running -> Waiting  the node gave it back, or was declared dead
//	Confirmed, Running -> Waiting           a run ended; a retry or the next occurrence follows
//	Confirmed, Running -> Succeeded         it returned, and there is nothing more to do
//	Confirmed, Running -> Dead              it failed, and its attempts are used up
//	Waiting, Claimed -> Canceled            Cancel
//	Confirmed, Running -> Canceled          Cancel, once the run has ended
//	Waiting, Claimed, Confirmed, Running -> Paused, Paused -> Waiting      Pause, Resume
//	Dead, Canceled -> Waiting               Revive
//	Blocked -> Waiting                      enough of its parents have ended, see After; or RunNow
//	Blocked -> Canceled                     too many of its parents have failed; or Cancel
type State uint8

const (
	Waiting   State = 0 // stored: do not change
	Claimed   State = 1 // stored: do not change
	Running   State = 2 // stored: do not change
	Succeeded State = 3 // stored: do not change
	Dead      State = 4 // stored: do not change
	Canceled  State = 5 // stored: do not change
	Paused    State = 6 // stored: do not change
	Confirmed State = 7 // databases store it as Running, with a mark
	Blocked   State = 8 // databases store it as Paused, with a mark
)

var stateNames = [...]string{"waiting", "claimed", "running", "succeeded", "dead", "canceled", "paused", "confirmed", "blocked"}

// String returns the name of the state in lower case, as "waiting".
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "State(" + strconv.Itoa(int(s)) + ")"
}

// MarshalText returns the text of String.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the text of String.
func (s *State) UnmarshalText(text []byte) error { return named(s, "state", stateNames[:], text) }

// named sets v to the value whose name is text.
func named[V ~uint8](v *V, what string, names []string, text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return invalid("%s %q: it must be one of %v", what, text, names)
	}
	*v = V(i)
	return nil
}

// Held reports whether a job in state s belongs to a node.
func (s State) Held() bool { return s == Claimed || s.Granted() }

// Granted reports whether the node of a job in state s may call its handler, or has.
func (s State) Granted() bool { return s == Confirmed || s == Running }

// Done reports whether a job in state s does not run again by itself.
func (s State) Done() bool { return s == Succeeded || s == Dead || s == Canceled }

// A Priority orders jobs that are due: the greater is claimed first. There are only three, because a claim looks up
// each of them.
type Priority int8

const (
	Low    Priority = -1 // stored: do not change
	Normal Priority = 0  // stored: do not change
	High   Priority = 1  // stored: do not change
)

// A Pending is an action that was requested while the job was running, and takes effect when its run ends.
type Pending uint8

const (
	PendingNone   Pending = 0 // stored: do not change
	PendingCancel Pending = 1 // stored: do not change
	PendingPause  Pending = 2 // stored: do not change
)

// A Job is a job as the store had it at some moment. All times are on the store's clock, in UTC, to the microsecond.
type Job struct {
	ID       ID       `json:"id"`
	Key      string   `json:"key,omitempty"` // "" if it has none
	Kind     string   `json:"kind"`
	Payload  []byte   `json:"payload,omitempty"`
	Priority Priority `json:"priority"`

	// Meta is what durable.WithMeta or a hook has added; nil for none. It must not be changed.
	Meta map[string]string `json:"meta,omitempty"`
	// Tags are the tags of durable.WithTags, sorted, each once. They must not be changed.
	Tags []string `json:"tags,omitempty"`

	Partition string `json:"partition,omitempty"` // see durable.Partition; "" for none
	Queue     string `json:"queue,omitempty"`     // see durable.Queue; "" for the default queue

	Schedule string `json:"schedule"`         // once, rate 1m0s, delay 5s, cron 30 2 * * *, trigger name
	Missed   string `json:"missed,omitempty"` // coalesce, skip 1m0s, skip overlap, catchup 10
	// Anchor is the first time of a fixed rate, from which the others are counted. For a job that runs once, it changes
	// when the job is added again; see Occasion.
	Anchor time.Time `json:"anchor"`
	// Due is when the job is to run. Occurrence is the time on its schedule that this run is for. They differ for a
	// retry, which moves only Due. They also differ for a job that runs once, may have begun, and was rescheduled. For
	// a catch-up run, Due is the first of the missed occurrences.
	Due        time.Time `json:"due"`
	Occurrence time.Time `json:"occurrence"`
	// NextDue, if not zero, is when the job runs next, whatever its schedule says: the job was rescheduled, or got
	// another schedule, during the run in progress.
	NextDue time.Time `json:"next_due,omitzero"`

	State   State   `json:"state"`
	Pending Pending `json:"pending,omitempty"`
	// Epoch is the fencing token. It grows whenever the right to run the job changes hands, and each write of a node
	// carries it.
	Epoch int64  `json:"epoch"`
	Owner string `json:"owner,omitempty"` // the node, while Claimed, Confirmed or Running
	// Started is when the handler of the run in progress was called; zero unless Running.
	Started time.Time `json:"started,omitzero"`
	// Suspect reports that a node was lost which may have called the handler, and that no run has ended since. The
	// start of the next run is recorded before its handler is called, so that the attempt counts if it kills its node.
	Suspect bool `json:"suspect,omitempty"`

	// Absent reports that the schedule was canceled, or is to be canceled after its run, since durable.DeleteAbsent was
	// asked for. To whoever registers it again it is as if it had been deleted: during its last run it goes on after all,
	// and later its key belongs to a new schedule.
	Absent bool `json:"absent,omitempty"`

	// HasParents reports that the job was added with parents, and HasChildren that another job was added with this one
	// as a parent; see After.
	HasParents  bool `json:"has_parents,omitempty"`
	HasChildren bool `json:"has_children,omitempty"`

	Attempt  int           `json:"attempt"`  // attempts begun for this occurrence
	Attempts int           `json:"attempts"` // how many there may be
	Timeout  time.Duration `json:"timeout,omitempty"`

	Runs    int64     `json:"runs"`           // runs that have ended
	Lost    int       `json:"lost,omitempty"` // runs in a row that were lost with their nodes
	Error   string    `json:"error,omitempty"`
	Label   string    `json:"label,omitempty"` // of the last run, see durable.SetLabel
	Result  []byte    `json:"result,omitzero"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// Periodic reports whether the job has more than one occurrence.
func (j *Job) Periodic() bool { return j.Schedule != Once }

// A Verdict is how a run ended.
type Verdict uint8

const (
	RunSucceeded Verdict = 0 // stored: do not change
	RunFailed    Verdict = 1 // stored: do not change
	RunCanceled  Verdict = 2 // stored: do not change
	RunSkipped   Verdict = 3 // stored: do not change; the policy of the job leaves out this missed occurrence
	RunLost      Verdict = 4 // stored: do not change; its node was declared dead
	RunSnoozed   Verdict = 5 // stored: do not change; its handler put it off, see durable.Snooze
)

var verdictNames = [...]string{"succeeded", "failed", "canceled", "skipped", "lost", "snoozed"}

// String returns the name of the verdict in lower case, as "succeeded".
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return "Verdict(" + strconv.Itoa(int(v)) + ")"
}

// Verdicts returns all verdicts, in their order.
func Verdicts() []Verdict {
	all := make([]Verdict, len(verdictNames))
	for i := range all {
		all[i] = Verdict(i)
	}
	return all
}

// Known reports whether v is one of Verdicts.
func (v Verdict) Known() bool { return int(v) < len(verdictNames) }

// MarshalText returns the text of String.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the text of String.
func (v *Verdict) UnmarshalText(text []byte) error {
	return named(v, "verdict", verdictNames[:], text)
}

// A Run is an entry of a job's history. Started is on the store's clock, and Finished is Started plus the duration of
// the run, so that a jump of the clock during the run has no effect. The Finished of a lost run is on the store's
// clock.
type Run struct {
	Job        ID        `json:"job"`
	Seq        int64     `json:"seq"` // 1, 2, 3, ... for each job
	Occurrence time.Time `json:"occurrence"`
	Attempt    int       `json:"attempt"`
	Epoch      int64     `json:"epoch"`
	Node       string    `json:"node"`
	Started    time.Time `json:"started"`
	Finished   time.Time `json:"finished"`
	Verdict    Verdict   `json:"verdict"`
	Error      string    `json:"error,omitempty"`
	Label      string    `json:"label,omitempty"` // what its handler has set, see durable.SetLabel
}

// A Count is how many jobs of a kind are in a state.
type Count struct {
	Kind  string    `json:"kind"`
	State State     `json:"state"`
	Jobs  int       `json:"jobs"`
	Due   time.Time `json:"due"` // the earliest Due among them
}

// An Answer is the outcome of an action on a job. No Answer is an error, since an action and a run may happen at the
// same time.
type Answer uint8

const (
	NotFound Answer = iota // there is no such job
	Applied                // it is done
	Deferred               // the job is running: it takes effect when the run ends
	TooLate                // the state of the job no longer allows it
)

var answerNames = [...]string{"not found", "applied", "deferred", "too late"}

// String returns the answer in lower case, as "too late".
func (a Answer) String() string {
	if int(a) < len(answerNames) {
		return answerNames[a]
	}
	return "Answer(" + strconv.Itoa(int(a)) + ")"
}
