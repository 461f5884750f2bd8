package admin_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/admin"
)

// searched returns the query that somebody has typed, or what is wrong with it.
func searched(text string) (admin.Query, error) {
	v, err := admin.ParseSearch(text)
	if err != nil {
		return admin.Query{}, err
	}
	return admin.ParseQuery(v)
}

// What is typed into one box is a query, and a query is typed as the text that is shortest.
func TestParseSearch(t *testing.T) {
	for text, want := range map[string]struct {
		query admin.Query
		again string // "" if it is the text
	}{
		"kind:mail tag:shop=eu error:refused changed:1h": {admin.Query{Kind: "mail", Tags: []string{"shop=eu"}, Error: "refused", Within: time.Hour}, ""},
		" \torder/17\u00a0 state:dead ":                  {admin.Query{Key: "order/17", States: []string{"dead"}}, "order/17 state:dead"},
		"state:dead,canceled state:paused tag:a tag:b":   {admin.Query{States: []string{"dead", "canceled", "paused"}, Tags: []string{"a", "b"}}, "state:dead state:canceled state:paused tag:a tag:b"},
		"user:17":                                {admin.Query{Key: "user:17"}, ""},
		"night  &   day":                         {admin.Query{Key: "night & day"}, `"night & day"`},
		`"kind:mail"`:                            {admin.Query{Key: "kind:mail"}, ""},
		`key:kind:mail`:                          {admin.Query{Key: "kind:mail"}, `"kind:mail"`},
		`error:"dial ""db"": no"`:                {admin.Query{Error: `dial "db": no`}, ""},
		`error:tls:"x" changed:90m`:              {admin.Query{Error: `tls:"x"`, Within: 90 * time.Minute}, `error:tls:"x" changed:1h30m`},
		`error:C:\temp queue:gpu changed:2h0m5s`: {admin.Query{Error: `C:\temp`, Queue: "gpu", Within: 2*time.Hour + 5*time.Second}, `queue:gpu error:C:\temp changed:2h0m5s`},
		`Kind:x`:                                 {admin.Query{Key: "Kind:x"}, ""},
	} {
		q, err := searched(text)
		if err != nil || !reflect.DeepEqual(q, want.query) {
			t.Errorf("%q: %+v, %v; want %+v", text, q, err, want.query)
		}
		if again := want.again; again == "" && q.Search() != text || again != "" && q.Search() != again {
			t.Errorf("%q is shown as %q", text, q.Search())
		}
	}
	for text, want := range map[string]string{
		"kind:": "kind: has no value", "kind: mail": "kind: has no value", `tag:" "`: "tag: has no value", "kind:a kind:b": "kind: is there twice",
		`error:"refused`: "not closed", `"`: "not closed", `"a"b`: "a blank must follow", "key:a b": "write one of them",
		"state:asleep": `state "asleep"`, "changed:soon": "within is",
	} {
		if _, err := searched(text); !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Whatever is typed is refused, or is a query whose text is read as the same query.
func FuzzParseSearch(f *testing.F) {
	for _, text := range []string{`a "b c" kind:"d ""e""" tag:f tag:g`, `error:"x`, "state:dead,running changed:1h", "\x00\xff\u2028\u202e:", `""""`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := searched(text)
		if err != nil {
			return
		}
		again, err := searched(q.Search())
		if err != nil || !reflect.DeepEqual(again, q) {
			t.Errorf("%q is %+v, which is shown as %q, and that is %+v, %v", text, q, q.Search(), again, err)
		}
	})
}

// A duration has no units that are zero at its end.
func TestSpan(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"1m30s": 90 * time.Second, "1h30m": 90 * time.Minute, "2h": 2 * time.Hour, "10m": 10 * time.Minute, "20s": 20 * time.Second, "1h0m5s": time.Hour + 5*time.Second,
	} {
		if got := admin.Span(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
