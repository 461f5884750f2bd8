package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/executor-go/executor/durable/internal/argument"
)

// OpenPool is [OpenContext] over a pool of the program's own, which must stay open for as long as the store is: Close
// closes what the store has opened, and leaves the pool to the program.
//
// The program's calls, and DB, use the pool's connections; each call takes one for its length. The store changes
// nothing about them, so they must be such that a commit is kept and a statement sees what is committed: OpenPool
// fails, with an error that matches executor.ErrInvalid, if synchronous_commit is off or local there,
// default_transaction_isolation is not read committed, or client_encoding is not UTF8. RuntimeParams of the pool's
// ConnConfig can set all three. After a failover, a call that the pool connects to the old primary is an error: see
// Open. A call by the pool does not notice that its wait for a standby was canceled.
//
// A handler that calls [durable.Step] while it has a transaction of the pool needs two connections. If as many such
// handlers run as the pool has connections, they wait for each other until their contexts end: give the pool more.
//
// A node renews its lease, claims and commits by connections of its own, up to ten or as MaxConns says, and listens by
// one more, so that an exhausted pool costs no lease. They are made as the pool makes its own, with its ConnConfig,
// BeforeConnect and AfterConnect. A program that does not call Run has one or two of them, until they were idle for a
// minute.
func OpenPool(ctx context.Context, pool *pgxpool.Pool, opts ...Option) (*Store, error) {
	set, err := settingsOf(opts)
	if err != nil {
		return nil, err
	}
	if pool == nil {
		return nil, argument.Invalid("durable/postgres: nil pool; make one with pgxpool.New")
	}
	of := pool.Config()
	s := &Store{config: of.ConnConfig, pool: true, notifier: notifier{stop: make(chan struct{})}, dial: dial{
		before: func(ctx context.Context, config *pgx.ConnConfig) error {
			if of.BeforeConnect != nil {
				if err := of.BeforeConnect(ctx, config); err != nil {
					return err
				}
			}
			return share(ctx, config)
		},
		after: of.AfterConnect,
	}}
	of.ConnConfig.ValidateConnect = s.lines.validating(of.ConnConfig.ValidateConnect)
	s.db = s.open(own, stdlib.OptionShouldPing(longIdle))
	shared := func(most int) *sql.DB {
		db := sql.OpenDB(timely{answer, pooledConnector{stdlib.GetPoolConnector(pool), &s.lines, pooled(s.config)}})
		db.SetMaxIdleConns(0) // they are the pool's
		db.SetMaxOpenConns(most)
		return db
	}
	s.calls, s.queue, s.users = shared(set.calls), shared(set.queue), shared(0)
	return s.start(ctx, set)
}

// pooledConnector takes connections of a pool.
type pooledConnector struct {
	driver.Connector
	lines        *timelines
	behindPooler bool
}

// Connect passes over connections whose server takes no writes any more, though it did, or is on an old timeline: the
// pool does not look. A new one on an old timeline is an error.
func (p pooledConnector) Connect(ctx context.Context) (driver.Conn, error) {
	for {
		c, err := p.Connector.Connect(ctx)
		if err != nil {
			return nil, err
		}
		conn := c.(*stdlib.Conn).Conn()
		_, known := conn.PgConn().CustomData()[took]
		if !known {
			note(conn)
			if p.behindPooler {
				unescape(conn)
			}
			err = p.lines.look(ctx, conn.PgConn())
		} else {
			err = p.lines.leave(ctx, conn)
		}
		if err == nil {
			return c, nil
		}
		conn.Close(ctx) // the pool drops it
		c.Close()
		if !known {
			return nil, err
		}
	}
}
