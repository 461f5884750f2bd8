package sqlite

import (
	"context"
	"fmt"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// Pack takes jobs from the store and puts a parcel in their place.
func (s *Store) Pack(ctx context.Context, r store.PackRequest) (int, error) {
	return do(ctx, s.writer, func(q *querier) (int, error) {
		p := transition.NewPacking(r)
		for _, id := range r.Jobs {
			j, err := q.get("where id = ?", id[:])
			if err != nil {
				return 0, err
			}
			if j == nil || !p.Takes(j) {
				continue
			}
			rows, err := sqlrow.ExportJob(j, "?", func(statement string) (sqlrow.Rows, error) { return q.query(statement, id[:]) })
			if err != nil {
				return 0, err
			}
			p.Add(rows, now())
			if err := q.remove(j); err != nil {
				return 0, err
			}
		}
		n, parcel, err := p.Parcel(now())
		if n > 0 && err == nil {
			err = q.unpack(store.Row{Job: &parcel})
		}
		return n, err
	})
}

// Unpack adds the jobs of a parcel.
func (s *Store) Unpack(ctx context.Context, parcel store.Job) error {
	rows, err := transition.Unpacked(parcel)
	if err != nil {
		return err
	}
	_, err = do(ctx, s.writer, func(q *querier) (none struct{}, err error) {
		if done, err := q.get("where id = ?", parcel.ID[:]); done != nil || err != nil {
			return none, err
		}
		for _, row := range rows {
			if row.Job != nil {
				there := false
				if err := q.row(sqlrow.There("?", "?"), []any{row.Job.ID[:], row.Job.Key}, &there); err != nil {
					return none, err
				}
				if there {
					return none, fmt.Errorf("%w: %s, with key %q", store.ErrThere, row.Job.ID, row.Job.Key)
				}
			}
			if err := q.unpack(row); err != nil {
				return none, err
			}
		}
		return none, nil
	})
	return err
}

// unpack adds a row.
func (q *querier) unpack(row store.Row) error {
	return sqlrow.Imported(row, func(id durable.ID) any { return id[:] }, q.add)
}
