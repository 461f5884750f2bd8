package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	tickTime   = time.Second      // between two updates
	writeTime  = 10 * time.Second // in which a browser must have taken one
	streamTime = 10 * time.Minute // after which the browser is to connect anew
	maxStreams = 100
)

// Streams is the set of connections of browsers that get live updates. NewStreams makes one.
type Streams struct {
	prefix string          // of error texts
	closed context.Context // ended by Close
	end    context.CancelFunc

	mu      sync.Mutex
	open    int
	serving map[*http.Server]context.Context // ended by the server's Shutdown, and by Close
	left    chan struct{}                    // closed when the last has left after Close
}

// NewStreams returns Streams whose error texts begin with name, that of a package.
func NewStreams(name string) *Streams {
	closed, end := context.WithCancel(context.Background())
	return &Streams{
		prefix: name + ": ", closed: closed, end: end,
		left: make(chan struct{}), serving: make(map[*http.Server]context.Context),
	}
}

// Update is what has changed.
type Update struct {
	Main  []byte // what is in <main>; the same slice or bytes as before is not sent again
	Point string // JSON on one line, the newest values of charts; "" for none
}

// Serve sends what look returns, at most once in a second and only if it has changed, as server-sent events: "main"
// with a string in JSON, and "point". An error of look ends it with the event "gone". It runs in the goroutine of the
// request, until the browser, the server or Close ends it.
func (s *Streams) Serve(w http.ResponseWriter, r *http.Request, look func() (Update, error)) {
	serving, err := s.enter(r)
	if err != nil {
		w.Header().Set("Retry-After", "10")
		http.Error(w, s.prefix+err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer s.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // for a proxy
	zipped := acceptsGzip(r)
	if zipped {
		w.Header().Set("Content-Encoding", "gzip")
	}
	w.Header().Add("Vary", "Accept-Encoding")
	if r.Method == http.MethodHead {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), streamTime)
	defer cancel()
	defer context.AfterFunc(serving, cancel)()
	c := stream{w: w, control: http.NewResponseController(w)}
	if zipped {
		c.zip, _ = gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
		defer c.zip.Close()
	}
	c.send("retry: 1000\n\n")
	ticker := time.NewTicker(tickTime)
	defer ticker.Stop()
	for c.err == nil && ctx.Err() == nil {
		u, err := look()
		if err != nil {
			c.send(event("gone", err.Error()))
			return
		}
		c.update(u)
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// stream is a connection to a browser.
type stream struct {
	w       http.ResponseWriter
	zip     *gzip.Writer // to w; nil if the browser does not want it
	control *http.ResponseController
	sent    Update // the latest
	err     error
}

// update sends what has changed in u.
func (c *stream) update(u Update) {
	text := ""
	if !bytes.Equal(u.Main, c.sent.Main) {
		text = event("main", string(u.Main))
	}
	if u.Point != "" && u.Point != c.sent.Point {
		text += "event: point\ndata: " + u.Point + "\n\n"
	}
	c.sent = u
	if text == "" {
		text = ":\n\n" // finds out whether the browser is there
	}
	c.send(text)
}

// event returns a server-sent event. Its data is a string of JSON, on one line whatever is in the text: a carriage
// return in an event would begin a field of its own.
func event(name, text string) string {
	var b bytes.Buffer
	b.WriteString("event: " + name + "\ndata: ")
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil { // ends with a newline
		panic("page: " + err.Error())
	}
	b.WriteString("\n")
	return b.String()
}

func (c *stream) send(text string) {
	if c.err != nil {
		return
	}
	// In place of Server.WriteTimeout, where there is one. The error of a writer without deadlines does not matter.
	_ = c.control.SetWriteDeadline(time.Now().Add(writeTime))
	if c.zip == nil {
		_, c.err = c.w.Write([]byte(text))
	} else if _, c.err = c.zip.Write([]byte(text)); c.err == nil {
		c.err = c.zip.Flush()
	}
	if c.err == nil {
		c.err = c.control.Flush()
	}
}

// acceptsGzip reports whether the answer to a request may be compressed with gzip.
func acceptsGzip(r *http.Request) bool {
	for _, header := range r.Header.Values("Accept-Encoding") {
		for one := range strings.SplitSeq(header, ",") {
			name, params, _ := strings.Cut(one, ";")
			if strings.EqualFold(strings.TrimSpace(name), "gzip") {
				q, given := strings.CutPrefix(strings.TrimSpace(params), "q=")
				weight, err := strconv.ParseFloat(q, 64)
				return !given || err == nil && weight > 0
			}
		}
	}
	return false
}

// Paced returns a writer to w that gives up if the browser does not take a part of what is written in ten seconds, and
// so holds what is written for no longer.
func Paced(w http.ResponseWriter) io.Writer { return &paced{w, http.NewResponseController(w)} }

type paced struct {
	w       io.Writer
	control *http.ResponseController
}

const pacedPart = 64 << 10 // bytes

func (p *paced) Write(b []byte) (n int, err error) {
	for part := range slices.Chunk(b, pacedPart) {
		_ = p.control.SetWriteDeadline(time.Now().Add(writeTime)) // as in send
		done, err := p.w.Write(part)
		if n += done; err != nil {
			return n, err
		}
	}
	return n, nil
}

// enter counts a stream, unless there are too many. It returns a context that ends at Close, and when the request's
// server shuts down, which would wait for the stream.
func (s *Streams) enter(r *http.Request) (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed.Err() != nil:
		return nil, fmt.Errorf("live updates have ended, since the page was closed")
	case s.open >= maxStreams:
		return nil, fmt.Errorf("there are already %d live pages, which is the maximum; close some", maxStreams)
	}
	s.open++
	server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if !ok {
		return s.closed, nil
	}
	ctx := s.serving[server]
	if ctx == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(s.closed)
		s.serving[server] = ctx
		server.RegisterOnShutdown(cancel)
	}
	return ctx, nil
}

func (s *Streams) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open--; s.open == 0 && s.closed.Err() != nil {
		close(s.left)
	}
}

// Close ends all streams and waits for them. Later ones are refused. Close may be called several times.
func (s *Streams) Close() {
	s.mu.Lock()
	if s.closed.Err() == nil {
		s.end()
		if s.open == 0 {
			close(s.left)
		}
	}
	s.mu.Unlock()
	<-s.left
}
