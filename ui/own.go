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

// Action is an action of the program's own, which one of its pages offers by a link to "act?do=NAME&…", with any
// further parameters. Like the actions of UI, it is confirmed on a page, needs a reason, is logged, and is kept in the
// audit log.
type Action struct {
	// Name is the parameter do of the link, such as "back-up". The log and the audit log have it.
	Name string

	// Title says what is done, as "Back up the disk db". Says is a sentence about what will happen.
	Title, Says string

	// Danger marks what can't be undone. The default is false.
	Danger bool

	// Key is the key of the job, in the first of Config.Jobs, that the action is done to. The default, "", is none.
	Key string

	// Back is the address of the page to go back to, relative to that of UI. The default, "", is that of the job, or
	// the first page if there is none.
	Back string

	// Attrs are added to the line of the log, which says who did it and why. The default is none.
	Attrs []slog.Attr

	// Do carries out the action; it is required. It returns the outcome in a few words, and whether the action is done,
	// now or soon. After an error the action may or may not be done; the answer may say more. ctx ends after a minute,
	// but not if the browser leaves.
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
