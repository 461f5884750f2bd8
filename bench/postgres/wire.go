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

// Wire is a line to a server that counts the statements which pass: what a
// subject asks of its database, as the database sees it.
type Wire struct {
	listener net.Listener
	to       string
	count    atomic.Int64
	wg       sync.WaitGroup

	mu struct {
		sync.Mutex
		conns  []net.Conn
		closed bool
	}
}

// Watch opens a line to the server that dsn names, and gives the dsn that leads
// through it.
func Watch(dsn string) (through string, w *Wire, err error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	w = &Wire{listener: l, to: u.Host}
	u.Host = l.Addr().String()
	w.wg.Go(w.accept)
	return u.String(), w, nil
}

// Statements gives how many statements have been run.
func (w *Wire) Statements() int64 { return w.count.Load() }

// Close cuts the line.
func (w *Wire) Close() {
	w.listener.Close()
	w.mu.Lock()
	w.mu.closed = true
	for _, c := range w.mu.conns {
		c.Close()
	}
	w.mu.Unlock()
	w.wg.Wait()
}

// keep remembers the connections for Close. It is false if that has been called.
func (w *Wire) keep(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.conns = append(w.mu.conns, conns...)
	return !w.mu.closed
}

func (w *Wire) accept() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", w.to)
		if err != nil {
			client.Close()
			continue
		}
		if !w.keep(client, server) {
			client.Close()
			server.Close()
			return
		}
		w.wg.Go(func() {
			io.Copy(client, server)
			client.Close()
		})
		w.wg.Go(func() {
			w.forward(server, client)
			server.Close()
		})
	}
}

// forward passes on what a client sends: first a message without a type, then
// messages of one byte for the type and four for the length, itself included.
func (w *Wire) forward(server io.Writer, client io.Reader) error {
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
			return fmt.Errorf("a message has length %d", n)
		}
		if !first && (head[0] == 'Q' || head[0] == 'E') { // Query, Execute
			w.count.Add(1)
		}
		if _, err := server.Write(h); err != nil {
			return err
		}
		if _, err := io.CopyN(server, client, n); err != nil {
			return err
		}
	}
}
