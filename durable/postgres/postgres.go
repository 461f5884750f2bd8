// Package postgres keeps jobs in PostgreSQL, version 13 or later, for any number of machines. Its clock is the
// server's.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/argument"
	"github.com/executor-go/executor/durable/internal/sqlrow"
)

// near is how soon a job must be due for others to be notified, in microseconds: what is later they find in time by
// themselves, if they poll or send heartbeats as often.
const near = int64(5 * time.Second / time.Microsecond)

// clock is the server's time in microseconds. As clock_timestamp is volatile, it must be read in a sub-select, or a
// condition with it can't use an index.
const clock = "(select (extract(epoch from clock_timestamp()) * 1000000)::bigint)"

// openTimeout bounds Open, which tries to connect again after reconnectPause.
const (
	openTimeout    = 30 * time.Second
	reconnectPause = 250 * time.Millisecond
)

// A Store is a durable.Store in a database of PostgreSQL.
type Store struct {
	config   *pgx.ConnConfig
	dial     dial
	pool     bool    // calls, queue and users are connections of a pool of the program's
	db       *sql.DB // for what nodes do by themselves
	calls    *sql.DB // for users' calls
	queue    *sql.DB // for users' calls that have to wait for another transaction
	users    *sql.DB // what DB returns
	notifier notifier
	limits   sync.Map // the kinds that have a row in executor_limit
	floors   floors
	lines    timelines
	pruned   struct { // how far the last prune has come
		sync.Mutex
		sqlrow.Pruned
		parts partName
	}
}

// Open connects to the database that dsn names, as a URL or as key=value pairs, and creates the tables or brings them
// up to date. The tables are in the first schema of the search path; their names begin with "executor_". A table that
// was dropped is created again, empty, except for the table of the jobs, which must come from a backup. Open waits for
// the server, and for programs that use the tables, for up to 30 seconds; a refused login, and a host or a setting that
// is not known, are errors at once. The error matches executor.ErrInvalid if dsn can't be read, and
// durable.ErrNewerSchema if a newer version has migrated the tables.
//
// What the store has accepted is on the disks of the server and of its synchronous standbys: if synchronous_commit is
// off or local for the role or the database, the store sets it to on for its own sessions and those of DB. Behind a
// pooler the store can't do so, and Open fails; as it does there if default_transaction_isolation is not read committed.
// A call of which the wait for a standby is canceled on the server is an error.
//
// To name a primary and its standbys in one dsn, add target_session_attrs=read-write: the store finds the server that
// takes writes, and finds it again after a failover. Unless the dsn has a connect_timeout, a server that does not
// answer is skipped in time for the next. On a standby alone, jobs can be read. A primary that comes back after its
// standby was promoted is skipped, too, by its timeline, once the store has seen the later one.
//
// Behind a pooler that assigns a connection for each transaction, such as PgBouncer, add default_query_exec_mode=exec
// to the dsn. Notifications do not pass such a pooler, so the store does not listen to them. Jobs that another node
// adds may then begin up to Config.Poll late; or, if that is more than six tenths of Config.Lease, up to three tenths
// of Config.Lease.
func Open(dsn string, opts ...Option) (*Store, error) {
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	return OpenContext(ctx, dsn, opts...)
}

// An Option changes how a database is opened.
type Option func(*settings) error

type settings struct{ node, calls, queue int }

// MaxConns bounds the connections that the store opens. The connection that listens does not count, nor do those of DB,
// whose SetMaxOpenConns bounds them. The connections are divided between the node, calls of the program, and calls that
// wait for another transaction. n must be at least 4; the default is 30. With few connections, calls may have to wait
// for one. Connections that were idle for a minute are closed.
func MaxConns(n int) Option {
	return func(s *settings) error {
		if n < 4 {
			return argument.Invalid("MaxConns %d: it must be at least 4", n)
		}
		s.queue = max(min(n/4, 10), 1)
		s.calls = max(min((n-s.queue)/2, 10), 1)
		s.node = min(n-s.queue-s.calls, 10)
		return nil
	}
}

// connIdle is how long a connection is kept that is not used.
const connIdle = time.Minute

// OpenContext is [Open], but waits until ctx ends instead of 30 seconds.
func OpenContext(ctx context.Context, dsn string, opts ...Option) (*Store, error) {
	set, err := settingsOf(opts)
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, argument.Invalid("durable/postgres: data source name: %w", err)
	}
	s := &Store{config: config, dial: dial{before: refreshed}, notifier: notifier{stop: make(chan struct{})}}
	config.ValidateConnect = s.lines.validating(config.ValidateConnect)
	s.db = s.open(own, stdlib.OptionShouldPing(longIdle))
	s.calls, s.queue, s.users = s.open(own), s.open(own), s.open(callers)
	s.calls.SetMaxOpenConns(set.calls)
	s.calls.SetMaxIdleConns(set.calls)
	s.queue.SetMaxOpenConns(set.queue)
	for _, db := range []*sql.DB{s.calls, s.queue, s.users} {
		db.SetConnMaxIdleTime(connIdle)
	}
	return s.start(ctx, set)
}

func settingsOf(opts []Option) (settings, error) {
	set := settings{10, 10, 10}
	for _, opt := range opts {
		if opt == nil {
			return set, argument.Invalid("durable/postgres: nil Option")
		}
		if err := opt(&set); err != nil {
			return set, fmt.Errorf("durable/postgres: %w", err)
		}
	}
	return set, nil
}

// open returns connections that the store makes for itself.
func (s *Store) open(use use, more ...stdlib.OptionOpenDB) *sql.DB {
	quiet := s.config.Copy()
	quiet.OnNotification, quiet.OnNotice = discard, noteCanceledWaits(s.config.OnNotice)
	if use == callers {
		bound := prompt{answer}
		quiet.Tracer, more = bound, append(more, stdlib.OptionShouldPing(bound.shouldPing))
	}
	if pooled(s.config) {
		use = behindPooler
	}
	return sql.OpenDB(timely{answer,
		stdlib.GetConnector(*quiet, append(more, stdlib.OptionBeforeConnect(s.dial.before),
			stdlib.OptionResetSession(s.lines.leave),
			stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
				if err := s.dial.made(ctx, conn); err != nil {
					return err
				}
				return prepare(ctx, conn, use)
			}))...)})
}

// start makes a store ready whose connections are set.
func (s *Store) start(ctx context.Context, set settings) (*Store, error) {
	s.db.SetMaxOpenConns(set.node)
	s.db.SetMaxIdleConns(set.node)
	s.db.SetConnMaxIdleTime(connIdle)
	s.pruned.Pruned = sqlrow.NewPruned()
	if err := s.ready(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("durable/postgres: open database %q on %s: %w", s.config.Database, s.config.Host,
			explain(err, s.config.User))
	}
	return s, nil
}

// ready waits for the server, brings the tables up to date, and checks that the
// connections are such as the store needs.
func (s *Store) ready(ctx context.Context) error {
	begin := func() error {
		if err := s.checkPath(ctx); err != nil {
			return err
		}
		return migrate(ctx, s.db)
	}
	err := begin()
	for unreachable(err) {
		select {
		case <-time.After(reconnectPause):
			err = begin()
		case <-ctx.Done():
			return fmt.Errorf("%w; waited for the server: %w", err, ctx.Err())
		}
	}
	if err != nil {
		return err
	}
	// A second client of a pooler gets the server connection of the first, which has
	// this statement prepared: a dsn that forbids that is found here, not at the first job.
	if _, _, _, err := look(ctx, s.queue); err != nil {
		return err
	}
	return s.checkSettings(ctx)
}

// checkPath reports an error if the tables would not be made where the data source name says, as a pooler ignores that.
func (s *Store) checkPath(ctx context.Context) error {
	path, set := s.config.RuntimeParams["search_path"]
	if !set || s.pool || !pooled(s.config) {
		return nil
	}
	var value string
	if err := s.queue.QueryRowContext(ctx, "select pg_catalog.current_setting('search_path')").Scan(&value); err != nil || value == path {
		return err
	}
	return argument.Invalid("search_path is %q, and not %q as in the data source name: the pooler ignores it there, so leave it out, and set it by: alter role %q set search_path = %s",
		value, path, s.config.User, path)
}

// needs are the settings that the store needs of its connections, and sets where they are its own.
var needs = [...]struct{ name, value, also, why string }{
	{"synchronous_commit", "on", "remote_write remote_apply", "a job that was accepted could be lost with the server"}, // as in unpromised
	{"default_transaction_isolation", "read committed", "", "calls fail that are made at the same time"},               // as isolate says
	{"client_encoding", "UTF8", "", "not every text can be stored"},
}

// checkSettings reports an error if a connection lacks what the store needs, and can't set: those of a pool of the
// program's are not its own, and behind a pooler nothing outlasts a transaction but the encoding.
func (s *Store) checkSettings(ctx context.Context) error {
	if !s.pool && !pooled(s.config) {
		return nil
	}
	for _, need := range needs {
		if !s.pool && need.name == "client_encoding" {
			continue // see encode
		}
		var value string
		if err := s.queue.QueryRowContext(ctx, "select pg_catalog.current_setting($1)", need.name).Scan(&value); err != nil {
			return err
		}
		if value == need.value || slices.Contains(strings.Fields(need.also), value) {
			continue
		}
		how := fmt.Sprintf("alter role %q set %s = '%s'", s.config.User, need.name, need.value)
		if s.pool {
			return argument.Invalid("%s is %q on the connections of the pool: %s; set it to %q in RuntimeParams of the pool's ConnConfig, or by: %s",
				need.name, value, need.why, need.value, how)
		}
		return argument.Invalid("%s is %q for the role %q in this database: %s; behind a pooler the store cannot set it: %s",
			need.name, value, s.config.User, need.why, how)
	}
	return nil
}

// DB returns connections for the transactions of AddTx and CompleteTx. Any other *sql.DB of the same driver, pgx's
// package stdlib, does as well, if its database and search path are the same; so does a pgxpool.Pool, see Tx. The store
// does not use these connections itself: a node must be able to renew its lease however many transactions are open.
//
// BeginTx, Commit and Rollback end with an error if a connection has fallen silent for ten seconds: its server stands
// still, or something on the way passes nothing on. It matches context.DeadlineExceeded, and after that of Commit the
// transaction may have been committed. A statement of the program waits until its context ends: give it a deadline, as
// the context of a handler ends when the node loses its lease, not when a single connection is silent. With OpenPool
// the transactions are bounded by their contexts alone, as those of the pool are.
//
// Use READ COMMITTED or REPEATABLE READ. SERIALIZABLE transactions sometimes fail if several of them complete jobs at
// the same time, even unrelated jobs, since PostgreSQL takes neighbors in an index for a conflict.
func (s *Store) DB() *sql.DB { return s.users }

// Close closes the connections, but not a pool that was given to OpenPool. Close waits for up to ten seconds until the
// notifications about the jobs that were added last have been sent.
func (s *Store) Close() error {
	s.notifier.close()
	return errors.Join(s.db.Close(), s.calls.Close(), s.queue.Close(), s.users.Close())
}

// code returns the server's code of the error, "" if it is not the server's.
func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

func uuid(id durable.ID) pgtype.UUID { return pgtype.UUID{Bytes: id, Valid: true} }

func uuids(ids []durable.ID) []pgtype.UUID {
	us := make([]pgtype.UUID, len(ids))
	for i, id := range ids {
		us[i] = uuid(id)
	}
	return us
}
