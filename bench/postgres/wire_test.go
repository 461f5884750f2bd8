package postgres_test

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/executor-go/executor/bench/postgres"
)

// A line passes on what a client sends as it is, and counts queries and
// executions, not what prepares them.
func TestWireCounts(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	through, wire, err := postgres.Watch("postgres://user@" + server.Addr().String() + "/db?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer wire.Close()
	var host string
	if _, rest, ok := bytes.Cut([]byte(through), []byte("@")); ok {
		addr, _, _ := bytes.Cut(rest, []byte("/"))
		host = string(addr)
	}
	client, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	sent := []byte("\x00\x00\x00\x0a\x00\x03\x00\x00EQ" + // the start has no type, whatever is in it
		"Q\x00\x00\x00\x08EEE\x00" + "P\x00\x00\x00\x05Q" + "B\x00\x00\x00\x04" + "E\x00\x00\x00\x05\x00" + "S\x00\x00\x00\x04")
	if _, err := client.Write(sent); err != nil {
		t.Fatal(err)
	}
	if err := client.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	conn, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	got, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, sent) {
		t.Errorf("the server was sent %q, want %q", got, sent)
	}
	if n := wire.Statements(); n != 2 {
		t.Errorf("%d statements were counted, want 2", n)
	}
}
