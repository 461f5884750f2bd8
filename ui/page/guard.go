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
	// Hosts are the hosts, in lower case, for which requests are answered from any address, in addition to those of
	// this machine. Without a port a name stands for every port, and "*" for every host.
	Hosts map[string]bool

	// Host, Peer and Proxy say what to do about a request for another host, from another machine, or that was
	// forwarded.
	Host, Peer, Proxy string
}

// NewHosts returns the hosts of a Guard with these names.
func NewHosts(names ...string) map[string]bool {
	hosts := make(map[string]bool)
	for _, name := range names {
		hosts[strings.ToLower(name)] = true
	}
	return hosts
}

// Refuse returns the status and the reason with which to refuse a request, or 0 if it is to be answered. posts says
// whether it may be a POST.
func (g *Guard) Refuse(r *http.Request, posts bool) (status int, reason string) {
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

// named reports whether host is one of Hosts.
func (g *Guard) named(host string) bool {
	host = strings.ToLower(host)
	return g.Hosts["*"] || g.Hosts[host] || g.Hosts[withoutPort(host)]
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

// Secure sets the security headers of an answer: the browser loads nothing from other servers, shows the page in no
// frame, and sends forms, if allowed, to the same server only.
func Secure(h http.Header, forms bool) {
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
