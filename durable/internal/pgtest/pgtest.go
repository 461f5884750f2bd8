// Package pgtest starts PostgreSQL servers for tests, from the binaries of the
// machine, each in a directory of its own. The variable EXECUTOR_PGBIN names the
// directory of other binaries: initdb and postgres are all that it must have.
package pgtest

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
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrMissing says that the machine has no PostgreSQL.
var ErrMissing = errors.New("PostgreSQL is not installed: no initdb in the path or in /usr/lib/postgresql, and EXECUTOR_PGBIN is not set; on Debian: apt-get install postgresql")

// Server is a server that runs on this machine, listening at a port of 127.0.0.1.
type Server struct {
	Port int
	dir  string
	bin  string
	cmd  *exec.Cmd
	log  *bytes.Buffer
	args []string
}

// Start makes a new database cluster and starts its server, with more settings
// as name=value.
func Start(settings ...string) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin, args: settings}
	if s.Port, err = freePort(); err == nil {
		err = s.initdb()
	}
	if err == nil {
		err = s.Restart()
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// binaries gives the directory of initdb: the one that was asked for, else that
// of the newest version there is.
func binaries() (string, error) {
	if dir := os.Getenv("EXECUTOR_PGBIN"); dir != "" {
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
			return "", fmt.Errorf("EXECUTOR_PGBIN: %w", err) // never another version instead
		}
		return dir, nil
	}
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

func (s *Server) initdb() error {
	cmd, err := s.command("initdb", "-N", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-D", s.data())
	if err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Restart starts the server, after Kill.
func (s *Server) Restart() error {
	args := []string{"-D", s.data(), "-p", strconv.Itoa(s.Port), "-k", s.dir, "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"}
	for _, setting := range s.args {
		args = append(args, "-c", setting)
	}
	cmd, err := s.command("postgres", args...)
	if err != nil {
		return err
	}
	s.log = new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = s.log, s.log
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd = cmd
	for range 300 {
		if conn, err := pgx.Connect(context.Background(), s.DSN(0)); err == nil {
			return conn.Close(context.Background())
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.Kill()
	return fmt.Errorf("PostgreSQL did not start:\n%s", s.log)
}

// Kill ends the server as a loss of power would, except that the machine's
// memory reaches the disk.
func (s *Server) Kill() {
	if s.cmd != nil {
		s.cmd.Process.Signal(syscall.SIGQUIT)
		s.cmd.Wait()
		s.cmd = nil
	}
}

// Stop ends the server and removes its files.
func (s *Server) Stop() {
	s.Kill()
	os.RemoveAll(s.dir)
}

// DSN gives the name of the server's database, at another port if port is not 0.
func (s *Server) DSN(port int) string {
	if port == 0 {
		port = s.Port
	}
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
}

// Main is TestMain's work for a package whose tests share a server: it starts
// one, runs the tests and stops it. Without PostgreSQL the server is nil, or, if
// the variable CI is set, the tests fail.
func Main(run func() int, server **Server, settings ...string) int {
	s, err := Start(settings...)
	switch {
	case errors.Is(err, ErrMissing) && os.Getenv("CI") == "":
		return run()
	case err != nil:
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		return 1
	}
	defer s.Stop()
	*server = s
	return run()
}

// Schema makes a schema of its own for a test, and gives the dsn that names it.
func (s *Server) Schema(ctx context.Context, name string, port int) (string, error) {
	conn, err := pgx.Connect(ctx, s.DSN(0))
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "create schema "+pgx.Identifier{name}.Sanitize()); err != nil {
		return "", err
	}
	return s.DSN(port) + "&search_path=" + name, nil
}
