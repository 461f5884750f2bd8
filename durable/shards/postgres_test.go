package shards_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	"github.com/executor-go/executor/durable/shards"
	"github.com/executor-go/executor/durable/sqlite"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/storetest/pgserver"
)

// Four PostgreSQL servers, of which one is new and one is killed: while jobs are added and run by two programs, the load is
// even, a quarter of the virtual shards is moved to the new server, and each job runs once; then the others go on without
// the server that was killed.
func TestShardsOnFourServers(t *testing.T) {
	t.Parallel()
	servers := make([]*pgserver.Server, 4)
	for i := range servers {
		s, err := pgserver.Start("fsync=off", "max_connections=60", "shared_buffers=16MB")
		if errors.Is(err, pgserver.ErrMissing) && os.Getenv("CI") == "" {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Stop)
		servers[i] = s
	}
	open := func(n int) *shards.Shards {
		c := shards.Config{Stores: make(map[string]store.Store), Jobs: durable.Config{Logger: slog.New(slog.DiscardHandler)}}
		for i, server := range servers[:n] {
			s := must(postgres.Open(server.DSN()))
			t.Cleanup(func() { s.Close() })
			c.Stores[fmt.Sprint("db", i)] = s
		}
		return must(shards.New(c))
	}
	runs(t, open(3), open, func() { servers[3].Stop() })
}

// Three files of SQLite, of which one is new.
func TestShardsOnFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func(n int) *shards.Shards {
		c := shards.Config{Stores: make(map[string]store.Store), Jobs: durable.Config{Logger: slog.New(slog.DiscardHandler)}}
		for i := range n {
			s := must(sqlite.Open(filepath.Join(dir, fmt.Sprint(i, ".db"))))
			t.Cleanup(func() { s.Close() })
			c.Stores[fmt.Sprint("db", i)] = s
		}
		return must(shards.New(c))
	}
	runs(t, open(3), open, nil)
}

// runs has two programs run jobs in four stores, which are three at first. kill, unless nil, kills the last one.
func runs(t *testing.T, first *shards.Shards, open func(n int) *shards.Shards, kill func()) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if all := must(first.Status(ctx)); len(all) != 3 || all[0].Has.Len() != 1365 {
		t.Fatalf("at first there are %v", all)
	}
	var ran ledger
	ended := make(chan error, 2)
	handle := func(s *shards.Shards) *shards.Kind[string, string] {
		return shards.Handle(s, "k", func(_ context.Context, p string) (string, error) { ran.note(p); return p, nil })
	}
	s := open(4)
	k := handle(s)
	other := open(4)
	handle(other)
	for _, s := range []*shards.Shards{s, other} {
		go func() { ended <- s.Run(ctx) }()
	}
	var stop atomic.Bool
	added, some := make(chan []durable.ID, 1), make(chan struct{})
	go func() {
		var ids []durable.ID
		defer func() {
			if added <- ids; len(ids) < 300 {
				close(some)
			}
		}()
		for i := 0; !stop.Load(); i++ {
			once := durable.WithID(durable.NewID())
			if i%2 == 0 {
				once = durable.Key(fmt.Sprint("key ", i))
			}
			id, err := k.AddAfter(ctx, time.Duration(i%5)*time.Second, fmt.Sprint(i), once)
			for errors.Is(err, context.DeadlineExceeded) { // on a busy machine
				id, err = k.AddAfter(ctx, time.Duration(i%5)*time.Second, fmt.Sprint(i), once)
			}
			if err != nil {
				t.Error(err)
				return
			}
			if ids = append(ids, id); len(ids) == 300 {
				close(some)
			}
			if i%5 == 0 { // it is due at once: no more are added than are run
				if _, err := k.Await(ctx, id); err != nil {
					t.Error(err)
					return
				}
			}
		}
	}()
	<-some
	if err := s.Spread(ctx, "db0", "db1", "db2", "db3"); err != nil {
		t.Error(err)
	}
	stop.Store(true)
	ids := <-added
	load := make(map[*durable.Jobs]int)
	for i, id := range ids {
		r, err := k.Await(ctx, id)
		if err != nil || r != fmt.Sprint(i) || ran.of(r) != 1 {
			t.Errorf("job %d has the result %q, %v, and has run %d times", i, r, err, ran.of(r))
		}
		of, _, err := s.Of(ctx, id)
		must(of, err)
		load[of]++
	}
	mean := float64(len(ids)) / 4
	for name, of := range s.All() {
		if n := float64(load[of]); math.Abs(n-mean) > max(mean/8, 6*math.Sqrt(mean)) {
			t.Errorf("store %s has %v of %d jobs", name, n, len(ids))
		}
	}
	t.Logf("%d jobs", len(ids))
	if kill != nil {
		kill()
		begun, kept, lost := time.Now(), 0, 0
		for i := range 40 {
			name := fmt.Sprint("after ", i)
			one, cancel := context.WithTimeout(ctx, 10*time.Second)
			if id, err := k.Add(one, name); err == nil {
				kept++
				must(k.Await(ctx, id))
			}
			if _, err := k.Add(one, name, durable.Key(name)); err != nil {
				lost++
			}
			cancel()
		}
		if kept < 36 || lost < 3 || lost > 20 {
			t.Errorf("without a server, %d of 40 jobs were added that belong nowhere, and %d not that have a key", kept, lost)
		}
		t.Logf("without a server: %d and %d of 40 jobs were added, in %v", kept, 40-lost, time.Since(begun).Round(time.Millisecond))
	}
	cancel()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
