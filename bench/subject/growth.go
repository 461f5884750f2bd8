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

// fill fills the database of the calls: one job that is over, and one that waits, are what all others are like.
func (with filling) fill(c drive.Calls, db *sql.DB, waiting, over int) {
	fillByCalls(c, min(waiting, 1), min(over, 1))
	with.copyRows(db, waiting-1, over-1)
}

// fillByCalls adds jobs that wait, and jobs that are over, by no other way than a node would.
func fillByCalls(c drive.Calls, waiting, over int) {
	for rest := over; rest > 0; rest -= lookSize {
		n := min(rest, lookSize)
		c.Insert(n, 0)
		if c.Claim(n) != n || c.Settle() != n {
			panic("not all jobs were run")
		}
	}
	const most = 5000 // jobs in a call
	for done := 0; done < waiting; done += most {
		c.Insert(min(most, waiting-done), time.Hour+time.Hour*time.Duration(done)/time.Duration(waiting))
	}
}

// openCalls returns the calls of a node to a store, without Fill and Close.
func openCalls(s store.Store) (c drive.Calls) {
	ctx := context.Background()
	payload, err := json.Marshal(drive.AMail)
	must(err)
	_, err = s.Join(ctx, growthNode, time.Hour)
	must(err)
	var held []store.Job
	c = drive.Calls{
		Insert: func(n int, delay time.Duration) {
			list := make([]store.NewJob, n)
			for i := range list {
				list[i] = store.NewJob{ID: store.NewID(), Kind: growthKind, Payload: payload, Schedule: store.Once,
					Delay: delay, Attempts: 1}
			}
			_, err := s.Insert(ctx, list, store.Placement{})
			must(err)
		},
		Claim: func(n int) int {
			got, err := s.Claim(ctx, store.ClaimRequest{Node: growthNode, Ahead: 2 * drive.SoonDue, Lead: time.Second, Limit: n,
				Kinds: []store.KindLimit{{Kind: growthKind, Max: n}}})
			must(err)
			held = got.Jobs
			return len(held)
		},
		Confirm: func() int {
			r := store.CommitRequest{Node: growthNode}
			for _, j := range held {
				r.Confirms = append(r.Confirms, store.Confirm{Ref: store.Ref{ID: j.ID, Epoch: j.Epoch}})
			}
			answer, err := s.Commit(ctx, r)
			must(err)
			return countTrue(answer.Confirmed)
		},
		Settle: func() int {
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
			return countTrue(answer.Committed)
		},
	}
	c.Look = func() (none bool) {
		h, err := s.Heartbeat(ctx, growthNode, time.Hour, store.Watch{Kinds: []string{growthKind}, Ahead: time.Second})
		must(err)
		return h.Alive && !h.Due && c.Claim(lookSize) == 0
	}
	return c
}

// countTrue returns how many of the answers are true.
func countTrue(answers []bool) (n int) {
	for _, ok := range answers {
		if ok {
			n++
		}
	}
	return n
}

// copyRows adds so many jobs that wait, and so many that are over, like the one of each that there is.
func (with filling) copyRows(db *sql.DB, waiting, over int) {
	ctx := context.Background()
	isOver, waits := fmt.Sprintf("state = %d", store.Succeeded), fmt.Sprintf("state = %d", store.Waiting)
	id := fmt.Sprintf(with.id, 0)
	must(copyRow(ctx, db, "executor_run", "true", over, map[string]string{"job": id, "finished": "finished + i"}))
	must(copyRow(ctx, db, "executor_job", isOver, over, map[string]string{"id": id, "updated": "updated + i"}))
	due := fmt.Sprintf("due + i * %d", time.Hour.Microseconds()/int64(waiting+1))
	must(copyRow(ctx, db, "executor_job", waits, waiting, map[string]string{
		"id": fmt.Sprintf(with.id, max(over, 0)+1), "due": due, "occurrence": due}))
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
	if n <= 0 {
		return nil
	}
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
