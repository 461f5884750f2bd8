package rows

import (
	"cmp"
	"context"
	"slices"

	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// checkParents returns the error of jobs that are to be added if a parent is missing.
func (t *Tx) checkParents(jobs []store.NewJob) error {
	before := make(map[store.ID]bool, len(jobs))
	for _, n := range jobs {
		if len(n.After.Parents) > 0 {
			_, there, reused := t.other(n)
			for _, id := range n.After.Parents {
				if there || reused {
					break // it needs them no more
				}
				if _, ok := t.jobs.get(id); !ok && !before[id] {
					return store.NoParent(id)
				}
			}
		}
		before[n.ID] = true
	}
	return nil
}

// graft gives a new job its parents. ids are those of the jobs that were added before it, by the IDs that they were to
// have.
func (t *Tx) graft(j *store.Job, after store.After, ids map[store.ID]store.ID) {
	c := store.ParentCounts{Total: len(after.Parents), Need: after.Need, Anyway: after.Anyway}
	for nth, id := range after.Parents {
		if as, ok := ids[id]; ok {
			id = as
		}
		// Written even if it has children already: what ends it at the same time then decides again, and finds the child.
		of, _ := t.jobs.get(id)
		of.HasChildren = true
		t.jobs.put(id, of)
		state := store.Waiting
		if of.State.Done() {
			state = of.State
			c.Add(state, 1)
		}
		t.join(j.ID, nth, id, state)
	}
	t.counts.put(j.ID, c)
	transition.Graft(j, c, t.failed(j.ID))
}

// join makes a job the nth parent of another.
func (t *Tx) join(child store.ID, nth int, parent store.ID, state store.State) {
	t.parents.put(edge{child, nth, parent}, state)
	t.children.put(edge{parent, nth, child}, struct{}{})
}

// A parent is one of a job, with its state as it was counted.
type parent struct {
	edge
	state store.State
}

// parentsOf returns the parents of a job, in their order.
func (t *Tx) parentsOf(child store.ID) (all []parent) {
	for e, state := range t.parents.of(child) {
		all = append(all, parent{e, *state})
	}
	slices.SortFunc(all, func(a, b parent) int { return cmp.Compare(a.nth, b.nth) })
	return all
}

// failed returns what finds the first parent that has failed.
func (t *Tx) failed(child store.ID) func() (store.ID, store.State, error) {
	return func() (store.ID, store.State, error) {
		for _, p := range t.parentsOf(child) {
			if p.state.Done() && p.state != store.Succeeded {
				return p.to, p.state, nil
			}
		}
		return store.ID{}, store.Canceled, nil
	}
}

// mostTold is how many children of jobs that have ended count that in a transaction. Heartbeats do the rest.
const mostTold = 10_000

// tell counts for their children those of the jobs that have ended, or are not there any more, and reports whether that
// has released one.
func (t *Tx) tell(ended ...store.ID) (released bool) {
	for len(ended) > 0 {
		touched := make(map[store.ID]bool)
		for _, id := range ended {
			state := store.Canceled
			if j := t.jobs.look(id); j != nil {
				state = j.State
			}
			if !state.Done() {
				continue
			}
			for e := range t.children.of(id) {
				if t.told == mostTold {
					break
				}
				if t.count(edge{e.to, e.nth, id}, state) {
					touched[e.to] = true
					t.told++
				}
			}
		}
		ended = nil
		for child := range touched {
			j, _ := t.jobs.get(child)
			c, _ := t.counts.get(child)
			if changed, _ := transition.Settle(&j, c, t.failed(child), t.now); !changed {
				continue
			}
			if t.jobs.put(child, j); j.State == store.Canceled {
				ended = append(ended, child)
			} else {
				released = true
			}
		}
	}
	return released
}

// count counts a parent that has ended, unless it was counted before.
func (t *Tx) count(e edge, state store.State) bool {
	if counted, ok := t.parents.get(e); !ok || counted.Done() {
		return false
	}
	t.parents.put(e, state)
	c, _ := t.counts.get(e.from)
	c.Add(state, 1)
	t.counts.put(e.from, c)
	return true
}

// revive has a job that was revived wait for those of its parents that have not ended.
func (t *Tx) revive(j *store.Job) {
	c, ok := t.counts.get(j.ID)
	if !ok {
		return
	}
	c.Succeeded, c.Failed = 0, 0
	for _, p := range t.parentsOf(j.ID) {
		if of := t.jobs.look(p.to); of != nil { // its end writes the counts
			if p.state = store.Waiting; of.State.Done() {
				p.state = of.State
			}
			t.parents.put(p.edge, p.state)
		}
		if p.state.Done() {
			c.Add(p.state, 1)
		}
	}
	t.counts.put(j.ID, c)
	transition.Block(j, c)
}

// orphan forgets the parents of a job that is removed.
func (t *Tx) orphan(id store.ID) {
	for e := range t.parents.of(id) {
		t.parents.del(e)
		t.children.del(edge{e.to, e.nth, id})
	}
	t.counts.del(id)
}

// awaited reports whether a child of a job has not ended.
func (t *Tx) awaited(j *store.Job) bool {
	if !j.HasChildren {
		return false
	}
	for e := range t.children.of(j.ID) {
		if child := t.jobs.look(e.to); child != nil && !child.State.Done() {
			return true
		}
	}
	return false
}

// Parents returns a page of a job's parents.
func (s *Store) Parents(ctx context.Context, id store.ID, from, limit int) ([]store.Job, error) {
	return look(ctx, s, func(t *Tx) (page []store.Job) {
		all := t.parentsOf(id)
		for _, p := range all[min(from, len(all)):min(from+limit, len(all))] {
			j := store.Job{ID: p.to, State: p.state}
			if of := t.jobs.look(p.to); of != nil {
				j = *of
			}
			page = append(page, j)
		}
		return page
	})
}

// childrenOf returns the children of a job, in the order of their IDs.
func (t *Tx) childrenOf(id store.ID) (all []*store.Job) {
	for e := range t.children.of(id) {
		if j := t.jobs.look(e.to); j != nil {
			all = append(all, j)
		}
	}
	slices.SortFunc(all, func(a, b *store.Job) int { return compareIDs(a.ID, b.ID) })
	return slices.Compact(all) // of one that has a parent twice
}

// Children returns a page of a job's children.
func (s *Store) Children(ctx context.Context, id, after store.ID, limit int) ([]store.Job, error) {
	return look(ctx, s, func(t *Tx) (page []store.Job) {
		for _, j := range t.childrenOf(id) {
			if len(page) < limit && compareIDs(j.ID, after) > 0 {
				page = append(page, *j)
			}
		}
		return page
	})
}

// CountChildren counts the children of a job.
func (s *Store) CountChildren(ctx context.Context, id store.ID) ([]store.Count, error) {
	return look(ctx, s, func(t *Tx) (counts []store.Count) {
		for _, j := range t.childrenOf(id) {
			counts = counted(counts, j)
		}
		return counts
	})
}

// CountParents returns how many parents of a job have ended.
func (s *Store) CountParents(ctx context.Context, id store.ID) (store.ParentCounts, error) {
	return answer(ctx, s, func(t *Tx) (store.ParentCounts, error) { return found(t.counts.get(id)) })
}
