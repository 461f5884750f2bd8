// Package memory keeps jobs in memory, for tests and for programs whose jobs need not outlive them. It does what the
// stores in databases do, and forgets everything at the end of the program. Several Jobs may share one Store, as nodes
// share a database. It has no transactions: AddTx and CompleteTx fail with an error that matches
// executor.ErrInvalid. Its methods never wait, and ignore their contexts.
package memory

import (
	"context"
	"sync"
	"time"

	"github.com/executor-go/executor/durable/store/rows"
)

// MostActs is how many entries of the audit log a Store keeps: the latest ones.
const MostActs = rows.MostActs

// logic is what the methods of a Store do, over rows.
type logic = rows.Store

// A Store is a durable.Store. Its clock is time.Now, which in a bubble of testing/synctest is the bubble's, plus what
// Shift adds to it.
type Store struct {
	logic
	home *home
}

// New returns an empty store.
func New() *Store {
	h := &home{rows: rows.New()}
	return &Store{*rows.NewStore(h), h}
}

// Shift puts the store's clock forward by d, or back if d is negative, as an operator may set the clock of a database.
func (s *Store) Shift(d time.Duration) {
	s.home.mu.Lock()
	defer s.home.mu.Unlock()
	s.home.shift += d
}

// Close does nothing.
func (s *Store) Close() error { return nil }

// A home has the rows of a store.
type home struct {
	mu    sync.Mutex
	rows  *rows.Rows
	shift time.Duration
	// away, if not nil, is called between a decision and its commit, without the lock, as if the rows were elsewhere. It
	// is for tests.
	away func()
}

// Transact decides and commits with the lock, so that nothing changes in between.
func (h *home) Transact(_ context.Context, decide func(*rows.Tx) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for try := 0; ; try++ {
		t := h.rows.Begin(time.Now().Add(h.shift), try)
		if err := decide(t); err != nil {
			return err
		}
		if away := h.away; away != nil {
			h.mu.Unlock()
			away()
			h.mu.Lock()
		}
		if h.rows.Commit(t) {
			return nil
		}
	}
}
