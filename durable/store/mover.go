package store

import (
	"context"
	"errors"
	"iter"
	"time"
)

// A Mover is a Store, with Reports, whose whole content can be exported, and imported into another store; see package
// transfer.
type Mover interface {
	// Export calls each for every row that the store has at one moment, except nodes and what they report. The rows are
	// in the order of the fields of Row; the comments there say how the rows of a field are ordered. Rows that belong to
	// a job which no longer exists are left out. If each returns an error, Export ends and returns it. each must not use
	// the store.
	Export(ctx context.Context, each func(Row) error) error

	// Import adds the rows of an Export to an empty store: all of them as they are, or none. It returns ErrNotEmpty if
	// the store has jobs, paused kinds or acts, and the error that rows yields. Acts get new numbers. A job that a node
	// of the other store held is the job of a dead node, which the first Heartbeat frees.
	Import(ctx context.Context, rows iter.Seq2[Row, error]) error
}

// A Row is a row of an export: the one field that is not nil. The names of the fields in JSON are those of a file that
// package transfer writes.
type Row struct {
	Job    *Job        `json:"job,omitempty"`    // in the order of their IDs
	After  *JobAfter   `json:"after,omitempty"`  // in the order of Job
	Run    *KeptRun    `json:"run,omitempty"`    // in the order of Job and Seq
	Step   *JobStep    `json:"step,omitempty"`   // in the order of Job and At
	Paused *PausedKind `json:"paused,omitempty"` // in any order, like Bucket and Turn
	Bucket *Bucket     `json:"bucket,omitempty"`
	Turn   *Turn       `json:"turn,omitempty"`
	Act    *Act        `json:"act,omitempty"` // in the order of Seq
}

// A JobAfter has the parents that a job waits for, or has waited for.
type JobAfter struct {
	Job     ID          `json:"job"`
	Need    int         `json:"need"`
	Anyway  bool        `json:"anyway,omitempty"`
	Parents []JobParent `json:"parents"` // in the order of After
}

// Counts returns the counts of the parents.
func (a *JobAfter) Counts() ParentCounts {
	c := ParentCounts{Total: len(a.Parents), Need: a.Need, Anyway: a.Anyway}
	for _, p := range a.Parents {
		if p.State.Done() {
			c.Add(p.State, 1)
		}
	}
	return c
}

// A JobParent is a parent of a job, and the state in which it has ended.
type JobParent struct {
	ID    ID    `json:"id"`
	State State `json:"state"` // Waiting until it has ended
}

// A KeptRun is a run with its output.
type KeptRun struct {
	Run
	Output []byte `json:"output,omitzero"` // nil for none
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

// ErrNotEmpty is the error of an Import into a store that is not empty.
var ErrNotEmpty = errors.New("durable: the store is not empty")
