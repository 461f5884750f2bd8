package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// Partitions. A claim must not look at all jobs that wait for one partition, nor at all partitions of which none may be
// claimed. So executor_part has a row for each partition, and priority, that has jobs which wait: its place in line, a
// time before which nothing of it is near. A claim reads the partitions in that order, past those that have as many
// jobs held as they may, which are no more than there are jobs held; and of each the few jobs that it may claim, by an
// index. Those that had a turn get the time of the claim as their next place, or that at which their next job is due.
//
// Those who add jobs, and end runs, do not write to executor_part, where they would wait for each other. What has begun
// to wait is in a small index of its own, and a claim puts that in line. All that is counted are the jobs that are
// held.

// ClaimLimited is Claim, and heeds the rates and partition limits of kinds.
func (s *Store) ClaimLimited(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	return do(ctx, s.writer, func(q *querier) (store.ClaimResult, error) { return q.claimLimited("", r) })
}

func (q *querier) claimLimited(queue string, r store.ClaimRequest) (store.ClaimResult, error) {
	l := limitedClaim{querier: q, queue: queue, r: r, c: store.ClaimResult{Now: now()}}
	err := l.claim()
	return l.c, err
}

// A limitedClaim is a claim of kinds with limits.
type limitedClaim struct {
	*querier
	queue string
	r     store.ClaimRequest
	c     store.ClaimResult
}

// A limitedKind is a kind in a claim.
type limitedKind struct {
	store.KindLimit
	room  int
	held  map[string]int // of each partition, before the claim
	taken map[string]int // of each partition, by the claim
	full  time.Time      // see transition.Bucket
	spent bool           // a token was taken
	empty bool           // one was lacking
}

// space returns how many more of a partition may be held.
func (k *limitedKind) space(part string) int { return k.PerPartition - k.held[part] - k.taken[part] }

func (l *limitedClaim) claim() error {
	takes, err := l.takes(l.r.Node)
	if err != nil || !takes {
		return err
	}
	kinds := make([]limitedKind, len(l.r.Kinds))
	for i, k := range l.r.Kinds {
		if kinds[i], err = l.kind(k); err != nil {
			return err
		}
	}
	for p := durable.High; p >= durable.Low; p-- {
		for i := range kinds {
			if err := l.take(&kinds[i], p); err != nil {
				return err
			}
		}
	}
	for i := range kinds {
		if k := &kinds[i]; k.spent {
			if _, err := l.exec(`insert into executor_limit (kind, filled) values (?, ?)
				on conflict (kind) do update set filled = excluded.filled`, k.Kind, micros(k.full)); err != nil {
				return err
			}
		}
	}
	l.c.More = len(l.c.Jobs) >= l.r.Limit
	return nil
}

// heldOfParts counts what all nodes hold of each partition of a kind, as heldOfKind does of the kind.
var heldOfParts = sqlrow.SQL(`select j.part, count(*) from executor_node n cross join executor_job j
	where j.state in {Held} and j.owner = n.id and j.kind = ? and j.part <> '' group by j.part`)

// kind reads what the store has of the limits of a kind, and puts in line what is not.
func (l *limitedClaim) kind(k store.KindLimit) (limitedKind, error) {
	of := limitedKind{KindLimit: k, room: k.Max}
	if k.Global > 0 {
		held := 0
		if err := l.row(heldOfKind, []any{k.Kind}, &held); err != nil {
			return of, err
		}
		of.room = min(k.Max, k.Global-held)
	}
	if k.Rate != (store.Rate{}) {
		filled := int64(0)
		if err := l.row("select coalesce((select filled from executor_limit where kind = ?), 0)", []any{k.Kind}, &filled); err != nil {
			return of, err
		}
		of.full = transition.Bucket(k.Rate, sqlrow.Time(filled), l.c.Now, l.r.Ahead)
	}
	if k.PerPartition == 0 {
		return of, nil
	}
	if l.queue != "" {
		of.PerPartition = 0
		return of, nil
	}
	of.held, of.taken = make(map[string]int), make(map[string]int)
	err := l.each(heldOfParts, []any{k.Kind}, func(row sqlrow.Scanner) error {
		part, held := "", 0
		err := row.Scan(&part, &held)
		of.held[part] = held
		return err
	})
	if err != nil {
		return of, err
	}
	return of, l.line(k.Kind)
}

// each calls fn for each row of a statement.
func (q *querier) each(text string, args []any, fn func(row sqlrow.Scanner) error) error {
	rows, err := q.query(text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

var (
	// lineJobs puts jobs in line. A job that waits anew has another epoch than before, as each claim of it and whatever
	// takes it from a node increment it; and one that is changed while it waits is taken out of line.
	lineJobs = sqlrow.SQL(`update executor_job set lined = epoch where rowid in (
		select rowid from executor_job where state < {Claimed} and part <> '' and lined <> epoch and kind = ? limit ?) returning priority, part, due`)

	// linePart gives a partition a place in line, unless it has an earlier one.
	linePart = `insert into executor_part (kind, priority, part, line) values (?, ?, ?, ?)
		on conflict (kind, priority, part) do update set line = min(line, excluded.line)`

	// nextPart is the partition that comes after one by its name, the first of its jobs, and whether it has a place by
	// which that is found. With the time SQLite begins behind all jobs of the one, and need not read them.
	nextPart = sqlrow.SQL(`select kind, part, priority, rowid, exists (
			select 1 from executor_part p where p.kind = j.kind and p.priority = j.priority and p.part = j.part and p.line <= max(j.due, ?))
		from executor_job j where state < {Claimed} and part <> '' and (kind, part, priority, due) > (?, ?, ?, {Most})
		order by kind, part, priority, due limit 1`)
)

// A partName names a partition with jobs of a priority that wait.
type partName struct {
	kind, part string
	priority   int64
}

// relineMost is how many partitions one call of Prune looks at.
const relineMost = 1000

// reline takes a job of each partition out of line that has no place by which its jobs would be found: somebody has
// changed the tables by hand, or a program that does not know of partitions has changed the jobs. A claim puts it in
// line again, and the partition with it. It looks at the partitions that come after one, and notes the last.
func (q *querier) reline(after *partName, now time.Time) error {
	for range relineMost {
		var row int64
		var found bool
		err := q.row(nextPart, []any{micros(now), after.kind, after.part, after.priority}, &after.kind, &after.part, &after.priority, &row, &found)
		if errors.Is(err, sql.ErrNoRows) {
			*after = partName{} // the next call begins anew
			return nil
		}
		if err == nil && !found {
			_, err = q.exec("update executor_job set lined = -1 where rowid = ?", row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lineFew is how many jobs are put in line at once, and lineMost how many by a claim.
const lineFew, lineMost = 1000, 10_000

// line puts jobs of a kind in line. If there are more than it takes at once, it asks for another claim.
func (l *limitedClaim) line(kind string) error {
	type place struct {
		priority int64
		part     string
	}
	for range lineMost / lineFew {
		lines, n := make(map[place]int64), 0
		err := l.each(lineJobs, []any{kind, lineFew}, func(row sqlrow.Scanner) error {
			var p place
			var due int64
			err := row.Scan(&p.priority, &p.part, &due)
			if line, ok := lines[p]; !ok || due < line {
				lines[p] = due
			}
			n++
			return err
		})
		if err != nil {
			return err
		}
		for p, due := range lines {
			if _, err := l.exec(linePart, kind, p.priority, p.part, max(due, micros(l.c.Now))); err != nil {
				return err
			}
		}
		if n < lineFew {
			return nil
		}
	}
	l.c.Next = l.c.Now
	return nil
}

var (
	// nearJobs reads the index once.
	nearJobs = sqlrow.SQL(`select rowid, due from executor_job
		where state = {Waiting} and kind = ? and priority = ? and due <= ? order by due limit ?`)

	// nearQueued is nearJobs in a queue.
	nearQueued = sqlrow.SQL(`select rowid, due from executor_job
		where state < {Claimed} and queue <> '' and queue = ? and kind = ? and priority = ? and due <= ? order by due limit ?`)

	// nearLoose reads the index once, past jobs that are in a partition.
	nearLoose = sqlrow.SQL(`select id, due from (select rowid as id, due, part from executor_job
		where state = {Waiting} and kind = ? and priority = ? and due <= ? order by due limit ?) where part = '' limit ?`)

	// nearParts are the partitions that come first.
	nearParts = "select part, line from executor_part where kind = ? and priority = ? and line <= ? order by line, part limit ?"

	// nearOfPart reads the index once.
	nearOfPart = sqlrow.SQL(`select rowid, due from executor_job
		where state < {Claimed} and kind = ? and part = ? and part <> '' and priority = ? and due <= ? order by due limit ?`)

	// nextOfPart is when the first of a partition is due.
	nextOfPart = sqlrow.SQL(`select coalesce((select due from executor_job
		where state < {Claimed} and kind = ? and part = ? and part <> '' and priority = ? order by due limit 1), 0)`)

	// claimJob claims one job, which waits.
	claimJob = sqlrow.SQL(`update executor_job
		set state = case when due <= ?1 then {Granted} else {Claimed} end, owner = ?2, epoch = min(epoch + 1, {Most}), updated = ?3
		where rowid = ?4 returning ` + sqlrow.Claimed)
)

// A nearJob is one that waits and is due within what a claim looks ahead.
type nearJob struct {
	row, due int64
	part     string
	nth      int   // of its partition in this claim
	line     int64 // the place of its partition, or when it is due
}

// looseFew is past how many jobs a claim looks for those without a partition; partsFew is how many partitions it looks
// at for nothing.
const looseFew, partsFew = 100, 20

// take claims jobs of one kind and priority.
func (l *limitedClaim) take(k *limitedKind, p durable.Priority) error {
	room := min(k.room, l.r.Limit-len(l.c.Jobs))
	if room <= 0 || k.empty {
		return nil
	}
	near, parts, err := l.near(k, p, room)
	if err != nil {
		return err
	}
	took := make(map[string]bool)
	for _, j := range near[:min(len(near), room)] {
		if !l.token(k, j.due) {
			break
		}
		rows, err := l.query(claimJob, micros(l.c.Now.Add(l.r.Lead)), l.r.Node, micros(l.c.Now), j.row)
		err = sqlrow.ScanClaimed(rows, err, func(j *durable.Job) {
			sqlrow.Complete(j, &l.r, l.c.Now)
			l.c.Jobs = append(l.c.Jobs, *j)
		})
		if err != nil {
			return err
		}
		if k.room--; j.part != "" {
			k.taken[j.part]++
			took[j.part] = true
		}
	}
	return l.moveOn(k, p, parts, took)
}

// near returns the jobs of a kind and priority that are claimed next, in their order, and how many are near of each of
// the partitions that it has looked at.
func (l *limitedClaim) near(k *limitedKind, p durable.Priority, room int) (near []nearJob, parts map[string]int, err error) {
	until := micros(l.c.Now.Add(l.r.Ahead))
	add := func(part string, nth int, line int64) func(sqlrow.Scanner) error {
		return func(row sqlrow.Scanner) error {
			j := nearJob{part: part, nth: nth, line: line}
			err := row.Scan(&j.row, &j.due)
			if part == "" {
				j.line = j.due
			} else {
				nth++
				parts[part]++
			}
			near = append(near, j)
			return err
		}
	}
	if l.queue != "" {
		err = l.each(nearQueued, []any{l.queue, k.Kind, sqlrow.Priority(p, l.queue), until, room}, add("", 0, 0))
		return near, nil, err
	}
	if k.PerPartition == 0 {
		err = l.each(nearJobs, []any{k.Kind, int64(p), until, room}, add("", 0, 0))
		return near, nil, err
	}
	full := 0
	for part := range k.held {
		if k.space(part) <= 0 {
			full++
		}
	}
	if err = l.each(nearLoose, []any{k.Kind, int64(p), until, room + looseFew, room}, add("", 0, 0)); err != nil {
		return nil, nil, err
	}
	parts = make(map[string]int)
	var lines []nearJob
	err = l.each(nearParts, []any{k.Kind, int64(p), until, room + full + partsFew}, func(row sqlrow.Scanner) error {
		var j nearJob
		err := row.Scan(&j.part, &j.line)
		if k.space(j.part) > 0 && len(lines) < room+partsFew {
			lines = append(lines, j)
		}
		return err
	})
	for _, j := range lines {
		if err != nil {
			break
		}
		parts[j.part] = 0
		args := []any{k.Kind, j.part, int64(p), until, min(k.space(j.part), room)}
		err = l.each(nearOfPart, args, add(j.part, k.taken[j.part], j.line))
	}
	slices.SortStableFunc(near, func(a, b nearJob) int {
		return cmp.Or(cmp.Compare(a.nth, b.nth), cmp.Compare(a.line, b.line), strings.Compare(a.part, b.part))
	})
	return near, parts, err
}

// moveOn gives the partitions that had their turn the next one, and those that have nothing near another place or none.
func (l *limitedClaim) moveOn(k *limitedKind, p durable.Priority, parts map[string]int, took map[string]bool) error {
	for part, near := range parts {
		if near > 0 && !took[part] {
			continue
		}
		due := int64(0)
		if err := l.row(nextOfPart, []any{k.Kind, part, int64(p)}, &due); err != nil {
			return err
		}
		var err error
		if due == 0 {
			_, err = l.exec("delete from executor_part where kind = ? and priority = ? and part = ?", k.Kind, int64(p), part)
		} else {
			_, err = l.exec("update executor_part set line = ? where kind = ? and priority = ? and part = ?",
				max(due, micros(l.c.Now)+1), k.Kind, int64(p), part) // after what was put in line by this claim
		}
		if err != nil {
			return err
		}
		if near == 0 && len(parts) >= partsFew {
			l.c.Next = l.c.Now // others may have been left out for these
		}
	}
	return nil
}

// token takes a token for a job that is due then, if its kind has a rate, and reports whether there was one.
func (l *limitedClaim) token(k *limitedKind, due int64) bool {
	if k.Rate == (store.Rate{}) {
		return true
	}
	at := sqlrow.Time(due)
	if at.Before(l.c.Now) {
		at = l.c.Now
	}
	full, ok := transition.Take(k.Rate, k.full, at)
	if !ok {
		k.empty = true
		if next := transition.Token(k.Rate, k.full); l.c.Next.IsZero() || next.Before(l.c.Next) {
			l.c.Next = next
		}
		return false
	}
	k.full, k.spent = full, true
	return true
}
