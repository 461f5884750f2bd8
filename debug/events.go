package debug

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	tickTime   = time.Second      // between two updates
	writeTime  = 10 * time.Second // in which a browser must have taken one
	streamTime = 10 * time.Minute // after which the browser is to connect anew
	maxStreams = 100
)

// serveEvents sends the part of a page that changes, whenever it has. It runs in the goroutine
// of the request, until the browser or the server closes the connection.
func (h *handler) serveEvents(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v, err := viewOf(q.Get("view"), q)
	if err != nil {
		http.Error(w, "debug: "+err.Error(), http.StatusBadRequest)
		return
	}
	ending, ok := h.enterStream(r)
	if !ok {
		w.Header().Set("Retry-After", "10")
		http.Error(w, fmt.Sprintf("debug: there are %d streams, which is the most; close some pages", maxStreams),
			http.StatusServiceUnavailable)
		return
	}
	defer h.leaveStream()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // for a proxy
	if r.Method == http.MethodHead {
		return
	}

	s := stream{w: w, control: http.NewResponseController(w)}
	s.send("retry: 1000\n\n")
	ticker := time.NewTicker(tickTime)
	defer ticker.Stop()
	over := time.NewTimer(streamTime)
	defer over.Stop()
	for s.err == nil {
		main, err := h.looked().fragment(v)
		if err != nil {
			s.send(message("gone", err.Error()))
			return
		}
		s.update(main)
		select {
		case <-ticker.C:
		case <-over.C:
			return
		case <-ending:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// stream is a connection to a browser.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	sent    []byte // the latest update
	err     error
}

// update sends main unless it was sent just before.
func (s *stream) update(main []byte) {
	if bytes.Equal(main, s.sent) {
		s.send(":\n\n") // finds out whether the browser is there
		return
	}
	s.sent = main
	s.send(message("main", string(main)))
}

// message returns a server-sent event. Its data is a string of JSON, on one line whatever is in
// the text: a carriage return in an event would begin a field of its own.
func message(event, text string) string {
	var b bytes.Buffer
	b.WriteString("event: " + event + "\ndata: ")
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(text) // ends with a newline; a string has no error
	b.WriteString("\n")
	return b.String()
}

func (s *stream) send(text string) {
	if s.err != nil {
		return
	}
	s.control.SetWriteDeadline(time.Now().Add(writeTime)) // in place of Server.WriteTimeout, where there is one
	if _, s.err = s.w.Write([]byte(text)); s.err == nil {
		s.err = s.control.Flush()
	}
}

// enterStream counts a stream, unless there are too many. It returns a channel that is closed when
// the request's server shuts down, which would wait for the stream.
func (h *handler) enterStream(r *http.Request) (ending <-chan struct{}, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.streams >= maxStreams {
		return nil, false
	}
	h.streams++
	server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if !ok {
		return nil, true
	}
	c := h.ending[server]
	if c == nil {
		c = make(chan struct{})
		h.ending[server] = c
		server.RegisterOnShutdown(func() { close(c) })
	}
	return c, true
}

func (h *handler) leaveStream() {
	h.mu.Lock()
	h.streams--
	h.mu.Unlock()
}
