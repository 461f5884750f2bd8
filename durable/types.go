package durable

import (
	"time"

	"github.com/executor-go/executor/durable/store"
)

// These are the types of package store that users of durable meet.
type (
	// A Store keeps jobs, with everything that Jobs can show. Packages sqlite, postgres and memory each have one. A
	// store of your own needs only the methods of store.Store.
	Store = store.Full
	// A Tx is a transaction of the caller, in the database of the store: a *sql.Tx, or the transaction of another
	// library that a function of the store's package has converted, such as postgres.Tx.
	Tx = store.Tx

	// An ID names a job.
	ID = store.ID
	// A Job is a job as it was in the store at some moment.
	Job = store.Job
	// A State is the state of a job.
	State = store.State
	// A Priority orders jobs that are due: the greater is claimed first.
	Priority = store.Priority
	// A Pending is an action that was requested while the job was running, and takes effect when its run ends.
	Pending = store.Pending
	// A Run is an entry of a job's history.
	Run = store.Run
	// A JobRun is a run, with the names of its job.
	JobRun = store.JobRun
	// A Verdict is how a run ended.
	Verdict = store.Verdict
	// RunProgress is how far a run has come, by its last call of Progress.
	RunProgress = store.RunProgress
	// A KeptStep is the stored result of a step of a job, or a signal.
	KeptStep = store.KeptStep
	// An Answer is the outcome of an action on a job.
	Answer = store.Answer

	// A NewJob is a job to be added, as Hooks.Adding sees it.
	NewJob = store.NewJob
	// An InsertResult is the outcome of adding a job, see WithResult.
	InsertResult = store.InsertResult
	// An Outcome is how a run ended and what follows, as Hooks.Settled gets it.
	Outcome = store.Outcome

	// ParentCounts are how many parents a job has, see After, and how many of them have ended.
	ParentCounts = store.ParentCounts

	// A Change is an action on jobs, see ChangeAll.
	Change = store.Change
	// An Op is the action of a Change.
	Op = store.Op
	// A Filter selects jobs for List, Counts and ChangeAll.
	Filter = store.Filter
	// A TimeRange is the times from From on, and before Until.
	TimeRange = store.TimeRange
	// A LatestFilter selects runs for Latest.
	LatestFilter = store.LatestFilter
	// A Count is how many jobs of a kind are in a state.
	Count = store.Count
	// A Retention is how long jobs and runs are kept after their end.
	Retention = store.Retention
	// An Act is an entry of the audit log: an action on a job, who took it, and why.
	Act = store.Act
	// An ActFilter selects entries of the audit log.
	ActFilter = store.ActFilter
	// NodeInfo is a node as the store knows it.
	NodeInfo = store.NodeInfo
	// NodeDetails are what a node reports about itself after it has joined.
	NodeDetails = store.NodeDetails
)

// The states of a job, see State.
const (
	Waiting   = store.Waiting
	Claimed   = store.Claimed
	Running   = store.Running
	Succeeded = store.Succeeded
	Dead      = store.Dead
	Canceled  = store.Canceled
	Paused    = store.Paused
	Confirmed = store.Confirmed
	Blocked   = store.Blocked
)

// The priorities.
const (
	Low    = store.Low
	Normal = store.Normal
	High   = store.High
)

// The actions that may be pending.
const (
	PendingNone   = store.PendingNone
	PendingCancel = store.PendingCancel
	PendingPause  = store.PendingPause
)

// The actions on a job, each named for the method that carries it out.
const (
	OpCancel     = store.OpCancel
	OpPause      = store.OpPause
	OpResume     = store.OpResume
	OpReschedule = store.OpReschedule
	OpRunNow     = store.OpRunNow
	OpRevive     = store.OpRevive
	OpDelete     = store.OpDelete
	OpMove       = store.OpMove
)

// The verdicts on a run.
const (
	RunSucceeded = store.RunSucceeded
	RunFailed    = store.RunFailed
	RunCanceled  = store.RunCanceled
	RunSkipped   = store.RunSkipped // its policy leaves out this missed occurrence
	RunLost      = store.RunLost    // its node was declared dead
	RunSnoozed   = store.RunSnoozed // its handler postponed it, see Snooze
)

// The answers to an action. None of them is an error, since an action and a run may happen at the same time.
const (
	NotFound = store.NotFound // there is no such job
	Applied  = store.Applied  // the action took effect
	Deferred = store.Deferred // the job is running: the action takes effect when the run ends
	TooLate  = store.TooLate  // the state of the job does not allow the action
)

const (
	// MaxMeta is the most bytes of the Meta of a job as JSON.
	MaxMeta = store.MaxMeta
	// MaxTags is how many tags a job may have, see WithTags.
	MaxTags = store.MaxTags
	// MaxTag is how many bytes a tag may have.
	MaxTag = store.MaxTag
	// MaxLabel is how many bytes of a label are kept, see SetLabel.
	MaxLabel = store.MaxLabel
	// MaxLost is how many runs in a row of a periodic job may be lost with their nodes. Then the job is dead.
	MaxLost = store.MaxLost
	// MaxAct is how many bytes are kept of each text of an Act.
	MaxAct = store.MaxAct
	// KeepActs is how long the stores keep the audit log.
	KeepActs = store.KeepActs
)

// NewID returns an ID that no other job has.
func NewID() ID { return store.NewID() }

// IDOf returns the ID that follows from a time and some bytes. It is as those of NewID made at that time, but always the
// same: so what is added with it is added once, whoever does it.
func IDOf(t time.Time, of []byte) ID { return store.IDOf(t, of) }

// ParseID returns the ID whose String is s, or an error that matches executor.ErrInvalid.
func ParseID(s string) (ID, error) { return store.ParseID(s) }
