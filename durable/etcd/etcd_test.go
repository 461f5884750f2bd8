package etcd

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"

	"github.com/executor-go/executor/durable/storetest"
)

// addresses returns n addresses of loopback for members, whose ports before are free as well.
func addresses(t testing.TB, n int) (all []string) {
	t.Helper()
	var open []net.Listener
	defer func() {
		for _, l := range open {
			l.Close()
		}
	}()
	for len(all) < n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, l)
		before, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", l.Addr().(*net.TCPAddr).Port-1))
		if err == nil {
			open = append(open, before)
			all = append(all, l.Addr().String())
		}
	}
	return all
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
