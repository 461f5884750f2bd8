package postgres

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// A conflictError is the error of insertAll if a key is taken by another sort of job. What it has done is to be rolled
// back, and the results are these.
type conflictError struct{ results []durable.InsertResult }

func (*conflictError) Error() string {
	return "durable/postgres: a key is taken by another sort of job"
}

// errBusyKeys is the error of a key of which the job is never there when it is looked at.
var errBusyKeys = errors.New("durable/postgres: a key is taken and freed again and again; try later")

// errKeysFreed is the error of insertAll if jobs were removed, or have lost their keys, after it had found that they are
// there. What it has done is to be rolled back, and it is to be called again: it has locked the rows of others by then,
// and whoever holds the keys may wait for one of these.
var errKeysFreed = errors.New("durable/postgres: a key was freed meanwhile; try later")

// again calls what calls insertAll, at first with false, until no key was freed meanwhile.
func again(insert func(freed bool) ([]durable.InsertResult, error)) ([]durable.InsertResult, error) {
	for try := range 10 {
		if placed, err := insert(try > 0); !errors.Is(err, errKeysFreed) {
			return placed, err
		}
	}
	return nil, errBusyKeys
}

// An insertion is the insert of jobs in a transaction.
type insertion struct {
	querier
	jobs     []durable.NewJob
	placed   []durable.InsertResult // those that are done have a Now
	was      []durable.Job          // what was there in place of each
	changed  []*durable.Job         // those of them that are to be written
	retag    retagging
	now      time.Time // when these were read last
	conflict bool
}

// insertAll inserts those of the jobs that are not among the ones that were added before, by the same few statements
// however many they are. They are added in the order of their keys, so that programs which add the same ones at the
// same time wait for each other, and not in a circle. If one of several can't have its key, the error is a
// conflictError. It may be errKeysFreed; freed says that it was.
func insertAll(ctx context.Context, tx querier, jobs []durable.NewJob, before []durable.InsertResult,
	p store.Placement, callers, freed bool) ([]durable.InsertResult, error) {
	placed := make([]durable.InsertResult, len(jobs))
	copy(placed, before)
	in := insertion{querier: tx, jobs: jobs, placed: placed, was: make([]durable.Job, len(jobs))}
	var rest []int
	for i := range jobs {
		if absent(placed[i]) {
			rest = append(rest, i)
		}
	}
	slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(jobs[a].Key, jobs[b].Key) })
	family := slices.ContainsFunc(jobs, grafted)
	var err error
	if family {
		err = lockParents(ctx, tx, jobs)
	}
	for try := 0; err == nil && len(rest) > 0; try++ {
		if try == 10 {
			return nil, errBusyKeys
		}
		if err = freeKeys(ctx, tx, in.some(rest), freed || try > 0); err != nil {
			break
		}
		if rest, err = in.add(ctx, rest, p, callers); err == nil && len(rest) > 0 {
			rest, err = in.amend(ctx, rest)
		}
		if err == nil && len(rest) > 0 && len(jobs) > 1 {
			err = errKeysFreed
		}
	}
	switch {
	case err != nil:
		return nil, err
	case in.conflict:
		for i, n := range jobs {
			was := in.was[i]
			placed[i] = durable.InsertResult{Job: was, Now: in.now, KindTaken: was.Kind != "" && was.Kind != n.Kind}
		}
		return nil, &conflictError{placed}
	case len(in.changed) > 0:
		if err := putAll(ctx, tx, in.changed, in.now); err != nil {
			return nil, err
		}
		if err := in.retag.write(ctx, tx); err != nil {
			return nil, err
		}
	}
	if family {
		if err := graft(ctx, tx, jobs, placed); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(placed, func(p durable.InsertResult) bool { return !p.Changed }) {
		return placed, tx.exec(ctx, follow)
	}
	return placed, nil
}

// follow makes the transaction wait at its end until what it has found is as safe as what it writes. A job may be there
// that is not on the standby yet, as the call that added it has given up waiting for that; without it, the call that is
// made again would write nothing, and wait for nothing. It locks no row, which would keep the job from being claimed.
const follow = "select pg_catalog.pg_logical_emit_message(true, 'executor', '')"

// some returns the jobs at these places.
func (in *insertion) some(places []int) []durable.NewJob {
	jobs := make([]durable.NewJob, len(places))
	for k, i := range places {
		jobs[k] = in.jobs[i]
	}
	return jobs
}

// add adds the jobs at these places, and returns the places of those that are there.
func (in *insertion) add(ctx context.Context, places []int, p store.Placement, callers bool) (there []int, err error) {
	added, err := insert(ctx, in, in.some(places), p, false, callers)
	if err != nil {
		return nil, err
	}
	for k, i := range places {
		if in.placed[i] = added[k]; absent(added[k]) {
			there = append(there, i)
		}
	}
	return there, nil
}

// amend treats the jobs at these places, which were there, and returns the places of those that are not any more.
func (in *insertion) amend(ctx context.Context, places []int) (gone []int, err error) {
	there, err := in.look(ctx, places)
	if err != nil {
		return nil, err
	}
	for _, i := range places {
		n, changed := in.jobs[i], false
		j, repeated := there[n.ID]
		if !repeated {
			if j = there[n.Key]; j == nil { // freed or deleted meanwhile
				gone = append(gone, i)
				continue
			}
		}
		if !repeated && transition.Reuses(j, n, in.now) { // it came to that meanwhile
			gone = append(gone, i)
			continue
		}
		if in.was[i] = *j; !repeated {
			in.conflict = in.conflict || len(in.jobs) > 1 && transition.Conflicts(j, n)
			if changed = transition.Amend(j, n, in.now); changed {
				in.changed = append(in.changed, j)
				in.retag.add(j.ID, in.was[i].Tags, j.Tags)
			}
		}
		in.placed[i] = durable.InsertResult{Job: *j, Changed: changed, Now: in.now, KindTaken: j.Kind != n.Kind}
	}
	return gone, nil
}

// look reads the jobs that are there in place of those at these places, and returns them by ID, for what was inserted
// before, or by key. What runs once is mostly not amended: its row is not locked, or its outcome would wait until the
// caller's transaction ends.
func (in *insertion) look(ctx context.Context, places []int) (map[any]*durable.Job, error) {
	var err error
	if in.now, err = serverTime(ctx, in); err != nil {
		return nil, err
	}
	there := make(map[any]*durable.Job, len(places))
	for _, lock := range []bool{false, true} {
		var ids []pgtype.UUID
		var keys []string
		for _, i := range places {
			if n := &in.jobs[i]; lock == (n.Periodic() || n.ReuseKey || n.Replace || len(n.Among) > 0) {
				ids, keys = append(ids, uuid(n.ID)), append(keys, n.Key)
			}
		}
		if len(ids) == 0 {
			continue
		}
		statement := selectJob + "where id = any($1::uuid[]) or key = any($2::text[])"
		if lock {
			statement += " order by key, id for update"
		}
		found, err := sqlrow.ScanAll(in.query(ctx, statement, ids, keys))
		if err != nil {
			return nil, err
		}
		for k := range found {
			j := &found[k]
			if there[j.ID] = j; j.Key != "" {
				there[j.Key] = j
			}
		}
	}
	return there, nil
}

// updateJobs is updateJob for jobs that are the elements of a list in JSON.
var updateJobs = func() string {
	var b strings.Builder
	for _, name := range sqlrow.Names[1:] {
		b.WriteString(", " + name + " = u." + name)
	}
	return "update executor_job j set lined = -1" + b.String() +
		" from pg_catalog.jsonb_populate_recordset(null::executor_job, $1::text::jsonb) u where j.id = u.id"
}()

// putAll is put for several jobs.
func putAll(ctx context.Context, tx querier, jobs []*durable.Job, now time.Time) error {
	rows := make([]map[string]any, len(jobs))
	soon := false
	for i, j := range jobs {
		row := make(map[string]any, len(sqlrow.Names))
		for k, v := range sqlrow.Values(j, j.ID.String()) {
			if data, ok := v.([]byte); ok {
				v = nil
				if data != nil {
					v = `\x` + hex.EncodeToString(data)
				}
			}
			row[sqlrow.Names[k]] = v
		}
		rows[i] = row
		soon = soon || due(j, now)
	}
	text, err := json.Marshal(rows)
	if err == nil {
		err = tx.exec(ctx, updateJobs, string(text))
	}
	if err == nil && soon {
		err = notifyNodes(ctx, tx)
	}
	return err
}

// due reports whether nodes have to do something about a job soon.
func due(j *durable.Job, now time.Time) bool {
	return j.Pending == durable.PendingCancel ||
		j.State == durable.Waiting && sqlrow.Micros(j.Due) <= sqlrow.Micros(now)+near
}
