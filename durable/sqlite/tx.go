package sqlite

import (
	"context"
	"database/sql"

	"github.com/executor-go/executor/durable"
)

// GetTx gives a job as the caller's transaction sees it. To lock it there is
// nothing to do if the transaction began as a writer, as those of DSN do.
func (s *Store) GetTx(ctx context.Context, tx *sql.Tx, id durable.ID) (durable.Job, error) {
	j, err := inTx(ctx, tx, func(q *querier) (*durable.Job, error) { return q.get("where id = ?", id[:]) })
	if err == nil && j == nil {
		err = durable.ErrNotFound
	}
	return deref(j), err
}
