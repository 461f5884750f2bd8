package postgres

import (
	"context"

	"github.com/executor-go/executor/durable/internal/sqlrow"
)

const selectPaused = "select kind from executor_pause"

// PauseKind pauses a kind, or ends its pause.
func (s *Store) PauseKind(ctx context.Context, kind string, pause bool) error {
	statement := "delete from executor_pause where kind = $1"
	if pause {
		statement = "insert into executor_pause (kind) values ($1) on conflict do nothing"
	}
	return exec(ctx, each(s.calls), statement, kind)
}

// PausedKinds returns the kinds that are paused.
func (s *Store) PausedKinds(ctx context.Context) ([]string, error) {
	return sqlrow.Strings(s.db.QueryContext(ctx, selectPaused))
}
