package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/memory"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui"
	"github.com/executor-go/executor/ui/debug"
)

// Updates leave nothing behind in the browser: 60 more need no more nodes and no more memory.
func TestPagesSteady(t *testing.T) {
	for name, page := range map[string]func(o *executor.Observer) http.Handler{
		"debug": func(o *executor.Observer) http.Handler { return debug.Handler(o) },
		"ui": func(o *executor.Observer) http.Handler {
			u, err := ui.New(ui.Config{Observer: o})
			if err != nil {
				t.Fatal(err)
			}
			return u
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steady(t, page)
		})
	}
}

func steady(t *testing.T, page func(*executor.Observer) http.Handler) {
	o := &executor.Observer{Every: 1, MaxNames: 10, MaxEvents: 50}
	busy := func(ctx context.Context) error { <-ctx.Done(); return nil }
	for i := range 5 {
		p, err := executor.New(executor.Config{Name: fmt.Sprint("pool ", i), Workers: 8, Observer: o})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			p.ShutdownNow()
			<-p.Terminated()
		})
		for j := range 12 {
			p.Go(context.Background(), busy, executor.Named(fmt.Sprint("task ", j)))
		}
	}
	updates := newUpdates(o, page)
	server := httptest.NewServer(updates)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})

	b := open(t, site{}, server.URL)
	b.do(chromedp.Navigate(server.URL + "/"))
	var was, is state
	for i := range 6 { // the first is for what is made once; a look may meet an update halfway, a leak is in each
		was = is
		updates.wait(t, b)
		is = look(b)
		t.Logf("after %d updates: %+v", updates.n.Load(), is)
		if i > 1 && is.nodes <= was.nodes+20 && is.listeners <= was.listeners && is.heap <= was.heap+100<<10 {
			return
		}
	}
	t.Errorf("60 updates later there is %+v, before it was %+v", is, was)
}

// state is what a page has in the browser.
type state struct{ nodes, listeners, heap int64 }

func look(b *tab) state {
	b.Helper()
	for range 2 { // what the first finds may hold more
		call(b, heapprofiler.CollectGarbage, cdp.Empty{})
	}
	c := call(b, memory.GetDOMCounters, cdp.Empty{})
	return state{c.Nodes, c.JsEventListeners, int64(call(b, runtime.GetHeapUsage, cdp.Empty{}).UsedSize)}
}

// updates is a page whose updates come as fast as the test wants them.
type updates struct {
	observer *executor.Observer
	make     func(*executor.Observer) http.Handler
	page     http.Handler
	more     chan chan struct{}
	n        atomic.Int64
}

func newUpdates(o *executor.Observer, page func(*executor.Observer) http.Handler) *updates {
	return &updates{o, page, page(o), make(chan chan struct{}), atomic.Int64{}}
}

// wait has the page updated 60 times, and waits until it has the last.
func (u *updates) wait(t *testing.T, b *tab) {
	t.Helper()
	done := make(chan struct{})
	select {
	case u.more <- done:
	case <-time.After(10 * time.Second):
		t.Fatal("the page has no stream")
	}
	<-done
	b.poll(10*time.Second, fmt.Sprintf(`document.querySelector('.at').textContent === 'update %d'`, u.n.Load()))
}

var mainElement = regexp.MustCompile(`(?s)<main id="main">(.*)</main>`)
var atElement = regexp.MustCompile(`(?s)(<p class="at">).*?(</p>)`)

func (u *updates) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/events" {
		u.page.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.(http.Flusher).Flush()
	for {
		var done chan struct{}
		select {
		case done = <-u.more:
		case <-r.Context().Done():
			return
		}
		for range 60 {
			// A new handler, since one looks at most once in a second.
			page := httptest.NewRecorder()
			ask := r.Clone(r.Context())
			ask.URL.Path, ask.URL.RawQuery = "/", ""
			u.make(u.observer).ServeHTTP(page, ask)
			m := mainElement.FindSubmatch(page.Body.Bytes())
			text, _ := json.Marshal(atElement.ReplaceAllString(string(m[1]), fmt.Sprintf("${1}update %d${2}", u.n.Add(1))))
			io.WriteString(w, "event: main\ndata: "+string(text)+"\n\n")
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}
		close(done)
	}
}
