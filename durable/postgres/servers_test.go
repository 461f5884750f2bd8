package postgres_test

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/executor-go/executor/durable/postgres"
	"github.com/executor-go/executor/internal/pgserver"
)

// before gives a dsn that names another server, at that port, before the one of dsn.
func before(dsn string, port int) string {
	return strings.Replace(dsn, "@127.0.0.1:", fmt.Sprintf("@127.0.0.1:%d,127.0.0.1:", port), 1) + "&target_session_attrs=read-write"
}

// A server that is named first and says nothing, as one whose machine has lost its
// power, does not keep the store from the next: neither Open nor a call that has as long
// as a lease, nor who listens.
func TestSilentServerIsPassedOver(t *testing.T) {
	dsn := dsn(t)
	silent := must(net.Listen("tcp", "127.0.0.1:0"))
	defer silent.Close()
	var store *postgres.Store
	if err := tried(func() (err error) {
		store, err = postgres.Open(before(dsn, silent.Addr().(*net.TCPAddr).Port))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for what, call := range map[string]func(context.Context) error{
		"a call":                     func(ctx context.Context) error { _, err := store.Now(ctx); return err },
		"a transaction's connection": store.DB().PingContext,
	} {
		if err := tried(func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			return call(ctx)
		}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	listening, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := tried(func() error {
		err := store.Listen(listening, cancel)
		if listening.Err() == context.Canceled {
			return nil
		}
		return err
	}); err != nil {
		t.Errorf("listen: %v", err)
	}
}

// tried gives the error of what fails three times. A machine that is busy may take too
// long for it once, but not each time.
func tried(f func() error) (err error) {
	for range 3 {
		if err = f(); err == nil {
			return nil
		}
	}
	return err
}

// A server that takes no writes any more is left for another that the dsn names, though
// it keeps its connections: by those that call and by those that listen.
func TestServerThatTakesNoWritesIsLeft(t *testing.T) {
	defer postgres.SetSilence(time.Millisecond, time.Minute)()
	dsn := dsn(t)
	there := open(t, dsn)
	if major, _, _ := strings.Cut(server.Version, "."); must(strconv.Atoi(major)) < 14 {
		t.Skip("it does not say so before version 14")
	}
	other, err := pgserver.Start("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Stop()
	schema := must(pgx.ParseConfig(dsn)).RuntimeParams["search_path"]
	old := must(pgx.Connect(t.Context(), other.DSN()))
	defer old.Close(t.Context())
	must(old.Exec(t.Context(), "create schema "+schema))
	store := open(t, before(dsn, other.Port))

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must(store.Join(ctx, "a", time.Hour))
	listened := make(chan error, 1)
	go func() {
		listened <- store.Listen(ctx, func() {
			_, err := old.Exec(ctx, "alter system set default_transaction_read_only = on")
			if err == nil {
				_, err = old.Exec(ctx, "select pg_reload_conf()")
			}
			if err != nil {
				cancel()
			}
		})
	}()
	if err := <-listened; ctx.Err() != nil {
		t.Errorf("it goes on listening: %v", err)
	}
	n := 0
	for n == 0 && ctx.Err() == nil {
		store.Join(ctx, "b", time.Hour) // the first call may still be declined
		there.DB().QueryRowContext(ctx, "select count(*) from executor_node where id = 'b'").Scan(&n)
	}
	if n == 0 {
		t.Error("calls are not made to the other server")
	}
}

// The error of Open says what a role lacks.
func TestOpenSaysWhatTheRoleLacks(t *testing.T) {
	dsn := dsn(t)
	owner := must(pgx.Connect(t.Context(), dsn))
	defer owner.Close(t.Context())
	config := owner.Config()
	schema := config.RuntimeParams["search_path"]
	role := "lacking_" + schema
	as := strings.Replace(dsn, "//"+config.User+"@", "//"+role+"@", 1)
	for _, step := range []struct{ statement, want string }{
		{"create role " + role + " login", `no schema of the search path is there and may be used by the role "` + role + `"`},
		{"grant usage on schema " + schema + " to " + role, `open the store once as a role that may make them`},
		{"", `grant the role "` + role + `" usage of the schema, and select, insert, update and delete on its tables`},
		{"alter role " + role + " set default_transaction_read_only = on; grant create on schema " + schema + " to " + role +
			"; drop table executor_schema", "name the primary, or all servers with target_session_attrs=read-write"},
	} {
		if step.statement == "" {
			must(0, open(t, dsn).Close())
		} else {
			must(owner.Exec(t.Context(), step.statement, pgx.QueryExecModeSimpleProtocol))
		}
		store, err := postgres.Open(as)
		if err == nil {
			store.Close()
		}
		if err == nil || !strings.Contains(err.Error(), step.want) {
			t.Errorf("%q: %v", step.statement, err)
		}
	}
}
