package pages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// View returns the view of a path and a query. With act it has what changes jobs.
func (u *Site) View(name string, q url.Values, act bool) (v address.View, err error) {
	v = address.View{Name: name, Act: act}
	kind, ok := u.kinds[name]
	if !ok {
		return v, address.Gonef("there is no page %q", page.Printable(name, 40))
	}
	var s *source.Source
	if kind.jobs {
		s = u.sourceOf(kind, q.Get("source"))
		if s == nil {
			return v, address.Gonef("there is no source of jobs %q", page.Printable(q.Get("source"), 40))
		}
		v.Source = s.Name
	} else if kind.pools && !u.Pooled {
		return v, address.Gonef("there are no pools, since Config has no Observer")
	}
	if kind.parse != nil {
		err = kind.parse(&v, q)
	}
	if err == nil && kind.check != nil {
		err = kind.check(s, v)
	}
	return v, err
}

// A Fragment is the part of a page that changes.
type Fragment struct {
	Title string
	HTML  []byte
	Point string // the newest values of the charts of pools, if it may have some
}

// views are the pages by the last element of their paths.
var views = map[string]kind{
	"":          {tab: "Overview", template: "overview", parse: parseCharts, body: overviewBody},
	"pools":     {tab: "Pools", template: "pools", pools: true, parse: parsePools, body: poolsBody},
	"pool":      {template: "poolPage", pools: true, parse: parsePool, body: poolBody},
	"schedules": {tab: "Timeline", template: "schedules", parse: parseSchedules, body: schedulesBody},
	"jobs":      {tab: "Jobs", template: "jobs", jobs: true, parse: (*address.View).ParseJobs, body: jobsBody},
	"job":       {template: "job", jobs: true, parse: parseJob, body: jobBody},
	"runs":      {tab: "Runs", template: "runs", jobs: true, parse: parseRuns, check: checkRuns, body: runsBody},
	"nodes":     {tab: "Nodes", template: "nodes", jobs: true, body: nodesBody},
	"acts":      {tab: "Audit", template: "acts", jobs: true, acts: true, parse: parseActs, body: actsBody},
	"dead":      {template: "dead", jobs: true, body: deadBody},
}

const freshness = 900 * time.Millisecond // a page is as good as a new one for so long

// tabOrder are the views of the header: what one looks at each day, then what is around it. Those of the program's own
// are at ownTabs.
var tabOrder = []string{"", "jobs", "runs", "schedules", ownTabs, "nodes", "pools", "acts"}

const ownTabs = "\x00" // no path

// Fragment returns the part of a page that changes. It is rendered at most once in a second.
func (u *Site) Fragment(ctx context.Context, v address.View) (*Fragment, error) {
	f, _, err := source.Cached(ctx, u.Cache, v, func(time.Duration) time.Duration { return freshness },
		func() (*Fragment, error) {
			zone, _ := page.ZoneNamed(v.Zone)
			ctx := context.WithValue(page.WithZone(ctx, zone), actKey{}, v.Act)
			kind := u.kinds[v.Name]
			title, body, err := kind.body(ctx, u, v)
			switch {
			case err != nil:
				return nil, err
			case ctx.Err() != nil: // and so a part of it may not have been read
				return nil, source.ErrLeft
			}
			if kind.template == "" { // it is of the program's own
				return &Fragment{Title: title, HTML: []byte(body.(template.HTML))}, nil
			}
			var b bytes.Buffer
			if err := templates.ExecuteTemplate(&b, kind.template, body); err != nil {
				return nil, err
			}
			f := &Fragment{Title: title, HTML: b.Bytes()}
			if u.Pooled && (kind.template == "overview" || kind.template == "poolPage") {
				f.Point = u.Pools.Look().Newest(v.Number)
			}
			return f, nil
		})
	return f, err
}

// actKey is for the context of Own.Body.
type actKey struct{}

// MayAct reports whether the page that is made with this context may have what changes jobs.
func MayAct(ctx context.Context) bool {
	act, _ := ctx.Value(actKey{}).(bool)
	return act
}

// ServePage answers with a page.
func (u *Site) ServePage(w http.ResponseWriter, r *http.Request, name string, act bool) {
	q := r.URL.Query()
	if id, ok := searchedID(name, q); ok {
		page.SeeOther(w, address.View{Name: "job", Source: q.Get("source"), ID: id}.Link())
		return
	}
	v, err := u.View(name, q, act)
	v.Zone = page.ZoneOf(r).Name()
	var f *Fragment
	if err == nil {
		f, err = u.Fragment(r.Context(), v)
	}
	if err != nil {
		u.ServeError(w, r, v, err)
		return
	}
	u.serve(w, r, http.StatusOK, v, f.Title, v.Events(), f.HTML)
}

// ServeError answers with a page that has nothing but an error, or with JSON.
func (u *Site) ServeError(w http.ResponseWriter, r *http.Request, v address.View, err error) {
	status := address.StatusOf(err)
	if status == http.StatusServiceUnavailable && r.Context().Err() != nil {
		return
	}
	if page.AcceptsJSON(r) {
		page.Refuse(w, r, status, errorText(err))
		return
	}
	u.ServeTemplate(w, r, status, v, page.ErrorTitle(status), "error", errorOf(err))
}

// Trouble returns what is in a page while it can't be read. An error is of a page that is not there any more.
func (u *Site) Trouble(err error) (main []byte, _ error) {
	if address.StatusOf(err) != http.StatusServiceUnavailable {
		return nil, err
	}
	var b bytes.Buffer
	err = templates.ExecuteTemplate(&b, "error", errorOf(err))
	return b.Bytes(), err
}

// errorPage is what the page of an error shows.
type errorPage struct{ Title, Text string }

func errorOf(err error) errorPage {
	return errorPage{page.ErrorTitle(address.StatusOf(err)), errorText(err)}
}

func errorText(err error) string { return page.Lines(err.Error(), 1000) }

// ServeOutput answers with what is kept of the output of a run, as text.
func (u *Site) ServeOutput(w http.ResponseWriter, r *http.Request) {
	v, err := u.View("job", r.URL.Query(), false)
	if err != nil {
		u.ServeError(w, r, v, err)
		return
	}
	o, err := u.Sources.Find(v.Source).Jobs.Output(r.Context(), v.ID, v.Run)
	if errors.Is(err, durable.ErrNotFound) {
		err = address.Gonef("there is no run %d of that job; it may have been removed", v.Run)
	}
	if err != nil {
		u.ServeError(w, r, v, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", `inline; filename="`+v.ID.String()+"-"+strconv.FormatInt(o.Seq, 10)+`.txt"`)
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(o.Head) // the browser may have left
	if n := o.Omitted(); n > 0 {
		fmt.Fprintf(w, "\n... %d bytes were not kept ...\n", n)
	}
	_, _ = w.Write(o.Tail)
}

// ServeTemplate answers with a page that is not updated, of what a template shows.
func (u *Site) ServeTemplate(w http.ResponseWriter, r *http.Request, status int, v address.View, title, name string, body any) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, body); err != nil {
		http.Error(w, "ui: "+err.Error(), http.StatusInternalServerError)
		return
	}
	u.serve(w, r, status, v, title, "", b.Bytes())
}

// searchedID returns the ID that was searched for in a list of jobs.
func searchedID(name string, q url.Values) (id durable.ID, ok bool) {
	if name != "jobs" {
		return id, false
	}
	text, err := address.Limited(q, "q", 100)
	if err != nil || text == "" {
		return id, false
	}
	id, err = durable.ParseID(text)
	return id, err == nil
}

// Own is a page of the program's own.
type Own struct {
	Path, Tab string
	Body      func(ctx context.Context, q url.Values) (title string, main template.HTML, err error)
}

// ownLimit is how long the query of an Own may be.
const ownLimit = 64 << 10

// Add makes the pages those of UI and the program's own, which take the place of others with the same Path, or remove
// them if they have no Body. It is called once, before any other method.
func (u *Site) Add(pages []Own) {
	u.kinds, u.own = maps.Clone(views), len(pages) > 0
	for _, p := range pages {
		if p.Body == nil {
			delete(u.kinds, p.Path)
			continue
		}
		u.kinds[p.Path] = kind{tab: p.Tab, parse: parseOwn, body: p.body}
	}
	for _, name := range tabOrder {
		if name == ownTabs {
			for _, p := range pages {
				if p.Tab != "" && !slices.Contains(tabOrder, p.Path) {
					u.tabOrder = append(u.tabOrder, p.Path)
				}
			}
		} else if kind, ok := u.kinds[name]; ok && kind.tab != "" {
			u.tabOrder = append(u.tabOrder, name)
		}
	}
}

func (p *Own) body(ctx context.Context, _ *Site, v address.View) (string, any, error) {
	q, err := url.ParseQuery(v.Own)
	if err != nil {
		return "", nil, address.Badf("%v", err)
	}
	title, main, err := p.Body(ctx, q)
	return title, main, err
}

func parseOwn(v *address.View, q url.Values) error {
	if v.Own = q.Encode(); len(v.Own) > ownLimit {
		return address.Badf("the query has %d bytes; it must have at most %d", len(v.Own), ownLimit)
	}
	return nil
}
