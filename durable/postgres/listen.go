package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// channel is where changes are notified. All schemas of the database share it, so the payload names the schema, and
	// nodes of another one ignore it. It is the name, which stays when a backup is restored beneath the sessions that
	// listen.
	channel = "executor_durable"
	schema  = "(select relnamespace::regnamespace::text from pg_catalog.pg_class where oid = 'executor_job'::regclass)"
	notify  = "pg_notify('" + channel + "', " + schema + ")"
	// early is behind the name if a job may be due that was due before: see floors.
	early       = " early"
	notifyEarly = "pg_notify('" + channel + "', " + schema + " || '" + early + "')"
)

// A session that listens and has heard nothing for as long as silence sends a query, and must get an answer within
// answer. Nothing else would find that its line is dead, if something on the way keeps it open; and the server may end
// sessions that are idle. It has as long to begin with.
var silence, answer = 30 * time.Second, 10 * time.Second

// Listen calls wake on each notification. If the dsn is for a pooler that assigns a connection for each transaction,
// Listen only waits.
func (s *Store) Listen(ctx context.Context, wake func()) error {
	if pooled(s.config) {
		<-ctx.Done()
		return ctx.Err()
	}
	conn, ours, err := s.session(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	s.floors.reset() // for what was missed
	wake()
	for {
		heard, err := s.hear(ctx, conn)
		if err != nil {
			return err
		}
		if heard == ours+early {
			s.floors.reset()
		}
		if heard == ours || heard == ours+early {
			wake()
		}
	}
}

// session returns a session that listens, and the name of the schema that is ours.
func (s *Store) session(ctx context.Context) (conn *pgx.Conn, ours string, err error) {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	config := s.config.Copy()
	if err := s.dial.before(ctx, config); err != nil {
		return nil, "", err
	}
	if conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, "", err
	}
	note(conn)
	if err = s.dial.made(ctx, conn); err != nil {
		conn.Close(ctx)
		return nil, "", err
	}
	if err = conn.QueryRow(ctx, "select "+schema).Scan(&ours); err == nil {
		_, err = conn.Exec(ctx, "listen "+channel)
	}
	if err != nil {
		conn.Close(ctx)
		return nil, "", err
	}
	return conn, ours, nil
}

// hear waits for a notification, and returns what it says, or until there was silence and the server has answered.
func (s *Store) hear(ctx context.Context, conn *pgx.Conn) (heard string, err error) {
	quiet, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	n, err := conn.WaitForNotification(quiet)
	if err == nil {
		return n.Payload, nil
	}
	if ctx.Err() != nil || quiet.Err() == nil || conn.IsClosed() {
		return "", err
	}
	asked, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	if err := conn.Ping(asked); err != nil { // what is notified meanwhile is kept for the next time
		return "", err
	}
	return "", s.lines.leave(ctx, conn)
}
