package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// Export calls each for every row of the store, in one read transaction. Programs go on meanwhile; the file with the
// ending -wal grows by what they write.
func (s *Store) Export(ctx context.Context, each func(store.Row) error) error {
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer func() {
		if _, err := conn.ExecContext(context.WithoutCancel(ctx), "rollback"); err != nil {
			conn.Raw(func(any) error { return driver.ErrBadConn }) // or others would read in this transaction
		}
	}()
	if _, err := conn.ExecContext(ctx, "begin deferred"); err != nil {
		return explain(err)
	}
	return explain(sqlrow.Export(func(statement string) (sqlrow.Rows, error) { return conn.QueryContext(ctx, statement) }, each))
}

// Import adds rows in one transaction. No other call can write meanwhile, so a node that uses the file may lose its
// lease: end it first.
func (s *Store) Import(ctx context.Context, rows iter.Seq2[store.Row, error], add bool) (store.ImportResult, error) {
	// It returns when the writer does not use rows any more.
	return do(context.WithoutCancel(ctx), s.writer, func(q *querier) (store.ImportResult, error) {
		i := importer{querier: q, add: add, now: now(), left: make(map[durable.ID]bool)}
		empty := false
		if err := q.row(sqlrow.Empty, nil, &empty); err != nil {
			return i.ImportResult, err
		}
		if !empty && !add {
			return i.ImportResult, store.ErrNotEmpty
		}
		for row, err := range rows {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = i.put(row)
			}
			if err != nil {
				return i.ImportResult, err
			}
		}
		return i.ImportResult, nil
	})
}

// An importer is an Import in a transaction.
type importer struct {
	*querier
	store.ImportResult
	add  bool
	now  time.Time
	left map[durable.ID]bool // jobs that were there
}

// into returns the statement that adds a row to a table.
func into(t sqlrow.Table, rest string) string {
	return "insert into " + t.Name + " (" + strings.Join(t.Columns, ", ") + ") values (?" + strings.Repeat(", ?", len(t.Columns)-1) + ")" + rest
}

var (
	importRun    = into(sqlrow.Runs, "")
	importStep   = into(sqlrow.Steps, "")
	importParent = into(sqlrow.Parents, "")
	importAfter  = into(sqlrow.Afters, "")
	importPause  = into(sqlrow.Paused, " on conflict do nothing")
	importBucket = into(sqlrow.Buckets, " on conflict (kind) do update set filled = max(filled, excluded.filled)")
	importTurn   = into(sqlrow.Turns, " on conflict (kind, priority, part) do update set line = min(line, excluded.line)")
	importAct    = into(sqlrow.ActRows, "")
)

const actThere = `select exists (select 1 from executor_act
	where noted = ? and who = ? and action = ? and job = ? and key = ? and reason = ? and answer = ?)`

// put adds a row, unless it belongs to a job that was there.
func (i *importer) put(row store.Row) (err error) {
	switch {
	case row.Job != nil:
		return i.job(row.Job)
	case row.After != nil && !i.left[row.After.Job]:
		return i.after(row.After)
	case row.Run != nil && !i.left[row.Run.Job]:
		_, err = i.exec(importRun, sqlrow.KeptRunValues(row.Run, row.Run.Job[:])...)
	case row.Step != nil && !i.left[row.Step.Job]:
		_, err = i.exec(importStep, sqlrow.StepValues(row.Step, row.Step.Job[:])...)
	case row.Paused != nil:
		_, err = i.exec(importPause, row.Paused.Kind)
	case row.Bucket != nil:
		_, err = i.exec(importBucket, sqlrow.BucketValues(row.Bucket)...)
	case row.Turn != nil:
		_, err = i.exec(importTurn, sqlrow.TurnValues(row.Turn)...)
	case row.Act != nil:
		values, there := sqlrow.ActValues(row.Act, row.Act.Job[:]), false
		if i.add {
			err = i.row(actThere, values, &there)
		}
		if err == nil && !there {
			_, err = i.exec(importAct, values...)
		}
	}
	return err
}

// job adds a job, unless it is there.
func (i *importer) job(of *durable.Job) error {
	if i.add {
		there := false
		if err := i.row("select exists (select 1 from executor_job where id = ?)", []any{of.ID[:]}, &there); err != nil {
			return err
		}
		if there {
			i.left[of.ID] = true
			i.There++
			return nil
		}
	}
	if of.Key != "" {
		var other []byte
		switch err := i.row("select id from executor_job where key = ?", []any{of.Key}, &other); {
		case err == nil:
			return store.KeyInUse(of.ID, durable.ID(other), of.Key)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
	}
	j := *of
	if i.Jobs++; j.State.Held() {
		i.Freed++
		if run, ok := transition.Reap(&j, i.now); ok {
			if err := i.addRun(&run); err != nil {
				return err
			}
		}
		if j.State == durable.Dead {
			i.Dead++
		}
	}
	if _, err := i.exec(insertJob, sqlrow.Values(&j, j.ID[:])...); err != nil {
		return fmt.Errorf("job %v: %w", j.ID, err)
	}
	return i.tag(j.ID, j.Tags)
}

// after gives a job its parents, and settles it if these have ended.
func (i *importer) after(a *store.JobAfter) error {
	c := store.ParentCounts{Total: len(a.Parents), Need: a.Need, Anyway: a.Anyway}
	for ord, p := range a.Parents {
		if _, err := i.exec(markParent, p.ID[:]); err != nil {
			return err
		}
		if !p.State.Done() {
			var state int64
			switch err := i.row("select state from executor_job where id = ?", []any{p.ID[:]}, &state); {
			case errors.Is(err, sql.ErrNoRows):
				return store.LostParent(a.Job, p.ID)
			case err != nil:
				return err
			}
			if p.State = durable.Waiting; durable.State(state).Done() { // here, or when it was freed
				p.State = durable.State(state)
			}
		}
		if p.State.Done() {
			c.Add(p.State, 1)
		}
		if _, err := i.exec(importParent, a.Job[:], ord, p.ID[:], int64(p.State)); err != nil {
			return err
		}
	}
	if _, err := i.exec(importAfter, a.Job[:], c.Total, c.Succeeded, c.Failed, c.Need, c.Anyway); err != nil {
		return err
	}
	j, changed, err := i.settle(a.Job, store.ParentCounts{}, i.now)
	if err == nil && changed {
		_, err = i.ended(i.now, j.ID)
	}
	return err
}
