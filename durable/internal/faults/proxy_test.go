package faults

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
)

// mode is what a proxy does.
type mode int

const (
	open   mode = iota // it passes everything on
	cut                // it closes connections and takes no new one
	silent             // it passes nothing on, and says nothing about it
)

// proxy is the line between a node and the database.
type proxy struct {
	listener net.Listener
	target   int

	mu struct {
		sync.Mutex
		mode  mode
		quiet chan struct{} // closed when it is no longer silent
		conns []net.Conn
	}
}

func newProxy(t *testing.T, target int) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, target: target}
	p.mu.quiet = make(chan struct{})
	close(p.mu.quiet)
	go p.accept()
	t.Cleanup(func() {
		l.Close()
		p.set(cut)
	})
	return p
}

func (p *proxy) port() int { return p.listener.Addr().(*net.TCPAddr).Port }

func (p *proxy) set(m mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.mode == silent {
		close(p.mu.quiet)
	}
	if p.mu.mode = m; m == silent {
		p.mu.quiet = make(chan struct{})
	}
	if m == cut {
		for _, c := range p.mu.conns {
			c.Close()
		}
		p.mu.conns = nil
	}
}

func (p *proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", p.target))
		p.mu.Lock()
		if err != nil || p.mu.mode == cut {
			near.Close()
			if far != nil {
				far.Close()
			}
		} else {
			p.mu.conns = append(p.mu.conns, near, far)
			go p.pass(near, far)
			go p.pass(far, near)
		}
		p.mu.Unlock()
	}
}

// pass copies until one end closes.
func (p *proxy) pass(to io.WriteCloser, from io.Reader) {
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		quiet := p.mu.quiet
		p.mu.Unlock()
		<-quiet
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
