package web

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// trusted reports whether what a request says of where it comes from counts: it came from a proxy that is trusted, or
// over a socket, which the file system lets only few open.
func (s *Server) trusted(r *http.Request) bool {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return true
	}
	return s.isProxy(at.Addr().Unmap().WithZone(""))
}

// isProxy reports whether an address is of a proxy that is trusted.
func (s *Server) isProxy(ip netip.Addr) bool {
	return slices.ContainsFunc(s.Proxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// who returns who asks, as far as that is known: the name of the token, from where it was sent, and by which proxy.
func (s *Server) who(r *http.Request) string {
	from := s.from(r)
	if name := asks(r).Name; name != "" {
		from = name + " at " + from
	}
	return from
}

// from returns where a request comes from.
func (s *Server) from(r *http.Request) string {
	from := r.RemoteAddr
	if _, err := netip.ParseAddrPort(from); err != nil {
		from = "the socket"
		if c, ok := r.Context().Value(connKey{}).(*conn); ok {
			if name := userOf(c.Conn); name != "" {
				from += " (user " + job.Printable(name) + ")"
			}
		}
	}
	if by := s.forwarded(r); by != "" {
		from += ", for " + job.Printable(by[:min(len(by), 100)])
	}
	return from
}

// forwarded returns for whom a trusted proxy has sent a request, "" if none has: the last that it or those before it
// name, and that is no trusted proxy. What stands before that was sent by whoever asked.
func (s *Server) forwarded(r *http.Request) (by string) {
	if !s.trusted(r) {
		return ""
	}
	for _, one := range slices.Backward(strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")) {
		by = strings.TrimSpace(one)
		if ip, err := netip.ParseAddr(by); err != nil || !s.isProxy(ip.Unmap()) {
			break
		}
	}
	return by
}

// overTLS reports whether the reader speaks TLS, to the server or to a trusted proxy before it.
func (s *Server) overTLS(r *http.Request) bool {
	return r.TLS != nil || s.trusted(r) && r.Header.Get("X-Forwarded-Proto") == "https"
}
