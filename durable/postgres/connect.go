package postgres

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// timely bounds how long a connection may take that is made without a deadline, as database/sql makes those for callers
// that wait for one of a pool that is full. It makes one after the other, and has reserved a place for each: a server
// that does not answer, or what stands for it on the way, would keep all of them for as long as it likes, and all calls
// out.
type timely struct {
	most time.Duration
	driver.Connector
}

func (t timely) Connect(ctx context.Context) (driver.Conn, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.most)
		defer cancel()
	}
	return t.Connector.Connect(ctx)
}

// prompt bounds the statements by which a transaction of a caller begins and ends: the server answers them at once, and
// database/sql has no context for the last. What the caller does in between takes as long as it likes.
type prompt struct{ most time.Duration }

// promptEnd is where the context of a statement has what ends its bound.
type promptEnd struct{}

// TraceQueryStart is called by the driver before each statement.
func (p prompt) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	switch word, _, _ := strings.Cut(data.SQL, " "); word {
	case "begin", "commit", "rollback": // as the driver writes them
		ctx, cancel := context.WithTimeout(ctx, p.most)
		return context.WithValue(ctx, promptEnd{}, cancel)
	}
	return ctx
}

// TraceQueryEnd is called by the driver after each statement, with the context that TraceQueryStart has returned.
func (prompt) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if cancel, ok := ctx.Value(promptEnd{}).(context.CancelFunc); ok {
		cancel()
	}
}

// shouldPing pings as the driver does, where it does so: after a second without use, but no longer than the bound. If
// that fails the connection is closed, which the driver's own ping then finds at once.
func (p prompt) shouldPing(ctx context.Context, params stdlib.ShouldPingParams) bool {
	if params.IdleDuration <= time.Second {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, p.most)
	defer cancel()
	return params.Conn.Ping(ctx) != nil
}

// dial is what surrounds the making of a connection.
type dial struct {
	before func(ctx context.Context, config *pgx.ConnConfig) error
	after  func(ctx context.Context, conn *pgx.Conn) error // or nil
}

func (d dial) made(ctx context.Context, conn *pgx.Conn) error {
	if d.after == nil {
		return nil
	}
	return d.after(ctx, conn)
}

// hurry is the most time for all servers of a dsn together to take a connection: a call of a node that takes longer
// than a lease is of no use.
const hurry = 3 * time.Second

// share divides the time for a connection among the servers of a dsn that names several, and leaves one part for the
// use of the connection. The driver has no limit by itself: a server that is off the net would use all of the time,
// each time, and the next be tried when no caller waits any more. It is called before each connection.
func share(ctx context.Context, config *pgx.ConnConfig) error {
	servers := 1
	host, port := config.Host, config.Port
	for _, f := range config.Fallbacks { // one with TLS and one without may follow each other
		if f.Host != host || f.Port != port {
			servers++
		}
		host, port = f.Host, f.Port
	}
	if servers == 1 || config.ConnectTimeout != 0 {
		return nil
	}
	left := hurry
	if end, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(end))
	}
	config.ConnectTimeout = max(left/time.Duration(servers+1), time.Millisecond)
	return nil
}

// refreshed is share, of a dsn.
func refreshed(ctx context.Context, config *pgx.ConnConfig) error {
	refresh(config)
	return share(ctx, config)
}

// refresh reads the password again if it is in a file or in the environment, where it may have been changed since the
// store was opened.
func refresh(config *pgx.ConnConfig) {
	if now, err := pgx.ParseConfig(config.ConnString()); err == nil {
		config.Password = now.Password
	}
}

// prepare makes a new connection ready for use. Behind a pooler nothing is set: it would hold for another program's
// transactions.
func prepare(ctx context.Context, conn *pgx.Conn, use use) error {
	note(conn)
	unescape(conn)
	if err := encode(ctx, conn); err != nil || use == behindPooler {
		return err
	}
	if err := promise(ctx, conn); err != nil || use == callers {
		return err
	}
	return isolate(ctx, conn)
}

// use is what a connection is for.
type use uint8

const (
	own          use = iota // the store's statements
	callers                 // transactions of the program: their isolation is not the store's to set
	behindPooler            // nothing outlasts a transaction
)

// took is where a connection has whether its server took writes when it was made.
const took = "executor: took writes"

// note notes whether the server takes writes. The server reports it by itself, from version 14 on, and when that
// changes.
func note(conn *pgx.Conn) {
	conn.PgConn().CustomData()[took] = conn.PgConn().ParameterStatus("default_transaction_read_only") == "off"
}

// leave closes a connection whose server takes no writes any more, though it did: it may have been replaced by
// another one that the dsn names.
func leave(_ context.Context, conn *pgx.Conn) error {
	if conn.PgConn().CustomData()[took] == true && conn.PgConn().ParameterStatus("default_transaction_read_only") == "on" {
		return fmt.Errorf("the server no longer accepts writes: %w", driver.ErrBadConn)
	}
	return nil
}

// longIdle makes database/sql ping a node's connection before use only if it was idle for longer than between two calls
// of a node that has nothing to do. The driver's second would nearly double the queries of such a node. A connection
// that turns out to be lost is an outage of one poll; but to a user it would be an error, so the connections for users'
// calls are pinged after a second.
func longIdle(_ context.Context, p stdlib.ShouldPingParams) bool {
	return p.IdleDuration > 5*time.Second
}

// pooled reports whether by the dsn nothing outlasts a transaction.
func pooled(config *pgx.ConnConfig) bool {
	mode := config.DefaultQueryExecMode
	return mode == pgx.QueryExecModeExec || mode == pgx.QueryExecModeSimpleProtocol
}

// encode sets the encoding of the connection's texts to UTF-8, which the driver always sends, whatever the role or the
// database has for a default. It is not in the dsn, as a database in another encoding can't take all of UTF-8, while it
// takes bytes that it does not have to convert. Poolers keep it for their client.
func encode(ctx context.Context, conn *pgx.Conn) error {
	pg := conn.PgConn()
	if pg.ParameterStatus("server_encoding") != "UTF8" || pg.ParameterStatus("client_encoding") == "UTF8" {
		return nil
	}
	return pg.Exec(ctx, "set client_encoding = 'UTF8'").Close()
}

// isolate makes the statements of a connection see what was committed when they begin, whatever the database, the role
// or the dsn has for a default: claims that cross would fail, and reap would overlook what was claimed since its
// transaction began. It is not in the dsn, as poolers decline that; behind one that pools transactions it would be set
// for another program, so that the default must do.
func isolate(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "set default_transaction_isolation = 'read committed'")
	return err
}

// promise makes a commit return when it is on the disk, and on that of the synchronous standbys, whatever the database,
// the role or the dsn has for a default: with "off" or "local" a job could be accepted and be lost with the server. A
// stricter setting stays.
func promise(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `select pg_catalog.set_config('synchronous_commit', 'on', false) where `+unpromised)
	return err
}

// promised is promise for the transaction of a caller, as a part of a statement in it.
const (
	promised   = `case when ` + unpromised + ` then pg_catalog.set_config('synchronous_commit', 'on', true) end`
	unpromised = `pg_catalog.current_setting('synchronous_commit') in ('off', 'local')`
)

// unreachable reports whether err means that the server could not be reached, and may be later: it is down, starts up,
// is a standby where a primary is asked for, or has no connection left. A login that is refused, and what is not known of
// the dsn, stay so.
func unreachable(err error) bool {
	if !errors.As(err, new(*pgconn.ConnectError)) {
		return false
	}
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &dns) && dns.IsNotFound || errors.As(err, &certificate) {
		return false
	}
	if permanent := []string{noTLS, noSetting}; slices.ContainsFunc(permanent, func(text string) bool { return strings.Contains(err.Error(), text) }) {
		return false
	}
	switch class := code(err); class[:min(2, len(class))] {
	case invalidAuthorization, invalidCatalog, invalidValue, invalidName:
		return false
	}
	return true
}

// These are in errors that have no code of their own: the driver's if the server has no TLS, and that of PgBouncer for a
// setting that it does not know.
const (
	noTLS     = "server refused TLS connection"
	noSetting = "unsupported startup parameter"
)

// Classes of the server's error codes.
const (
	invalidAuthorization = "28"
	invalidCatalog       = "3D" // there is no such database
	invalidValue         = "22" // a setting can't be that
	invalidName          = "42" // there is no such setting
)

// discard drops notifications on a connection that does not listen: a pooler may have had another client listen on the
// session that is behind it now. The driver would keep them for as long as the connection lasts.
func discard(*pgconn.PgConn, *pgconn.Notification) {}
