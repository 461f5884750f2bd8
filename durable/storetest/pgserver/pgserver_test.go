package pgserver_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/executor-go/executor/durable/storetest/pgserver"
)

// home makes a directory that is to have the files of the test's servers, and
// nothing else.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil { // for the server's user
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	return dir
}

// start starts a server in a home.
func start(t *testing.T, settings ...string) (s *pgserver.Server, dir string, err error) {
	t.Helper()
	dir = home(t)
	s, err = pgserver.Start(append(settings, "fsync=off")...)
	if errors.Is(err, pgserver.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err == nil {
		t.Cleanup(s.Stop)
	}
	return s, dir, err
}

// session begins one on the server that a dsn names. It is an error if the
// server does not let it in, as it does not before it is ready.
func session(dsn string) error {
	u, err := url.Parse(dsn)
	if err != nil {
		return err
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		return err
	}
	defer conn.Close()
	hello := []byte("\x00\x00\x00\x00\x00\x03\x00\x00user\x00" + u.User.Username() + "\x00database\x00" + u.Path[1:] + "\x00\x00")
	binary.BigEndian.PutUint32(hello, uint32(len(hello)))
	if _, err := conn.Write(hello); err != nil {
		return err
	}
	answer := make([]byte, 9)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return err
	}
	if !bytes.Equal(answer, []byte("R\x00\x00\x00\x08\x00\x00\x00\x00")) { // let in without a password
		return fmt.Errorf("the server answers %q", answer)
	}
	return nil
}

// A server takes sessions once it was started or restarted, at the same place,
// and none when it was killed or stopped; then its files are gone.
func TestServer(t *testing.T) {
	s, dir, err := start(t, "max_connections=7")
	if err != nil {
		t.Fatal(err)
	}
	dsn := s.DSN()
	takes := func(after string) {
		t.Helper()
		if err := session(dsn); err != nil {
			t.Errorf("after %s: %v", after, err)
		}
	}
	refuses := func(after string) {
		t.Helper()
		if session(dsn) == nil {
			t.Errorf("after %s there is still a server", after)
		}
	}
	restart := func() {
		t.Helper()
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	takes("Start")
	s.Kill()
	refuses("Kill")
	restart()
	takes("Kill, Restart")
	restart()
	takes("Restart without Kill")
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("while the server runs there are %v", left)
	}
	s.Stop()
	refuses("Stop")
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("after Stop there are %v, %v", left, err)
	}
}

// A server that is restarted waits for its port, which another program may have got meanwhile.
func TestServerWaitsForItsPort(t *testing.T) {
	s, dir, err := start(t)
	if err != nil {
		t.Fatal(err)
	}
	s.Kill()
	other, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", s.Port))
	if err != nil {
		t.Fatal(err)
	}
	restarted := make(chan error, 1)
	go func() { restarted <- s.Restart() }()
	for refused := false; !refused; { // the first try
		logs, _ := filepath.Glob(filepath.Join(dir, "*/log"))
		for _, name := range logs {
			text, _ := os.ReadFile(name)
			refused = bytes.Contains(text, []byte("could not bind"))
		}
	}
	other.Close()
	if err := <-restarted; err != nil {
		t.Fatal(err)
	}
	if err := session(s.DSN()); err != nil {
		t.Error(err)
	}
}

// A server that ends before it is ready is an error that says why, and leaves
// nothing.
func TestServerThatDoesNotStart(t *testing.T) {
	_, dir, err := start(t, "no_such_setting=1")
	for _, want := range []string{"ended before it was ready", `unrecognized configuration parameter "no_such_setting"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("there are %v, %v", left, err)
	}
}

// A server reports its version.
func TestVersion(t *testing.T) {
	s, dir, err := start(t)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*/data/PG_VERSION"))
	if len(files) != 1 {
		t.Fatalf("the cluster is in %v", files)
	}
	major, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s.Version, strings.TrimSpace(string(major))) {
		t.Errorf("got %q, the cluster has %s", s.Version, major)
	}
}
