package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/roles"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
)

const viewer = "viewer-horse-battery-staple"

// team is a server for ann, who may act, and vic, who may look. The tokens may be exchanged.
func team(t *testing.T) (h http.Handler, all *roles.Tokens, acted *[]client.Order, log *bytes.Buffer) {
	t.Helper()
	f, run := newFake("backup")
	t.Cleanup(func() { run.End(nil) })
	f.jobs[0].Parameters = []job.Parameter{{Name: "DAY"}}
	f.channels = []notify.Counts{{Channel: "ops"}}
	all = &roles.Tokens{
		{Name: "ann", Role: roles.Operate, Sum: roles.SumOf(token)}, {Name: "vic", Role: roles.View, Sum: roles.SumOf(viewer)},
	}
	acted, log = new([]client.Order), new(bytes.Buffer)
	s := New(Config{Daemon: f, Access: ByToken, Tokens: func() roles.Tokens { return *all }, Log: slog.New(slog.NewTextHandler(log, nil)),
		Act: func(_ context.Context, a client.Order) (admin.Answer, error) {
			*acted = append(*acted, a)
			return admin.Answer{Outcome: durable.Applied, Text: "due now"}, nil
		}})
	t.Cleanup(s.Close)
	return s.Handler(), all, acted, log
}

// session logs in, and returns what adds the session to a request.
func session(t *testing.T, h http.Handler, text string) func(*http.Request) {
	t.Helper()
	w := ask(h, "POST", "/login", func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = io.NopCloser(strings.NewReader(url.Values{"token": {text}}.Encode()))
	})
	if len(w.Result().Cookies()) != 1 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	c := w.Result().Cookies()[0]
	return func(r *http.Request) { r.AddCookie(c) }
}

// Who may look sees all that others see, and nothing to act with: on no page, whoever has looked at it before.
func TestServerShowsViewerNoActions(t *testing.T) {
	h, _, _, _ := team(t)
	for name, who := range map[string]func(*http.Request){
		"token": header("Authorization", "Bearer "+viewer), "session": session(t, h, viewer),
	} {
		for _, path := range []string{"/", "/job?name=backup", "/run?job=backup&run=1", "/notices", "/api/jobs", "/metrics"} {
			other := ask(h, "GET", path, header("Authorization", "Bearer "+token)).Body.String()
			w := ask(h, "GET", path, who)
			if page := w.Body.String(); w.Code != http.StatusOK || strings.Contains(page, "act?") || strings.Contains(page, "run-now") || len(page) < 10 {
				t.Errorf("%s: %s: %d %s", name, path, w.Code, page)
			}
			if path == "/notices" && !strings.Contains(other, `href="act?channel=ops&amp;do=test-channel"`) {
				t.Errorf("who may act sees %s", other)
			}
			if path == "/job?name=backup" && (!strings.Contains(other, "act?do=pause") || !strings.Contains(other, "run-now?job=backup")) {
				t.Errorf("who may act sees %s", other)
			}
		}
	}
}

// Who may look acts by no request, by a token and in a session, and is told why in a sentence.
func TestServerRefusesViewersActions(t *testing.T) {
	h, _, acted, log := team(t)
	form := url.Values{"do": {string(admin.Pause)}, "job": {"backup"}, "reason": {"x"}}
	send := func(who func(*http.Request)) *httptest.ResponseRecorder {
		return post(h, form, func(r *http.Request) { r.Header.Del("Authorization"); who(r) })
	}
	const why = "token of vic is for looking only: its role is view, and actions need the role operate"
	for name, w := range map[string]*httptest.ResponseRecorder{
		"token":   send(header("Authorization", "Bearer "+viewer)),
		"session": send(session(t, h, viewer)),
		"form":    ask(h, "GET", "/act?do=pause&job=backup", header("Authorization", "Bearer "+viewer)),
		"page": ask(h, "GET", "/act?do=pause&job=backup", func(r *http.Request) {
			r.Header.Set("Accept", "text/html")
			r.Header.Set("Authorization", "Bearer "+viewer)
		}),
		"parameters": ask(h, "GET", "/run-now?job=backup", header("Authorization", "Bearer "+viewer)),
		"answers":    ask(h, "GET", "/act?answers=x", header("Authorization", "Bearer "+viewer)),
	} {
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), why) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	form = url.Values{"do": {testChannel}, "channel": {"ops"}, "reason": {"x"}}
	if w := send(header("Authorization", "Bearer "+viewer)); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), why) {
		t.Errorf("a test of a channel: %d %s", w.Code, w.Body)
	}
	if len(*acted) != 0 || strings.Contains(log.String(), "ui: action") {
		t.Errorf("done %v, log %s", *acted, log)
	}
}

// Who acts is in the log by the name of the token, and from where.
func TestServerNamesActor(t *testing.T) {
	h, _, acted, log := team(t)
	for i, who := range []func(*http.Request){header("Authorization", "Bearer "+token), session(t, h, token)} {
		log.Reset()
		w := post(h, url.Values{"do": {string(admin.Pause)}, "job": {"backup"}, "reason": {"x"}}, func(r *http.Request) { r.Header.Del("Authorization"); who(r) })
		if w.Code != http.StatusSeeOther || len(*acted) != i+1 || !strings.Contains(log.String(), `who="ann at 127.0.0.1:5000"`) {
			t.Errorf("%d, done %v, log %s", w.Code, *acted, log)
		}
	}
}

// A token that is taken away ends its sessions at once, and a role that is changed is that of its sessions.
func TestServerSessionEndsWithToken(t *testing.T) {
	h, all, _, _ := team(t)
	ann, vic := session(t, h, token), session(t, h, viewer)
	code := func(who func(*http.Request), path string) int { return ask(h, "GET", path, who).Code }
	if code(ann, "/run-now?job=backup") != 200 || code(vic, "/") != 200 {
		t.Fatal("the sessions do not go on")
	}
	*all = roles.Tokens{{Name: "ann", Role: roles.View, Sum: roles.SumOf(token)}}
	if got := code(ann, "/run-now?job=backup"); got != http.StatusForbidden {
		t.Errorf("ann acts: %d", got)
	}
	if got := code(ann, "/"); got != http.StatusOK {
		t.Errorf("ann looks: %d", got)
	}
	if got := code(vic, "/"); got != http.StatusUnauthorized {
		t.Errorf("vic, whose token is gone: %d", got)
	}
}

// A session is known by the whole value of its cookie, and ends for all that have it when one logs out.
func TestServerSessionEndsWithLogout(t *testing.T) {
	h, _, _, _ := team(t)
	r := httptest.NewRequest("GET", "/", nil)
	session(t, h, token)(r)
	c := r.Cookies()[0]
	code := func(value string) int {
		return ask(h, "GET", "/", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: c.Name, Value: value}) }).Code
	}
	for _, value := range []string{"", c.Value[:10], c.Value + "A", strings.ToLower(c.Value), token} {
		if got := code(value); got != http.StatusUnauthorized {
			t.Errorf("%q: %d", value, got)
		}
	}
	if got := code(c.Value); got != http.StatusOK {
		t.Fatalf("in the session: %d", got)
	}
	if w := ask(h, "POST", "/logout", func(r *http.Request) { r.AddCookie(c) }); w.Code != http.StatusSeeOther {
		t.Errorf("logout: %d", w.Code)
	}
	if got := code(c.Value); got != http.StatusUnauthorized {
		t.Errorf("after the logout: %d", got)
	}
}

// Daemons on several ports of a host have cookies of their own, which a browser sends to all of them.
func TestServerCookieIsOfPort(t *testing.T) {
	var all []*http.Cookie
	hosts := []string{"shop.internal:8384", "shop.internal:8385", "shop.internal", "[::1]:8386", "shop.internal:evil=1;"}
	var daemons []http.Handler
	for _, host := range hosts {
		h, _, _, _ := team(t)
		daemons = append(daemons, h)
		w := ask(h, "POST", "/login", func(r *http.Request) {
			r.Host = host
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Body = io.NopCloser(strings.NewReader(url.Values{"token": {token}}.Encode()))
		})
		all = append(all, w.Result().Cookies()...)
	}
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	if want := []string{"executord-8384", "executord-8385", "executord", "executord-8386", "executord"}; !slices.Equal(names, want) {
		t.Errorf("the cookies are %q, want %q", names, want)
	}
	for i, h := range daemons[:4] {
		w := ask(h, "GET", "/", func(r *http.Request) {
			r.Host = hosts[i]
			for _, c := range all[:4] {
				r.AddCookie(c)
			}
		})
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", hosts[i], w.Code)
		}
	}
}

// What goes on ends with what it was allowed by: the token that is taken away, its role, the session that is over.
func TestServerStreamsEndWithToken(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(all *roles.Tokens, logout func())
		after time.Duration
	}{
		"no token": {func(all *roles.Tokens, _ func()) { *all = (*all)[1:] }, 2 * time.Second},
		"other role": {func(all *roles.Tokens, _ func()) {
			*all = roles.Tokens{{Name: "ann", Role: roles.View, Sum: (*all)[0].Sum}}
		}, 2 * time.Second},
		"logout":   {func(_ *roles.Tokens, logout func()) { logout() }, 2 * time.Second},
		"its time": {func(*roles.Tokens, func()) {}, sessionLength},
	} {
		t.Run(name, func(t *testing.T) {
			all := roles.Tokens{{Name: "ann", Role: roles.Operate, Sum: roles.SumOf(token)}, {Name: "vic", Role: roles.View, Sum: roles.SumOf(viewer)}}
			var mu sync.Mutex
			current := func() roles.Tokens {
				mu.Lock()
				defer mu.Unlock()
				return slices.Clone(all)
			}
			serveInBubble(t, Config{Access: ByToken, Tokens: current}, func(t *testing.T, p *pipes, s *Server) {
				value := s.sessions.open(roles.SumOf(token), time.Now())
				paths := []string{"/api/output?job=backup&run=2&follow=1", "/run?job=backup&run=2", "/events?view="}
				if name == "its time" {
					paths = paths[:2] // the other ends each ten minutes anyway
				}
				var ends []chan struct{}
				for _, path := range paths {
					c := p.dial("192.0.2.1")
					fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\nCookie: executord=%s\r\n\r\n", path, value)
					answer, err := http.ReadResponse(c.answers, nil)
					if err != nil || answer.StatusCode != 200 {
						t.Fatal(answer, err)
					}
					ended := make(chan struct{})
					go func() {
						io.Copy(io.Discard, answer.Body)
						close(ended)
					}()
					ends = append(ends, ended)
				}
				time.Sleep(10 * time.Second)
				for i, ended := range ends {
					select {
					case <-ended:
						t.Errorf("%s ends by itself", paths[i])
					default:
					}
				}
				mu.Lock()
				c.end(&all, func() { s.sessions.end(value) })
				mu.Unlock()
				time.Sleep(c.after)
				synctest.Wait()
				for i, ended := range ends {
					select {
					case <-ended:
					default:
						t.Errorf("%s goes on", paths[i])
					}
				}
			})
		})
	}
}
