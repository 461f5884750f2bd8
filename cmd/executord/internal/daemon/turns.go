package daemon

import "sync"

// turns tells those that wait for the end of a run, of any job. The zero turns is ready.
type turns struct {
	mu   sync.Mutex
	turn chan struct{} // closed at the end of a run; nil if nobody waits
}

// next returns what is closed at the next end of a run.
func (t *turns) next() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.turn == nil {
		t.turn = make(chan struct{})
	}
	return t.turn
}

// end notes the end of a run.
func (t *turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.turn != nil {
		close(t.turn)
		t.turn = nil
	}
}
