package admin_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/durable/memory"
)

func parsed(t *testing.T, text string) admin.Query {
	t.Helper()
	v, err := url.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	q, err := admin.ParseQuery(v)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// A query has what its parameters say, selects jobs by it, and says what was asked for.
func TestParseQuery(t *testing.T) {
	now := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	id := durable.NewID()
	for text, want := range map[string]struct {
		filter durable.Filter
		says   string
	}{
		"": {durable.Filter{}, "all jobs"},
		"state=dead&kind=mail&error=+refused+": {durable.Filter{States: []durable.State{durable.Dead}, Kind: "mail", Error: "refused"},
			"state dead, kind mail, error has refused"},
		"state=waiting":                 {durable.Filter{States: []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed}}, "state waiting"},
		"state=claimed":                 {durable.Filter{States: []durable.State{durable.Claimed}}, "state claimed"},
		"state=dead,canceled":           {durable.Filter{States: []durable.State{durable.Dead, durable.Canceled}}, "state dead or canceled"},
		"state=dead&state=canceled":     {durable.Filter{States: []durable.State{durable.Dead, durable.Canceled}}, "state dead or canceled"},
		"tag=a%3Db&tag=c&tag=&source=x": {durable.Filter{Tags: []string{"a=b", "c"}}, "tag a=b, tag c"},
		"key=a/&queue=gpu&within=24h":   {durable.Filter{Prefix: "a/", Queue: "gpu", Updated: durable.TimeRange{From: now.Add(-24 * time.Hour)}}, "queue gpu, key begins with a/, changed within 24h0m0s"},
		"after=" + id.String():          {durable.Filter{After: id}, "after " + id.String()},
	} {
		q := parsed(t, text)
		if f := q.Filter(now); !reflect.DeepEqual(f, want.filter) || q.String() != want.says || q.IsZero() != (text == "") {
			t.Errorf("%s: %+v, %s; want %+v", text, f, q, want)
		}
	}
	for text, want := range map[string]string{
		"state=asleep": `state "asleep"`, "within=soon": "within is", "within=-1h": "within is", "after=7": "after is",
		"tag=" + strings.Repeat("x", durable.MaxTag+1): "tag has 129 bytes", "error=" + strings.Repeat("x", 201): "error has 201 bytes",
	} {
		v, _ := url.ParseQuery(text)
		if _, err := admin.ParseQuery(v); !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Jobs are counted and listed by a query, and found by their key or ID.
func TestLook(t *testing.T) {
	jobs := newJobs(memory.New())
	for i := range 5 {
		add(t, jobs, "mail", durable.Key(fmt.Sprint("a/", i)))
	}
	id := add(t, jobs, "bill")
	if n, counts, err := admin.Count(t.Context(), jobs, admin.Query{Key: "a/"}); n != 5 || len(counts) != 1 || err != nil {
		t.Errorf("%d, %v, %v", n, counts, err)
	}
	page := must(admin.List(t.Context(), jobs, admin.Query{Kind: "mail"}, 3))
	rest := must(admin.List(t.Context(), jobs, admin.Query{Kind: "mail", After: page[len(page)-1].ID}, 3))
	all := append(page, rest...)
	if len(page) != 3 || len(rest) != 2 || !slices.IsSortedFunc(all, func(a, b durable.Job) int { return bytes.Compare(b.ID[:], a.ID[:]) }) {
		t.Errorf("pages of %d and %d, which are not the latest first: %v", len(page), len(rest), all)
	}
	for _, name := range []string{"a/3", id.String()} {
		if j, err := admin.Find(t.Context(), jobs, name); err != nil || j.Key != name && j.ID != id {
			t.Errorf("%s: %v, %v", name, j, err)
		}
	}
	for _, name := range []string{"a/9", durable.NewID().String()} {
		if _, err := admin.Find(t.Context(), jobs, name); !errors.Is(err, durable.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A time is read as people write it, and one from now on is by the clock that is asked.
func TestParseWhen(t *testing.T) {
	zone := time.FixedZone("", 3600)
	now := time.Date(2027, 3, 27, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2027-03-28": "2027-03-27T23:00:00Z", "2027-03-28 14:00": "2027-03-28T13:00:00Z", "2027-03-28T14:00:30": "2027-03-28T13:00:30Z",
		"2027-03-28t14:00:00z": "2027-03-28T14:00:00Z", "90m": "2027-03-27T13:30:00Z", "0s": "2027-03-27T12:00:00Z", "-1h": "2027-03-27T11:00:00Z",
	} {
		w, err := admin.ParseWhen(text, zone)
		if got := w.At(now).UTC().Format(time.RFC3339); err != nil || got != want || w.IsZero() {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
		if again, err := admin.ParseWhen(w.String(), time.UTC); err != nil || !again.At(now).Equal(w.At(now)) {
			t.Errorf("%s is read from %s as %v, %v", text, w, again.At(now), err)
		}
	}
	for _, text := range []string{"", "soon", "2027-13-01", "0001-01-01T00:00:00Z"} {
		if w, err := admin.ParseWhen(text, time.UTC); !errors.Is(err, executor.ErrInvalid) || !w.IsZero() {
			t.Errorf("%q: %v, %v", text, w, err)
		}
	}
	if at, ok := must(admin.ParseWhen("90m", zone)).Ago(now); !ok || now.Sub(at) != 90*time.Minute {
		t.Errorf("90m ago is %v, %v", at, ok)
	}
	if _, ok := must(admin.ParseWhen("-90m", zone)).Ago(now); ok {
		t.Error("-90m is ago")
	}
}
