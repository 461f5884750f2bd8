// Package web is what a daemon shows to people, to monitoring and to other commands over HTTP: pages with the jobs,
// their runs and what these write, live; figures for Prometheus; and whether the daemon is well.
//
//	/                              the jobs
//	/job?name=backup               a job and its runs
//	/run?job=backup&run=3          a run, and its output while it is written
//	/run-now?job=backup            asks for the parameters of a run
//	/notices                       what was sent to people and monitors
//	/schedules /runs /nodes ...    what module ui shows of all jobs
//	/metrics /healthz /readyz
//	/api/jobs /api/runs /api/output /api/notices   a line of JSON each
//
// It changes nothing unless Config.Act is set. A slow reader, or many of them, do not delay the daemon.
package web

import (
	"context"
	"crypto/tls"
	"fmt"
	"html/template"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/daemon"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/cmd/executord/internal/roles"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/ui"
	"github.com/executor-go/executor/ui/page"
)

// Daemon is what is shown.
type Daemon interface {
	Jobs(ctx context.Context) ([]view.Job, error)
	Day(ctx context.Context) (view.Day, error)
	Runs(ctx context.Context, job string, n int) (runs []view.Run, found bool, err error)
	Upcoming(ctx context.Context, job string, n int) ([]time.Time, error)
	Output(job string, run int) (record.Facts, *record.Output, bool)
	Stored(ctx context.Context, job string, run int) (output record.Stored, found bool, err error)
	Figures() []daemon.Figures
	Successes(ctx context.Context) (map[string]time.Time, error)
	Ready(ctx context.Context) error
	StoreError(ctx context.Context) error
	Channels() []notify.Counts
	TestChannel(ctx context.Context, name string) (answer string, err error)
	Notices(ctx context.Context, n int) ([]notify.Notice, error)
}

// Config configures a server: what it serves, and for which requests.
type Config struct {
	Daemon    Daemon
	Title     string // the file
	Version   string
	Namespace string // of the jobs, in Durable

	// Access decides which requests the server answers.
	Access Access

	// Act does what a reader asks for, and returns what became of it. Nil means that nothing can be changed. Module ui
	// asks for a reason before, and keeps it in the audit log.
	Act func(context.Context, client.Order) (admin.Answer, error)

	// Log gets a line for each action, and what is said of those that connect. Nil is no log.
	Log *slog.Logger

	// Reading returns whether the job files were used when they were last read, and when they last were. It may be nil.
	Reading func() (ok bool, at time.Time)

	// Durable and Observer are what module ui shows besides. They may be nil.
	Durable  *durable.Jobs
	Observer *executor.Observer

	// Tokens returns those of which a request must have one, or a session that was opened by it, and what each may do.
	// It is not nil if Access is ByToken; nil means that all may all.
	Tokens func() roles.Tokens

	// Proxies are those whose headers say from where a request comes, and that may have all places for connections.
	Proxies []netip.Prefix

	// TLS has the server speak it. It may be nil.
	TLS *tls.Config
}

// Access decides which requests are answered.
type Access int

const (
	// Loopback is for this machine: the peer and the host that is asked for are loopback, and no proxy is between.
	Loopback Access = iota
	// Socket is for those that the file system lets open a Unix socket.
	Socket
	// ByToken is for those that have the token.
	ByToken
)

const (
	// patience is how long a reader may take to accept a part of an answer.
	patience = 30 * time.Second

	// bodyPatience is how long the body of a request may take.
	bodyPatience = 10 * time.Second
)

// Server serves a daemon.
type Server struct {
	Config
	http     *http.Server
	guard    page.Guard
	ui       *ui.UI
	sessions sessions
	conns    *conns
	wrongs   wrongs
	orders   orders
	ready    recent
	began    time.Time
	serving  sync.WaitGroup
	closing  sync.Once
	gate     sync.RWMutex // read-locked by each request, locked for good by Close
}

// New returns a Server that serves nothing yet.
func New(c Config) *Server {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		Config: c, guard: c.Access.guard(), began: time.Now(),
	}
	s.conns = newConns(c.Log, s.isProxy)
	s.ui = s.newUI()
	s.http = &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    32 << 10,
		TLSConfig:         c.TLS,
		ConnContext:       withConn,
		ErrorLog:          log.New(discard{}, "", 0), // it would be the noise of those that knock
	}
	s.http.Protocols = new(http.Protocols)
	s.http.Protocols.SetHTTP1(true) // each reader is a connection, of which there is a limit
	return s
}

// newUI returns the pages that are kept live. What is asked for here has passed the guard, and has a token.
func (s *Server) newUI() *ui.UI {
	c := ui.Config{
		Observer: s.Observer, Title: "executord", Pages: s.own(), Menu: s.menu(), Hosts: []string{"*"},
		Problems: s.failing, Authorize: s.access, Banner: s.banner,
	}
	if s.Act != nil {
		c.Actions, c.ActionOf, c.Logger = true, s.action, s.Log
	}
	if s.Durable != nil {
		c.Jobs = []ui.Source{{Jobs: s.Durable, Link: s.linkOf, Outcome: outcome.Shown, Outcomes: outcomeTabs, Took: outcome.Took, Keys: s.keysOf}}
	}
	u, err := ui.New(c)
	if err != nil {
		panic("web: " + err.Error()) // the Config is always the same
	}
	return u
}

// linkOf returns the name of the job or run with a key, and the address of its page.
func (s *Server) linkOf(key string) (name, path string) {
	if schedule, n := durable.RunNumber(key); n > 0 {
		return catalog.NameOf(s.Namespace, key), runAt(&view.Run{Job: catalog.NameOf(s.Namespace, schedule), Run: n})
	}
	return catalog.NameOf(s.Namespace, key), jobAt(catalog.NameOf(s.Namespace, key))
}

// keysOf returns the keys of a job and of its runs that are kept, none if there is no such job.
func (s *Server) keysOf(ctx context.Context, name string) ([]string, error) {
	j, found, err := s.job(ctx, name)
	if err != nil || !found {
		return nil, err
	}
	key := catalog.Key(s.Namespace, name)
	keys := []string{key}
	for n := j.Runs; n > max(j.Runs-MostRuns, 0); n-- {
		keys = append(keys, durable.RunKey(key, n))
	}
	return keys, nil
}

// menu is what stands in the header behind the tabs.
func (s *Server) menu() template.HTML {
	menu := template.HTML(`<a href="metrics" class="w">Metrics</a>`)
	if s.Tokens != nil {
		menu += `<form method="post" action="logout"><button>Log out</button></form>`
	}
	return menu
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// Serve serves what comes in, until Close.
func (s *Server) Serve(l net.Listener) {
	l = s.conns.listen(l)
	s.serving.Go(func() {
		if s.TLS != nil {
			s.http.ServeTLS(l, "", "") // with the certificates of its configuration
			return
		}
		s.http.Serve(l)
	})
}

// Close ends all connections, at once, streams too, and waits until nothing is served. It may be called again.
func (s *Server) Close() { s.closing.Do(s.close) }

func (s *Server) close() {
	s.http.Close()
	s.ui.Close()
	s.serving.Wait()
	s.gate.Lock()
}

// Handler returns what answers the requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /run", s.serveRun)
	mux.HandleFunc("GET /text", s.serveText)
	mux.HandleFunc("GET /metrics", s.serveMetrics)
	mux.HandleFunc("GET /", s.servePage)
	if s.Act != nil {
		mux.HandleFunc("GET /act", s.operators(s.servePage))
		mux.HandleFunc("POST /act", s.operators(s.servePage))
		mux.HandleFunc("GET /run-now", s.operators(s.serveRunNow))
	}
	mux.HandleFunc("GET /api/jobs", s.apiJobs)
	mux.HandleFunc("GET /api/runs", s.apiRuns)
	mux.HandleFunc("GET /api/output", s.apiOutput)
	mux.HandleFunc("GET /api/notices", s.apiNotices)
	inner := http.NewServeMux() // without a token
	inner.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) { plain(w, http.StatusOK, "ok") })
	inner.HandleFunc("GET /readyz", s.serveReady)
	inner.Handle("GET /static/", ui.Assets())
	if s.Tokens != nil {
		inner.HandleFunc("GET /login", s.serveLogin)
		inner.HandleFunc("POST /login", s.login)
		inner.HandleFunc("POST /logout", s.logout)
	}
	inner.Handle("/", s.authorized(mux))
	return s.guarded(inner)
}

// servePage serves the pages of module ui, which looks at no more than the last element of a path.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	if strings.Count(r.URL.Path, "/") > 1 {
		s.sorry(w, r, http.StatusNotFound, fmt.Sprintf("There is no page %.100q.", r.URL.Path))
		return
	}
	if r.URL.Path == "/events" && !hold(w, r, live) {
		return
	}
	s.ui.ServeHTTP(w, r)
}

// serveReady says whether the daemon runs its jobs: 200, or 503 and why, which is said to those only that may look.
func (s *Server) serveReady(w http.ResponseWriter, r *http.Request) {
	err := s.ready.ask(func() error { return s.Daemon.Ready(context.WithoutCancel(r.Context())) })
	_, known := s.identify(r)
	switch {
	case err == nil:
		plain(w, http.StatusOK, "ready")
	case known:
		plain(w, http.StatusServiceUnavailable, "not ready: "+err.Error())
	default:
		plain(w, http.StatusServiceUnavailable, "not ready")
	}
}

// recent is an answer that may be a second old, however many ask: it is asked for by those who need no token.
type recent struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

func (a *recent) ask(daemon func() error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at.IsZero() || time.Since(a.at) >= time.Second {
		a.err = daemon()
		a.at = time.Now()
	}
	return a.err
}

// plain answers with a line of text.
func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	w.Write([]byte(text + "\n"))
}
