package rows

import (
	"context"
	"slices"

	"github.com/executor-go/executor/durable/store"
)

// MostActs is how many entries of the audit log a Store keeps: the latest ones.
const MostActs = 1000

// NoteAct adds an entry to the audit log, and removes those that are too old, or too many.
func (s *Store) NoteAct(ctx context.Context, a store.Act) error {
	return s.do(ctx, func(t *Tx) {
		for seq, old := range t.acts.scan {
			if t.now.Sub(old.At) > store.KeepActs {
				t.acts.del(seq)
			}
		}
		a.At = t.now
		t.note(a)
	})
}

// note adds an entry to the audit log, and removes the one that is too many.
func (t *Tx) note(a store.Act) {
	last, _ := t.lastAct.get(struct{}{})
	a.Seq = last + 1
	t.lastAct.put(struct{}{}, a.Seq)
	t.acts.put(a.Seq, a)
	t.acts.del(a.Seq - MostActs)
}

// Acts returns entries of the audit log, the latest first.
func (s *Store) Acts(ctx context.Context, f store.ActFilter) ([]store.Act, error) {
	return look(ctx, s, func(t *Tx) (found []store.Act) {
		for _, a := range t.allActs() {
			if (f.Job == store.ID{} || a.Job == f.Job) && (f.Before == 0 || a.Seq < f.Before) && len(found) < f.Limit {
				found = append(found, *a)
			}
		}
		return found
	})
}

// allActs returns the audit log, the latest entry first.
func (t *Tx) allActs() (all []*store.Act) {
	for _, a := range t.acts.scan {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *store.Act) int { return int(b.Seq - a.Seq) })
	return all
}
