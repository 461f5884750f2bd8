package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/daemon"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/cmd/executord/internal/roles"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// fake is a daemon with some jobs, whose runs are in a real record.
type fake struct {
	jobs    []view.Job
	day     view.Day
	figures []daemon.Figures
	before  map[string]time.Time
	log     *record.Log
	stored  record.Stored
	past    []view.Run // in the history of the store
	err     error      // of the store
	ready   error

	next []time.Time

	channels []notify.Counts
	notices  []notify.Notice
	tested   []string // channels
	answer   string   // of a test
	refusal  error
}

func (f *fake) Jobs(context.Context) ([]view.Job, error) {
	for i := range f.jobs {
		j := &f.jobs[i]
		if j.Past == nil && j.Last != nil {
			j.Health = view.HealthOf([]view.Past{{Run: j.Last.Run, Outcome: j.Last.Outcome}})
		} else {
			j.Health = view.HealthOf(j.Past)
		}
	}
	return f.jobs, f.err
}

func (f *fake) Day(context.Context) (view.Day, error) { return f.day, f.err }

func (f *fake) Runs(_ context.Context, name string, n int) ([]view.Run, bool, error) {
	var runs []view.Run
	for _, facts := range f.log.Latest(name, n) {
		runs = append(runs, facts.Run)
	}
	runs = append(runs, f.past...)
	return runs, slices.ContainsFunc(f.jobs, func(j view.Job) bool { return j.Job == name }), f.err
}

func (f *fake) Upcoming(_ context.Context, _ string, n int) ([]time.Time, error) {
	return f.next[:min(n, len(f.next))], f.err
}

func (f *fake) Output(name string, n int) (record.Facts, *record.Output, bool) {
	return f.log.Find(name, n)
}

func (f *fake) Stored(_ context.Context, name string, n int) (record.Stored, bool, error) {
	return f.stored, len(f.stored.Head) > 0, f.err
}

func (f *fake) Figures() []daemon.Figures { return f.figures }

func (f *fake) Channels() []notify.Counts { return f.channels }

func (f *fake) TestChannel(_ context.Context, name string) (string, error) {
	f.tested = append(f.tested, name)
	return f.answer, f.refusal
}

func (f *fake) Notices(_ context.Context, n int) ([]notify.Notice, error) {
	return slices.Clone(f.notices[:min(n, len(f.notices))]), f.err
}

func (f *fake) Successes(context.Context) (map[string]time.Time, error) { return f.before, f.err }

func (f *fake) StoreError(context.Context) error { return f.err }
func (f *fake) Ready(context.Context) error      { return f.ready }

// newFake returns a daemon with one job, of which a run has ended, and one goes on.
func newFake(name string) (*fake, *record.Run) {
	f := &fake{log: record.New(record.Limits{Output: 1 << 16, Runs: 10, Bytes: 1 << 20, Age: time.Hour})}
	last := view.Run{Job: name, Run: 1, Outcome: "failed"}
	f.jobs = []view.Job{{Job: name, Schedule: "@every 1s", Command: "echo " + name, State: catalog.Status{State: catalog.StateWaiting}, Last: &last}}
	f.figures = []daemon.Figures{{Job: name}}
	run := f.log.Begin(view.Run{Job: name, Run: 1})
	run.Output().Add(time.Now(), false, false, []byte("plain"))
	run.Output().Add(time.Now(), true, false, []byte("wrong"))
	run.End(func(v *view.Run) { v.Outcome, v.Error = "failed", "exit status 3" })
	return f, f.log.Begin(view.Run{Job: name, Run: 2})
}

const token = "correct-horse-battery-staple"

// ask sends a request to a handler.
func ask(h http.Handler, method, target string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host, r.RemoteAddr = "127.0.0.1:8384", "127.0.0.1:5000"
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// Requests that no reader makes are refused, and those of readers are answered.
func TestServerRefusesHostileRequests(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	host := func(host string) func(*http.Request) { return func(r *http.Request) { r.Host = host } }
	from := func(addr string) func(*http.Request) { return func(r *http.Request) { r.RemoteAddr = addr } }
	both := func(a, b func(*http.Request)) func(*http.Request) {
		return func(r *http.Request) { a(r); b(r) }
	}
	site := func(mode, dest string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", mode)
			r.Header.Set("Sec-Fetch-Dest", dest)
		}
	}
	bearer := header("Authorization", "Bearer "+token)
	tests := []struct {
		name   string
		access Access
		method string
		path   string
		change func(*http.Request)
		want   int
	}{
		{"plain", Loopback, "GET", "/", nil, 200},
		{"localhost", Loopback, "GET", "/", host("localhost:8384"), 200},
		{"IPv6", Loopback, "GET", "/", both(host("[::1]:8384"), from("[::1]:5000")), 200},
		{"mapped", Loopback, "GET", "/", from("[::ffff:127.0.0.1]:5000"), 200},
		{"HEAD", Loopback, "HEAD", "/", nil, 200},
		{"same origin", Loopback, "GET", "/", header("Origin", "http://127.0.0.1:8384"), 200},
		{"link from elsewhere", Loopback, "GET", "/", site("navigate", "document"), 200},
		{"below an object", Loopback, "GET", "/api/jobs/", nil, 404},
		{"below a page", Loopback, "GET", "/nodes/pools", nil, 404},
		{"rebound name", Loopback, "GET", "/", host("evil.example:8384"), 403},
		{"name like loopback", Loopback, "GET", "/", host("127.0.0.1.evil.example"), 403},
		{"localhost of a domain", Loopback, "GET", "/", host("localhost.evil.example"), 403},
		{"no host", Loopback, "GET", "/", host(""), 403},
		{"unspecified", Loopback, "GET", "/", host("0.0.0.0:8384"), 403},
		{"from elsewhere", Loopback, "GET", "/", from("10.0.0.7:5000"), 403},
		{"through a proxy", Loopback, "GET", "/", header("X-Forwarded-For", "10.0.0.7"), 403},
		{"via", Loopback, "GET", "/", header("Via", "1.1 proxy"), 403},
		{"forwarded", Loopback, "GET", "/", header("Forwarded", "for=10.0.0.7"), 403},
		{"other origin", Loopback, "GET", "/", header("Origin", "http://evil.example"), 403},
		{"other port", Loopback, "GET", "/", header("Origin", "http://127.0.0.1:9"), 403},
		{"no origin", Loopback, "GET", "/", header("Origin", "null"), 403},
		{"fetch of another site", Loopback, "GET", "/api/jobs", site("cors", "empty"), 403},
		{"frame of another site", Loopback, "GET", "/", site("navigate", "iframe"), 403},
		{"image of another site", Loopback, "GET", "/metrics", site("no-cors", "image"), 403},
		{"form of another site", Loopback, "POST", "/", site("navigate", "document"), 403},
		{"metrics of a rebound name", Loopback, "GET", "/metrics", host("evil.example"), 403},
		{"POST", Loopback, "POST", "/", nil, 405},
		{"PUT", Loopback, "PUT", "/job?name=backup", nil, 405},
		{"DELETE", Loopback, "DELETE", "/run?job=backup&run=1", nil, 405},
		{"no page", Loopback, "GET", "/nothing", nil, 404},
		{"files", Loopback, "GET", "/assets/style.css", nil, 404},
		{"login without a token", Loopback, "POST", "/login", nil, 405},

		{"socket, any host", Socket, "GET", "/", both(host("ops.example"), from("@")), 200},
		{"socket, proxy", Socket, "GET", "/", both(header("X-Forwarded-For", "10.0.0.7"), from("")), 200},
		{"socket, other origin", Socket, "GET", "/", header("Origin", "http://evil.example"), 403},

		{"page of ui", Loopback, "GET", "/schedules", nil, 200},
		{"page of ui, rebound name", Loopback, "GET", "/schedules", host("evil.example"), 403},
		{"page of ui, other origin", Loopback, "GET", "/schedules", header("Origin", "http://evil.example"), 403},
		{"page of ui, POST", Loopback, "POST", "/schedules", nil, 405},
		{"page of ui, no token", ByToken, "GET", "/schedules", nil, 401},
		{"page of ui, no token, events", ByToken, "GET", "/events?view=", nil, 401},
		{"page of ui, no token, as an asset", ByToken, "GET", "/static/schedules", nil, 404},
		{"page of ui, token", ByToken, "GET", "/schedules", bearer, 200},
		{"page that executord has of its own", Loopback, "GET", "/dead", nil, 404},

		{"no token", ByToken, "GET", "/", host("ops.example"), 401},
		{"no token, API", ByToken, "GET", "/api/output?job=backup", nil, 401},
		{"no token, metrics", ByToken, "GET", "/metrics", nil, 401},
		{"token", ByToken, "GET", "/metrics", both(bearer, host("ops.example")), 200},
		{"token from elsewhere", ByToken, "GET", "/", both(bearer, from("10.0.0.7:5000")), 200},
		{"wrong token", ByToken, "GET", "/", header("Authorization", "Bearer "+token+"x"), 401},
		{"begin of the token", ByToken, "GET", "/", header("Authorization", "Bearer "+token[:9]), 401},
		{"empty token", ByToken, "GET", "/", header("Authorization", "Bearer "), 401},
		{"Basic", ByToken, "GET", "/", header("Authorization", "Basic "+token), 401},
		{"token in the address", ByToken, "GET", "/?token=" + token, nil, 401},
		{"token as cookie", ByToken, "GET", "/", header("Cookie", "executord-8384="+token), 401},
		{"forged session", ByToken, "GET", "/", header("Cookie", "executord-8384="+new(sessions).open(roles.SumOf(token), time.Now())), 401},
		{"token and other origin", ByToken, "GET", "/", both(bearer, header("Origin", "http://evil.example")), 403},
		{"health", ByToken, "GET", "/healthz", host("10.1.2.3:8384"), 200},
		{"readiness", ByToken, "GET", "/readyz", host("10.1.2.3:8384"), 200},
		{"login of another site", ByToken, "POST", "/login", header("Sec-Fetch-Site", "cross-site"), 403},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := Config{Daemon: f, Access: test.access}
			if test.access == ByToken {
				c.Tokens = tokens
			}
			w := ask(New(c).Handler(), test.method, test.path, test.change)
			if w.Code != test.want {
				t.Errorf("%d, want %d: %s", w.Code, test.want, w.Body)
			}
			if w.Code == 405 && !strings.HasPrefix(w.Header().Get("Allow"), "GET, HEAD") {
				t.Errorf("Allow is %q", w.Header().Get("Allow"))
			}
			if w.Code >= 400 && strings.Contains(w.Body.String(), "backup") {
				t.Errorf("a request that is refused learns of jobs: %s", w.Body)
			}
			if csp := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") {
				t.Errorf("policy %q", csp)
			}
		})
	}
}

// tokens has one token, which may all.
func tokens() roles.Tokens {
	return roles.Tokens{{Role: roles.Operate, Sum: roles.SumOf(token)}}
}

// The token opens a session, whose cookie no script and no other site has, and which ends.
func TestServerOpensSession(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	s := New(Config{Daemon: f, Access: ByToken, Tokens: tokens})
	h := s.Handler()
	w := ask(h, "GET", "/job?name=backup", header("Accept", "text/html"))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/login?to=%2Fjob%3Fname%3Dbackup" {
		t.Fatalf("%d to %s", w.Code, w.Header().Get("Location"))
	}
	login := func(values url.Values) *httptest.ResponseRecorder {
		return ask(h, "POST", "/login", func(r *http.Request) {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Body = io.NopCloser(strings.NewReader(values.Encode()))
		})
	}
	if w := login(url.Values{"token": {"wrong"}, "to": {"/"}}); w.Code != http.StatusUnauthorized || len(w.Result().Cookies()) != 0 {
		t.Errorf("%d with a wrong token", w.Code)
	}
	w = login(url.Values{"token": {" " + token + "\n"}, "to": {"/job?name=backup"}})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/job?name=backup" || len(w.Result().Cookies()) != 1 {
		t.Fatalf("%d to %s", w.Code, w.Header().Get("Location"))
	}
	c := w.Result().Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" ||
		strings.Contains(c.Value, token) {
		t.Errorf("cookie %v", c)
	}
	if w := ask(h, "GET", "/job?name=backup", func(r *http.Request) { r.AddCookie(c) }); w.Code != http.StatusOK {
		t.Errorf("%d in the session", w.Code)
	}
	if _, ok := s.sessions.of(c.Value, time.Now().Add(sessionLength+time.Second)); ok {
		t.Error("the session does not end")
	}
	if _, ok := New(s.Config).sessions.of(c.Value, time.Now()); ok {
		t.Error("the session outlives the daemon")
	}
	if w := ask(h, "POST", "/logout", nil); w.Result().Cookies()[0].MaxAge >= 0 {
		t.Error("the logout keeps the cookie")
	}
}

// After a login, a reader stays on this server.
func TestServerLoginStaysHere(t *testing.T) {
	for to, want := range map[string]string{
		"/job?name=a": "/job?name=a", "": "/", "//evil.example": "/", "///evil.example": "/", "https://evil.example/": "/", `/\evil.example`: "/",
		"evil": "/", "/login": "/", "/\nx": "/", "javascript:alert(1)": "/",
	} {
		if got := target(to); got != want {
			t.Errorf("%q: %q, want %q", to, got, want)
		}
	}
}

// Each text of others is shown as text on every page, whatever it is.
func TestServerShowsHostileTexts(t *testing.T) {
	for _, hostile := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "\x1b]0;title\x07", "\x1b[31mred\x1b[0m", "a\rb\r\nevent: evil", "\u202egnp.exe",
		"{{.}}", "&lt;b&gt;", strings.Repeat("long ", 2000), "\xff\xfe", "\x00", "javascript:alert(1)", "' onmouseover='x",
	} {
		f, run := newFake(hostile)
		run.Output().Add(time.Now(), true, false, []byte(hostile))
		run.End(func(v *view.Run) { v.Outcome, v.Error = "failed", hostile })
		f.jobs[0].Past = []view.Past{{Run: 1, Outcome: outcome.OK}, {Run: 2, Outcome: outcome.Failed}}
		f.jobs[0].Last.Error, f.jobs[0].Last.Stderr = hostile, []string{hostile}
		f.jobs[0].Tags, f.jobs[0].Command, f.jobs[0].Schedule = []string{hostile}, hostile, hostile
		group := newJob(hostile+"/"+hostile, ".x.x")
		f.jobs = append(f.jobs, group)
		f.channels = []notify.Counts{{Channel: hostile}}
		f.notices = []notify.Notice{{ID: "1", Channel: hostile, Outcome: notify.GivenUp, Subject: hostile, Answer: hostile, Error: hostile, Host: hostile,
			Events: []notify.Event{{Kind: notify.Failed, Job: hostile, Run: 1, Reason: hostile}}}}
		h := New(Config{Daemon: f, Title: hostile}).Handler()
		query := url.Values{"job": {hostile}, "name": {hostile}, "run": {"2"}, "find": {hostile}}.Encode()
		for _, path := range []string{"/", "/?", "/job", "/run", "/notices", "/api/jobs", "/api/runs", "/api/output", "/api/notices", "/metrics"} {
			if path != "/?" { // without a search, which finds no job
				path += "?" + query
			}
			w := ask(h, "GET", path, nil)
			text := w.Body.String()
			if w.Code != http.StatusOK {
				t.Fatalf("%q: %s: %d %s", hostile, path, w.Code, text)
			}
			if strings.ContainsAny(text, "\x1b\x07\x00\u202e") || !strings.HasPrefix(path, "/metrics") && strings.Contains(text, "\r") {
				t.Errorf("%q: %s has what cannot be seen: %q", hostile, path, text)
			}
			if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
				for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(text, -1) {
					bare := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(tag, "") // without the values of attributes
					if regexp.MustCompile(`alert|onerror|onmouseover`).MatchString(bare) || strings.Contains(tag, `href="javascript:`) {
						t.Errorf("%q: %s has the tag %s", hostile, path, tag)
					}
				}
			}
		}
	}
}

// The page of a run has its lines, those of standard error marked, and how it ended.
func TestServerShowsRun(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	text := ask(New(Config{Daemon: f}).Handler(), "GET", "/run?job=backup&run=1", nil).Body.String()
	for _, want := range []string{`<li value="1" id="l1"><a href="#l1" tabindex="-1">`, `</a>plain</li>`, `<li value="2" id="l2" class="err"><a href="#l2"`, `</a>wrong</li>`, `<a href="#l2">First of stderr</a> <a href="#end">`, `<a href="#l2">First of stderr</a> <a href="text?`, `<span id="end">`, ">failed<", "exit status 3", "</html>"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not have %s:\n%s", want, text)
		}
	}
}

// The first line of standard error that is shown has a link, wherever a store has kept it; there is none to a line that is
// not shown.
func TestServerLeadsToFirstOfStderr(t *testing.T) {
	f, run := newFake("backup")
	run.End(nil)
	f.past = []view.Run{{Job: "backup", Run: 7, Outcome: "ok", Finished: time.Now()}}
	f.stored = record.Stored{Head: []record.Line{{N: 1, Text: "a"}}, Omitted: 7, Tail: []record.Line{{N: 1, Text: "b"}, {N: 2, Text: "c", Stderr: true}}}
	h := New(Config{Daemon: f}).Handler()
	for query, want := range map[string]string{"run=1": "l2", "run=1&find=WRONG": "l2", "run=1&find=plain": "", "run=7": "t2", "run=7&find=b": ""} {
		text := get(t, h, "/run?job=backup&"+query)
		got := regexp.MustCompile(`<a href="#(\w+)">First of stderr</a>`).FindStringSubmatch(text)
		if (got == nil) != (want == "") || got != nil && (got[1] != want || !strings.Contains(text, ` id="`+want+`"`)) {
			t.Errorf("%s leads to %q, want %s: %s", query, got, want, text)
		}
	}
}

// The output of a run leads to those of the runs beside it, and to the same with long lines that are not wrapped, each with
// what was searched for.
func TestServerLeadsToRunsBeside(t *testing.T) {
	f, run := newFake("backup")
	run.End(nil)
	f.jobs[0].Runs = 2
	h := New(Config{Daemon: f}).Handler()
	const find = "a%22b"
	for query, want := range map[string][]string{
		"run=1":         {`<a href="run?find=a%22b&amp;job=backup&amp;run=2" rel="next">`, `href="run?find=a%22b&amp;job=backup&amp;run=1&amp;wrap=no">Do not wrap`, `class="output"`},
		"run=2&wrap=no": {`<a href="run?find=a%22b&amp;job=backup&amp;run=1&amp;wrap=no" rel="prev">`, `href="run?find=a%22b&amp;job=backup&amp;run=2">Wrap long lines`, `class="output cut"`},
	} {
		text := ask(h, "GET", "/run?job=backup&find="+find+"&"+query, nil).Body.String()
		for _, want := range want {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %s: %s", query, want, text)
			}
		}
		if strings.Contains(text, `rel="prev"`) == strings.Contains(text, `rel="next"`) {
			t.Errorf("%s leads to runs that there are not: %s", query, text)
		}
	}
}

// Of a run that is in the history only, there is what the store has kept, with what it has not, and the times of the lines
// as far as they are known.
func TestServerShowsStoredRun(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	f.past = []view.Run{{Job: "backup", Run: 7, Outcome: "ok", Finished: time.Now()}}
	h := New(Config{Daemon: f}).Handler()
	if text := ask(h, "GET", "/run?job=backup&run=7", nil).Body.String(); !strings.Contains(text, "The output of this run is not kept.") {
		t.Errorf("without output: %s", text)
	}
	f.stored = record.Stored{
		Head: []record.Line{{N: 1, Text: "<first>", At: time.Unix(0, 0).UTC()}}, Omitted: 123,
		Tail: []record.Line{{N: 1, Text: "of any time"}, {N: 2, Text: "\x1b[31mlast", At: time.Unix(61, 0).UTC(), Stderr: true}},
	}
	clock := func(seconds int64) string { return time.Unix(seconds, 0).Format(time.TimeOnly) }
	text := ask(h, "GET", "/run?job=backup&run=7", nil).Body.String()
	for _, want := range []string{
		`<li value="1" id="l1"><a href="#l1" tabindex="-1">` + clock(0) + `</a>&lt;first&gt;</li>`, "123 bytes were left out",
		`<li id="t1" class="late">of any time</li>`, `<li id="t2" class="late err"><a href="#t2" tabindex="-1">` + clock(61) + `</a><span class="c1">last</span></li>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not have %s:\n%s", want, text)
		}
	}
	want := `{"n":1,"at":"1970-01-01T00:00:00Z","stream":"stdout","text":"<first>"}` + "\n" + `{"omitted":123}` + "\n" +
		`{"stream":"stdout","text":"of any time"}` + "\n" +
		`{"at":"1970-01-01T00:01:01Z","stream":"stderr","text":"\\x1b[31mlast"}` + "\n"
	if got := ask(h, "GET", "/api/output?job=backup&run=7", nil).Body.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The lines of each attempt after the first are under a heading, of a run that is known here and of one that a store has;
// an attempt of which no line is shown has none.
func TestServerShowsAttempts(t *testing.T) {
	headings := func(path string, f *fake) string {
		text := ask(New(Config{Daemon: f}).Handler(), "GET", path, nil).Body.String()
		var all []string
		for _, m := range regexp.MustCompile(`<li class="gap" id="(attempt\d+)"><b>Attempt \d+</b></li>\n<li [^>]*>(?:<a[^>]*>[^<]*</a>)?([^<]*)<`).FindAllStringSubmatch(text, -1) {
			all = append(all, m[1]+" "+m[2])
		}
		return strings.Join(all, ", ")
	}
	f, run := newFake("backup")
	line := func(text string) { run.Output().Add(time.Now(), false, false, []byte(text)) }
	run.Output().BeginAttempt(1)
	line("a")
	run.Output().BeginAttempt(2) // says nothing
	run.Output().BeginAttempt(3)
	line("b")
	line("<b>c")
	run.Output().BeginAttempt(4)
	line("d")
	run.End(nil)
	f.past = []view.Run{{Job: "backup", Run: 7, Outcome: "ok", Finished: time.Now()}}
	f.stored = record.Stored{
		Head:    []record.Line{{N: 1, Text: "a"}, {N: 2, Text: "b", Attempt: 3}, {N: 3, Text: "<b>c", Attempt: 3}},
		Omitted: 7, Tail: []record.Line{{Text: "of any"}, {Text: "d", Attempt: 4}},
	}
	for _, run := range []string{"2", "7"} {
		for find, want := range map[string]string{"": "attempt3 b, attempt4 d", "c": "attempt3 &lt;b&gt;c", "d": "attempt4 d", "a": ""} {
			if got := headings("/run?job=backup&run="+run+"&find="+find, f); got != want {
				t.Errorf("run %s with %q has %q, want %q", run, find, got, want)
			}
		}
	}
}

// What a run leaves out is said where it was.
func TestServerShowsGap(t *testing.T) {
	f, run := newFake("backup")
	for i := range 5000 {
		run.Output().Add(time.Now(), false, false, fmt.Appendf(nil, "line %d", i+1))
	}
	run.End(nil)
	h := New(Config{Daemon: f}).Handler()
	page := ask(h, "GET", "/run?job=backup&run=2", nil).Body.String()
	gap := regexp.MustCompile(`<li class="gap">(\d+) lines were left out</li>`).FindStringSubmatch(page)
	if gap == nil || fmt.Sprint(5000-strings.Count(page, "<li value=")) != gap[1] || !strings.Contains(page, ">line 5000<") {
		t.Errorf("gap %q, with %d lines", gap, strings.Count(page, "<li value="))
	}
	text := ask(h, "GET", "/text?job=backup&run=2", nil).Body.String()
	if !strings.Contains(text, "["+gap[1]+" lines were left out]\n") || !strings.HasPrefix(text, "line 1\nline 2\n") {
		t.Errorf("the text has no gap, or no begin: %.100q", text)
	}
}

// listen serves a daemon on a port of this machine.
func listen(t *testing.T, s *Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Serve(l)
	t.Cleanup(s.Close)
	return "http://" + l.Addr().String()
}

// A reader that follows a run gets its lines while it goes on, and its end.
func TestServerFollowsRun(t *testing.T) {
	f, run := newFake("backup")
	base := listen(t, New(Config{Daemon: f}))
	answer, err := http.Get(base + "/api/output?job=backup&run=2&follow=1")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	in := json.NewDecoder(answer.Body)
	next := func() (l OutputLine) {
		t.Helper()
		if err := in.Decode(&l); err != nil {
			t.Fatal(err)
		}
		return l
	}
	if l := next(); l.Run == nil || l.Run.Outcome != outcome.InProgress {
		t.Errorf("the first line is %+v", l)
	}
	for i := range 3 {
		run.Output().Add(time.Now(), i == 1, false, fmt.Appendf(nil, "line %d", i))
		if l := next(); l.Text == nil || *l.Text != fmt.Sprintf("line %d", i) || l.N != int64(i+1) ||
			(l.Stream == "stderr") != (i == 1) {
			t.Errorf("line %d is %+v", i, l)
		}
	}
	run.End(func(v *view.Run) { v.Outcome = "ok" })
	if l := next(); l.Run == nil || l.Run.Outcome != "ok" || l.Lines != 3 {
		t.Errorf("the last line is %+v", l)
	}
	if err := in.Decode(new(OutputLine)); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
}

// The page of a run that writes without end has an end, and a link to go on.
func TestServerEndsLongPage(t *testing.T) {
	f := &fake{log: record.New(record.Limits{Output: 1 << 20})} // so that a part of the page has many lines
	run := f.log.Begin(view.Run{Job: "backup", Run: 2})
	base := listen(t, New(Config{Daemon: f}))
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			default:
				run.Output().Add(time.Now(), false, false, []byte("y"))
			}
		}
	}()
	answer, err := http.Get(base + "/run?job=backup&run=2")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body) // ends with the test, at the latest
	close(quit)
	<-done
	run.End(nil)
	n := strings.Count(string(page), "<li value=")
	link := `<a href="run?job=backup&amp;run=2">load it again</a>`
	if err != nil || n < mostLines || n > 4*mostLines || !strings.Contains(string(page), link) {
		t.Errorf("%v, %d lines, the page ends with %s", err, n, page[max(0, len(page)-300):])
	}
}

// Close ends what is followed, and waits until nothing is served.
func TestServerCloseEndsStreams(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	s := New(Config{Daemon: f})
	base := listen(t, s)
	for range 5 {
		for _, path := range []string{"/run?job=backup&run=2", "/api/output?job=backup&run=2&follow=1"} {
			answer, err := http.Get(base + path)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
		}
	}
	s.Close()
	if n, _ := s.conns.counts(); n != 0 {
		t.Errorf("%d connections after Close", n)
	}
	if _, err := http.Get(base + "/healthz"); err == nil {
		t.Error("there is an answer after Close")
	}
}

// There is a limit of streams, and a place is free again when a reader leaves.
func TestServerLimitsStreams(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	base := listen(t, New(Config{Daemon: f}))
	code := func(path string) int {
		answer, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	var open []*http.Response
	for i := range roomHere * 3 / 4 {
		path := "/api/output?job=backup&run=2&follow=1"
		if i%2 == 1 {
			path = "/events?view="
		}
		answer, err := http.Get(base + path)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatal(i, answer, err)
		}
		defer answer.Body.Close()
		open = append(open, answer)
	}
	for path, want := range map[string]int{"/api/output?job=backup&run=1": 503, "/events?view=": 503, "/": 200, "/metrics": 200, "/healthz": 200} {
		if got := code(path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	open[0].Body.Close()
	// ends with the test, at the latest
	for code("/api/output?job=backup&run=1") != http.StatusOK {
	}
}

// A job that waits for a machine which is not there needs somebody, says where it runs, and has a metric; one that
// runs on any machine has none.
func TestServerShowsJobWithoutMachine(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	f.jobs[0].Last = nil
	f.jobs = append(f.jobs, view.Job{Job: "encode", On: []string{"db+eu", "gpu"}, State: catalog.Status{State: catalog.StateNoMachine}})
	f.figures = append(f.figures, daemon.Figures{Job: "encode"})
	h := New(Config{Daemon: f}).Handler()
	if page := ask(h, "GET", "/", nil).Body.String(); !strings.Contains(page, "1 of 2 jobs needs you") || !strings.Contains(page, `<i class="pill bad">no machine</i>`) {
		t.Errorf("the jobs are shown as %s", page)
	}
	if page := ask(h, "GET", "/job?name=encode", nil).Body.String(); !strings.Contains(page, "<dt>Runs on</dt><dd>db&#43;eu, gpu</dd>") {
		t.Errorf("the job is shown as %s", page)
	}
	text := ask(h, "GET", "/metrics", nil).Body.String()
	if !strings.Contains(text, `executord_job_without_machine{job_name="encode"} 1`) || strings.Contains(text, `executord_job_without_machine{job_name="backup"}`) {
		t.Errorf("metrics are %s", text)
	}
	f.jobs[1].State.State = catalog.StateWaiting
	if text := ask(h, "GET", "/metrics", nil).Body.String(); !strings.Contains(text, `executord_job_without_machine{job_name="encode"} 0`) {
		t.Errorf("metrics are %s", text)
	}
}

// Metrics have series of each job before its first run, and no others; and what the store knows, if it answers.
func TestServerMetrics(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	next := time.Unix(2_000_000_000, 0)
	f.jobs[0].Next = &next
	f.jobs = append(f.jobs, view.Job{Job: "of-another-file", State: catalog.Status{State: catalog.StateWaiting}})
	f.before = map[string]time.Time{"backup": time.Unix(1_700_000_000, 500_000_000)}
	f.channels = []notify.Counts{{Channel: "ops", Sent: 3, Failed: 2, Dropped: 1, Waiting: 4}}
	reading := func() (bool, time.Time) { return false, time.Unix(1_700_000_000, 0) }
	h := New(Config{Daemon: f, Version: `v1"\`, Reading: reading}).Handler()
	text := ask(h, "GET", "/metrics", nil).Body.String()
	for _, want := range []string{
		"executord_file_up_to_date 0",
		"executord_file_used_timestamp_seconds 1.7e+09",
		`executord_info{version="v1\"\\"} 1`,
		"executord_store_up 1",
		`executord_job_last_success_timestamp_seconds{job_name="backup"} 1.7000000005e+09`,
		`executord_job_last_start_timestamp_seconds{job_name="backup"} 0`,
		`executord_job_next_due_timestamp_seconds{job_name="backup"} 2e+09`,
		`executord_job_running{job_name="backup"} 0`,
		`executord_job_runs_total{job_name="backup",outcome="ok"} 0`,
		`executord_job_runs_total{job_name="backup",outcome="not_started"} 0`,
		`executord_job_skipped_total{job_name="backup"} 0`,
		`executord_job_missed_total{job_name="backup"} 0`,
		`executord_job_paused{job_name="backup"} 0`,
		`executord_notifications_total{channel="ops",result="sent"} 3`,
		`executord_notifications_total{channel="ops",result="failed"} 2`,
		`executord_notification_events_dropped_total{channel="ops"} 1`,
		`executord_notification_events_waiting{channel="ops"} 4`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "of-another-file") {
		t.Error("there are series of a job that is not in the file")
	}
	sample := regexp.MustCompile(`^[a-z_]+(\{([a-z_]+="[^"\\]*(\\.[^"\\]*)*",?)+\})? \S+$`)
	seen := make(map[string]bool)
	family := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			family, _, _ = strings.Cut(name, " ")
			continue
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, _, _ := strings.Cut(line, " ")
		name, _, _ = strings.Cut(name, "{")
		if !sample.MatchString(line) || name != family || seen[line] {
			t.Errorf("sample %q of family %s", line, family)
		}
		seen[line] = true
	}

	f.err = errors.New("no answer")
	f.jobs = nil
	text = ask(h, "GET", "/metrics", nil).Body.String()
	if !strings.Contains(text, "executord_store_up 0\n") || strings.Contains(text, "next_due_timestamp_seconds{") ||
		!strings.Contains(text, `executord_job_running{job_name="backup"} 0`) {
		t.Errorf("without an answer of the store:\n%s", text)
	}
}

// A daemon that is not ready says so; why, to those only that may look.
// The titles of pages that are live begin with how many jobs are failing, and the icon says so, too.
func TestServerTitleCountsFailingJobs(t *testing.T) {
	f, run := newFake("backup")
	run.End(nil)
	for _, c := range []struct{ outcome, title, icon string }{
		{"failed", "(1 problem) ", "problem-"}, {"ok", "", "icon-"},
	} {
		f.jobs[0].Last.Outcome = outcome.Outcome(c.outcome)
		h := New(Config{Daemon: f}).Handler()
		for path, name := range map[string]string{
			"/": "Jobs", "/job?name=backup": "backup",
		} {
			text := ask(h, "GET", path, nil).Body.String()
			if !strings.Contains(text, "<title>"+c.title+name+" · executord</title>") ||
				!strings.Contains(text, `<link rel="icon" href="static/`+c.icon) {
				t.Errorf("after a run that ended %s, %s has %.400s", c.outcome, path, text)
			}
		}
	}
}

// The page to log in does not say whether something is wrong, and has no link to what only leads back to it.
func TestServerLoginIsAlone(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	text := ask(New(Config{Daemon: f, Access: ByToken, Tokens: tokens}).Handler(), "GET", "/login", nil).Body.String()
	_, main, _ := strings.Cut(text, "<header>")
	if !strings.Contains(text, "<title>Log in") || strings.Contains(text, "problem") ||
		strings.Count(main, "<a ") != 1 || strings.Count(main, "<form") != 1 { // the link skips to the content
		t.Errorf("the page is %s", text)
	}
}

func TestServerReady(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	f.ready = errors.New("the reason")
	w := ask(New(Config{Daemon: f}).Handler(), "GET", "/readyz", nil)
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "the reason") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	h := New(Config{Daemon: f, Access: ByToken, Tokens: tokens}).Handler()
	w = ask(h, "GET", "/readyz", nil)
	if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "the reason") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(h, "GET", "/healthz", nil); w.Code != http.StatusOK {
		t.Errorf("%d: a daemon that is not ready is alive", w.Code)
	}
}

// Without an answer of the store, pages say so.
func TestServerShowsStoreWithoutAnswer(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	f.err = errors.New("no answer")
	h := New(Config{Daemon: f}).Handler()
	for _, path := range []string{"/", "/job?name=backup", "/api/jobs", "/api/runs?job=backup"} {
		w := ask(h, "GET", path, nil)
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") &&
			(!strings.Contains(w.Body.String(), "<h1>No data now</h1>") || !strings.Contains(w.Body.String(), "<title>(1 problem) No data now")) {
			t.Errorf("%s does not begin with that: %s", path, w.Body)
		}
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(html.UnescapeString(w.Body.String()), "no answer") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := ask(h, "GET", "/run?job=backup&run=1", nil); w.Code != http.StatusOK {
		t.Errorf("%d: what a run wrote is here", w.Code)
	}
}

// From the first page to the output of the job that fails there is one click.
func TestServerLinksToOutput(t *testing.T) {
	f, run := newFake("a/b & c")
	defer run.End(nil)
	h := New(Config{Daemon: f}).Handler()
	found := regexp.MustCompile(`<p id="needing"><a href="(run\?[^"]*run=1)">`).FindStringSubmatch(ask(h, "GET", "/", nil).Body.String())
	if found == nil {
		t.Fatal("there is no link")
	}
	if text := ask(h, "GET", "/"+html.UnescapeString(found[1]), nil).Body.String(); !strings.Contains(text, ">wrong</li>") {
		t.Errorf("it leads to %s", text)
	}
}

// Numbers that are none are refused.
func TestServerRefusesNumbers(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	h := New(Config{Daemon: f}).Handler()
	for path, want := range map[string]int{
		"/api/output?job=backup&run=x": 400, "/api/output?job=backup&run=-1": 400, "/api/output?job=backup&run=99": 404,
		"/api/output?job=nope": 404, "/api/runs?job=nope": 404, "/api/runs?job=backup&n=0": 400, "/api/runs?job=backup&n=1001": 400,
		"/run?job=backup&run=99": 404, "/run?job=backup&run=x": 404, "/job?name=nope": 404, "/job": 404,
	} {
		if w := ask(h, "GET", path, nil); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}

// A page that is not there says what is missing.
func TestServerSaysWhatIsMissing(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	h := New(Config{Daemon: f}).Handler()
	for path, want := range map[string]string{
		"/run?job=backup&run=99": `The job "backup" has no run "99", or it is no longer kept.`, "/run?job=<nope>&run=1": `The job "<nope>" does not exist.`,
		"/job?name=<nope>": `the job "<nope>" does not exist`, "/a/b": `There is no page "/a/b".`, "/a": `there is no page "a"`,
	} {
		if w := ask(h, "GET", path, nil); w.Code != http.StatusNotFound || !strings.Contains(html.UnescapeString(w.Body.String()), want) || strings.Contains(w.Body.String(), "<nope>") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// The page of a job has its next times, the first with a countdown.
func TestServerShowsNextTimes(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	for i := range 9 {
		f.next = append(f.next, time.Now().UTC().AddDate(0, 0, i+1).Add(time.Minute))
	}
	text := ask(New(Config{Daemon: f}).Handler(), "GET", "/job?name=backup", nil).Body.String()
	if !strings.Contains(text, "<h2>Next times, UTC</h2>") || strings.Count(text, "<li><time") != 5 ||
		!strings.Contains(text, "<b>in\u00a01\u00a0d</b>") {
		t.Errorf("the page has %s", text)
	}
}
