package ui

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// refuse returns why a request for the last element of its path is not answered, and with which status, 0 if it is.
func (u *UI) refuse(r *http.Request, last string) (status int, reason string) {
	look := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !look && !(r.Method == http.MethodPost && last == "act" && u.config.Actions) {
		return http.StatusMethodNotAllowed, fmt.Sprintf("method %.20q; use GET", r.Method)
	}
	if !u.named(r.Host) {
		switch {
		case !isLoopback(r.Host):
			return http.StatusForbidden, fmt.Sprintf("host %.100q is not this machine; allow it by Config.Hosts", r.Host)
		case !isLocal(r.RemoteAddr):
			return http.StatusForbidden, fmt.Sprintf("the request comes from %.60q, for host %.100q; "+
				"to be asked from elsewhere, name the host by Config.Hosts", r.RemoteAddr, r.Host)
		}
		for _, name := range forwardedBy {
			if r.Header.Get(name) != "" {
				return http.StatusForbidden, fmt.Sprintf("the request was forwarded, it has the header %s; "+
					"name the host of the proxy by Config.Hosts and have it pass that on", name)
			}
		}
	}
	if !look {
		if err := u.protect.Check(r); err != nil {
			return http.StatusForbidden, "a request of another site: " + err.Error()
		}
		return 0, ""
	}
	if origin := r.Header.Get("Origin"); origin != "" && !sameHost(origin, r.Host) {
		return http.StatusForbidden, fmt.Sprintf("origin %.100q is another site than %.100q", origin, r.Host)
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

// forwardedBy are the headers that proxies add.
var forwardedBy = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip"}

// named reports whether host is one of Config.Hosts.
func (u *UI) named(host string) bool {
	host = strings.ToLower(host)
	return u.hosts["*"] || u.hosts[host] || u.hosts[withoutPort(host)]
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
