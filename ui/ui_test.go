package ui_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/ui"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newUI(t testing.TB, c ui.Config) *ui.UI {
	t.Helper()
	u, err := ui.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.Close)
	return u
}

func newObserver(t testing.TB) *executor.Observer {
	t.Helper()
	o := &executor.Observer{Every: 1, MaxNames: 60, MaxEvents: 60}
	return o
}

// newPool returns a pool that o watches and that is shut down at the end.
func newPool(t testing.TB, o *executor.Observer, c executor.Config) *executor.Pool {
	t.Helper()
	c.Observer = o
	p, err := executor.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.ShutdownNow()
		<-p.Terminated()
	})
	return p
}

// hold has a pool run a task until the test ends.
func hold(t testing.TB, p *executor.Pool, name string) {
	t.Helper()
	body := func(ctx context.Context) error { <-ctx.Done(); return nil }
	if err := p.Go(t.Context(), body, executor.Named(name)); err != nil {
		t.Fatal(err)
	}
}

// newJobs returns jobs in memory, of which calls counts the calls of the store.
func newJobs(t testing.TB, calls *atomic.Int64) *durable.Jobs {
	t.Helper()
	hooks := durable.Hooks{Call: func(string, time.Duration, error) {
		if calls != nil {
			calls.Add(1)
		}
	}}
	quiet := slog.New(slog.DiscardHandler)
	j, err := durable.New(durable.Config{Store: memory.New(), Logger: quiet, Hooks: hooks})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func addJob(t testing.TB, j *durable.Jobs, kind string, delay time.Duration, opts ...durable.Option) durable.ID {
	t.Helper()
	id, err := durable.KindOf[string, string](j, kind).AddAfter(t.Context(), delay, "secret payload", opts...)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// ask answers a request of this machine, which change may change.
func ask(h http.Handler, method, target string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host, r.RemoteAddr = "localhost:8080", "127.0.0.1:40000"
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func get(t testing.TB, h http.Handler, target string) string {
	t.Helper()
	w := ask(h, http.MethodGet, target, nil)
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s: %d %s", target, w.Code, w.Body)
	}
	return w.Body.String()
}

func TestNewRefuses(t *testing.T) {
	jobs := newJobs(t, nil)
	source := ui.Source{Jobs: jobs}
	for want, c := range map[string]ui.Config{
		"nothing to show":               {},
		"needs Config.Authorize,":       {Jobs: []ui.Source{source}, Actions: true},
		"needs Config.Authorize:":       {Jobs: []ui.Source{source}, Hosts: []string{"*"}},
		`Config.Hosts has ""`:           {Jobs: []ui.Source{source}, Hosts: []string{""}},
		"Jobs[0].Jobs is nil":           {Jobs: []ui.Source{{}}},
		"each of several":               {Jobs: []ui.Source{{Name: "a", Jobs: jobs}, source}},
		"names must be unique":          {Jobs: []ui.Source{{Name: "a", Jobs: jobs}, {Name: "a", Jobs: jobs}}},
		"one of Outcome and":            {Jobs: []ui.Source{{Jobs: jobs, Outcome: ownOutcome}}},
		"Jobs[0] has one of":            {Jobs: []ui.Source{{Jobs: jobs, Outcomes: tabs("a")}}},
		`Outcomes[0].Name is "running"`: {Jobs: []ui.Source{{Jobs: jobs, Outcome: ownOutcome, Outcomes: tabs("running")}}},
		`Outcomes[1].Name is ""`:        {Jobs: []ui.Source{{Jobs: jobs, Outcome: ownOutcome, Outcomes: tabs("a", "")}}},
		`Name is "a", which`:            {Jobs: []ui.Source{{Jobs: jobs, Outcome: ownOutcome, Outcomes: tabs("a", "a")}}},
		"Verdicts is empty":             {Jobs: []ui.Source{{Jobs: jobs, Outcome: ownOutcome, Outcomes: []ui.OutcomeTab{{Name: "a"}}}}},
		"has Verdict(99)":               {Jobs: []ui.Source{{Jobs: jobs, Outcome: ownOutcome, Outcomes: []ui.OutcomeTab{{Name: "a", Verdicts: []durable.Verdict{99}}}}}},
	} {
		u, err := ui.New(c)
		if u != nil || !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want an error with %q", c, err, want)
		}
	}
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

func peer(addr string) func(*http.Request) { return func(r *http.Request) { r.RemoteAddr = addr } }

func both(all ...func(*http.Request)) func(*http.Request) {
	return func(r *http.Request) {
		for _, f := range all {
			f(r)
		}
	}
}

func TestUIRefuses(t *testing.T) {
	jobs := newJobs(t, nil)
	id := addJob(t, jobs, "mail", time.Hour)
	looker := func(*http.Request) (ui.Access, string) { return ui.Look, "" }
	actor := func(*http.Request) (ui.Access, string) { return ui.Act, "" }
	nobody := func(*http.Request) (ui.Access, string) { return ui.None, "" }
	wrong := func(*http.Request) (ui.Access, string) { return 77, "" }
	act := "/act?do=cancel&reason=x&id=" + id.String()
	for name, c := range map[string]struct {
		config ui.Config
		method string
		target string
		change func(*http.Request)
		status int
	}{
		"other host":              {ui.Config{}, "GET", "/", host("evil.example"), 403},
		"rebound host":            {ui.Config{}, "GET", "/jobs", host("localhost.evil.example:8080"), 403},
		"address of the network":  {ui.Config{}, "GET", "/", host("10.0.0.5"), 403},
		"no host":                 {ui.Config{}, "GET", "/", host(""), 403},
		"other peer":              {ui.Config{}, "GET", "/", peer("10.0.0.7:1"), 403},
		"other peer, IPv6":        {ui.Config{}, "GET", "/", peer("[2001:db8::1]:1"), 403},
		"forwarded":               {ui.Config{}, "GET", "/", header("X-Forwarded-For", "10.0.0.7"), 403},
		"forwarded for a host":    {ui.Config{}, "GET", "/", header("Forwarded", "for=10.0.0.7"), 403},
		"other origin":            {ui.Config{}, "GET", "/events?view=", header("Origin", "https://evil.example"), 403},
		"null origin":             {ui.Config{}, "GET", "/events?view=", header("Origin", "null"), 403},
		"script of another site":  {ui.Config{}, "GET", "/jobs", header("Sec-Fetch-Site", "cross-site"), 403},
		"script of a sister site": {ui.Config{}, "GET", "/jobs", header("Sec-Fetch-Site", "same-site"), 403},
		"framed": {ui.Config{}, "GET", "/", both(header("Sec-Fetch-Site", "cross-site"),
			header("Sec-Fetch-Mode", "navigate"), header("Sec-Fetch-Dest", "iframe")), 403},
		"POST to a page":       {ui.Config{}, "POST", "/jobs", nil, 405},
		"POST without Actions": {ui.Config{Authorize: actor}, "POST", act, nil, 405},
		"PUT":                  {ui.Config{Actions: true, Authorize: actor}, "PUT", act, nil, 405},
		"DELETE":               {ui.Config{Actions: true, Authorize: actor}, "DELETE", "/job?id=" + id.String(), nil, 405},
		"TRACE":                {ui.Config{}, "TRACE", "/", nil, 405},
		"not authorized":       {ui.Config{Authorize: nobody}, "GET", "/", nil, 403},
		"of unknown access":    {ui.Config{Authorize: wrong}, "GET", "/", nil, 403},
		"of who may look":      {ui.Config{Actions: true, Authorize: looker}, "POST", act, nil, 403},
		"form of who may look": {ui.Config{Actions: true, Authorize: looker}, "GET", act, nil, 403},
		"POST of another site": {ui.Config{Actions: true, Authorize: actor}, "POST", act,
			header("Sec-Fetch-Site", "cross-site"), 403},
		"POST of a sister site": {ui.Config{Actions: true, Authorize: actor}, "POST", act,
			header("Sec-Fetch-Site", "same-site"), 403},
		"POST of another origin": {ui.Config{Actions: true, Authorize: actor}, "POST", act,
			header("Origin", "https://evil.example"), 403},
		"POST for another host": {ui.Config{Actions: true, Authorize: actor}, "POST", act, host("evil.example"), 403},
		"host with another port": {ui.Config{Hosts: []string{"ops.example:443"}}, "GET", "/",
			host("ops.example:80"), 403},
		"action without Actions": {ui.Config{Authorize: actor}, "GET", act, nil, 404},
	} {
		c.config.Jobs = []ui.Source{{Jobs: jobs}}
		w := ask(newUI(t, c.config), c.method, c.target, c.change)
		if w.Code != c.status {
			t.Errorf("%s: %d %s; want %d", name, w.Code, w.Body, c.status)
		}
		allowed := "GET, HEAD"
		if c.config.Actions && c.target == act {
			allowed += ", POST"
		}
		if c.status == 405 && w.Header().Get("Allow") != allowed {
			t.Errorf("%s: Allow is %q, want %q", name, w.Header().Get("Allow"), allowed)
		}
	}
	if j, err := jobs.Get(t.Context(), id); err != nil || j.State != durable.Waiting {
		t.Errorf("the job is %v, %v; want it untouched", j.State, err)
	}
}

func TestUIAllows(t *testing.T) {
	who := func(*http.Request) (ui.Access, string) { return ui.Look, "" }
	for name, c := range map[string]struct {
		config ui.Config
		change func(*http.Request)
	}{
		"this machine":            {ui.Config{}, nil},
		"IPv6":                    {ui.Config{}, both(host("[::1]:8080"), peer("[::1]:4"))},
		"Unix socket":             {ui.Config{}, both(host("localhost"), peer("@"))},
		"link from another site":  {ui.Config{}, both(header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate"), header("Sec-Fetch-Dest", "document"))},
		"own origin":              {ui.Config{}, both(header("Origin", "http://localhost:8080"), header("Sec-Fetch-Site", "same-origin"))},
		"host that is named":      {ui.Config{Hosts: []string{"Ops.example"}}, both(host("ops.example:8080"), peer("10.0.0.7:1"))},
		"proxy that is named":     {ui.Config{Hosts: []string{"ops.example"}}, both(host("ops.example"), header("Via", "proxy"))},
		"any host, if authorized": {ui.Config{Hosts: []string{"*"}, Authorize: who}, both(host("10.0.0.5:1"), peer("10.0.0.7:1"))},
	} {
		c.config.Observer = newObserver(t)
		w := ask(newUI(t, c.config), http.MethodGet, "/", c.change)
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s: Content-Security-Policy is %q", name, policy)
		}
	}
}

var link = regexp.MustCompile(`(?:href|src|action|data-events)="([^"]*)"`)

// A browser loads nothing for a page from elsewhere, shows it in no frame, and sends its forms to no other server.
func TestPagesAreGuardedByBrowser(t *testing.T) {
	header := ask(newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: newJobs(t, nil)}}}), http.MethodGet, "/jobs", nil).Header()
	policy := strings.Split(header.Get("Content-Security-Policy"), "; ")
	for _, want := range []string{
		"default-src 'none'", "script-src 'self'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'",
	} {
		if !slices.Contains(policy, want) {
			t.Errorf("the policy is %q, without %s", policy, want)
		}
	}
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "same-origin",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
}

// Each link of each page leads to a page, wherever the handler is mounted.
func TestPagesLink(t *testing.T) {
	o := newObserver(t)
	newPool(t, o, executor.Config{Name: "mail", Workers: 1})
	jobs := newJobs(t, nil)
	for i := range 60 {
		addJob(t, jobs, "mail", time.Hour, durable.Key(fmt.Sprint("job ", i)))
	}
	u := newUI(t, ui.Config{
		Observer: o, Jobs: []ui.Source{{Name: "a & b", Jobs: jobs}, {Name: "c", Jobs: newJobs(t, nil)}},
		Actions: true, Authorize: func(*http.Request) (ui.Access, string) { return ui.Act, "" },
	})
	for _, h := range []struct {
		prefix  string
		handler http.Handler
	}{{"/", u}, {"/ops/executor/", u}, {"/ops/executor/", http.StripPrefix("/ops/executor/", u)}} {
		seen := map[string]bool{h.prefix: true}
		for todo := []string{h.prefix}; len(todo) > 0; todo = todo[1:] {
			base, err := url.Parse(todo[0])
			if err != nil {
				t.Fatal(err)
			}
			page := get(t, h.handler, todo[0])
			for _, m := range link.FindAllStringSubmatch(page, -1) {
				text := html.UnescapeString(m[1])
				ref, err := base.Parse(text)
				if err != nil || ref.Host != "" || strings.HasPrefix(text, "/") {
					t.Fatalf("%s links to %q: %v", todo[0], text, err)
				}
				events := strings.HasPrefix(text, "events")
				if ref.Fragment = ""; seen[ref.String()] || text == "act" || strings.HasPrefix(text, "zone?") || strings.Count(text, "&") > 2 {
					continue
				}
				seen[ref.String()] = true
				if method := http.MethodHead; events || strings.Contains(text, "app-") {
					if w := ask(h.handler, method, ref.String(), nil); w.Code != http.StatusOK {
						t.Errorf("%s links to %s: %d", todo[0], ref, w.Code)
					}
				} else {
					todo = append(todo, ref.String())
				}
			}
		}
		if len(seen) < 40 {
			t.Errorf("under %s there are %d links; want more", h.prefix, len(seen))
		}
	}
}

// Also an answer that leads to another page leads to one, wherever the handler is mounted.
func TestPagesLead(t *testing.T) {
	jobs := newJobs(t, nil)
	id := addJob(t, jobs, "mail", time.Hour)
	u, _ := newActor(t, nil, jobs)
	for _, h := range []struct {
		prefix  string
		handler http.Handler
	}{{"/", u}, {"/ops/executor/", u}, {"/ops/executor/", http.StripPrefix("/ops/executor", u)}} {
		from := url.URL{Path: h.prefix + "jobs"}
		searched := ask(h.handler, http.MethodGet, from.Path+"?q="+id.String(), nil)
		done := ask(h.handler, http.MethodPost, h.prefix+"act?"+form("do", "run-now", "id", id.String()).Encode(), func(r *http.Request) {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Body = io.NopCloser(strings.NewReader("reason=a+test"))
		})
		for what, w := range map[string]*httptest.ResponseRecorder{"the search for an ID": searched, "an action": done} {
			to, err := from.Parse(w.Header().Get("Location"))
			if err != nil || w.Code != http.StatusSeeOther || !strings.HasPrefix(to.Path, h.prefix) {
				t.Errorf("under %s %s leads to %d %v, %v", h.prefix, what, w.Code, to, err)
				continue
			}
			get(t, h.handler, to.String())
		}
	}
}

var typed = regexp.MustCompile(` value="[^"]*"`)

// Names that are markup, or that a terminal or the eye would take for something else, are shown as text.
func TestPagesShowHostileNames(t *testing.T) {
	name := "<script>alert(1)</script>\x1b[31m\u202egnp\r\n\r\nevent: evil\x00\"'&"
	long := strings.Repeat("long ", 2000)
	o := newObserver(t)
	p := newPool(t, o, executor.Config{Name: name, Workers: 2})
	for _, n := range []string{name, long} {
		hold(t, p, n)
	}
	jobs := newJobs(t, nil)
	key := "<script>alert(1)</script>\u202egnp'\"&"
	id := addJob(t, jobs, "<b>kind</b>", time.Hour, durable.Key(key))
	addJob(t, jobs, "<b>kind</b>", 0, durable.After(id), durable.Key(key+" child")) // in the graph of its parent
	u := newUI(t, ui.Config{Observer: o, Jobs: []ui.Source{{Jobs: jobs}}})
	for _, path := range []string{"/", "/pools", "/pool?id=1", "/jobs", "/job?id=" + id.String(), "/schedules",
		"/jobs?q=" + url.QueryEscape(key), "/jobs?kind=" + url.QueryEscape("<b>kind</b>")} {
		page := typed.ReplaceAllString(get(t, u, path), "") // what was searched for stays as it was typed
		for _, bad := range []string{"<script>alert", "<b>kind", "\x1b", "\u202e", "\r", "\x00"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
		if !utf8.ValidString(page) || len(page) > 12_000 {
			t.Errorf("%s has %d bytes, of which some may be no UTF-8", path, len(page))
		}
	}
	if page := get(t, u, "/pool?id=1"); !strings.Contains(page, "&lt;script&gt;alert(1)") || !strings.Contains(page, "long long") {
		t.Errorf("the page of the pool does not have the names: %s", page)
	}
	if page := get(t, u, "/jobs"); !strings.Contains(page, "&lt;script&gt;alert(1)") || !strings.Contains(page, "&lt;b&gt;kind") {
		t.Errorf("the list of jobs does not have the names: %s", page)
	}
}

func TestErrors(t *testing.T) {
	u := newUI(t, ui.Config{Observer: newObserver(t), Jobs: []ui.Source{{Jobs: newJobs(t, nil)}}})
	for target, want := range map[string]int{
		"/nothing": 404, "/pool": 400, "/pool?id=0": 400, "/pool?id=7": 404, "/jobs?source=none": 404,
		"/jobs?state=asleep": 400, "/jobs?after=x": 400, "/jobs?q=" + strings.Repeat("x", 513): 400,
		"/job?id=x": 400, "/job?id=" + durable.NewID().String(): 404, "/schedules?span=9h": 400, "/events?view=nothing": 400,
	} {
		if w := ask(u, http.MethodGet, target, nil); w.Code != want {
			t.Errorf("%.60s: %d; want %d: %s", target, w.Code, want, w.Body)
		}
	}
}

func TestOverviewAttention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserver(t)
		p := newPool(t, o, executor.Config{Name: "mail", Workers: 1})
		hold(t, p, "newsletter")
		jobs := newJobs(t, nil)
		addJob(t, jobs, "report", 0)
		u := newUI(t, ui.Config{Observer: o, Jobs: []ui.Source{{Jobs: jobs}}})
		synctest.Wait()
		if page := get(t, u, "/"); !strings.Contains(page, "Nothing needs attention") {
			t.Errorf("at first: %s", page)
		}
		time.Sleep(time.Minute)
		page := get(t, u, "/")
		for _, want := range []string{"worker 1 has been running newsletter for at least 1\u00a0min", "a job is overdue by 1\u00a0min"} {
			if !strings.Contains(page, want) {
				t.Errorf("after a minute there is no %q: %s", want, page)
			}
		}
	})
}
