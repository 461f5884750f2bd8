package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// Now returns the store's time. It is an error that the file was removed or replaced.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if err := s.writer.files.there(); err != nil {
		return time.Time{}, err
	}
	return now(), nil
}

// Join adds a node.
func (s *Store) Join(ctx context.Context, node string, lease time.Duration) (time.Time, error) {
	return do(ctx, s.writer, func(q *querier) (time.Time, error) {
		t := now()
		_, err := q.exec(`insert into executor_node (id, lease_until, lease, joined) values (?, ?, ?, ?)
			on conflict (id) do update set lease_until = excluded.lease_until, lease = excluded.lease, joined = excluded.joined`,
			node, micros(t.Add(lease)), lease.Microseconds(), micros(t))
		return t, err
	})
}

// Heartbeat renews a lease, frees the jobs of dead nodes, and looks for a job.
func (s *Store) Heartbeat(ctx context.Context, node string, lease time.Duration,
	w store.Watch) (store.HeartbeatResult, error) {
	return do(ctx, s.writer, func(q *querier) (store.HeartbeatResult, error) {
		p, err := q.beat(node, lease)
		if err == nil {
			p.Due, err = q.due(w, p.Now)
		}
		return p, err
	})
}

// These select what a node holds, what it runs that is to be canceled, and what nodes held that are gone.
var (
	selectHeld     = sqlrow.SQL(selectJob + "where state in {Held} and owner = ?")
	selectToCancel = sqlrow.SQL(selectJob + "where state in {Held} and owner = ? and pending = {PendingCancel}")
	selectOrphans  = sqlrow.SQL(selectJob + "where state in {Held} and owner not in (select id from executor_node)")
)

// dueJob reads the index once. dueQueued is dueJob in a queue.
var dueQueued = sqlrow.SQL("select exists (select 1 from executor_job where state < {Claimed} and queue <> '' and queue = ? and kind = ? and priority = ? and due <= ?)")

var dueJob = sqlrow.SQL("select exists (select 1 from executor_job where state = {Waiting} and kind = ? and priority = ? and due <= ?)")

// due reports whether a job that w asks for is there.
func (q *querier) due(w store.Watch, now time.Time) (bool, error) {
	for p := durable.High; p >= durable.Low; p-- {
		for _, kind := range w.Kinds {
			found, until := false, micros(now.Add(w.Ahead))
			if !w.Elsewhere {
				if err := q.row(dueJob, []any{kind, int64(p), until}, &found); err != nil || found {
					return found, err
				}
			}
			for _, queue := range w.Queues {
				if err := q.row(dueQueued, []any{queue, kind, sqlrow.Priority(p, queue), until}, &found); err != nil || found {
					return found, err
				}
			}
		}
	}
	return false, nil
}

func (q *querier) beat(node string, lease time.Duration) (store.HeartbeatResult, error) {
	p := store.HeartbeatResult{Now: now()}
	// After a jump of the clock other leases begin anew or are cut down.
	_, err := q.exec(`update executor_node set lease_until = ?1 + lease where id <> ?2 and lease > 0
		and (lease_until > ?1 + lease + 1000000 or lease_until < ?1 and (select lease_until < ?1 from executor_node where id = ?2))`, micros(p.Now), node)
	if err != nil {
		return p, err
	}
	n, err := q.exec("update executor_node set lease_until = ?, lease = ? where id = ?", micros(p.Now.Add(lease)), lease.Microseconds(), node)
	if err != nil {
		return p, err
	}
	if p.Alive = n > 0; p.Alive {
		if err := q.row("select drain from executor_node where id = ?", []any{node}, &p.Draining); err != nil {
			return p, err
		}
	}
	removed, err := q.exec("delete from executor_node where id <> ? and lease_until < ?", node, micros(p.Now))
	if err != nil {
		return p, err
	}
	others := 0
	if err := q.row("select count(*) from executor_node where id <> ?", []any{node}, &others); err != nil {
		return p, err
	}
	p.Alone = others == 0 // a file is of one machine: what keeps a node from it keeps others from it, too
	if removed > 0 || !p.Alive {
		orphans, err := sqlrow.ScanAll(q.query(selectOrphans))
		if err != nil {
			return p, err
		}
		p.Freed = len(orphans)
		for i := range orphans {
			if run, ok := transition.Reap(&orphans[i], p.Now); ok {
				if err := q.addRun(&run); err != nil {
					return p, err
				}
			}
			if orphans[i].State == durable.Dead {
				p.Dead = append(p.Dead, orphans[i].ID)
			}
			if err := q.put(&orphans[i]); err != nil {
				return p, err
			}
		}
		if _, err := q.endedFamily(p.Now, orphans); err != nil {
			return p, err
		}
	}
	if p.Paused, err = sqlrow.Strings(q.query(selectPaused)); err != nil {
		return p, err
	}
	wanted, err := sqlrow.ScanAll(q.query(selectToCancel, node))
	for _, j := range wanted {
		p.Canceled = append(p.Canceled, store.Ref{ID: j.ID, Epoch: j.Epoch})
	}
	return p, err
}

// Leave removes a node.
func (s *Store) Leave(ctx context.Context, node string) error {
	return s.writer.do(ctx, func(q *querier) error {
		if err := q.release(node, nil); err != nil {
			return err
		}
		_, err := q.exec("delete from executor_node where id = ?", node)
		return err
	})
}

// Release frees the jobs that a node holds, except keep.
func (s *Store) Release(ctx context.Context, node string, keep []durable.ID) (left bool, err error) {
	return false, s.writer.do(ctx, func(q *querier) error { return q.release(node, keep) })
}

func (q *querier) release(node string, keep []durable.ID) error {
	kept := make(map[durable.ID]bool, len(keep))
	for _, id := range keep {
		kept[id] = true
	}
	held, err := sqlrow.ScanAll(q.query(selectHeld, node))
	if err != nil {
		return err
	}
	t := now()
	for i := range held {
		if !kept[held[i].ID] {
			transition.Release(&held[i], t)
			if err := q.put(&held[i]); err != nil {
				return err
			}
		}
	}
	_, err = q.endedFamily(t, held)
	return err
}

// heldOfKind counts what all nodes hold of a kind, by one read of the index for each node.
var heldOfKind = sqlrow.SQL(`select count(*) from executor_node n cross join executor_job j
	where j.state in {Held} and j.owner = n.id and j.kind = ?`)

// claimJobs claims jobs of one kind and priority.
var claimJobs = sqlrow.SQL(`update executor_job
	set state = case when due <= ?1 then {Granted} else {Claimed} end, owner = ?2, epoch = min(epoch + 1, {Most}), updated = ?3
	where rowid in (select rowid from executor_job where state = {Waiting} and kind = ?4 and priority = ?5 and due <= ?6 order by due limit ?7)
	returning ` + sqlrow.Claimed)

// claimQueued claims jobs of one kind and priority in a queue.
var claimQueued = sqlrow.SQL(`update executor_job
	set state = case when due <= ?1 then {Granted} else {Claimed} end, owner = ?2, epoch = min(epoch + 1, {Most}), updated = ?3
	where rowid in (select rowid from executor_job
		where state < {Claimed} and queue <> '' and queue = ?8 and kind = ?4 and priority = ?5 and due <= ?6 order by due limit ?7)
	returning ` + sqlrow.Claimed)

// Claim gives waiting jobs to a node. It reads the index once for each priority of each kind.
func (s *Store) Claim(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	return do(ctx, s.writer, func(q *querier) (store.ClaimResult, error) { return q.claim("", r) })
}

func (q *querier) claim(queue string, r store.ClaimRequest) (store.ClaimResult, error) {
	r.Kinds = slices.Clone(r.Kinds)
	c := store.ClaimResult{Now: now()}
	takes, err := q.takes(r.Node)
	if err != nil || !takes {
		return c, err
	}
	ahead, lead := micros(c.Now.Add(r.Ahead)), micros(c.Now.Add(r.Lead))
	taken := make(map[string]int)
	for i, k := range r.Kinds {
		if k.Global > 0 {
			held := 0
			if err := q.row(heldOfKind, []any{k.Kind}, &held); err != nil {
				return c, err
			}
			r.Kinds[i].Max = min(k.Max, k.Global-held)
		}
	}
	for p := durable.High; p >= durable.Low; p-- {
		for _, k := range r.Kinds {
			limit := min(k.Max-taken[k.Kind], r.Limit-len(c.Jobs))
			if limit <= 0 {
				continue
			}
			before := len(c.Jobs)
			statement, args := claimJobs, []any{lead, r.Node, micros(c.Now), k.Kind, sqlrow.Priority(p, queue), ahead, limit}
			if queue != "" {
				statement, args = claimQueued, append(args, queue)
			}
			rows, err := q.query(statement, args...)
			err = sqlrow.ScanClaimed(rows, err, func(j *durable.Job) {
				sqlrow.Complete(j, &r, c.Now)
				c.Jobs = append(c.Jobs, *j)
			})
			if err != nil {
				return c, err
			}
			taken[k.Kind] += len(c.Jobs) - before
		}
	}
	c.More = len(c.Jobs) >= r.Limit
	return c, nil
}
