package address

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/page"
)

// Wanted is what is asked for of a list of jobs beside state, kind and key. It is a part of the name of what is cached.
type Wanted struct {
	Tags   string        // each on a line of its own
	Text   string        // in the error
	Within time.Duration // since the job was changed last
}

// TagFields is how many tags can be asked for.
const TagFields = 4

// parse reads it from a query.
func (w *Wanted) parse(q url.Values) (err error) {
	var tags []string
	for _, tag := range q["tag"] {
		if tag = strings.TrimSpace(tag); len(tag) > durable.MaxTag {
			return Badf("tag has %d bytes; it must have at most %d", len(tag), durable.MaxTag)
		}
		if tag != "" {
			tags = append(tags, strings.ReplaceAll(tag, "\n", " "))
		}
	}
	if len(tags) > TagFields {
		return Badf("there are %d tags; there must be at most %d", len(tags), TagFields)
	}
	w.Tags = strings.Join(tags, "\n")
	if w.Text, err = Limited(q, "error", 200); err != nil {
		return err
	}
	if text := strings.TrimSpace(q.Get("within")); text != "" {
		if w.Within, err = time.ParseDuration(text); err != nil || w.Within <= 0 {
			return Badf("within is %.20q; it must be a duration above 0, as 90m or 24h", text)
		}
	}
	return nil
}

// List returns the tags.
func (w *Wanted) List() []string {
	if w.Tags == "" {
		return nil
	}
	return strings.Split(w.Tags, "\n")
}

// add adds it to a query that does not have others.
func (w *Wanted) add(q url.Values) {
	if !q.Has("tag") && w.Tags != "" {
		q["tag"] = w.List()
	}
	if !q.Has("error") && w.Text != "" {
		q.Set("error", w.Text)
	}
	if !q.Has("within") && w.Within != 0 {
		q.Set("within", w.Within.String())
	}
}

// ParseJobs reads what is asked for of a list of jobs.
func (v *View) ParseJobs(q url.Values) (err error) {
	v.State = q.Get("state")
	if v.State != "" && statesOf(v.State) == nil {
		return Badf("state is %.20q; it must be waiting, running, paused, succeeded, dead, canceled or blocked", v.State)
	}
	if v.Kind, err = Limited(q, "kind", durable.MaxKind); err != nil {
		return err
	}
	if v.Search, err = Limited(q, "q", durable.MaxKey); err != nil {
		return err
	}
	if err := v.Wanted.parse(q); err != nil {
		return err
	}
	if after := q.Get("after"); after != "" {
		id, err := durable.ParseID(after)
		if err != nil {
			return Badf("after is %.50q; it must be the ID of a job", after)
		}
		v.After = id.String()
	}
	return nil
}

// States are what jobs are counted by, and can be asked for by: one that is held by a node is about to run, and waits
// as others do. The last is shown only where a job is in it, see Shown.
var States = []struct {
	Name string
	All  []durable.State
}{
	{"waiting", []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed}},
	{"running", []durable.State{durable.Running}},
	{"paused", []durable.State{durable.Paused}},
	{"succeeded", []durable.State{durable.Succeeded}},
	{"dead", []durable.State{durable.Dead}},
	{"canceled", []durable.State{durable.Canceled}},
	{"blocked", []durable.State{durable.Blocked}},
}

// Shown returns how many of States are shown: many programs have no job that waits for others.
func Shown(counts []durable.Count) int {
	if slices.ContainsFunc(counts, func(c durable.Count) bool { return c.State == durable.Blocked }) {
		return len(States)
	}
	return len(States) - 1
}

// statesOf returns those with a name, nil if there is none.
func statesOf(name string) []durable.State {
	for _, s := range States {
		if s.Name == name {
			return s.All
		}
	}
	return nil
}

// StateName returns the name among States of a state.
func StateName(state durable.State) string {
	for _, s := range States {
		if slices.Contains(s.All, state) {
			return s.Name
		}
	}
	return state.String()
}

// StateClass returns how a state is coloured.
func StateClass(s durable.State) string {
	switch s {
	case durable.Running:
		return "busy"
	case durable.Succeeded:
		return "good"
	case durable.Dead:
		return "bad"
	case durable.Paused, durable.Canceled, durable.Blocked:
		return "held"
	}
	return ""
}

// Filter returns what selects the jobs of a list, of all its pages.
func (v View) Filter(now time.Time) durable.Filter {
	f := durable.Filter{Kind: v.Kind, Prefix: v.Search, States: statesOf(v.State), Tags: v.List(), Error: v.Text}
	if v.Within != 0 {
		f.Updated.From = now.Add(-v.Within)
	}
	return f
}

// Narrow reports whether a list has not all jobs of a kind.
func (v View) Narrow() bool { return v.Search != "" || v.Wanted != Wanted{} }

// Says describes what a list was asked for.
func (v View) Says() string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+page.Printable(value, 100))
		}
	}
	add("state", v.State)
	add("kind", v.Kind)
	add("key begins with", v.Search)
	for _, tag := range v.List() {
		add("tag", tag)
	}
	add("error has", v.Text)
	if v.Within != 0 {
		add("changed within", fmt.Sprint(v.Within))
	}
	add("after", v.After)
	if parts == nil {
		return "all jobs"
	}
	return strings.Join(parts, ", ")
}
