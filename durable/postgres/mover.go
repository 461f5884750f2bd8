package postgres

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// Export calls each for every row of the store, in one read transaction, also on a standby. Programs go on meanwhile.
// As with any long transaction, rows that they update can be vacuumed only when it has ended.
func (s *Store) Export(ctx context.Context, each func(store.Row) error) error {
	tx, err := s.calls.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return explain(err, s.config.User)
	}
	defer tx.Rollback()
	q := standard{tx}
	return explain(sqlrow.Export(func(statement string) (sqlrow.Rows, error) { return q.query(ctx, statement) }, each), s.config.User)
}

// Import adds rows in one transaction, some hundreds with each statement.
func (s *Store) Import(ctx context.Context, rows iter.Seq2[store.Row, error], add bool) (store.ImportResult, error) {
	// The transaction is not tried again, as rows come once.
	r, err := do(ctx, func(ctx context.Context, fn func(q querier) error) error { return transact(ctx, s.calls, fn) },
		func(q querier) (store.ImportResult, error) {
			i := importer{querier: q, ctx: ctx, add: add, left: make(map[durable.ID]bool)}
			err := i.all(rows)
			return i.ImportResult, err
		})
	s.floors.reset()
	return r, explain(err, s.config.User)
}

// An importer is an Import in a transaction. It gathers the rows of one sort.
type importer struct {
	querier
	store.ImportResult
	ctx  context.Context
	add  bool
	now  time.Time
	left map[durable.ID]bool // jobs that were there

	size   int                // of the payloads, results and outputs that are gathered
	jobs   []durable.Job      // that are to be added
	rows   map[string][][]any // what else is to be added, by table
	child  []durable.ID       // the children among these
	parent []durable.ID       // and their parents
}

// importRows is how many rows an Import gathers, and importSize how many bytes of them.
const importRows, importSize = 500, 4 << 20

// all adds all rows.
func (i *importer) all(rows iter.Seq2[store.Row, error]) error {
	empty := false
	err := i.queryRow(i.ctx, sqlrow.Empty).Scan(&empty)
	if err == nil && !empty && !i.add {
		err = store.ErrNotEmpty
	}
	if err == nil {
		i.now, err = serverTime(i.ctx, i)
	}
	if err != nil {
		return err
	}
	i.rows = make(map[string][][]any)
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := i.put(row); err != nil {
			return err
		}
	}
	if err := i.flush(); err != nil {
		return err
	}
	if i.Jobs > 0 {
		return notifyNodes(i.ctx, i)
	}
	return nil
}

// put gathers a row, unless it belongs to a job that was there.
func (i *importer) put(row store.Row) error {
	if row.Job != nil {
		i.jobs = append(i.jobs, *row.Job)
		return i.grown(len(row.Job.Payload) + len(row.Job.Result))
	}
	if len(i.jobs) > 0 {
		if err := i.flush(); err != nil { // so that left is known
			return err
		}
	}
	size := 0
	switch {
	case row.After != nil && !i.left[row.After.Job]:
		i.gatherAfter(row.After)
	case row.Run != nil && !i.left[row.Run.Job]:
		i.gather(sqlrow.Runs, sqlrow.KeptRunValues(row.Run, row.Run.Job.String()))
		size = len(row.Run.Output)
	case row.Step != nil && !i.left[row.Step.Job]:
		i.gather(sqlrow.Steps, sqlrow.StepValues(row.Step, row.Step.Job.String()))
		size = len(row.Step.Result)
	case row.Paused != nil:
		i.gather(sqlrow.Paused, []any{row.Paused.Kind})
	case row.Bucket != nil:
		i.gather(sqlrow.Buckets, sqlrow.BucketValues(row.Bucket))
	case row.Turn != nil:
		i.gather(sqlrow.Turns, sqlrow.TurnValues(row.Turn))
	case row.Act != nil:
		i.gather(sqlrow.ActRows, sqlrow.ActValues(row.Act, row.Act.Job.String()))
	}
	return i.grown(size)
}

func (i *importer) gather(t sqlrow.Table, values []any) {
	i.rows[t.Name] = append(i.rows[t.Name], values)
}

// grown counts what was gathered, and writes it if that is enough.
func (i *importer) grown(size int) error {
	n := len(i.jobs)
	for _, rows := range i.rows {
		n += len(rows)
	}
	if i.size += size; n < importRows && i.size < importSize {
		return nil
	}
	return i.flush()
}

// flush writes what was gathered.
func (i *importer) flush() error {
	i.size = 0
	if err := i.flushJobs(); err != nil {
		return err
	}
	if err := i.flushAfter(); err != nil {
		return err
	}
	for _, t := range []struct {
		sqlrow.Table
		statement string
	}{
		{sqlrow.Runs, importInto(sqlrow.Runs, "", "", "")},
		{sqlrow.Steps, importInto(sqlrow.Steps, "", "", "")},
		{sqlrow.Tagged, importInto(sqlrow.Tagged, "", "", "")},
		{sqlrow.Paused, importInto(sqlrow.Paused, "", "", " on conflict do nothing")},
		{sqlrow.Buckets, importInto(sqlrow.Buckets, ", turn", ", 0", " on conflict (kind) do update set filled = greatest(l.filled, excluded.filled)")},
		{sqlrow.Turns, importInto(sqlrow.Turns, "", "", " on conflict (kind, priority, part) do update set line = least(l.line, excluded.line)")},
		{sqlrow.ActRows, i.importActs()},
	} {
		if err := i.write(t.Table, t.statement); err != nil {
			return err
		}
	}
	return nil
}

// importInto returns the statement that adds rows, which are the elements of a list in JSON, to a table.
func importInto(t sqlrow.Table, names, values, rest string) string {
	columns := strings.Join(t.Columns, ", ")
	return "insert into " + t.Name + " as l (" + columns + names + ") select " + columns + values + " from " + importedRows(t) + rest
}

func importedRows(t sqlrow.Table) string {
	return "pg_catalog.jsonb_populate_recordset(null::" + t.Name + ", $1::text::jsonb) u"
}

// importActs adds acts, unless they are there and may be.
func (i *importer) importActs() string {
	if !i.add {
		return importInto(sqlrow.ActRows, "", "", "")
	}
	return importInto(sqlrow.ActRows, "", "", ` where not exists (select from executor_act a where a.noted = u.noted and a.who = u.who
		and a.action = u.action and a.job = u.job and a.key = u.key and a.reason = u.reason and a.answer = u.answer)`)
}

// write runs a statement with what was gathered for a table, if there is anything.
func (i *importer) write(t sqlrow.Table, statement string) error {
	rows := i.rows[t.Name]
	if len(rows) == 0 {
		return nil
	}
	i.rows[t.Name] = nil
	objects := make([]map[string]any, len(rows))
	for k, values := range rows {
		objects[k] = make(map[string]any, len(values))
		for c, v := range values {
			if data, ok := v.([]byte); ok {
				v = nil
				if data != nil {
					v = `\x` + hex.EncodeToString(data)
				}
			}
			objects[k][t.Columns[c]] = v
		}
	}
	text, err := json.Marshal(objects)
	if err != nil {
		return err
	}
	return i.exec(i.ctx, statement, string(text))
}

var importJobs = importInto(sqlrow.Jobs, "", "", "")

// flushJobs writes jobs that are not there.
func (i *importer) flushJobs() error {
	jobs := i.jobs
	if i.jobs = nil; len(jobs) == 0 {
		return nil
	}
	keys := make(map[string]durable.ID) // of those that are to be added
	names := make([]string, 0, len(jobs))
	ids := make([]durable.ID, len(jobs))
	for k, j := range jobs {
		ids[k] = j.ID
		names = append(names, j.Key)
	}
	if i.add {
		there, err := sqlrow.ScanIDs(i.query(i.ctx, "select id from executor_job where id = any($1::uuid[])", uuids(ids)))
		if err != nil {
			return err
		}
		for _, id := range there {
			i.left[id] = true
		}
		i.There += len(there)
		jobs = slices.DeleteFunc(jobs, func(j durable.Job) bool { return i.left[j.ID] })
	}
	taken, err := sqlrow.ScanAll(i.query(i.ctx, selectJob+"where key = any($1::text[])", names))
	if err != nil {
		return err
	}
	for _, j := range taken {
		keys[j.Key] = j.ID
	}
	for k := range jobs {
		j := &jobs[k]
		if j.Key != "" {
			if other, ok := keys[j.Key]; ok {
				return store.KeyInUse(j.ID, other, j.Key)
			}
			keys[j.Key] = j.ID
		}
		if i.Jobs++; j.State.Held() {
			i.Freed++
			if run, ok := transition.Reap(j, i.now); ok {
				i.gather(sqlrow.Runs, sqlrow.KeptRunValues(&store.KeptRun{Run: run}, run.Job.String()))
			}
			if j.State == durable.Dead {
				i.Dead++
			}
		}
		i.gather(sqlrow.Jobs, sqlrow.Values(j, j.ID.String()))
		for _, tag := range j.Tags {
			i.gather(sqlrow.Tagged, []any{tag, j.ID.String()})
		}
	}
	return i.write(sqlrow.Jobs, importJobs)
}

var (
	// importParents adds the parents of jobs, which may have ended here, or when they were freed.
	importParents = sqlrow.SQL(`insert into executor_parent (child, ord, parent, state, late)
		select u.child, u.ord, u.parent, case when u.state = {Waiting} and j.state in {Over} then j.state else u.state end, false
		from ` + importedRows(sqlrow.Parents) + ` left join executor_job j on j.id = u.parent`)

	// markImported is markParents for jobs that nobody else sees yet, most of which are marked.
	markImported = sqlrow.SQL("update executor_job set family = family | {HasChildren} where id = any($1::uuid[]) and (family & {HasChildren}) = 0")

	importAfters = importInto(sqlrow.Afters, "", "", "")

	// orphaned selects a child of which a parent has not ended, and is not there.
	orphaned = sqlrow.SQL(`select p.child, p.parent from executor_parent p where p.child = any($1::uuid[]) and p.state = {Waiting}
		and not exists (select from executor_job j where j.id = p.parent) order by p.child, p.ord limit 1`)

	// countParents counts the parents of jobs that have ended. It returns those that are to be settled.
	countParents = sqlrow.SQL(`with c as (
			select child, count(*) filter (where state = {Succeeded}) as succeeded, count(*) filter (where state in ({Dead}, {Canceled})) as failed
			from executor_parent where child = any($1::uuid[]) group by child
		), a as (
			update executor_after a set succeeded = c.succeeded, failed = c.failed from c where a.job = c.child
			returning a.*
		) select a.job from a join executor_job j on j.id = a.job
		where ` + fate + ` <> 0 and j.state = {Paused} and (j.family & {IsBlocked}) <> 0`)

	failedParent = sqlrow.SQL("select parent, state from executor_parent where child = $1 and state in ({Dead}, {Canceled}) order by ord limit 1")
)

// gatherAfter gathers the parents of a job.
func (i *importer) gatherAfter(a *store.JobAfter) {
	i.child = append(i.child, a.Job)
	for ord, p := range a.Parents {
		state := durable.Waiting
		if p.State.Done() {
			state = p.State
		}
		i.gather(sqlrow.Parents, []any{a.Job.String(), ord, p.ID.String(), int64(state)})
		i.parent = append(i.parent, p.ID)
	}
	i.gather(sqlrow.Afters, []any{a.Job.String(), len(a.Parents), 0, 0, a.Need, a.Anyway})
}

// flushAfter writes the parents of jobs, and settles those of which enough, or too many, have ended.
func (i *importer) flushAfter() error {
	if len(i.child) == 0 {
		return nil
	}
	children, parents := uuids(i.child), uuids(i.parent)
	i.child, i.parent = nil, nil
	mark := markImported
	if i.add {
		mark = markParents // one that was there may be about to end
	}
	if err := i.exec(i.ctx, mark, parents); err != nil {
		return err
	}
	if err := i.write(sqlrow.Parents, importParents); err != nil {
		return err
	}
	if err := i.write(sqlrow.Afters, importAfters); err != nil {
		return err
	}
	orphans, err := sqlrow.ScanEdges(i.query(i.ctx, orphaned, children))
	if err != nil {
		return err
	}
	for _, edge := range orphans {
		return store.LostParent(edge[0], edge[1])
	}
	settled, err := sqlrow.ScanIDs(i.query(i.ctx, countParents, children))
	for _, id := range settled {
		if err == nil {
			err = i.settle(id)
		}
	}
	return err
}

// settle settles a job whose parents have ended, and tells its children.
func (i *importer) settle(id durable.ID) error {
	j, err := lock(i.ctx, i, "id = $1", uuid(id))
	if err != nil || j == nil {
		return err
	}
	c, err := sqlrow.ScanCount(i.queryRow(i.ctx, "select "+sqlrow.CountColumns+" from executor_after where job = $1", uuid(id)))
	if err != nil {
		return err
	}
	failed := func() (durable.ID, durable.State, error) {
		all, err := sqlrow.ScanParents(i.query(i.ctx, failedParent, uuid(id)))
		if err != nil || len(all) == 0 {
			return durable.ID{}, durable.Canceled, err
		}
		return all[0].ID, all[0].State, nil
	}
	if changed, err := transition.Settle(j, c, failed, i.now); err != nil || !changed {
		return err
	}
	if err := put(i.ctx, i, j, i.now); err != nil {
		return fmt.Errorf("job %v: %w", id, err)
	}
	if j.State.Done() {
		_, _, err = ended(i.ctx, i, []durable.ID{id})
	}
	return err
}
