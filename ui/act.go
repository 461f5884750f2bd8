package ui

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/executor-go/executor/ui/page"
)

const (
	actLimit    = 500      // jobs of one request
	actBytes    = 64 << 10 // of a request
	actTime     = time.Minute
	reasonLimit = 500 // bytes
)

// order is what a request asks to be done.
type order struct {
	targets []*target
	deeds   []deed // that can be done to them
	deed    *deed  // that is chosen, nil if none is
	reason  string
	value   string
	view    view // that the targets belong to
}

// confirmPage asks whether an order is meant, and what is to be done if that is not chosen yet.
type confirmPage struct {
	Title   string
	Deed    *deed
	Deeds   []deed // to choose from, if there is no Deed
	Label   string // of the value that is needed, "" if none is
	Value   string
	Reason  string
	Error   string
	Source  string
	Targets []*target
	Others  []*target // that are not shown
	Number  int       // of all
	Back    string
}

// serveAct asks for the confirmation of an order, or carries it out and leads to the answers.
func (u *UI) serveAct(w http.ResponseWriter, r *http.Request, access Access, who string) {
	v := view{name: "jobs", act: true}
	if access != Act {
		u.serveForbidden(w, v)
		return
	}
	if r.Method != http.MethodPost {
		if token := r.URL.Query().Get("answers"); token != "" {
			u.serveAnswers(w, r, v, token)
			return
		}
	}
	r.Body = http.MaxBytesReader(w, r.Body, actBytes)
	if err := r.ParseForm(); err != nil {
		u.serveError(w, r, v, &badRequest{"the form can't be read: " + err.Error()})
		return
	}
	o := &order{reason: strings.TrimSpace(r.Form.Get("reason")), value: strings.TrimSpace(r.Form.Get("value"))}
	var err error
	o.targets, o.deeds, o.view, err = u.aim(r.Context(), r.Form)
	v = o.view
	v.act = true
	if err != nil {
		u.serveError(w, r, v, err)
		return
	}
	o.choose(r.Form.Get("do"))
	var problem string
	if r.Method == http.MethodPost && r.PostForm.Get("confirmed") == "yes" {
		var do doing
		if do, problem = o.complete(); problem == "" {
			token := u.answers.add(u.carryOut(r.Context(), o, do, who))
			http.Redirect(w, r, "act?answers="+token, http.StatusSeeOther)
			return
		}
	}
	p, err := o.confirm(r.Context())
	if err != nil {
		u.serveError(w, r, v, err)
		return
	}
	p.Error = problem
	status := http.StatusOK
	if problem != "" {
		status = http.StatusUnprocessableEntity
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "confirm", p); err != nil {
		u.serveError(w, r, v, err)
		return
	}
	u.serve(w, status, v, p.Title, "", b.Bytes())
}

func (u *UI) serveForbidden(w http.ResponseWriter, v view) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "error", "You have read-only access."); err != nil {
		http.Error(w, "ui: "+err.Error(), http.StatusInternalServerError)
		return
	}
	v.act = false
	u.serve(w, http.StatusForbidden, v, "Forbidden", "", b.Bytes())
}

// choose sets the deed by its name. What is the only one need not be named.
func (o *order) choose(name string) {
	i := slices.IndexFunc(o.deeds, func(d deed) bool { return d.Name == name || name == "" && len(o.deeds) == 1 })
	if i >= 0 {
		o.deed = &o.deeds[i]
	}
}

// complete checks what was typed, and returns what does it, or what is wrong.
func (o *order) complete() (do doing, problem string) {
	switch {
	case o.deed == nil:
		return nil, "Choose an action; the one that was chosen may no longer be available."
	case o.reason == "":
		return nil, "Please give a reason; it is stored with the action."
	case len(o.reason) > reasonLimit || !utf8.ValidString(o.reason):
		return nil, fmt.Sprintf("The reason has %d bytes; it must have at most %d, of UTF-8.", len(o.reason), reasonLimit)
	}
	do, err := o.deed.ready(o.value)
	if err != nil {
		return nil, "The " + err.Error() + "."
	}
	return do, ""
}

// confirm returns the page that asks for confirmation.
func (o *order) confirm(ctx context.Context) (*confirmPage, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	p := &confirmPage{
		Deed: o.deed, Value: o.value, Reason: o.reason, Source: o.view.source, Number: len(o.targets),
		Back: o.view.link(),
	}
	p.Targets = o.targets[:min(len(o.targets), rowLimit)]
	p.Others = o.targets[len(p.Targets):]
	for _, t := range p.Targets {
		if err := t.read(ctx); err != nil {
			return nil, err
		}
	}
	offered := o.deeds
	if o.deed != nil {
		offered = []deed{*o.deed}
		p.Title = o.deed.Title
	} else {
		p.Deeds, p.Title = o.deeds, "Change"
	}
	for _, d := range offered {
		if d.Label != "" {
			p.Label = d.Label
			if p.Value == "" {
				p.Value = d.preset
			}
		}
	}
	if len(o.targets) == 1 {
		if o.targets[0].sort != "jobs" { // whose title says so
			p.Title += " " + o.targets[0].Name
		}
		p.Back = o.targets[0].Path
	} else {
		p.Title = fmt.Sprintf("%s: %d jobs", p.Title, p.Number)
	}
	return p, nil
}

// carryOut does what an order says, to one target after the other, and returns the answers. It goes on if the browser
// leaves.
func (u *UI) carryOut(ctx context.Context, o *order, do doing, who string) *answersPage {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), actTime)
	defer cancel()
	p := &answersPage{
		Title: o.deed.Title, Reason: page.Printable(o.reason, reasonLimit), view: o.view, Back: o.view.link(),
	}
	for _, t := range o.targets {
		_ = t.read(ctx) // for its key; it is not needed
		done, err := do.safely(ctx, t)
		attrs := []any{"action", o.deed.Name, t.sort, t.named(), "reason", o.reason, "who", who}
		if o.view.source != "" {
			attrs = append(attrs, "source", o.view.source)
		}
		if err != nil {
			if done.answer == "" {
				done.answer = "not known"
			}
			done.says, done.bad = page.Lines(err.Error(), 300), true
			u.config.Logger.Warn("ui: action failed", append(attrs, "err", err)...)
		} else {
			u.config.Logger.Info("ui: action", append(attrs, "answer", done.answer)...)
		}
		act := t.act(o.deed)
		act.Who, act.Reason, act.Answer = who, o.reason, done.answer
		if err := t.source.Jobs.NoteAct(ctx, act); err != nil {
			u.config.Logger.Warn("ui: action could not be stored; it is in this log only", append(attrs, "err", err)...)
		}
		p.Answers = append(p.Answers, answerRow{t.Name, t.Path, done.answer, done.says, done.bad})
	}
	u.cache.reset() // pages show at once what has changed
	return p
}
