package sqlrow

import (
	"slices"
	"strings"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// ofJob is the condition that a row belongs to a job that is there.
const ofJob = " where exists (select 1 from executor_job j where j.id = job)"

// The statements of Export, in the order of what they read.
var (
	allJobs = "select " + Read + " from executor_job order by id"
	allRuns = "select " + RunColumns + ", output from executor_run" + ofJob + " order by job, seq"
)

const (
	allParents = `select p.child, a.need, a.anyway, p.parent, p.state from executor_parent p
		join executor_after a on a.job = p.child join executor_job j on j.id = p.child order by p.child, p.ord`
	stepColumns = "job, occasion, signal, name, result, noted"
	allSteps    = "select " + stepColumns + " from executor_step" + ofJob + " order by job, noted"
	allPaused   = "select kind from executor_pause"
	allBuckets  = "select kind, filled from executor_limit where filled <> 0"
	allTurns    = "select kind, priority, part, line from executor_part"
	allActs     = "select seq, noted, who, action, job, key, reason, answer from executor_act order by seq"
)

// Empty selects whether a store has nothing by which an Import declines it.
const Empty = `select not exists (select 1 from executor_job) and not exists (select 1 from executor_pause)
	and not exists (select 1 from executor_act)`

// Export calls each for all rows. query runs a statement, in one transaction that sees them as they were at one moment.
func Export(query func(statement string) (Rows, error), each func(store.Row) error) error {
	var after *store.JobAfter // of the job whose parents are being read
	for _, part := range []struct {
		statement string
		scan      func(Scanner) (store.Row, error)
	}{
		{allJobs, exportedJob}, {allParents, exportedParent(&after)}, {allRuns, exportedRun}, {allSteps, exportedStep},
		{allPaused, exportedPause}, {allBuckets, exportedBucket}, {allTurns, exportedTurn}, {allActs, exportedAct},
	} {
		rows, err := query(part.statement)
		if err := exported(rows, err, part.scan, each); err != nil {
			return err
		}
		if after != nil {
			last := store.Row{After: after}
			after = nil
			if err := each(last); err != nil {
				return err
			}
		}
	}
	return nil
}

// exported reads and closes rows, and calls each with what scan makes of them.
func exported(rows Rows, err error, scan func(Scanner) (store.Row, error), each func(store.Row) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		row, err := scan(rows)
		if err == nil && row != (store.Row{}) {
			err = each(row)
		}
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

// ExportJob returns the rows of a job that has no family. query runs a statement, in the transaction that has read the job,
// with its ID as the argument that mark stands for.
func ExportJob(j *store.Job, mark string, query func(statement string) (Rows, error)) ([]store.Row, error) {
	all := []store.Row{{Job: j}}
	gather := func(row store.Row) error {
		all = append(all, row)
		return nil
	}
	if j.Runs > 0 {
		rows, err := query("select " + RunColumns + ", output from executor_run where job = " + mark + " order by seq")
		if err := exported(rows, err, exportedRun, gather); err != nil {
			return nil, err
		}
	}
	rows, err := query("select " + stepColumns + " from executor_step where job = " + mark + " order by noted")
	return all, exported(rows, err, exportedStep, gather)
}

func exportedJob(row Scanner) (store.Row, error) {
	j, err := Scan(row)
	return store.Row{Job: &j}, err
}

// exportedParent reads rows of parents, and returns what it has read of a child with the first row of the next.
func exportedParent(after **store.JobAfter) func(Scanner) (store.Row, error) {
	return func(row Scanner) (done store.Row, err error) {
		var child, parent []byte
		var state int64
		var next store.JobAfter
		if err = row.Scan(&child, &next.Need, &next.Anyway, &parent, &state); err != nil {
			return done, err
		}
		p := store.JobParent{State: durable.State(state)}
		if p.ID, err = ID(parent); err != nil {
			return done, err
		}
		if next.Job, err = ID(child); err != nil {
			return done, err
		}
		if *after == nil || (*after).Job != next.Job {
			done.After, *after = *after, &next
		}
		(*after).Parents = append((*after).Parents, p)
		return done, nil
	}
}

func exportedRun(row Scanner) (store.Row, error) {
	r := new(store.KeptRun)
	err := scanRun(row, &r.Run, &r.Output)
	return store.Row{Run: r}, err
}

func exportedStep(row Scanner) (store.Row, error) {
	var id []byte
	var occasion, noted int64
	k := new(store.JobStep)
	err := row.Scan(&id, &occasion, &k.Signal, &k.Name, &k.Result, &noted)
	if err == nil {
		k.Job, err = ID(id)
	}
	k.Occasion, k.At = Time(occasion), Time(noted)
	return store.Row{Step: k}, err
}

func exportedPause(row Scanner) (store.Row, error) {
	k := new(store.PausedKind)
	err := row.Scan(&k.Kind)
	return store.Row{Paused: k}, err
}

func exportedBucket(row Scanner) (store.Row, error) {
	var full int64
	b := new(store.Bucket)
	err := row.Scan(&b.Kind, &full)
	b.Full = Time(full)
	return store.Row{Bucket: b}, err
}

func exportedTurn(row Scanner) (store.Row, error) {
	var priority, at int64
	t := new(store.Turn)
	err := row.Scan(&t.Kind, &priority, &t.Partition, &at)
	t.Priority, t.At = durable.Priority(priority), Time(at)
	return store.Row{Turn: t}, err
}

func exportedAct(row Scanner) (store.Row, error) {
	a, err := scanAct(row)
	return store.Row{Act: &a}, err
}

// A Table is one that rows are imported into, with the columns of what Imported adds.
type Table struct {
	Name    string
	Columns []string
}

// The tables of Imported.
var (
	jobs    = Table{"executor_job", Names}
	begun   = Table{"executor_begun", []string{"job", "epoch", "started"}}
	tagged  = Table{"executor_tag", []string{"tag", "job"}}
	parents = Table{"executor_parent", []string{"child", "ord", "parent", "state"}}
	afters  = Table{"executor_after", []string{"job", "total", "succeeded", "failed", "need", "anyway"}}
	runs    = Table{"executor_run", strings.Split(RunColumns+", output", ", ")}
	steps   = Table{"executor_step", []string{"job", "occasion", "signal", "name", "result", "noted"}}
	pauses  = Table{"executor_pause", []string{"kind"}}
	buckets = Table{"executor_limit", []string{"kind", "filled"}}
	turns   = Table{"executor_part", []string{"kind", "priority", "part", "line"}}
	acts    = Table{"executor_act", []string{"noted", "who", "action", "job", "key", "reason", "answer"}}

	moved = []Table{jobs, begun, tagged, parents, afters, runs, steps, pauses, buckets, turns, acts}
)

// AllTables returns the names of the tables whose rows are moved, and of those whose rows are not: nodes, with what
// they report, and the version.
func AllTables() []string {
	names := []string{"executor_node", "executor_progress", "executor_schema"}
	for _, t := range moved {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names
}

// There selects whether there is a job with an ID or, if it is not empty, with a key.
func There(id, key string) string {
	return "select exists (select 1 from executor_job where id = " + id + " or key = " + key + " and key <> '')"
}

// Imported calls add for each row of a table that row is in. id returns an ID as the store writes it.
func Imported(row store.Row, id func(durable.ID) any, add func(t Table, values []any) error) error {
	switch {
	case row.Job != nil:
		j := row.Job
		if j.State == durable.Running {
			if err := add(begun, []any{id(j.ID), j.Epoch, Micros(j.Started)}); err != nil {
				return err
			}
		}
		for _, tag := range j.Tags {
			if err := add(tagged, []any{tag, id(j.ID)}); err != nil {
				return err
			}
		}
		return add(jobs, Values(j, id(j.ID)))
	case row.After != nil:
		for n, p := range row.After.Parents {
			if err := add(parents, []any{id(row.After.Job), n, id(p.ID), int64(p.State)}); err != nil {
				return err
			}
		}
		c := row.After.Counts()
		return add(afters, []any{id(row.After.Job), c.Total, c.Succeeded, c.Failed, c.Need, c.Anyway})
	case row.Run != nil:
		return add(runs, append(RunValues(&row.Run.Run, id(row.Run.Job)), row.Run.Output))
	case row.Step != nil:
		k := row.Step
		return add(steps, []any{id(k.Job), Micros(k.Occasion), k.Signal, k.Name, k.Result, Micros(k.At)})
	case row.Paused != nil:
		return add(pauses, []any{row.Paused.Kind})
	case row.Bucket != nil:
		return add(buckets, []any{row.Bucket.Kind, Micros(row.Bucket.Full)})
	case row.Turn != nil:
		t := row.Turn
		return add(turns, []any{t.Kind, int64(t.Priority), t.Partition, Micros(t.At)})
	case row.Act != nil:
		a := row.Act
		return add(acts, []any{Micros(a.At), a.Who, a.Action, id(a.Job), a.Key, a.Reason, a.Answer})
	}
	return nil
}

// Bury leaves a tombstone for each node that holds jobs and is not there: it is not alive, but it is not forgotten, and
// the next heartbeat frees what it holds.
var Bury = SQL(`insert into executor_node (id, lease_until, lease)
	select distinct owner, 0, 0 from executor_job j where state in {Held} and not exists (select 1 from executor_node where id = j.owner)
	on conflict do nothing`)
