package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// pruneLimit is the most jobs of a state that one call of Prune removes, runs of each verdict, and notes that it looks
// at. It looks at pruneWindow jobs in a transaction, as no other call writes meanwhile, and makes up to pruneLooks of
// these for a state.
const pruneLimit, pruneWindow, pruneLooks = 2000, 500, 20

// oldJobs selects jobs by the index of those that are over, and whether they are to stay, since a child waits for them
// or runs. SQLite does not infer that a job in one of these states is in an index of all of them: without the condition
// of the index in the statement it reads all jobs.
var oldJobs = sqlrow.SQL(fmt.Sprintf(`select id, tags, family, updated, (family & {HasChildren}) <> 0 and (
		(select 1 from executor_parent where parent = o.id limit 1 offset %[1]d) is not null or exists (
			select 1 from (select child from executor_parent where parent = o.id limit %[1]d) p
			cross join executor_job c where c.id = p.child and c.state not in {Over}))
	from (select id, tags, family, updated from executor_job
		where state = ? and state >= {Succeeded} and state <= {Canceled} and updated >= ? and updated < ? order by updated limit ? offset ?) o`,
	sqlrow.FamilyMost))

// pruneRuns removes runs by the index of the latest. An imported run, or one that finished while the clock was ahead, is
// not where its age would have it in the table.
const pruneRuns = `delete from executor_run where rowid in
	(select rowid from executor_run where verdict = ? and finished < ? limit ?)`

// Prune removes jobs and runs whose retention has ended, in some transactions.
func (s *Store) Prune(ctx context.Context, r durable.Retention) (removed int, err error) {
	err = s.writer.do(ctx, func(q *querier) error {
		for _, table := range sqlrow.Notes {
			if err := q.forget(s.pruned.Notes, table); err != nil {
				return err
			}
		}
		return q.reline(&s.pruned.parts, now())
	})
	if err != nil {
		return 0, err
	}
	for state, keep := range sqlrow.Kept(r) {
		for gone, looks := 0, 0; gone < pruneLimit && looks < pruneLooks; looks++ {
			l, err := do(ctx, s.writer, func(q *querier) (looked, error) {
				place := s.pruned.Jobs[state]
				l, err := q.pruneJobs(state, micros(now().Add(-keep)), &place)
				s.pruned.Jobs[state] = place
				return l, err
			})
			if err != nil {
				return removed, err
			}
			removed, gone = removed+l.removed+l.runs, gone+l.removed
			if !l.more {
				break
			}
		}
	}
	if r.History == 0 {
		return removed, nil
	}
	runs, err := do(ctx, s.writer, func(q *querier) (runs int, err error) {
		for _, verdict := range store.Verdicts() {
			n, err := q.exec(pruneRuns, int64(verdict), micros(now().Add(-r.History)), pruneLimit)
			if err != nil {
				return runs, err
			}
			runs += int(n)
		}
		return runs, nil
	})
	return removed + runs, err
}

// looked is what came of a look at jobs: how many of them were removed, and how many runs of these, and whether there
// are more to look at.
type looked struct {
	removed, runs int
	more          bool
}

// pruneJobs looks at jobs of a state that have ended before a time, from a place on, and removes those that are not to
// stay.
func (q *querier) pruneJobs(state durable.State, before int64, place *sqlrow.Place) (l looked, err error) {
	rows, err := q.query(oldJobs, int64(state), place.From(), before, pruneWindow, place.Skip)
	if err != nil {
		return l, err
	}
	defer rows.Close()
	seen := 0
	var gone []durable.Job // nothing but what removeRest needs
	for ; rows.Next(); seen++ {
		var id []byte
		var tags string
		var family, updated int64
		var stays bool
		if err := rows.Scan(&id, &tags, &family, &updated, &stays); err != nil {
			return l, err
		}
		if stays {
			place.Leave(updated, 1)
			continue
		}
		known, err := sqlrow.ID(id)
		if err != nil {
			return l, err
		}
		gone = append(gone, durable.Job{ID: known, Tags: sqlrow.ParseTags(tags), HasParents: sqlrow.HasParents(family)})
	}
	if err := cmp.Or(rows.Err(), rows.Close()); err != nil {
		return l, err
	}
	if l.more = seen == pruneWindow; !l.more {
		*place = sqlrow.Place{} // the next call begins anew
	}
	for i := range gone {
		if _, err := q.exec("delete from executor_job where id = ?", gone[i].ID[:]); err != nil {
			return l, err
		}
		runs, err := q.removeRest(gone[i])
		if err != nil {
			return l, err
		}
		l.removed, l.runs = l.removed+1, l.runs+runs
	}
	return l, nil
}

// forget looks at what is noted of runs behind a job, and forgets those that are over: the node that had them was lost,
// or has not said so.
func (q *querier) forget(behind map[string]durable.ID, table string) error {
	from, last := behind[table], sqlrow.LastID
	var id []byte
	switch err := q.row(sqlrow.LastNote(table, "?", pruneLimit), []any{from[:]}, &id); {
	case errors.Is(err, sql.ErrNoRows):
		delete(behind, table) // the next call begins anew
	case err != nil:
		return err
	default:
		if last, err = sqlrow.ID(id); err != nil {
			return err
		}
		behind[table] = last
	}
	_, err := q.exec(sqlrow.ForgetNotes(table, "?", "?"), from[:], last[:])
	return err
}

// removeRest removes what there is of a job beside its row, and returns how many runs it had.
func (q *querier) removeRest(j durable.Job) (runs int, err error) {
	n, err := q.exec("delete from executor_run where job = ?", j.ID[:])
	if err == nil {
		_, err = q.exec(removeSteps, j.ID[:])
	}
	if err == nil {
		err = q.untag(j.ID, j.Tags)
	}
	if err == nil && j.HasParents {
		err = q.orphan(j.ID)
	}
	return int(n), err
}
