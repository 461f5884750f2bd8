package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// server is a PostgreSQL server of this machine's binaries, in a directory of
// its own.
type server struct {
	bin, dir string
	port     int
	cmd      *exec.Cmd
	log      bytes.Buffer
}

// shared is the server that the tests share, started by the first that needs it.
var shared struct {
	sync.Mutex
	*server
	err error
}

var errNoPostgres = errors.New("PostgreSQL is not installed: no initdb in /usr/lib/postgresql; on Debian: apt-get install postgresql")

// database gives the URL of a schema of the test's own.
func database(t *testing.T) string {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = startPostgres()
	}
	if errors.Is(shared.err, errNoPostgres) && os.Getenv("CI") == "" {
		t.Skip(shared.err)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.schema(t)
}

// stopPostgres stops the server that the tests share.
func stopPostgres() {
	if shared.server != nil {
		shared.stop()
	}
}

// startPostgres makes a cluster and starts its server.
func startPostgres() (*server, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return nil, errNoPostgres
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{bin: filepath.Dir(found[len(found)-1]), port: l.Addr().(*net.TCPAddr).Port}
	l.Close()
	if s.dir, err = os.MkdirTemp("", "executord-postgres"); err != nil {
		return nil, err
	}
	init, err := s.command("initdb", "-N", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-D", s.dir+"/data")
	if err == nil {
		if out, failed := init.CombinedOutput(); failed != nil {
			err = fmt.Errorf("initdb: %w\n%s", failed, out)
		}
	}
	if err == nil {
		err = s.start()
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// command gives a command that runs as somebody who is not root, as PostgreSQL
// demands, and that does not outlive the tests.
func (s *server) command(name string, args ...string) (*exec.Cmd, error) {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		return cmd, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return cmd, os.Chown(s.dir, uid, gid)
}

// start starts the server, also after kill.
func (s *server) start() error {
	cmd, err := s.command("postgres", "-D", s.dir+"/data", "-p", strconv.Itoa(s.port), "-k", s.dir, "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200")
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd = cmd
	db, err := sql.Open("pgx", s.url(""))
	if err != nil {
		return err
	}
	defer db.Close()
	for range 300 {
		if err = db.Ping(); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("PostgreSQL did not start: %w\n%s", err, s.log.String())
}

// kill ends the server at once, as a crash does.
func (s *server) kill() {
	if s.cmd != nil {
		s.cmd.Process.Signal(syscall.SIGQUIT)
		s.cmd.Wait()
		s.cmd = nil
	}
}

func (s *server) stop() {
	s.kill()
	os.RemoveAll(s.dir)
}

// url gives the name of the database. The server asks for no password, so that
// any will do.
func (s *server) url(schema string) string {
	name := fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%d/postgres?sslmode=disable", password, s.port)
	if schema != "" {
		name += "&search_path=" + schema
	}
	return name
}

func (s *server) schema(t *testing.T) string {
	t.Helper()
	db, err := sql.Open("pgx", s.url(""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	name := "test_" + strings.ToLower(strings.NewReplacer("/", "_", "#", "_").Replace(t.Name()))
	if _, err := db.Exec("drop schema if exists " + name + " cascade; create schema " + name); err != nil {
		t.Fatal(err)
	}
	return s.url(name)
}
