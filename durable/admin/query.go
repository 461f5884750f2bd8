package admin

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/argument"
)

// A Query is what somebody asks for of a list of jobs: those that match all that it has. The zero Query means all jobs.
type Query struct {
	States []string // words of States, or names of a durable.State: the job is in one of them
	Kind   string
	Queue  string
	Key    string   // with which the key of the job begins
	Tags   []string // the job has all of them
	Error  string   // which the error of the job contains

	Within time.Duration // the job was changed so long ago at most
	// After is a job: List begins behind it, and so does an action on many jobs, which takes these in the order of their
	// IDs.
	After durable.ID
}

// A StateGroup is one of States.
type StateGroup struct {
	Name string
	All  []durable.State
}

// States are what people count jobs by, and ask for: a job that a node holds and that has not begun waits as others do.
var States = []StateGroup{
	{"waiting", []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed}},
	{"running", []durable.State{durable.Running}},
	{"paused", []durable.State{durable.Paused}},
	{"succeeded", []durable.State{durable.Succeeded}},
	{"dead", []durable.State{durable.Dead}},
	{"canceled", []durable.State{durable.Canceled}},
	{"blocked", []durable.State{durable.Blocked}},
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

// statesOf returns the states that a word stands for.
func statesOf(word string) ([]durable.State, error) {
	names := make([]string, len(States))
	for i, s := range States {
		if names[i] = s.Name; s.Name == word {
			return s.All, nil
		}
	}
	var one durable.State
	if one.UnmarshalText([]byte(word)) != nil {
		return nil, argument.Invalid("state %.20q: it must be one of %s", word, strings.Join(names, ", "))
	}
	return []durable.State{one}, nil
}

// ParseQuery reads a query from the parameters of an address or of a form: state, kind, queue, key, tag, error, within
// and after. It ignores others. Several states are a parameter each, or one with commas. Blanks around a value do not
// count. An error matches executor.ErrInvalid.
func ParseQuery(v url.Values) (q Query, err error) {
	text := func(name string) string { return strings.TrimSpace(v.Get(name)) }
	list := func(name, sep string) (all []string) {
		for _, value := range v[name] {
			for one := range strings.SplitSeq(value, sep) {
				if one = strings.TrimSpace(one); one != "" {
					all = append(all, one)
				}
			}
		}
		return all
	}
	q = Query{
		States: list("state", ","), Kind: text("kind"), Queue: text("queue"), Key: text("key"), Tags: list("tag", "\n"),
		Error: text("error"),
	}
	if within := text("within"); within != "" {
		if q.Within, err = time.ParseDuration(within); err != nil || q.Within <= 0 {
			return q, argument.Invalid("within is %.20q; it must be a duration above 0, as 90m or 24h", within)
		}
	}
	if after := text("after"); after != "" {
		if q.After, err = durable.ParseID(after); err != nil {
			return q, argument.Invalid("after is %.50q; it must be the ID of a job", after)
		}
	}
	return q, q.Check()
}

// maxErrorText is how many bytes of an error may be asked for.
const maxErrorText = 200

// Check returns what is wrong with a query.
func (q Query) Check() error {
	for _, word := range q.States {
		if _, err := statesOf(word); err != nil {
			return err
		}
	}
	for _, tag := range q.Tags {
		if err := atMost("tag", tag, durable.MaxTag); err != nil {
			return err
		}
	}
	if q.Within < 0 {
		return argument.Invalid("within is %v; it must not be negative", q.Within)
	}
	return errors.Join(atMost("kind", q.Kind, durable.MaxKind), atMost("queue", q.Queue, durable.MaxKind),
		atMost("key", q.Key, durable.MaxKey), atMost("error", q.Error, maxErrorText))
}

func atMost(name, text string, most int) error {
	if len(text) > most {
		return argument.Invalid("%s has %d bytes; it must have at most %d", name, len(text), most)
	}
	return nil
}

// Filter returns what selects the jobs, if it is now on the clock of the store.
func (q Query) Filter(now time.Time) durable.Filter {
	f := durable.Filter{Kind: q.Kind, Queue: q.Queue, Prefix: q.Key, Tags: q.Tags, Error: q.Error, After: q.After}
	for _, word := range q.States {
		all, _ := statesOf(word) // Check knows of others
		f.States = append(f.States, all...)
	}
	if q.Within > 0 {
		f.Updated.From = now.Add(-q.Within)
	}
	return f
}

// filter is Filter by the clock of the store, which is asked only if it counts.
func (q Query) filter(ctx context.Context, jobs *durable.Jobs) (f durable.Filter, err error) {
	var now time.Time
	if q.Within > 0 {
		now, err = jobs.Now(ctx)
	}
	return q.Filter(now), err
}

// IsZero reports whether the query means all jobs.
func (q Query) IsZero() bool { return q.parts() == nil }

// String says what was asked for, as "state dead, kind mail"; of the zero Query it is "all jobs".
func (q Query) String() string {
	if parts := q.parts(); parts != nil {
		return strings.Join(parts, ", ")
	}
	return "all jobs"
}

func (q Query) parts() (parts []string) {
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	add("state", strings.Join(q.States, " or "))
	add("kind", q.Kind)
	add("queue", q.Queue)
	add("key begins with", q.Key)
	for _, tag := range q.Tags {
		add("tag", tag)
	}
	add("error has", q.Error)
	if q.Within > 0 {
		add("changed within", fmt.Sprint(q.Within))
	}
	if q.After != (durable.ID{}) {
		add("after", q.After.String())
	}
	return parts
}

// Count returns how many jobs a query selects, whatever its After, and how many of each kind in each state.
func Count(ctx context.Context, jobs *durable.Jobs, q Query) (total int, counts []durable.Count, err error) {
	q.After = durable.ID{}
	f, err := q.filter(ctx, jobs)
	if err == nil {
		counts, err = jobs.Counts(ctx, f)
	}
	for _, c := range counts {
		total += c.Jobs
	}
	return total, counts, err
}

// List returns up to limit jobs that a query selects, the latest first: in descending order of their IDs. For the next
// page set q.After to the ID of the last of them.
func List(ctx context.Context, jobs *durable.Jobs, q Query, limit int) ([]durable.Job, error) {
	f, err := q.filter(ctx, jobs)
	if err != nil {
		return nil, err
	}
	f.LatestFirst, f.Limit = true, limit
	return jobs.List(ctx, f)
}

// Find returns the job with a key, or else with an ID, or durable.ErrNotFound.
func Find(ctx context.Context, jobs *durable.Jobs, name string) (durable.Job, error) {
	j, err := jobs.Find(ctx, name)
	if id, not := durable.ParseID(name); not == nil && errors.Is(err, durable.ErrNotFound) {
		return jobs.Get(ctx, id)
	}
	return j, err
}
