// Package memory is that of the program over etcd's store, on a cluster that is a map.
package memory

import (
	"sync/atomic"
	"time"

	"github.com/executor-go/executor/durable/etcd"
	"github.com/executor-go/executor/durable/store/rows"
)

// MostActs is how many entries of the audit log a Store keeps.
const MostActs = rows.MostActs

type logic = rows.Store

// A Store is a durable.Store.
type Store struct {
	logic
	shift atomic.Int64
}

// New returns an empty store.
func New() *Store {
	s := new(Store)
	s.logic = *rows.NewStore(etcd.NewBubble(func() time.Time { return time.Now().Add(time.Duration(s.shift.Load())) }))
	return s
}

// Shift puts the store's clock forward by d.
func (s *Store) Shift(d time.Duration) { s.shift.Add(int64(d)) }

// Close does nothing.
func (s *Store) Close() error { return nil }
