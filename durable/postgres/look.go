package postgres

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// report notes what a node reports. The order keeps two nodes from waiting for each other.
const report = `with details as (
		update executor_node set info = $2 where id = $1 and $2 <> '' and lease_until > 0
	)
	insert into executor_progress (job, epoch, done, total, note, noted)
	select * from unnest($3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::bigint[]) as p (job, epoch, done, total, note, noted)
	order by job
	on conflict (job) do update set epoch = excluded.epoch, done = excluded.done, total = excluded.total,
		note = excluded.note, noted = excluded.noted where executor_progress.epoch <= excluded.epoch`

// Report keeps what a node reports.
func (s *Store) Report(ctx context.Context, node string, r store.Report) error {
	n := len(r.Progress)
	ids, notes := make([]pgtype.UUID, n), make([]string, n)
	epochs, done, total, noted := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i, p := range r.Progress {
		ids[i], notes[i] = uuid(p.Job), p.Note
		epochs[i], done[i], total[i], noted[i] = p.Epoch, p.Done, p.Total, sqlrow.Micros(p.At)
	}
	return exec(ctx, each(s.db), report, node, sqlrow.Details(r.Details), ids, epochs, done, total, notes, noted)
}

// Nodes returns the nodes that are alive.
func (s *Store) Nodes(ctx context.Context) ([]durable.NodeInfo, error) {
	return sqlrow.ScanNodes(s.calls.QueryContext(ctx, "select "+sqlrow.NodeColumns+" from executor_node where lease_until > 0"))
}

// Progress returns the last reports of running jobs.
func (s *Store) Progress(ctx context.Context, ids []durable.ID) ([]durable.RunProgress, error) {
	return sqlrow.ScanProgress(s.calls.QueryContext(ctx, sqlrow.ReadProgress+" where p.job = any($1::uuid[])", uuids(ids)))
}

// Latest returns the latest runs of all jobs.
func (s *Store) Latest(ctx context.Context, f durable.LatestFilter) ([]durable.JobRun, error) {
	statement, args := latest(f)
	return sqlrow.ScanLatest(s.calls.QueryContext(ctx, statement, args...))
}

func latest(f durable.LatestFilter) (statement string, args []any) {
	return sqlrow.Latest(f, func(n int) string { return "$" + strconv.Itoa(n) },
		func(id durable.ID) any { return uuid(id) })
}

// Output returns the output of a run.
func (s *Store) Output(ctx context.Context, id durable.ID, seq int64) (data []byte, err error) {
	err = s.calls.QueryRowContext(ctx, "select output from executor_run where job = $1 and seq = $2", uuid(id), seq).Scan(&data)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, durable.ErrNotFound
	case err != nil:
		return nil, err
	}
	return data, nil
}

// Dead returns the jobs that are dead.
func (s *Store) Dead(ctx context.Context, limit int) ([]store.DeadJob, error) {
	return sqlrow.ScanDead(s.calls.QueryContext(ctx, sqlrow.ReadDead+"$1", limit))
}
