package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// A Mover is a Store whose whole content can be exported, and imported into another store; see package transfer.
type Mover interface {
	// Export calls each for every row that the store has at one moment, except nodes and their reports. The rows are in
	// the order of the fields of Row; the comments there say how the rows of a field are ordered. Rows that belong to a
	// job which no longer exists are left out. If each returns an error, Export ends and returns it. each must not use
	// the store.
	Export(ctx context.Context, each func(Row) error) error

	// Import adds rows, in the order of Export: all, or none. A job that a node of the other store holds is freed as
	// Heartbeat frees the jobs of a dead node. A Blocked job whose parents have ended becomes Waiting or Canceled. Acts
	// get new numbers. If rows yields an error, Import adds nothing and returns the error.
	//
	// Import returns ErrNotEmpty if the store has jobs, paused kinds or acts, unless add is set. With add, a job whose
	// ID exists stays as it is, with everything that belongs to it, and so does an act that exists with the same time.
	// Of two Buckets of a kind the later time counts, and of two Turns of a partition the earlier. If another job has
	// the Key of a job, the error matches ErrKeyInUse; if a parent has not ended and does not exist, the error matches
	// ErrNotFound.
	Import(ctx context.Context, rows iter.Seq2[Row, error], add bool) (ImportResult, error)
}

// A Row is a row of an export: the one field that is not nil.
type Row struct {
	Job    *Job        // in the order of their IDs
	After  *JobAfter   // in the order of Job
	Run    *KeptRun    // in the order of Job and Seq
	Step   *JobStep    // in the order of Job and At
	Paused *PausedKind // in any order, like Bucket and Turn
	Bucket *Bucket
	Turn   *Turn
	Act    *Act // in the order of Seq
}

// A JobAfter has the parents that a job waits for, or has waited for.
type JobAfter struct {
	Job     ID          `json:"job"`
	Need    int         `json:"need"`
	Anyway  bool        `json:"anyway,omitempty"`
	Parents []JobParent `json:"parents"` // in the order of After
}

// A JobParent is a parent of a job, and the state in which it has ended.
type JobParent struct {
	ID    ID    `json:"id"`
	State State `json:"state"` // Waiting until it has ended
}

// A KeptRun is a run with its output.
type KeptRun struct {
	Run
	Output []byte // nil for none
}

// A JobStep is a step or a signal of a job.
type JobStep struct {
	Job ID `json:"job"`
	KeptStep
}

// A PausedKind is a kind that is paused.
type PausedKind struct {
	Kind string `json:"kind"`
}

// A Bucket is the token bucket of a kind with a Rate.
type Bucket struct {
	Kind string    `json:"kind"`
	Full time.Time `json:"full"` // when the bucket is full if no token is taken until then
}

// A Turn is the place in line of a partition that has waiting jobs of a priority.
type Turn struct {
	Kind      string    `json:"kind"`
	Priority  Priority  `json:"priority"`
	Partition string    `json:"partition"`
	At        time.Time `json:"at"` // partitions with an earlier time come first
}

// An ImportResult is the result of an Import.
type ImportResult struct {
	Jobs  int // jobs that were added
	There int // jobs that existed already, and did not change
	Freed int // added jobs that a node of the other store held: they wait now, or have ended
	Dead  int // freed jobs that are dead now, because the lost run was their last attempt
}

// ErrNotEmpty is the error of an Import into a store that is not empty.
var ErrNotEmpty = errors.New("durable: the store is not empty")

// ErrKeyInUse reports that another job has the key of an imported job; the error of Import matches it.
var ErrKeyInUse = errors.New("durable: the key is in use")

// KeyInUse returns the error of an Import of the job id, whose key the job other has. It matches ErrKeyInUse.
func KeyInUse(id, other ID, key string) error {
	return fmt.Errorf("job %v: key %q belongs to job %v: %w", id, key, other, ErrKeyInUse)
}

// LostParent returns the error of an Import of a job that waits for a parent which does not exist. It matches
// ErrNotFound.
func LostParent(job, parent ID) error { return fmt.Errorf("job %v: %w", job, NoParent(parent)) }
