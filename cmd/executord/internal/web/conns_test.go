package web

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections come from any address.
type pipes struct {
	in   chan net.Conn
	done chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.in:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.done)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// accepted is a side of a pipe that comes from an address.
type accepted struct {
	net.Conn
	from net.Addr
}

func (c accepted) RemoteAddr() net.Addr { return c.from }

// dialer is the other side.
type dialer struct {
	net.Conn
	answers *bufio.Reader
}

// dial connects from an address, in a bubble.
func (p *pipes) dial(ip string) *dialer {
	ours, theirs := net.Pipe()
	p.in <- accepted{theirs, &net.TCPAddr{IP: net.ParseIP(ip), Port: 5000}}
	synctest.Wait() // it has its place
	return &dialer{ours, bufio.NewReader(ours)}
}

// get sends a request, and returns the status of the answer; 0 if the connection is closed.
func (c *dialer) get(path string) int {
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", path, token)
	answer, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return 0
	}
	if !strings.Contains(path, "follow") && !strings.HasPrefix(path, "/events") {
		io.Copy(io.Discard, answer.Body)
	}
	return answer.StatusCode
}

// closed reports whether the server has closed the connection.
func (c *dialer) closed() bool {
	c.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := c.answers.ReadByte()
	c.SetReadDeadline(time.Time{})
	return err == io.EOF
}

// inBubble serves a daemon with tokens to connections from anywhere, in a bubble.
func inBubble(t *testing.T, c Config, test func(t *testing.T, p *pipes, s *Server)) {
	c.Access, c.Tokens = ByToken, tokens
	serveInBubble(t, c, test)
}

// serveInBubble serves a daemon, of which a run goes on, in a bubble.
func serveInBubble(t *testing.T, c Config, test func(t *testing.T, p *pipes, s *Server)) {
	synctest.Test(t, func(t *testing.T) {
		f, run := newFake("backup")
		defer run.End(nil)
		c.Daemon = f
		s := New(c)
		p := newPipes()
		s.Serve(p)
		defer s.Close()
		test(t, p, s)
	})
}

// Whoever holds all the connections, and keeps each alive by a request that needs no token, keeps nobody out: neither
// others nor probes. The connection that has been idle for longest goes, and the log says so once a minute.
func TestConnsIdleOnesMakeRoom(t *testing.T) {
	log := new(bytes.Buffer)
	inBubble(t, Config{Log: slog.New(slog.NewTextHandler(log, nil))}, func(t *testing.T, p *pipes, s *Server) {
		var held []*dialer
		for i := range roomAway {
			held = append(held, p.dial(fmt.Sprintf("192.0.2.%d", i/16)))
			if code := held[i].get("/healthz"); code != 200 {
				t.Fatalf("connection %d: %d", i, code)
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(40 * time.Second)
		for _, c := range held {
			if code := c.get("/healthz"); code != 200 {
				t.Fatalf("kept alive: %d", code)
			}
		}
		for i, path := range []string{"/", "/metrics", "/healthz", "/readyz"} {
			if code := p.dial("198.51.100.7").get(path); code != 200 {
				t.Errorf("%s: %d", path, code)
			}
			if !held[i].closed() || held[i+1].closed() {
				t.Errorf("after %d more, connection %d is closed: %t, the next: %t", i+1, i, held[i].closed(), held[i+1].closed())
			}
		}
		if n := strings.Count(log.String(), "connections closed"); n != 1 || !strings.Contains(log.String(), "for=198.51.100.7:5000") {
			t.Errorf("the log says it %d times: %s", n, log)
		}
		time.Sleep(time.Minute)
		for range roomAway + 1 {
			p.dial("198.51.100.8")
			p.dial("198.51.100.9")
		}
		if n := strings.Count(log.String(), "connections closed"); n != 2 {
			t.Errorf("after a minute the log has said it %d times: %s", n, log)
		}
	})
}

// A machine has its share: with more connections it closes its own, however it writes its address. This machine has
// places of its own.
func TestConnsPeerHasShare(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, p *pipes, s *Server) {
		other, own := p.dial("192.0.2.1"), p.dial("127.0.0.1")
		var many []*dialer
		for i := range share + 10 {
			many = append(many, p.dial(fmt.Sprintf("2001:db8:1:2::%x", i+1)))
			time.Sleep(time.Millisecond)
		}
		for i, c := range many {
			if closed := c.closed(); closed != (i < 10) {
				t.Errorf("connection %d of the machine with too many is closed: %t", i, closed)
			}
		}
		for i := range roomAway { // of other machines, each with one
			p.dial(fmt.Sprintf("10.0.%d.1", i))
		}
		if open, closed := s.conns.counts(); open != roomAway+1 || closed != 10+share+1 {
			t.Errorf("%d are open, %d were closed", open, closed)
		}
		if !other.closed() || own.closed() {
			t.Errorf("of those from the beginning the one from afar is closed: %t, that of this machine: %t", other.closed(), own.closed())
		}
	})
}

// Who is slow to send headers or a body, or has no token, is idle; who has a request in progress is not, and is not
// closed. So many may be busy that there are always places left.
func TestConnsBusyOnesStay(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, p *pipes, s *Server) {
		follow := p.dial("192.0.2.1")
		if code := follow.get("/api/output?job=backup&run=2&follow=1"); code != 200 {
			t.Fatal(code)
		}
		var slow []*dialer
		for i, text := range []string{
			"", "GET / HTTP/1.1\r\nHost: localh", "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nto=",
		} {
			slow = append(slow, p.dial(fmt.Sprintf("192.0.3.%d", i)))
			io.WriteString(slow[i], text)
			time.Sleep(time.Millisecond)
		}
		for i := range roomAway - 1 {
			p.dial(fmt.Sprintf("10.0.%d.1", i))
		}
		for i, c := range slow {
			if !c.closed() {
				t.Errorf("slow connection %d is open", i)
			}
		}
		if follow.closed() {
			t.Error("the connection with a request in progress is closed")
		}
	})
}

// One machine has no more live pages and outputs than leave it places for the rest, and all of them together neither.
func TestConnsLiveOnesLeaveRoom(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, p *pipes, s *Server) {
		live := 0
		for i := range roomAway {
			if p.dial(fmt.Sprintf("192.0.2.%d", i%2)).get("/api/output?job=backup&run=2&follow=1") == 200 {
				live++
			}
		}
		if live != roomAway*3/4 {
			t.Errorf("%d outputs are followed, want %d", live, roomAway*3/4)
		}
		for _, from := range []string{"192.0.2.0", "192.0.2.1", "192.0.2.9"} {
			for path, want := range map[string]int{"/": 200, "/metrics": 200, "/readyz": 200, "/api/output?job=backup&run=1": 503, "/events?view=": 503} {
				if code := p.dial(from).get(path); code != want {
					t.Errorf("%s for %s: %d, want %d", path, from, code, want)
				}
			}
		}
		if one := s.conns.peers; len(one) != 3 {
			t.Errorf("%d machines are known", len(one))
		}
	})
}

// A place is free as soon as a connection is closed, by whichever side, and what is known of a machine goes with its
// last connection.
func TestConnsGivePlacesBack(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, p *pipes, s *Server) {
		for i := range 2 * roomAway {
			c := p.dial(fmt.Sprintf("10.%d.0.1", i%256))
			if code := c.get("/"); code != 200 {
				t.Fatal(code)
			}
			c.Close()
			synctest.Wait()
		}
		p.dial("192.0.2.1")
		time.Sleep(time.Minute) // the server closes it
		synctest.Wait()
		if open, closed := s.conns.counts(); open != 0 || closed != 0 || len(s.conns.peers) != 0 || s.conns.away != (room{size: roomAway}) {
			t.Errorf("%d are open, %d were closed, and there are places %+v, %v", open, closed, s.conns.away, s.conns.peers)
		}
	})
}

// The same holds for real connections of this machine, over TCP: 128 that are held, and each path that people and
// probes ask for.
func TestServerIsNotShutOut(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	base := listen(t, New(Config{Daemon: f, Access: ByToken, Tokens: tokens}))
	for range roomHere + 10 {
		c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || answer.StatusCode != 200 {
			t.Fatal(answer, err)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/", "/metrics", "/api/jobs"} {
		r, err := http.NewRequest("GET", base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if err != nil || answer.StatusCode != 200 {
			t.Fatalf("%s: %v, %v", path, answer, err)
		}
		answer.Body.Close()
	}
}
