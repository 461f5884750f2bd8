package executor

import (
	"sync"

	"github.com/executor-go/executor/internal/list"
)

// registry has the work of the series of a pool that are not done, in the order of their submission. Its lock is taken
// with no other held.
type registry struct {
	mu  sync.Mutex
	all list.List[work]
	n   int
}

// add adds m, which is to be removed once its series is done.
func (r *registry) add(m *list.Node[work]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all.PushBack(m)
	r.n++
}

// remove removes m, if it is there.
func (r *registry) remove(m *list.Node[work]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Value != nil {
		m.Value = nil
		r.all.Remove(m)
		r.n--
	}
}

func (r *registry) snapshot() []work {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]work, 0, r.n)
	for m := r.all.First(); m != nil; m = m.Next() {
		all = append(all, m.Value)
	}
	return all
}
