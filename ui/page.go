package ui

import (
	"bytes"
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/page"
)

// view is what a page shows, with what was asked for. The zero view is the overview.
type view struct {
	name   string
	source string // of a page about jobs
	act    bool   // with what changes jobs
	number int    // of a pool
	id     durable.ID
	run    int64         // of a job, 0 for the last
	after  string        // where a page of a list begins
	state  string        // of jobs, or the verdict of runs
	kind   string        // of jobs
	search string        // of keys, or of names
	span   time.Duration // of the timeline
	own    string        // the query of a page of the program's own
	wanted               // of jobs
}

// tab is a link in the header.
type tab struct {
	Name, Path string
	Current    bool
}

// layout is what all pages have.
type layout struct {
	Title, Name string
	Events      string
	Tabs        []tab
	Sources     []tab // links to the same page of another source
	Main        template.HTML
	Menu        template.HTML
	ReadOnly    bool
}

// badRequest is the error of a request that has no view.
type badRequest struct{ text string }

func (e *badRequest) Error() string { return e.text }

// gone is the error of a view of what is not there.
type gone struct{ text string }

func (e *gone) Error() string { return e.text }

// viewOf returns the view of a path and a query, or of an "events" query.
func (u *UI) viewOf(name string, q url.Values, access Access) (v view, err error) {
	v = view{name: name, act: access == Act}
	kind, ok := u.views[name]
	if !ok {
		return v, &gone{"there is no page " + strconv.Quote(page.Printable(name, 40))}
	}
	if kind.jobs {
		s := u.sourceOf(kind, q.Get("source"))
		if s == nil {
			return v, &gone{"there is no source of jobs " + strconv.Quote(page.Printable(q.Get("source"), 40))}
		}
		v.source = s.Name
	} else if kind.pools && u.config.Observer == nil {
		return v, &gone{"there are no pools, since Config has no Observer"}
	}
	if kind.parse != nil {
		err = kind.parse(&v, q)
	}
	return v, err
}

// events returns the address of the live updates of v.
func (v view) events() string { return "events?" + v.query(url.Values{"view": {v.name}}) }

// query returns what was asked for as a query, with what q has.
func (v view) query(q url.Values) string {
	set := func(name, value string) {
		if value != "" && !q.Has(name) {
			q.Set(name, value)
		}
	}
	own, _ := url.ParseQuery(v.own) // it was encoded by parseOwn
	for name := range own {
		set(name, own.Get(name))
	}
	set("source", v.source)
	set("after", v.after)
	set("state", v.state)
	set("kind", v.kind)
	set("q", v.search)
	v.wanted.add(q)
	if v.number != 0 {
		set("id", strconv.Itoa(v.number))
	}
	if v.id != (durable.ID{}) {
		set("id", v.id.String())
	}
	if v.run != 0 {
		set("run", strconv.FormatInt(v.run, 10))
	}
	if v.span != 0 {
		set("span", v.span.String())
	}
	return q.Encode()
}

// link returns the address of v's page with some of what was asked for replaced, as by "state", "dead".
func (v view) link(change ...string) string {
	q := url.Values{}
	for i := 0; i < len(change); i += 2 {
		q.Set(change[i], change[i+1])
	}
	text := v.query(q)
	kept, _ := url.ParseQuery(text)
	for name, values := range kept {
		if values[0] == "" {
			delete(kept, name)
		}
	}
	if len(kept) == 0 {
		return v.path()
	}
	return v.path() + "?" + kept.Encode()
}

func (v view) path() string {
	if v.name == "" {
		return "./"
	}
	return v.name
}

// source returns the source with that name, the first for "", nil if there is none.
func (u *UI) source(name string) *source {
	for _, s := range u.sources {
		if s.Name == name || name == "" {
			return s
		}
	}
	return nil
}

// sourceOf returns the source that a page of this sort is about, nil if there is none.
func (u *UI) sourceOf(kind viewKind, name string) *source {
	if kind.acts && name == "" {
		return u.journal
	}
	return u.source(name)
}

// fragment is the part of a page that changes.
type fragment struct {
	title string
	html  []byte
	point string // the newest values of the charts, if it has some
}

// viewKind is a sort of pages.
type viewKind struct {
	tab         string // in the header, if it is there
	template    string // "" for a page of the program's own
	pools, jobs bool   // what it is about
	acts        bool   // it has what was done by hand, which is kept without a source, too
	parse       func(*view, url.Values) error
	// body returns the title, and what the template shows.
	body func(ctx context.Context, u *UI, v view) (title string, body any, err error)
}

// views are the pages by the last element of their paths.
var views map[string]viewKind

func init() {
	views = map[string]viewKind{
		"":          {tab: "Overview", template: "overview", body: overviewBody},
		"pools":     {tab: "Pools", template: "pools", pools: true, parse: parsePools, body: poolsBody},
		"pool":      {template: "poolPage", pools: true, parse: parsePool, body: poolBody},
		"schedules": {tab: "Schedules", template: "schedules", parse: parseSchedules, body: schedulesBody},
		"jobs":      {tab: "Jobs", template: "jobs", jobs: true, parse: parseJobs, body: jobsBody},
		"job":       {template: "job", jobs: true, parse: parseJob, body: jobBody},
		"runs":      {tab: "Runs", template: "runs", jobs: true, parse: parseRuns, body: runsBody},
		"nodes":     {tab: "Nodes", template: "nodes", jobs: true, body: nodesBody},
		"acts":      {tab: "Actions", template: "acts", jobs: true, acts: true, parse: parseActs, body: actsBody},
		"dead":      {tab: "Dead", template: "dead", jobs: true, body: deadBody},
	}
}

// tabOrder are the views of the header.
var tabOrder = []string{"", "pools", "schedules", "jobs", "runs", "nodes", "dead", "acts"}

// fragment returns the part of a page that changes. It is rendered at most once in a second.
func (u *UI) fragment(ctx context.Context, v view) (*fragment, error) {
	f, _, err := cached(ctx, &u.cache, v, func(time.Duration) time.Duration { return freshness },
		func() (*fragment, error) {
			kind := u.views[v.name]
			title, body, err := kind.body(ctx, u, v)
			if err != nil {
				return nil, err
			}
			if kind.template == "" { // it is of the program's own
				return &fragment{title: title, html: []byte(body.(template.HTML))}, nil
			}
			var b bytes.Buffer
			if err := templates.ExecuteTemplate(&b, kind.template, body); err != nil {
				return nil, err
			}
			f := &fragment{title: title, html: b.Bytes()}
			if kind.template == "overview" && u.config.Observer != nil {
				f.point = u.looked().newest.message()
			}
			return f, nil
		})
	return f, err
}

// serveEvents sends the part of a page that changes, whenever it has.
func (u *UI) serveEvents(w http.ResponseWriter, r *http.Request, access Access) {
	q := r.URL.Query()
	v, err := u.viewOf(q.Get("view"), q, access)
	if err != nil {
		http.Error(w, "ui: "+err.Error(), http.StatusBadRequest)
		return
	}
	u.streams.Serve(w, r, func() (page.Update, error) {
		f, err := u.fragment(r.Context(), v)
		if err != nil {
			return page.Update{}, err
		}
		return page.Update{Main: f.html, Point: f.point}, nil
	})
}

// servePage answers with a page.
func (u *UI) servePage(w http.ResponseWriter, r *http.Request, name string, access Access) {
	q := r.URL.Query()
	if id, ok := searchedID(name, q); ok {
		http.Redirect(w, r, view{name: "job", source: q.Get("source"), id: id}.link(), http.StatusSeeOther)
		return
	}
	v, err := u.viewOf(name, q, access)
	var f *fragment
	if err == nil {
		f, err = u.fragment(r.Context(), v)
	}
	if err != nil {
		u.serveError(w, r, v, err)
		return
	}
	u.serve(w, http.StatusOK, v, f.title, v.events(), f.html)
}

// serveError answers with a page that has nothing but an error.
func (u *UI) serveError(w http.ResponseWriter, r *http.Request, v view, err error) {
	status := http.StatusServiceUnavailable
	var bad *badRequest
	var none *gone
	switch {
	case errors.As(err, &bad):
		status = http.StatusBadRequest
	case errors.As(err, &none):
		status = http.StatusNotFound
	case r.Context().Err() != nil:
		return
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "error", page.Lines(err.Error(), 1000)); err != nil {
		http.Error(w, "ui: "+err.Error(), http.StatusInternalServerError)
		return
	}
	u.serve(w, status, v, http.StatusText(status), "", b.Bytes())
}

// serve answers with a page around main.
func (u *UI) serve(w http.ResponseWriter, status int, v view, title, events string, main []byte) {
	text, err := u.framed(v, title, events, template.HTML(main))
	if err != nil {
		http.Error(w, "ui: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // the browser may have left; net/http leaves it out for HEAD
}

// framed returns a page around main.
func (u *UI) framed(v view, title, events string, main template.HTML) ([]byte, error) {
	p := layout{
		Title: title, Name: u.config.Title, Events: events, Tabs: u.tabs(v), Main: main, Menu: u.config.Menu,
		ReadOnly: !v.act && len(u.config.Pages) == 0,
	}
	if u.views[v.name].jobs && len(u.sources) > 1 {
		for _, s := range u.sources {
			to := view{name: v.name, source: s.Name}
			if v.name == "job" {
				to.name = "jobs"
			}
			p.Sources = append(p.Sources, tab{page.Printable(s.Name, 40), to.link(), s.Name == v.source})
		}
	}
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, "page", p)
	return b.Bytes(), err
}

// tabs returns the links of the header to the views that there are.
func (u *UI) tabs(v view) (all []tab) {
	for _, name := range u.tabOrder {
		kind := u.views[name]
		if kind.pools && u.config.Observer == nil || kind.jobs && u.sourceOf(kind, "") == nil {
			continue
		}
		to := view{name: name}
		if kind.jobs {
			to.source = v.source
		}
		all = append(all, tab{kind.tab, to.link(), name == v.name || slices.Contains(under[name], v.name)})
	}
	return all
}

// under are the views whose tab is that of another one.
var under = map[string][]string{"pools": {"pool"}, "jobs": {"job"}}

// limited returns a text of a query, or an error if it is too long.
func limited(q url.Values, name string, most int) (string, error) {
	text := strings.TrimSpace(q.Get(name))
	if len(text) > most {
		return "", &badRequest{name + " has " + strconv.Itoa(len(text)) + " bytes; it must have at most " + strconv.Itoa(most)}
	}
	return text, nil
}
