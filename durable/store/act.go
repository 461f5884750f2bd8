package store

import "time"

// An Act is an entry of the audit log: what somebody did, or tried to do, to a job or to another part of the program,
// and why. The store keeps it for a year, even if the job is removed.
type Act struct {
	Seq    int64     `json:"seq"` // grows with each act of the store; set by NoteAct
	At     time.Time `json:"at"`  // on the store's clock; set by NoteAct
	Who    string    `json:"who,omitempty"`
	Action string    `json:"action"`
	Job    ID        `json:"job,omitzero"`  // zero if it is not about one job
	Key    string    `json:"key,omitempty"` // of the job, or the name of what else it is about
	Reason string    `json:"reason,omitempty"`
	Answer string    `json:"answer"` // what became of it
}

// MaxAct is how many bytes are kept of each text of an Act.
const MaxAct = 1000

// KeepActs is how long the stores keep the audit log.
const KeepActs = 365 * 24 * time.Hour

// An ActFilter selects entries of the audit log. The zero ActFilter selects all.
type ActFilter struct {
	Job    ID    // of this job, if not zero
	Before int64 // with a Seq below this one, if not 0
	Limit  int   // the most; 0 means 100
}
