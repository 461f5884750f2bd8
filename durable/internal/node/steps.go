package node

import (
	"sync"
	"time"
)

// steps are what a handling knows of the steps of its job.
type steps struct {
	mu  sync.Mutex
	all map[stepName]*step // nil until the store was asked for what is kept
}

// A stepName is the name of a step, or that of a signal.
type stepName struct {
	name   string
	signal bool
}

// A step is one of a run.
type step struct {
	as     string // what it is in this run; "" if it has not been called
	busy   bool
	result []byte    // nil if there is none yet
	since  time.Time // when the job began to wait for it, if it is a signal that the store knows to be waited for
	called bool      // it is a signal that this run waits for
}

// signals returns the names of the signals that the run waits for.
func (s *steps) signals() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, t := range s.all {
		if t.called && t.result == nil {
			names = append(names, name.name)
		}
	}
	return names
}

// giveUp has the run wait for a signal no longer.
func (s *steps) giveUp(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[stepName{name, true}].called = false
}
