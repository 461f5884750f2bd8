package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"net/url"
	"strings"
	"time"

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
		if r.Method != http.MethodGet { // else the end of a reader would not be seen any more
			control.SetReadDeadline(time.Now().Add(bodyPatience))
		}
		page.Secure(w.Header(), true)
		if status, reason := s.guard.Refuse(r, true); status != 0 {
			plain(w, status, "executord: "+reason)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		next.ServeHTTP(w, r)
	})
}

// guard returns what refuses requests. Those that have the token, or may open the socket, may ask for any host.
func (a Access) guard() page.Guard {
	g := page.Guard{
		Host:  "ask for 127.0.0.1 or localhost, or set a --token-file",
		Peer:  "to allow other machines, set a --token-file",
		Proxy: "behind a proxy, use --listen unix:/run/executord.sock, or a --token-file",
	}
	if a != Loopback {
		g.Hosts = page.NewHosts("*")
	}
	return g
}

const (
	// cookie is the name of the session.
	cookie = "executord"

	// sessionLength is how long a session lasts. It is documented.
	sessionLength = 12 * time.Hour
)

// sessions are the sessions of browsers: a time, signed by a key that is as old as the daemon.
type sessions struct {
	token [sha256.Size]byte
	key   [sha256.Size]byte
}

func newSessions(token string) sessions {
	s := sessions{token: sha256.Sum256([]byte(token))}
	rand.Read(s.key[:])
	return s
}

// isToken reports whether a text is the token, in a time that says nothing of it.
func (s *sessions) isToken(text string) bool {
	sum := sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(sum[:], s.token[:]) == 1
}

func (s *sessions) sign(end []byte) []byte {
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write(end)
	return mac.Sum(nil)
}

// open returns the value of a new session.
func (s *sessions) open(now time.Time) string {
	end := binary.BigEndian.AppendUint64(nil, uint64(now.Add(sessionLength).Unix()))
	return base64.RawURLEncoding.EncodeToString(append(end, s.sign(end)...))
}

// valid reports whether a session was opened here, and goes on.
func (s *sessions) valid(value string, now time.Time) bool {
	data, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil || len(data) != 8+sha256.Size || !hmac.Equal(data[8:], s.sign(data[:8])) {
		return false
	}
	return now.Unix() < int64(binary.BigEndian.Uint64(data))
}

// allowed reports whether a request may see what is shown.
func (s *Server) allowed(r *http.Request) bool {
	if s.Token == "" {
		return true
	}
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return s.sessions.isToken(strings.TrimSpace(token))
	}
	c, err := r.Cookie(cookie)
	return err == nil && s.sessions.valid(c.Value, time.Now())
}

// authorized lets those through that may look. A browser is asked for the token.
func (s *Server) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.allowed(r):
			next.ServeHTTP(w, r)
		case r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html"):
			http.Redirect(w, r, "/login?"+url.Values{"to": {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
		default:
			w.Header().Set("WWW-Authenticate", `Bearer realm="executord"`)
			plain(w, http.StatusUnauthorized, "executord: the token is missing or wrong; "+
				"it is that of --token-file: send the header Authorization: Bearer TOKEN")
		}
	})
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
	if !s.sessions.isToken(strings.TrimSpace(r.PostFormValue("token"))) {
		s.alone(w, http.StatusUnauthorized, "Log in", "login", struct{ To, Wrong string }{to, "That is not the token."})
		return
	}
	c := s.cookie(r, s.sessions.open(time.Now()))
	c.MaxAge = int(sessionLength / time.Second)
	http.SetCookie(w, c)
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	c := s.cookie(r, "")
	c.MaxAge = -1
	http.SetCookie(w, c)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// cookie returns the cookie of a session. No script sees it, and no other site sends it.
func (s *Server) cookie(r *http.Request, value string) *http.Cookie {
	return &http.Cookie{Name: cookie, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"}
}
