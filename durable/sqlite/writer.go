package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"sync"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/sqlrow"
)

// A writer owns the one connection that writes. Calls that come while a transaction is under way gather, and share the
// next one with one sync of the disk. Each has a savepoint, so that a failure of one does not undo the others.
type writer struct {
	conn  *sql.Conn
	files opened
	ended chan struct{}

	mu struct {
		sync.Mutex
		calls  []*call
		closed bool
	}
	kick chan struct{}

	// These are used by the writer's goroutine only.
	driver any // conn's own, while a group is committed
	stmts  map[string]statement
}

// A call is one call that writes. Its function runs in the writer's goroutine, which does not use the caller's context:
// if that panics, it does so in the caller.
type call struct {
	over <-chan struct{} // Done of the caller's context
	fn   func(q *querier) error
	err  error
	done chan struct{}
}

// maxGroup is the most calls that share a transaction.
const maxGroup = 256

var errClosed = errors.New("durable/sqlite: store is closed")

// errOver is the error of a call that was left out, since its context had ended. The caller gets the context's own.
var errOver = errors.New("durable/sqlite: context ended")

func newWriter(conn *sql.Conn, files opened) *writer {
	w := &writer{conn: conn, files: files, ended: make(chan struct{}), kick: make(chan struct{}, 1),
		stmts: make(map[string]statement)}
	go w.loop()
	return w
}

// do runs fn in a transaction and returns when that is committed. If ctx ends before, the outcome is unknown, and the
// result of fn is dropped.
func do[T any](ctx context.Context, w *writer, fn func(q *querier) (T, error)) (T, error) {
	var v, zero T
	c := &call{over: ctx.Done(), done: make(chan struct{})}
	c.fn = func(q *querier) (err error) {
		v, err = fn(q)
		return err
	}
	w.mu.Lock()
	if w.mu.closed {
		w.mu.Unlock()
		return zero, errClosed
	}
	w.mu.calls = append(w.mu.calls, c)
	w.mu.Unlock()
	w.wake()
	select {
	case <-c.done:
		if c.err == nil {
			return v, nil
		}
		if c.err != errOver {
			return zero, explain(c.err)
		}
	case <-c.over:
	}
	if err := ctx.Err(); err != nil {
		return zero, err
	}
	return zero, context.Canceled // a context of the user's may close its Done before its Err knows why
}

// do is do for a function without a result.
func (w *writer) do(ctx context.Context, fn func(q *querier) error) error {
	_, err := do(ctx, w, func(q *querier) (struct{}, error) { return struct{}{}, fn(q) })
	return err
}

func (w *writer) wake() {
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// close refuses further calls, and waits for those that are there.
func (w *writer) close() {
	w.mu.Lock()
	w.mu.closed = true
	w.mu.Unlock()
	w.wake()
	<-w.ended
}

func (w *writer) loop() {
	defer close(w.ended)
	for range w.kick {
		for {
			w.mu.Lock()
			k := min(len(w.mu.calls), maxGroup)
			group := w.mu.calls[:k:k]
			w.mu.calls = w.mu.calls[k:]
			closed := w.mu.closed
			w.mu.Unlock()
			if k == 0 {
				if closed {
					w.leave()
					return
				}
				break
			}
			w.commit(group)
		}
	}
}

// leave closes the connection. Statements that are not closed would keep it open for ever, and SQLite moves what is in
// the log beside the file into the file when the last connection is closed.
func (w *writer) leave() {
	w.conn.Raw(func(any) error {
		for _, s := range w.stmts {
			s.Close()
		}
		return nil
	})
	w.conn.Close()
}

// commit runs a group in one transaction.
func (w *writer) commit(group []*call) {
	err := w.conn.Raw(func(conn any) error {
		w.driver = conn
		return w.commitRaw(group)
	})
	for _, c := range group {
		if c.err == nil {
			c.err = err
		}
		close(c.done)
	}
}

func (w *writer) commitRaw(group []*call) error {
	if err := w.begin(); err != nil {
		w.exec("rollback") // one that could not be undone must not be in the way for ever
		return err
	}
	var err error
	for _, c := range group {
		select {
		case <-c.over:
			c.err = errOver
			continue
		default:
		}
		if !w.run(c, len(group) > 1) {
			err = c.err
			break
		}
	}
	undo := err != nil || len(group) == 1 && group[0].err != nil
	if !undo {
		err = w.exec("commit")
		undo = err != nil
	}
	if undo {
		w.exec("rollback")
	}
	return err
}

// begin waits for the other processes that share the file.
func (w *writer) begin() error {
	if err := w.files.there(); err != nil {
		return err
	}
	return whileBusy(func() error { return w.exec("begin immediate") })
}

// run runs one call, and undoes it alone if it fails. It reports false if the transaction is gone with it, as when the
// disk is full.
func (w *writer) run(c *call, savepoint bool) bool {
	if !savepoint {
		c.err = w.try(c)
		return true
	}
	if c.err = w.exec("savepoint s"); c.err != nil {
		return false
	}
	if c.err = w.try(c); c.err != nil && w.exec("rollback to s") != nil {
		return false
	}
	err := w.exec("release s")
	c.err = errors.Join(c.err, err)
	return err == nil
}

// try calls the call's function. A panic is its error, so that it does not end the others.
func (w *writer) try(c *call) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &executor.PanicError{Value: v}
		}
	}()
	return c.fn(&querier{stmt: w.stmt})
}

func (w *writer) exec(text string) error {
	s, err := w.stmt(text)
	if err == nil {
		_, err = s.exec(nil)
	}
	return err
}

// stmt prepares a statement once.
func (w *writer) stmt(text string) (statement, error) {
	if s := w.stmts[text]; s != nil {
		return s, nil
	}
	s, err := prepare(w.driver, text)
	if err != nil {
		return nil, err
	}
	w.stmts[text] = s
	return s, nil
}

// A querier runs statements in a transaction: the writer's, or a caller's.
type querier struct {
	stmt func(text string) (statement, error)
}

// exec runs a statement and returns how many rows it changed.
func (q *querier) exec(text string, args ...any) (int64, error) {
	s, err := q.stmt(text)
	if err != nil {
		return 0, err
	}
	return s.exec(args)
}

func (q *querier) query(text string, args ...any) (sqlrow.Rows, error) {
	s, err := q.stmt(text)
	if err != nil {
		return nil, err
	}
	return s.query(args)
}

// row reads the one row of a statement.
func (q *querier) row(text string, args []any, dest ...any) error {
	rows, err := q.query(text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return cmp.Or(rows.Err(), sql.ErrNoRows)
	}
	return rows.Scan(dest...)
}
