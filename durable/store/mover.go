package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// A Mover is a Store that can be read as a whole, and written into another one, see package transfer.
type Mover interface {
	// Export calls each for all that the store keeps, but for nodes and what they report of runs in progress: as it was
	// at one moment, in the order of the fields of Row, and within each in the order that these say. What belongs to a
	// job that is not there any more is left out. An error of each ends Export, and is what it returns. each must not
	// use the store.
	Export(ctx context.Context, each func(Row) error) error

	// Import adds rows, in the order of Export, all or none. A job that is held by a node, which is one of another
	// store, is freed as Heartbeat frees those of a node that is dead. A job that is Blocked, whose parents have ended,
	// is settled. Acts get new numbers. If one of rows comes with an error, nothing is added, and Import returns that.
	//
	// Import returns ErrNotEmpty if the store has jobs, paused kinds or acts, unless add is set. Then a job whose ID is
	// there is left alone, with all that belongs to it, and so is an act that is there with the same time; of two times
	// of a Bucket the later counts, and of two of a Turn the earlier. A Key that another job has is an error that
	// matches ErrKeyInUse; so is, by ErrNotFound, a parent that has not ended and is not there.
	Import(ctx context.Context, rows iter.Seq2[Row, error], add bool) (ImportResult, error)
}

// A Row is one thing that a store keeps: the field that is not nil.
type Row struct {
	Job    *Job        // in the order of their IDs
	After  *JobAfter   // in the order of Job
	Run    *KeptRun    // in the order of Job and Seq
	Step   *JobStep    // in the order of Job and At
	Paused *PausedKind // in any order, as the next two
	Bucket *Bucket
	Turn   *Turn
	Act    *Act // in the order of Seq
}

// JobAfter is what a job with parents waits for, or has waited for.
type JobAfter struct {
	Job     ID          `json:"job"`
	Need    int         `json:"need"`
	Anyway  bool        `json:"anyway,omitempty"`
	Parents []JobParent `json:"parents"` // in the order of After
}

// A JobParent is a parent as its child knows it.
type JobParent struct {
	ID    ID    `json:"id"`
	State State `json:"state"` // Waiting until it has ended
}

// A KeptRun is a run with what it has written.
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

// A Bucket is that of a kind with a Rate.
type Bucket struct {
	Kind string    `json:"kind"`
	Full time.Time `json:"full"` // when it has all of its tokens, if none is taken
}

// A Turn is the place in line of a partition with jobs of a priority that wait.
type Turn struct {
	Kind      string    `json:"kind"`
	Priority  Priority  `json:"priority"`
	Partition string    `json:"partition"`
	At        time.Time `json:"at"` // those with an earlier one come before it
}

// An ImportResult is the result of an Import.
type ImportResult struct {
	Jobs  int // that were added
	There int // jobs that were there, and were left alone
	Freed int // jobs that were added, and that a node of the other store had: they wait, or have ended
	Dead  int // those of them that are dead now, since a run was the last attempt
}

// ErrNotEmpty is returned by an Import into a store that is not empty.
var ErrNotEmpty = errors.New("durable: the store is not empty")

// ErrKeyInUse is matched by the error of an Import of a job whose key another job has.
var ErrKeyInUse = errors.New("durable: the key is in use")

// KeyInUse returns the error of an Import of a job whose key another one has. It matches ErrKeyInUse.
func KeyInUse(id, other ID, key string) error {
	return fmt.Errorf("job %v: key %q belongs to job %v: %w", id, key, other, ErrKeyInUse)
}

// LostParent returns the error of an Import of a job that waits for a parent which is not there. It matches
// ErrNotFound.
func LostParent(job, parent ID) error { return fmt.Errorf("job %v: %w", job, NoParent(parent)) }
