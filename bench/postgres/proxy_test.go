package postgres_test

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/executor-go/executor/bench/postgres"
)

// A proxy forwards the bytes of a client unchanged, and counts Query and Execute messages
// only.
func TestProxyCountsStatements(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	through, proxy, err := postgres.Count("postgres://user@" + server.Addr().String() + "/db?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
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
	sent := []byte("\x00\x00\x00\x0a\x00\x03\x00\x00EQ" + // the first message has no type
		"Q\x00\x00\x00\x08EEE\x00" + "P\x00\x00\x00\x05Q" + "B\x00\x00\x00\x04" +
		"E\x00\x00\x00\x05\x00" + "S\x00\x00\x00\x04")
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
		t.Errorf("the server received %q, want %q", got, sent)
	}
	if n := proxy.Statements(); n != 2 {
		t.Errorf("%d statements, want 2", n)
	}
}
