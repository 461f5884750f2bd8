package ui

import (
	"context"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

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

// Config configures the pages for [New]. At least one of Observer, Jobs and Pages must be set.
type Config struct {
	// Observer has the pools that the pages show. The default, nil, is no pools.
	Observer *executor.Observer

	// Jobs are the stores whose jobs the pages show, in this order. The default is none.
	Jobs []Source

	// Authorize returns what a request may do, and the name of the user who makes it, for the audit log. The goroutine
	// of the request calls it, after the checks of hosts and sites, so that several calls may be in progress at once. It
	// calls it again each second while a page has live updates, which end when the result is another. The default, nil,
	// lets all requests that pass these checks look.
	Authorize func(*http.Request) (Access, string)

	// Actions allows changes by requests for which Authorize returns Act; it needs Authorize. The default, false,
	// allows no changes, whatever Authorize returns. The audit log of a job or a node is in its store. The audit log of
	// pools and schedules is in the store of the first of Jobs. If there are no Jobs, it is in memory, which keeps the
	// last [memory.MostActs] entries.
	Actions bool

	// ActionOf returns the action of the program's own that a request asks for. q has the parameters of the link. It
	// returns nil if the request asks for an action of the UI, which are "run-now", "pause", "resume",
	// "reschedule", "move", "revive", "cancel", "delete", "signal", "resize", "drain" and "undrain". The parameter "reason" is
	// reserved for the UI. The goroutine of the request calls ActionOf once for the page that asks for the confirmation,
	// and again to carry out the action, but only for requests that may act. An error is shown with the status of
	// [BadRequest] or [NotFound], and any other with status 503. ActionOf needs Actions. The default, nil, is no actions
	// of the program's own.
	ActionOf func(q url.Values) (*Action, error)

	// Payloads shows the payloads and results of jobs, which may be secret. The default, false, hides them.
	Payloads bool

	// Hosts are host names or addresses, such as "ops.example.org" or "10.0.0.5:8080". A request for one of them is
	// answered from any address and through any proxy, in addition to the requests from this machine. A name without a
	// port stands for every port. "*" stands for every host; it needs Authorize, and is safe only if Authorize checks
	// something that no other web site can make a browser send. The default is none.
	Hosts []string

	// Logger gets a line for each action: who did what to what and why, the answer, and whether the action is done. The
	// line is a warning if the action is not done. The default, nil, is [slog.Default].
	Logger *slog.Logger

	// Title is the title of the pages. The default, "", is "executor".
	Title string

	// Problems returns how many things are wrong now. If there are any, the title of each page begins with that number,
	// and the pages have another icon. The goroutine of a request calls it, at most once in ten seconds however many
	// pages are open. An error counts as one problem. The default, nil, counts what needs attention on the overview,
	// except what was paused by hand.
	Problems func(context.Context) (int, error)

	// Banner returns HTML for the top of each page, such as a warning that concerns all of them, and "" for none. It is not
	// escaped. The goroutine of a request calls it, at most once in ten seconds however many pages are open. The default,
	// nil, is none.
	Banner func(context.Context) template.HTML

	// Menu is HTML at the end of the header, such as a link or a form. It is not escaped. The default is none.
	Menu template.HTML

	// Pages are pages of the program's own. The default is none.
	Pages []Page
}

// Source is a store whose jobs a [UI] shows.
type Source struct {
	// Name is the name of the source on the pages. It must be unique, and may be empty if there is only one source.
	Name string
	// Jobs reads the store; it is required. Its Run need not be called.
	Jobs *durable.Jobs
	// Link returns the name that the pages show for a job with this key, and the address of the job's page if that is
	// one of Config.Pages, else "". It may be called by several goroutines at the same time. The default, nil, shows
	// the key and links to the page of the UI. If Link is set, the pages do not show the kind beside the name.
	Link func(key string) (name, path string)

	// Outcome returns the word that the pages show for how a run ended, such as "timeout", and the verdict whose sign
	// and color it has. A run with the word "" is not shown. Outcome may be called by several goroutines at the same
	// time. The default, nil, is the name of the verdict. Set Outcomes, too, if Outcome is set.
	Outcome func(durable.Run) (word string, like durable.Verdict)

	// Outcomes are the tabs of the list of runs, in this order, after those of all runs and of the running ones. Each
	// name should fit all words that Outcome has for runs of the tab. The default, nil, is a tab for each verdict, with
	// its name. Outcomes needs Outcome.
	Outcomes []OutcomeTab

	// Took returns how long a run took, which the pages show. It is not called for a run without a start. It may be called
	// by several goroutines at the same time. The default, nil, is the time from Run.Started to Run.Finished, which has
	// what the store took for the run, too.
	Took func(durable.Run) time.Duration

	// Keys returns the keys of the jobs whose runs are shown for the name of a job that was asked for; no keys if there is
	// no such job. It is called while a page is read, at most once in two seconds for each page, and may be called by
	// several goroutines at the same time. The default, nil, is the name itself.
	Keys func(ctx context.Context, name string) ([]string, error)
}

// OutcomeTab is a tab of the list of runs.
type OutcomeTab struct {
	Name     string            // shown, and part of the tab's address; required, not "running", and unique in Source.Outcomes
	Verdicts []durable.Verdict // that the runs may have in the store, which are read; required
	// Like are the verdicts whose sign and color the runs have, according to Source.Outcome: others are left out. The
	// default, nil, is all runs with the Verdicts.
	Like []durable.Verdict
}

// Access is what a request may do. Any other value is None.
type Access uint8

const (
	None Access = iota // nothing: the request is answered with status 403
	Look               // look at all pages
	Act                // also change jobs, pools and schedules, if Config.Actions is set
)

// UI is the [http.Handler] of the pages. [New] makes it; the zero UI is not usable. Its methods may be called by
// several goroutines at the same time.
type UI struct {
	config  Config
	guard   page.Guard
	site    pages.Site
	engine  act.Engine
	streams *page.Streams
}

// New returns a UI that is ready to serve. If c is not valid, New returns an error that matches [executor.ErrInvalid],
// and says which field is wrong and how to fix it. New starts no goroutine, and reads no pool or database. With an
// Observer it sets a timer, which reads the counters of the pools once a minute; it ends with Close, or when the program
// does not refer to the UI any more.
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
			Name: "ui", Forms: true,
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
		u.guard.Allow(host)
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
		if err := s.checkOutcomes(i); err != nil {
			return nil, err
		}
		shown := source.New(s.Name, s.Jobs, s.Link, cache)
		shown.Said, shown.Spent, shown.Keys = s.Outcome, s.Took, s.Keys
		for _, tab := range s.Outcomes {
			shown.Tabs = append(shown.Tabs, source.OutcomeTab(tab))
		}
		sources = append(sources, shown)
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
		Journal: journal, Cache: cache, Problems: c.Problems, Banner: c.Banner,
	}
	u.site.Add(own)
	u.engine = act.Engine{
		Sources: sources, Journal: journal, Observer: c.Observer, Pools: pools, Cache: cache, Logger: c.Logger,
		Own: ownActions(c.ActionOf),
	}
	return u, nil
}

// checkOutcomes returns what is wrong with the words of the i-th Source for outcomes.
func (s *Source) checkOutcomes(i int) error {
	if (s.Outcome == nil) != (len(s.Outcomes) == 0) {
		return invalid("Config.Jobs[%d] has one of Outcome and Outcomes; set both, so that tabs and runs have the same words", i)
	}
	for k, tab := range s.Outcomes {
		field := fmt.Sprintf("Config.Jobs[%d].Outcomes[%d]", i, k)
		switch {
		case tab.Name == "", tab.Name == pages.RunningTab:
			return invalid(`%s.Name is %q; each tab must have a name, and %q is that of the runs in progress`, field, tab.Name, pages.RunningTab)
		case slices.ContainsFunc(s.Outcomes[:k], func(other OutcomeTab) bool { return other.Name == tab.Name }):
			return invalid("%s.Name is %q, which an earlier one has; names must be unique", field, tab.Name)
		case len(tab.Verdicts) == 0:
			return invalid("%s.Verdicts is empty; name the verdicts of the runs of this tab", field)
		}
		for name, verdicts := range map[string][]durable.Verdict{"Verdicts": tab.Verdicts, "Like": tab.Like} {
			if i := slices.IndexFunc(verdicts, func(v durable.Verdict) bool { return !v.Known() }); i >= 0 {
				return invalid("%s.%s has %v; it must have verdicts that package durable has", field, name, verdicts[i])
			}
		}
	}
	return nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("ui: %w: "+format, append([]any{executor.ErrInvalid}, args...)...)
}

// Close ends the live updates of all pages, and waits until their requests have ended. It also ends the memory of what
// pools do while nobody looks. u still serves pages after that, without live updates. Close may be called several times.
// A program that calls [http.Server.Shutdown] need not call Close before it: Shutdown ends the live updates of its server.
func (u *UI) Close() {
	u.site.Pools.Close()
	u.streams.Close()
}

// ServeHTTP answers a request. The last element of the path selects the page, see the package comment.
func (u *UI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	last := path.Base(r.URL.Path)
	if strings.HasSuffix(r.URL.Path, "/") || r.URL.Path == "" {
		last = ""
	}
	if !u.guard.Admit(w, r, last == "act" && u.config.Actions) {
		return
	}
	access, who := u.access(r)
	if access == None {
		page.Refuse(w, r, http.StatusForbidden, "ui: you may not look at this page")
		return
	}
	acts := access == Act
	switch {
	case last == "zone":
		page.ServeZone(w, r)
	case last == "events":
		u.serveEvents(w, r, access)
	case last == "act" && acts:
		u.serveAct(w, r, who)
	case last == "act" && u.config.Actions:
		u.site.ServeError(w, r, address.View{Name: "jobs"}, &address.Error{Status: http.StatusForbidden, Text: "You have read-only access."})
	case last == "output" && len(u.site.Sources) > 0:
		u.site.ServeOutput(w, r)
	case pages.Assets.Serve(w, r, last):
	default:
		u.site.ServePage(w, r, last, acts)
	}
}

// access returns what a request may do here, and who makes it.
func (u *UI) access(r *http.Request) (access Access, who string) {
	if access = Look; u.config.Authorize != nil {
		access, who = u.config.Authorize(r)
	}
	switch {
	case access != Look && access != Act:
		return None, who
	case !u.config.Actions:
		return Look, who
	}
	return access, who
}

// serveEvents sends the part of a page that changes, whenever it has, until the request may not do what it might at its
// begin.
func (u *UI) serveEvents(w http.ResponseWriter, r *http.Request, access Access) {
	name, q := address.OfEvents(r.URL.Query())
	v, err := u.site.View(name, q, access == Act)
	if err != nil {
		http.Error(w, "ui: "+err.Error(), http.StatusBadRequest)
		return
	}
	v.Live, v.Zone = true, page.ZoneOf(r).Name()
	u.streams.Serve(w, r, func() (page.Update, error) {
		if now, _ := u.access(r); now != access {
			return page.Update{}, errAccess
		}
		f, err := u.site.Fragment(r.Context(), v)
		if err != nil {
			main, err := u.site.Trouble(err)
			return page.Update{Main: main}, err
		}
		return page.Update{Main: f.HTML, Point: f.Point}, nil
	})
}

// errAccess ends the live updates of a page.
var errAccess = &address.Error{Status: http.StatusForbidden, Text: "your access has changed; load the page again"}

// serveAct asks for a confirmation, or carries out.
func (u *UI) serveAct(w http.ResponseWriter, r *http.Request, who string) {
	if r.Method != http.MethodPost && page.AcceptsJSON(r) {
		w.Header().Set("Allow", http.MethodPost)
		page.Refuse(w, r, http.StatusMethodNotAllowed, "ui: an action is a POST, with a reason")
		return
	}
	a, err := u.engine.Answer(w, r, who)
	switch {
	case err != nil:
		u.site.ServeError(w, r, a.View, err)
	case page.AcceptsJSON(r):
		a.Result.Serve(w)
	case a.Redirect != "":
		page.SeeOther(w, a.Redirect)
	default:
		u.site.ServeTemplate(w, r, a.Status, a.View, a.Title, a.Template, a.Body)
	}
}
