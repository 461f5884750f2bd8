package act

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strconv"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// target is what something is done to: a job, a pool, or a series of one.
type target struct {
	sort   string         // "job", "jobs", "node", "pool", "series", or "own" for that of an action of the program's own
	source *source.Source // that keeps what was done
	id     durable.ID     // of a job
	key    string         // of a job, or the name of what is none
	view   address.View   // of the list, of jobs

	attrs []slog.Attr // of an own action, for the log

	Fields                  []field // how a form names it
	Name, Kind, State, Path string  // are shown
	Class                   string  // of the pill that State is in; "" if it is in none
}

// field is a field of a form.
type field struct{ Name, Value string }

// aim returns what a form is about, what can be done to it, and the page that it belongs to.
func (e *Engine) aim(ctx context.Context, form url.Values) (targets []*target, actions []action, v address.View, err error) {
	if e.Own != nil {
		own, err := e.Own(form)
		if err != nil {
			return nil, nil, v, err
		}
		if own != nil {
			targets, actions = e.ownActions(own, form)
			return targets, actions, v, nil
		}
	}
	for _, sort := range []string{"pool", "series"} {
		if form.Has(sort) {
			targets, actions, err = e.aimAt(sort, form.Get(sort))
			return targets, actions, address.View{Name: map[string]string{"pool": "pools", "series": "schedules"}[sort]}, err
		}
	}
	v = address.View{Name: "jobs"}
	s := e.Sources.Find(form.Get("source"))
	if s == nil {
		return nil, nil, v, address.Gonef("there is no source of jobs %.60q", form.Get("source"))
	}
	v.Source = s.Name
	if form.Has("node") {
		v.Name = "nodes"
		targets, actions, err = aimAtNode(ctx, s, form.Get("node"))
		return targets, actions, v, err
	}
	if form.Has("jobs") {
		t, v, err := aimAtAll(s, form.Get("jobs"))
		return []*target{t}, allActions, v, err
	}
	ids, err := e.chosen(ctx, s, form)
	for _, id := range ids {
		text := id.String()
		targets = append(targets, &target{
			sort: "job", source: s, id: id, Fields: []field{{"id", text}},
			Name: text, Path: address.View{Name: "job", Source: s.Name, ID: id}.Link(),
		})
	}
	if form.Get("do") == signalAction.Name {
		return targets, []action{signalAction}, v, err
	}
	return targets, jobActions, v, err
}

// aimAtAll returns the jobs of a list as a target, those on other pages, too, and the view of the list. text is the query
// of the list; with "after" in it, the target is those after a job of the list.
func aimAtAll(s *source.Source, text string) (*target, address.View, error) {
	v := address.View{Name: "jobs", Source: s.Name}
	q, err := url.ParseQuery(text)
	if err != nil {
		return nil, v, address.Badf("jobs is %.50q; it must be the query of a list of jobs", text)
	}
	if err := v.ParseJobs(q); err != nil {
		return nil, v, err
	}
	t := &target{sort: "jobs", source: s, view: v, Fields: []field{{"jobs", text}}, Name: page.Printable(v.Asked().String(), 1000)}
	v.After = ""
	t.Path = v.Link()
	return t, v, nil
}

// chosen returns the jobs that a form is about.
func (e *Engine) chosen(ctx context.Context, s *source.Source, form url.Values) (ids []durable.ID, err error) {
	if token := form.Get("group"); token != "" && len(form["id"]) == 0 {
		return groupIDs(ctx, s, token)
	}
	if n := len(form["id"]); n == 0 || n > actLimit {
		return nil, address.Badf("%d jobs are chosen; choose from 1 to %d", n, actLimit)
	}
	for _, text := range form["id"] {
		id, err := durable.ParseID(text)
		if err != nil {
			return nil, address.Badf("id is %.50q; it must be the ID of a job", text)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// aimAt returns a pool or a series as a target, and what can be done to it.
func (e *Engine) aimAt(sort, text string) ([]*target, []action, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, nil, address.Badf("%s is %.20q; it must be a number", sort, text)
	}
	if e.Observer == nil {
		return nil, nil, address.Gonef("there are no pools, since Config has no Observer")
	}
	t := &target{sort: sort, source: e.Journal, Fields: []field{{sort, text}}}
	l := e.Pools.Look()
	for number, p := range e.Observer.Pools() {
		t.Path = poolview.Path(number)
		title := poolview.Title(p.Stats().Name, number)
		if sort == "pool" && number == n {
			t.key, t.Name, t.Kind, t.State = p.Stats().Name, title, "pool", poolview.Stage(p.Stats())
			t.Class = poolview.StageClass(t.State)
			return []*target{t}, poolActions(p), nil
		}
		for _, info := range e.Observer.Schedules(number) {
			if sort != "series" || l.Series(info.Series) != n {
				continue
			}
			if t.key = info.Name; t.key == "" {
				t.key = info.Rhythm
			}
			t.Name, t.Kind, t.State = poolview.Task(t.key), "of "+title, page.Printable(info.Rhythm, 80)
			if info.Paused {
				t.State, t.Class = "paused", "held"
			}
			return []*target{t}, seriesActions(info.Series, info.Paused), nil
		}
	}
	return nil, nil, address.Gonef("there is no %s %d; it may have ended", sort, n)
}

// read completes a job by what the store has of it. One that is not there is a target all the same.
func (t *target) read(ctx context.Context) error {
	switch t.sort {
	case "job":
	case "jobs":
		n, _, err := admin.Count(ctx, t.source.Jobs, t.view.Asked())
		if t.State = page.Count(n) + " jobs"; n == 1 {
			t.State = "1 job"
		}
		return err
	case "own":
		return t.readKeyed(ctx)
	default:
		return nil
	}
	j, err := t.source.Jobs.Get(ctx, t.id)
	if errors.Is(err, durable.ErrNotFound) {
		t.State = "there is no such job"
		return nil
	}
	t.is(&j)
	return err
}

// is completes a job by what it is.
func (t *target) is(j *durable.Job) {
	t.key, t.Kind, t.State = j.Key, page.Printable(j.Kind, 60), admin.StateName(j.State)
	t.Class = cmp.Or(address.StateClass(j.State), "open")
	if name, _ := t.source.Link(j.ID, j.Key, 0); name != "" {
		t.Name = page.Printable(name, 60)
	}
}

// readKeyed completes the target of an own action by the ID of its job, if it has one, and by the page of the job.
func (t *target) readKeyed(ctx context.Context) error {
	if t.key == "" {
		return nil
	}
	j, err := t.source.Jobs.Find(ctx, t.key)
	if t.id = j.ID; err == nil && t.Path == "" {
		_, t.Path = t.source.Link(j.ID, j.Key, 0)
	}
	t.Path = cmp.Or(t.Path, "./")
	if errors.Is(err, durable.ErrNotFound) {
		return nil
	}
	return err
}

// named returns what the log has of the target.
func (t *target) named() (attrs []any) {
	switch t.sort {
	case "own":
		for _, a := range t.attrs {
			attrs = append(attrs, a)
		}
		return attrs
	case "job":
		return []any{t.sort, t.id.String()}
	}
	return []any{t.sort, t.Name}
}

// GroupToken returns a name of a group that is fit for an address.
func GroupToken(g durable.DeadGroup) string {
	sum := sha256.Sum256([]byte(g.Kind + "\x00" + g.Reason))
	return hex.EncodeToString(sum[:8])
}

// groupIDs returns the jobs of a group of dead ones.
func groupIDs(ctx context.Context, s *source.Source, token string) ([]durable.ID, error) {
	groups, _, err := s.DeadGroups(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		if GroupToken(g) == token {
			return g.IDs, nil
		}
	}
	return nil, address.Gonef("this group of dead jobs no longer exists")
}
