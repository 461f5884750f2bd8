package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
)

// Wrong tokens, by header and by form, are counted and said once a minute, and answered late if there are many; a right
// one is not.
func TestServerSlowsWrongTokens(t *testing.T) {
	log := new(bytes.Buffer)
	inBubble(t, Config{Log: slog.New(slog.NewTextHandler(log, nil))}, func(t *testing.T, p *pipes, s *Server) {
		c := p.dial("192.0.2.1")
		send := func(request string) int {
			io.WriteString(c, request)
			answer, err := http.ReadResponse(c.answers, nil)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, answer.Body)
			return answer.StatusCode
		}
		form := "token=wrong-horse-battery"
		requests := []string{
			"GET /api/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong-horse-battery\r\n\r\n",
			fmt.Sprintf("POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", len(form), form),
			"GET /readyz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong-horse-battery\r\n\r\n",
		}
		wants := []int{401, 401, 200}
		began := time.Now()
		for i := range wrongBurst {
			if code := send(requests[i%3]); code != wants[i%3] {
				t.Errorf("request %d: %d", i, code)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the first %d took %v", wrongBurst, took)
		}
		for i := range 30 {
			before := time.Now()
			send(requests[i%3])
			if i == 0 && time.Since(before) != wrongHold {
				t.Errorf("one more took %v", time.Since(before))
			}
			before = time.Now()
			if code := p.dial("192.0.2.1").get("/"); code != 200 || time.Since(before) != 0 {
				t.Errorf("a right token: %d after %v", code, time.Since(before))
			}
		}
		if n := strings.Count(log.String(), "wrong token"); n != 1 || !strings.Contains(log.String(), "from=192.0.2.1:5000 wrong=1 ") {
			t.Errorf("the log says it %d times: %s", n, log)
		}
		time.Sleep(time.Minute)
		c = p.dial("192.0.2.1") // the server has closed the other
		send(requests[0])
		if !strings.Contains(log.String(), "wrong=51 ") || s.wrongs.count() != 51 {
			t.Errorf("%d are counted, and the log is %s", s.wrongs.count(), log)
		}
	})
}

// However many send wrong tokens at once, by as many connections as they get, few are answered.
func TestServerSlowsManyWrongTokens(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, p *pipes, s *Server) {
		var answered atomic.Int64
		for i := range roomAway {
			c := p.dial(fmt.Sprintf("192.0.2.%d", i))
			go func() {
				for {
					fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong-horse-battery\r\n\r\n")
					answer, err := http.ReadResponse(c.answers, nil)
					if err != nil {
						return
					}
					io.Copy(io.Discard, answer.Body)
					answered.Add(1)
				}
			}()
		}
		time.Sleep(10 * time.Second)
		if n := answered.Load(); n > 10*(roomAway+int64(time.Second/wrongEvery))+wrongBurst {
			t.Errorf("%d were answered in 10 s", n)
		}
		s.Close()
		synctest.Wait()
	})
}

// counting counts how often a daemon is asked whether it is ready.
type counting struct {
	*fake
	asked atomic.Int64
}

func (c *counting) Ready(ctx context.Context) error {
	c.asked.Add(1)
	return errors.Join(c.ready, ctx.Err())
}

// However often it is asked whether the daemon is ready, the daemon is asked once a second; also if who asked first has
// gone.
func TestServerReadyAsksOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, run := newFake("backup")
		defer run.End(nil)
		d := &counting{fake: f}
		h := New(Config{Daemon: d}).Handler()
		code := func(ctx context.Context) int {
			return ask(h, "GET", "/readyz", func(r *http.Request) { *r = *r.WithContext(ctx) }).Code
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		for range 1000 {
			if got := code(gone); got != 200 {
				t.Fatal(got)
			}
		}
		f.ready = errors.New("no store")
		if n := d.asked.Load(); n != 1 || code(t.Context()) != 200 {
			t.Errorf("it was asked %d times", n)
		}
		time.Sleep(time.Second)
		if got := code(t.Context()); got != 503 || d.asked.Load() != 2 {
			t.Errorf("a second later: %d, asked %d times", got, d.asked.Load())
		}
	})
}

// What a request says of where it comes from counts if a trusted proxy has sent it, and then only what that has added.
func TestServerBelievesTrustedProxyOnly(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32"), netip.MustParsePrefix("fd00::/64")}
	for name, c := range map[string]struct {
		from    string
		headers []string
		want    string
	}{
		"nobody's word":    {"192.0.2.1:5", []string{"198.51.100.7"}, "192.0.2.1:5"},
		"the proxy's":      {"10.0.0.1:5", []string{"198.51.100.7"}, "10.0.0.1:5, for 198.51.100.7"},
		"what it added":    {"10.0.0.1:5", []string{"1.1.1.1, 198.51.100.7"}, "10.0.0.1:5, for 198.51.100.7"},
		"in two headers":   {"10.0.0.1:5", []string{"1.1.1.1", "198.51.100.7"}, "10.0.0.1:5, for 198.51.100.7"},
		"of two proxies":   {"[fd00::5]:5", []string{"1.1.1.1, 198.51.100.7, 10.0.0.1"}, "[fd00::5]:5, for 198.51.100.7"},
		"without a header": {"10.0.0.1:5", nil, "10.0.0.1:5"},
		"hostile":          {"10.0.0.1:5", []string{"\x1b[2J" + strings.Repeat("x", 200)}, `10.0.0.1:5, for \x1b[2J` + strings.Repeat("x", 96)},
		"over a socket":    {"@", []string{"198.51.100.7"}, "the socket, for 198.51.100.7"},
	} {
		log := new(bytes.Buffer)
		f, run := newFake("backup")
		s := New(Config{Daemon: f, Access: ByToken, Tokens: tokens, Proxies: proxies, Log: slog.New(slog.NewTextHandler(log, nil)),
			Act: func(context.Context, client.Order) (admin.Answer, error) {
				return admin.Answer{Outcome: durable.Applied, Text: "paused"}, nil
			}})
		post(s.Handler(), url.Values{"do": {string(admin.Pause)}, "job": {"backup"}, "reason": {"x"}}, func(r *http.Request) {
			r.RemoteAddr, r.Header["X-Forwarded-For"] = c.from, c.headers
		})
		text := strings.ReplaceAll(log.String(), `\\`, `\`)
		if !strings.Contains(text, "who=\""+c.want+"\"") && !strings.Contains(text, "who="+c.want+" ") {
			t.Errorf("%s: want %s in the log: %s", name, c.want, text)
		}
		w := ask(s.Handler(), "POST", "/login", func(r *http.Request) {
			r.RemoteAddr = c.from
			r.Header.Set("X-Forwarded-Proto", "https")
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Body = io.NopCloser(strings.NewReader("token=" + token))
		})
		if secure := w.Result().Cookies()[0].Secure; secure != (c.from != "192.0.2.1:5") {
			t.Errorf("%s: the cookie is for TLS only: %t", name, secure)
		}
		run.End(nil)
	}
}

// A trusted proxy may have all places, for all those that it stands for.
func TestConnsProxyHasAllPlaces(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}
	inBubble(t, Config{Proxies: proxies}, func(t *testing.T, p *pipes, s *Server) {
		for range roomAway {
			p.dial("10.0.0.1")
		}
		synctest.Wait()
		if open, closed := s.conns.counts(); open != roomAway || closed != 0 {
			t.Errorf("%d are open, %d were closed", open, closed)
		}
	})
}

// Over a socket the audit has the user, as the system knows it.
func TestServerNamesUserOfSocket(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not say who is at the other end")
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	log := new(bytes.Buffer)
	f, run := newFake("backup")
	defer run.End(nil)
	s := New(Config{Daemon: f, Access: Socket, Log: slog.New(slog.NewTextHandler(log, nil)),
		Act: func(context.Context, client.Order) (admin.Answer, error) {
			return admin.Answer{Outcome: durable.Applied, Text: "paused"}, nil
		}})
	path := filepath.Join(t.TempDir(), "sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s.Serve(l)
	defer s.Close()
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	answer, err := (&http.Client{Transport: transport}).PostForm("http://localhost/act", url.Values{"do": {string(admin.Pause)}, "job": {"backup"}, "reason": {"x"}})
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if want := fmt.Sprintf("who=%q", "the socket (user "+me.Username+")"); !strings.Contains(log.String(), want) {
		t.Errorf("%d, want %s in the log: %s", answer.StatusCode, want, log)
	}
}

// A browser that was here by TLS comes by TLS only.
func TestServerHasBrowsersStayWithTLS(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	h := New(Config{Daemon: f}).Handler()
	for _, state := range []*tls.ConnectionState{nil, {}} {
		w := ask(h, "GET", "/", func(r *http.Request) { r.TLS = state })
		if got := w.Header().Get("Strict-Transport-Security"); (got == "max-age=31536000") != (state != nil) {
			t.Errorf("with TLS %t: %q", state != nil, got)
		}
	}
}
