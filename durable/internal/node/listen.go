package node

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// maxHintPause is the longest pause between two polls for the sake of hints. All nodes get each hint, and mostly one of
// them finds something.
const maxHintPause = 50 * time.Millisecond

// hints passes the store's hints on. Each is a poll. Where polls lead to nothing, since other nodes are quicker, hints
// that follow each other soon become one, over ever longer pauses.
type hints struct {
	n  *Node
	mu struct {
		sync.Mutex
		pause  time.Duration // between two polls; 0 as long as they lead to something
		last   time.Time     // when the last one was asked for
		gained int64         // what the node had claimed by then
		armed  bool          // one is asked for at the end of the pause
	}
}

func (h *hints) hint() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.armed {
		return
	}
	if h.mu.pause = min(max(2*h.mu.pause, time.Millisecond), maxHintPause); h.n.gained.Load() != h.mu.gained {
		h.mu.pause = 0
	}
	if left := h.mu.pause - time.Since(h.mu.last); left > 0 {
		h.mu.armed = true
		time.AfterFunc(left, h.pollNow)
		return
	}
	h.pollLocked()
}

func (h *hints) pollNow() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.armed = false
	h.pollLocked()
}

func (h *hints) pollLocked() {
	h.mu.last, h.mu.gained = time.Now(), h.n.gained.Load()
	h.n.Wake()
}

// listenLoop passes the store's hints on, if the store has any.
func (n *Node) listenLoop(ctx context.Context) {
	if n.cfg.Parts.Listener == nil {
		return
	}
	outage := n.outage("listen")
	h := &hints{n: n}
	var mu sync.Mutex // guards outage: a store may call wake in any goroutine
	over := func(err error) (pause time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		if !outage.over(err) {
			pause = outage.delay()
		}
		return pause
	}
	for ctx.Err() == nil {
		begun := time.Now()
		var listened atomic.Bool
		err := n.cfg.Parts.Listener.Listen(ctx, func() {
			listened.Store(true)
			over(nil)
			h.hint()
		})
		if ctx.Err() != nil {
			return
		}
		pause := over(err)
		if err != nil && listened.Load() && time.Since(begun) < time.Second {
			pause = time.Second // it comes and goes: let the log have little of that
		}
		sleep(ctx, pause)
	}
}
