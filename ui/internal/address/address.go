// Package address has what a page is asked for, and the links that ask for it.
package address

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// View is what a page shows, with what was asked for. The zero View is the overview.
type View struct {
	Name   string // the last element of its path
	Source string // of a page about jobs
	Act    bool   // with what changes jobs
	Live   bool   // as an update of a page that is shown already
	Zone   string // in which times are shown, as page.ZoneNamed has it
	Number int    // of a pool
	ID     durable.ID
	Run    int64         // of a job, 0 for the last
	After  string        // where a page of a list begins
	State  string        // of jobs, or the verdict of runs
	Kind   string        // of jobs
	Search string        // of keys, or of names
	Span   time.Duration // of the timeline, or of charts
	Own    string        // the query of a page of the program's own
	Job    string        // of runs: its name
	Ended  Ended         // of runs
	Wanted               // of jobs; of runs it has the tags of their jobs
}

// Error is the error of a request that is not answered, with the status that says why.
type Error struct {
	Status int
	Text   string
}

func (e *Error) Error() string { return e.Text }

// Badf returns the error of a request that is not understood.
func Badf(format string, args ...any) error {
	return &Error{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// Gonef returns the error of a request about what is not there.
func Gonef(format string, args ...any) error {
	return &Error{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// Conflictf returns the error of a request that the present state does not allow.
func Conflictf(format string, args ...any) error {
	return &Error{http.StatusConflict, fmt.Sprintf(format, args...)}
}

// StatusOf returns the status of an answer that is an error: 503 if it may be gone when it is asked for again.
func StatusOf(err error) int {
	if e := new(Error); errors.As(err, &e) {
		return e.Status
	}
	if errors.Is(err, executor.ErrInvalid) {
		return http.StatusBadRequest
	}
	return http.StatusServiceUnavailable
}

// Events returns the address of the live updates of v. Of its parameters "view" the first is the name.
func (v View) Events() string {
	q := v.with(url.Values{})
	q["view"] = append([]string{v.Name}, q["view"]...)
	return "events?" + q.Encode()
}

// OfEvents returns the name of a view and what was asked for, of the query that Events has made.
func OfEvents(q url.Values) (name string, rest url.Values) {
	name, rest = q.Get("view"), maps.Clone(q)
	if rest.Del("view"); len(q["view"]) > 1 {
		rest["view"] = q["view"][1:]
	}
	return name, rest
}

// Query returns what was asked for as a query, with what q has.
func (v View) Query(q url.Values) string { return v.with(q).Encode() }

// with adds what was asked for to q.
func (v View) with(q url.Values) url.Values {
	set := func(name, value string) {
		if value != "" && !q.Has(name) {
			q.Set(name, value)
		}
	}
	own, _ := url.ParseQuery(v.Own) // it was encoded
	for name, values := range own {
		if !q.Has(name) {
			q[name] = values
		}
	}
	set("source", v.Source)
	set("after", v.After)
	set("state", v.State)
	set("kind", v.Kind)
	if v.Name == "jobs" {
		set("key", v.Search)
	} else {
		set("q", v.Search)
	}
	set("job", v.Job)
	v.Ended.add(q)
	v.Wanted.add(q)
	if v.Number != 0 {
		set("id", strconv.Itoa(v.Number))
	}
	if v.ID != (durable.ID{}) {
		set("id", v.ID.String())
	}
	if v.Run != 0 {
		set("run", strconv.FormatInt(v.Run, 10))
	}
	if v.Span != 0 {
		set("span", v.Span.String())
	}
	return q
}

// Link returns the address of v's page with some of what was asked for replaced, as by "state", "dead".
func (v View) Link(change ...string) string {
	q := url.Values{}
	for i := 0; i < len(change); i += 2 {
		q.Set(change[i], change[i+1])
	}
	text := v.Query(q)
	kept, _ := url.ParseQuery(text)
	for name, values := range kept {
		if values[0] == "" {
			delete(kept, name)
		}
	}
	if len(kept) == 0 {
		return v.path()
	}
	return v.path() + "?" + kept.Encode()
}

func (v View) path() string {
	if v.Name == "" {
		return "./"
	}
	return v.Name
}

// Limited returns a text of a query, or an error if it is too long.
func Limited(q url.Values, name string, most int) (string, error) {
	text := strings.TrimSpace(q.Get(name))
	if len(text) > most {
		return "", Badf("%s has %d bytes; it must have at most %d", name, len(text), most)
	}
	return text, nil
}
