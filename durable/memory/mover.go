package memory

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

func compareIDs(a, b durable.ID) int { return bytes.Compare(a[:], b[:]) }

// Export calls each for every row of the store.
func (s *Store) Export(ctx context.Context, each func(store.Row) error) error {
	for _, row := range s.rows() {
		if err := cmp.Or(ctx.Err(), each(row)); err != nil {
			return err
		}
	}
	return nil
}

// rows returns all that the store keeps, in the order of Export.
func (s *Store) rows() (rows []store.Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := slices.SortedFunc(maps.Keys(s.mu.jobs), compareIDs)
	for _, id := range ids {
		rows = append(rows, store.Row{Job: new(*s.mu.jobs[id])})
	}
	for _, id := range ids {
		if u := s.mu.parents[id]; u != nil {
			after := &store.JobAfter{Job: id, Need: u.Need, Anyway: u.Anyway}
			for _, p := range u.parents {
				after.Parents = append(after.Parents, store.JobParent{ID: p.id, State: p.state})
			}
			rows = append(rows, store.Row{After: after})
		}
	}
	for _, id := range ids {
		for _, l := range s.mu.runs[id] {
			rows = append(rows, store.Row{Run: &store.KeptRun{Run: l.Run, Output: l.output}})
		}
	}
	for _, id := range ids {
		kept := slices.Clone(s.mu.steps[id])
		slices.SortStableFunc(kept, func(a, b durable.KeptStep) int { return a.At.Compare(b.At) }) // the clock may have been put back
		for _, k := range kept {
			rows = append(rows, store.Row{Step: &store.JobStep{Job: id, KeptStep: k}})
		}
	}
	for kind := range s.mu.paused {
		rows = append(rows, store.Row{Paused: &store.PausedKind{Kind: kind}})
	}
	for kind, full := range s.mu.full {
		rows = append(rows, store.Row{Bucket: &store.Bucket{Kind: kind, Full: full}})
	}
	for p, at := range s.mu.lines {
		rows = append(rows, store.Row{Turn: &store.Turn{Kind: p.kind, Priority: p.priority, Partition: p.name, At: at}})
	}
	for _, a := range s.mu.acts {
		rows = append(rows, store.Row{Act: new(a)})
	}
	return rows
}

// Import adds rows to an empty store.
func (s *Store) Import(ctx context.Context, rows iter.Seq2[store.Row, error]) error {
	var all []store.Row
	for row, err := range rows {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		all = append(all, row)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mu.jobs)+len(s.mu.paused)+len(s.mu.acts) > 0 {
		return store.ErrNotEmpty
	}
	for _, row := range all {
		s.importLocked(row)
	}
	return nil
}

func (s *Store) importLocked(row store.Row) {
	switch {
	case row.Job != nil:
		if s.mu.jobs[row.Job.ID] = new(*row.Job); row.Job.Key != "" {
			s.mu.keys[row.Job.Key] = row.Job.ID
		}
	case row.After != nil:
		u := &upbringing{ParentCounts: row.After.Counts()}
		for _, p := range row.After.Parents {
			u.parents = append(u.parents, parent{p.ID, p.State})
			if s.mu.children[p.ID] == nil {
				s.mu.children[p.ID] = make(map[durable.ID]bool)
			}
			s.mu.children[p.ID][row.After.Job] = true
		}
		s.mu.parents[row.After.Job] = u
	case row.Run != nil:
		s.mu.runs[row.Run.Job] = append(s.mu.runs[row.Run.Job], line{row.Run.Run, row.Run.Output})
	case row.Step != nil:
		s.mu.steps[row.Step.Job] = append(s.mu.steps[row.Step.Job], row.Step.KeptStep)
	case row.Paused != nil:
		s.mu.paused[row.Paused.Kind] = true
	case row.Bucket != nil:
		s.mu.full[row.Bucket.Kind] = row.Bucket.Full
	case row.Turn != nil:
		s.mu.lines[partition{row.Turn.Kind, row.Turn.Priority, row.Turn.Partition}] = row.Turn.At
	case row.Act != nil:
		a := *row.Act
		s.mu.lastAct++
		a.Seq = s.mu.lastAct
		s.mu.acts = append(s.mu.acts, a)
		s.mu.acts = slices.Delete(s.mu.acts, 0, max(len(s.mu.acts)-MostActs, 0))
	}
}
