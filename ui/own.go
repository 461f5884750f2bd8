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

	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/ui/internal/act"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/pages"
)

// Page is a page of the program's own among those of a [UI]. It has the same header, style and live updates.
type Page struct {
	// Path is the last element of the page's address, such as "backups"; "" is the first page. The page replaces the
	// page of the UI that has the same Path. Path must not contain a slash or be one of ".", "..", "events", "act" and
	// "output", and must be unique among Config.Pages.
	Path string

	// Tab is the name of the page in the header. If it is empty, the page has no tab: only links lead to it, and the
	// first tab is marked while it is shown. The tab of a page that replaces another has its place; the others come
	// after those of the jobs, the runs and the timeline, in the order of Config.Pages.
	Tab string

	// Body returns the title of the page and its content. The goroutine of a request calls it, and calls it again while
	// the page is open, but at most once a second for each query however many people look: once for those who may act,
	// see [MayAct], and once for the others. If Body returns an error, the page shows the error; the status is that of
	// [BadRequest] or [NotFound], and 503 for any other error. If Body is nil, the UI has no page with that Path, and no
	// tab for it.
	Body func(ctx context.Context, q url.Values) (title string, main template.HTML, err error)
}

// Action is an action of the program's own. A [Page] offers it by a link to "act?do=NAME&…", with any further
// parameters. As with the actions of the UI, a page asks the user for a confirmation and a reason, and the action is
// written to the log and to the audit log.
type Action struct {
	// Name is the parameter do of the link, such as "back-up". It appears in the log and the audit log.
	Name string

	// Title says what the action does, such as "Back up the disk db". Says is a sentence about what will happen. The
	// page that asks for the confirmation shows both.
	Title, Says string

	// Danger marks an action that can't be undone. The default is false.
	Danger bool

	// Key is the key of the job, in the first of Config.Jobs, that the action concerns. The default, "", is no job.
	Key string

	// Back is the address of the page to return to, relative to the address of the UI. The default, "", is the page of
	// the job or, without a Key, the first page.
	Back string

	// Attrs are added to the line in the log that says who carried out the action, and why. The default is none.
	Attrs []slog.Attr

	// Do carries out the action; it is required. The goroutine of the request calls it. ctx ends after a minute. It does
	// not end if the browser disconnects. Do returns what became of the action, in Text in a few words, and in Says as a
	// sentence; without Says, the page says whether it is done. The status of the answer to the request follows from
	// Outcome:
	//
	//   - [durable.Applied] and [durable.Deferred]: it is done now, or will be soon. The status is 200.
	//   - [durable.TooLate]: the present state does not allow it. The status is 409.
	//   - [durable.NotFound]: what it is about is not there. The status is 404.
	//
	// If Do returns an error, the action may or may not be done; the text may say which. The status is that of
	// [BadRequest] or [NotFound], 400 for an error that matches [executor.ErrInvalid], and 503 for any other.
	Do func(ctx context.Context) (admin.Answer, error)
}

// MayAct reports whether those for whom Page.Body is called with ctx may act, so that the page may offer actions. It
// returns false for any other context.
func MayAct(ctx context.Context) bool { return pages.MayAct(ctx) }

// BadRequest returns an error for Page.Body, Config.ActionOf and Action.Do to return. The answer to the request has the
// status 400 and this text, which should say what is wrong with the request.
func BadRequest(text string) error { return address.Badf("%s", text) }

// NotFound returns an error for Page.Body, Config.ActionOf and Action.Do to return. The answer to the request has the status 404
// and this text, which should say what was not found.
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
var reserved = []string{".", "..", "events", "act", "output", "zone"}

// Frame returns the HTML before and after the content of a page with this title. Use it for an answer of the program's
// own that is not a [Page], such as one that is streamed. If path is the path of a page with a tab, that tab is marked.
// The title does not have the number of problems. The content between must be HTML whose text is escaped. r is the request
// that is answered.
func (u *UI) Frame(r *http.Request, title, path string) (head, tail []byte, err error) {
	return u.site.Frame(r, title, path)
}

// BareFrame is [UI.Frame] without tabs and without Config.Menu, for a login page.
func (u *UI) BareFrame(title string) (head, tail []byte, err error) {
	return u.site.BareFrame(title)
}

// Assets returns a handler that serves the files which the pages load, such as the style sheet, and answers every other
// request with status 404. A UI serves these files itself. Assets is for a login page in front of a UI that has the
// same style. The handler does not check hosts.
func Assets() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !pages.Assets.Serve(w, r, path.Base(r.URL.Path)) {
			http.NotFound(w, r)
		}
	})
}
