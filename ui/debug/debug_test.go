package debug_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui/debug"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

func newScheduled(t testing.TB, o *executor.Observer, name string) *executor.ScheduledPool {
	t.Helper()
	p, err := executor.NewScheduled(executor.ScheduledConfig{Name: name, Workers: 1, Observer: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.ShutdownNow()
		<-p.Terminated()
	})
	return p
}

// request returns a request of this machine. The headers are names and values in turn.
func request(method, path string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, path, nil)
	r.RemoteAddr, r.Host = "127.0.0.1:5000", "localhost:8080"
	for i := 0; i < len(headers); i += 2 {
		switch headers[i] {
		case "Host":
			r.Host = headers[i+1]
		case "peer":
			r.RemoteAddr = headers[i+1]
		default:
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	return r
}

// get returns the answer to a GET, which must be 200.
func get(t testing.TB, h http.Handler, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request("GET", path))
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// Each hostile request is refused, whatever it asks for, and the answer says why.
func TestHandlerRefuses(t *testing.T) {
	o := &executor.Observer{}
	newPool(t, o, executor.Config{Name: "secret"})
	h := debug.Handler(o, debug.Hosts("ops.example.org", "10.0.0.5:8080"))
	const forbidden, method = http.StatusForbidden, http.StatusMethodNotAllowed
	for _, c := range []struct {
		what    string
		method  string
		headers []string
		status  int
		says    string
	}{
		{"DNS rebinding", "GET", []string{"Host", "evil.example:8080"}, forbidden, "debug.Hosts"},
		{"a host that begins like an allowed one", "GET", []string{"Host", "ops.example.org.evil.example"}, forbidden, "not this machine"},
		{"a host that begins like this one", "GET", []string{"Host", "localhost.evil.example"}, forbidden, "not this machine"},
		{"an allowed host at another port", "GET", []string{"Host", "10.0.0.5:9090"}, forbidden, "not this machine"},
		{"no host", "GET", []string{"Host", ""}, forbidden, "not this machine"},
		{"a host in the form of an integer", "GET", []string{"Host", "2130706433"}, forbidden, "not this machine"},
		{"all addresses", "GET", []string{"Host", "0.0.0.0:8080"}, forbidden, "not this machine"},
		{"another machine", "GET", []string{"peer", "192.168.1.9:4000"}, forbidden, "comes from"},
		{"another machine, IPv6", "GET", []string{"peer", "[2001:db8::1]:4000"}, forbidden, "comes from"},
		{"a proxy on this machine", "GET", []string{"X-Forwarded-For", "203.0.113.7"}, forbidden, "forwarded"},
		{"a proxy of RFC 7239", "GET", []string{"Forwarded", "for=203.0.113.7"}, forbidden, "forwarded"},
		{"a proxy of HTTP/1.1", "GET", []string{"Via", "1.1 proxy"}, forbidden, "forwarded"},
		{"another site's script", "GET", []string{"Origin", "https://evil.example"}, forbidden, "origin"},
		{"a sandboxed frame", "GET", []string{"Origin", "null"}, forbidden, "origin"},
		{"this machine at another port", "GET", []string{"Origin", "http://localhost:3000"}, forbidden, "origin"},
		{"another site's image", "GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, forbidden, "another site"},
		{"another site's frame", "GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, forbidden, "another site"},
		{"a sister site's script", "GET", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}, forbidden, "another site"},
		{"a site of an allowed host", "GET", []string{"Host", "ops.example.org", "Origin", "https://evil.example"}, forbidden, "origin"},
		{"POST", "POST", nil, method, "use GET"},
		{"PUT", "PUT", nil, method, "use GET"},
		{"DELETE", "DELETE", nil, method, "use GET"},
		{"OPTIONS, as before a request of another site", "OPTIONS", nil, method, "use GET"},
		{"TRACE", "TRACE", nil, method, "use GET"},
		{"a method that is markup", "<script>", nil, method, "use GET"},
	} {
		for _, path := range []string{"/", "/pool?id=1", "/schedules", "/json", "/metrics", "/events?view=", "/none"} {
			w := httptest.NewRecorder()
			r := request("GET", path, c.headers...)
			r.Method = c.method
			h.ServeHTTP(w, r)
			body := w.Body.String()
			if w.Code != c.status || !strings.Contains(body, c.says) || strings.Contains(body, "secret") {
				t.Errorf("%s, %s: %d %q, want %d with %q", c.what, path, w.Code, body, c.status, c.says)
			}
			if kind := w.Header().Get("Content-Type"); !strings.HasPrefix(kind, "text/plain") {
				t.Errorf("%s, %s: the refusal is %s", c.what, path, kind)
			}
		}
	}
}

// Requests of this machine, and of hosts that are named, are answered.
func TestHandlerAllows(t *testing.T) {
	h := debug.Handler(&executor.Observer{}, debug.Hosts("Ops.example.org", "10.0.0.5:8080"))
	for _, headers := range [][]string{
		{},
		{"Host", "127.0.0.1:8080"},
		{"Host", "127.8.9.1"},
		{"Host", "LOCALHOST"},
		{"Host", "[::1]:8080", "peer", "[::1]:4000"},
		{"Host", "[::ffff:127.0.0.1]", "peer", "[::ffff:127.0.0.1]:4000"},
		{"peer", "@"}, // a Unix socket
		{"peer", ""},
		{"Origin", "http://localhost:8080", "Sec-Fetch-Site", "same-origin"},
		{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"},
		{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, // a link
		{"Host", "ops.example.org", "peer", "203.0.113.7:4000"},
		{"Host", "ops.example.org:8443", "peer", "203.0.113.7:4000", "X-Forwarded-For", "203.0.113.9"},
		{"Host", "10.0.0.5:8080", "peer", "10.0.0.9:4000"},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, request(method, "/", headers...))
			if w.Code != http.StatusOK {
				t.Errorf("%s with %q: %d %s", method, headers, w.Code, w.Body)
			}
		}
	}
}

// Importing the package registers nothing, and a nil Observer is refused at once.
func TestHandlerRegistersNothing(t *testing.T) {
	for _, path := range []string{"/", "/debug/executors", "/debug/executors/"} {
		if _, pattern := http.DefaultServeMux.Handler(request("GET", path)); pattern != "" {
			t.Errorf("the default mux has %q for %s", pattern, path)
		}
	}
	defer func() {
		if v := recover(); v != "debug: Handler of a nil Observer" {
			t.Errorf("panic %v", v)
		}
	}()
	debug.Handler(nil)
}

var (
	links  = regexp.MustCompile(`(?:href|src|data-events)="([^"]*)"`)
	inline = regexp.MustCompile(`(?i)<script[^>]*>[^<]|<style|\s(?:style|on[a-z]+)=|javascript:`)
)

// Under any path, with StripPrefix or without, all that a page links to is there, and relative.
// Nothing in it needs more than the policy allows.
func TestHandlerLinks(t *testing.T) {
	o := &executor.Observer{MaxNames: 3, MaxEvents: 9}
	p := newPool(t, o, executor.Config{Name: "mail", Workers: 1})
	s := newScheduled(t, o, "timers")
	if _, err := s.AtFixedRate(t.Context(), time.Hour, time.Hour, nop, executor.Named("hourly")); err != nil {
		t.Fatal(err)
	}
	if _, err := executor.Submit(t.Context(), p, value).Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := debug.Handler(o)
	mux := http.NewServeMux()
	mux.Handle("/debug/executors/", h)
	mux.Handle("/stripped/", http.StripPrefix("/stripped", h))
	mux.Handle("/bare/", http.StripPrefix("/bare/", h))
	for _, prefix := range []string{"/debug/executors/", "/stripped/", "/bare/"} {
		seen := make(map[string]bool)
		for _, page := range []string{"", "pool?id=1", "pool?id=2", "schedules"} {
			body := get(t, mux, prefix+page)
			if bad := inline.FindString(body); bad != "" {
				t.Errorf("%s%s has %q, which the policy forbids", prefix, page, bad)
			}
			for _, m := range links.FindAllStringSubmatch(body, -1) {
				link := m[1]
				if strings.HasPrefix(link, "#") || strings.HasPrefix(link, "events") || seen[link] {
					continue
				}
				seen[link] = true
				if strings.HasPrefix(link, "/") || strings.Contains(link, ":") {
					t.Errorf("%s%s links to %q, which is not relative", prefix, page, link)
				}
				get(t, mux, prefix+strings.TrimPrefix(strings.ReplaceAll(link, "&amp;", "&"), "./"))
			}
		}
		for _, want := range []string{"./", "pool?id=1", "pool?id=2", "schedules", "json", "metrics"} {
			if !seen[want] {
				t.Errorf("under %s no page links to %s", prefix, want)
			}
		}
	}
}

// What is asked for wrongly is an error that says what there is.
func TestHandlerErrors(t *testing.T) {
	h := debug.Handler(&executor.Observer{})
	for path, want := range map[string]struct {
		status int
		says   string
	}{
		"/none":                  {404, "known are pool"},
		"/style.css":             {404, "no such page"},
		"/pool":                  {400, "must be the number of a pool"},
		"/pool?id=x":             {400, "must be the number of a pool"},
		"/pool?id=-1":            {400, "must be the number of a pool"},
		"/pool?id=7":             {404, "there is no pool 7"},
		"/events?view=x":         {400, "it must be"},
		"/events?view=pool&id=0": {400, "must be the number of a pool"},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request("GET", path))
		if w.Code != want.status || !strings.Contains(w.Body.String(), want.says) {
			t.Errorf("%s: %d %q, want %d with %q", path, w.Code, w.Body, want.status, want.says)
		}
		for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Cache-Control"} {
			if w.Header().Get(name) == "" {
				t.Errorf("%s: no %s", path, name)
			}
		}
	}
}

func nop(context.Context) error          { return nil }
func value(context.Context) (int, error) { return 1, nil }

// hostile are names as an attacker would choose them.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'-alert(1)-'`, `{{.}}`, `</main></body>`,
	"\x1b[31mred\x1b]0;title\a", "a\u202etxt.exe", "abc\u05d0\u05d1", "a\r\revent: evil\rdata: 1", "a\n\nevent: evil\n",
	"\xff\xfe", "a\x00b", strings.Repeat("long", 2560), strings.Repeat("\u0301", 5000), "\\", `a"b`, "", "&lt;b&gt;",
}

// Names of pools and tasks are shown as text, whatever is in them, on pages of a usual size.
func TestPagesShowHostileNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{Every: 1, MaxNames: 100, MaxEvents: 100}
		stuck := make(chan bool)
		defer close(stuck)
		s := newScheduled(t, o, hostile[0])
		for _, name := range hostile {
			p := newPool(t, o, executor.Config{Name: name, Workers: 1})
			p.Go(t.Context(), nop, executor.Named(name))
			p.Go(t.Context(), func(context.Context) error { <-stuck; return nil }, executor.Named(name))
			if _, err := s.AtFixedRate(t.Context(), 0, time.Second, nop, executor.Named(name)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		h := debug.Handler(o)
		paths := []string{"/", "/schedules", "/metrics", "/json"}
		for n := range o.Pools() {
			paths = append(paths, fmt.Sprint("/pool?id=", n))
		}
		for _, path := range paths {
			body := get(t, h, path)
			if !utf8.ValidString(body) {
				t.Errorf("%s is not valid UTF-8", path)
			}
			for _, bad := range []string{"\x1b", "\r", "\x00", "\a", "\nevent:"} {
				if strings.Contains(body, bad) {
					t.Errorf("%s has %q", path, bad)
				}
			}
			if path == "/metrics" || path == "/json" {
				continue
			}
			for _, bad := range []string{"<script>", "<img", "\u202e", "onerror=alert(1)>", "</main></body>\n</bdi>"} {
				if strings.Contains(body, bad) {
					t.Errorf("%s has %q", path, bad)
				}
			}
			if strings.Count(body, "</main>") != 1 || len(body) > 30_000 {
				t.Errorf("%s has %d bytes and %d ends", path, len(body), strings.Count(body, "</main>"))
			}
		}
		if overview := get(t, h, "/"); !strings.Contains(overview, "&lt;script&gt;alert(1)&lt;/script&gt;") {
			t.Error("the overview does not show a name that is markup")
		}
	})
}

// A page has at most 50 rows of a table, and says how many there are besides.
func TestPageHasSomeRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{Every: 1, MaxNames: 60, MaxEvents: 100}
		s := newScheduled(t, o, "timers")
		big := newPool(t, o, executor.Config{Name: "big", Workers: 60})
		h := debug.Handler(o)
		for i := range 60 {
			name := fmt.Sprintf("some service %d", i)
			p := newPool(t, o, executor.Config{Name: name, Workers: 2})
			for range 1000 {
				p.Go(t.Context(), func(context.Context) error { time.Sleep(time.Second); return nil })
			}
			big.Go(t.Context(), func(ctx context.Context) error { <-ctx.Done(); return nil }, executor.Named(name))
			big.Go(t.Context(), nop, executor.Named(name))
			if _, err := s.AtFixedRate(t.Context(), 0, time.Minute, nop, executor.Named(name)); err != nil {
				t.Fatal(err)
			}
		}
		for range 60 {
			get(t, h, "/")
			time.Sleep(time.Second)
		}
		for _, path := range []string{"/", "/schedules", "/pool?id=2"} {
			if body := get(t, h, path); !strings.Contains(body, "And 1") {
				t.Errorf("%s has all rows: %s", path, body)
			}
		}
	})
}

// The overview begins with what needs attention.
func TestOverviewAttention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{Every: 1}
		h := debug.Handler(o)
		p := newPool(t, o, executor.Config{
			Name: "mail", Workers: 1, Queue: executor.Bounded(2),
			Hooks: executor.Hooks{OnPanic: func(context.Context, executor.TaskInfo, *executor.PanicError) {}},
		})
		expect := func(want string) {
			t.Helper()
			synctest.Wait()
			body := strings.ReplaceAll(get(t, h, "/"), "\u00a0", " ")
			if !strings.Contains(body, want) {
				t.Errorf("the overview does not say %q:\n%s", want, body)
			}
			time.Sleep(time.Second)
		}
		expect("Nothing needs attention.")
		expect("<title>Overview · executors</title>")
		expect(`<link rel="icon" href="icon-`)
		p.Go(t.Context(), func(context.Context) error { panic(1) })
		expect("panics in the last minute: 1")
		expect("<title>(1 problem) Overview · executors</title>")
		expect(`<link rel="icon" href="problem-`)
		stuck := make(chan bool)
		p.Go(t.Context(), func(context.Context) error { <-stuck; return nil }, executor.Named("report"))
		time.Sleep(7 * time.Second)
		expect("worker 1 has been running report for at least 7 s")
		p.Go(t.Context(), nop)
		p.Go(t.Context(), nop)
		expect("the queue is full: 2 wait")
		p.Go(t.Context(), nop)
		expect("rejected in the last minute: 1")
		close(stuck)
		time.Sleep(2 * time.Minute)
		expect("Nothing needs attention.")
	})
}

// However many requests there are, pools are looked at once in a second.
func TestHandlerLooksOnceInASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{}
		p := newPool(t, o, executor.Config{Workers: 1})
		h := debug.Handler(o)
		runs := func() (n int64) {
			var report debug.Report
			if err := json.Unmarshal([]byte(get(t, h, "/json")), &report); err != nil {
				t.Fatal(err)
			}
			return report.Pools[0].Runs
		}
		before := runs()
		if _, err := executor.Submit(t.Context(), p, value).Get(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := runs(); n != before {
			t.Errorf("a second request looked anew: %d runs", n)
		}
		time.Sleep(time.Second)
		if n := runs(); n != before+1 {
			t.Errorf("a second later there are %d runs, want %d", n, before+1)
		}
	})
}

// slowly is a Trigger whose text takes a while, once.
type slowly struct{ was *atomic.Bool }

func (slowly) Next(t time.Time) time.Time { return t.Add(time.Hour) }

func (s slowly) String() string {
	if s.was.CompareAndSwap(false, true) {
		time.Sleep(5 * time.Second)
	}
	return "slowly"
}

// An answer that took long does not show the pools as they were before an answer that was faster.
func TestHandlerShowsNoOlderLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{}
		p := newPool(t, o, executor.Config{Name: "mail", Workers: 1})
		was := new(atomic.Bool)
		was.Store(true)
		s, err := newScheduled(t, o, "reports").On(t.Context(), slowly{was}, nop)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Cancel()
		was.Store(false)
		h := debug.Handler(o)
		look := func() (r debug.Report) {
			if err := json.Unmarshal([]byte(get(t, h, "/json")), &r); err != nil {
				t.Error(err)
			}
			return r
		}
		var slow debug.Report
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			slow = look()
		}()
		time.Sleep(2 * time.Second)
		if _, err := executor.Submit(t.Context(), p, value).Get(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		fast := look()
		<-answered
		if slow.At.Before(fast.At) || slow.Pools[0].Runs != 1 {
			t.Errorf("after the look of %v, with %d runs, came that of %v, with %d",
				fast.At, fast.Pools[0].Runs, slow.At, slow.Pools[0].Runs)
		}
	})
}
