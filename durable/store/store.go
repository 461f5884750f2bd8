// Package store is for authors of stores: what a store keeps, and what package durable asks of it. Users of durable
// find the types that they meet under the same names there, as aliases.
package store

import (
	"context"
	"encoding/binary"
	"time"
)

// A Store keeps jobs. These thirteen methods are what a node needs to run them; what else a store may have are the
// interfaces below, each by itself, up to Full. Package storetest has the tests that each passes.
//
// Each method is one atomic step. All times are on the store's own clock. Every method may be repeated after an error
// that left its outcome unknown. A method that changes a job leaves it alone unless its epoch is the one expected. The
// tests of package storetest are the specification of what each change does to a job.
type Store interface {
	// Now returns the store's time.
	Now(ctx context.Context) (time.Time, error)

	// Insert adds jobs, each with the state, owner and epoch that p asks for. A job whose ID is there already is not
	// added again. One whose Key is there stands for the job that has it: see InsertResult. If one of several can't,
	// since that job is of another kind, or only one of the two is periodic, none is added and none is changed. No two
	// of the jobs have the same key. If there are several jobs, and some have keys, Insert may leave them to a claim,
	// whatever p asks for.
	Insert(ctx context.Context, jobs []NewJob, p Placement) ([]InsertResult, error)

	// Join adds a node with a lease that ends after the given time. One that is there, as the answer to an earlier call
	// was lost, is to drain if it was.
	Join(ctx context.Context, node string, lease time.Duration) (now time.Time, err error)

	// Heartbeat renews a node's lease, and reports whether a job that w asks for is there. A node that was declared
	// dead stays dead, and the answer says so.
	//
	// Heartbeat also declares every other node dead whose lease has ended, and frees what those held. What was Claimed
	// or Confirmed is freed as Release does, except that the latter becomes Suspect. What was Running waits for
	// [ReapDelay] and is tried again. It becomes Dead instead if this was its last attempt or, for a periodic job, its
	// [MaxLost]-th lost run in a row. A pending cancellation wins over both. The run is in the history as lost, and the
	// job is Suspect. A periodic job keeps its attempts, all of which may be used up.
	//
	// An error that comes when the lease has been renewed is a [*RenewedError].
	//
	// If the lease of the node itself has ended, the store did not answer for a while, or its clock has jumped: then
	// the ended leases of all others begin anew, and no node is declared dead. A lease that ends later than one granted
	// now, since the clock was put back, is shortened to that.
	Heartbeat(ctx context.Context, node string, lease time.Duration, w Watch) (HeartbeatResult, error)

	// Leave removes a node and frees what it holds.
	Leave(ctx context.Context, node string) error

	// Claim makes waiting jobs those of a node that is alive.
	Claim(ctx context.Context, r ClaimRequest) (ClaimResult, error)

	// Release frees what a node holds except keep, as if it had never been claimed: what is Running is no attempt. If
	// a periodic job was confirmed for an occurrence that is ahead, since the clock was put back, and never begun, its
	// occurrence is its due time again; a job with one occurrence is due then. A Release that the node has given up
	// takes effect before its later calls or not at all, since it would free what these have given. It does not wait
	// for transactions of others: left reports that some of it could not be freed now, or that a call which may place
	// more on the node has not been committed yet.
	Release(ctx context.Context, node string, keep []ID) (left bool, err error)

	// Commit confirms claims and commits the outcomes of runs. It does not wait for transactions of others, see
	// CommitResult.Locked.
	Commit(ctx context.Context, b CommitRequest) (CommitResult, error)

	// Change carries out an action on a job.
	Change(ctx context.Context, id ID, c Change) (Answer, error)

	// Get returns the job with that ID, or ErrNotFound.
	Get(ctx context.Context, id ID) (Job, error)

	// Find returns the job with that key, or ErrNotFound.
	Find(ctx context.Context, key string) (Job, error)

	// List returns jobs in the order of their IDs.
	List(ctx context.Context, f Filter) ([]Job, error)

	// Prune removes jobs and runs that were kept for long enough, some thousands at most, and returns how many it has
	// removed.
	Prune(ctx context.Context, r Retention) (int, error)
}

// A History is a Store that keeps the runs of jobs. The Commit of one that does not leaves Outcome.Run and Output
// alone, except for the Label.
type History interface {
	// Runs returns a job's history, the latest first, from before the run with that number; 0 means from the end.
	Runs(ctx context.Context, id ID, before int64, limit int) ([]Run, error)

	// Latest returns runs of all jobs in the inverse order of Finished, Job and Seq, those that come after f.Before if
	// that is not zero. f has a Limit and Verdicts, each once.
	Latest(ctx context.Context, f LatestFilter) ([]JobRun, error)

	// Output returns Outcome.Output of a run, nil if it had none; or ErrNotFound if the history has no such run.
	Output(ctx context.Context, id ID, seq int64) ([]byte, error)
}

// A Counter is a Store that counts jobs.
type Counter interface {
	// Kinds returns the kinds of which a job waits, whether due or not.
	Kinds(ctx context.Context) ([]string, error)

	// Counts returns how many jobs there are of each kind in each state, of those that f selects, in any order. It
	// leaves After and Limit alone.
	Counts(ctx context.Context, f Filter) ([]Count, error)

	// Dead returns the jobs that are dead, those that were changed last first.
	Dead(ctx context.Context, limit int) ([]DeadJob, error)
}

// Pauses is a Store that notes which kinds are paused. Its Heartbeat returns them.
type Pauses interface {
	// PauseKind pauses a kind, or ends its pause. Nodes observe it; a Claim need not.
	PauseKind(ctx context.Context, kind string, pause bool) error

	// PausedKinds returns the kinds that are paused, in any order.
	PausedKinds(ctx context.Context) ([]string, error)
}

// An ActLog is a Store that keeps an audit log.
type ActLog interface {
	// NoteAct adds an act with the time of the store, and removes the acts that are older than KeepActs.
	NoteAct(ctx context.Context, a Act) error

	// Acts returns entries of the audit log, the latest first. f has a Limit.
	Acts(ctx context.Context, f ActFilter) ([]Act, error)
}

// Reports is a Store that notes what nodes report of themselves and of their runs.
type Reports interface {
	// Report notes what a node reports: of a node that is not alive no details. The progress of a run replaces what an
	// earlier call, or an earlier run of the job, has reported.
	Report(ctx context.Context, node string, r Report) error

	// Nodes returns the nodes that are alive, in any order.
	Nodes(ctx context.Context) ([]NodeInfo, error)

	// Progress returns what was reported of those of the jobs that are Running, with the epochs that they have, in any
	// order.
	Progress(ctx context.Context, ids []ID) ([]RunProgress, error)
}

// Full is a Store that has all of this, as those of packages sqlite, postgres and memory.
type Full interface {
	Store
	History
	Counter
	Pauses
	ActLog
	Reports
	Steps
	Limiter
	Graph
	Queues
	Drains

	// Close closes the store.
	Close() error
}

// Parts are what a Store has beyond its own methods; what it lacks is nil.
type Parts struct {
	History  History
	Counter  Counter
	Pauses   Pauses
	ActLog   ActLog
	Reports  Reports
	Steps    Steps
	Limiter  Limiter
	Graph    Graph
	Queues   Queues
	Drains   Drains
	Mover    Mover
	Tx       TxStore
	Listener Listener
}

// PartsOf returns what s has.
func PartsOf(s Store) Parts {
	var p Parts
	p.History, _ = s.(History)
	p.Counter, _ = s.(Counter)
	p.Pauses, _ = s.(Pauses)
	p.ActLog, _ = s.(ActLog)
	p.Reports, _ = s.(Reports)
	p.Steps, _ = s.(Steps)
	p.Limiter, _ = s.(Limiter)
	p.Graph, _ = s.(Graph)
	p.Queues, _ = s.(Queues)
	p.Drains, _ = s.(Drains)
	p.Mover, _ = s.(Mover)
	p.Tx, _ = s.(TxStore)
	p.Listener, _ = s.(Listener)
	return p
}

// A Listener is a Store that reports changes. A report is a hint: without it a node sees changes at its next poll or
// heartbeat.
type Listener interface {
	// Listen calls wake whenever a job may have become due soon or a running one is to be canceled, until ctx ends or
	// it fails. The first call comes as soon as it listens: for what was missed, and as the sign that it does.
	Listen(ctx context.Context, wake func()) error
}

// A Tx is a transaction of the caller's, on the database of the store: a *sql.Tx, or what the store's package makes of
// another library's, as [postgres.Tx] does of pgx's. One that the store can't work in is an error that matches
// executor.ErrInvalid and names the types that it takes.
//
// [postgres.Tx]: https://pkg.go.dev/github.com/executor-go/executor/durable/postgres#Tx
type Tx interface {
	Commit() error
	Rollback() error
}

// A TxStore is a Store that can work in a transaction of its caller. A transaction that it can't work in is an error
// that matches executor.ErrInvalid; it is never nil.
type TxStore interface {
	// GetTx returns the job as tx sees it, or ErrNotFound, and keeps everyone else from changing it until tx ends.
	GetTx(ctx context.Context, tx Tx, id ID) (Job, error)

	// InsertTx is Insert in tx, without a Placement. If one of several jobs can't be added, tx is as it was before.
	InsertTx(ctx context.Context, tx Tx, jobs []NewJob) ([]InsertResult, error)

	// CompleteTx is Commit in tx: what it reports takes effect when tx is committed.
	CompleteTx(ctx context.Context, tx Tx, b CommitRequest) (CommitResult, error)
}

// A NewJob is a job to be added.
type NewJob struct {
	ID  ID
	Key string
	// ReuseKey makes a job that is over lose the key to this one, unless Among has its state.
	ReuseKey bool
	// Among, unless empty, are the states in which a job with the key keeps it; in another it loses the key to this
	// one, also if it is granted, unless it is periodic. It has Waiting, Claimed, Paused and Blocked, and Confirmed if it
	// has Running.
	Among []State
	// Within, unless 0, is for how long after its end, in whole microseconds, a job that is over keeps the key in these
	// states.
	Within time.Duration
	// Replace makes a job with the key that waits, or is paused, take on what this one has, its time, too. One that is
	// granted takes it on for another run after this one, as it does with ReuseKey.
	Replace bool
	// KeepTime, with Replace, leaves it at its time, and at the one of that other run if there is one to come.
	KeepTime bool
	// KeepPayload, with Replace, leaves it all but its time.
	KeepPayload bool
	Kind        string
	Payload     []byte
	Priority    Priority
	// Partition is part of which of the jobs of its kind it is, see KindLimit.PerPartition; "" for none.
	Partition string
	// Queue is which nodes may claim it, see Queues; "" for those that serve the default queue.
	Queue    string
	Schedule string
	Missed   string
	// Due is when the job is to run first. If it is zero, the job is due Delay from now.
	Due      time.Time
	Delay    time.Duration
	Attempts int
	Timeout  time.Duration
	// Meta is kept with the job, up to MaxMeta bytes as JSON; see durable.WithMeta.
	Meta map[string]string
	// Tags are what a Filter finds the job by, in order, each once; see durable.WithTags.
	Tags []string
	// After is what the job waits for, in a store that is a Graph. A job with parents has neither ReuseKey nor Among.
	After After
}

// Periodic reports whether the job has more than one occurrence.
func (j *NewJob) Periodic() bool { return j.Schedule != Once }

// A Placement asks for new jobs to be claimed by a node at once. With the zero Placement they wait for any node, as
// they do if the node named is not alive, or is to drain, see Drains.
type Placement struct {
	Node string
	// A job due within Lead is Confirmed at once, one due within Ahead is Claimed,
	// one due later is Waiting. Limit is the most that may be taken.
	Ahead, Lead time.Duration
	Limit       int
}

// An InsertResult is the outcome of adding a job.
type InsertResult struct {
	// Job is the job as it is now. Its ID is another one if the key was taken by
	// an earlier job of this kind. That one is left alone if it is not periodic, except for what ReuseKey and Replace
	// ask for. If it is, payload, priority, limits and policies become the new ones, and a schedule that differs begins
	// anew: at once, or after the run in progress.
	Job
	// Changed reports that this call has added the job, or changed the properties of the one that is there. A call that
	// is repeated, since the answer of the first was lost, does not report it again.
	Changed bool
	// Held reports that the job was added just now and belongs to Placement.Node.
	Held bool
	// Now is the time of the store.
	Now time.Time
	// KindTaken reports that the key belongs to a job of another kind, which Job is. Nothing has changed. Of several
	// jobs, others have the zero Job then if they are not there.
	KindTaken bool
}

// A Watch is what a heartbeat looks for: a job of one of the kinds that waits and is due within Ahead, so that a Claim
// or ClaimQueue of one of the Queues, would find it. The zero Watch finds nothing.
type Watch struct {
	Kinds []string
	Ahead time.Duration
	// Queues are those that the node serves, without the default queue, which Elsewhere leaves out.
	Queues    []string
	Elsewhere bool
}

// A HeartbeatResult is the answer to a heartbeat.
type HeartbeatResult struct {
	Now   time.Time
	Alive bool // false: the node was declared dead, and holds nothing
	// Alone means that no other node is there, and that none can reach the store if this one can't, as with a file. So
	// this node may outlive its lease.
	Alone    bool
	Canceled []Ref    // jobs that this node runs, or may run, and that are to be canceled
	Freed    int      // jobs of dead nodes that this heartbeat has freed
	Dead     []ID     // those of them that are dead now
	Paused   []string // the kinds that are paused
	Draining bool     // the node is to drain, see Drains
	Due      bool     // a job that the Watch asks for is there; those just freed may not count
}

// A Report is what a node reports of itself, unless Details is nil, and of its runs.
type Report struct {
	Details  *NodeDetails
	Progress []RunProgress
}

// A Ref names one holding of a job.
type Ref struct {
	ID    ID
	Epoch int64
}

// A ClaimRequest asks for jobs of the kinds given, the most urgent and earliest first.
type ClaimRequest struct {
	Node        string
	Ahead, Lead time.Duration // as in Placement; a job due later than Ahead is left
	Limit       int           // the most to be given
	Kinds       []KindLimit   // the order breaks ties, so vary it
}

// A KindLimit is a kind, and how many of it may be claimed.
type KindLimit struct {
	Kind string
	Max  int
	// Global, if not 0, is how many of the kind may be held by all nodes
	// together once these have been claimed.
	Global int
	// Rate is how often jobs of the kind may begin, see Limiter.
	Rate Rate
	// PerPartition, if not 0, is how many of each partition of the kind may be held by all nodes together, see Limiter.
	PerPartition int
}

// A ClaimResult has the jobs that the node holds now, with their new epochs. They are in no order.
type ClaimResult struct {
	Now  time.Time
	Jobs []Job
	// More reports that there may be more of what was asked for.
	More bool
	// Busy reports that a kind with a limit for all nodes was left out because another node is claiming of it: there
	// may be more in a moment.
	Busy bool
	// Next, if not zero, is when there may be more of a kind that a Limiter has claimed: its rate lacked a token, which
	// is there then; or there is more to be done before it is known, at once.
	Next time.Time
}

// A CommitRequest is a group commit of one node.
type CommitRequest struct {
	Node string
	// Begun are runs whose handlers were called: their jobs, which are Confirmed, become Running, and that is an
	// attempt. Ended are such runs of earlier calls that are over: there is no need to remember them. Both are noted
	// before anything else, and need not be one step with it. What is no longer as it says is left alone.
	Begun []Begin
	Ended []Ref
	// Confirms are claimed jobs that are to become Confirmed, and confirmed ones whose occurrence is to change. One
	// that is Confirmed or Running already with this epoch counts as confirmed.
	Confirms []Confirm
	Outcomes []Outcome
	// History is how many runs are kept of each job; 0 keeps none.
	History int
}

// A Begin is a run that has begun.
type Begin struct {
	Ref
	Started time.Time // when the handler was called
}

// A Confirm asks whether a job is still the node's to begin.
type Confirm struct {
	Ref
	// Occurrence, unless zero, becomes the job's. It is the one that the run is for, also if another node has to begin
	// it again.
	Occurrence time.Time
}

// An Outcome is the end of a run and what is to follow.
type Outcome struct {
	Ref
	// State is Waiting, Succeeded, Dead or Canceled. If it is Waiting, a pending request, or another schedule that came
	// during the run, takes effect now; if it is Dead, a pending cancellation does.
	State State
	// Due, Occurrence and Attempt are the job's next ones. A zero Due with State Succeeded means that its schedule has
	// no other time: if another schedule or time came during the run, the job waits for that instead.
	Due, Occurrence time.Time
	Attempt         int
	Error           string
	Result          []byte
	// Run is the line for the history, unless Unrecorded. The store fills in Job, Seq, Epoch and Node. Its Label
	// becomes that of the job in any case.
	Run        Run
	Unrecorded bool
	// Signals are the names of those that the run waits for. If one is there by now, and the job waits or is paused,
	// the job is due at once.
	Signals []string
	// Output is kept with that line, and removed with it.
	Output []byte
}

// A CommitResult reports, for each entry of a CommitRequest, whether it took effect: now, or in an earlier call with
// the same entry.
type CommitResult struct {
	Now       time.Time
	Confirmed []bool
	Committed []bool
	// Before are the outcomes of runs that had been committed before, by a call whose answer was lost or in a transaction
	// of the handler's: what the store has of them may be other than what was asked for now.
	Before []Ref
	// Released reports that jobs may be due now which were Blocked.
	Released bool
	// Locked are the entries of which that is not known yet, since another transaction has their rows: ask again.
	Locked []Ref
}

// An Op is what a Change does.
type Op uint8

const (
	OpCancel     Op = iota
	OpPause         // no run until OpResume
	OpResume        // it runs when it is due, at once if that has passed
	OpReschedule    // the next occurrence is at Due
	OpRunNow        // due at once; a schedule goes on afterwards
	OpRevive        // a dead or canceled job is due at once, with all its attempts
	OpDelete        // it is removed, with its history, unless it is Confirmed or Running
	OpMove          // it is in Queue, from its next claim on; for a store that has Queues
)

// A Change is a user's request for one job.
type Change struct {
	Op  Op
	Due time.Time // for OpReschedule
	// Queue is for OpMove, "" for the default queue.
	Queue string
}

// Retention is how long jobs and runs are kept after their end. Zero keeps for ever; but in durable.Config.Keep zero is
// the default, and a negative duration keeps for ever.
type Retention struct {
	Succeeded, Dead, History time.Duration // Dead is also for canceled jobs
}

// MaxLost is how many runs in a row of a periodic job may be lost with their nodes. Then the job is dead, since it may
// be what kills them.
const MaxLost = 12

// ReapDelay is how long a job whose node died in its nth attempt waits for the next: not at all after the first, then
// ever longer, so that a job that kills its process does not kill them all, one after the other. It is 1 s to 64 s and
// up to twice that. What it is within these follows from the ID and the epoch of the run that was lost: jobs that died
// together do not begin together again, and all stores agree.
func ReapDelay(lost Ref, attempt int) time.Duration {
	if attempt < 2 {
		return 0
	}
	least := time.Second << min(attempt-2, 6)
	mixed := binary.BigEndian.Uint32(lost.ID[12:]) + uint32(lost.Epoch&0x3ff)*0x9E3779B1
	return (least + least*time.Duration(mixed>>22)>>10).Truncate(time.Microsecond)
}
