package ui

import (
	"bytes"
	"context"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Page is a page of the program's own, in the frame of those of a UI: with the same header, style and live updates.
type Page struct {
	// Path is the last element of its address, as "backups"; "" is that of the first page. The page takes the place of
	// that of UI with the same Path.
	Path string

	// Tab is its name in the header. The default, "", is a page that only links lead to. Tabs of such pages come before
	// the others, in the order of Config.Pages.
	Tab string

	// Body returns the title of the page, and what is in it. It is called by requests, for each query at most once in a
	// second however many look, and again while the page is open. An error is shown; that of NotFound with status 404.
	// A nil Body removes the page of UI with that Path, and its tab.
	Body func(ctx context.Context, q url.Values) (title string, main template.HTML, err error)
}

// NotFound returns an error for a Page, whose text says what is not there.
func NotFound(text string) error { return &gone{text} }

// ownLimit is how long the query of a Page may be.
const ownLimit = 64 << 10

// addPages adds the pages of the program's own to the views.
func (u *UI) addPages(pages []Page) error {
	u.views, u.tabOrder = maps.Clone(views), nil
	for i, p := range pages {
		switch {
		case strings.Contains(p.Path, "/"), reserved[p.Path]:
			return invalid("Config.Pages[%d].Path is %q; it must be one element of a path, and none of events, act and output",
				i, p.Path)
		case slices.ContainsFunc(pages[:i], func(other Page) bool { return other.Path == p.Path }):
			return invalid("Config.Pages[%d].Path is %q, as that of an earlier one; each must have its own", i, p.Path)
		case p.Body == nil:
			delete(u.views, p.Path)
			continue
		}
		u.views[p.Path] = viewKind{tab: p.Tab, parse: parseOwn, body: p.body}
		if p.Tab != "" {
			u.tabOrder = append(u.tabOrder, p.Path)
		}
	}
	for _, name := range tabOrder {
		if kind, ok := u.views[name]; ok && !slices.Contains(u.tabOrder, name) && kind.template != "" {
			u.tabOrder = append(u.tabOrder, name)
		}
	}
	return nil
}

// reserved are the last elements of paths that are no pages.
var reserved = map[string]bool{".": true, "..": true, "events": true, "act": true, "output": true}

func (p *Page) body(ctx context.Context, _ *UI, v view) (string, any, error) {
	q, err := url.ParseQuery(v.own)
	if err != nil {
		return "", nil, &badRequest{err.Error()}
	}
	title, main, err := p.Body(ctx, q)
	return title, main, err
}

func parseOwn(v *view, q url.Values) error {
	q = maps.Clone(q)
	q.Del("view")
	if v.own = q.Encode(); len(v.own) > ownLimit {
		return &badRequest{"the query has " + strconv.Itoa(len(v.own)) + " bytes; it must have at most " + strconv.Itoa(ownLimit)}
	}
	return nil
}

// Frame returns what is before and after the content of a page with this title, for answers of the program's own that
// are not a [Page], as one that grows. The tab of the page with this path is marked, if there is one.
func (u *UI) Frame(title, path string) (head, tail []byte, err error) {
	const here = "\x00"
	text, err := u.framed(view{name: path}, title, "", here)
	head, tail, _ = bytes.Cut(text, []byte(here))
	return head, tail, err
}

// Assets returns a handler of the files that pages load, and of nothing else. A UI serves them, too; this is for those
// who must log in before they may ask a UI, so that the page for that can have its style.
func Assets() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !assets.Serve(w, r, path.Base(r.URL.Path)) {
			http.NotFound(w, r)
		}
	})
}
