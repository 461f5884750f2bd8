package ui

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/page"
)

// wanted is what is asked for of a list of jobs beside state, kind and key. It is a part of the name of what is cached.
type wanted struct {
	tags   string        // each on a line of its own
	text   string        // in the error
	within time.Duration // since the job was changed last
}

// tagFields is how many tags can be asked for.
const tagFields = 4

// parse reads it from a query.
func (w *wanted) parse(q url.Values) (err error) {
	var tags []string
	for _, tag := range q["tag"] {
		if tag = strings.TrimSpace(tag); len(tag) > durable.MaxTag {
			return &badRequest{fmt.Sprintf("tag has %d bytes; it must have at most %d", len(tag), durable.MaxTag)}
		}
		if tag != "" {
			tags = append(tags, strings.ReplaceAll(tag, "\n", " "))
		}
	}
	if len(tags) > tagFields {
		return &badRequest{fmt.Sprintf("there are %d tags; there must be at most %d", len(tags), tagFields)}
	}
	w.tags = strings.Join(tags, "\n")
	if w.text, err = limited(q, "error", 200); err != nil {
		return err
	}
	if text := strings.TrimSpace(q.Get("within")); text != "" {
		if w.within, err = time.ParseDuration(text); err != nil || w.within <= 0 {
			return &badRequest{fmt.Sprintf("within is %.20q; it must be a duration above 0, as 90m or 24h", text)}
		}
	}
	return nil
}

// list returns the tags.
func (w *wanted) list() []string {
	if w.tags == "" {
		return nil
	}
	return strings.Split(w.tags, "\n")
}

// add adds it to a query that does not have others.
func (w *wanted) add(q url.Values) {
	if !q.Has("tag") && w.tags != "" {
		q["tag"] = w.list()
	}
	if !q.Has("error") && w.text != "" {
		q.Set("error", w.text)
	}
	if !q.Has("within") && w.within != 0 {
		q.Set("within", w.within.String())
	}
}

// filter returns what selects the jobs of a list, of all its pages.
func (v view) filter(now time.Time) durable.Filter {
	f := durable.Filter{Kind: v.kind, Prefix: v.search, States: statesOf(v.state), Tags: v.list(), Error: v.text}
	if v.within != 0 {
		f.Updated.From = now.Add(-v.within)
	}
	return f
}

// narrow reports whether a list has not all jobs of a kind.
func (v view) narrow() bool { return v.search != "" || v.wanted != wanted{} }

// counts returns how many of the jobs of a list there are in each state, whatever state was asked for.
func (v view) counts(ctx context.Context, u *UI, s *source) ([]durable.Count, error) {
	v.state, v.after, v.act = "", "", false
	counts, _, err := query(ctx, u, s, v, func(ctx context.Context) ([]durable.Count, error) {
		return s.Jobs.Counts(ctx, v.filter(time.Now()))
	})
	return counts, err
}

// says describes what the list was asked for.
func (v view) says() string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+page.Printable(value, 100))
		}
	}
	add("state", v.state)
	add("kind", v.kind)
	add("key begins with", v.search)
	for _, tag := range v.list() {
		add("tag", tag)
	}
	add("error has", v.text)
	if v.within != 0 {
		add("changed within", v.within.String())
	}
	if parts == nil {
		return "all jobs"
	}
	return strings.Join(parts, ", ")
}
