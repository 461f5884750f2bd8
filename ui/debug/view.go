package debug

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/page"
)

// view is what a page shows. The zero view is the overview.
type view struct {
	name string // "", "pool" or "schedules"
	pool int    // the number
}

// viewOf returns the view of a path and a query, or of an "events" query.
func viewOf(name string, q url.Values) (view, error) {
	v := view{name: name}
	switch name {
	case "", "schedules":
		return v, nil
	case "pool":
		n, err := strconv.Atoi(q.Get("id"))
		if err != nil || n < 1 {
			return v, fmt.Errorf("id is %.20q; it must be the number of a pool, from 1", q.Get("id"))
		}
		v.pool = n
		return v, nil
	}
	return v, fmt.Errorf(`view is %.20q; it must be "", "pool" or "schedules"`, name)
}

// events returns the address of the live updates of v.
func (v view) events() string {
	q := url.Values{"view": {v.name}}
	if v.name == "pool" {
		q.Set("id", strconv.Itoa(v.pool))
	}
	return "events?" + q.Encode()
}

// content is what the templates show of a view.
type content struct {
	View   string
	Title  string
	Events string

	Problems string // how many, "" if there are none
	At       string
	Stamp    string // At for programs

	Attention []poolview.Notice
	Pools     []poolview.Row
	More      int // pools that are not shown

	Pool      *poolview.Page
	Schedules *schedulesPage
	Happened  []poolview.Happened
}

// servePage answers with a page.
func (h *handler) servePage(w http.ResponseWriter, r *http.Request, v view) {
	c, err := newContent(h.watcher.Look(), v)
	if err != nil {
		http.Error(w, "debug: "+err.Error(), http.StatusNotFound)
		return
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "page", c); err != nil {
		http.Error(w, "debug: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.Write(b.Bytes()) // net/http leaves it out for HEAD
}

// serveEvents sends the part of a page that changes, whenever it has.
func (h *handler) serveEvents(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v, err := viewOf(q.Get("view"), q)
	if err != nil {
		http.Error(w, "debug: "+err.Error(), http.StatusBadRequest)
		return
	}
	h.streams.Serve(w, r, func() (page.Update, error) {
		main, err := h.fragment(v)
		return page.Update{Main: main}, err
	})
}

// fragment returns the part of a page that changes, rendered once for each look.
func (h *handler) fragment(v view) ([]byte, error) {
	l := h.watcher.Look()
	h.mu.Lock()
	if h.look != l {
		h.look, h.rendered = l, make(map[view][]byte)
	}
	known := h.rendered[v]
	h.mu.Unlock()
	if known != nil {
		return known, nil
	}
	c, err := newContent(l, v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "main", c); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.look == l {
		h.rendered[v] = b.Bytes()
	}
	return b.Bytes(), nil
}

// newContent returns what a view shows of a look.
func newContent(l *poolview.Look, v view) (*content, error) {
	all := l.Attention()
	c := &content{
		View: v.name, Events: v.events(), Problems: poolview.ProblemsText(poolview.Problems(all)),
		At: l.At.Format("15:04:05 MST"), Stamp: l.At.UTC().Format(time.RFC3339),
	}
	switch v.name {
	case "":
		c.Title = "Overview"
		c.Attention = poolview.Urgent(all)
		c.Pools, c.More = l.Rows("", poolview.RowLimit)
		c.Happened = l.Happened(0)
	case "schedules":
		c.Title = "Schedules"
		c.Schedules = newSchedulesPage(l)
	case "pool":
		c.Pool = l.Page(v.pool)
		if c.Pool == nil {
			return nil, fmt.Errorf("there is no pool %d; it may have ended", v.pool)
		}
		c.Title = c.Pool.Title
	}
	return c, nil
}
