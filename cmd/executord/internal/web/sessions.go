package web

import (
	"crypto/rand"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/roles"
)

const (
	// sessionLength is how long a session lasts. It is documented.
	sessionLength = 12 * time.Hour

	// mostSessions is how many sessions there may be: the oldest ends when there are more.
	mostSessions = 10_000
)

// sessions are the sessions of browsers, by the sums of the values of their cookies. A session is that of a token, and
// ends by logging out, when its time is over, and with the daemon.
type sessions struct {
	mu    sync.Mutex
	all   map[roles.Sum]login
	order []roles.Sum // the oldest first, and those that have ended
}

// login is what a session is of.
type login struct {
	of    roles.Sum // the token
	until time.Time
}

// open returns the value of a new session of who has a token.
func (s *sessions) open(of roles.Sum, now time.Time) string {
	value := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[roles.Sum]login)
	}
	for len(s.order) > 0 {
		if first := s.all[s.order[0]]; now.Before(first.until) && len(s.order) < mostSessions {
			break
		}
		delete(s.all, s.order[0])
		s.order = s.order[1:]
	}
	sum := roles.SumOf(value)
	s.all[sum] = login{of, now.Add(sessionLength)}
	s.order = append(s.order, sum)
	return value
}

// of returns the token of a session that was opened here, and goes on; false if there is none.
func (s *sessions) of(value string, now time.Time) (roles.Sum, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.all[roles.SumOf(value)]
	return one.of, ok && now.Before(one.until)
}

// end ends a session.
func (s *sessions) end(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, roles.SumOf(value))
}

// cookieName returns the name of the cookie of a session. Browsers send cookies to all ports of a host, so that two
// daemons on one have to have different names.
func cookieName(r *http.Request) string {
	_, text, err := net.SplitHostPort(r.Host)
	if port, wrong := strconv.ParseUint(text, 10, 16); err == nil && wrong == nil {
		return "executord-" + strconv.FormatUint(port, 10)
	}
	return "executord"
}

// cookie returns the cookie of a session. No script sees it, and no other site sends it.
func (s *Server) cookie(r *http.Request, value string) *http.Cookie {
	return &http.Cookie{Name: cookieName(r), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: s.overTLS(r)}
}
