package memory

import (
	"context"
	"slices"

	"github.com/executor-go/executor/durable"
)

// MostActs is how many entries of the audit log a Store keeps: the latest ones.
const MostActs = 1000

// NoteAct adds an entry to the audit log, and removes those that are too old, or too many.
func (s *Store) NoteAct(ctx context.Context, a durable.Act) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.nowLocked()
	s.mu.acts = slices.DeleteFunc(s.mu.acts, func(a durable.Act) bool { return now.Sub(a.At) > durable.KeepActs })
	s.mu.lastAct++
	a.Seq, a.At = s.mu.lastAct, now
	s.mu.acts = append(s.mu.acts, a)
	s.mu.acts = slices.Delete(s.mu.acts, 0, max(len(s.mu.acts)-MostActs, 0))
	return nil
}

// Acts returns entries of the audit log, the latest first.
func (s *Store) Acts(ctx context.Context, f durable.ActFilter) (found []durable.Act, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range slices.Backward(s.mu.acts) {
		if len(found) == f.Limit {
			break
		}
		if (f.Job == durable.ID{} || a.Job == f.Job) && (f.Before == 0 || a.Seq < f.Before) {
			found = append(found, a)
		}
	}
	return found, nil
}
