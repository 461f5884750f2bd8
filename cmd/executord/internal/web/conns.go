package web

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/executor-go/executor/ui/page"
)

// A daemon needs open files for its jobs, so there are places for so many connections and no more. Who fills them keeps
// nobody out: a new connection always gets a place, and if there is none, the one goes that has been idle for longest. A
// connection is idle if it has no request that was let through, whatever else it sends: headers, a body, or requests
// for what is open to all. Those that are not idle are not closed, and so they may have a part of the places only.
const (
	// roomAway is how many connections from other machines there may be, and roomHere how many from this one, which
	// those of the others do not take away. They are documented.
	roomAway, roomHere = 128, 128

	// share is how many connections from other machines may be of one of them. It is documented.
	share = 64
)

// level is how firmly a connection has its place.
type level int

const (
	idle level = iota // it goes when a place is needed
	busy              // it has a request that was let through
	live              // which goes on for as long as the reader likes
	levels
)

// room is a number of places.
type room struct {
	size int
	used [levels]int // of this level and those above
}

// has reports whether there is a place: for an eighth fewer at each level.
func (r *room) has(l level) bool { return r.used[l] < r.size-r.size/8*int(l) }

// conns are the connections of a server.
type conns struct {
	log   *slog.Logger
	proxy func(netip.Addr) bool // reports whether a peer is one that is trusted, which may have all places

	mu         sync.Mutex
	here, away room
	peers      map[netip.Prefix]*room // of other machines, that have connections
	all        map[*conn]struct{}
	closed     int // for want of places
	told       minutely
}

func newConns(log *slog.Logger, proxy func(netip.Addr) bool) *conns {
	return &conns{
		log: log, proxy: proxy, here: room{size: roomHere}, away: room{size: roomAway},
		peers: make(map[netip.Prefix]*room), all: make(map[*conn]struct{}),
	}
}

// conn is a connection that has a place.
type conn struct {
	net.Conn
	of    *conns
	peer  netip.Prefix // the machine; not valid if it is this one
	rooms []*room      // that it has a place in
	level level
	since time.Time // when it came, or its last request that was let through has ended
	gone  bool
}

// peerOf returns the machine from which a connection comes. It is not valid if it is this one. A machine has all the
// addresses that begin with the same 64 bits.
func peerOf(addr net.Addr) (peer netip.Prefix, ip netip.Addr) {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil { // a socket of this machine
		return peer, ip
	}
	if ip = at.Addr().Unmap().WithZone(""); ip.IsLoopback() {
		return peer, ip
	}
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	peer, _ = ip.Prefix(bits)
	return peer, ip
}

// admit returns c with a place, and the connection that has to be closed for it, nil if none has to.
func (s *conns) admit(c net.Conn) (got, leaves *conn) {
	peer, ip := peerOf(c.RemoteAddr())
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.roomsLocked(peer, ip) { // the first that is full is the peer's own
		if !r.has(idle) {
			leaves = s.longestIdleLocked(r) // there is one, since fewer may be busy
			s.removeLocked(leaves)          // from all rooms that it shares with c
			s.closed++
			break
		}
	}
	got = &conn{Conn: c, of: s, peer: peer, rooms: s.roomsLocked(peer, ip), since: time.Now()}
	for _, r := range got.rooms {
		r.used[idle]++
	}
	s.all[got] = struct{}{}
	return got, leaves
}

// roomsLocked returns the rooms in which a connection of a peer has a place.
func (s *conns) roomsLocked(peer netip.Prefix, ip netip.Addr) []*room {
	switch {
	case !peer.IsValid():
		return []*room{&s.here}
	case s.proxy(ip):
		return []*room{&s.away}
	case s.peers[peer] == nil:
		s.peers[peer] = &room{size: share}
	}
	return []*room{s.peers[peer], &s.away}
}

// longestIdleLocked returns the connection in a room that has been idle for longest, nil if none is.
func (s *conns) longestIdleLocked(r *room) (found *conn) {
	for c := range s.all {
		if c.level == idle && slices.Contains(c.rooms, r) && (found == nil || c.since.Before(found.since)) {
			found = c
		}
	}
	return found
}

// removeLocked takes the place of a connection.
func (s *conns) removeLocked(c *conn) {
	if c.gone {
		return
	}
	c.gone = true
	for _, r := range c.rooms {
		for l := range c.level + 1 {
			r.used[l]--
		}
	}
	if r := s.peers[c.peer]; r != nil && r.used[idle] == 0 {
		delete(s.peers, c.peer)
	}
	delete(s.all, c)
}

// tell logs that connections were closed for want of places, if it is time to.
func (s *conns) tell(from net.Addr) {
	s.mu.Lock()
	closed, due := s.closed, s.told.due(time.Now())
	s.mu.Unlock()
	if due {
		s.log.Warn("connections closed", "reason", "there was no place for more", "closed", closed, "for", from.String(),
			"hint", "closed counts from the start; see who connects so often, or let a firewall do so")
	}
}

// counts returns how many connections are open, and how many were closed for want of places.
func (s *conns) counts() (open, closed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all), s.closed
}

// rise gives a connection its place more firmly; false if there are too many that have it so, or it is gone.
func (c *conn) rise(to level) bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.gone {
		return false
	}
	for l := c.level + 1; l <= to; l++ {
		for _, r := range c.rooms {
			if !r.has(l) {
				return false
			}
		}
	}
	for l := c.level + 1; l <= to; l++ {
		for _, r := range c.rooms {
			r.used[l]++
		}
	}
	c.level = max(c.level, to)
	return true
}

// fall has a connection be idle from now on.
func (c *conn) fall() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.gone {
		return
	}
	for ; c.level > idle; c.level-- {
		for _, r := range c.rooms {
			r.used[c.level]--
		}
	}
	c.since = time.Now()
}

// Close closes the connection, and gives its place to others.
func (c *conn) Close() error {
	c.of.mu.Lock()
	c.of.removeLocked(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// listen returns a listener whose connections have places.
func (s *conns) listen(l net.Listener) net.Listener { return &limited{l, s} }

type limited struct {
	net.Listener
	conns *conns
}

// Accept waits for a connection, and gives it a place.
func (l *limited) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	switch {
	case errors.Is(err, net.ErrClosed):
		return nil, err
	case err != nil: // too many files are open: the server tries again
		return nil, later{err}
	}
	got, leaves := l.conns.admit(c)
	if leaves != nil {
		leaves.Conn.Close()
		l.conns.tell(c.RemoteAddr())
	}
	return got, nil
}

// later is an error after which a server tries again.
type later struct{ error }

func (later) Timeout() bool   { return false }
func (later) Temporary() bool { return true }

// connKey is for the context of the requests of a connection.
type connKey struct{}

// withConn is the ConnContext of a server.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// hold has the connection of a request that was let through be no longer idle, or answers that too many are not.
func hold(w http.ResponseWriter, r *http.Request, as level) bool {
	if c, ok := r.Context().Value(connKey{}).(*conn); !ok || c.rise(as) {
		return true
	}
	w.Header().Set("Retry-After", "10")
	page.Refuse(w, r, http.StatusServiceUnavailable, "executord: too many pages and outputs are open; close some, and try again")
	return false
}

// release has the connection of a request be idle again.
func release(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		c.fall()
	}
}

// minutely decides whether something is said that is to be said once a minute at most.
type minutely struct{ next time.Time }

func (m *minutely) due(now time.Time) bool {
	if now.Before(m.next) {
		return false
	}
	m.next = now.Add(time.Minute)
	return true
}
