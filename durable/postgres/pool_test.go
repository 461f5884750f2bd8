package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/storetest"
)

// openPool returns a store over the pool.
func openPool(t *testing.T, pool *pgxpool.Pool, opts ...postgres.Option) *postgres.Store {
	t.Helper()
	store := must(postgres.OpenPool(t.Context(), pool, opts...))
	t.Cleanup(func() { store.Close() })
	return store
}

// pooledBy returns a pool whose configuration is changed first.
func pooledBy(t *testing.T, dsn string, change func(c *pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config := must(pgxpool.ParseConfig(dsn))
	change(config)
	pool := must(pgxpool.NewWithConfig(t.Context(), config))
	t.Cleanup(pool.Close)
	return pool
}

// A store over a pool passes what each store passes, also behind a pooler.
func TestOpenPoolConformance(t *testing.T) {
	atNight(t)
	for name, more := range map[string]string{"direct": "", "pooled": pooled} {
		t.Run(name, func(t *testing.T) {
			var pools sync.Map // of stores
			open := func(t *testing.T) *postgres.Store {
				return ready(t, "pool"+more, func() *postgres.Store {
					pool := must(pgxpool.New(context.Background(), dsn(t)+more)) // the server ends its connections
					store := must(postgres.OpenPool(t.Context(), pool))
					pools.Store(store, pool)
					return store
				})
			}
			storetest.Run(t, func(t *testing.T) durable.Store { return open(t) })
			storetest.RunTx(t, func(t *testing.T) (durable.Store, storetest.DB) {
				store := withoutEffects(t, open(t))
				pool, _ := pools.Load(store)
				return store, native{pool.(*pgxpool.Pool), new(sync.Map)}
			})
		})
	}
}

// A pool that the program has used up keeps calls waiting, and no node from its lease.
func TestOpenPoolUsedUpCostsNoLease(t *testing.T) {
	p := pooledBy(t, dsn(t), func(c *pgxpool.Config) { c.MaxConns = 2 })
	store := openPool(t, p)
	must(store.Join(t.Context(), "node", time.Hour))
	a, b := must(p.Acquire(t.Context())), must(p.Acquire(t.Context()))
	beat := must(store.Heartbeat(soon(t), "node", time.Hour, durablestore.Watch{}))
	must(store.Claim(soon(t), durablestore.ClaimRequest{Node: "node", Limit: 1, Kinds: []durablestore.KindLimit{{Kind: "k", Max: 1}}}))
	if !beat.Alive {
		t.Error("the node is dead")
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := store.Counts(short, durable.Filter{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call without a connection: %v", err)
	}
	a.Release()
	b.Release()
	must(store.Counts(t.Context(), durable.Filter{}))
}

// The store makes its own connections as the pool does, and changes none of the pool's; they are the pool's again after
// each call, and when the store is closed.
func TestOpenPoolLeavesThePoolAsItIs(t *testing.T) {
	var before, after atomic.Int64
	p := pooledBy(t, dsn(t), func(c *pgxpool.Config) {
		user := c.ConnConfig.User
		c.ConnConfig.User = "nobody of that name"
		c.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error { before.Add(1); c.User = user; return nil }
		c.AfterConnect = func(context.Context, *pgx.Conn) error { after.Add(1); return nil }
		c.ConnConfig.RuntimeParams["synchronous_commit"] = "remote_apply"
	})
	store := must(postgres.OpenPool(t.Context(), p))
	must(store.Insert(t.Context(), schedules(1, "1m0s"), durablestore.Placement{}))
	must(store.Join(t.Context(), "node", time.Hour))
	made := p.Stat().TotalConns()
	if n := before.Load(); n != after.Load() || n <= int64(made) {
		t.Errorf("BeforeConnect was called %d times, AfterConnect %d; the pool has %d connections", n, after.Load(), made)
	}
	if n := p.Stat().AcquiredConns(); n != 0 {
		t.Errorf("%d connections of the pool are kept", n)
	}
	for range made { // each of them
		conn := must(p.Acquire(t.Context()))
		defer conn.Release()
		var set string
		const changed = "select coalesce(string_agg(name, ' '), '') from pg_settings where source = 'session'"
		if err := conn.QueryRow(t.Context(), changed).Scan(&set); err != nil || set != "" {
			t.Errorf("set on a connection of the pool: %q, %v", set, err)
		}
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Ping(t.Context()); err != nil {
		t.Errorf("the pool after Close of the store: %v", err)
	}
}

// A pool by which a job could be lost, or a statement see too little, is refused with what to set.
func TestOpenPoolRefusesSettings(t *testing.T) {
	for name, bad := range map[string]string{
		"synchronous_commit": "local", "default_transaction_isolation": "serializable", "client_encoding": "LATIN1",
	} {
		p := pooledBy(t, dsn(t), func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams[name] = bad })
		_, err := postgres.OpenPool(t.Context(), p)
		if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, bad, err)
		}
	}
	if _, err := postgres.OpenPool(t.Context(), nil); !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("nil pool: %v", err)
	}
	if _, err := postgres.OpenPool(t.Context(), pool(t, dsn(t)), nil); !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("nil Option: %v", err)
	}
}

// A node over a pool runs jobs, and hears of those that others add.
func TestOpenPoolRunsJobs(t *testing.T) {
	p := pool(t, dsn(t))
	store := openPool(t, p, postgres.MaxConns(4))
	jobs := must(durable.New(durable.Config{Store: store, Poll: time.Minute}))
	ran := make(chan string, 1)
	durable.Handle(jobs, "k", func(_ context.Context, s string) (string, error) { ran <- s; return s, nil })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- jobs.Run(ctx) }()
	other := must(durable.New(durable.Config{Store: openPool(t, p)}))
	client := durable.KindOf[string, string](other, "k")
	id := must(client.Add(t.Context(), "a"))
	if got := <-ran; got != "a" || must(client.Await(t.Context(), id)) != "a" {
		t.Errorf("ran %q", got)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
