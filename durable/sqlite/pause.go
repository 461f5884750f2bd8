package sqlite

import (
	"context"

	"github.com/executor-go/executor/durable/internal/sqlrow"
)

const selectPaused = "select kind from executor_pause"

// PauseKind pauses a kind, or ends its pause.
func (s *Store) PauseKind(ctx context.Context, kind string, pause bool) error {
	statement := "delete from executor_pause where kind = ?"
	if pause {
		statement = "insert into executor_pause (kind) values (?) on conflict do nothing"
	}
	return s.writer.do(ctx, func(q *querier) error {
		_, err := q.exec(statement, kind)
		return err
	})
}

// PausedKinds returns the kinds that are paused.
func (s *Store) PausedKinds(ctx context.Context) ([]string, error) {
	return sqlrow.Strings(s.read.QueryContext(ctx, selectPaused))
}
