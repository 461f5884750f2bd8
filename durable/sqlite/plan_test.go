package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// Jobs that are over, and runs of the history, are found by their indexes: a prune does not cost more where more jobs
// wait, or more runs are kept.
func TestPruneUsesIndex(t *testing.T) {
	usesIndex(t, "executor_job_over (state=? AND updated>? AND updated<?)", oldJobs, 3, 0, 1, 1, 1)
	usesIndex(t, "executor_parent USING COVERING INDEX executor_parent_parent (parent=?)", oldJobs, 3, 0, 1, 1, 1)
	for _, table := range sqlrow.Notes {
		usesIndex(t, table+" USING ", sqlrow.LastNote(table, "?", 10), "a")
		usesIndex(t, table+" USING PRIMARY KEY (job>? AND job<?)", sqlrow.ForgetNotes(table, "?", "?"), "a", "b")
	}
	usesIndex(t, "executor_run_latest (verdict=? AND finished<?)", pruneRuns, 0, 1, 1)
}

// The queues that jobs wait in are found by the index, by one read for each.
func TestQueueNamesUsesIndex(t *testing.T) {
	usesIndex(t, "SEARCH j USING INDEX executor_job_queue (queue>?)", sqlrow.QueueNames)
}

// A heartbeat finds by the index whether a job is due: it does not cost more where more jobs wait.
func TestHeartbeatUsesIndex(t *testing.T) {
	usesIndex(t, "executor_job_due (kind=? AND priority=? AND due<?)", dueJob, "k", 0, 1)
}

// A list of few keys with a prefix does not cost more where more jobs are kept; neither does finding out how many there
// are, nor a page of many.
func TestListOfPrefixUsesIndex(t *testing.T) {
	keys, order := "sqlite_autoindex_executor_job_2 (key>? AND key<?)", "sqlite_autoindex_executor_job_1 (id>?)"
	usesIndex(t, keys, fewKeys, "a", "b", few, few)
	narrow := way{add: func(q *sqlrow.Query) { q.Add("key >= ? and key < ?", "a", "b") }}
	for plan, w := range map[string]way{keys: narrow, order: {}} {
		statement, args := listJobs(&durable.Filter{Prefix: "a"}, w)
		usesIndex(t, plan, statement, args...)
	}
}

// A page of the latest jobs does not cost more where more jobs are kept, whatever page it is.
func TestListOfLatestUsesIndex(t *testing.T) {
	for plan, f := range map[string]durable.Filter{
		"SCAN executor_job USING INDEX sqlite_autoindex_executor_job_1": {},
		"sqlite_autoindex_executor_job_1 (id<?)":                        {After: durable.NewID()},
		"SEARCH executor_tag USING PRIMARY KEY (tag=?":                  {Tags: []string{"a"}},
	} {
		w := way{}
		if f.LatestFirst = true; f.Tags != nil {
			w.tag = "a"
		}
		statement, args := listJobs(&f, w)
		if got := usesIndex(t, plan, statement, args...); strings.Contains(got, "TEMP B-TREE") {
			t.Errorf("all are sorted:\n%s", got)
		}
	}
}

// A list and a count of jobs with a tag do not cost more where more jobs are kept, whatever else the filter has; nor
// does one of states that few jobs are in, with an index of these.
func TestListOfFewUsesIndex(t *testing.T) {
	begin := store.TimeRange{From: now()}
	tagged := way{tag: "a"}
	for plan, f := range map[string]durable.Filter{
		"executor_job_over (state=?":                             {States: []durable.State{durable.Dead}},
		"executor_job_over (state=? AND updated>?)":              {States: []durable.State{durable.Dead, durable.Canceled}, Updated: begin},
		"SCAN executor_job USING INDEX executor_job_owner":       {States: []durable.State{durable.Running, durable.Claimed}},
		"SCAN executor_job USING INDEX executor_job_due":         {States: []durable.State{durable.Waiting}},
		"executor_job_due (kind=? AND priority=? AND due>?)":     {States: []durable.State{durable.Waiting}, Kind: "k", Due: begin},
		"SEARCH executor_tag USING PRIMARY KEY (tag=? AND job>?": {Tags: []string{"b", "a"}, Kind: "k", Error: "no", Created: begin, Prefix: "p"},
	} {
		w := tagged
		if len(f.Tags) == 0 {
			w = way{add: stateIndex(&f)}
		}
		statement, args := listJobs(&f, w)
		usesIndex(t, plan, statement, args...)
		if len(f.Tags) > 0 {
			plan = "SEARCH executor_tag USING PRIMARY KEY (tag=?"
		}
		statement, args = countJobs(&f, w)
		usesIndex(t, plan, statement, args...)
	}
}

// A list and a count of jobs with a text in their error read no job without an error, in either order.
func TestListOfErrorsUsesIndex(t *testing.T) {
	for _, latest := range []bool{false, true} {
		f := durable.Filter{Error: "refused", Kind: "k", LatestFirst: latest}
		statement, args := listJobs(&f, way{})
		if plan := usesIndex(t, "USING INDEX executor_job_error", statement, args...); strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("all are sorted:\n%s", plan)
		}
		statement, args = countJobs(&f, way{})
		usesIndex(t, "USING INDEX executor_job_error", statement, args...)
	}
}

// A page of children does not cost more where a job has more of them.
func TestChildrenUsesIndex(t *testing.T) {
	plan := usesIndex(t, "executor_parent USING COVERING INDEX executor_parent_parent (parent=? AND child>?)", listChildren, "a", "b", 10)
	if strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("all are sorted:\n%s", plan)
	}
}

// A page of the latest runs does not cost more where more are kept; nor does a look at the dead, or at the progress of
// some jobs.
func TestLooksUseIndex(t *testing.T) {
	both := []durable.Verdict{durable.RunSucceeded, durable.RunFailed}
	statement, args := latest(durable.LatestFilter{Verdicts: both, Limit: 10})
	usesIndex(t, "executor_run_latest (verdict=?)", statement, args...)
	before := durable.Run{Finished: now()}
	statement, args = latest(durable.LatestFilter{Verdicts: both, Limit: 10, Before: before})
	usesIndex(t, "executor_run_latest (verdict=? AND finished<?)", statement, args...)
	statement, args = latest(durable.LatestFilter{Verdicts: both, Limit: 10, Finished: durable.TimeRange{From: now()}})
	usesIndex(t, "executor_run_latest (verdict=? AND finished>?)", statement, args...)
	statement, args = latest(durable.LatestFilter{Verdicts: both, Limit: 10, Keys: []string{"a", "b"}, Before: before})
	usesIndex(t, "(key=?)", statement, args...)
	usesIndex(t, "executor_run_job (job=?)", statement, args...)
	usesIndex(t, "executor_job_over (state=?)", sqlrow.ReadDead+"?", 10)
	usesIndex(t, "p USING PRIMARY KEY (job=?)", sqlrow.ReadProgress+" where p.job in (?, ?)", "a", "b")
}

// usesIndex sees to it that a statement does not read all jobs, but those that it
// finds in the index in that way. A partial index may be read whole. It returns the plan.
func usesIndex(t *testing.T, way, statement string, args ...any) (plan string) {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows, err := s.read.Query("explain query plan "+statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := false
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		plan += step + "\n"
		all = all || strings.Contains(step, "SCAN executor_job") && !strings.Contains(step, way)
	}
	if rows.Err() != nil || !strings.Contains(plan, way) || all || strings.Contains(plan, "SCAN r") {
		t.Errorf("the plan is\n%s%v", plan, rows.Err())
	}
	return plan
}

// A claim of a queue, and a heartbeat, read what is in that queue by its index.
func TestClaimQueueUsesIndex(t *testing.T) {
	const index = "executor_job_queue (queue=? AND kind=? AND priority=? AND due<?)"
	usesIndex(t, index, claimQueued, 1, "a", 1, "k", 10, 1, 1, "q")
	usesIndex(t, index, nearQueued, "q", "k", 10, 1, 1)
	usesIndex(t, index, dueQueued, "q", "k", 10, 1)
	usesIndex(t, "SCAN executor_job USING INDEX executor_job_queue", sqlrow.CountQueues)
}

// A claim with limits reads what it may claim of each partition, and the partitions that come first, by their indexes;
// and it finds what is to be put in line by another.
func TestClaimLimitedUsesIndexes(t *testing.T) {
	usesIndex(t, "executor_job_part (kind=? AND part=? AND priority=? AND due<?)", nearOfPart, "k", "p", 0, 1, 1)
	usesIndex(t, "executor_job_part (kind=? AND part=? AND priority=?)", nextOfPart, "k", "p", 0)
	usesIndex(t, "executor_part_line (kind=? AND priority=? AND line<?)", nearParts, "k", 0, 1, 1)
	usesIndex(t, "executor_job_new (kind=?)", lineJobs, "k", 1)
	usesIndex(t, "executor_job_owner (owner=? AND kind=?)", heldOfParts, "k")
}

// A prune finds one partition after the other by the index, past the jobs that wait for each.
func TestPruneFindsPartitionsByIndex(t *testing.T) {
	usesIndex(t, "executor_job_part ((kind,part,priority,due)>(?,?,?,?))", nextPart, 1, "k", "p", 0)
}
