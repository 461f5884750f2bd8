// Package store is for authors of stores. It has the types that a store keeps, and the methods that package durable
// calls. Users of durable need not import it: package durable has aliases, with the same names, for the types that its
// users meet.
package store

import (
	"context"
	"encoding/binary"
	"time"
)

// A Store keeps jobs. A node needs these thirteen methods to run them. A store may also have the methods of any of the
// interfaces below; one with nearly all of them is a Full. Package storetest has the tests that every store must pass.
//
// Each method is one atomic step. All times are on the store's own clock. Callers repeat a method after an error that
// leaves its outcome unknown. A method that a node calls for a job must not change the job unless the job has the epoch
// that the node passes. The tests of package storetest specify what each change does to a job.
type Store interface {
	// Now returns the store's time.
	Now(ctx context.Context) (time.Time, error)

	// Insert adds jobs, each with the state, owner and epoch that p asks for. A job whose ID exists already is not
	// added again. If another job has its Key, that job takes its place: see InsertResult. If that is not possible,
	// because the other job is of another kind or only one of the two is periodic, Insert adds and changes nothing. No
	// two of jobs have the same key. If there are several jobs, and some have keys, Insert may leave all of them
	// Waiting, whatever p asks for.
	Insert(ctx context.Context, jobs []NewJob, p Placement) ([]InsertResult, error)

	// Join adds a node whose lease ends after the given time. If the node exists already, because the answer to an
	// earlier call was lost, it keeps its Draining.
	Join(ctx context.Context, node string, lease time.Duration) (now time.Time, err error)

	// Heartbeat renews a node's lease, and reports whether there is a job that w asks for. A node that was declared
	// dead stays dead, and the answer says so.
	//
	// Heartbeat also declares dead every other node whose lease has ended, and frees the jobs that those nodes held. A
	// job that was Claimed or Confirmed is freed as by Release; one that was Confirmed becomes Suspect. A job that was
	// Running becomes Suspect, and its run is recorded as lost. The job is tried again after [ReapDelay]. It is Dead
	// instead if that was its last attempt or, for a periodic job, its [MaxLost]-th lost run in a row; it is Canceled
	// if a cancellation was pending. A periodic job keeps its number of attempts, even if all are used up.
	//
	// If the lease was renewed and another part of the heartbeat fails, the error is a [*RenewedError].
	//
	// If the lease of the calling node itself has ended, the store did not answer for a while, or its clock has jumped.
	// Then no node is declared dead, and the leases of the others that have ended begin anew. If the clock was put
	// back, a lease may end later than one that is granted now: Heartbeat shortens it to that.
	Heartbeat(ctx context.Context, node string, lease time.Duration, w Watch) (HeartbeatResult, error)

	// Leave removes a node and frees the jobs that it holds.
	Leave(ctx context.Context, node string) error

	// Claim gives waiting jobs to a node that is alive.
	Claim(ctx context.Context, r ClaimRequest) (ClaimResult, error)

	// Release frees the jobs that a node holds, except those in keep, as if they had never been claimed: a run in
	// progress does not count as an attempt. If the clock was put back, a job may have been confirmed for an occurrence
	// that is still ahead, and not have begun. Then the occurrence of a periodic job is its due time again, and another
	// job is due at its occurrence.
	//
	// A Release whose context has ended takes effect before the later calls of the node, or not at all: otherwise it
	// would free jobs that those calls have given to the node. Release does not wait for transactions of others. left
	// reports that some jobs could not be freed now, or that a call which may give jobs to the node has not been
	// committed yet.
	Release(ctx context.Context, node string, keep []ID) (left bool, err error)

	// Commit confirms claims and commits the outcomes of runs. It does not wait for transactions of others; see
	// CommitResult.Locked.
	Commit(ctx context.Context, b CommitRequest) (CommitResult, error)

	// Change carries out an action on a job.
	Change(ctx context.Context, id ID, c Change) (Answer, error)

	// Get returns the job with that ID, or ErrNotFound.
	Get(ctx context.Context, id ID) (Job, error)

	// Find returns the job with that key, or ErrNotFound.
	Find(ctx context.Context, key string) (Job, error)

	// List returns jobs in the order of their IDs, or in descending order with f.LatestFirst.
	List(ctx context.Context, f Filter) ([]Job, error)

	// Prune removes jobs and runs whose retention has ended, some thousands at most, and returns how many it has
	// removed. What it looks at is bounded, too: a call may remove nothing, and a later one goes on behind what it has
	// looked at.
	Prune(ctx context.Context, r Retention) (int, error)
}

// A History is a Store that keeps the runs of jobs. A store without a history ignores Outcome.Run, except for its
// Label, and Outcome.Output.
type History interface {
	// Runs returns up to limit runs of a job, the latest first: those before the run with the number before, or the
	// last ones if that is 0.
	Runs(ctx context.Context, id ID, before int64, limit int) ([]Run, error)

	// Latest returns runs of all jobs, in descending order of Finished, Job and Seq. If f.Before is not zero, Latest
	// begins after it. f has a Limit, and f.Verdicts has each verdict at most once.
	Latest(ctx context.Context, f LatestFilter) ([]JobRun, error)

	// Output returns the Outcome.Output of a run, nil if it had none. The error is ErrNotFound if the history has no
	// such run.
	Output(ctx context.Context, id ID, seq int64) ([]byte, error)
}

// A Counter is a Store that counts jobs.
type Counter interface {
	// Kinds returns the kinds that have waiting jobs, due or not.
	Kinds(ctx context.Context) ([]string, error)

	// Counts counts the jobs that f selects, of each kind in each state, in any order. It ignores f.LatestFirst, f.After and
	// f.Limit.
	Counts(ctx context.Context, f Filter) ([]Count, error)

	// Dead returns up to limit dead jobs, those that were changed last first.
	Dead(ctx context.Context, limit int) ([]DeadJob, error)
}

// Pauses is a Store that keeps which kinds are paused. Its Heartbeat returns them.
type Pauses interface {
	// PauseKind pauses a kind, or ends its pause. Nodes heed the pause; Claim need not.
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

// Reports is a Store that keeps what nodes report about themselves and their runs.
type Reports interface {
	// Report keeps what a node reports. It ignores the Details of a node that is not alive. The progress of a run
	// replaces what an earlier call, or an earlier run of the job, has reported.
	Report(ctx context.Context, node string, r Report) error

	// Nodes returns the nodes that are alive, in any order.
	Nodes(ctx context.Context) ([]NodeInfo, error)

	// Progress returns the last report of each of these jobs that is Running, if the report has the epoch of the job,
	// in any order.
	Progress(ctx context.Context, ids []ID) ([]RunProgress, error)
}

// Full is a Store that also has all of these interfaces, such as those of packages sqlite, postgres and memory.
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

// Parts are the optional interfaces of a Store. An interface that the store lacks is nil.
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
	Packer   Packer
	Changer  Changer
	Tx       TxStore
	Listener Listener
}

// PartsOf returns the optional interfaces that s has.
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
	p.Packer, _ = s.(Packer)
	p.Changer, _ = s.(Changer)
	p.Tx, _ = s.(TxStore)
	p.Listener, _ = s.(Listener)
	return p
}

// A Changer is a Store that changes several jobs in one step.
type Changer interface {
	// ChangeEach carries out an action on jobs as Change does on each, and returns the answers in the order of the IDs,
	// of which no two are the same. If a job ends by that and another of them waits for it, the answer for that one may
	// be either of those that Change would give before and after.
	ChangeEach(ctx context.Context, ids []ID, c Change) ([]Answer, error)
}

// A Listener is a Store that reports changes. A report is a hint: without it, a node sees a change at its next poll or
// heartbeat.
type Listener interface {
	// Listen calls wake whenever a job may be due soon or a running job is to be canceled. It returns when ctx ends or
	// when it fails. It calls wake first when it begins to listen, because changes before that were not reported.
	Listen(ctx context.Context, wake func()) error
}

// A Tx is a transaction of the caller, in the database of the store: a *sql.Tx, or the transaction of another library
// that a function of the store's package has converted, such as [postgres.Tx]. If the store can't use a Tx, the error
// matches executor.ErrInvalid and names the types that it accepts.
//
// [postgres.Tx]: https://pkg.go.dev/github.com/executor-go/executor/durable/postgres#Tx
type Tx interface {
	Commit() error
	Rollback() error
}

// A TxStore is a Store that can use a transaction of its caller. If it can't use a transaction, the error matches
// executor.ErrInvalid. tx is never nil.
type TxStore interface {
	// GetTx returns the job as tx sees it, or ErrNotFound. Until tx ends, nobody else can change the job.
	GetTx(ctx context.Context, tx Tx, id ID) (Job, error)

	// InsertTx is Insert in tx, without a Placement. If one of several jobs can't be added, InsertTx changes nothing in
	// tx.
	InsertTx(ctx context.Context, tx Tx, jobs []NewJob) ([]InsertResult, error)

	// CompleteTx is Commit in tx: its result holds once tx is committed.
	CompleteTx(ctx context.Context, tx Tx, b CommitRequest) (CommitResult, error)
}

// A NewJob is a job to be added.
type NewJob struct {
	ID  ID
	Key string
	// ReuseKey lets this job take its key from a job that has ended, unless Among has the state of that job. A schedule
	// that is to be canceled after its run goes on instead.
	ReuseKey bool
	// Among, unless empty, has the states in which another job keeps the key. In any other state that job loses the key
	// to this one, even while it runs, unless it is periodic. Among has Waiting, Claimed, Paused and Blocked, and if it
	// has Running also Confirmed.
	Among []State
	// Within, unless 0, is how long after its end a job keeps the key in these states, in whole microseconds.
	Within time.Duration
	// Replace gives a job with the key that waits or is paused the properties of this job, including its time. A job
	// that is Confirmed or Running gets them for one more run, as with ReuseKey.
	Replace bool
	// KeepTime, with Replace, does not change the time of the other job, unless that time has come: then the job waits for
	// its next attempt, or for a signal. Nor does it change the time of its one more run if there is one already.
	KeepTime bool
	// Untried, with Replace and KeepTime, leaves a job alone of which an attempt was begun or may begin. The others keep
	// their time in any case.
	Untried bool
	// KeepPayload, with Replace, changes only the time of the other job.
	KeepPayload bool
	Kind        string
	Payload     []byte
	Priority    Priority
	// Partition is the partition of its kind that the job belongs to, see KindLimit.PerPartition; "" for none.
	Partition string
	// Queue is the queue of the job, see Queues; "" for the default queue.
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
	// Tags are sorted, and each is there once; see durable.WithTags.
	Tags []string
	// After has the parents of the job, in a store that is a Graph. A job with parents has neither ReuseKey nor Among.
	After After
}

// Periodic reports whether the job has more than one occurrence.
func (j *NewJob) Periodic() bool { return j.Schedule != Once }

// A Placement asks for new jobs to be claimed by a node at once. The jobs wait for any node instead if the Placement is
// zero, or if its Node is not alive or is to drain, see Drains.
type Placement struct {
	Node string
	// A job that is due within Lead is Confirmed at once, one that is due within Ahead is Claimed, and one that is due
	// later is Waiting. Limit is the most jobs to claim.
	Ahead, Lead time.Duration
	Limit       int
}

// An InsertResult is the outcome of adding a job.
type InsertResult struct {
	// Job is the job as it is now. If an earlier job of the kind has the key, Job is that job, with its ID. An earlier
	// job that is not periodic is changed only as ReuseKey and Replace ask. A periodic one gets the new payload,
	// priority, limits and policies; a schedule that differs begins anew, at once or after the run in progress.
	Job
	// Changed reports that this call has added the job, or changed properties of the earlier job. A call that is
	// repeated because the answer of the first was lost does not report it again.
	Changed bool
	// Held reports that the job was added just now and belongs to Placement.Node.
	Held bool
	// Now is the time of the store.
	Now time.Time
	// KindTaken reports that the key belongs to a job of another kind, which is Job. Nothing has changed. The results
	// for the other jobs of the call have the zero Job if those jobs are not in the store.
	KindTaken bool
}

// A Watch is what a heartbeat looks for: a waiting job of one of the Kinds that is due within Ahead, and that a Claim,
// or a ClaimQueue for one of the Queues, would find. The zero Watch finds nothing.
type Watch struct {
	Kinds []string
	Ahead time.Duration
	// Queues are the queues that the node serves besides the default queue. Elsewhere means that the node does not
	// serve the default queue.
	Queues    []string
	Elsewhere bool
}

// A HeartbeatResult is the answer to a heartbeat.
type HeartbeatResult struct {
	Now   time.Time
	Alive bool // false: the node was declared dead, and holds nothing
	// Alone reports that there is no other node, and that no other node could reach the store while this one can't, as
	// with a file. Then this node may go on after the end of its lease.
	Alone    bool
	Canceled []Ref    // jobs that this node runs, or may run, and that are to be canceled
	Freed    int      // jobs of dead nodes that this heartbeat has freed
	Dead     []ID     // those of them that are dead now
	Paused   []string // the kinds that are paused
	Draining bool     // the node is to drain, see Drains
	Due      bool     // a job that the Watch asks for is there; those just freed may not count
}

// A Report is what a node reports about itself, unless Details is nil, and about its runs.
type Report struct {
	Details  *NodeDetails
	Progress []RunProgress
}

// A Ref names a claim of a job, by the job's epoch.
type Ref struct {
	ID    ID
	Epoch int64
}

// A ClaimRequest asks for jobs of the Kinds, those with the highest priority first, and among these the earliest.
type ClaimRequest struct {
	Node        string
	Ahead, Lead time.Duration // as in Placement; a job due later than Ahead is left
	Limit       int           // the most to be given
	Kinds       []KindLimit   // the order breaks ties, so vary it
}

// A KindLimit is a kind, and how many of its jobs may be claimed.
type KindLimit struct {
	Kind string
	Max  int
	// Global, if not 0, is how many jobs of the kind all nodes together may hold after the claim.
	Global int
	// Rate is how often jobs of the kind may begin, see Limiter.
	Rate Rate
	// PerPartition, if not 0, is how many jobs of each partition of the kind all nodes together may hold, see Limiter.
	PerPartition int
}

// A ClaimResult has the jobs that the node holds now, with their new epochs. They are in no order.
type ClaimResult struct {
	Now  time.Time
	Jobs []Job
	// More reports that there may be more such jobs.
	More bool
	// Busy reports that a kind with a limit for all nodes was left out, because another node is claiming jobs of it, or
	// that the store could not give the node a job now.
	// There may be more in a moment.
	Busy bool
	// Next, if not zero, is when there may be more jobs of a kind that a Limiter claims: when the rate of the kind has
	// its next token. If Next is Now or earlier, the Limiter has more to do before it knows, and can be asked again at
	// once.
	Next time.Time
}

// A CommitRequest is a group commit of one node.
type CommitRequest struct {
	Node string
	// Begun are runs whose handlers were called: their jobs, which are Confirmed, become Running, and the run counts as
	// an attempt. Ended are runs that were Begun in an earlier call, and have ended: the store need not remember them.
	// The store handles Begun and Ended first; they need not be one step with the rest. It ignores an entry whose job
	// is in another state by now.
	Begun []Begin
	Ended []Ref
	// Confirms are Claimed jobs that are to become Confirmed, and Confirmed jobs whose occurrence is to change. A job
	// that is already Confirmed or Running with this epoch counts as confirmed.
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

// A Confirm asks whether the node may still begin a job.
type Confirm struct {
	Ref
	// Occurrence, unless zero, becomes the occurrence of the job. The run is for that occurrence, also if another node
	// has to begin it again.
	Occurrence time.Time
}

// An Outcome is how a run ended, and what follows.
type Outcome struct {
	Ref
	// State is Waiting, Succeeded, Dead or Canceled. If it is Waiting, a pending action, or a schedule that was changed
	// during the run, takes effect now. If it is Dead, a pending cancellation takes effect.
	State State
	// Due, Occurrence and Attempt are those of the job's next run. A zero Due with the State Succeeded means that its
	// schedule has no further time. If the job got another schedule or time during the run, it waits for that instead.
	Due, Occurrence time.Time
	Attempt         int
	Error           string
	Result          []byte
	// Run is the entry for the history, unless Unrecorded is set. The store fills in Job, Seq, Epoch and Node. The
	// Label of Run becomes the Label of the job in any case.
	Run        Run
	Unrecorded bool
	// Signals are the names of the signals that the job waits for. If one of them has come by now, and the job waits or
	// is paused, the job is due at once.
	Signals []string
	// Output is kept with that entry, and removed with it.
	Output []byte
}

// A CommitResult reports, for each entry of a CommitRequest, whether it took effect: now, or in an earlier call with
// the same entry.
type CommitResult struct {
	Now       time.Time
	Confirmed []bool
	Committed []bool
	// Before are the outcomes that had been committed before, by a call whose answer was lost or in a transaction of
	// the handler. What the store has may differ from the Outcome of this call.
	Before []Ref
	// Released reports that jobs which were Blocked may be due now.
	Released bool
	// Locked are the entries whose result is not known yet, because another transaction has locked their rows: ask
	// again.
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
	OpRevive        // a dead or canceled job is due, with all its attempts; a schedule, if it still has its key
	OpDelete        // it is removed, with its history, unless it is Confirmed or Running
	OpMove          // it is in Queue, from its next claim on; for a store that has Queues
	OpSetBack       // a schedule goes on at other times, since the clock was set back; see SetBack
	OpNote          // a job that is neither Confirmed nor Running has another Result; see Note
)

// A Change is a user's request for one job.
type Change struct {
	Op  Op
	Due time.Time // for OpReschedule; and for OpRevive, where zero is at once
	// Queue is for OpMove, "" for the default queue.
	Queue string
	// Absent is for OpCancel of a schedule: see Job.Absent. It has no effect on one that is to be canceled already.
	Absent bool
	// SetBack is for OpSetBack, which nodes call.
	SetBack SetBack
	// Note is for OpNote.
	Note Note
}

// A Note is a result that a job gets besides those of its runs. OpNote answers TooLate, and changes nothing, unless the
// job still has this Epoch and this Updated. It gives the job another Epoch, and takes one that is Claimed from its node.
type Note struct {
	Epoch   int64
	Updated time.Time
	Result  []byte
}

// SetBack are the times of a schedule whose times were found while the store's clock was ahead. OpSetBack answers
// TooLate, and changes nothing, unless the job still has this Epoch and this Updated.
//
// For this a Store keeps the Updated of a schedule that waits or is paused for a time that has not come: what else
// changes the schedule does not put its Updated back to an earlier time.
type SetBack struct {
	Epoch   int64
	Updated time.Time
	// Due and Occurrence become those of the job or, while it is Confirmed or Running, Due becomes its NextDue. The job
	// keeps its number of attempts.
	Due, Occurrence time.Time
	Anchor          time.Time
}

// Retention is how long jobs and runs are kept after their end. Zero means for ever. In durable.Config.Keep, however,
// zero means the default, and a negative duration means for ever.
type Retention struct {
	Succeeded, Dead, History time.Duration // Dead is also for canceled jobs
}

// MaxLost is how many runs in a row of a periodic job may be lost with their nodes. Then the job is dead, because the
// job itself may kill its nodes.
const MaxLost = 12

// ReapDelay returns how long a job waits for its next attempt after its node died: not at all after the first attempt,
// then longer after each, so that a job that kills its process does not kill all processes one after the other. The
// delay after the second attempt is 1 s to 2 s; it doubles with each further attempt, up to 64 s to 128 s. Within these
// bounds it depends only on the ID and the epoch of the lost run. So jobs that were lost together do not begin together
// again, and all stores compute the same delay.
func ReapDelay(lost Ref, attempt int) time.Duration {
	if attempt < 2 {
		return 0
	}
	least := time.Second << min(attempt-2, 6)
	mixed := binary.BigEndian.Uint32(lost.ID[12:]) + uint32(lost.Epoch&0x3ff)*0x9E3779B1
	return (least + least*time.Duration(mixed>>22)>>10).Truncate(time.Microsecond)
}
