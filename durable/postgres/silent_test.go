package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
)

// gate is a way to the server, which takes connections at any time. What has come
// through one goes on, for the first so many pieces that each sends, or nowhere.
type gate struct {
	dsn    string
	pieces atomic.Int64 // of a client, for connections to come
	lines  atomic.Int64 // connections that were taken

	refusals atomic.Int64 // connections to come that are closed at once
}

// endless is for a connection through which all goes on.
const endless = 1 << 30

func newGate(t *testing.T, dsn string) *gate {
	g := new(gate)
	g.pieces.Store(endless)
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	port := must(pgx.ParseConfig(dsn)).Port
	g.dsn = strings.Replace(dsn, fmt.Sprint(":", port, "/"), fmt.Sprint(":", l.Addr().(*net.TCPAddr).Port, "/"), 1)
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		l.Close()
		wg.Wait()
	})
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			if g.refusals.Load() > 0 {
				g.refusals.Add(-1)
				client.Close()
				continue
			}
			server, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", port))
			if err != nil {
				client.Close()
				continue
			}
			context.AfterFunc(ctx, func() { client.Close(); server.Close() })
			left := g.pieces.Load()
			g.lines.Add(1)
			wg.Go(func() { pass(client, server, endless) })
			wg.Go(func() { pass(server, client, left) })
		}
	})
	return g
}

// pass moves so many pieces, and drops what comes after them.
func pass(to, from net.Conn, pieces int64) {
	defer to.Close()
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if pieces--; pieces >= 0 {
			to.Write(buf[:n])
		}
	}
}

// A server that takes a connection and then says nothing ends Listen, as one does that
// falls silent later: or the node would never be told anything again.
func TestListenGivesUpOnSilentServer(t *testing.T) {
	g := newGate(t, dsn(t))
	store := open(t, g.dsn)
	defer postgres.SetSilence(time.Minute, 100*time.Millisecond)()
	for what, pieces := range map[string]int64{"at all": 0, "once it is connected": 1} {
		g.pieces.Store(pieces)
		ctx := soon(t)
		if err := store.Listen(ctx, func() {}); ctx.Err() != nil {
			t.Errorf("it waits for a server that does not answer %s: %v", what, err)
		}
	}
}

// However many calls there were while the server said nothing, those after it are
// answered: a connection that was to be made meanwhile for a call that waited for one,
// and on which nothing will ever be heard, is given up.
func TestCallsGoOnAfterServerWasSilent(t *testing.T) {
	restore := postgres.SetSilence(time.Minute, 100*time.Millisecond)
	g := newGate(t, dsn(t))
	store := open(t, g.dsn)
	restore()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ask := func(ctx context.Context) error {
		if _, err := store.Get(ctx, durable.NewID()); !errors.Is(err, durable.ErrNotFound) {
			return err
		}
		return nil
	}
	reach := func(what string, done func() bool) {
		t.Helper()
		for !done() {
			if runtime.Gosched(); ctx.Err() != nil {
				t.Fatal(what)
			}
		}
	}
	const most = 10 // connections
	crowd := func() (leave func()) {
		ctx, cancel := context.WithCancel(ctx)
		var all sync.WaitGroup
		for range most {
			all.Go(func() { ask(ctx) })
		}
		return func() { cancel(); all.Wait() }
	}
	calls := postgres.Calls(store)
	g.pieces.Store(0)
	lines := g.lines.Load()
	first := crowd()
	reach("not all calls have asked for a connection", func() bool { return g.lines.Load() == lines+most })
	second := crowd()
	reach("not all calls wait for a connection", func() bool { return calls.Stats().WaitCount == most })
	first()
	reach("no connection is made for those that wait", func() bool { return g.lines.Load() > lines+most })
	second()
	g.pieces.Store(endless)
	for err := ask(ctx); err != nil; err = ask(ctx) {
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}
