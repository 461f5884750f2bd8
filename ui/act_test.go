package ui_test

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/ui"
)

// newActor returns a UI for who may act on the pools of o and on jobs, which may be nil, and its log.
func newActor(t *testing.T, o *executor.Observer, jobs *durable.Jobs) (*ui.UI, *bytes.Buffer) {
	log := new(bytes.Buffer)
	c := ui.Config{
		Observer: o, Actions: true, Logger: slog.New(slog.NewTextHandler(log, nil)),
		Authorize: func(*http.Request) (ui.Access, string) { return ui.Act, "ann" },
	}
	if jobs != nil {
		c.Jobs = []ui.Source{{Jobs: jobs}}
	}
	return newUI(t, c), log
}

// form returns a form that is confirmed by its reason, with names and values.
func form(pairs ...string) url.Values {
	f := url.Values{"reason": {"a test"}}
	for i := 0; i < len(pairs); i += 2 {
		f.Set(pairs[i], pairs[i+1])
	}
	return f
}

// without returns a form without one of its fields.
func without(name string, f url.Values) url.Values {
	f.Del(name)
	return f
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

// answered follows the answer to a form that is carried out to the page with the answers.
func answered(t *testing.T, h http.Handler, form url.Values) string {
	t.Helper()
	w := post(h, form)
	if w.Code != http.StatusSeeOther {
		t.Fatalf("%v: %d %s", form, w.Code, w.Body)
	}
	return get(t, h, "/"+w.Header().Get("Location"))
}

// declined posts a form that is not carried out, or not to all, and returns the page that says so.
func declined(t *testing.T, h http.Handler, status int, form url.Values) string {
	t.Helper()
	w := post(h, form)
	if w.Code != status {
		t.Fatalf("%v: %d, want %d: %s", form, w.Code, status, w.Body)
	}
	return w.Body.String()
}

func TestActChangesJob(t *testing.T) {
	jobs := newJobs(t, nil)
	u, log := newActor(t, nil, jobs)
	for _, c := range []struct {
		do     string
		before func(durable.ID)
		holds  func(durable.Job) bool
	}{
		{"run-now", nil, func(j durable.Job) bool { return time.Until(j.Due) <= 0 }},
		{"pause", nil, func(j durable.Job) bool { return j.State == durable.Paused }},
		{"resume", func(id durable.ID) { jobs.Pause(t.Context(), id) }, func(j durable.Job) bool { return j.State == durable.Waiting }},
		{"cancel", nil, func(j durable.Job) bool { return j.State == durable.Canceled }},
		{"revive", func(id durable.ID) { jobs.Cancel(t.Context(), id) }, func(j durable.Job) bool { return j.State == durable.Waiting }},
		{"reschedule", nil, func(j durable.Job) bool {
			return time.Until(j.Due) > 89*time.Minute && time.Until(j.Due) <= 90*time.Minute
		}},
		{"move", nil, func(j durable.Job) bool { return j.Queue == "gpu" }},
	} {
		id := addJob(t, jobs, "mail", time.Hour)
		if c.before != nil {
			c.before(id)
		}
		if page := get(t, u, "/job?id="+id.String()); !strings.Contains(page, "act?do="+c.do) {
			t.Errorf("%s is not offered: %s", c.do, page)
		}
		page := answered(t, u, form("do", c.do, "id", id.String(), "reason", "because of "+c.do, "value", "90m", "queue", "gpu"))
		j, err := jobs.Get(t.Context(), id)
		if err != nil || !c.holds(j) || !strings.Contains(page, "applied") {
			t.Errorf("after %s the job is %+v, %v: %s", c.do, j, err, page)
		}
		line := log.String()
		log.Reset()
		for _, want := range []string{"action=" + c.do, "job=" + id.String(), "who=ann", "because of " + c.do, "applied"} {
			if !strings.Contains(line, want) {
				t.Errorf("the log of %s does not have %s: %s", c.do, want, line)
			}
		}
		if page := get(t, u, "/job?id="+id.String()); !strings.Contains(page, j.State.String()) {
			t.Errorf("after %s the page is of before: %s", c.do, page)
		}
	}
}

// A signal is sent from the page of a job that waits for it, with a reason. The job goes on; a second one is too late.
func TestActSendsSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, start := newNode(t)
		id := newOrder(t, jobs)
		start()
		time.Sleep(time.Minute)
		u, log := newActor(t, nil, jobs)
		m := regexp.MustCompile(`href="(act\?do=signal[^"]*signal=decision)"`).FindStringSubmatch(get(t, u, "/job?id="+id.String()))
		if m == nil {
			t.Fatalf("the signal is not offered: %s", get(t, u, "/job?id="+id.String()))
		}
		confirm := get(t, u, "/"+html.UnescapeString(m[1]))
		if !strings.Contains(confirm, `name="signal" id="signal" value="decision" required`) || !strings.Contains(confirm, `name="value" id="value" value="" size`) {
			t.Errorf("the confirmation has no fields: %s", confirm)
		}
		signal := func(payload string) url.Values {
			return form("do", "signal", "id", id.String(), "signal", "decision", "value", payload, "reason", "it is fine")
		}
		for payload, want := range map[string]string{"ann": "must be JSON", `"ann`: "must be JSON"} {
			if w := post(u, signal(payload)); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: %d %s", payload, w.Code, w.Body)
			}
		}
		if log.Len() > 0 {
			t.Errorf("before a signal was sent the log is %s", log)
		}
		page := answered(t, u, signal(`"ann"`))
		if !strings.Contains(page, "applied, signal decision") || !strings.Contains(log.String(), `reason="it is fine"`) || strings.Contains(log.String(), `\"ann`) {
			t.Errorf("the answer is %s, and the log %s", page, log)
		}
		if page := declined(t, u, http.StatusConflict, signal(`"bob"`)); !strings.Contains(page, "too late: ") {
			t.Errorf("the second answer is %s", page)
		}
		time.Sleep(10 * time.Second)
		if j, err := jobs.Get(t.Context(), id); err != nil || j.State != durable.Succeeded || string(j.Result) != `"ann"` {
			t.Errorf("the job is %+v, %v", j, err)
		}
		if page := get(t, u, "/job?id="+id.String()); strings.Contains(page, "do=signal") || !strings.Contains(page, ">came</i>") {
			t.Errorf("afterwards: %s", page)
		}
	})
}

// linkTo returns the address of the link of a page to something that can be done, "" if there is none.
func linkTo(page, do string) string {
	m := regexp.MustCompile(`href="(act\?do=` + do + `&amp;[^"]*)"`).FindStringSubmatch(page)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

// A node is drained from the page of the nodes, with a reason that is kept, and takes jobs again once it is undrained.
// The pages say what it does with jobs meanwhile.
func TestActDrainsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, start := newNode(t)
		began := make(chan int, 3)
		end := make(chan bool)
		kind := durable.Handle(jobs, "mail", func(_ context.Context, n int) (int, error) {
			began <- n
			<-end
			return 0, nil
		})
		add := func(n int) {
			t.Helper()
			if _, err := kind.Add(t.Context(), n); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
		}
		start()
		add(1)
		u, log := newActor(t, nil, jobs)
		own, _ := jobs.Node()
		has := func(path string, wants ...string) (text string) {
			t.Helper()
			text = get(t, u, path)
			for _, want := range wants {
				if !strings.Contains(text, want) {
					t.Errorf("%s has no %s: %s", path, want, text)
				}
			}
			return text
		}
		link := linkTo(has("/nodes", `<i class="pill good">takes jobs</i>`), "drain")
		if link == "" || linkTo(get(t, u, "/nodes"), "undrain") != "" {
			t.Fatalf("the page of the nodes is %s", get(t, u, "/nodes"))
		}
		has("/"+link, "<bdi>Drain "+own.Name+"</bdi>?", "finishes those that run", "It is the only node that takes jobs", `name="node" value="`+own.Name+`"`, "Reason, for the audit log")
		answer := answered(t, u, form("do", "drain", "node", own.Name))
		if !strings.Contains(answer, "It gets no more jobs.") || !strings.Contains(answer, `<a href="nodes">Back</a>`) {
			t.Errorf("the answer is %s", answer)
		}
		for _, want := range []string{"action=drain", "node=" + own.Name, `reason="a test"`, "who=ann", "answer=drains", "done=true"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log has no %s: %s", want, log)
			}
		}
		acts, err := jobs.Acts(t.Context(), durable.ActFilter{})
		if err != nil || len(acts) != 1 || acts[0].Action != "drain" || acts[0].Key != own.Name || acts[0].Reason != "a test" {
			t.Errorf("the audit log is %+v, %v", acts, err)
		}
		has("/acts", own.Name, "a test")
		has("/nodes", `<i class="pill busy">draining</i>`, "It takes jobs again once it is undrained")
		has("/", own.Name+"</bdi></a>: the node takes no more jobs until it is undrained")
		add(2)
		end <- true
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if link = linkTo(has("/nodes", `<i class="pill held">drained</i>`), "undrain"); link == "" || len(began) != 1 {
			t.Errorf("%d runs have begun, and the page of the nodes is %s", len(began), get(t, u, "/nodes"))
		}
		if w := post(u, form("do", "drain", "node", own.Name)); w.Code != http.StatusConflict {
			t.Errorf("drained again: %d %s", w.Code, w.Body)
		}
		has("/"+link, "<bdi>Undrain "+own.Name+"</bdi>?")
		answered(t, u, form("do", "undrain", "node", own.Name))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if has("/nodes", `<i class="pill good">takes jobs</i>`); len(began) != 2 {
			t.Errorf("%d runs have begun after the node was undrained", len(began))
		}
		end <- true
	})
}

// The page of 50 nodes that can be drained is as small as other pages.
func TestNodesPageSize(t *testing.T) {
	s := memory.New()
	for i := range 60 {
		name := fmt.Sprintf("production-%02d-k3v7t2x9a0", i)
		if _, err := s.Join(t.Context(), name, time.Hour); err != nil {
			t.Fatal(err)
		}
		details := store.NodeDetails{
			Host: fmt.Sprintf("production-%02d", i), Version: "v1.12.3", Kinds: []string{"mail/send", "order", "report"}, Workers: 64,
		}
		if err := s.Report(t.Context(), name, store.Report{Details: &details}); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := durable.New(durable.Config{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	u, _ := newActor(t, nil, jobs)
	page := get(t, u, "/nodes")
	if n := strings.Count(page, "Drain…"); n != 50 {
		t.Errorf("%d nodes are shown, want 50: %s", n, page)
	}
}

// A node whose lease has ended does not count as one that takes jobs.
func TestNodesShowEndedLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		if _, err := s.Join(t.Context(), "web1", time.Minute); err != nil {
			t.Fatal(err)
		}
		jobs, err := durable.New(durable.Config{Store: s})
		if err != nil {
			t.Fatal(err)
		}
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
		if page := get(t, u, "/nodes"); !strings.Contains(page, `<i class="pill good">takes jobs</i>`) {
			t.Errorf("while the lease holds: %s", page)
		}
		time.Sleep(2 * time.Minute)
		if page := get(t, u, "/nodes"); !strings.Contains(page, `<i class="pill bad">lease ended</i>`) {
			t.Errorf("after the lease: %s", page)
		}
	})
}

// Nothing is changed, and nothing noted, before there was a confirmation, with a reason and a value where there must be
// one; what is wrong is said, and what was typed stays.
func TestActNeedsConfirmation(t *testing.T) {
	o := newObserver(t)
	p := newPool(t, o, executor.Config{Name: "mail", Workers: 2})
	jobs := newJobs(t, nil)
	u, log := newActor(t, o, jobs)
	id := addJob(t, jobs, "mail", time.Hour).String()
	before := get(t, u, "/jobs")
	cancel := func(pairs ...string) url.Values { return form(append([]string{"id", id, "do", "cancel"}, pairs...)...) }
	resize := func(pairs ...string) url.Values {
		return form(append([]string{"pool", "1", "value", "9"}, pairs...)...)
	}
	for name, c := range map[string]struct {
		form url.Values
		code int
		want string
	}{
		"not confirmed":          {without("reason", cancel()), 400, "Reason, for the audit log"},
		"not confirmed, a pool":  {without("reason", resize()), 400, "Reason, for the audit log"},
		"no reason":              {cancel("reason", " "), 400, "give a reason"},
		"no reason, a pool":      {resize("reason", " "), 400, `name="value" id="value" value="9"`},
		"a long reason":          {cancel("reason", strings.Repeat("x", 501)), 400, "reason has 501 bytes"},
		"a bad reason":           {resize("reason", "\xff"), 400, "of UTF-8"},
		"a long queue":           {cancel("do", "move", "queue", strings.Repeat("x", durable.MaxKind+1)), 400, "The queue &#34;xxx"},
		"no such action":         {cancel("do", "destroy"), 400, "Choose an action"},
		"no such action, a pool": {resize("do", "shutdown"), 400, "Choose an action"},
		"no action":              {cancel("do", ""), 400, "Choose an action"},
		"no time":                {cancel("do", "reschedule", "value", "soon"), 400, "The time &#34;soon&#34;"},
		"a time that is over":    {cancel("do", "reschedule", "value", "-5m"), 400, "must not be negative"},
		"a signal no name":       {cancel("do", "signal"), 400, "The signal: it must not be empty"},
		"a long signal":          {cancel("do", "signal", "signal", strings.Repeat("x", 129)), 400, "at most 128 are allowed"},
		"a signal to all":        {form("jobs", "state=waiting", "do", "signal", "signal", "x"), 409, "Choose an action"},
		"no size":                {resize("value", ""), 400, "must be a number"},
		"size 0":                 {resize("value", "0"), 400, "from 1"},
		"a name for a size":      {resize("value", "many"), 400, "must be a number"},
		"no job":                 {form("do", "cancel"), 400, "0 jobs are chosen"},
		"no ID":                  {cancel("id", "7"), 400, "must be the ID"},
		"no such source":         {cancel("source", "x"), 404, "no source"},
		"no such node":           {form("do", "drain", "node", "web1"), 404, "no live node &#34;web1&#34;"},
		"no such node's source":  {form("do", "drain", "node", "web1", "source", "x"), 404, "no source"},
		"no such pool":           {resize("pool", "7"), 404, "no pool 7"},
		"pool no number":         {resize("pool", "x"), 400, "must be a number"},
		"no such series":         {form("series", "1", "do", "run-now"), 404, "no series 1"},
		"a pool's series":        {form("series", "-1", "do", "cancel"), 404, "no series -1"},
	} {
		if w := post(u, c.form); w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %d, want %d with %q: %s", name, w.Code, c.code, c.want, w.Body)
		}
	}
	for _, f := range []url.Values{cancel(), resize()} {
		if w := ask(u, http.MethodGet, "/act?"+f.Encode(), nil); w.Code != http.StatusOK {
			t.Errorf("GET: %d", w.Code)
		}
	}
	if acts, err := jobs.Acts(t.Context(), durable.ActFilter{}); err != nil || len(acts) > 0 || log.Len() > 0 {
		t.Errorf("%v, %v are noted, and the log is %q", acts, err, log)
	}
	if after := get(t, u, "/jobs"); after != before || p.Settings().Workers != 2 {
		t.Errorf("Workers is %d, and the jobs are %s", p.Settings().Workers, after)
	}
}

// A reason that stands in the address of a form is of whoever made the link to it: it is not that of who posts the form.
func TestActTakesNoReasonFromLink(t *testing.T) {
	jobs := newJobs(t, nil)
	u, _ := newActor(t, nil, jobs)
	id := addJob(t, jobs, "mail", time.Hour)
	link := "/act?" + form("do", "cancel", "id", id.String()).Encode()
	body := without("reason", form("do", "cancel", "id", id.String()))
	w := ask(u, http.MethodPost, link, func(r *http.Request) {
		r.Body = io.NopCloser(strings.NewReader(body.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	})
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "Please give a reason") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	if j, err := jobs.Get(t.Context(), id); err != nil || j.State != durable.Waiting {
		t.Errorf("the job is %v, %v", j.State, err)
	}
}

// Nobody acts who may only look, nor is an action offered.
func TestActNeedsAccess(t *testing.T) {
	o := newObserver(t)
	p := newPool(t, o, executor.Config{Name: "mail", Workers: 2})
	look := func(*http.Request) (ui.Access, string) { return ui.Look, "" }
	u := newUI(t, ui.Config{Observer: o, Actions: true, Authorize: look})
	if w := post(u, form("pool", "1", "do", "resize", "value", "9")); w.Code != http.StatusForbidden || p.Settings().Workers != 2 {
		t.Errorf("%d, and Workers is %d", w.Code, p.Settings().Workers)
	}
	for _, path := range []string{"/pool?id=1", "/schedules"} {
		if text := get(t, u, path); strings.Contains(text, "act?") {
			t.Errorf("%s offers an action", path)
		}
	}
}

// A pool is resized, with a reason that is in the log.
func TestActResizesPool(t *testing.T) {
	o := newObserver(t)
	p := newPool(t, o, executor.Config{Name: "mail", Workers: 2})
	u, log := newActor(t, o, nil)
	if text := get(t, u, "/pool?id=1"); !strings.Contains(text, `<a href="act?pool=1">Resize…</a>`) {
		t.Errorf("the page of the pool is %s", text)
	}
	if text := get(t, u, "/act?pool=1"); !strings.Contains(text, `name="value" id="value" value="2"`) {
		t.Errorf("the form is %s", text)
	}
	if text := answered(t, u, form("pool", "1", "do", "resize", "value", "5")); !strings.Contains(text, "resized to 5") {
		t.Errorf("the answer is %s", text)
	}
	if s := p.Settings(); s.Workers != 5 || s.Max != 5 {
		t.Errorf("Workers is %d, Max %d", s.Workers, s.Max)
	}
	for _, want := range []string{"action=resize", "pool=mail", `reason="a test"`, "who=ann", `answer="resized to 5"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s: %s", want, log)
		}
	}
}

// A series is run, paused, resumed, rescheduled and canceled; what its state does not allow is said.
func TestActChangesSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserver(t)
		p, err := executor.NewScheduled(executor.ScheduledConfig{Name: "timers", Workers: 1, Observer: o})
		if err != nil {
			t.Fatal(err)
		}
		defer p.ShutdownNow()
		runs := 0
		s, err := p.AtFixedRate(t.Context(), time.Hour, time.Hour, func(context.Context) error { runs++; return nil },
			executor.Named("<i>report</i>"))
		if err != nil {
			t.Fatal(err)
		}
		u, log := newActor(t, o, nil)
		path := regexp.MustCompile(`href="(act\?series=\d+)"`).FindStringSubmatch(get(t, u, "/schedules"))
		if path == nil {
			t.Fatal("the schedules have no link to change one")
		}
		_, number, _ := strings.Cut(path[1], "=")
		do := func(name, value, want string) {
			t.Helper()
			if text := answered(t, u, form("series", number, "do", name, "value", value)); !strings.Contains(text, want) {
				t.Errorf("%s: there is no %q: %s", name, want, text)
			}
			synctest.Wait()
		}
		if text := get(t, u, "/"+path[1]); !strings.Contains(text, "&lt;i&gt;report") || strings.Contains(text, `value="resume"`) {
			t.Errorf("the form is %s", text)
		}
		do("run-now", "", "due now")
		if runs != 1 {
			t.Errorf("%d runs", runs)
		}
		do("pause", "", "paused")
		if !s.Info().Paused {
			t.Error("it is not paused")
		}
		time.Sleep(time.Second) // the page looks anew
		synctest.Wait()
		if w := post(u, form("series", number, "do", "pause")); w.Code != http.StatusConflict {
			t.Errorf("pause of what is paused: %d", w.Code)
		}
		do("resume", "", "resumed")
		if w := post(u, form("series", number, "do", "reschedule", "value", "soon")); w.Code != http.StatusBadRequest ||
			!strings.Contains(w.Body.String(), "must be a duration") {
			t.Errorf("every soon: %d %s", w.Code, w.Body)
		}
		do("reschedule", "5m", "every 5m0s")
		if next := time.Until(s.Next()); next != 5*time.Minute {
			t.Errorf("next in %v", next)
		}
		do("cancel", "", "canceled")
		if s.State() != executor.Canceled {
			t.Errorf("the state is %v", s.State())
		}
		if w := post(u, form("series", number, "do", "run-now")); w.Code != http.StatusNotFound {
			t.Errorf("of a series that has ended: %d", w.Code)
		}
		if n := strings.Count(log.String(), "reason=\"a test\" who=ann"); n != 5 {
			t.Errorf("%d lines in the log: %s", n, log)
		}
	})
}

func TestActAnswersOneByOne(t *testing.T) {
	jobs := newJobs(t, nil)
	u, log := newActor(t, nil, jobs)
	canceled, waiting, none := addJob(t, jobs, "mail", time.Hour), addJob(t, jobs, "mail", time.Hour), durable.NewID()
	if _, err := jobs.Cancel(t.Context(), canceled); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"do": {"revive"}, "reason": {"x"},
		"id": {canceled.String(), waiting.String(), none.String(), canceled.String()}}
	rows := strings.Split(declined(t, u, http.StatusConflict, form), "<tr>")
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
	u, log := newActor(t, nil, jobs)
	form := url.Values{"do": {"cancel"}, "reason": {"x"}}
	for range 500 {
		form.Add("id", durable.NewID().String())
	}
	if n := strings.Count(declined(t, u, http.StatusNotFound, form), "not found"); n != 500 {
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
	u, log := newActor(t, nil, jobs)
	answered(t, u, url.Values{"do": {"cancel"}, "reason": {"a\nlevel=INFO msg=evil"},
		"id": {addJob(t, jobs, "mail", time.Hour).String()}})
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("the log has %d lines: %s", n, log)
	}
}

// What was done is kept in the store with its reason and shown, also when the job is gone; it is text, whatever was
// typed.
func TestActsAreShown(t *testing.T) {
	jobs := newJobs(t, nil)
	u, _ := newActor(t, nil, jobs)
	if text := get(t, u, "/acts"); !strings.Contains(text, "There are no actions yet") {
		t.Errorf("at first: %s", text)
	}
	id := addJob(t, jobs, "mail", time.Hour, durable.Key("welcome/7"))
	answered(t, u, url.Values{
		"do": {"cancel"}, "id": {id.String()}, "reason": {"<b>wrong</b>\u202e address"},
	})
	if _, err := jobs.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	declined(t, u, http.StatusNotFound, url.Values{"do": {"revive"}, "id": {id.String()}, "reason": {"too late"}})
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

// What was done to a pool and to a schedule is kept with what was done to jobs: in the store, or in memory if there is
// none, as the page says.
func TestActsOfPoolsAreShown(t *testing.T) {
	for name, c := range map[string]struct {
		jobs *durable.Jobs
		kept string
	}{
		"with a store":    {newJobs(t, nil), "The store keeps this for a year."},
		"without a store": {nil, "are kept in memory, until the program ends"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newObserver(t)
			newPool(t, o, executor.Config{Name: "mail <b>", Workers: 2})
			u, _ := newActor(t, o, c.jobs)
			answered(t, u, form("pool", "1", "value", "5"))
			want := []string{"resize pool", "<bdi>mail &lt;b&gt;</bdi>", ">ann<", "a test", "resized to 5", c.kept}
			if c.jobs != nil {
				id := addJob(t, c.jobs, "report", time.Hour, durable.Key("nightly"))
				answered(t, u, form("do", "pause", "id", id.String()))
				want = append(want, ">pause<", ">nightly<")
			}
			text := get(t, u, "/acts")
			for _, w := range want {
				if !strings.Contains(text, w) {
					t.Errorf("the page has no %s: %s", w, text)
				}
			}
		})
	}
	u := newUI(t, ui.Config{Observer: newObserver(t)})
	if text := get(t, u, "/"); strings.Contains(text, ">Actions<") {
		t.Errorf("a page that changes nothing has actions: %s", text)
	}
}

// Acts are shown page by page.
func TestActsPages(t *testing.T) {
	jobs := newJobs(t, nil)
	u, _ := newActor(t, nil, jobs)
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

// What is chosen for all jobs of a list is done to all of them, on whatever page they are, and to no others. It is
// noted once, with the answers counted; the page before says how many there are.
func TestActOnAllOfAList(t *testing.T) {
	jobs := newJobs(t, nil)
	u, log := newActor(t, nil, jobs)
	for i := range 120 {
		addJob(t, jobs, "mail", time.Hour, durable.WithTags("customer=17"), durable.Key(fmt.Sprint("a/", i)))
	}
	other := addJob(t, jobs, "mail", time.Hour, durable.WithTags("customer=18"))
	link := regexp.MustCompile(`href="(act\?jobs=[^"]*)"`)
	m := link.FindStringSubmatch(get(t, u, "/jobs?tag=customer%3D17&state=waiting&q=a/"))
	if m == nil {
		t.Fatal("the list has no link")
	}
	target, err := url.Parse("/" + strings.ReplaceAll(m[1], "&amp;", "&"))
	if err != nil {
		t.Fatal(err)
	}
	list := target.Query().Get("jobs")
	page := get(t, u, target.String())
	for _, want := range []string{"120 jobs", "tag customer=17", "state waiting", "Delete all"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page that asks does not have %q: %s", want, page)
		}
	}
	for _, c := range []struct {
		do, list, want string
		left           int // of those that wait
	}{
		{"reschedule", list, "120 applied", 121},
		{"cancel", list, "120 applied", 1},
		{"delete", list, "no jobs", 1},
		{"revive", "state=canceled&kind=mail", "120 applied", 121},
		{"delete", "tag=customer%3D17", "120 applied", 1},
	} {
		log.Reset()
		order := form("jobs", c.list, "do", c.do, "value", "90m")
		var page string
		if c.want == "no jobs" {
			page = declined(t, u, http.StatusNotFound, order)
		} else {
			page = answered(t, u, order)
		}
		if !strings.Contains(page, c.want) {
			t.Errorf("%s: want %s: %s", c.do, c.want, page)
		}
		if !strings.Contains(log.String(), c.want) || !strings.Contains(log.String(), "who=ann") {
			t.Errorf("the log of %s is %s", c.do, log)
		}
		acts, err := jobs.Acts(t.Context(), durable.ActFilter{Limit: 1})
		if err != nil || acts[0].Action != c.do+" jobs" || acts[0].Answer != c.want || acts[0].Key == "" {
			t.Errorf("noted is %+v, %v", acts, err)
		}
		if left, err := jobs.List(t.Context(), durable.Filter{States: []durable.State{durable.Waiting}, Limit: 200}); err != nil || len(left) != c.left {
			t.Errorf("after %s %d jobs wait, want %d", c.do, len(left), c.left)
		}
	}
	if j, err := jobs.Get(t.Context(), other); err != nil || j.State != durable.Waiting {
		t.Errorf("the other job is %+v, %v", j, err)
	}
	for list, code := range map[string]int{"state=nothing": 400, "%": 400} {
		if w := post(u, form("jobs", list, "do", "cancel")); w.Code != code {
			t.Errorf("jobs %q: %d, want %d: %s", list, w.Code, code, w.Body)
		}
	}
}

// All jobs of a list are moved to a queue, and with no name to the default queue.
func TestActMovesAllOfAList(t *testing.T) {
	jobs := newJobs(t, nil)
	u, _ := newActor(t, nil, jobs)
	moved := addJob(t, jobs, "mail", time.Hour)
	other := addJob(t, jobs, "bill", time.Hour)
	choose := get(t, u, "/act?jobs=kind%3Dmail")
	for _, name := range []string{"value", "queue"} {
		if n := strings.Count(choose, `id="`+name+`"`); n != 1 {
			t.Errorf("%d fields %s, want 1: %s", n, name, choose)
		}
	}
	for _, queue := range []string{"gpu", ""} {
		if page := answered(t, u, form("jobs", "kind=mail", "do", "move", "value", "90m", "queue", queue)); !strings.Contains(page, "1 applied") {
			t.Errorf("to %q: %s", queue, page)
		}
		if j, err := jobs.Get(t.Context(), moved); err != nil || j.Queue != queue {
			t.Errorf("the job is in the queue %q, want %q; %v", j.Queue, queue, err)
		}
		if j, err := jobs.Get(t.Context(), other); err != nil || j.Queue != durable.DefaultQueue {
			t.Errorf("the other job is in the queue %q; %v", j.Queue, err)
		}
	}
}

// What is done to more jobs of a list than one request may change goes on after the last of them, with the same reason.
func TestActOnAllOfALongListGoesOn(t *testing.T) {
	jobs := newJobs(t, nil)
	u, _ := newActor(t, nil, jobs)
	const extra = 7
	for i := range 10_000 + extra {
		addJob(t, jobs, "mail", time.Hour, durable.Key(fmt.Sprint("a/", i)))
	}
	more := regexp.MustCompile(`href="(act\?[^"]*)">Go on`)
	page := answered(t, u, form("jobs", "q=a%2F&kind=mail", "do", "reschedule", "value", "3h", "reason", "it is late"))
	m := more.FindStringSubmatch(page)
	if !strings.Contains(page, "10000 applied") || m == nil {
		t.Fatalf("the first answer is %s", page)
	}
	to, err := url.Parse("/" + html.UnescapeString(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	confirm := get(t, u, to.String())
	for _, want := range []string{`name="reason" id="reason" value="it is late"`, `name="value" id="value" value="3h"`, "Reschedule all"} {
		if !strings.Contains(confirm, want) {
			t.Errorf("the page that asks does not have %q: %s", want, confirm)
		}
	}
	if page := answered(t, u, to.Query()); !strings.Contains(page, fmt.Sprint(">", extra, " applied<")) || more.MatchString(page) {
		t.Errorf("the second answer is %s", page)
	}
}
