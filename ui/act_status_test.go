package ui_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui"
	"github.com/executor-go/executor/ui/page"
)

// posted sends a form as a program does, which takes JSON, and returns the status and the result.
func posted(t *testing.T, h http.Handler, form url.Values) (int, page.Result) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/act", strings.NewReader(form.Encode()))
	r.Host, r.RemoteAddr = "localhost:8080", "127.0.0.1:40000"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var got page.Result
	if kind := w.Header().Get("Content-Type"); kind != "application/json" {
		t.Errorf("%v: %d, the answer is %s: %s", form, w.Code, kind, w.Body)
	} else if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Errorf("%v: %v: %s", form, err, w.Body)
	}
	return w.Code, got
}

// A posted action that is not done has the status of its reason, on the page and in JSON, and both say the reason.
func TestActStatusSaysWhatIsNotDone(t *testing.T) {
	jobs := newJobs(t, nil)
	u, _ := newActor(t, nil, jobs)
	waiting := addJob(t, jobs, "mail", time.Hour).String()
	for name, c := range map[string]struct {
		form   url.Values
		status int
		answer string
	}{
		"no reason field":   {without("reason", form("do", "cancel", "id", waiting)), 400, "give a reason"},
		"an empty reason":   {form("do", "cancel", "id", waiting, "reason", " "), 400, "give a reason"},
		"no action":         {form("id", waiting), 400, "Choose an action"},
		"an unknown action": {form("do", "explode", "id", waiting), 400, "explode"},
		"no time":           {form("do", "reschedule", "id", waiting, "value", "soon"), 400, "The time"},
		"not paused":        {form("do", "resume", "id", waiting), 409, "too late"},
		"not dead":          {form("do", "revive", "id", waiting), 409, "too late"},
		"no such job":       {form("do", "cancel", "id", durable.NewID().String()), 404, "not found"},
		"no job of a list":  {form("do", "cancel", "jobs", "kind=none"), 404, "no jobs"},
		"none of a list":    {form("do", "resume", "jobs", "kind=mail"), 409, "1 too late"},
		"no such node":      {form("do", "drain", "node", "web1"), 404, "no live node"},
		"no such source":    {form("do", "cancel", "id", waiting, "source", "x"), 404, "no source"},
	} {
		w := post(u, c.form)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.answer) {
			t.Errorf("%s: the page has the status %d, want %d with %q: %s", name, w.Code, c.status, c.answer, w.Body)
		}
		status, got := posted(t, u, c.form)
		if status != c.status || got.Status != c.status || got.Done || !strings.Contains(got.Answer, c.answer) {
			t.Errorf("%s: %d %+v, want %d with %q", name, status, got, c.status, c.answer)
		}
	}
}

// What is done leads a browser to a page with the answer, and is 200 in JSON. One of several that is not done gives the
// status, and the answers say which it is.
func TestActStatusSaysWhatIsDone(t *testing.T) {
	jobs := newJobs(t, nil)
	u, _ := newActor(t, nil, jobs)
	one, none := addJob(t, jobs, "mail", time.Hour).String(), durable.NewID().String()
	if text := answered(t, u, form("do", "pause", "id", one)); !strings.Contains(text, "applied") {
		t.Errorf("the page is %s", text)
	}
	if status, got := posted(t, u, form("do", "resume", "id", one)); status != 200 || !got.Done || got.Answer != "applied" || got.Action != "resume" {
		t.Errorf("%d %+v", status, got)
	}
	both := form("do", "pause", "id", one)
	both.Add("id", none)
	status, got := posted(t, u, both)
	if status != 404 || got.Done || got.Answer != "1 of 2 done" || len(got.Targets) != 2 {
		t.Fatalf("%d %+v", status, got)
	}
	for i, want := range []page.Target{{Name: one, Status: 200, Done: true, Answer: "applied"}, {Name: none, Status: 404, Answer: "not found"}} {
		if got := got.Targets[i]; got.Name != want.Name || got.Status != want.Status || got.Done != want.Done || got.Answer != want.Answer {
			t.Errorf("answer %d is %+v, want %+v", i, got, want)
		}
	}
}

// A GET changes nothing, also for a program: it is told to post.
func TestActStatusOfGet(t *testing.T) {
	jobs := newJobs(t, nil)
	u, _ := newActor(t, nil, jobs)
	id := addJob(t, jobs, "mail", time.Hour)
	w := ask(u, http.MethodGet, "/act?"+form("do", "cancel", "id", id.String()).Encode(), func(r *http.Request) {
		r.Header.Set("Accept", "application/json")
	})
	if w.Code != http.StatusMethodNotAllowed || !strings.Contains(w.Body.String(), "POST") || w.Header().Get("Allow") != "POST" {
		t.Errorf("%d %v: %s", w.Code, w.Header(), w.Body)
	}
	if j, err := jobs.Get(t.Context(), id); err != nil || j.State != durable.Waiting {
		t.Errorf("the job is %v, %v", j.State, err)
	}
}

// Who may not act, and what comes from another site, is refused with the same status in JSON.
func TestActStatusOfRefusals(t *testing.T) {
	jobs := newJobs(t, nil)
	u := newUI(t, ui.Config{
		Jobs: []ui.Source{{Jobs: jobs}}, Actions: true,
		Authorize: func(r *http.Request) (ui.Access, string) {
			if r.URL.Query().Has("nobody") {
				return ui.None, ""
			}
			return ui.Look, ""
		},
	})
	for name, c := range map[string]struct {
		target, origin, want string
	}{
		"who may look":    {"/act", "", "read-only access"},
		"nobody":          {"/act?nobody", "", "may not look"},
		"of another site": {"/act", "http://evil.example", "another site"},
	} {
		r := httptest.NewRequest(http.MethodPost, c.target, strings.NewReader("do=cancel"))
		r.Host, r.RemoteAddr = "localhost:8080", "127.0.0.1:40000"
		r.Header.Set("Accept", "application/json")
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		u.ServeHTTP(w, r)
		var got page.Result
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 403 || got.Status != 403 || !strings.Contains(got.Answer, c.want) {
			t.Errorf("%s: %d %s, %v", name, w.Code, w.Body, err)
		}
	}
}

// An action of the program's own has the status of its answer, or of its error.
func TestOwnActionStatus(t *testing.T) {
	for name, c := range map[string]struct {
		answer durable.Answer
		err    error
		want   int
	}{
		"done":          {durable.Applied, nil, 200},
		"done soon":     {durable.Deferred, nil, 200},
		"in the way":    {durable.TooLate, nil, 409},
		"not there":     {durable.NotFound, nil, 404},
		"bad input":     {0, ui.BadRequest("a name is missing"), 400},
		"gone":          {0, ui.NotFound("there is none"), 404},
		"no connection": {0, errors.New("the disk does not answer"), 503},
	} {
		var done []string
		u, _ := newBackup(t, nil, backup(&done, "text", c.answer, c.err))
		status, got := posted(t, u, form("do", "back-up", "disk", "db"))
		if status != c.want || got.Status != c.want || got.Done != (c.want == 200) || len(done) != 1 {
			t.Errorf("%s: %d %+v, done %v", name, status, got, done)
		}
		if c.err != nil && !strings.Contains(got.Targets[0].Says, c.err.Error()) {
			t.Errorf("%s: the answer does not say %v: %+v", name, c.err, got)
		}
	}
}
