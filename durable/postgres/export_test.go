package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// Heartbeat is the statement of a heartbeat.
var Heartbeat = heartbeat

// ListJobs returns the statement that lists jobs.
var ListJobs = listJobs

// Latest returns the statement that reads the latest runs.
var Latest = latest

// Migrate makes the tables or brings them up to date.
var Migrate = migrate

// AddMigration adds a migration to those that there are, as a later version has it, and returns a function that takes
// it back. No other test may run.
func AddMigration(statements string) (undo func()) {
	migrations = append(migrations, statements)
	return func() { migrations = migrations[:len(migrations)-1] }
}

// PruneJobs returns the statement that removes jobs of a state.
var PruneJobs = pruneJobs

// RelineJobs is the statement that finds partitions without a place in line.
var RelineJobs = relineJobs

// PruneRuns is the statement that removes runs from the history.
const PruneRuns = pruneRuns

// SetSilence sets how long a session that listens may be silent, and how long it may
// take to answer, and returns a function that sets them as they were.
func SetSilence(s, a time.Duration) (restore func()) {
	was, had := silence, answer
	silence, answer = s, a
	return func() { silence, answer = was, had }
}

// Calls returns the connections for what users ask.
func Calls(s *Store) *sql.DB { return s.calls }

// ListChildren is the statement of Children.
var ListChildren = listChildren

// Explain adds to an error what to do about it.
var Explain = explain

// Notify is the expression that wakes nodes.
const Notify = notify

// InTx runs fn in a transaction as the store does for itself, with what runs a
// statement in it.
func InTx(ctx context.Context, db *sql.DB, fn func(exec func(statement string, args ...any) error) error) error {
	return together(db)(ctx, func(tx querier) error {
		return fn(func(statement string, args ...any) error { return tx.exec(ctx, statement, args...) })
	})
}

// Share is what is done before each connection.
var Share = refreshed

// ClaimPlenty is the statement of a claim, and ClaimBounded that of one with a limit for a kind.
var ClaimPlenty, ClaimBounded = claimDefault.plenty, claimDefault.bounded

// ClaimQueued is that of a queue, and HeartbeatQueues that of a heartbeat that looks in queues.
var ClaimQueued, HeartbeatQueues = claimQueued.plenty, heartbeatQueues

// Floors returns those of the next look for jobs of a kind.
func (s *Store) Floors(kind string) (high, normal, low []int64) {
	return s.floors.of([]string{kind})
}

// Empty removes what is in the tables, and what the store knows of it.
func Empty(ctx context.Context, s *Store) error {
	tables, err := sqlrow.Strings(s.db.QueryContext(ctx, `select relname from pg_catalog.pg_class
		where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname like 'executor_%' and relname <> 'executor_schema'`))
	if err != nil {
		return err
	}
	for _, table := range tables {
		if _, err := s.db.ExecContext(ctx, "delete from "+table); err != nil {
			return err
		}
	}
	s.limits.Clear()
	s.floors = floors{}
	s.pruned.Pruned, s.pruned.parts = sqlrow.NewPruned(), partName{}
	return nil
}

// Statements returns how many statements it takes to insert jobs.
func Statements(ctx context.Context, s *Store, jobs []durable.NewJob) (int, error) {
	return call(ctx, s, func(tx querier, _ bool) (int, error) {
		counted := &counter{tx, 0}
		_, err := insertAll(ctx, counted, jobs, nil, store.Placement{}, true, false)
		return counted.n, err
	})
}

type counter struct {
	querier
	n int
}

func (c *counter) exec(ctx context.Context, statement string, args ...any) error {
	c.n++
	return c.querier.exec(ctx, statement, args...)
}

func (c *counter) query(ctx context.Context, statement string, args ...any) (rows, error) {
	c.n++
	return c.querier.query(ctx, statement, args...)
}

func (c *counter) queryRow(ctx context.Context, statement string, args ...any) sqlrow.Scanner {
	c.n++
	return c.querier.queryRow(ctx, statement, args...)
}

// Seen has the store note that a later timeline was seen of each cluster that it knows.
func Seen(s *Store, timeline uint64) {
	s.lines.mu.Lock()
	defer s.lines.mu.Unlock()
	for cluster := range s.lines.latest {
		s.lines.latest[cluster] = timeline
	}
}

// ClaimLimited is the statement of a claim with limits.
var ClaimLimited = claimDefault.limited

// CommitStatements returns how many statements it takes to commit.
func CommitStatements(ctx context.Context, s *Store, b store.CommitRequest) (int, error) {
	return do(ctx, s.direct, func(q querier) (int, error) {
		counted := &counter{q, 0}
		_, _, err := s.commitAll(ctx, counted, b, patient)
		return counted.n, err
	})
}

// Settling are the statements that confirm claims and commit outcomes.
var Settling = []string{patient.confirm, patient.commit, picky.confirm, picky.commit, whole.commit}
