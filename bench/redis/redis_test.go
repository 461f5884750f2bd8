package redis_test

import (
	"bufio"
	"fmt"
	"net"
	"testing"

	"github.com/executor-go/executor/bench/redis"
)

// A server syncs each write, answers until Close, and does not after it.
func TestServerAnswersUntilClose(t *testing.T) {
	if err := redis.Look(); err != nil {
		t.Skip(err)
	}
	s, err := redis.Start()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "config get appendfsync\r\n")
	in := bufio.NewReader(conn)
	var last string
	for range 5 { // an array of two texts, each after its length
		if last, err = in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if last != "always\r\n" {
		t.Errorf("appendfsync is %q", last)
	}
	s.Close()
	if conn, err := net.Dial("tcp", s.Addr); err == nil {
		conn.Close()
		t.Error("it answers after Close")
	}
}
