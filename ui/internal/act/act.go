// Package act carries out what is asked to be done to jobs, pools and schedules, after a confirmation and with a
// reason, and keeps what was done.
package act

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/figures"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

const (
	actLimit    = 500      // jobs of one request that are chosen one by one
	actAllLimit = 10_000   // of a list
	actBytes    = 64 << 10 // of a request
	actTime     = time.Minute
	reasonLimit = 500 // bytes

	shownTargets = 50 // of an order that is to be confirmed
)

// order is what a request asks to be done.
type order struct {
	targets []*target
	actions []action // that can be done to them
	action  *action  // that is chosen, nil if none is
	reason  string
	given   url.Values   // what was typed
	view    address.View // that the targets belong to
	zone    page.Zone    // of the reader
}

// confirmPage asks whether an order is meant, and what is to be done if that is not chosen yet.
type confirmPage struct {
	Title   string
	Action  *action
	Actions []action // to choose from, if there is no Action
	Asks    []ask
	Reason  string
	Error   string
	Source  string
	Fields  []field   // that name the targets
	Targets []*target // that are shown
	Others  int       // that are not
	Number  int       // of all
	Back    string
}

// Engine changes jobs, pools and schedules. Its methods may be called by any goroutine.
type Engine struct {
	Sources  source.Sources
	Journal  *source.Source     // that keeps what was done to pools
	Observer *executor.Observer // nil if there are no pools
	Pools    *figures.Pools
	Cache    *source.Cache // reset after a change, so that pages show at once what has changed
	Logger   *slog.Logger

	// Own returns the action of the program's own that a form asks for, nil if it asks for none of them. It may be nil.
	Own func(form url.Values) (*Own, error)

	answers answers
}

// An Answer is what a request is answered with: a page, or where to go; and the same for a program.
type Answer struct {
	Redirect        string // "" for a page
	View            address.View
	Title, Template string
	Body            any
	page.Result     // Status is that of the page, too
}

// Answer carries out the order of a POST, or asks for the confirmation of one. With an error, Answer has the view that
// the request was about. The caller has checked that the request may change things.
func (e *Engine) Answer(w http.ResponseWriter, r *http.Request, who string) (Answer, error) {
	a := Answer{View: address.View{Name: "jobs", Act: true}, Result: page.Result{Status: http.StatusOK}}
	posted := r.Method == http.MethodPost
	if !posted {
		if token := r.URL.Query().Get("answers"); token != "" {
			return e.answered(a, token)
		}
	}
	r.Body = http.MaxBytesReader(w, r.Body, actBytes)
	if err := r.ParseForm(); err != nil {
		return a, address.Badf("the form can't be read: %v", err)
	}
	a.Action = page.Printable(r.Form.Get("do"), 40)
	o := &order{reason: strings.TrimSpace(r.Form.Get("reason")), given: make(url.Values), zone: page.ZoneOf(r)}
	if posted { // a reason in an address may be of who made the link
		o.reason = strings.TrimSpace(r.PostForm.Get("reason"))
	}
	for _, name := range []string{"value", "queue", "signal"} {
		o.given.Set(name, strings.TrimSpace(r.Form.Get(name)))
	}
	var err error
	o.targets, o.actions, o.view, err = e.aim(r.Context(), r.Form)
	a.View = o.view
	a.View.Act = true
	if err != nil {
		return a, err
	}
	o.choose(r.Form.Get("do"))
	if posted {
		var do doing
		if do, err = o.complete(r.Form.Get("do")); err == nil {
			done := e.carryOut(r.Context(), o, do, who)
			a.Title, a.Template, a.Body, a.Result = done.Title, "answers", done, done.result
			if a.Done {
				a.Redirect = "act?answers=" + e.answers.add(done)
			}
			return a, nil
		}
		a.Status, a.Result.Answer = address.StatusOf(err), err.Error()
	}
	p, unread := o.confirm(r.Context())
	if unread != nil {
		return a, unread
	}
	if err != nil {
		p.Error = err.Error()
	}
	a.Title, a.Template, a.Body = p.Title, "confirm", p
	return a, nil
}

// choose sets the action by its name. What is the only one need not be named.
func (o *order) choose(name string) {
	i := slices.IndexFunc(o.actions, func(d action) bool { return d.Name == name || name == "" && len(o.actions) == 1 })
	if i >= 0 {
		o.action = &o.actions[i]
	}
}

// complete checks what was typed, and returns what does it, or what is wrong. name is that of the action.
func (o *order) complete(name string) (doing, error) {
	switch {
	case o.action == nil && name == "":
		return nil, address.Badf("Choose an action.")
	case o.action == nil && slices.Contains(names, name):
		return nil, address.Conflictf("%s is not possible here, or not any more. Choose an action.", name)
	case o.action == nil:
		return nil, address.Badf("There is no action %.40q. Choose an action.", name)
	case o.reason == "":
		return nil, address.Badf("Please give a reason; it is stored with the action.")
	case len(o.reason) > reasonLimit || !utf8.ValidString(o.reason):
		return nil, address.Badf("The reason has %d bytes; it must have at most %d, of UTF-8.", len(o.reason), reasonLimit)
	}
	do, err := o.action.ready(o.given, o.zone.Location())
	if err != nil {
		return nil, address.Badf("The %v.", err)
	}
	return do, nil
}

// confirm returns the page that asks for confirmation.
func (o *order) confirm(ctx context.Context) (*confirmPage, error) {
	ctx, cancel := context.WithTimeout(ctx, source.QueryTime)
	defer cancel()
	p := &confirmPage{
		Action: o.action, Reason: o.reason, Source: o.view.Source, Number: len(o.targets),
		Back: o.view.Link(),
	}
	for _, t := range o.targets {
		p.Fields = append(p.Fields, t.Fields...)
		switch {
		case t.sort == "own": // the title says what it is
			if t.Path == "" {
				_ = t.read(ctx) // for the way back; it is not needed
			}
			continue
		case len(p.Targets) == shownTargets:
			p.Others++
			continue
		}
		if err := t.read(ctx); err != nil {
			return nil, err
		}
		p.Targets = append(p.Targets, t)
	}
	offered := o.actions
	if o.action != nil {
		offered = []action{*o.action}
		p.Title = o.action.Title
	} else {
		p.Actions, p.Title = o.actions, "Change"
	}
	for _, d := range offered {
		for _, a := range d.Asks {
			a.Value = cmp.Or(o.given.Get(a.Name), a.Value)
			if o.action == nil { // it may not be for what is chosen
				a.Optional, a.Label = true, "To "+strings.ToLower(d.Title)+": "+strings.ToLower(a.Label[:1])+a.Label[1:]
			}
			if a.Zoned {
				zone := o.zone.Location().String()
				if zone == time.Local.String() {
					zone = o.zone.Now().Format("MST")
				}
				a.Label += ", in " + zone
			}
			p.Asks = append(p.Asks, a)
		}
	}
	if len(o.targets) == 1 {
		if t := o.targets[0]; t.sort != "jobs" && t.sort != "own" { // whose titles say so
			p.Title += " " + t.Name
		}
		p.Back = o.targets[0].Path
	} else {
		p.Title = fmt.Sprintf("%s: %d jobs", p.Title, p.Number)
	}
	return p, nil
}

// carryOut does what an order says, to one target after the other, and returns the answers. It goes on if the browser
// leaves.
func (e *Engine) carryOut(ctx context.Context, o *order, do doing, who string) *answersPage {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), actTime)
	defer cancel()
	p := &answersPage{
		Title: o.action.Title, Reason: page.Printable(o.reason, reasonLimit), view: o.view, Back: o.view.Link(),
		result: page.Result{Action: o.action.Name, Status: http.StatusOK},
	}
	for _, t := range o.targets {
		answer, err := do(ctx, t, by{who, o.reason})
		if t.sort == "job" && answer.Job.ID != (durable.ID{}) {
			t.is(&answer.Job)
		}
		status := statusOf(answer, err)
		if answer.Says == "" {
			answer.Says = map[bool]string{true: "It is done.", false: "It is not done."}[answer.Done()]
		}
		if err != nil {
			answer.Says = err.Error()
		}
		attrs := append([]any{"action", o.action.Name}, t.named()...)
		attrs = append(attrs, "reason", o.reason, "who", who)
		if o.view.Source != "" {
			attrs = append(attrs, "source", o.view.Source)
		}
		attrs = append(attrs, "answer", answer.Text, "done", status == http.StatusOK)
		if err != nil {
			attrs = append(attrs, "err", err)
		}
		if status == http.StatusOK {
			e.Logger.Info("ui: action", attrs...)
		} else {
			e.Logger.Warn("ui: action", attrs...)
		}
		if answer.Unnoted != nil {
			e.Logger.Warn("ui: action not stored", append(attrs, "err", answer.Unnoted)...)
		}
		if answer.Changed.More {
			p.GoOn = o.goOn(answer.Changed.After)
		}
		p.add(t, page.Target{
			Name: t.Name, Status: status, Done: status == http.StatusOK,
			Answer: page.Printable(answer.Text, durable.MaxAct), Says: page.Lines(answer.Says, 300), Run: answer.Run,
		})
	}
	p.end()
	if t := o.targets[0]; t.sort == "own" {
		p.Back = t.Path
	}
	e.Cache.Reset() // pages show at once what has changed
	return p
}

// goOn returns the address that asks for the same to the jobs of a list after the one with this ID.
func (o *order) goOn(after durable.ID) string {
	v := o.targets[0].view
	v.After, v.Source = after.String(), ""
	q := url.Values{"do": {o.action.Name}, "jobs": {v.Query(url.Values{})}, "reason": {o.reason}}
	if o.view.Source != "" {
		q.Set("source", o.view.Source)
	}
	for _, a := range o.action.Asks {
		q.Set(a.Name, o.given.Get(a.Name))
	}
	return "act?" + q.Encode()
}
