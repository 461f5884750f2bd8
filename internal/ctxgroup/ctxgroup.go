// Package ctxgroup calls a function for each of many values when the value's context
// ends, with one context.AfterFunc for all contexts that share a Done channel.
//
// A million tasks may be submitted with one context. An AfterFunc for each of them
// would start a million goroutines when it ends. Here one goroutine handles all
// members of the group, one after the other, in the order in which they were added.
// See docs/design/decisions/outcomes.md.
//
//	Set ── Done channel ──▶ group ── AfterFunc ── members
//	    └─ Done channel ──▶ group ── AfterFunc ── members
package ctxgroup

import (
	"context"
	"maps"

	"github.com/executor-go/executor/internal/list"
	"github.com/executor-go/executor/internal/spinlock"
)

// A Set is a set of members, grouped by the Done channels of their contexts. Contexts
// with the same channel, as those that only add a value, end together. A Set is safe
// for concurrent use. It must not be copied.
type Set[E any] struct {
	// Ended is called for each member whose context has ended, with no lock held and after
	// the member was removed. It must be set before the first Add.
	Ended func(value E, ctx context.Context)

	mu     spinlock.Mutex // no other lock is taken under it, and no context is called
	groups map[<-chan struct{}]*group[E]
	peak   int // most groups since the map was made
}

// A group is in its Set as long as it has members. Its AfterFunc is pending as long,
// or the goroutine that added the first member will see that the channel is closed.
// The AfterFunc retains the context of the first member.
type group[E any] struct {
	done    <-chan struct{}
	stop    func() bool // stops the AfterFunc
	members list.List[member[E]]
	ending  bool // end takes the members, and removes the group after the last
}

// A Member is a value in a Set.
type Member[E any] struct{ node list.Node[member[E]] }

type member[E any] struct {
	set   *Set[E]
	group *group[E] // nil once it was removed; under set.mu
	value E
	ctx   context.Context
}

// NewMember returns a member that is in no group yet.
func (s *Set[E]) NewMember(value E, ctx context.Context) *Member[E] {
	return &Member[E]{list.Node[member[E]]{Value: member[E]{set: s, value: value, ctx: ctx}}}
}

// Add adds m to the group of done, which is the Done channel of its context. It may
// call methods of the context.
func (s *Set[E]) Add(m *Member[E], done <-chan struct{}) {
	if !s.joinGroup(m, done) {
		s.addFirst(m, done)
	}
}

// AddOrEnd is Add for a goroutine that may call Ended itself.
func (s *Set[E]) AddOrEnd(m *Member[E], done <-chan struct{}) {
	if s.joinGroup(m, done) {
		return
	}
	select {
	case <-done:
		s.Ended(m.node.Value.value, m.node.Value.ctx)
	default:
		s.addFirst(m, done)
	}
}

// addFirst is Add for a member that has found no group.
func (s *Set[E]) addFirst(m *Member[E], done <-chan struct{}) {
	stop := context.AfterFunc(m.node.Value.ctx, func() { s.end(done) })
	if !s.makeGroup(m, done, stop) {
		stop()
		return
	}
	select {
	case <-done:
		// The AfterFunc may have run before there was a group. This goroutine must not
		// do its work, since the caller may hold what the other members wait for.
		go s.end(done)
	default:
	}
}

// joinGroup adds m to the group of done and reports whether there is one.
func (s *Set[E]) joinGroup(m *Member[E], done <-chan struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.groups[done]
	if g != nil {
		g.add(m)
	}
	return g != nil
}

// makeGroup adds m to the group of done, and reports whether that is a new group, whose
// AfterFunc is stopped by stop.
func (s *Set[E]) makeGroup(m *Member[E], done <-chan struct{}, stop func() bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.groups[done]
	fresh := g == nil
	if fresh {
		if s.groups == nil {
			s.groups = make(map[<-chan struct{}]*group[E])
		}
		g = &group[E]{done: done, stop: stop}
		s.groups[done] = g
		s.peak = max(s.peak, len(s.groups))
	}
	g.add(m)
	return fresh
}

func (g *group[E]) add(m *Member[E]) {
	m.node.Value.group = g
	g.members.PushBack(&m.node)
}

// Remove removes m. It does nothing if m is in no group.
func (m *Member[E]) Remove() {
	s := m.node.Value.set
	s.mu.Lock()
	stop := s.removeLocked(&m.node)
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// removeLocked removes a member. If its group is empty then, it returns what stops
// the AfterFunc, to be called without the lock.
func (s *Set[E]) removeLocked(n *list.Node[member[E]]) (stop func() bool) {
	g := n.Value.group
	if g == nil {
		return nil
	}
	n.Value.group = nil
	g.members.Remove(n)
	if g.ending || g.members.First() != nil {
		return nil
	}
	s.dropLocked(g)
	return g.stop
}

// dropLocked removes a group without members.
func (s *Set[E]) dropLocked(g *group[E]) {
	delete(s.groups, g.done)
	s.shrinkLocked()
}

// keptRoom is the number of groups whose room in the map is kept for later ones.
const keptRoom = 1024

// shrinkLocked copies the map when most of its groups have gone, since a map keeps
// the room of what was deleted.
func (s *Set[E]) shrinkLocked() {
	if s.peak <= keptRoom || len(s.groups) > s.peak/4 {
		return
	}
	groups := make(map[<-chan struct{}]*group[E], len(s.groups))
	maps.Copy(groups, s.groups)
	s.groups, s.peak = groups, len(groups)
}

// end removes all members of the group of done, which is closed, also members that are
// added meanwhile, and calls Ended for each.
func (s *Set[E]) end(done <-chan struct{}) {
	for n := s.first(done); n != nil; n = s.first(done) {
		s.Ended(n.Value.value, n.Value.ctx)
	}
}

// first removes and returns the first member of the group of done. If there is none, it
// removes the group.
func (s *Set[E]) first(done <-chan struct{}) *list.Node[member[E]] {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.groups[done]
	if g == nil {
		return nil
	}
	g.ending = true
	n := g.members.First()
	if n == nil {
		s.dropLocked(g)
		return nil
	}
	s.removeLocked(n)
	return n
}
