package store

import "time"

// NodeDetails are what a node reports about itself, once it has joined.
type NodeDetails struct {
	Host    string   `json:"host,omitempty"`
	PID     int      `json:"pid,omitempty"`
	Version string   `json:"version,omitempty"` // of the program's main module, such as "v1.2.3" or "(devel)"
	Kinds   []string `json:"kinds,omitempty"`   // the kinds that it has handlers for, sorted; the first 200
	Workers int      `json:"workers,omitempty"` // the Workers of its pool
	Queues  []string `json:"queues,omitempty"`  // the queues that it serves, "" for the default queue; nil means the default queue alone
}

// NodeInfo is a node as the store knows it. All times are on the store's clock.
type NodeInfo struct {
	Name string `json:"name"` // Job.Owner of the jobs that it holds
	// NodeDetails are known soon after the node has joined; they are empty if its program does not report them.
	NodeDetails
	Joined time.Time     `json:"joined,omitzero"` // zero if its program does not report it
	Beat   time.Time     `json:"beat"`            // when its lease was last renewed
	Lease  time.Duration `json:"lease"`           // the length of its lease
	Jobs   int           `json:"jobs"`            // how many jobs it holds
	// Draining reports that somebody has asked the node to drain, see durable.Jobs.DrainNode.
	Draining bool `json:"draining,omitempty"`
}

// A RunProgress is how far a run has come, according to its last call of durable.Progress.
type RunProgress struct {
	Job   ID        `json:"job"`
	Epoch int64     `json:"epoch"` // of the run
	Done  int64     `json:"done"`
	Total int64     `json:"total"` // 0 if it is not known
	Note  string    `json:"note,omitempty"`
	At    time.Time `json:"at"` // of the call, on the store's clock
}

// A LatestFilter selects the runs that match every field that is not zero, for Latest. The zero LatestFilter selects
// all.
//
// The stores in databases find runs by Keys, by Verdicts and by Finished with an index. Of the runs that these select,
// they read the latest first, until a page of them matches the other fields.
type LatestFilter struct {
	Verdicts []Verdict // none for all
	Kind     string    // of the job, "" for all
	Keys     []string  // the job has one of these keys; none for all
	Tags     []string  // the job has all of these tags
	Node     string    // the beginning of the node's name, such as Config.Name; "" for all
	Finished TimeRange // when the run ended
	Before   Run       // the last run of the previous page; the zero Run for the first page
	Limit    int       // the most runs on a page; 0 means 100
}

// A JobRun is a run, with the key and the kind of its job, and with the queue in which that is now.
type JobRun struct {
	Run
	Key   string `json:"key,omitempty"`
	Kind  string `json:"kind"`
	Queue string `json:"queue,omitempty"` // "" for the default queue
}

// A DeadJob is a dead job, as Counter.Dead returns it.
type DeadJob struct {
	ID    ID
	Kind  string
	Error string    // at least the first 300 characters
	Ended time.Time // when it ended, or was last changed
}
