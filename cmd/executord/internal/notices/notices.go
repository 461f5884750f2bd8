// Package notices keeps in the database of a store what notifications became of, so that it outlives the daemon. They
// are in a table of executord's own, executord_notice, beside those of package durable:
//
//	Add ──▶ pending ──▶ goroutine ──▶ insert, and delete of what is old
//
// Add never waits. Of what the store does not take, the latest are tried again.
//
// A message that waits is there, too, with all that it takes to send it. Its daemon keeps it again before a time that
// is in its row; once that has passed by some seconds, the daemon was killed, and any daemon of the namespace may Claim
// it.
package notices

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/notify"
)

// These are documented.
const (
	// Most is how many notices of a namespace are kept.
	Most = 1000

	// Age is how long they are kept.
	Age = 30 * 24 * time.Hour
)

const (
	grace       = 15 * time.Second // after a message was to be kept again, until its daemon is taken for dead
	mostPending = 500              // notices that wait for the store; the oldest give way
	writeLimit  = 10 * time.Second // of one try
	pause       = 10 * time.Second // after one that has failed
	pace        = time.Second      // after one that has not: a flood is written in batches
)

// A Log keeps the notices of a namespace. Its methods may be called concurrently.
type Log struct {
	table     table
	namespace string
	log       *slog.Logger
	wake      chan struct{} // has a value after Add
	closing   chan struct{} // closed by Close
	ctx       context.Context
	cancel    context.CancelFunc
	done      chan struct{} // closed when nothing more is written

	overdue map[string]int64 // what Claim has found last, and when it was to be kept again; nil before the first call

	mu struct {
		sync.Mutex
		pending []pending // one for each message
		added   int       // how often Add was called
		failing bool      // the last try has failed
	}
}

// pending is a notice that is not in the store yet.
type pending struct {
	notify.Kept
	number int
}

// Open makes the table in the database of a store, if it is not there. It returns nil if the store has no database,
// as one that ends with the daemon. Close ends the Log, before the store is closed.
func Open(ctx context.Context, store any, namespace string, log *slog.Logger) (*Log, error) {
	t, err := tableOf(store)
	if err != nil || t.db == nil {
		return nil, err
	}
	if err := t.create(ctx); err != nil {
		t.close()
		return nil, err
	}
	l := &Log{
		table: t, namespace: namespace, log: log,
		wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{}),
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	go l.run() // ends after Close, which waits for it
	return l, nil
}

// Add keeps a notice, soon, in place of the one before with its ID.
func (l *Log) Add(k notify.Kept) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.added++
	l.mu.pending = slices.DeleteFunc(l.mu.pending, func(p pending) bool { return p.ID == k.ID })
	if l.mu.pending = append(l.mu.pending, pending{k, l.mu.added}); len(l.mu.pending) > mostPending {
		l.mu.pending = slices.Delete(l.mu.pending, 0, 1)
	}
	l.signal()
}

func (l *Log) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Latest returns the latest notices of the namespace, limit at most, the latest first.
func (l *Log) Latest(ctx context.Context, limit int) ([]notify.Notice, error) {
	return l.table.latest(ctx, l.namespace, limit)
}

// Claim returns the messages for channels of these names whose daemon was killed. They are this daemon's from then on:
// no other one gets them, as long as they are kept again in time. It is called again and again, by one goroutine.
//
// While the store does not answer, no daemon can keep its messages. So a message is that of a daemon that was killed
// only if the call before has found it so, too, but for the first call; and never while there is news of it here that
// the store does not have yet.
func (l *Log) Claim(ctx context.Context, channels []string) ([]notify.Kept, error) {
	before := l.overdue
	overdue := make(map[string]int64)
	claimed, err := l.table.claim(ctx, l.namespace, channels, time.Now(), func(id string, noted int64) bool {
		overdue[id] = noted
		at, known := before[id]
		return (before == nil || known && at == noted) && !l.isPending(id)
	})
	if err == nil {
		l.overdue = overdue
	}
	return claimed, err
}

func (l *Log) isPending(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.mu.pending, func(p pending) bool { return p.ID == id })
}

// Close writes what is pending until ctx ends, and gives up the rest. What is added later is not kept.
func (l *Log) Close(ctx context.Context) {
	close(l.closing)
	stop := context.AfterFunc(ctx, l.cancel)
	<-l.done
	stop()
	l.cancel()
	l.table.close()
}

// run writes what is added, until the Log is closed, and then once more.
func (l *Log) run() {
	defer close(l.done)
	for {
		select {
		case <-l.wake:
		case <-l.closing:
			l.write()
			return
		}
		if l.write() != nil {
			l.rest(pause)
			l.signal()
		} else {
			l.rest(pace)
		}
	}
}

// rest waits, unless the Log is closed.
func (l *Log) rest(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-l.closing:
	}
}

// write writes what is pending in one transaction. What it could not write stays pending.
func (l *Log) write() error {
	l.mu.Lock()
	batch, written := slices.Clone(l.mu.pending), l.mu.added
	l.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(l.ctx, writeLimit)
	defer cancel()
	err := l.table.add(ctx, l.namespace, batch)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.mu.pending = slices.DeleteFunc(l.mu.pending, func(p pending) bool { return p.number <= written })
	}
	if err != nil && !l.mu.failing {
		l.log.Warn("notices not kept in the store", "reason", err.Error())
	}
	l.mu.failing = err != nil
	return err
}

// A table is that of the notices in a database.
type table struct {
	db       *sql.DB
	own      bool // db is closed with the table
	postgres bool
}

// file and database are what stores are, as far as this package needs it.
type (
	file     interface{ DSN() string }
	database interface{ DB() *sql.DB }
	wrapper  interface{ Unwrap() any }
)

// tableOf returns the table of a store, with no db if the store has none.
func tableOf(store any) (table, error) {
	switch s := store.(type) {
	case wrapper:
		return tableOf(s.Unwrap())
	case file:
		db, err := sql.Open("sqlite", s.DSN())
		if err != nil {
			return table{}, err
		}
		db.SetMaxOpenConns(1)
		db.SetConnMaxIdleTime(time.Minute)
		return table{db: db, own: true}, nil
	case database:
		return table{db: s.DB(), postgres: true}, nil
	}
	return table{}, nil
}

func (t table) close() {
	if t.own {
		t.db.Close()
	}
}

// columns are those of the table. The notice is JSON, so that later versions may add to it.
const (
	columnsOfFile     = "(seq integer primary key autoincrement, id text not null unique, namespace text not null, noted bigint not null, notice text not null)"
	columnsOfPostgres = "(seq bigint generated always as identity primary key, id text not null unique, namespace text not null, noted bigint not null, notice text not null)"
	indexed           = "(namespace, seq)"
)

// MigrationSQL makes the table in a database of PostgreSQL, for a role that may do that.
const MigrationSQL = "create table if not exists executord_notice " + columnsOfPostgres + ";\n" +
	"create index if not exists executord_notice_namespace on executord_notice " + indexed + ";\n"

// create makes the table if it is not there. In PostgreSQL that needs a right which a daemon may be without: the table
// is then made as MigrationSQL says.
func (t table) create(ctx context.Context) error {
	name, there, err := t.find(ctx)
	if err != nil || there {
		return err
	}
	columns := columnsOfFile
	if t.postgres {
		columns = columnsOfPostgres
	}
	for range 2 { // another daemon may make it at the same time, which PostgreSQL takes for an error
		_, err = t.db.ExecContext(ctx, "create table if not exists "+name+" "+columns)
		if err == nil {
			_, err = t.db.ExecContext(ctx, "create index if not exists executord_notice_namespace on "+name+" "+indexed)
		}
		if err == nil {
			return nil
		}
	}
	return err
}

// find returns the name of the table, and whether it is there. In PostgreSQL it is in the schema of the store, whatever
// others are in the search path.
func (t table) find(ctx context.Context) (name string, there bool, err error) {
	name = "executord_notice"
	if !t.postgres {
		err = t.db.QueryRowContext(ctx, "select count(*) > 0 from sqlite_master where name = 'executord_notice'").Scan(&there)
		return name, there, err
	}
	err = t.db.QueryRowContext(ctx, `
		select pg_catalog.quote_ident(n.nspname) || '.executord_notice', exists (select from pg_catalog.pg_class t
			where t.relnamespace = n.oid and t.relname = 'executord_notice')
		from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
		where c.oid = pg_catalog.to_regclass('executor_schema')::pg_catalog.oid`).Scan(&name, &there)
	if errors.Is(err, sql.ErrNoRows) {
		err = errors.New("the store has lost its tables")
	}
	return name, there, err
}

// place returns the n-th parameter of a statement.
func (t table) place(n int) string {
	if t.postgres {
		return fmt.Sprintf("$%d", n)
	}
	return fmt.Sprintf("?%d", n)
}

// waits is before the ID of a message in the table for as long as it waits. Such rows have in noted when another daemon
// may claim them, and do not count.
const waits = "waits/"

// rowsThatWait selects these, by the index of the IDs.
const rowsThatWait = "id >= 'waits/' and id < 'waits0'"

// add adds notices, in place of those before with their IDs, and removes what is too old or too much.
func (t table) add(ctx context.Context, namespace string, batch []pending) error {
	name, _, err := t.find(ctx)
	if err != nil {
		return err
	}
	tx, err := t.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	replace := fmt.Sprintf("delete from %s where id = %s", name, t.place(1))
	insert := fmt.Sprintf("insert into %s (id, namespace, noted, notice) values (%s, %s, %s, %s) on conflict (id) do nothing",
		name, t.place(1), t.place(2), t.place(3), t.place(4))
	for _, k := range batch {
		text, err := json.Marshal(k.Kept)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, replace, waits+k.ID); err != nil {
			return err
		}
		id, noted := k.ID, k.At
		if k.Outcome == notify.Waiting {
			id, noted = waits+k.ID, k.By.Add(grace)
		}
		if _, err := tx.ExecContext(ctx, insert, id, namespace, noted.UnixMicro(), string(text)); err != nil {
			return err
		}
	}
	remove := fmt.Sprintf(`delete from %[1]s where namespace = %[2]s and (noted < %[3]s or not (`+rowsThatWait+`)
		and seq <= (select seq from %[1]s where namespace = %[2]s and not (`+rowsThatWait+`) order by seq desc limit 1 offset %[4]d))`,
		name, t.place(1), t.place(2), Most)
	if _, err := tx.ExecContext(ctx, remove, namespace, time.Now().Add(-Age).UnixMicro()); err != nil {
		return err
	}
	return tx.Commit()
}

// claim returns the messages that wait, for channels of these names, were to be kept again before now, and may be
// claimed.
func (t table) claim(
	ctx context.Context, namespace string, channels []string, now time.Time, may func(id string, noted int64) bool,
) (claimed []notify.Kept, err error) {
	name, there, err := t.find(ctx)
	if err != nil || !there {
		return nil, err
	}
	rows, err := t.db.QueryContext(ctx, fmt.Sprintf("select notice, noted from %s where %s and namespace = %s and noted < %s order by seq",
		name, rowsThatWait, t.place(1), t.place(2)), namespace, now.UnixMicro())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []notify.Kept
	var noted []int64
	for rows.Next() {
		var text string
		var at int64
		if err := rows.Scan(&text, &at); err != nil {
			return nil, err
		}
		var k notify.Kept
		if err := json.Unmarshal([]byte(text), &k); err != nil {
			return nil, fmt.Errorf("a notice cannot be read: %w", err)
		}
		if slices.Contains(channels, k.Channel) && may(k.ID, at) {
			found, noted = append(found, k), append(noted, at)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	rows.Close() // a file has one connection
	take := fmt.Sprintf("update %s set noted = %s where id = %s and noted = %s", name, t.place(1), t.place(2), t.place(3))
	for i, k := range found {
		result, err := t.db.ExecContext(ctx, take, now.Add(grace).UnixMicro(), waits+k.ID, noted[i])
		if err != nil {
			return claimed, err
		}
		if n, err := result.RowsAffected(); err == nil && n == 1 {
			claimed = append(claimed, k)
		}
	}
	return claimed, nil
}

// latest returns the latest notices of a namespace, of all if it is empty, the latest first.
func (t table) latest(ctx context.Context, namespace string, limit int) ([]notify.Notice, error) {
	name, there, err := t.find(ctx)
	if err != nil || !there {
		return nil, err
	}
	where, args := "noted >= "+t.place(2), []any{limit, time.Now().Add(-Age).UnixMicro()}
	if namespace != "" {
		where, args = where+" and namespace = "+t.place(3), append(args, namespace)
	}
	rows, err := t.db.QueryContext(ctx, fmt.Sprintf("select notice from %s where %s order by seq desc limit %s", name, where, t.place(1)), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []notify.Notice
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		var n notify.Notice
		if err := json.Unmarshal([]byte(text), &n); err != nil {
			return nil, fmt.Errorf("a notice cannot be read: %w", err)
		}
		all = append(all, n)
	}
	return all, rows.Err()
}

// Latest returns the latest notices that a store has of a namespace, of all if it is empty, limit at most, the latest
// first.
func Latest(ctx context.Context, store any, namespace string, limit int) ([]notify.Notice, error) {
	t, err := tableOf(store)
	if err != nil || t.db == nil {
		return nil, err
	}
	defer t.close()
	return t.latest(ctx, namespace, limit)
}

// Create makes the table in the database of a store, if it is not there.
func Create(ctx context.Context, store any) error {
	t, err := tableOf(store)
	if err != nil || t.db == nil {
		return err
	}
	defer t.close()
	return t.create(ctx)
}
