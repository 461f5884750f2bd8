package store

import "time"

// NodeDetails are what a node reports about itself, once it has joined.
type NodeDetails struct {
	Host    string   `json:"host,omitempty"`
	PID     int      `json:"pid,omitempty"`
	Version string   `json:"version,omitempty"` // of the program's main module, as "v1.2.3" or "(devel)"
	Kinds   []string `json:"kinds,omitempty"`   // that it has handlers for, in order; the first 200
	Workers int      `json:"workers,omitempty"` // the Core of its pool
	Queues  []string `json:"queues,omitempty"`  // that it serves, "" for the default queue; none for that alone
}

// NodeInfo is a node as the store knows it. All times are on the store's clock.
type NodeInfo struct {
	Name string `json:"name"` // Job.Owner of what it holds
	// NodeDetails are there soon after it has joined, and empty if its program does not report them.
	NodeDetails
	Joined time.Time     `json:"joined,omitzero"` // zero if its program does not report it
	Beat   time.Time     `json:"beat"`            // when its lease was renewed last
	Lease  time.Duration `json:"lease"`           // how long that lasts
	Jobs   int           `json:"jobs"`            // that it holds
	// Draining reports that somebody has asked it to drain, see durable.Jobs.DrainNode.
	Draining bool `json:"draining,omitempty"`
}

// A RunProgress is how far a run has come, by its last call of Progress.
type RunProgress struct {
	Job   ID        `json:"job"`
	Epoch int64     `json:"epoch"` // of the run
	Done  int64     `json:"done"`
	Total int64     `json:"total"` // 0 if it is not known
	Note  string    `json:"note,omitempty"`
	At    time.Time `json:"at"` // of the call, on the store's clock
}

// A LatestFilter selects runs for Latest. The zero LatestFilter selects all.
type LatestFilter struct {
	Verdicts []Verdict // none for all
	Kind     string    // of the job, "" for all
	Node     string    // what the name of the node begins with, as Config.Name; "" for all
	Before   Run       // the last of the page before, the zero Run for the first
	Limit    int       // of the page; 0 is 100
}

// A JobRun is a run, with the key and the kind of its job.
type JobRun struct {
	Run
	Key  string `json:"key,omitempty"`
	Kind string `json:"kind"`
}

// A DeadJob is a job that is dead, as Store.Dead returns it.
type DeadJob struct {
	ID    ID
	Kind  string
	Error string    // at least the first 300 characters
	Ended time.Time // when it ended, or was changed last
}
