package ui

import (
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/executor-go/executor/ui/internal/act"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/pages"
)

// Page is a page of the program's own, in the frame of those of a UI: with the same header, style and live updates.
type Page struct {
	// Path is the last element of the page's address, as "backups"; "" is the first page. The page replaces the one of
	// UI with the same Path.
	Path string

	// Tab is its name in the header. The default, "", is no tab: only links lead to the page, and the first tab is
	// marked while it is shown. Tabs of such pages come before the others, in the order of Config.Pages.
	Tab string

	// Body returns the title of the page and its content. Requests call it, at most once in a second for each query
	// however many people look, and again while the page is open. The page shows an error; that of NotFound has the
	// status 404. A nil Body removes the page of UI with that Path, and its tab.
	Body func(ctx context.Context, q url.Values) (title string, main template.HTML, err error)
}

// Action is what a page of the program's own asks for, by a link to "act?do=NAME&…" with whatever else it needs. As the
// actions of UI it is confirmed on a page of its own, needs a reason, is logged, and is kept in the store.
type Action struct {
	// Name is the do of the link, as "back-up". The log and the list of actions have it.
	Name string

	// Title says what is done to what, as "Back up the disk db". Says is what will happen, as a sentence.
	Title, Says string

	// Danger marks what can't be undone. The default is false.
	Danger bool

	// Key is the key of the job of the first of Config.Jobs to which it is done. The default, "", is none.
	Key string

	// Back is the address of the page to go back to, relative to that of UI. The default, "", is that of the job, or
	// the first page if there is none.
	Back string

	// Attrs are about it in the log, beside who did it and why. The default is none.
	Attrs []slog.Attr

	// Do does it, and is required. It returns what became of it in a few words, and whether it is done, now or soon.
	// After an error it is not known whether it is, as the answer may say. ctx ends after a minute; that the browser
	// leaves does not end it.
	Do func(ctx context.Context) (answer string, done bool, err error)
}

// NotFound returns an error for Page.Body and Config.ActionOf: the page has the status 404 and this text, which says
// what was not found.
func NotFound(text string) error { return address.Gonef("%s", text) }

// ownPages returns the pages of the program's own, or what is wrong with them.
func ownPages(all []Page) (own []pages.Own, err error) {
	for i, p := range all {
		switch {
		case strings.Contains(p.Path, "/"), slices.Contains(reserved, p.Path):
			return nil, invalid("Config.Pages[%d].Path is %q; it must be one element of a path, and none of events, act and output",
				i, p.Path)
		case slices.ContainsFunc(all[:i], func(other Page) bool { return other.Path == p.Path }):
			return nil, invalid("Config.Pages[%d].Path is %q, which an earlier one has; paths must be unique", i, p.Path)
		}
		own = append(own, pages.Own(p))
	}
	return own, nil
}

// ownActions returns what finds the actions of the program's own, nil if there are none.
func ownActions(of func(url.Values) (*Action, error)) func(url.Values) (*act.Own, error) {
	if of == nil {
		return nil
	}
	return func(q url.Values) (*act.Own, error) {
		a, err := of(q)
		return (*act.Own)(a), err
	}
}

// reserved are the last elements of paths that are no pages.
var reserved = []string{".", "..", "events", "act", "output"}

// Frame returns the HTML before and after the content of a page with this title, for answers of the program's own that
// are not a [Page], such as one that is streamed. The tab of the page with this path is marked, if there is one.
// The title has no number of problems.
func (u *UI) Frame(title, path string) (head, tail []byte, err error) {
	return u.site.Frame(title, path)
}

// BareFrame is Frame without tabs and Config.Menu: for a login page, whose reader may see no other page yet.
func (u *UI) BareFrame(title string) (head, tail []byte, err error) {
	return u.site.BareFrame(title)
}

// Assets returns a handler for the files that pages load, and nothing else. A UI serves them, too; Assets is for a
// login page in front of a UI, which can have the same style.
func Assets() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !pages.Assets.Serve(w, r, path.Base(r.URL.Path)) {
			http.NotFound(w, r)
		}
	})
}
