package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/roles"
	"github.com/executor-go/executor/ui/page"
)

// guarded refuses requests that no reader makes: of other sites in a browser, of names that were made to point here,
// and through a proxy that the server does not know of.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.gate.TryRLock() {
			return // the connection is closed
		}
		defer s.gate.RUnlock()
		control := http.NewResponseController(w)
		control.SetWriteDeadline(time.Now().Add(patience))
		if r.ContentLength != 0 { // else the end of a reader would not be seen any more
			control.SetReadDeadline(time.Now().Add(bodyPatience))
		}
		if r.TLS != nil {
			w.Header().Set("Strict-Transport-Security", strictTransport)
		}
		if !s.guard.Admit(w, r, true) {
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		next.ServeHTTP(w, r)
	})
}

// strictTransport has a browser that was here once ask for this host by TLS only, for a year. It is documented.
const strictTransport = "max-age=31536000"

// guard returns what refuses requests. Those that have the token, or may open the socket, may ask for any host.
func (a Access) guard() page.Guard {
	g := page.Guard{
		Name: "executord", Forms: true,
		Host:  "ask for 127.0.0.1 or localhost, or set a --token-file",
		Peer:  "to allow other machines, set a --token-file",
		Proxy: "behind a proxy, use --listen unix:/run/executord.sock, or a --token-file",
	}
	if a != Loopback {
		g.Allow("*")
	}
	return g
}

// everybody is who asks where no token is needed.
var everybody = roles.Token{Role: roles.Operate}

// asker returns who makes a request; false for one that may not see what is shown. A session ends with its token.
func (s *Server) asker(r *http.Request) (roles.Token, bool) {
	if s.Tokens == nil {
		return everybody, true
	}
	tokens := s.Tokens()
	if text, ok := bearer(r); ok {
		return tokens.Find(text)
	}
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return roles.Token{}, false
	}
	sum, ok := s.sessions.of(c.Value, time.Now())
	if !ok {
		return roles.Token{}, false
	}
	return tokens.BySum(sum)
}

// identify is asker for a request that begins: a wrong token counts.
func (s *Server) identify(r *http.Request) (roles.Token, bool) {
	who, ok := s.asker(r)
	if _, has := bearer(r); has && !ok {
		s.wrong(r)
	}
	return who, ok
}

// bearer returns the token that a request has in its headers.
func bearer(r *http.Request) (text string, ok bool) {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(text), strings.EqualFold(scheme, "Bearer")
}

// askerKey is for the context of a request that authorized has let through.
type askerKey struct{}

// asks returns who makes a request that authorized has let through.
func asks(r *http.Request) roles.Token {
	t, _ := r.Context().Value(askerKey{}).(roles.Token)
	return t
}

// still reports whether who made a request that goes on may do so still, and no more and no less than at its begin.
func (s *Server) still(r *http.Request) bool {
	now, ok := s.asker(r)
	return ok && now == asks(r)
}

// acts reports whether a request may act on jobs.
func (s *Server) acts(r *http.Request) bool { return s.Act != nil && asks(r).Role == roles.Operate }

// authorized lets those through that may look. A browser is asked for the token.
func (s *Server) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch who, ok := s.identify(r); {
		case ok:
			if hold(w, r, busy) {
				defer release(r)
				next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), askerKey{}, who)))
			}
		case isPage(r):
			http.Redirect(w, r, "/login?"+url.Values{"to": {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
		default:
			w.Header().Set("WWW-Authenticate", `Bearer realm="executord"`)
			page.Refuse(w, r, http.StatusUnauthorized, "executord: the token is missing or wrong; "+
				"it is that of --token-file: send the header Authorization: Bearer TOKEN")
		}
	})
}

// isPage reports whether a browser shows what a request asks for.
func isPage(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// operators lets those through that may act.
func (s *Server) operators(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.acts(r) {
			next(w, r)
			return
		}
		text := fmt.Sprintf("the token of %s is for looking only: its role is %s, and actions need the role %s",
			asks(r).Name, asks(r).Role, roles.Operate)
		if isPage(r) {
			s.sorry(w, r, http.StatusForbidden, "T"+text[1:]+".")
			return
		}
		page.Refuse(w, r, http.StatusForbidden, "executord: "+text)
	}
}

// target returns where to go after the login: a page of this server.
func target(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") ||
		strings.ContainsAny(to, "\\\r\n\t") || strings.HasPrefix(to, "/login") {
		return "/"
	}
	return to
}

func (s *Server) serveLogin(w http.ResponseWriter, r *http.Request) {
	s.alone(w, http.StatusOK, "Log in", "login", struct{ To, Wrong string }{target(r.URL.Query().Get("to")), ""})
}

func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	to := target(r.PostFormValue("to"))
	who, ok := s.Tokens().Find(strings.TrimSpace(r.PostFormValue("token")))
	if !ok {
		s.wrong(r)
		s.alone(w, http.StatusUnauthorized, "Log in", "login", struct{ To, Wrong string }{to, "That is not the token."})
		return
	}
	c := s.cookie(r, s.sessions.open(who.Sum, time.Now()))
	c.MaxAge = int(sessionLength / time.Second)
	http.SetCookie(w, c)
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	if old, err := r.Cookie(cookieName(r)); err == nil {
		s.sessions.end(old.Value)
	}
	c := s.cookie(r, "")
	c.MaxAge = -1
	http.SetCookie(w, c)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}
