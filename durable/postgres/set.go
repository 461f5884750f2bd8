package postgres

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/internal/transition"
)

// errConflict rolls back the transaction of insertSet.
var errConflict = errors.New("durable/postgres: a key is taken by another sort of job")

// insertSet is Insert for several jobs of which some have keys: one transaction, of the same few statements however
// many jobs there are. They are added in the order of their keys, so that programs which add the same ones at the same
// time wait for each other, and not in a circle.
func (s *Store) insertSet(ctx context.Context, jobs []durable.NewJob) ([]durable.InsertResult, error) {
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(jobs[a].Key, jobs[b].Key) })
	sorted := make([]durable.NewJob, len(jobs))
	for i, of := range order {
		sorted[i] = jobs[of]
	}
	var placed []durable.InsertResult
	err := s.inCall(ctx, func(tx querier) (err error) {
		placed, err = insertAll(ctx, tx, sorted)
		return err
	})
	if err != nil && err != errConflict {
		return nil, err
	}
	s.lowerTo(placed)
	results := make([]durable.InsertResult, len(jobs))
	for i, of := range order {
		results[of] = placed[i]
	}
	return results, nil
}

// insertAll does the work of insertSet. If a key is taken by another sort of job it returns errConflict, and the
// results as they are without it.
func insertAll(ctx context.Context, tx querier, jobs []durable.NewJob) ([]durable.InsertResult, error) {
	if err := freeKeys(ctx, tx, jobs); err != nil {
		return nil, err
	}
	placed, missing, err := insert(ctx, tx, jobs, durable.Placement{}, false, true)
	was := make([]durable.Job, len(jobs)) // what is there in place of each
	changed := make([]*durable.Job, 0, missing)
	var now time.Time
	conflict := false
	for try := 0; err == nil && missing > 0; try++ {
		if try == 10 {
			return nil, errBusyKeys
		}
		var there map[any]*durable.Job
		if there, now, err = lockAll(ctx, tx, jobs, placed); err != nil {
			return nil, err
		}
		var again []int // of which the job was freed or deleted meanwhile
		for i, n := range jobs {
			if !placed[i].Now.IsZero() {
				continue
			}
			j, repeated := there[n.ID]
			if repeated {
				was[i] = *j
			} else {
				if j = there[n.Key]; j == nil {
					again = append(again, i)
					continue
				}
				was[i] = *j
				conflict = conflict || transition.Conflicts(j, n)
				if placed[i].Changed = transition.Amend(j, n, now); placed[i].Changed {
					changed = append(changed, j)
				}
			}
			placed[i].Job, placed[i].Now, placed[i].KindTaken = *j, now, j.Kind != n.Kind
		}
		missing, err = insertAgain(ctx, tx, jobs, placed, again)
	}
	switch {
	case err != nil:
		return nil, err
	case conflict:
		for i, n := range jobs {
			placed[i] = durable.InsertResult{Job: was[i], Now: now, KindTaken: was[i].Kind != "" && was[i].Kind != n.Kind}
		}
		return placed, errConflict
	case len(changed) > 0:
		err = putAll(ctx, tx, changed, now)
	}
	if err == nil && slices.ContainsFunc(placed, func(p durable.InsertResult) bool { return !p.Changed }) {
		err = tx.exec(ctx, follow)
	}
	return placed, err
}

// insertAgain inserts those of the jobs, and returns how many are there already.
func insertAgain(ctx context.Context, tx querier, jobs []durable.NewJob, placed []durable.InsertResult,
	again []int) (missing int, err error) {
	if len(again) == 0 {
		return 0, nil
	}
	some := make([]durable.NewJob, len(again))
	for k, i := range again {
		some[k] = jobs[i]
	}
	results, missing, err := insert(ctx, tx, some, durable.Placement{}, false, true)
	if err == nil {
		for k, i := range again {
			placed[i] = results[k]
		}
	}
	return missing, err
}

// lockAll reads and locks the jobs that are there in place of those that were not placed, and returns them by ID, for
// what was inserted before, or by key.
func lockAll(ctx context.Context, tx querier, jobs []durable.NewJob,
	placed []durable.InsertResult) (map[any]*durable.Job, time.Time, error) {
	var ids []pgtype.UUID
	var keys []string
	for i, n := range jobs {
		if placed[i].Now.IsZero() {
			ids, keys = append(ids, uuid(n.ID)), append(keys, n.Key)
		}
	}
	now, err := serverTime(ctx, tx)
	if err != nil {
		return nil, now, err
	}
	rows, err := tx.query(ctx, selectJob+"where id = any($1::uuid[]) or key = any($2::text[]) order by key, id for update", ids, keys)
	if err != nil {
		return nil, now, err
	}
	defer rows.Close()
	there := make(map[any]*durable.Job, len(ids))
	for rows.Next() {
		j, err := sqlrow.Scan(rows)
		if err != nil {
			return nil, now, err
		}
		there[j.ID] = &j
		if j.Key != "" {
			there[j.Key] = &j
		}
	}
	return there, now, rows.Err()
}

// updateJobs writes all columns of jobs that are there, which are the elements of a list in JSON.
var updateJobs = func() string {
	var b strings.Builder
	for _, name := range sqlrow.Names[1:] {
		b.WriteString(", " + name + " = u." + name)
	}
	return "update executor_job j set " + b.String()[2:] +
		" from pg_catalog.jsonb_populate_recordset(null::executor_job, $1::text::jsonb) u where j.id = u.id"
}()

// putAll is put for several jobs.
func putAll(ctx context.Context, tx querier, jobs []*durable.Job, now time.Time) error {
	rows := make([]map[string]any, len(jobs))
	soon := false
	for i, j := range jobs {
		row := make(map[string]any, len(sqlrow.Names))
		for k, v := range sqlrow.Values(j, j.ID.String()) {
			if data, ok := v.([]byte); ok {
				v = nil
				if data != nil {
					v = `\x` + hex.EncodeToString(data)
				}
			}
			row[sqlrow.Names[k]] = v
		}
		rows[i] = row
		soon = soon || due(j, now)
	}
	text, err := json.Marshal(rows)
	if err == nil {
		err = tx.exec(ctx, updateJobs, string(text))
	}
	if err == nil && soon {
		err = notifyNodes(ctx, tx)
	}
	return err
}

// due reports whether nodes have to do something about a job soon.
func due(j *durable.Job, now time.Time) bool {
	return j.Pending == durable.PendingCancel ||
		j.State == durable.Waiting && sqlrow.Micros(j.Due) <= sqlrow.Micros(now)+near
}
