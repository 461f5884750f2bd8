package ui_test

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
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui"
)

// listener is a browser that receives events.
type listener struct {
	header http.Header

	mu     sync.Mutex
	status int
	body   bytes.Buffer
}

func (l *listener) Header() http.Header { return l.header }
func (l *listener) Flush()              {}

func (l *listener) WriteHeader(status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status = status
}

func (l *listener) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.body.Write(b)
}

// events parses what came so far as a browser does: also a carriage return ends a line. Points are left out.
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

// listen has a browser receive the events of a view until ctx ends.
func listen(ctx context.Context, h http.Handler, view string) (l *listener, ended chan bool) {
	l, ended = &listener{header: make(http.Header)}, make(chan bool)
	go func() {
		defer close(ended)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/events?view="+view, nil)
		if err != nil {
			panic(err)
		}
		r.Host, r.RemoteAddr = "localhost:8080", "127.0.0.1:40000"
		h.ServeHTTP(l, r)
	}()
	return l, ended
}

func hasEnded(c chan bool) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// A stream has the page's content at once, and again whenever it has changed.
func TestStreamUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserver(t)
		p := newPool(t, o, executor.Config{Name: "mail", Core: 1})
		u := newUI(t, ui.Config{Observer: o})
		ctx, cancel := context.WithCancel(t.Context())
		l, ended := listen(ctx, u, "pools")
		synctest.Wait()
		first := l.events(t)
		if len(first) != 1 || first[0][0] != "main" || !strings.Contains(first[0][1], "mail") {
			t.Fatalf("at first: %q", first)
		}
		if page := get(t, u, "/pools"); !strings.Contains(page, first[0][1]) {
			t.Error("the event is not what is in the page")
		}
		for range 3 {
			hold(t, p, "")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if second := l.events(t); len(second) != 2 || !strings.Contains(second[1][1], "<td>1/1<td>2<td") {
			t.Errorf("a second later: %q", second)
		}
		cancel()
		<-ended
	})
}

// No name can begin an event of its own.
func TestStreamHostileNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserver(t)
		name := "a\r\revent: evil\rdata: \"x\"\r\r\n\nevent: evil\n\n"
		p := newPool(t, o, executor.Config{Name: name, Core: 1})
		hold(t, p, name)
		jobs := newJobs(t, nil)
		id := addJob(t, jobs, "mail", time.Hour, durable.WithMeta(map[string]string{name: name}))
		synctest.Wait()
		u := newUI(t, ui.Config{Observer: o, Jobs: []ui.Source{{Jobs: jobs}}})
		ctx, cancel := context.WithCancel(t.Context())
		for _, view := range []string{"", "pools", "pool&id=1", "schedules", "jobs", "job&id=" + id.String()} {
			l, ended := listen(ctx, u, view)
			synctest.Wait()
			if es := l.events(t); len(es) != 1 || es[0][0] != "main" {
				t.Errorf("%s: %.300q", view, es)
			}
			defer func() { <-ended }()
		}
		cancel()
	})
}

// A stream ends when Close is called, when it is old, and when what it shows is gone.
func TestStreamEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserver(t)
		p := newPool(t, o, executor.Config{Core: 1})
		u := newUI(t, ui.Config{Observer: o})
		pool, poolEnded := listen(t.Context(), u, "pool&id=1")
		_, old := listen(t.Context(), u, "")
		synctest.Wait()
		p.Close()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if es := pool.events(t); !hasEnded(poolEnded) || es[len(es)-1][0] != "gone" {
			t.Errorf("the stream of a pool that has ended: %q", es)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if !hasEnded(old) {
			t.Error("a stream has not ended after ten minutes")
		}
		_, closed := listen(t.Context(), u, "")
		synctest.Wait()
		u.Close()
		if !hasEnded(closed) {
			t.Error("Close has returned before the stream has ended")
		}
		late, lateEnded := listen(t.Context(), u, "")
		<-lateEnded
		if late.status != http.StatusServiceUnavailable {
			t.Errorf("a stream after Close: %d", late.status)
		}
		get(t, u, "/")
	})
}

func TestStreamLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, ui.Config{Observer: newObserver(t)})
		for range 100 {
			_, ended := listen(t.Context(), u, "")
			defer func() { <-ended }()
		}
		synctest.Wait()
		l, ended := listen(t.Context(), u, "")
		<-ended
		if l.status != http.StatusServiceUnavailable {
			t.Errorf("stream 101: %d", l.status)
		}
		u.Close()
	})
}

// The server's Shutdown does not wait for pages that are open.
func TestStreamServerShutdown(t *testing.T) {
	u := newUI(t, ui.Config{Observer: newObserver(t)})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: u, WriteTimeout: 100 * time.Millisecond}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	response, err := http.Get("http://" + l.Addr().String() + "/events?view=")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	buf := make([]byte, 1)
	if _, err := response.Body.Read(buf); err != nil {
		t.Fatal(err)
	}
	if err := server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != http.ErrServerClosed {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
}
