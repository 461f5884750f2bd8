package postgres

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
)

// Proxy forwards connections to a server and counts the statements of its clients.
type Proxy struct {
	listener net.Listener
	server   string
	count    atomic.Int64
	wg       sync.WaitGroup

	mu struct {
		sync.Mutex
		conns  []net.Conn
		closed bool
	}
}

// Count starts a proxy to the server of dsn. It returns the dsn that leads through the
// proxy.
func Count(dsn string) (through string, p *Proxy, err error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	p = &Proxy{listener: l, server: u.Host}
	u.Host = l.Addr().String()
	p.wg.Go(p.accept)
	return u.String(), p, nil
}

// Statements returns the number of statements so far.
func (p *Proxy) Statements() int64 { return p.count.Load() }

// Close closes all connections and waits until the goroutines of the proxy have returned.
func (p *Proxy) Close() {
	p.listener.Close()
	p.mu.Lock()
	p.mu.closed = true
	for _, c := range p.mu.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

// keep adds connections for Close. It reports false if Close has been called.
func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.conns = append(p.mu.conns, conns...)
	return !p.mu.closed
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			client.Close()
			continue
		}
		if !p.keep(client, server) {
			client.Close()
			server.Close()
			return
		}
		p.wg.Go(func() {
			io.Copy(client, server)
			client.Close()
		})
		p.wg.Go(func() {
			p.forward(server, client)
			server.Close()
		})
	}
}

// forward copies the messages of a client to the server: first one without a type, then
// messages of one byte for the type and four for the length, which includes itself.
func (p *Proxy) forward(server io.Writer, client io.Reader) error {
	head := make([]byte, 5)
	for first := true; ; first = false {
		h := head
		if first {
			h = head[1:]
		}
		if _, err := io.ReadFull(client, h); err != nil {
			return err
		}
		n := int64(binary.BigEndian.Uint32(head[1:])) - 4
		if n < 0 {
			return fmt.Errorf("message of length %d", n)
		}
		if !first && (head[0] == 'Q' || head[0] == 'E') { // Query, Execute
			p.count.Add(1)
		}
		if _, err := server.Write(h); err != nil {
			return err
		}
		if _, err := io.CopyN(server, client, n); err != nil {
			return err
		}
	}
}
