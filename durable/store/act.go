package store

import "time"

// An Act is an entry of the audit log: an action that somebody took, or tried to take, on a job or on another part of
// the program, and the reason. The store keeps it for a year, even if the job is removed.
type Act struct {
	Seq    int64     `json:"seq"` // grows with each act of the store; set by NoteAct
	At     time.Time `json:"at"`  // on the store's clock; set by NoteAct
	Who    string    `json:"who,omitempty"`
	Action string    `json:"action"`
	Job    ID        `json:"job,omitzero"`  // zero if the action is not on one job
	Key    string    `json:"key,omitempty"` // of the job, or the name of what the action is on
	Reason string    `json:"reason,omitempty"`
	Answer string    `json:"answer"` // the outcome
}

// MaxAct is how many bytes are kept of each text of an Act.
const MaxAct = 1000

// KeepActs is how long the stores keep the audit log.
const KeepActs = 365 * 24 * time.Hour

// An ActFilter selects entries of the audit log. The zero ActFilter selects all.
type ActFilter struct {
	Job    ID    // entries about this job; zero for all
	Before int64 // entries with a Seq below this one; 0 for all
	Limit  int   // the most entries to return; 0 means 100
}
