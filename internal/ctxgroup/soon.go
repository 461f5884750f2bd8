package ctxgroup

import (
	"context"
	"runtime"
	"runtime/pprof"

	"github.com/executor-go/executor/internal/spinlock"
)

// Soon calls a function for each of many values, in order, in one goroutine at a time, which lets others run before it
// begins. So a value that is needed for an instant only can be passed over. It is safe for concurrent use. It must not
// be copied.
type Soon[E any] struct {
	// Call is called with no lock held. It must be set before the first Add.
	Call func(E)

	mu      spinlock.Mutex
	added   []E
	calling bool // there is a goroutine

	values []E // taken from added; the goroutine's own, as the next
	called int // the number of values for which Call was called
}

// Add has Call called for a value.
func (s *Soon[E]) Add(value E) {
	s.mu.Lock()
	s.added = append(s.added, value)
	begin := !s.calling
	s.calling = true
	s.mu.Unlock()
	if begin {
		go func() {
			pprof.SetGoroutineLabels(context.Background()) // it serves others than the caller, too
			runtime.Gosched()
			for value, ok := s.next(); ok; value, ok = s.next() {
				s.Call(value)
			}
		}()
	}
}

// keptValues is the number of values whose room is kept for later ones, twice.
const keptValues = 256

// next returns the next value, or reports that there is none, and the goroutine is to end.
func (s *Soon[E]) next() (value E, ok bool) {
	if s.called == len(s.values) && !s.take() {
		return value, false
	}
	value = s.values[s.called]
	s.called++
	return value, true
}

// take takes what was added since, and reports whether there was something.
func (s *Soon[E]) take() bool {
	clear(s.values)
	room := s.values[:0]
	if cap(room) > keptValues {
		room = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values, s.added, s.called = s.added, room, 0
	s.calling = len(s.values) > 0
	return s.calling
}
