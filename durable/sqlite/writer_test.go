package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// adds returns a call that adds a job of that size, and then does more.
func adds(t *testing.T, size int, more func()) *call {
	j := durable.NewJob{ID: durable.NewID(), Kind: "k", Payload: make([]byte, size), Schedule: "once", Attempts: 1}
	return &call{over: t.Context().Done(), done: make(chan struct{}), fn: func(q *querier) error {
		_, err := q.insert([]durable.NewJob{j}, store.Placement{})
		more()
		return err
	}}
}

// group runs calls in one transaction, and says how many jobs there are then.
func group(t *testing.T, s *Store, calls ...*call) int {
	t.Helper()
	s.writer.commit(calls)
	jobs, err := s.List(t.Context(), durable.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return len(jobs)
}

// When the disk is full SQLite undoes all of a transaction. All calls that shared it get an error with that reason.
func TestWriterFullDiskFailsAllCalls(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Limit(64); err != nil { // pages
		t.Fatal(err)
	}
	nothing := func() {}
	calls := []*call{adds(t, 10, nothing), adds(t, 1<<20, nothing), adds(t, 10, nothing)}
	if n := group(t, s, calls...); n != 0 {
		t.Errorf("%d jobs are there", n)
	}
	for i, c := range calls {
		if c.err == nil || !strings.Contains(c.err.Error(), "full") || strings.Contains(c.err.Error(), "no ") {
			t.Errorf("call %d: %v", i, c.err)
		}
	}
	if n := group(t, s, adds(t, 10, nothing), adds(t, 10, nothing)); n != 2 {
		t.Errorf("%d of 2 jobs are there afterwards", n)
	}
}

// Of a call that panics nothing is left; the others are not disturbed.
func TestWriterUndoesPanic(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	nothing := func() {}
	calls := []*call{adds(t, 10, nothing), adds(t, 10, func() { panic("boom") }), adds(t, 10, nothing)}
	if n := group(t, s, calls...); n != 2 {
		t.Errorf("%d jobs are there of 2", n)
	}
	if calls[0].err != nil || calls[1].err == nil || calls[2].err != nil {
		t.Errorf("errors are %v, %v, %v", calls[0].err, calls[1].err, calls[2].err)
	}
}

// Of a call that fails while no other shares its transaction nothing is left.
func TestWriterUndoesLoneCall(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	lone := adds(t, 10, func() { panic("boom") })
	if n := group(t, s, lone); n != 0 || lone.err == nil {
		t.Errorf("%d jobs are there, error %v", n, lone.err)
	}
}

// A call whose transaction can't be committed gets the error.
func TestWriterReportsFailedCommit(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, text := range []string{"pragma foreign_keys = on", "create table parent (id integer primary key)",
		"create table child (parent integer references parent deferrable initially deferred)"} {
		if _, err := s.writer.conn.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	orphan := func(q *querier) error { _, err := q.exec("insert into child values (1)"); return err }
	if err := s.writer.do(t.Context(), orphan); err == nil {
		t.Error("it is said to be committed")
	}
	n := -1
	if err := s.read.QueryRowContext(t.Context(), "select count(*) from child").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows are there: %v", n, err)
	}
}

// hasty is a context that closes Done before its Err says why.
type hasty struct{ context.Context }

func (hasty) Done() <-chan struct{} { c := make(chan struct{}); close(c); return c }

// A call whose context has ended, if that has no error yet, is not reported as committed.
func TestWriterContextThatEndsWithoutError(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	known := make(chan struct{})
	err = s.writer.do(hasty{t.Context()}, func(*querier) error { <-known; return nil })
	close(known)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// mute is a context that has ended, and panics when it is asked how.
type mute struct{ context.Context }

func (mute) Err() error { panic("mute") }

// What a context panics with is its caller's: the writer, which serves all, goes on.
func TestWriterContextPanicsForItsCaller(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ctx := range map[string]context.Context{"mute": mute{over}, "nil": nil} {
		func() {
			defer func() {
				if v := recover(); v == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			s.PauseKind(ctx, "k", true)
		}()
	}
	if kinds, err := s.PausedKinds(t.Context()); len(kinds) > 0 || err != nil {
		t.Errorf("paused are %v, %v", kinds, err)
	}
	if err := s.PauseKind(t.Context(), "k", true); err != nil {
		t.Error(err)
	}
}
