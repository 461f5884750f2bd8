// Package debug has an HTTP handler that shows the pools of an [executor.Observer]: as live pages, as JSON, and as
// metrics in the text format of Prometheus. It needs no database and has no actions; package ui has both.
//
//	observer := &executor.Observer{Every: 1, MaxNames: 20, MaxEvents: 200}
//	pool, err := executor.New(executor.Config{Name: "mail", Observer: observer})
//	…
//	http.Handle("/debug/executors/", debug.Handler(observer))
//
// Unlike net/http/pprof, importing the package registers nothing. No request changes anything. The handler may be
// mounted at any path that ends in a slash, with [http.StripPrefix] or without:
//
//	…/              all pools, and what needs attention
//	…/pool?id=3     a pool: its workers, histograms, task names and events
//	…/schedules     the next times of all periodic work, and how the last runs went
//	…/json          the same as JSON; see Report
//	…/metrics       counters, sizes and histograms in the text format of Prometheus
//	…/trace         an execution trace of the last seconds; only with Recorder
//	…/events        the live updates of the pages, as server-sent events
//
// # Access
//
// By default the handler answers only requests from the machine that it runs on: the host of the request must be a
// loopback name or address, the peer's address must be loopback or the connection a Unix socket, and no proxy may have
// forwarded the request. Other requests are answered with status 403. [Hosts] allows other hosts. The handler refuses
// requests that another web site makes with a user's browser.
//
// Everyone who may look sees the names of pools and tasks. Errors, arguments and results are not shown.
//
// # Cost
//
// The handler has no goroutine. It reads the pools when a request asks for them, at most once a second however many
// pages are open. Its history therefore has gaps while no page is open. At most 100 pages get live updates at a time.
package debug

import (
	"net/http"
	"path"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/page"
)

// Option changes what [Handler] does. [Hosts] and [Recorder] return options.
type Option func(*handler)

// Hosts allows requests for these hosts, such as "ops.example.org" or "10.0.0.5:8080", from any address and through any
// proxy, in addition to the requests from this machine. A name without a port stands for every port, and "*" for every
// host. Everyone who can reach the server can then look. Use Hosts behind a firewall, or wrap the handler in one that
// authenticates; with "*" that handler must check something that no other web site can make a browser send.
func Hosts(names ...string) Option {
	return func(h *handler) {
		for _, name := range names {
			h.guard.Allow(name)
		}
	}
}

// Recorder adds the path …/trace. It answers with what r has recorded of the last seconds, for go tool trace. The runs
// of tasks are regions in the trace. The caller starts and stops r. A recording shows stacks and the names of functions
// to everyone who may look. A recording can have tens of megabytes and takes CPU time, so the handler writes one at a
// time: another request is answered with status 503. A browser that takes nothing for ten seconds does not get the rest.
func Recorder(r *trace.FlightRecorder) Option {
	return func(h *handler) { h.recorder = r }
}

// Handler returns a handler that shows the pools of o. It may serve several requests at the same time. Handler panics
// if o is nil.
func Handler(o *executor.Observer, opts ...Option) http.Handler {
	if o == nil {
		panic("debug: Handler of a nil Observer")
	}
	h := &handler{
		guard: page.Guard{
			Name:  "debug",
			Host:  "allow it in debug.Hosts",
			Peer:  "to allow other machines, name the host in debug.Hosts",
			Proxy: "name the host of the proxy in debug.Hosts, and let the proxy pass it on",
		},
		watcher: poolview.NewWatcher(o),
		streams: page.NewStreams("debug"),
	}
	for _, opt := range opts {
		opt(h)
	}
	return h
}

type handler struct {
	guard    page.Guard
	watcher  *poolview.Watcher
	streams  *page.Streams
	recorder *trace.FlightRecorder
	tracing  atomic.Bool // a recording is being written

	mu       sync.Mutex
	rendered map[view][]byte // the parts that change, of the latest look
	look     *poolview.Look
}

// ServeHTTP answers a request by the last element of its path.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.guard.Admit(w, r, false) {
		return
	}
	last := path.Base(r.URL.Path)
	if strings.HasSuffix(r.URL.Path, "/") || r.URL.Path == "" {
		last = "."
	}
	switch last {
	case ".":
		h.servePage(w, r, view{})
	case "pool", "schedules":
		v, err := viewOf(last, r.URL.Query())
		if err != nil {
			http.Error(w, "debug: "+err.Error(), http.StatusBadRequest)
			return
		}
		h.servePage(w, r, v)
	case "events":
		h.serveEvents(w, r)
	case "json":
		h.serveJSON(w, r)
	case "metrics":
		h.serveMetrics(w, r)
	case "trace":
		h.serveTrace(w, r)
	default:
		if !assets.Serve(w, r, last) {
			http.Error(w, "debug: no such page; known are pool, schedules, json, metrics and trace", http.StatusNotFound)
		}
	}
}
