package page

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Guard decides which requests are answered. It refuses requests that other sites make in a browser, that are for
// another host name, as by DNS rebinding, or that came through an unexpected proxy.
type Guard struct {
	// Name is that of the package or program that refuses requests.
	Name string

	// Forms allows the pages to have forms.
	Forms bool

	// Host, Peer and Proxy say what to do about a request for another host, from another machine, or that was
	// forwarded.
	Host, Peer, Proxy string

	hosts map[string]bool // see Allow, in lower case
}

// Allow has requests for a host answered from any address, in addition to those for this machine. Without a port the name
// stands for every port, and "*" for every host.
func (g *Guard) Allow(host string) {
	if g.hosts == nil {
		g.hosts = make(map[string]bool)
	}
	g.hosts[strings.ToLower(host)] = true
}

// Admit reports whether a request is to be answered; if not, it has been refused. posts says whether it may be a POST. The
// headers of the answer have been set by which the browser loads nothing from other servers, shows the page in no frame,
// and sends forms, if there are some, to the same server only.
func (g *Guard) Admit(w http.ResponseWriter, r *http.Request, posts bool) bool {
	secure(w.Header(), g.Forms)
	status, reason := g.refuses(r, posts)
	switch {
	case status == 0:
		return true
	case status == http.StatusMethodNotAllowed && posts:
		w.Header().Set("Allow", "GET, HEAD, POST")
	case status == http.StatusMethodNotAllowed:
		w.Header().Set("Allow", "GET, HEAD")
	}
	Refuse(w, r, status, g.Name+": "+reason)
	return false
}

// refuses returns the status and the reason with which to refuse a request, or 0 if it is to be answered.
func (g *Guard) refuses(r *http.Request, posts bool) (status int, reason string) {
	looks := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case looks, posts && r.Method == http.MethodPost:
	case posts:
		return http.StatusMethodNotAllowed, fmt.Sprintf("method %.20q; use GET, or POST", r.Method)
	default:
		return http.StatusMethodNotAllowed, fmt.Sprintf("method %.20q; this page only looks, use GET", r.Method)
	}
	if reason := g.stranger(r); reason != "" {
		return http.StatusForbidden, reason
	}
	if origin := r.Header.Get("Origin"); origin != "" && !sameHost(origin, r.Host) {
		return http.StatusForbidden, fmt.Sprintf("origin %.100q is another site than %.100q", origin, r.Host)
	}
	if !looks {
		if err := sites.Check(r); err != nil {
			return http.StatusForbidden, "a request of another site: " + err.Error()
		}
		return 0, ""
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin", "none":
	default: // a link to the page may be followed from elsewhere
		if r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document" {
			return http.StatusForbidden, fmt.Sprintf("a request of another site: Sec-Fetch-Site is %.20q", site)
		}
	}
	return 0, ""
}

// stranger returns why a request may not come from here, "" if it may.
func (g *Guard) stranger(r *http.Request) (reason string) {
	if g.named(r.Host) {
		return ""
	}
	switch {
	case !isLoopback(r.Host):
		return fmt.Sprintf("host %.100q is not this machine; %s", r.Host, g.Host)
	case !isLocal(r.RemoteAddr):
		return fmt.Sprintf("the request comes from %.60q, for host %.100q; %s", r.RemoteAddr, r.Host, g.Peer)
	}
	for _, name := range forwardedBy {
		if r.Header.Get(name) != "" {
			return fmt.Sprintf("the request was forwarded, it has the header %s; %s", name, g.Proxy)
		}
	}
	return ""
}

// sites refuses forms of other sites.
var sites = http.NewCrossOriginProtection()

// forwardedBy are the headers that proxies add.
var forwardedBy = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip"}

// named reports whether host is one of those that are allowed.
func (g *Guard) named(host string) bool {
	host = strings.ToLower(host)
	return g.hosts["*"] || g.hosts[host] || g.hosts[withoutPort(host)]
}

func withoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// isLoopback reports whether the host of a request can only be this machine.
func isLoopback(host string) bool {
	name := withoutPort(strings.ToLower(host))
	if name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// isLocal reports whether the address of a peer is of this machine. That of a Unix socket has no port.
func isLocal(addr string) bool {
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return addr == "" || addr == "@" || strings.HasPrefix(addr, "/")
	}
	return ap.Addr().Unmap().IsLoopback()
}

// sameHost reports whether an origin is that of host.
func sameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, host)
}

// secure sets the security headers of an answer.
func secure(h http.Header, forms bool) {
	action := "'none'"
	if forms {
		action = "'self'"
	}
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
		"img-src 'self'; base-uri 'none'; form-action "+action+"; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// SeeOther leads to another page, by an address relative to that of the request as the browser has it. http.Redirect
// would make it absolute by the path of the request, which lacks what http.StripPrefix has removed.
func SeeOther(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}
