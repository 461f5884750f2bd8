package sqlrow

import (
	"slices"

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
	allSteps   = "select job, occasion, signal, name, result, noted from executor_step" + ofJob + " order by job, noted"
	allPaused  = "select kind from executor_pause"
	allBuckets = "select kind, filled from executor_limit where filled <> 0"
	allTurns   = "select kind, priority, part, line from executor_part"
	allActs    = "select seq, noted, who, action, job, key, reason, answer from executor_act order by seq"
)

// Empty selects whether a store has nothing by which an Import declines it.
const Empty = `select not exists (select 1 from executor_job) and not exists (select 1 from executor_pause)
	and not exists (select 1 from executor_act)`

// Export calls each for all rows. query runs a statement, in one transaction that sees them as they were at one moment.
func Export(query func(statement string) (Rows, error), each func(store.Row) error) error {
	read := func(statement string, scan func(Scanner) (store.Row, error)) error {
		rows, err := query(statement)
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
	var after *store.JobAfter // of the job whose parents are being read
	for _, part := range []struct {
		statement string
		scan      func(Scanner) (store.Row, error)
	}{
		{allJobs, exportedJob}, {allParents, exportedParent(&after)}, {allRuns, exportedRun}, {allSteps, exportedStep},
		{allPaused, exportedPause}, {allBuckets, exportedBucket}, {allTurns, exportedTurn}, {allActs, exportedAct},
	} {
		if err := read(part.statement, part.scan); err != nil {
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

// A Table is one that rows are imported into, with the columns that Values returns.
type Table struct {
	Name    string
	Columns []string
}

// The tables of Imported. The store adds to what a row of executor_parent or executor_after has.
var (
	Jobs    = Table{"executor_job", Names}
	Tagged  = Table{"executor_tag", []string{"tag", "job"}}
	Parents = Table{"executor_parent", []string{"child", "ord", "parent", "state"}}
	Afters  = Table{"executor_after", []string{"job", "total", "succeeded", "failed", "need", "anyway"}}
	Runs    = Table{"executor_run", []string{"job", "seq", "occurrence", "attempt", "epoch", "node", "started", "finished", "verdict", "error", "label", "output"}}
	Steps   = Table{"executor_step", []string{"job", "occasion", "signal", "name", "result", "noted"}}
	Paused  = Table{"executor_pause", []string{"kind"}}
	Buckets = Table{"executor_limit", []string{"kind", "filled"}}
	Turns   = Table{"executor_part", []string{"kind", "priority", "part", "line"}}
	ActRows = Table{"executor_act", []string{"noted", "who", "action", "job", "key", "reason", "answer"}}
)

// leftTables are those whose rows are not moved: nodes, with what they report, and which runs have begun; and the
// version.
var leftTables = []string{"executor_node", "executor_begun", "executor_progress", "executor_schema"}

// AllTables returns the names of the tables that Export knows, in order.
func AllTables() []string {
	names := slices.Clone(leftTables)
	for _, t := range []Table{Jobs, Tagged, Parents, Afters, Runs, Steps, Paused, Buckets, Turns, ActRows} {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names
}

// KeptRunValues returns the columns of Runs.
func KeptRunValues(r *store.KeptRun, id any) []any { return append(RunValues(&r.Run, id), r.Output) }

// StepValues returns the columns of Steps.
func StepValues(k *store.JobStep, id any) []any {
	return []any{id, Micros(k.Occasion), k.Signal, k.Name, k.Result, Micros(k.At)}
}

// BucketValues returns the columns of Buckets.
func BucketValues(b *store.Bucket) []any { return []any{b.Kind, Micros(b.Full)} }

// TurnValues returns the columns of Turns.
func TurnValues(t *store.Turn) []any {
	return []any{t.Kind, int64(t.Priority), t.Partition, Micros(t.At)}
}

// ActValues returns the columns of ActRows.
func ActValues(a *store.Act, id any) []any {
	return []any{Micros(a.At), a.Who, a.Action, id, a.Key, a.Reason, a.Answer}
}

// ScanEdges reads and closes rows of two IDs: that of a child, and that of a parent.
var ScanEdges = all(func(row Scanner) (edge [2]durable.ID, err error) {
	var ids [2][]byte
	if err = row.Scan(&ids[0], &ids[1]); err != nil {
		return edge, err
	}
	if edge[0], err = ID(ids[0]); err == nil {
		edge[1], err = ID(ids[1])
	}
	return edge, err
})
