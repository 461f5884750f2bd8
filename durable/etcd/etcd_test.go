package etcd

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"

	"github.com/executor-go/executor/durable/storetest"
)

var given sync.Map // the ports of addresses

// addresses returns n addresses of loopback for members, whose ports after are free as well. They are of no range that
// the system takes ports from, so that no connection gets one before the member is there.
func addresses(t testing.TB, n int) (all []string) {
	t.Helper()
	for try := 0; len(all) < n; try++ {
		if try == 1000 {
			t.Fatal("there are no free ports")
		}
		port := 10_000 + 2*rand.IntN(11_000)
		if _, taken := given.LoadOrStore(port, true); taken || !free(port) || !free(port+1) {
			continue
		}
		all = append(all, fmt.Sprint("127.0.0.1:", port))
	}
	return all
}

func free(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
	if err == nil {
		l.Close()
	}
	return err == nil
}

// members returns n members in this process, which end with the test. change, if not nil, changes the nth one.
func members(t testing.TB, n int, change func(n int, m *Member)) []*Store {
	t.Helper()
	peers, dir := addresses(t, n), t.TempDir()
	all := make([]*Store, n)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			m := Member{Peers: peers, Self: peers[i], Dir: fmt.Sprint(dir, "/", i), Logger: slog.New(slog.DiscardHandler)}
			if change != nil {
				change(i, &m)
			}
			var err error
			if all[i], err = Join(ctx, m); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	t.Cleanup(func() {
		for _, s := range all {
			if s != nil {
				s.Close()
			}
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return all
}

var stores atomic.Int64

// another returns an empty store on the same member.
func (s *Store) another(t testing.TB) *Store {
	t.Helper()
	return s.beside(t, fmt.Sprintf("test%d/", stores.Add(1)))
}

// beside returns a store on the same member, with a prefix.
func (s *Store) beside(t testing.TB, prefix string) *Store {
	t.Helper()
	inside := v3client.New(s.home.server.Server)
	to, err := open(t.Context(), inside, settings{
		Prefix: prefix, Logger: s.home.log, http: s.home.clock.http, quiet: new(atomic.Bool),
	}, func() error { inside.Close(); return nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { to.Close() })
	return to
}

// Between has each call of the store call fn between its decision and its commit.
func (s *Store) Between(fn func()) { s.home.between = fn }

// A store on three members passes the suite.
func TestStoreConformance(t *testing.T) {
	all := members(t, 3, nil)
	var n atomic.Int64
	storetest.Run(t, func(t *testing.T) *Store { return all[n.Add(1)%3].another(t) })
}
