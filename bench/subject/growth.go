package subject

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/executor-go/executor/bench/drive"
	"github.com/executor-go/executor/durable/store"
)

// filling is what differs between databases when they are filled.
type filling struct {
	id     string   // an expression for the ID of a job, by its number i; %d is added to that
	finish []string // statements that leave the database as it is after a while
}

var (
	fillPostgres = filling{
		id:     "('00000000-0000-7000-8000-' || lpad(to_hex(%d + i), 12, '0'))::uuid",
		finish: []string{"vacuum (analyze) executor_job, executor_run", "checkpoint"},
	}
	fillSQLite = filling{
		id:     "unhex('0000000000007000' || '8000' || printf('%%012x', %d + i))",
		finish: []string{"pragma wal_checkpoint(truncate)"},
	}
)

const (
	growthKind = "mail"
	growthNode = "node"
)

// openGrown returns the calls of a node to a store, in the database db, in which so many jobs wait, and so many are
// over.
func openGrown(s store.Store, db *sql.DB, with filling, jobs int) drive.Calls {
	c, insert := openCalls(s)
	// One job that is over, and one that waits, are what all others are like.
	insert(1, 0)
	if c.Claim(1) != 1 || c.Settle() != 1 {
		panic("the first job was not run")
	}
	insert(1, time.Hour)
	with.copyRows(db, jobs-1)
	return c
}

// openCalls returns the calls of a node to a store, and how to add jobs that are due after a delay.
func openCalls(s store.Store) (c drive.Calls, insert func(n int, delay time.Duration)) {
	ctx := context.Background()
	payload, err := json.Marshal(drive.AMail)
	must(err)
	_, err = s.Join(ctx, growthNode, time.Hour)
	must(err)
	insert = func(n int, delay time.Duration) {
		list := make([]store.NewJob, n)
		for i := range list {
			list[i] = store.NewJob{ID: store.NewID(), Kind: growthKind, Payload: payload, Schedule: store.Once,
				Delay: delay, Attempts: 1}
		}
		_, err := s.Insert(ctx, list, store.Placement{})
		must(err)
	}
	var held []store.Job
	c = drive.Calls{
		Insert: func(n int) { insert(n, 0) },
		Claim: func(n int) int {
			got, err := s.Claim(ctx, store.ClaimRequest{Node: growthNode, Ahead: time.Second, Lead: time.Second, Limit: n,
				Kinds: []store.KindLimit{{Kind: growthKind, Max: n}}})
			must(err)
			held = got.Jobs
			return len(held)
		},
		Settle: func() (done int) {
			now := time.Now()
			r := store.CommitRequest{Node: growthNode, History: 100}
			for _, j := range held {
				r.Outcomes = append(r.Outcomes, store.Outcome{
					Ref: store.Ref{ID: j.ID, Epoch: j.Epoch}, State: store.Succeeded, Due: j.Due, Occurrence: j.Occurrence,
					Result: []byte("1"), Run: store.Run{Occurrence: j.Occurrence, Attempt: 1, Started: now, Finished: now},
				})
			}
			answer, err := s.Commit(ctx, r)
			must(err)
			for _, ok := range answer.Committed {
				if ok {
					done++
				}
			}
			return done
		},
	}
	c.Look = func() (none bool) {
		h, err := s.Heartbeat(ctx, growthNode, time.Hour, store.Watch{Kinds: []string{growthKind}, Ahead: time.Second})
		must(err)
		return h.Alive && !h.Due && c.Claim(lookSize) == 0
	}
	return c, insert
}

// copyRows adds so many jobs that wait, and as many that are over, like the one of each that there is.
func (with filling) copyRows(db *sql.DB, n int) {
	ctx := context.Background()
	over, waits := fmt.Sprintf("state = %d", store.Succeeded), fmt.Sprintf("state = %d", store.Waiting)
	id := fmt.Sprintf(with.id, 0)
	must(copyRow(ctx, db, "executor_run", "true", n, map[string]string{"job": id, "finished": "finished + i"}))
	must(copyRow(ctx, db, "executor_job", over, n, map[string]string{"id": id, "updated": "updated + i"}))
	due := fmt.Sprintf("due + i * %d", time.Hour.Microseconds()/int64(n+1))
	must(copyRow(ctx, db, "executor_job", waits, n, map[string]string{
		"id": fmt.Sprintf(with.id, n+1), "due": due, "occurrence": due}))
	for _, statement := range with.finish {
		_, err := db.ExecContext(ctx, statement)
		must(err)
	}
}

// lookSize is how many jobs a look asks for.
const lookSize = 500

// copyRow adds n copies of the one row of a table that meets the condition, with these expressions in place of some of
// its columns. An expression may have i, the number of the copy from 1 on. That is faster by far than to add as many
// jobs, and leaves the columns to the store.
func copyRow(ctx context.Context, db *sql.DB, table, condition string, n int, as map[string]string) error {
	none, err := db.QueryContext(ctx, "select * from "+table+" where false")
	if err != nil {
		return err
	}
	names, err := none.Columns()
	none.Close()
	if err != nil {
		return err
	}
	values := make([]string, len(names))
	for k, name := range names {
		if values[k] = name; as[name] != "" {
			values[k] = as[name]
		}
	}
	const series = "with recursive s (i) as (select cast(1 as bigint) union all select i + 1 from s where i < %d) "
	_, err = db.ExecContext(ctx, fmt.Sprintf(series+"insert into %s (%s) select %s from %s, s where %s",
		n, table, strings.Join(names, ", "), strings.Join(values, ", "), table, condition))
	return err
}
