// Package debug shows the pools of an [executor.Observer]: as a page for people, live, as JSON,
// and as text for Prometheus.
//
//	observer := &executor.Observer{Every: 1, MaxNames: 20, MaxEvents: 200}
//	pool, err := executor.New(executor.Config{Name: "mail", Observer: observer})
//	…
//	http.Handle("/debug/executors/", debug.Handler(observer))
//
// Importing the package registers nothing, unlike net/http/pprof. The handler only looks: no
// request changes anything. It may be mounted at any path that ends in a slash, with
// [http.StripPrefix] or without:
//
//	…/              all pools, and what needs attention
//	…/pool?id=3     a pool: its workers, histograms, task names and events
//	…/json          the same as JSON; see [Report]
//	…/metrics       counters, sizes and histograms in the text format of Prometheus
//	…/trace         an execution trace of the last seconds, with [Recorder]
//	…/events        the pages' live updates, as server-sent events
//
// # Access
//
// By default it answers requests of this machine only: the peer's address and the requested host must both be loopback,
// or the connection a Unix socket. Other hosts are named by [Hosts]. Requests from other sites, such as a script in a
// browser might make, are refused.
//
// The names of pools and tasks are shown to everyone who may look. Errors, arguments and results
// are not shown.
//
// # Cost
//
// The handler has no goroutine. It looks at a pool when a request asks for it, and at most once in
// a second, however many pages are open. History has gaps while no page is open.
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

// Option changes what [Handler] does.
type Option func(*handler)

// Hosts allows requests for these hosts, as "ops.example.org" or "10.0.0.5:8080", from any
// address, in addition to those of this machine. Without a port a name stands for every port.
// Everyone who can reach the server can then look, so this is for servers behind a firewall, or for
// handlers that are wrapped in one that authenticates.
func Hosts(names ...string) Option {
	return func(h *handler) {
		for _, name := range names {
			h.guard.Hosts[strings.ToLower(name)] = true
		}
	}
}

// Recorder adds …/trace, which answers with what r has recorded of the last seconds, for go tool
// trace; the runs of tasks are regions in it. The caller starts r. Recordings have stacks and the
// names of functions. One request at a time is answered, since a recording can have tens of
// megabytes and takes the program's time.
func Recorder(r *trace.FlightRecorder) Option {
	return func(h *handler) { h.recorder = r }
}

// Handler returns a handler that shows the pools of o. It panics if o is nil.
func Handler(o *executor.Observer, opts ...Option) http.Handler {
	if o == nil {
		panic("debug: Handler of a nil Observer")
	}
	h := &handler{
		guard: page.Guard{
			Hosts: make(map[string]bool),
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
	page.Secure(w.Header(), false)
	if status, reason := h.guard.Refuse(r, false); status != 0 {
		if status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", "GET, HEAD")
		}
		http.Error(w, "debug: "+reason, status)
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
			http.Error(w, "debug: no such page; known are pool, schedules, json, metrics", http.StatusNotFound)
		}
	}
}
