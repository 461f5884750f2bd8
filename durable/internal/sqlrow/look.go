package sqlrow

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// Details returns what a node reports as its column has it.
func Details(d *durable.NodeDetails) string {
	if d == nil {
		return ""
	}
	data, err := json.Marshal(d)
	if err != nil {
		return "" // texts and numbers have none
	}
	return string(data)
}

// NodeColumns are what ScanNodes reads of executor_node.
var NodeColumns = SQL(`id, lease_until, lease, joined, info, drain,
	(select count(*) from executor_job where state in {Held} and owner = executor_node.id)`)

// ScanNodes reads and closes rows of nodes. Details that can't be read are none.
var ScanNodes = all(func(row Scanner) (n durable.NodeInfo, err error) {
	var until, lease, joined int64
	var info string
	if err = row.Scan(&n.Name, &until, &lease, &joined, &info, &n.Draining, &n.Jobs); err != nil {
		return n, err
	}
	if info != "" && json.Unmarshal([]byte(info), &n.NodeDetails) != nil {
		n.NodeDetails = durable.NodeDetails{}
	}
	n.Joined, n.Beat, n.Lease = Time(joined), Time(until-lease), time.Duration(lease)*time.Microsecond
	return n, nil
})

// ReadProgress selects what ScanProgress reads, of jobs for which the caller adds a condition.
var ReadProgress = SQL(`select p.job, p.epoch, p.done, p.total, p.note, p.noted from executor_progress p
	join executor_job j on j.id = p.job and j.epoch = p.epoch and j.state = {Granted}`)

// ScanProgress reads and closes rows of ReadProgress.
var ScanProgress = all(func(row Scanner) (p durable.RunProgress, err error) {
	var id []byte
	var noted int64
	if err = row.Scan(&id, &p.Epoch, &p.Done, &p.Total, &p.Note, &noted); err != nil {
		return p, err
	}
	if p.Job, err = ID(id); err != nil {
		return p, err
	}
	p.At = Time(noted)
	return p, nil
})

// Latest returns the statement that reads the latest runs of all jobs, and its arguments. place returns the placeholder
// of an argument, counted from 1. Each verdict is looked up by itself, in the index executor_run_latest; the runs of jobs
// with certain keys, in that of the jobs.
func Latest(f durable.LatestFilter, place func(int) string, id func(durable.ID) any) (statement string, args []any) {
	q := NewQuery(place)
	if before := f.Before; !before.Finished.IsZero() {
		at := Micros(before.Finished)
		q.Add("r.finished <= ? and (r.finished < ? or (r.job, r.seq) < (?, ?))", at, at, id(before.Job), before.Seq)
	}
	if f.Kind != "" {
		q.Add("j.kind = ?", f.Kind)
	}
	q.addKeys("j.key", f.Keys)
	for _, tag := range f.Tags {
		q.Add("exists (select 1 from executor_tag t where t.tag = ? and t.job = r.job)", tag)
	}
	if f.Node != "" {
		q.Add(fmt.Sprintf("substr(r.node, 1, %d) = ?", utf8.RuneCountInString(f.Node)), f.Node)
	}
	q.AddRange("r.finished", f.Finished)
	const order = " order by finished desc, job desc, seq desc limit "
	limit := q.Arg(f.Limit)
	columns := "select r." + strings.ReplaceAll(RunColumns, ", ", ", r.") + ", j.key, j.kind, j.queue from "
	if len(f.Keys) > 0 {
		// SQLite reads the first table of a cross join first, and uses no index for what has a plus.
		q.Add("r.job = j.id and +r.verdict in (" + list(f.Verdicts) + ")")
		return "select * from (" + columns + "executor_job j cross join executor_run r" + q.Where() + ") as v" + order + limit, q.Args()
	}
	var parts []string
	for _, v := range f.Verdicts {
		where := strings.Join(append([]string{fmt.Sprintf("r.verdict = %d", v)}, q.where...), " and ")
		parts = append(parts, fmt.Sprintf("select * from (%sexecutor_run r join executor_job j on j.id = r.job where %s%s%s) as v%d",
			columns, where, order, limit, v))
	}
	return strings.Join(parts, " union all ") + order + limit, q.Args()
}

// list returns verdicts as SQL has them.
func list(verdicts []durable.Verdict) string {
	texts := make([]string, len(verdicts))
	for i, v := range verdicts {
		texts[i] = strconv.Itoa(int(v))
	}
	return strings.Join(texts, ", ")
}

// ScanLatest reads and closes rows of Latest.
var ScanLatest = all(func(row Scanner) (r durable.JobRun, err error) {
	var key sql.NullString
	if err = scanRun(row, &r.Run, &key, &r.Kind, &r.Queue); err != nil {
		return r, err
	}
	r.Key = key.String
	return r, nil
})

// ReadDead selects what ScanDead reads; the caller adds the limit.
var ReadDead = SQL(`select id, kind, substr(error, 1, 300), updated from executor_job
	where state = {Dead} and state >= {Succeeded} and state <= {Canceled} order by updated desc limit `)

// ScanDead reads and closes rows of ReadDead.
var ScanDead = all(func(row Scanner) (d store.DeadJob, err error) {
	var id []byte
	var updated int64
	if err = row.Scan(&id, &d.Kind, &d.Error, &updated); err != nil {
		return d, err
	}
	if d.ID, err = ID(id); err != nil {
		return d, err
	}
	d.Ended = Time(updated)
	return d, nil
})

// QueueNames selects the queues that jobs wait in, by one read of the index for each.
var QueueNames = SQL(`with recursive q(queue) as (
		select min(queue) from executor_job where state < {Claimed} and queue <> ''
		union all
		select (select min(j.queue) from executor_job j where j.state < {Claimed} and j.queue <> '' and j.queue > q.queue) from q where q.queue is not null
	) select queue from q where queue is not null`)

// CountQueues selects what ScanQueues reads.
var CountQueues = SQL("select queue, count(*), min(due) from executor_job where state < {Claimed} and queue <> '' group by queue")

// ScanQueues reads and closes rows of CountQueues.
var ScanQueues = all(func(row Scanner) (c store.QueueCount, err error) {
	var due int64
	err = row.Scan(&c.Queue, &c.Jobs, &due)
	c.Due = Time(due)
	return c, err
})
