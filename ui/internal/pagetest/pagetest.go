// Package pagetest has a browser for tests of live updates.
package pagetest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// Listener is a browser that receives events.
type Listener struct {
	ended chan struct{}

	mu     sync.Mutex
	header http.Header
	status int
	body   bytes.Buffer
}

// Listen has a browser receive the events of a view of h until ctx ends. The view may have more of a query, as
// "pool&id=1".
func Listen(ctx context.Context, h http.Handler, view string) *Listener {
	l := &Listener{ended: make(chan struct{}), header: make(http.Header)}
	go func() {
		defer close(l.ended)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/events?view="+view, nil)
		if err != nil {
			panic(err)
		}
		r.Host, r.RemoteAddr = "localhost:8080", "127.0.0.1:40000"
		h.ServeHTTP(l, r)
	}()
	return l
}

// Header returns the header of the answer.
func (l *Listener) Header() http.Header { return l.header }

// Flush does nothing: what was written is there.
func (l *Listener) Flush() {}

// WriteHeader notes the status.
func (l *Listener) WriteHeader(status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status = status
}

// Write notes a part of the answer.
func (l *Listener) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.body.Write(b)
}

// Ended returns a channel that is closed when the stream has ended.
func (l *Listener) Ended() <-chan struct{} { return l.ended }

// HasEnded reports whether the stream has ended.
func (l *Listener) HasEnded() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// Refused returns the status of a stream that was refused, 0 if it was not.
func (l *Listener) Refused() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

// Events parses what came so far as a browser does: also a carriage return ends a line. Points are left out.
func (l *Listener) Events(t testing.TB) (events [][2]string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.ReplaceAll(strings.ReplaceAll(l.body.String(), "\r\n", "\n"), "\r", "\n")
	for block := range strings.SplitSeq(text, "\n\n") {
		var event [2]string
		for line := range strings.Lines(block) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "event":
				event[0] = value
			case "data":
				if event[1] != "" {
					t.Errorf("an event has two lines of data")
				}
				var data any
				if err := json.Unmarshal([]byte(value), &data); err != nil {
					t.Errorf("data is no JSON: %v", err)
				}
				event[1], _ = data.(string)
			case "", "retry", ":":
			default:
				t.Errorf("an unknown field %.60q", line)
			}
		}
		if event[0] != "" && event[0] != "point" {
			events = append(events, event)
		}
	}
	return events
}
