package web

import (
	"net/http"
	"sync"
	"time"
)

const (
	// wrongBurst is how many wrong tokens are answered at once, and wrongEvery after how long one more is. Others are
	// answered after wrongHold. They are documented. Right ones never wait.
	wrongBurst = 20
	wrongEvery = 100 * time.Millisecond
	wrongHold  = time.Second
)

// wrongs counts wrong tokens.
type wrongs struct {
	mu    sync.Mutex
	n     int
	since time.Time // as many have to be answered at once as of wrongEvery have passed since, wrongBurst at most
	told  minutely
}

// add counts one more. It returns how many there were, whether to hold the answer, and whether to say so.
func (w *wrongs) add(now time.Time) (n int, hold, say bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
	if first := now.Add(-wrongBurst * wrongEvery); w.since.Before(first) {
		w.since = first
	}
	if hold = now.Sub(w.since) < wrongEvery; !hold {
		w.since = w.since.Add(wrongEvery)
	}
	return w.n, hold, w.told.due(now)
}

// count returns how many there were.
func (w *wrongs) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}

// wrong notes a request with a wrong token, and holds its answer if there are many. The connection is idle meanwhile.
func (s *Server) wrong(r *http.Request) {
	n, hold, say := s.wrongs.add(time.Now())
	if say {
		s.Log.Warn("wrong token", "from", s.from(r), "wrong", n,
			"hint", "wrong counts from the start; a client has a token that is none any more, or somebody tries tokens")
	}
	if !hold {
		return
	}
	timer := time.NewTimer(wrongHold)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}
