// Package nodelock knows which nodes of a store in a file are alive, by locks that the kernel releases when a process
// ends, however it ends. So a daemon that was killed and starts again need not wait for the lease of its former self.
//
// The file NAME-nodes beside the store NAME has a slot for each node, with the node's name and the boot of the kernel
// that has the lock. A node keeps its slot locked. One whose slot is not, and was locked by this kernel, is dead.
// Of nodes of other machines nothing is known: their leases decide.
package nodelock

import (
	"context"
	"fmt"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// Suffix is what the name of the file has behind that of the store.
const Suffix = "-nodes"

// Store is a store in a file whose nodes have slots.
type Store struct {
	store.Full
	slots *slots // nil where there are no such locks
}

// New returns s, which is in the file name, with the slots of its nodes. Where slots can't be had, as on a system
// without these locks, it is as s.
func New(s store.Full, name string) *Store { return &Store{s, openSlots(name + Suffix)} }

// Join locks a slot for the node before it is one of the store.
func (s *Store) Join(ctx context.Context, node string, lease time.Duration) (time.Time, error) {
	s.slots.take(node)
	return s.Full.Join(ctx, node, lease)
}

// Unwrap returns the store itself.
func (s *Store) Unwrap() any { return s.Full }

// Close closes the store and releases its slots.
func (s *Store) Close() error {
	err := s.Full.Close()
	s.slots.close()
	return err
}

// Bury declares the nodes dead whose processes have ended without leaving the store, so that what they held goes on by
// the rules for a lost node, at once. It returns their names.
func (s *Store) Bury(ctx context.Context) (dead []string, err error) {
	if dead = s.slots.dead(); len(dead) == 0 {
		return nil, nil
	}
	defer s.slots.forget()
	for _, node := range dead {
		if _, err := s.Full.Heartbeat(ctx, node, -time.Second, store.Watch{}); err != nil {
			return nil, err
		}
	}
	// A node that has not lost its own lease finds them.
	undertaker := fmt.Sprintf("undertaker-%s", store.NewID())
	if _, err := s.Full.Join(ctx, undertaker, time.Minute); err != nil {
		return nil, err
	}
	if _, err := s.Full.Heartbeat(ctx, undertaker, time.Minute, store.Watch{}); err != nil {
		return nil, err
	}
	return dead, s.Full.Leave(ctx, undertaker)
}
