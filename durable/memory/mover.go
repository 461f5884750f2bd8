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
	"github.com/executor-go/executor/durable/store/transition"
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

// Import adds rows, all or none.
func (s *Store) Import(ctx context.Context, rows iter.Seq2[store.Row, error], add bool) (store.ImportResult, error) {
	var all []store.Row
	for row, err := range rows {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return store.ImportResult{}, err
		}
		all = append(all, row)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !add && len(s.mu.jobs)+len(s.mu.paused)+len(s.mu.acts) > 0 {
		return store.ImportResult{}, store.ErrNotEmpty
	}
	left, err := s.fitLocked(all)
	if err != nil {
		return store.ImportResult{}, err
	}
	r := store.ImportResult{There: len(left)}
	for _, row := range all {
		s.importLocked(row, left, add, &r)
	}
	return r, nil
}

// fitLocked returns the jobs among rows that are there, or why the rows can't be added.
func (s *Store) fitLocked(rows []store.Row) (left map[durable.ID]bool, err error) {
	left = make(map[durable.ID]bool)
	keys, added := make(map[string]durable.ID), make(map[durable.ID]bool)
	for _, row := range rows {
		switch {
		case row.Job != nil && s.mu.jobs[row.Job.ID] != nil:
			left[row.Job.ID] = true
		case row.Job != nil:
			j := row.Job
			added[j.ID] = true
			if j.Key == "" {
				continue
			}
			other, taken := s.mu.keys[j.Key]
			if !taken {
				other, taken = keys[j.Key]
			}
			if taken {
				return nil, store.KeyInUse(j.ID, other, j.Key)
			}
			keys[j.Key] = j.ID
		case row.After != nil && !left[row.After.Job]:
			for _, p := range row.After.Parents {
				if !p.State.Done() && !added[p.ID] && s.mu.jobs[p.ID] == nil {
					return nil, store.LostParent(row.After.Job, p.ID)
				}
			}
		}
	}
	return left, nil
}

// importLocked adds a row, unless it belongs to a job that is left alone.
func (s *Store) importLocked(row store.Row, left map[durable.ID]bool, add bool, r *store.ImportResult) {
	now := s.nowLocked()
	switch {
	case row.Job != nil && !left[row.Job.ID]:
		j := new(*row.Job)
		if r.Jobs++; j.State.Held() {
			r.Freed++
			if run, ok := transition.Reap(j, now); ok {
				s.mu.runs[j.ID] = append(s.mu.runs[j.ID], line{Run: run})
			}
			if j.State == durable.Dead {
				r.Dead++
			}
		}
		if s.mu.jobs[j.ID] = j; j.Key != "" {
			s.mu.keys[j.Key] = j.ID
		}
	case row.After != nil && !left[row.After.Job]:
		s.regraftLocked(row.After)
	case row.Run != nil && !left[row.Run.Job]:
		lines := append(s.mu.runs[row.Run.Job], line{row.Run.Run, row.Run.Output})
		// What Reap has added comes after it.
		slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.Seq, b.Seq) })
		s.mu.runs[row.Run.Job] = lines
	case row.Step != nil && !left[row.Step.Job]:
		s.mu.steps[row.Step.Job] = append(s.mu.steps[row.Step.Job], row.Step.KeptStep)
	case row.Paused != nil:
		s.mu.paused[row.Paused.Kind] = true
	case row.Bucket != nil:
		if b := row.Bucket; b.Full.After(s.mu.full[b.Kind]) {
			s.mu.full[b.Kind] = b.Full
		}
	case row.Turn != nil:
		p := partition{row.Turn.Kind, row.Turn.Priority, row.Turn.Partition}
		if at, ok := s.mu.lines[p]; !ok || row.Turn.At.Before(at) {
			s.mu.lines[p] = row.Turn.At
		}
	case row.Act != nil:
		s.reactLocked(*row.Act, add)
	}
}

// regraftLocked gives a job that was imported its parents, and settles it if these have ended.
func (s *Store) regraftLocked(after *store.JobAfter) {
	u := &upbringing{ParentCounts: store.ParentCounts{Total: len(after.Parents), Need: after.Need, Anyway: after.Anyway}}
	for _, p := range after.Parents {
		of := s.mu.jobs[p.ID]
		if of != nil {
			of.HasChildren = true
		}
		if !p.State.Done() && of.State.Done() {
			p.State = of.State // here, or when it was freed
		}
		if p.State.Done() {
			u.Add(p.State, 1)
		}
		u.parents = append(u.parents, parent{p.ID, p.State})
		if s.mu.children[p.ID] == nil {
			s.mu.children[p.ID] = make(map[durable.ID]bool)
		}
		s.mu.children[p.ID][after.Job] = true
	}
	s.mu.parents[after.Job] = u
	j, now := s.mu.jobs[after.Job], s.nowLocked()
	j.HasParents = true
	if changed, _ := transition.Settle(j, u.ParentCounts, u.failed, now); changed {
		s.endedLocked(now, j.ID)
	}
}

// reactLocked adds an act that was noted elsewhere, unless it may be there, and is.
func (s *Store) reactLocked(a durable.Act, maybe bool) {
	same := func(b durable.Act) bool {
		a.Seq = b.Seq
		return a == b
	}
	if maybe && slices.ContainsFunc(s.mu.acts, same) {
		return
	}
	s.mu.lastAct++
	a.Seq, a.At = s.mu.lastAct, a.At.UTC()
	s.mu.acts = append(s.mu.acts, a)
	s.mu.acts = slices.Delete(s.mu.acts, 0, max(len(s.mu.acts)-MostActs, 0))
}
