// Package redis starts Redis servers for measurements, from the binary of the machine.
package redis

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"
)

// ErrMissing is the error of Start on a machine without redis-server.
var ErrMissing = errors.New("no redis-server on the PATH")

// Look returns ErrMissing if this machine has no redis-server.
func Look() error {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return ErrMissing
	}
	return nil
}

// Server is an empty server on a port of 127.0.0.1, which syncs each command that writes to
// the disk before it answers, as a database does with a commit.
type Server struct {
	Addr string

	dir  string
	cmd  *exec.Cmd
	hold io.Closer
}

// Start starts a server. It ends with this process, however that ends.
func Start() (*Server, error) {
	if err := Look(); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: l.Addr().String()}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	if s.dir, err = os.MkdirTemp("", "bench-redis"); err != nil {
		return nil, err
	}
	// The shell ends the server, and removes its files, when its input ends.
	s.cmd = exec.Command("sh", "-c", `redis-server --bind 127.0.0.1 --port "$0" --dir "$1" --save "" --appendonly yes --appendfsync always >"$1/log" 2>&1 </dev/null &
		read -r line; kill $!; wait; rm -rf "$1"`, fmt.Sprint(port), s.dir)
	if s.hold, err = s.cmd.StdinPipe(); err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		os.RemoveAll(s.dir)
		return nil, err
	}
	for late := time.After(time.Minute); ; {
		conn, err := net.Dial("tcp", s.Addr)
		if err == nil {
			conn.Close()
			return s, nil
		}
		select {
		case <-late:
			log, _ := os.ReadFile(s.dir + "/log")
			s.Close()
			return nil, fmt.Errorf("redis-server is not ready after a minute: %w\n%s", err, log)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Close stops the server and removes its files.
func (s *Server) Close() {
	s.hold.Close()
	s.cmd.Wait()
}
