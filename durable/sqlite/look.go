package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// Report keeps what a node reports.
func (s *Store) Report(ctx context.Context, node string, r store.Report) error {
	return s.writer.do(ctx, func(q *querier) error {
		if r.Details != nil {
			if _, err := q.exec("update executor_node set info = ? where id = ?", sqlrow.Details(r.Details), node); err != nil {
				return err
			}
		}
		for _, p := range r.Progress {
			if _, err := q.exec(`insert into executor_progress (job, epoch, done, total, note, noted) values (?, ?, ?, ?, ?, ?)
				on conflict (job) do update set epoch = excluded.epoch, done = excluded.done, total = excluded.total,
					note = excluded.note, noted = excluded.noted where epoch <= excluded.epoch`,
				p.Job[:], p.Epoch, p.Done, p.Total, p.Note, micros(p.At)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Nodes returns the nodes that are alive.
func (s *Store) Nodes(ctx context.Context) ([]durable.NodeInfo, error) {
	return sqlrow.ScanNodes(s.read.QueryContext(ctx, "select "+sqlrow.NodeColumns+" from executor_node"))
}

// most is how many jobs one statement of Progress looks for.
const most = 500

// Progress returns the last reports of running jobs.
func (s *Store) Progress(ctx context.Context, ids []durable.ID) ([]durable.RunProgress, error) {
	var all []durable.RunProgress
	for len(ids) > 0 {
		k := min(len(ids), most)
		args := make([]any, k)
		for i := range k {
			args[i] = ids[i][:]
		}
		found, err := sqlrow.ScanProgress(s.read.QueryContext(ctx,
			sqlrow.ReadProgress+" where p.job in (?"+strings.Repeat(", ?", k-1)+")", args...))
		if err != nil {
			return nil, err
		}
		all, ids = append(all, found...), ids[k:]
	}
	return all, nil
}

// Latest returns the latest runs of all jobs.
func (s *Store) Latest(ctx context.Context, f durable.LatestFilter) ([]durable.JobRun, error) {
	statement, args := latest(f)
	return sqlrow.ScanLatest(s.read.QueryContext(ctx, statement, args...))
}

func latest(f durable.LatestFilter) (statement string, args []any) {
	return sqlrow.Latest(f, func(n int) string { return "?" + strconv.Itoa(n) }, func(id durable.ID) any { return id[:] })
}

// Output returns the output of a run.
func (s *Store) Output(ctx context.Context, id durable.ID, seq int64) (data []byte, err error) {
	err = s.read.QueryRowContext(ctx, "select output from executor_run where job = ? and seq = ?", id[:], seq).Scan(&data)
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
	return sqlrow.ScanDead(s.read.QueryContext(ctx, sqlrow.ReadDead+"?", limit))
}
