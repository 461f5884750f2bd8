// Package pgserver starts PostgreSQL servers for tests and measurements, from
// the binaries of the machine, each with a cluster in a directory of its own.
// The variable EXECUTOR_PGBIN names the directory of other binaries: initdb and
// postgres are all that it must have, and pg_basebackup for a standby.
package pgserver

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Server is a server that listens at a port of 127.0.0.1 and trusts all
// connections from there. Its methods are for one goroutine at a time.
type Server struct {
	Port    int
	Version string // such as 15.18

	bin      string
	dir      string // has data, which is the cluster, and log
	settings []string
	cmd      *exec.Cmd     // nil after Kill
	ended    chan struct{} // closed when cmd has ended

	janitor *exec.Cmd // nil if there is none
	hold    io.Closer // the janitor's input
}

// Start makes a new cluster and starts its server, with settings as name=value.
// Without fsync=off it begins with all that it consists of on the disk.
func Start(settings ...string) (*Server, error) {
	bin, err := binaries("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return nil, err
	}
	return start(&Server{bin: bin, settings: settings}, (*Server).initdb)
}

// start starts a server in a cluster that fill makes.
func start(s *Server, fill func(*Server) error) (_ *Server, err error) {
	if s.dir, err = os.MkdirTemp("", "pgserver"); err != nil {
		return nil, err
	}
	s.hireJanitor()
	err = fill(s)
	for try := 0; err == nil; try++ {
		if s.Port, err = freePort(); err != nil {
			break
		}
		if err = s.run(); try == 5 || !portTaken(err) {
			break
		}
		err = nil // another program was quicker
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// hireJanitor starts a shell that removes the directory when its input ends,
// which is when this process dies, were it of SIGKILL. The server dies at the
// same time and may be in its way for a moment. Without a shell there is Stop.
func (s *Server) hireJanitor() {
	cmd := exec.Command("sh", "-c", `trap "" HUP INT QUIT TERM; read -r line; for i in 1 2 3 4 5; do rm -rf "$0" && break; sleep 1; done`, s.dir)
	if hold, err := cmd.StdinPipe(); err == nil && cmd.Start() == nil {
		s.janitor, s.hold = cmd, hold
	}
}

func (s *Server) initdb() error {
	version, err := s.output("postgres", "--version") // postgres (PostgreSQL) 15.18 (Debian ...)
	if err != nil {
		return err
	}
	if words := strings.Fields(version); len(words) > 2 {
		s.Version = words[2]
	}
	args := []string{"-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-D", s.data()}
	if slices.Contains(s.settings, "fsync=off") {
		args = append(args, "-N")
	}
	_, err = s.output("initdb", args...)
	return err
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) output(name string, args ...string) (string, error) {
	cmd, err := s.command(name, args...)
	if err != nil {
		return "", err
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return string(out), err
}

func (s *Server) command(name string, args ...string) (*exec.Cmd, error) {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	return cmd, confine(cmd)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// DSN returns the URL of the database postgres.
func (s *Server) DSN() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.Port)
}

// Restart starts the server at the port it had, after Kill or with one, and
// waits until it is ready. While it was down, the system may have given the port
// to a connection of another program: Restart waits for up to ten seconds for it.
func (s *Server) Restart() error {
	s.Kill()
	for try := 0; ; try++ {
		if err := s.run(); try == 100 || !portTaken(err) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// portTaken reports whether a server has ended since its port is in use.
func portTaken(err error) bool {
	return err != nil && strings.Contains(err.Error(), "could not bind IPv4 address")
}

// run starts the server at its port, and waits until it is ready.
func (s *Server) run() error {
	// No socket in the directory: its name may be too long for one.
	args := []string{"-D", s.data(), "-p", strconv.Itoa(s.Port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	cmd, err := s.command("postgres", args...)
	if err != nil {
		return err
	}
	log, err := os.Create(s.log())
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	s.cmd, s.ended = cmd, ended
	return s.awaitReady()
}

func (s *Server) awaitReady() error {
	late := time.After(time.Minute)
	for !s.ready() {
		select {
		case <-s.ended:
			state := s.cmd.ProcessState
			s.cmd = nil
			return fmt.Errorf("PostgreSQL ended before it was ready, with %v:\n%s", state, s.tail())
		case <-late:
			s.Kill()
			return fmt.Errorf("PostgreSQL is not ready after a minute:\n%s", s.tail())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// ready reports whether the server takes connections. It says so in line 8 of
// this file, as pg_ctl knows. The file may be one that a server left which
// died of SIGKILL, hence the look at line 1.
func (s *Server) ready() bool {
	text, _ := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	lines := strings.Split(string(text), "\n")
	return len(lines) > 7 && lines[0] == strconv.Itoa(s.cmd.Process.Pid) && strings.TrimSpace(lines[7]) == "ready"
}

func (s *Server) log() string { return filepath.Join(s.dir, "log") }

// tail returns the last lines of the server's log.
func (s *Server) tail() string {
	text, _ := os.ReadFile(s.log())
	lines := strings.SplitAfter(string(text), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "")
}

// Kill ends the server as a loss of power would, except that the machine's
// memory reaches the disk.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	if s.cmd.Process.Signal(syscall.SIGQUIT) != nil {
		s.cmd.Process.Kill() // Windows knows nothing else
	}
	<-s.ended
	s.cmd = nil
}

// Stop ends the server and removes its files.
func (s *Server) Stop() {
	s.Kill()
	os.RemoveAll(s.dir)
	if s.janitor != nil {
		s.hold.Close()
		s.janitor.Wait()
	}
}
