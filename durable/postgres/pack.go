package postgres

import (
	"context"
	"fmt"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// Pack takes jobs from the store and puts a parcel in their place. A job that another transaction has locked stays.
func (s *Store) Pack(ctx context.Context, r store.PackRequest) (int, error) {
	n, err := do(ctx, together(s.calls), func(q querier) (int, error) {
		jobs, err := sqlrow.ScanAll(q.query(ctx, selectJob+"where id = any($1::uuid[]) order by key, id for update skip locked", uuids(r.Jobs)))
		if err != nil {
			return 0, err
		}
		now, err := serverTime(ctx, q)
		if err != nil {
			return 0, err
		}
		there := make(map[durable.ID]*durable.Job, len(jobs))
		for i := range jobs {
			there[jobs[i].ID] = &jobs[i]
		}
		p := transition.NewPacking(r)
		for _, id := range r.Jobs {
			j := there[id]
			if j == nil || !p.Takes(j) {
				continue
			}
			rows, err := sqlrow.ExportJob(j, "$1", func(statement string) (sqlrow.Rows, error) { return q.query(ctx, statement, uuid(id)) })
			if err != nil {
				return 0, err
			}
			p.Add(rows, now)
			if _, err := removeJob(ctx, q, j); err != nil {
				return 0, err
			}
		}
		n, parcel, err := p.Parcel(now)
		if n > 0 && err == nil {
			err = unpack(ctx, q, []store.Row{{Job: &parcel}})
		}
		return n, err
	})
	return n, explain(err, s.config.User)
}

// Unpack adds the jobs of a parcel.
func (s *Store) Unpack(ctx context.Context, parcel store.Job) error {
	rows, err := transition.Unpacked(parcel)
	if err != nil {
		return err
	}
	_, err = do(ctx, together(s.calls), func(q querier) (none struct{}, err error) {
		if done, err := get(ctx, q, "id = $1", uuid(parcel.ID)); done != nil || err != nil {
			return none, err
		}
		for _, row := range rows {
			there := false
			if row.Job == nil {
				continue
			}
			if err := q.queryRow(ctx, sqlrow.There("$1", "$2"), uuid(row.Job.ID), row.Job.Key).Scan(&there); err != nil {
				return none, err
			}
			if there {
				return none, fmt.Errorf("%w: %s, with key %q", store.ErrThere, row.Job.ID, row.Job.Key)
			}
		}
		if err := unpack(ctx, q, rows); err != nil {
			return none, err
		}
		return none, notifyNodes(ctx, q)
	})
	s.floors.reset()
	return explain(err, s.config.User)
}

// unpack adds rows.
func unpack(ctx context.Context, q querier, rows []store.Row) error {
	i := importer{querier: q, ctx: ctx, tables: make(map[string]*gathered)}
	for _, row := range rows {
		if err := i.take(row); err != nil {
			return err
		}
	}
	return i.end()
}
