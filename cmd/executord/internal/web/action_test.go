package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/ui/page"
)

// actor is a server whose actions are noted.
func actor(t *testing.T, answer durable.Answer, text string, err error) (h http.Handler, acted *[]client.Order, log *bytes.Buffer) {
	t.Helper()
	f, run := newFake("backup")
	t.Cleanup(func() { run.End(nil) })
	acted, log = new([]client.Order), new(bytes.Buffer)
	s := New(Config{Daemon: f, Access: ByToken, Tokens: tokens, Log: slog.New(slog.NewTextHandler(log, nil)),
		Act: func(_ context.Context, a client.Order) (admin.Answer, error) {
			*acted = append(*acted, a)
			return admin.Answer{Outcome: answer, Text: text}, err
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
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(to, "act?answers=") {
		t.Fatalf("%d to %s: %s", w.Code, to, w.Body)
	}
	return ask(h, "GET", "/"+to, header("Authorization", "Bearer "+token)).Body.String()
}

// An action is done once, with its reason in the log, and its answer is on a page of its own.
func TestServerActs(t *testing.T) {
	h, acted, log := actor(t, durable.Applied, "due now", nil)
	text := did(t, h, url.Values{"do": {string(admin.RunNow)}, "job": {"backup"}, "reason": {" after the repair\n"}})
	if want := (client.Order{Do: admin.RunNow, Job: "backup"}); len(*acted) != 1 || !reflect.DeepEqual((*acted)[0], want) {
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

// What is refused, or cannot be done, has a status that says so, on the page and in JSON, and the reason.
func TestServerSaysWhatIsNotDone(t *testing.T) {
	form := url.Values{"do": {string(client.EndRun)}, "job": {"backup"}, "run": {"2"}, "reason": {"x"}}
	for name, c := range map[string]struct {
		answer durable.Answer
		err    error
		status int
		wants  []string
	}{
		"running already": {durable.TooLate, nil, 409, []string{`<i class="pill other">it is running already</i>`, "It is not done."}},
		"no such job":     {durable.NotFound, nil, 404, []string{"it is running already", "It is not done."}},
		"no store":        {0, errors.New("no answer"), 503, []string{"not known", "the store does not answer: no answer"}},
		"a full store":    {0, fmt.Errorf("%w: make room", durable.ErrFull), 503, []string{"not known", "the store takes no changes: the store is full: make room"}},
	} {
		h, _, log := actor(t, c.answer, "it is running already", c.err)
		w := post(h, form, nil)
		for _, want := range c.wants {
			if w.Code != c.status || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: the page has the status %d, want %d with %s: %s", name, w.Code, c.status, want, w.Body)
			}
		}
		if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "job=backup run=2 ") ||
			!strings.Contains(log.String(), "done=false") {
			t.Errorf("%s: the log is %s", name, log)
		}
		w = post(h, form, header("Accept", "application/json"))
		var got page.Result
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != c.status || got.Status != c.status || got.Done || got.Action != string(client.EndRun) {
			t.Errorf("%s: %d %s, %v", name, w.Code, w.Body, err)
		}
	}
}

// Requests that must not act do not: without a reason, of another site, without the token, by GET.
func TestServerRefusesActions(t *testing.T) {
	good := url.Values{"do": {string(admin.Pause)}, "job": {"backup"}, "reason": {"x"}}
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
		"no reason field": {url.Values{"do": {string(admin.Pause)}, "job": {"backup"}}, nil, 400},
		"a long reason":   {with("reason", strings.Repeat("é", 251)), nil, 400},
		"no such action":  {with("do", "delete"), nil, 400},
		"no job":          {with("job", ""), nil, 400},
		"a run to pause":  {with("run", "2"), nil, 400},
		"a negative run":  {url.Values{"do": {string(client.EndRun)}, "job": {"a"}, "run": {"-1"}, "reason": {"x"}}, nil, 400},
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
		}, 400}, // a reason may be of who made the link
		"of module ui": {url.Values{"do": {"cancel"}, "id": {durable.NewID().String()}, "reason": {"x"}}, nil, 400},
		"no answer":    {nil, func(r *http.Request) { r.Method, r.URL.RawQuery = "GET", "answers=x" }, 404},
	} {
		h, acted, _ := actor(t, durable.Applied, "done", nil)
		if w := post(h, test.values, test.change); w.Code != test.want {
			t.Errorf("%s: %d, want %d: %s", name, w.Code, test.want, w.Body)
		}
		w := post(h, test.values, func(r *http.Request) {
			r.Header.Set("Accept", "application/json")
			if test.change != nil {
				test.change(r)
			}
		})
		var got page.Result
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Status != w.Code || got.Done || got.Answer == "" || w.Code < 400 {
			t.Errorf("%s, in JSON: %d %s, %v", name, w.Code, w.Body, err)
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
		{State: catalog.StateWaiting}: "[Run now Pause]", {State: catalog.StateDue}: "[Run now Pause]",
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
	h, acted, _ := actor(t, durable.Applied, "", nil)
	bearer := header("Authorization", "Bearer "+token)
	page := ask(h, "GET", "/job?name=backup", bearer).Body.String()
	if !strings.Contains(page, `<a href="act?do=pause&amp;job=backup" class="button">Pause…</a>`) {
		t.Errorf("the page is %s", page)
	}
	page = ask(h, "GET", "/act?do=pause&job=backup", bearer).Body.String()
	if !strings.Contains(page, `<button class="do">Pause backup</button>`) || len(*acted) != 0 {
		t.Errorf("the page is %s", page)
	}
}

// parameterized is actor for a job with parameters.
func parameterized(t *testing.T) (h http.Handler, acted *[]client.Order) {
	t.Helper()
	f, run := newFake("backup")
	t.Cleanup(func() { run.End(nil) })
	f.jobs[0].Parameters = []job.Parameter{
		{Name: "DAY", Default: "<today>", Pattern: "<?[a-z]+>?", Doc: "Which & why"},
		{Name: "REGION", Default: "eu", Values: []string{"eu", "us"}},
	}
	acted = new([]client.Order)
	s := New(Config{Daemon: f, Access: ByToken, Tokens: tokens, Log: slog.New(slog.DiscardHandler),
		Act: func(_ context.Context, a client.Order) (admin.Answer, error) {
			*acted = append(*acted, a)
			return admin.Answer{Outcome: durable.Applied, Text: "due now"}, nil
		}})
	return s.Handler(), acted
}

// The page of a job with parameters leads to a form with them, that to the confirmation, and that to the run.
func TestServerAsksForParameters(t *testing.T) {
	h, acted := parameterized(t)
	bearer := header("Authorization", "Bearer "+token)
	for path, wants := range map[string][]string{
		"/job?name=backup": {`<a href="run-now?job=backup" class="button">Run again…</a>`, "Which &amp; why", "&lt;today&gt;"},
		"/run-now?job=backup": {
			`<input type="hidden" name="do" value="run-now"><input type="hidden" name="job" value="backup">`, "DAY – Which &amp; why",
			`name="set.DAY" value="&lt;today&gt;"`, `<option value="eu" selected>eu</option><option value="us">us</option>`,
		},
		"/act?do=run-now&job=backup&set.DAY=tomorrow&set.REGION=us": {
			"The job is due at once, with DAY=tomorrow, REGION=us.", `name="set.DAY" value="tomorrow"`, `name="set.REGION" value="us"`,
		},
	} {
		page := ask(h, "GET", path, bearer)
		for _, want := range wants {
			if page.Code != http.StatusOK || !strings.Contains(page.Body.String(), want) {
				t.Errorf("%s: %d, without %s: %s", path, page.Code, want, page.Body)
			}
		}
	}
	if len(*acted) != 0 {
		t.Fatalf("a page has acted: %v", *acted)
	}
	did(t, h, url.Values{"do": {string(admin.RunNow)}, "job": {"backup"}, "reason": {"x"}, "set.REGION": {"us"}, "set.DAY": {"tomorrow"}})
	if want := (client.Order{Do: admin.RunNow, Job: "backup", Set: []string{"DAY=tomorrow", "REGION=us"}}); len(*acted) != 1 || !reflect.DeepEqual((*acted)[0], want) {
		t.Errorf("done %+v, want %+v", *acted, want)
	}
	if page := ask(h, "GET", "/run-now?job=none", bearer); page.Code != http.StatusNotFound {
		t.Errorf("a job that is not there: %d", page.Code)
	}
}

// Parameters that are not declared or not allowed are refused, before and after a reason is given.
func TestServerRefusesParameters(t *testing.T) {
	for name, test := range map[string]struct {
		values url.Values
		want   string
	}{
		"not declared": {url.Values{"set.DYA": {"x"}}, "there is no parameter"},
		"not allowed":  {url.Values{"set.REGION": {"uk"}}, "is not one of eu, us"},
		"no match":     {url.Values{"set.DAY": {"1"}}, "does not match the pattern"},
		"twice":        {url.Values{"set.DAY": {"a", "b"}}, "DAY is set twice"},
		"a line break": {url.Values{"set.DAY": {"a\nEVIL=1"}}, "without control characters"},
		"to pause":     {url.Values{"do": {string(admin.Pause)}, "set.DAY": {"a"}}, "parameters are for run-now"},
		"no such job":  {url.Values{"job": {"none"}, "set.DAY": {"a"}}, "the job \"none\" does not exist"},
	} {
		h, acted := parameterized(t)
		for _, reason := range []string{"", "x"} {
			v := url.Values{"do": {string(admin.RunNow)}, "job": {"backup"}}
			for key := range test.values {
				v[key] = test.values[key]
			}
			if reason != "" {
				v.Set("reason", reason)
			}
			status := http.StatusBadRequest
			if name == "no such job" {
				status = http.StatusNotFound
			}
			if w := post(h, v, nil); w.Code != status || !strings.Contains(html.UnescapeString(w.Body.String()), test.want) {
				t.Errorf("%s: %d: %s; want %s", name, w.Code, w.Body, test.want)
			}
		}
		if len(*acted) != 0 {
			t.Errorf("%s has acted", name)
		}
	}
}

// The page of a run, and those of its job, show which parameters it had.
func TestServerShowsParametersOfRun(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	f.past = []view.Run{{Job: "backup", Run: 7, Outcome: "ok", Parameters: map[string]string{"DAY": "<b>", "A": ""}}}
	h := New(Config{Daemon: f}).Handler()
	for _, path := range []string{"/job?name=backup", "/run?job=backup&run=7"} {
		if page := ask(h, "GET", path, nil).Body.String(); !strings.Contains(page, "A=&#34;&#34;, DAY=&lt;b&gt;") {
			t.Errorf("%s: %s", path, page)
		}
	}
}
