package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// actor is a server whose actions are noted.
func actor(t *testing.T, answer string, done bool, err error) (h http.Handler, acted *[]Action, log *bytes.Buffer) {
	t.Helper()
	f, run := newFake("backup")
	t.Cleanup(func() { run.End(nil) })
	acted, log = new([]Action), new(bytes.Buffer)
	s := New(Config{Daemon: f, Access: ByToken, Token: token, Log: slog.New(slog.NewTextHandler(log, nil)),
		Act: func(_ context.Context, a Action) (string, bool, error) {
			*acted = append(*acted, a)
			return answer, done, err
		}})
	return s.Handler(), acted, log
}

// send posts a form, with the token.
func post(h http.Handler, values url.Values, change func(*http.Request)) *httptest.ResponseRecorder {
	return ask(h, "POST", "/act", func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Authorization", "Bearer "+token)
		r.Body = io.NopCloser(strings.NewReader(values.Encode()))
		if change != nil {
			change(r)
		}
	})
}

// An action is done once, with its reason in the log, and its answer is on a page of its own.
func TestServerActs(t *testing.T) {
	h, acted, log := actor(t, "due now", true, nil)
	w := post(h, url.Values{"do": {RunNow}, "job": {"backup"}, "reason": {" after the repair\n"}}, nil)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/acted?n=1" {
		t.Fatalf("%d to %s: %s", w.Code, w.Header().Get("Location"), w.Body)
	}
	if want := (Action{Do: RunNow, Job: "backup", Reason: "after the repair", Who: "127.0.0.1:5000"}); len(*acted) != 1 || (*acted)[0] != want {
		t.Errorf("done %+v", *acted)
	}
	for _, want := range []string{"msg=action", "action=run-now", "job=backup", "who=127.0.0.1:5000", `reason="after the repair"`,
		`answer="due now"`, "done=true"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s: %s", want, log)
		}
	}
	page := ask(h, "GET", "/acted?n=1", header("Authorization", "Bearer "+token))
	if text := page.Body.String(); !strings.Contains(text, "Run backup now") || !strings.Contains(text, "due now") {
		t.Errorf("the page is %s", text)
	}
	if len(*acted) != 1 {
		t.Error("to look at the answer has acted")
	}
}

// What is refused, or cannot be done, is said.
func TestServerSaysWhatIsNotDone(t *testing.T) {
	for _, err := range []error{nil, errors.New("no answer")} {
		h, _, log := actor(t, "it is running already", false, err)
		post(h, url.Values{"do": {EndRun}, "job": {"backup"}, "run": {"2"}, "reason": {"x"}}, nil)
		page := ask(h, "GET", "/acted?n=1", header("Authorization", "Bearer "+token)).Body.String()
		want := "it is running already"
		if err != nil {
			want = "no answer"
		}
		if !strings.Contains(page, "Not done:") || !strings.Contains(page, want) || !strings.Contains(log.String(), "done=false") {
			t.Errorf("the page is %s, the log %s", page, log)
		}
	}
}

// Requests that must not act do not: without a reason, of another site, without the token, by GET.
func TestServerRefusesActions(t *testing.T) {
	good := url.Values{"do": {Pause}, "job": {"backup"}, "reason": {"x"}}
	with := func(key, value string) url.Values {
		v := url.Values{}
		for k := range good {
			v[k] = good[k]
		}
		v.Set(key, value)
		return v
	}
	for name, test := range map[string]struct {
		values url.Values
		change func(*http.Request)
		want   int
	}{
		"no reason":       {with("reason", " "), nil, 400},
		"a long reason":   {with("reason", strings.Repeat("é", longestReason+1)), nil, 400},
		"no such action":  {with("do", "delete"), nil, 400},
		"no job":          {with("job", ""), nil, 400},
		"no run":          {with("do", EndRun), nil, 400},
		"a negative run":  {url.Values{"do": {EndRun}, "job": {"a"}, "run": {"-1"}, "reason": {"x"}}, nil, 400},
		"no token":        {good, func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"wrong token":     {good, header("Authorization", "Bearer x"), 401},
		"other origin":    {good, header("Origin", "http://evil.example"), 403},
		"null origin":     {good, header("Origin", "null"), 403},
		"cross site":      {good, header("Sec-Fetch-Site", "cross-site"), 403},
		"same site":       {good, header("Sec-Fetch-Site", "same-site"), 403},
		"a body too long": {with("reason", strings.Repeat("x", 100_000)), nil, 400},
		"GET":             {good, func(r *http.Request) { r.Method = "GET" }, 400},
		"in the address": {nil, func(r *http.Request) {
			r.URL.RawQuery = good.Encode()
		}, 400},
	} {
		h, acted, _ := actor(t, "done", true, nil)
		if w := post(h, test.values, test.change); w.Code != test.want {
			t.Errorf("%s: %d, want %d: %s", name, w.Code, test.want, w.Body)
		}
		if len(*acted) != 0 {
			t.Errorf("%s has acted", name)
		}
	}
}

// Without actions there is nothing to post to, and no page offers one.
func TestServerWithoutActions(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	h := New(Config{Daemon: f}).Handler()
	if w := ask(h, "POST", "/act", nil); w.Code != http.StatusMethodNotAllowed && w.Code != http.StatusNotFound {
		t.Errorf("%d", w.Code)
	}
	for _, path := range []string{"/act?do=pause&job=backup", "/acted?n=1"} {
		if w := ask(h, "GET", path, nil); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if page := ask(h, "GET", "/job?name=backup", nil).Body.String(); strings.Contains(page, "act?") {
		t.Errorf("the page offers an action: %s", page)
	}
}

// The page of a job offers what can be done in its state, and leads to a page that says what that is.
func TestServerOffersActions(t *testing.T) {
	for state, want := range map[string]string{
		"waiting": "[Run now Pause]", "claimed": "[Run now Pause]", "paused": "[Resume]", "dead": "[Resume]", "canceled": "[Resume]",
		"running": "[Pause]", "running, then paused": "[Pause]", "ended": "[]", "removed": "[]",
	} {
		var names []string
		for _, l := range acts(&view.Job{State: state}) {
			names = append(names, l.Name)
		}
		if got := fmt.Sprint(names); got != want {
			t.Errorf("%s: %s, want %s", state, got, want)
		}
	}
	all := acts(&view.Job{Job: "backup", State: "running", Running: &view.Run{Job: "backup", Run: 2}})
	if want := (link{"End run 2", "act?do=end-run&job=backup&run=2", true}); len(all) != 2 || all[1] != want {
		t.Errorf("of a job that runs: %v, want %v at the end", all, want)
	}
	h, acted, _ := actor(t, "", true, nil)
	bearer := header("Authorization", "Bearer "+token)
	page := ask(h, "GET", "/job?name=backup", bearer).Body.String()
	if !strings.Contains(page, `<a href="act?do=pause&amp;job=backup">Pause…</a>`) {
		t.Errorf("the page is %s", page)
	}
	page = ask(h, "GET", "/act?do=pause&job=backup", bearer).Body.String()
	if !strings.Contains(page, `<button class="do">Pause backup</button>`) || len(*acted) != 0 {
		t.Errorf("the page is %s", page)
	}
}

// The answers of as many actions are kept as the limit says.
func TestActedIsBounded(t *testing.T) {
	var a acted
	for range 3 * keptActions {
		a.add(result{})
	}
	if _, ok := a.find(2 * keptActions); ok || len(a.all) != keptActions {
		t.Errorf("%d answers", len(a.all))
	}
	if _, ok := a.find(3 * keptActions); !ok {
		t.Error("the last is not kept")
	}
}
