package memory

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// An upbringing is what a job waits for.
type upbringing struct {
	store.ParentCounts
	parents []parent // in the order of NewJob.After
}

// A parent has its state as it was counted: Waiting until it has ended.
type parent struct {
	id    durable.ID
	state durable.State
}

// failed returns the first parent that has failed.
func (u *upbringing) failed() (durable.ID, durable.State, error) {
	for _, p := range u.parents {
		if p.state.Done() && p.state != durable.Succeeded {
			return p.id, p.state, nil
		}
	}
	return durable.ID{}, durable.Canceled, nil
}

// parentsLocked returns the error of jobs that are to be added if a parent is missing.
func (s *Store) parentsLocked(jobs []durable.NewJob) error {
	before := make(map[durable.ID]bool)
	for _, n := range jobs {
		there := s.mu.jobs[n.ID] != nil || n.Key != "" && s.mu.jobs[s.mu.keys[n.Key]] != nil // and needs them no more
		for _, id := range n.After.Parents {
			if s.mu.jobs[id] == nil && !before[id] && !there {
				return store.NoParent(id)
			}
		}
		before[n.ID] = true
	}
	return nil
}

// graftLocked gives a new job its parents. ids are those of the jobs that were added before it, by the IDs that they
// were to have.
func (s *Store) graftLocked(j *durable.Job, after store.After, ids map[durable.ID]durable.ID) {
	u := &upbringing{ParentCounts: store.ParentCounts{Total: len(after.Parents), Need: after.Need, Anyway: after.Anyway}}
	for _, id := range after.Parents {
		if as, ok := ids[id]; ok {
			id = as
		}
		p := parent{id: id}
		of := s.mu.jobs[id]
		if of.HasChildren = true; of.State.Done() {
			p.state = of.State
			u.Add(p.state, 1)
		}
		u.parents = append(u.parents, p)
		if s.mu.children[id] == nil {
			s.mu.children[id] = make(map[durable.ID]bool)
		}
		s.mu.children[id][j.ID] = true
	}
	s.mu.parents[j.ID] = u
	transition.Graft(j, u.ParentCounts, u.failed)
}

// endedLocked counts for their children those of the jobs that have ended, or are not there any more, and reports
// whether that has released one.
func (s *Store) endedLocked(now time.Time, ended ...durable.ID) (released bool) {
	for len(ended) > 0 {
		touched := make(map[durable.ID]bool)
		for _, id := range ended {
			state := durable.Canceled
			if j := s.mu.jobs[id]; j != nil {
				state = j.State
			}
			if !state.Done() {
				continue
			}
			for child := range s.mu.children[id] {
				u := s.mu.parents[child]
				for i := range u.parents {
					if p := &u.parents[i]; p.id == id && !p.state.Done() {
						p.state = state
						u.Add(state, 1)
						touched[child] = true
					}
				}
			}
		}
		ended = nil
		for child := range touched {
			j, u := s.mu.jobs[child], s.mu.parents[child]
			switch changed, _ := transition.Settle(j, u.ParentCounts, u.failed, now); {
			case !changed:
			case j.State == durable.Canceled:
				ended = append(ended, child)
			default:
				released = true
			}
		}
	}
	return released
}

// reviveLocked makes a job that was revived wait for those of its parents that have not ended.
func (s *Store) reviveLocked(j *durable.Job) {
	u := s.mu.parents[j.ID]
	if u == nil {
		return
	}
	u.Succeeded, u.Failed = 0, 0
	for i := range u.parents {
		p := &u.parents[i]
		if of := s.mu.jobs[p.id]; of != nil {
			p.state = durable.Waiting
			if of.State.Done() {
				p.state = of.State
			}
		}
		if p.state.Done() {
			u.Add(p.state, 1)
		}
	}
	transition.Block(j, u.ParentCounts)
}

// orphanLocked forgets the parents of a job that is removed.
func (s *Store) orphanLocked(id durable.ID) {
	u := s.mu.parents[id]
	if u == nil {
		return
	}
	for _, p := range u.parents {
		if delete(s.mu.children[p.id], id); len(s.mu.children[p.id]) == 0 {
			delete(s.mu.children, p.id)
		}
	}
	delete(s.mu.parents, id)
}

// awaitedLocked reports whether a child of a job has not ended.
func (s *Store) awaitedLocked(id durable.ID) bool {
	for child := range s.mu.children[id] {
		if !s.mu.jobs[child].State.Done() {
			return true
		}
	}
	return false
}

// Parents returns a page of a job's parents.
func (s *Store) Parents(ctx context.Context, id durable.ID, from, limit int) ([]durable.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.mu.parents[id]
	if u == nil || from >= len(u.parents) {
		return nil, nil
	}
	var page []durable.Job
	for _, p := range u.parents[from:min(len(u.parents), from+limit)] {
		j := durable.Job{ID: p.id, State: p.state}
		if of := s.mu.jobs[p.id]; of != nil {
			j = *of
		}
		page = append(page, j)
	}
	return page, nil
}

// Children returns a page of a job's children.
func (s *Store) Children(ctx context.Context, id, after durable.ID, limit int) ([]durable.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := slices.SortedFunc(maps.Keys(s.mu.children[id]), func(a, b durable.ID) int { return bytes.Compare(a[:], b[:]) })
	var page []durable.Job
	for _, child := range ids {
		if len(page) < limit && bytes.Compare(child[:], after[:]) > 0 {
			page = append(page, *s.mu.jobs[child])
		}
	}
	return page, nil
}

// CountChildren counts the children of a job.
func (s *Store) CountChildren(ctx context.Context, id durable.ID) ([]durable.Count, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var counts []durable.Count
	for child := range s.mu.children[id] {
		counts = counted(counts, s.mu.jobs[child])
	}
	return counts, nil
}

// CountParents returns how many parents of a job have ended.
func (s *Store) CountParents(ctx context.Context, id durable.ID) (store.ParentCounts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.mu.parents[id]
	if u == nil {
		return store.ParentCounts{}, durable.ErrNotFound
	}
	return u.ParentCounts, nil
}
