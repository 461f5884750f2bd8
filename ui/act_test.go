package ui_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui"
)

// newActor returns a UI for who may act, and its log.
func newActor(t *testing.T, jobs *durable.Jobs) (*ui.UI, *bytes.Buffer) {
	var log bytes.Buffer
	return newUI(t, ui.Config{
		Jobs: []ui.Source{{Jobs: jobs}}, Actions: true, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Authorize: func(*http.Request) (ui.Access, string) { return ui.Act, "ann" },
	}), &log
}

// post sends a form, as a browser does from the page itself.
func post(h http.Handler, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/act", strings.NewReader(form.Encode()))
	r.Host, r.RemoteAddr = "localhost:8080", "127.0.0.1:40000"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://localhost:8080")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// answered follows the answer to a form to the page with the answers.
func answered(t *testing.T, h http.Handler, form url.Values) string {
	t.Helper()
	w := post(h, form)
	if w.Code != http.StatusSeeOther {
		t.Fatalf("%v: %d %s", form, w.Code, w.Body)
	}
	return get(t, h, w.Header().Get("Location"))
}

func TestActChangesJob(t *testing.T) {
	jobs := newJobs(t, nil)
	u, log := newActor(t, jobs)
	for _, c := range []struct {
		do     string
		before func(durable.ID)
		holds  func(durable.Job) bool
	}{
		{"run", nil, func(j durable.Job) bool { return time.Until(j.Due) <= 0 }},
		{"pause", nil, func(j durable.Job) bool { return j.State == durable.Paused }},
		{"resume", func(id durable.ID) { jobs.Pause(t.Context(), id) }, func(j durable.Job) bool { return j.State == durable.Waiting }},
		{"cancel", nil, func(j durable.Job) bool { return j.State == durable.Canceled }},
		{"revive", func(id durable.ID) { jobs.Cancel(t.Context(), id) }, func(j durable.Job) bool { return j.State == durable.Waiting }},
		{"reschedule", nil, func(j durable.Job) bool {
			return time.Until(j.Due) > 89*time.Minute && time.Until(j.Due) <= 90*time.Minute
		}},
	} {
		id := addJob(t, jobs, "mail", time.Hour)
		if c.before != nil {
			c.before(id)
		}
		if page := get(t, u, "/job?id="+id.String()); !strings.Contains(page, "act?do="+c.do) {
			t.Errorf("%s is not offered: %s", c.do, page)
		}
		form := url.Values{"do": {c.do}, "id": {id.String()}, "confirmed": {"yes"}, "reason": {"because of " + c.do}, "when": {"90m"}}
		page := answered(t, u, form)
		j, err := jobs.Get(t.Context(), id)
		if err != nil || !c.holds(j) || !strings.Contains(page, "applied") {
			t.Errorf("after %s the job is %+v, %v: %s", c.do, j, err, page)
		}
		line := log.String()
		log.Reset()
		for _, want := range []string{"action=" + c.do, "job=" + id.String(), "who=ann", "because of " + c.do, "answer=applied"} {
			if !strings.Contains(line, want) {
				t.Errorf("the log of %s does not have %s: %s", c.do, want, line)
			}
		}
		if page := get(t, u, "/job?id="+id.String()); !strings.Contains(page, j.State.String()) {
			t.Errorf("after %s the page is of before: %s", c.do, page)
		}
	}
}

// Nothing is changed before there was a confirmation, with a reason and a time where there must be one.
func TestActNeedsConfirmation(t *testing.T) {
	jobs := newJobs(t, nil)
	u, log := newActor(t, jobs)
	id := addJob(t, jobs, "mail", time.Hour)
	before, err := jobs.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	form := func(values ...string) url.Values {
		f := url.Values{"id": {id.String()}}
		for i := 0; i < len(values); i += 2 {
			f.Set(values[i], values[i+1])
		}
		return f
	}
	for want, f := range map[string]url.Values{
		"Reason, for the record":  form("do", "cancel"),
		"reason is missing":       form("do", "cancel", "confirmed", "yes", "reason", "  "),
		"reason has 501 bytes":    form("do", "cancel", "confirmed", "yes", "reason", strings.Repeat("x", 501)),
		"must be a distance":      form("do", "reschedule", "confirmed", "yes", "reason", "x", "when", "soon"),
		"must not be negative":    form("do", "reschedule", "confirmed", "yes", "reason", "x", "when", "-5m"),
		"do is &#34;delete&#34;;": form("do", "delete", "confirmed", "yes", "reason", "x"),
		"0 jobs are chosen":       {"do": {"cancel"}, "confirmed": {"yes"}, "reason": {"x"}},
		"must be the ID":          {"do": {"cancel"}, "confirmed": {"yes"}, "reason": {"x"}, "id": {"7"}},
	} {
		if w := post(u, f); w.Code == http.StatusSeeOther || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%v: %d %s; want %q", f, w.Code, w.Body, want)
		}
	}
	if w := ask(u, http.MethodGet, "/act?"+form("do", "cancel", "confirmed", "yes", "reason", "x").Encode(), nil); w.Code != http.StatusOK {
		t.Errorf("GET: %d", w.Code)
	}
	after, err := jobs.Get(t.Context(), id)
	if err != nil || after.State != before.State || !after.Due.Equal(before.Due) || log.Len() > 0 {
		t.Errorf("the job is %+v, %v, and the log is %q", after, err, log)
	}
}

func TestActAnswersOneByOne(t *testing.T) {
	jobs := newJobs(t, nil)
	u, log := newActor(t, jobs)
	canceled, waiting, none := addJob(t, jobs, "mail", time.Hour), addJob(t, jobs, "mail", time.Hour), durable.NewID()
	if _, err := jobs.Cancel(t.Context(), canceled); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"do": {"revive"}, "confirmed": {"yes"}, "reason": {"x"},
		"id": {canceled.String(), waiting.String(), none.String(), canceled.String()}}
	rows := strings.Split(answered(t, u, form), "<tr>")
	for id, want := range map[durable.ID]string{canceled: "applied", waiting: "too late", none: "not found"} {
		n := 0
		for _, row := range rows {
			if strings.Contains(row, id.String()) {
				n++
				if !strings.Contains(row, want) {
					t.Errorf("the answer of %s is %s; want %q", id, row, want)
				}
			}
		}
		if n != 1 {
			t.Errorf("there are %d answers of %s", n, id)
		}
	}
	if n := strings.Count(log.String(), "ui: action"); n != 3 {
		t.Errorf("the log has %d lines: %s", n, log)
	}
}

func TestActLimit(t *testing.T) {
	jobs := newJobs(t, nil)
	u, log := newActor(t, jobs)
	form := url.Values{"do": {"cancel"}, "confirmed": {"yes"}, "reason": {"x"}}
	for range 500 {
		form.Add("id", durable.NewID().String())
	}
	if n := strings.Count(answered(t, u, form), "not found"); n != 500 {
		t.Errorf("there are %d answers; want 500", n)
	}
	log.Reset()
	form.Add("id", durable.NewID().String())
	if w := post(u, form); w.Code != http.StatusBadRequest || log.Len() > 0 {
		t.Errorf("501 jobs: %d, and the log is %q", w.Code, log)
	}
	form.Set("reason", strings.Repeat("x", 1<<20))
	if w := post(u, form); w.Code != http.StatusBadRequest || log.Len() > 0 {
		t.Errorf("a form of a megabyte: %d, and the log is %q", w.Code, log)
	}
}

// A reason can't make a line of the log.
func TestActReasonIsOneLine(t *testing.T) {
	jobs := newJobs(t, nil)
	u, log := newActor(t, jobs)
	answered(t, u, url.Values{"do": {"cancel"}, "confirmed": {"yes"}, "reason": {"a\nlevel=INFO msg=evil"},
		"id": {addJob(t, jobs, "mail", time.Hour).String()}})
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("the log has %d lines: %s", n, log)
	}
}

// What was done is kept in the store with its reason and shown, also when the job is gone; it is text, whatever was
// typed.
func TestActsAreShown(t *testing.T) {
	jobs := newJobs(t, nil)
	u, _ := newActor(t, jobs)
	if text := get(t, u, "/acts"); !strings.Contains(text, "Nothing was done by hand") {
		t.Errorf("at first: %s", text)
	}
	id := addJob(t, jobs, "mail", time.Hour, durable.Key("welcome/7"))
	answered(t, u, url.Values{
		"do": {"cancel"}, "id": {id.String()}, "confirmed": {"yes"}, "reason": {"<b>wrong</b>\u202e address"},
	})
	if _, err := jobs.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	answered(t, u, url.Values{"do": {"revive"}, "id": {id.String()}, "confirmed": {"yes"}, "reason": {"too late"}})
	text := get(t, u, "/acts")
	for _, want := range []string{
		"cancel", ">welcome/7<", ">ann<", "&lt;b&gt;wrong&lt;/b&gt;\\u202e address", "applied", "too late", "not found", "/job?id=" + id.String(),
	} {
		if !strings.Contains(text, strings.TrimPrefix(want, "/")) {
			t.Errorf("the page has no %s:\n%s", want, text)
		}
	}
	if strings.Index(text, "too late") > strings.Index(text, "wrong") {
		t.Error("the latest is not the first")
	}
}

// Acts are shown page by page.
func TestActsPages(t *testing.T) {
	jobs := newJobs(t, nil)
	u, _ := newActor(t, jobs)
	for i := range 120 {
		if err := jobs.NoteAct(t.Context(), durable.Act{Action: "run", Reason: fmt.Sprintf("reason %03d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	seen := make(map[string]int)
	for path, pages := "/acts", 0; path != ""; pages++ {
		text := get(t, u, path)
		for _, r := range regexp.MustCompile(`reason \d+`).FindAllString(text, -1) {
			seen[r]++
		}
		path = ""
		if next := regexp.MustCompile(`href="(acts\?after=\d+)">Next`).FindStringSubmatch(text); next != nil {
			path = "/" + next[1]
		}
		if pages > 5 {
			t.Fatal("the pages have no end")
		}
	}
	if len(seen) != 120 {
		t.Errorf("%d of 120 acts are shown", len(seen))
	}
	if w := ask(u, http.MethodGet, "/acts?after=x", nil); w.Code != http.StatusBadRequest {
		t.Errorf("after=x: %d", w.Code)
	}
}
