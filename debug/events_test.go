package debug_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/debug"
)

// listener is a browser that receives events.
type listener struct {
	mu     sync.Mutex
	header http.Header
	status int
	body   bytes.Buffer
}

func (l *listener) Header() http.Header { return l.header }
func (l *listener) WriteHeader(s int)   { l.status = s }
func (l *listener) Flush()              {}

func (l *listener) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.body.Write(b)
}

// events parses what came so far as a browser does: also a carriage return ends a line.
func (l *listener) events(t *testing.T) (events [][2]string) {
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
				if err := json.Unmarshal([]byte(value), &event[1]); err != nil {
					t.Errorf("data is no string: %v", err)
				}
			case "", "retry":
			default:
				t.Errorf("an unknown field %.60q", line)
			}
		}
		if event[0] != "" {
			events = append(events, event)
		}
	}
	return events
}

// listen has a browser receive the events of a view until ctx ends.
func listen(ctx context.Context, h http.Handler, view string) (l *listener, ended chan bool) {
	l, ended = &listener{header: make(http.Header)}, make(chan bool)
	go func() {
		defer close(ended)
		h.ServeHTTP(l, request("GET", "/events?view="+view).WithContext(ctx))
	}()
	return l, ended
}

// A stream has the page's content at once and then each second, and ends with the request.
func TestStreamUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserver(t, executor.ObserverConfig{Every: 1})
		p := newPool(t, o, executor.Config{Name: "mail", Core: 1})
		h := debug.Handler(o)
		ctx, cancel := context.WithCancel(t.Context())
		l, ended := listen(ctx, h, "")
		synctest.Wait()
		first := l.events(t)
		if len(first) != 1 || first[0][0] != "main" || !strings.Contains(first[0][1], "mail") {
			t.Errorf("at first: %q", first)
		}
		if page := get(t, h, "/"); !strings.Contains(page, first[0][1]) {
			t.Error("the event is not what is in the page")
		}
		for range 3 {
			p.Go(t.Context(), func(context.Context) error { time.Sleep(time.Hour); return nil })
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if second := l.events(t); len(second) != 2 || !strings.Contains(second[1][1], "<td>1/1<td>2<td") {
			t.Errorf("a second later: %q", second)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := len(l.events(t)); n != 12 {
			t.Errorf("%d events after 11 s, want 12", n)
		}
		cancel()
		<-ended
	})
}

// No name can begin an event of its own.
func TestStreamHostileNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserver(t, executor.ObserverConfig{Every: 1, Names: 100})
		p := newPool(t, o, executor.Config{Name: "a\r\revent: evil\rdata: \"x\"\r\r", Core: 1})
		for _, name := range hostile {
			p.Go(t.Context(), nop, executor.Named(name))
		}
		synctest.Wait()
		h := debug.Handler(o)
		ctx, cancel := context.WithCancel(t.Context())
		for _, view := range []string{"", "pool&id=1", "schedules"} {
			l, ended := listen(ctx, h, view)
			synctest.Wait()
			if es := l.events(t); len(es) != 1 || es[0][0] != "main" {
				t.Errorf("%s: %.300q", view, es)
			}
			defer func() { <-ended }()
		}
		cancel()
	})
}

// A stream of a pool that has ended says so and ends, and none lasts for ever.
func TestStreamEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserver(t, executor.ObserverConfig{})
		p := newPool(t, o, executor.Config{Core: 1})
		h := debug.Handler(o)
		overview, over := listen(t.Context(), h, "")
		pool, gone := listen(t.Context(), h, "pool&id=1")
		time.Sleep(90 * time.Second)
		p.Close()
		time.Sleep(2 * time.Second)
		<-gone
		if es := pool.events(t); es[len(es)-1] != [2]string{"gone", "there is no pool 1; it may have ended"} {
			t.Errorf("the last event of a pool that has ended is %q", es[len(es)-1])
		}
		begin := time.Now()
		<-over
		if d := time.Since(begin); d > 10*time.Minute {
			t.Errorf("a stream lasts for %v", d)
		}
		if es := overview.events(t); len(es) < 500 {
			t.Errorf("%d events in ten minutes", len(es))
		}
	})
}

// There are no more than a hundred streams.
func TestStreamLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := debug.Handler(newObserver(t, executor.ObserverConfig{}))
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				_, ended := listen(ctx, h, "")
				<-ended
			})
		}
		synctest.Wait()
		l, ended := listen(ctx, h, "")
		<-ended
		if l.status != http.StatusServiceUnavailable || l.header.Get("Retry-After") == "" {
			t.Errorf("stream 101: %d %s", l.status, &l.body)
		}
		cancel()
		all.Wait()
		ctx, cancel = context.WithCancel(t.Context())
		l, ended = listen(ctx, h, "")
		synctest.Wait()
		cancel()
		<-ended
		if l.status != 0 || len(l.events(t)) != 1 {
			t.Errorf("a stream after others: %d %s", l.status, &l.body)
		}
	})
}

// A server that shuts down does not wait for streams, and its WriteTimeout does not end them.
func TestStreamServerShutdown(t *testing.T) {
	o := newObserver(t, executor.ObserverConfig{})
	newPool(t, o, executor.Config{Name: "mail"})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: debug.Handler(o), WriteTimeout: time.Millisecond}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	client := &http.Client{Transport: &http.Transport{}}
	r, err := client.Get("http://" + ln.Addr().String() + "/events?view=")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b := make([]byte, 1<<16)
	for range 3 { // updates come for longer than the timeout
		if n, err := r.Body.Read(b); err != nil || n == 0 {
			t.Fatalf("a stream ends after %d bytes: %v", n, err)
		}
	}
	if err := server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != http.ErrServerClosed {
		t.Error(err)
	}
	client.CloseIdleConnections()
}
