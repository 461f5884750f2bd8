package ui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/internal/page"
)

const (
	actLimit    = 500      // jobs of one request
	actBytes    = 64 << 10 // of a request
	actTime     = time.Minute
	reasonLimit = 500 // bytes
)

// deed is something that can be done to a job.
type deed struct {
	name   string // as in "do=run"
	title  string
	danger bool
	states []durable.State // in which it is offered
	says   string          // what will happen
	timed  bool            // it needs a time
	do     func(context.Context, *durable.Jobs, durable.ID, time.Time) (durable.Answer, error)
}

var deeds = []deed{
	{
		name: "run", title: "Run now",
		states: []durable.State{durable.Waiting, durable.Claimed, durable.Paused},
		says:   "It is due at once; a schedule goes on afterwards.",
		do: func(ctx context.Context, j *durable.Jobs, id durable.ID, _ time.Time) (durable.Answer, error) {
			return j.RunNow(ctx, id)
		},
	},
	{
		name: "pause", title: "Pause",
		states: []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed, durable.Running},
		says:   "It does not run until it is resumed. A run in progress goes on.",
		do: func(ctx context.Context, j *durable.Jobs, id durable.ID, _ time.Time) (durable.Answer, error) {
			return j.Pause(ctx, id)
		},
	},
	{
		name: "resume", title: "Resume",
		states: []durable.State{durable.Paused},
		says:   "It goes on at its time, or at once if that has passed.",
		do: func(ctx context.Context, j *durable.Jobs, id durable.ID, _ time.Time) (durable.Answer, error) {
			return j.Resume(ctx, id)
		},
	},
	{
		name: "reschedule", title: "Reschedule", timed: true,
		states: []durable.State{durable.Waiting, durable.Claimed, durable.Paused},
		says:   "Its next run is at that time; a schedule goes on from there.",
		do: func(ctx context.Context, j *durable.Jobs, id durable.ID, t time.Time) (durable.Answer, error) {
			return j.Reschedule(ctx, id, t)
		},
	},
	{
		name: "revive", title: "Revive",
		states: []durable.State{durable.Dead, durable.Canceled},
		says:   "It is due at once, with all its attempts.",
		do: func(ctx context.Context, j *durable.Jobs, id durable.ID, _ time.Time) (durable.Answer, error) {
			return j.Revive(ctx, id)
		},
	},
	{
		name: "cancel", title: "Cancel", danger: true,
		states: []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed, durable.Running, durable.Paused},
		says:   "It does not run again. The context of a run in progress is canceled.",
		do: func(ctx context.Context, j *durable.Jobs, id durable.ID, _ time.Time) (durable.Answer, error) {
			return j.Cancel(ctx, id)
		},
	},
}

func deedOf(name string) *deed {
	for i := range deeds {
		if deeds[i].name == name {
			return &deeds[i]
		}
	}
	return nil
}

// actionsOf returns links to what can be done to a job now.
func actionsOf(source string, j *durable.Job) (all []action) {
	for _, d := range deeds {
		if slices.Contains(d.states, j.State) {
			q := url.Values{"do": {d.name}, "id": {j.ID.String()}}
			if source != "" {
				q.Set("source", source)
			}
			all = append(all, action{d.title, "act?" + q.Encode(), d.danger})
		}
	}
	return all
}

// order is what a request asks to be done.
type order struct {
	deed   *deed
	source *source
	ids    []durable.ID
	reason string
	at     time.Time
	when   string // as it was typed
}

// confirmPage asks whether an order is meant.
type confirmPage struct {
	Title, Do, Says string
	Source          string
	Danger, Timed   bool
	When, Zone      string
	Reason          string
	Error           string
	Jobs            []orderedJob
	Others          []string // IDs of further jobs
	Number          int      // of all
	Back            string
}

// orderedJob is a job of an order.
type orderedJob struct{ ID, Name, Kind, State, Path string }

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
	if r.Form.Has("pool") || r.Form.Has("series") {
		u.serveActOn(w, r, who)
		return
	}
	o, err := u.orderOf(r.Context(), r.Form)
	if o != nil && o.source != nil {
		v.source = o.source.Name
	}
	if err != nil {
		u.serveError(w, r, v, err)
		return
	}
	var problem string
	if r.Method == http.MethodPost && r.PostForm.Get("confirmed") == "yes" {
		if problem = o.complete(time.Now()); problem == "" {
			token := u.answers.add(u.carryOut(r.Context(), o, who))
			http.Redirect(w, r, "act?answers="+token, http.StatusSeeOther)
			return
		}
	}
	p, err := u.confirm(r.Context(), o)
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
	if err := templates.ExecuteTemplate(&b, "error", "You may look, and change nothing."); err != nil {
		http.Error(w, "ui: "+err.Error(), http.StatusInternalServerError)
		return
	}
	v.act = false
	u.serve(w, http.StatusForbidden, v, "Forbidden", "", b.Bytes())
}

// orderOf returns what a form asks for, without what is to be typed for the confirmation.
func (u *UI) orderOf(ctx context.Context, form url.Values) (*order, error) {
	o := &order{deed: deedOf(form.Get("do")), source: u.source(form.Get("source"))}
	if o.source == nil {
		return o, &gone{"there is no source of jobs " + fmt.Sprintf("%.60q", form.Get("source"))}
	}
	if o.deed == nil {
		return o, &badRequest{fmt.Sprintf("do is %.20q; it must be run, pause, resume, reschedule, revive or cancel", form.Get("do"))}
	}
	if token := form.Get("group"); token != "" && len(form["id"]) == 0 {
		ids, err := u.groupIDs(ctx, o.source, token)
		o.ids = ids
		return o, err
	}
	if n := len(form["id"]); n == 0 || n > actLimit {
		return o, &badRequest{fmt.Sprintf("%d jobs are chosen; choose from 1 to %d", n, actLimit)}
	}
	for _, text := range form["id"] {
		id, err := durable.ParseID(text)
		if err != nil {
			return o, &badRequest{fmt.Sprintf("id is %.50q; it must be the ID of a job", text)}
		}
		if !slices.Contains(o.ids, id) {
			o.ids = append(o.ids, id)
		}
	}
	o.reason, o.when = strings.TrimSpace(form.Get("reason")), strings.TrimSpace(form.Get("when"))
	return o, nil
}

// reasonProblem returns what is wrong with a reason, "" if nothing is.
func reasonProblem(reason string) string {
	switch {
	case reason == "":
		return "The reason is missing: it is kept with what was done."
	case len(reason) > reasonLimit || !utf8.ValidString(reason):
		return fmt.Sprintf("The reason has %d bytes; it must have at most %d, of UTF-8.", len(reason), reasonLimit)
	}
	return ""
}

// complete checks what was typed, and returns what is wrong with it, "" if nothing is.
func (o *order) complete(now time.Time) (problem string) {
	if problem = reasonProblem(o.reason); problem != "" || !o.deed.timed {
		return problem
	}
	at, err := parseWhen(o.when, now)
	if err != nil {
		return "The " + err.Error() + "."
	}
	o.at = at
	return ""
}

// parseWhen returns the time of a text: a distance from now, or a time in the zone of now unless it has its own.
func parseWhen(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		if d < 0 {
			return time.Time{}, fmt.Errorf("time is %v, which has passed; it must not be negative", d)
		}
		return now.Add(d), nil
	}
	for _, format := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", time.RFC3339} {
		if t, err := time.ParseInLocation(format, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf(
		"time is %.60q; it must be a distance from now, as 90m, or a time, as 2026-12-24 18:00", text)
}

// confirm returns the page that asks for confirmation.
func (u *UI) confirm(ctx context.Context, o *order) (*confirmPage, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	p := &confirmPage{
		Title: o.deed.title, Do: o.deed.name, Says: o.deed.says, Source: o.source.Name, Danger: o.deed.danger,
		Timed: o.deed.timed, When: o.when, Zone: time.Now().Format("MST"), Reason: o.reason,
		Back: view{name: "jobs", source: o.source.Name}.link(),
	}
	p.Number = len(o.ids)
	for i, id := range o.ids {
		if i >= rowLimit {
			p.Others = append(p.Others, id.String())
			continue
		}
		to := view{name: "job", source: o.source.Name, id: id}.link()
		row := orderedJob{ID: id.String(), Name: id.String(), State: "there is no such job", Path: to}
		switch j, err := o.source.Jobs.Get(ctx, id); {
		case err == nil:
			row.Kind, row.State = page.Printable(j.Kind, 60), j.State.String()
			if j.Key != "" {
				row.Name = page.Printable(j.Key, 60)
			}
		case !errors.Is(err, durable.ErrNotFound):
			return nil, err
		}
		p.Jobs = append(p.Jobs, row)
	}
	if len(p.Jobs) == 1 {
		p.Back = p.Jobs[0].Path
	} else {
		p.Title = fmt.Sprintf("%s: %d jobs", p.Title, p.Number)
	}
	return p, nil
}

// carryOut does what an order says, to one job after the other, and returns the answers. It goes on if the browser
// leaves.
func (u *UI) carryOut(ctx context.Context, o *order, who string) *answersPage {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), actTime)
	defer cancel()
	p := &answersPage{
		Title: o.deed.title, Reason: page.Printable(o.reason, reasonLimit), source: o.source.Name,
		Back: view{name: "jobs", source: o.source.Name}.link(),
	}
	for _, id := range o.ids {
		before, _ := o.source.Jobs.Get(ctx, id) // for its key; the job may be gone
		answer, err := o.deed.do(ctx, o.source.Jobs, id, o.at)
		row := answerRow{
			ID: id.String(), Path: view{name: "job", source: o.source.Name, id: id}.link(), Answer: answer.String(),
			Says: answerSays[answer], Bad: answer != durable.Applied && answer != durable.Deferred,
		}
		attrs := []any{"action", o.deed.name, "job", id.String(), "reason", o.reason, "who", who}
		if o.source.Name != "" {
			attrs = append(attrs, "source", o.source.Name)
		}
		if o.deed.timed {
			attrs = append(attrs, "at", o.at)
		}
		if err != nil {
			row.Answer, row.Says, row.Bad = "not known", page.Lines(err.Error(), 300), true
			u.config.Logger.Warn("ui: action failed", append(attrs, "err", err)...)
		} else {
			u.config.Logger.Info("ui: action", append(attrs, "answer", answer.String())...)
		}
		act := durable.Act{
			Who: who, Action: o.deed.name, Job: id, Key: before.Key, Reason: o.reason, Answer: row.Answer,
		}
		if err := o.source.Jobs.NoteAct(ctx, act); err != nil {
			u.config.Logger.Warn("ui: an action is in the log alone", append(attrs, "err", err)...)
		}
		p.Answers = append(p.Answers, row)
	}
	u.cache.reset() // pages show at once what has changed
	return p
}

var answerSays = map[durable.Answer]string{
	durable.Applied:  "It is done.",
	durable.Deferred: "The job is running; it takes effect when the run ends.",
	durable.TooLate:  "The state of the job does not allow it any more.",
	durable.NotFound: "There is no such job.",
}
