package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	tickTime   = time.Second      // between two updates
	writeTime  = 10 * time.Second // in which a browser must have taken one
	streamTime = 10 * time.Minute // after which the browser is to connect anew
	maxStreams = 100
)

// serveEvents sends the part of a page that changes, whenever it has. It runs in the goroutine of the request, until
// the browser, the server or Close ends it.
func (u *UI) serveEvents(w http.ResponseWriter, r *http.Request, access Access) {
	q := r.URL.Query()
	v, err := u.viewOf(q.Get("view"), q, access)
	if err != nil {
		http.Error(w, "ui: "+err.Error(), http.StatusBadRequest)
		return
	}
	ending, err := u.streams.enter(r)
	if err != nil {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "ui: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer u.streams.leave()
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
		f, err := u.fragment(r.Context(), v)
		if err != nil {
			s.send(message("gone", err.Error()))
			return
		}
		s.update(f)
		select {
		case <-ticker.C:
		case <-over.C:
			return
		case <-ending:
			return
		case <-u.streams.closed:
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
	html    []byte // the latest update
	point   string
	err     error
}

// update sends what has changed in f.
func (s *stream) update(f *fragment) {
	text := ""
	if !bytes.Equal(f.html, s.html) {
		s.html = f.html
		text = message("main", string(f.html))
	}
	if f.point != s.point {
		s.point = f.point
		text += "event: point\ndata: " + f.point + "\n\n"
	}
	if text == "" {
		text = ":\n\n" // finds out whether the browser is there
	}
	s.send(text)
}

// message returns a server-sent event. Its data is a string of JSON, on one line whatever is in the text: a carriage
// return in an event would begin a field of its own.
func message(event, text string) string {
	var b bytes.Buffer
	b.WriteString("event: " + event + "\ndata: ")
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil { // ends with a newline
		panic("ui: " + err.Error())
	}
	b.WriteString("\n")
	return b.String()
}

func (s *stream) send(text string) {
	if s.err != nil {
		return
	}
	// In place of Server.WriteTimeout, where there is one. The error of a writer without deadlines does not matter.
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTime))
	if _, s.err = s.w.Write([]byte(text)); s.err == nil {
		s.err = s.control.Flush()
	}
}

// streams are the connections of browsers that are open.
type streams struct {
	closed chan struct{} // by Close

	mu     sync.Mutex
	over   bool
	open   int
	ending map[*http.Server]chan struct{}
	left   chan struct{} // closed when the last has left after Close
}

func newStreams() streams {
	return streams{closed: make(chan struct{}), left: make(chan struct{}), ending: make(map[*http.Server]chan struct{})}
}

// enter counts a stream, unless there are too many. It returns a channel that is closed when the request's server shuts
// down, which would wait for the stream.
func (s *streams) enter(r *http.Request) (ending <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		return nil, fmt.Errorf("there are no live updates any more, since the page was closed")
	case s.open >= maxStreams:
		return nil, fmt.Errorf("there are %d live pages, which is the most; close some", maxStreams)
	}
	s.open++
	server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if !ok {
		return nil, nil
	}
	c := s.ending[server]
	if c == nil {
		c = make(chan struct{})
		s.ending[server] = c
		server.RegisterOnShutdown(func() { close(c) })
	}
	return c, nil
}

func (s *streams) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open--; s.over && s.open == 0 {
		close(s.left)
	}
}

// close ends all streams and waits for them.
func (s *streams) close() {
	s.mu.Lock()
	if !s.over {
		s.over = true
		close(s.closed)
		if s.open == 0 {
			close(s.left)
		}
	}
	s.mu.Unlock()
	<-s.left
}
