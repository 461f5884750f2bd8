// Package postgres starts a PostgreSQL server for the measurements, from the
// binaries of the machine, in a directory of its own.
package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrMissing says that the machine has no PostgreSQL.
var ErrMissing = errors.New("PostgreSQL is not installed: no initdb on the PATH or in /usr/lib/postgresql; on Debian: apt-get install postgresql")

// Server is a server that listens at a port of 127.0.0.1. It has the settings it
// comes with: each commit is synced to the disk.
type Server struct {
	Version string
	bin     string
	dir     string
	port    int
	cmd     *exec.Cmd
	log     bytes.Buffer
}

// Start makes a new cluster and starts its server.
func Start() (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench-postgres")
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, dir: dir}
	if err := s.start(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// binaries gives the directory of initdb, of the newest version there is.
func binaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	best, newest := "", 0
	for _, path := range found {
		if v, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))); err == nil && v > newest {
			best, newest = filepath.Dir(path), v
		}
	}
	if best == "" {
		return "", ErrMissing
	}
	return best, nil
}

func (s *Server) start() error {
	out, err := exec.Command(filepath.Join(s.bin, "postgres"), "--version").Output()
	if err != nil {
		return fmt.Errorf("postgres --version: %w", err)
	}
	if words := strings.Fields(string(out)); len(words) > 2 {
		s.Version = words[2]
	}
	if s.port, err = freePort(); err != nil {
		return err
	}
	data := filepath.Join(s.dir, "data")
	initdb, err := s.command("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-D", data)
	if err != nil {
		return err
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if s.cmd, err = s.command("postgres", "-D", data, "-p", strconv.Itoa(s.port), "-k", s.dir, "-c", "listen_addresses=127.0.0.1"); err != nil {
		return err
	}
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	for range 300 {
		ready, err := s.command("pg_isready", "-q", "-h", "127.0.0.1", "-p", strconv.Itoa(s.port))
		if err != nil {
			return err
		}
		if ready.Run() == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.stop()
	return fmt.Errorf("PostgreSQL did not start:\n%s", &s.log)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// command gives a command that runs as a user who is not root, since PostgreSQL
// declines to be.
func (s *Server) command(name string, args ...string) (*exec.Cmd, error) {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	dieWithParent(cmd)
	if os.Getuid() != 0 {
		return cmd, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	runAs(cmd, uid, gid)
	return cmd, os.Chown(s.dir, uid, gid)
}

// stop ends the server at once; what it leaves is removed anyway.
func (s *Server) stop() {
	if s.cmd != nil && s.cmd.Process != nil {
		s.cmd.Process.Signal(syscall.SIGQUIT)
		s.cmd.Wait()
	}
}

// Close ends the server and removes its files.
func (s *Server) Close() {
	s.stop()
	os.RemoveAll(s.dir)
}

// env is how a child process learns of its parent's server.
const env = "BENCH_POSTGRES_PORT"

// Env is the setting by which Open of another process finds the server.
func (s *Server) Env() string { return env + "=" + strconv.Itoa(s.port) }

// Open makes a new database, on the server that the environment names or on one
// of its own, and gives its name for a driver. Close removes it.
func Open(ctx context.Context) (dsn string, close func(), err error) {
	s, own := &Server{}, false
	if s.port, err = strconv.Atoi(os.Getenv(env)); err != nil {
		if s, err = Start(); err != nil {
			return "", nil, err
		}
		own = true
	}
	name := fmt.Sprintf("b%d_%d", os.Getpid(), time.Now().UnixNano())
	// The work of the subject before is to be over when that of the next begins.
	err = s.exec(ctx, "create database "+name, "checkpoint")
	close = func() {
		if own {
			s.Close()
			return
		}
		s.exec(context.Background(), "drop database "+name+" with (force)")
	}
	if err != nil {
		close()
		return "", nil, err
	}
	return s.dsn(name), close, nil
}

func (s *Server) dsn(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}
