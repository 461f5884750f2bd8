package address

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
)

// Wanted is what is asked for of a list of jobs beside state, kind and key. It is a part of the name of what is cached.
type Wanted struct {
	Tags   string // each on a line of its own
	Text   string // in the error
	Queue  string
	Within time.Duration // since the job was changed last
}

// TagFields is how many tags can be asked for.
const TagFields = 4

// asked reads what is asked for of a list.
func asked(v url.Values) (q admin.Query, w Wanted, err error) {
	if q, err = admin.ParseQuery(v); err != nil {
		return q, w, Badf("%v", err)
	}
	if len(q.Tags) > TagFields {
		return q, w, Badf("there are %d tags; there must be at most %d", len(q.Tags), TagFields)
	}
	return q, Wanted{strings.Join(q.Tags, "\n"), q.Error, q.Queue, q.Within}, nil
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
	if !q.Has("queue") && w.Queue != "" {
		q.Set("queue", w.Queue)
	}
	if !q.Has("within") && w.Within != 0 {
		q.Set("within", w.Within.String())
	}
}

// ParseJobs reads what is asked for of a list of jobs. The parameter q is what was typed into its box, which counts more
// than other parameters.
func (v *View) ParseJobs(q url.Values) error {
	typed, err := admin.ParseSearch(q.Get("q"))
	if err != nil {
		return Badf("%v", err)
	}
	q = maps.Clone(q)
	maps.Copy(q, typed)
	query, wanted, err := asked(q)
	if err != nil {
		return err
	}
	v.State, v.Kind, v.Search, v.Wanted = strings.Join(query.States, ","), query.Kind, query.Key, wanted
	if query.After != (durable.ID{}) {
		v.After = query.After.String()
	}
	return nil
}

// Asked returns what is asked for of a list of jobs.
func (v View) Asked() admin.Query {
	q := admin.Query{Kind: v.Kind, Queue: v.Queue, Key: v.Search, Tags: v.List(), Error: v.Text, Within: v.Within}
	if v.State != "" {
		q.States = strings.Split(v.State, ",")
	}
	q.After, _ = durable.ParseID(v.After) // it was parsed before
	return q
}

// Shown returns how many of admin.States are shown: many programs have no job that waits for others.
func Shown(counts []durable.Count) int {
	if slices.ContainsFunc(counts, func(c durable.Count) bool { return c.State == durable.Blocked }) {
		return len(admin.States)
	}
	return len(admin.States) - 1
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

// Narrow reports whether a list has not all jobs of a kind.
func (v View) Narrow() bool { return v.Search != "" || v.Wanted != Wanted{} }
