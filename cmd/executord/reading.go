package main

import (
	"sync"
	"time"
)

// reading is how the files were last read while the daemon runs, for its metrics. The zero reading is that of a daemon
// which has not scheduled them yet.
type reading struct {
	mu     sync.Mutex
	failed bool      // when they were last read, or stored
	again  bool      // they are being stored, and were read after the failure
	at     time.Time // when what they say was last scheduled; zero before
}

// fail notes that the files were not used, or only in part: the jobs are those from before.
func (r *reading) fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed, r.again = true, false
}

// begin notes that the files were read, and are going to be stored.
func (r *reading) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.again = true
}

// succeed notes that the jobs of the files are used. If a mistake was found meanwhile, newer files exist that are not.
func (r *reading) succeed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = time.Now()
	if r.again {
		r.failed = false
	}
}

// get returns whether the files were used when they were last read, and when they last were; the zero Time if not yet.
func (r *reading) get() (ok bool, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.failed && !r.at.IsZero(), r.at
}
