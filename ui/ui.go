package ui

import (
	"context"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/ui/internal/act"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/figures"
	"github.com/executor-go/executor/ui/internal/pages"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// Config configures the pages. It must have an Observer, Jobs or Pages.
type Config struct {
	// Observer has the pools that are shown. The default, nil, is none.
	Observer *executor.Observer

	// Jobs are shown in this order. The default is none.
	Jobs []Source

	// Authorize returns what a request may do, and the name of who makes it, for the audit log. It may be called by
	// several goroutines at once, after the checks of hosts and sites. The default, nil, is Look for all requests that
	// pass these.
	Authorize func(*http.Request) (Access, string)

	// Actions allows changes by requests for which Authorize returns Act. The default, false, is pages that change
	// nothing, whatever Authorize returns. The audit log of a job is in its store. That of pools and schedules is in
	// the store of the first of Jobs or, if there is none, in memory, which keeps the last [memory.MostActs] entries.
	Actions bool

	// ActionOf returns the action of the program's own that a request asks for, by the query of a link or the same as a
	// form; nil if it asks for one of those of UI, whose names are "run", "pause", "resume", "reschedule", "revive",
	// "cancel", "delete", "signal" and "resize". "reason" is not for the program. It is called to ask for the
	// confirmation and again to carry out, only for requests that may act, and needs Actions. An error is shown with
	// status 400, that of NotFound with 404. The default, nil, is no actions but those of UI.
	ActionOf func(q url.Values) (*Action, error)

	// Payloads shows payloads and results of jobs, which may be secret. The default, false, hides them.
	Payloads bool

	// Hosts are the hosts, as "ops.example.org" or "10.0.0.5:8080", for which requests are answered from any address,
	// in addition to those of this machine. Without a port a name stands for every port. "*" stands for every host. It
	// needs an Authorize, and is safe only if Authorize checks something that no other site can make a browser send.
	Hosts []string

	// Logger gets a line for each action: who, what, to what, why, the answer, and whether it is done; as a warning if
	// it is not. The default, nil, is slog.Default.
	Logger *slog.Logger

	// Title is the title of the pages. The default is "executor".
	Title string

	// Problems returns how many things are wrong now. Their number begins the title of each page, whose icon is another
	// one, too. It is called by requests, at most once in ten seconds however many look; an error counts as a problem.
	// The default, nil, counts what needs attention on the overview, without what was paused by hand.
	Problems func(context.Context) (int, error)

	// Menu is HTML at the end of the header, such as a link or a form. The default is none.
	Menu template.HTML

	// Pages are pages of the program's own among the others. The default is none.
	Pages []Page
}

// Source is a view of the jobs in a store.
type Source struct {
	// Name is the name of the source on the pages. It may be empty if there is only one, and must be unique.
	Name string
	// Jobs is required. Its Run need not be running.
	Jobs *durable.Jobs
	// Link returns the name of a job with a key, and the address of its page if the program has one of its own among
	// Config.Pages. The default, nil, is the key, and the page of UI. If Link is set, the pages show no kinds beside
	// the names.
	Link func(key string) (name, path string)
}

// Access is what a request may do.
type Access uint8

const (
	None Access = iota // nothing: it is answered with 403
	Look               // look at all pages
	Act                // also change jobs, pools and schedules, with Config.Actions
)

// UI is a handler of the pages. Its methods may be called by any goroutine.
type UI struct {
	config  Config
	guard   page.Guard
	site    pages.Site
	engine  act.Engine
	streams *page.Streams
}

// New returns a UI, or an error that matches [executor.ErrInvalid] and names the field of c that is out of its range.
// It starts no goroutine, and looks at no pool or database.
func New(c Config) (*UI, error) {
	if c.Observer == nil && len(c.Jobs) == 0 && len(c.Pages) == 0 {
		return nil, invalid("Config has nothing to show; set Observer, Jobs or Pages")
	}
	if c.Actions && c.Authorize == nil {
		return nil, invalid("Config.Actions needs Config.Authorize, which decides who may act; " +
			"to let everyone act who can log in to this machine, let it return ui.Act")
	}
	if c.ActionOf != nil && !c.Actions {
		return nil, invalid("Config.ActionOf has no effect without Config.Actions; set both")
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Title == "" {
		c.Title = "executor"
	}
	u := &UI{
		config: c,
		guard: page.Guard{
			Hosts: make(map[string]bool),
			Host:  "allow it in Config.Hosts",
			Peer:  "to allow other machines, name the host in Config.Hosts",
			Proxy: "name the host of the proxy in Config.Hosts, and let the proxy pass it on",
		},
		streams: page.NewStreams("ui"),
	}
	for _, host := range c.Hosts {
		switch {
		case host == "":
			return nil, invalid(`Config.Hosts has ""; it must have names of hosts, or "*"`)
		case host == "*" && c.Authorize == nil:
			return nil, invalid(`Config.Hosts has "*", which needs Config.Authorize: otherwise every web site could read the pages`)
		}
		u.guard.Hosts[strings.ToLower(host)] = true
	}
	cache := new(source.Cache)
	var sources source.Sources
	names := make(map[string]bool)
	for i, s := range c.Jobs {
		switch {
		case s.Jobs == nil:
			return nil, invalid("Config.Jobs[%d].Jobs is nil; set it to what durable.New returned", i)
		case s.Name == "" && len(c.Jobs) > 1:
			return nil, invalid(`Config.Jobs[%d].Name is ""; each of several must have a name`, i)
		case names[s.Name]:
			return nil, invalid("Config.Jobs[%d].Name is %q, which an earlier one has; names must be unique", i, s.Name)
		}
		names[s.Name] = true
		sources = append(sources, source.New(s.Name, s.Jobs, s.Link, cache))
	}
	var journal *source.Source
	switch {
	case len(sources) > 0:
		journal = sources[0]
	case c.Actions:
		jobs, err := durable.New(durable.Config{Store: memory.New(), Logger: c.Logger})
		if err != nil {
			return nil, err
		}
		journal = source.New("", jobs, nil, cache)
	}
	own, err := ownPages(c.Pages)
	if err != nil {
		return nil, err
	}
	pools := figures.NewPools(c.Observer)
	u.site = pages.Site{
		Title: c.Title, Menu: c.Menu, Payloads: c.Payloads, Pooled: c.Observer != nil, Pools: pools, Sources: sources,
		Journal: journal, Cache: cache, Problems: c.Problems,
	}
	u.site.Add(own)
	u.engine = act.Engine{
		Sources: sources, Journal: journal, Observer: c.Observer, Pools: pools, Cache: cache, Logger: c.Logger,
		Own: ownActions(c.ActionOf),
	}
	return u, nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("ui: %w: "+format, append([]any{executor.ErrInvalid}, args...)...)
}

// Close ends the live updates of all pages, and waits for their requests to end; later ones have none. The pages
// remain.
// [http.Server.Shutdown] does so by itself for its requests. Close may be called several times.
func (u *UI) Close() { u.streams.Close() }

// ServeHTTP answers a request by the last element of its path.
func (u *UI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page.Secure(w.Header(), true)
	last := path.Base(r.URL.Path)
	if strings.HasSuffix(r.URL.Path, "/") || r.URL.Path == "" {
		last = ""
	}
	if status, reason := u.guard.Refuse(r, last == "act" && u.config.Actions); status != 0 {
		if status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", "GET, HEAD")
		}
		http.Error(w, "ui: "+reason, status)
		return
	}
	access, who := Look, ""
	if u.config.Authorize != nil {
		if access, who = u.config.Authorize(r); access != Look && access != Act {
			http.Error(w, "ui: you may not look at this page", http.StatusForbidden)
			return
		}
	}
	if !u.config.Actions {
		access = Look
	}
	acts := access == Act
	switch {
	case last == "events":
		u.serveEvents(w, r, acts)
	case last == "act" && acts:
		u.serveAct(w, r, who)
	case last == "act" && u.config.Actions:
		u.site.ServeTemplate(w, r, http.StatusForbidden, address.View{Name: "jobs"}, "Forbidden", "error", "You have read-only access.")
	case last == "output" && len(u.site.Sources) > 0:
		u.site.ServeOutput(w, r)
	case pages.Assets.Serve(w, r, last):
	default:
		u.site.ServePage(w, r, last, acts)
	}
}

// serveEvents sends the part of a page that changes, whenever it has.
func (u *UI) serveEvents(w http.ResponseWriter, r *http.Request, acts bool) {
	q := r.URL.Query()
	v, err := u.site.View(q.Get("view"), q, acts)
	if err != nil {
		http.Error(w, "ui: "+err.Error(), http.StatusBadRequest)
		return
	}
	u.streams.Serve(w, r, func() (page.Update, error) {
		f, err := u.site.Fragment(r.Context(), v)
		if err != nil {
			return page.Update{}, err
		}
		return page.Update{Main: f.HTML, Point: f.Point}, nil
	})
}

// serveAct asks for a confirmation, or carries out.
func (u *UI) serveAct(w http.ResponseWriter, r *http.Request, who string) {
	a, err := u.engine.Answer(w, r, who)
	switch {
	case err != nil:
		u.site.ServeError(w, r, a.View, err)
	case a.Redirect != "":
		http.Redirect(w, r, a.Redirect, http.StatusSeeOther)
	default:
		u.site.ServeTemplate(w, r, a.Status, a.View, a.Title, a.Template, a.Body)
	}
}
