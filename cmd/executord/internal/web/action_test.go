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

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
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

// did posts a form that is carried out, and returns the page with the answer.
func did(t *testing.T, h http.Handler, values url.Values) string {
	t.Helper()
	w := post(h, values, nil)
	to := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(to, "/act?answers=") {
		t.Fatalf("%d to %s: %s", w.Code, to, w.Body)
	}
	return ask(h, "GET", to, header("Authorization", "Bearer "+token)).Body.String()
}

// An action is done once, with its reason in the log, and its answer is on a page of its own.
func TestServerActs(t *testing.T) {
	h, acted, log := actor(t, "due now", true, nil)
	text := did(t, h, url.Values{"do": {RunNow}, "job": {"backup"}, "reason": {" after the repair\n"}})
	if want := (Action{Do: RunNow, Job: "backup"}); len(*acted) != 1 || (*acted)[0] != want {
		t.Errorf("done %+v", *acted)
	}
	want := `level=INFO msg="ui: action" action=run-now job=backup reason="after the repair" who=127.0.0.1:5000 answer="due now" done=true`
	if !strings.Contains(log.String(), want) {
		t.Errorf("the log has no %s: %s", want, log)
	}
	for _, want := range []string{"Run backup now", "due now", "It is done.", "after the repair", `<a href="job?name=backup">Back</a>`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %s: %s", want, text)
		}
	}
}

// What is refused, or cannot be done, is said.
func TestServerSaysWhatIsNotDone(t *testing.T) {
	for _, err := range []error{nil, errors.New("no answer")} {
		h, _, log := actor(t, "it is running already", false, err)
		page := did(t, h, url.Values{"do": {EndRun}, "job": {"backup"}, "run": {"2"}, "reason": {"x"}})
		wants := []string{"it is running already", "It is not done."}
		if err != nil {
			wants = []string{"not known", "the store does not answer: no answer"}
		}
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("the page has no %s: %s", want, page)
			}
		}
		if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "job=backup run=2 ") ||
			!strings.Contains(log.String(), "done=false") {
			t.Errorf("the log is %s", log)
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
		"no reason":       {with("reason", " "), nil, 422},
		"a long reason":   {with("reason", strings.Repeat("é", 251)), nil, 422},
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
		}, 200}, // and so asks for a confirmation
		"of module ui": {url.Values{"do": {"cancel"}, "id": {durable.NewID().String()}, "reason": {"x"}}, nil, 400},
		"no answer":    {nil, func(r *http.Request) { r.Method, r.URL.RawQuery = "GET", "answers=x" }, 404},
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
	for _, path := range []string{"/act?do=pause&job=backup", "/act?answers=x"} {
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
	for state, want := range map[catalog.Status]string{
		{State: catalog.StateWaiting}: "[Run now Pause]", {State: catalog.StateClaimed}: "[Run now Pause]",
		{State: catalog.StatePaused}: "[Resume]", {State: catalog.StateDead}: "[Resume]", {State: catalog.StateCanceled}: "[Resume]",
		{State: catalog.StateRunning}: "[Pause]", {State: catalog.StateRunning, Then: catalog.StatePaused}: "[Pause]",
		{State: catalog.StateEnded}: "[]", {State: catalog.StateRemoved}: "[]",
	} {
		var names []string
		for _, l := range actionsOf(&view.Job{State: state}) {
			names = append(names, l.Name)
		}
		if got := fmt.Sprint(names); got != want {
			t.Errorf("%s: %s, want %s", state, got, want)
		}
	}
	all := actionsOf(&view.Job{Job: "backup", State: catalog.Status{State: catalog.StateRunning}, Running: &view.Run{Job: "backup", Run: 2}})
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
