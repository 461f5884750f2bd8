package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/row"
	"github.com/executor-go/executor/durable/internal/rules"
)

// Join adds a node.
func (s *Store) Join(ctx context.Context, node string, lease time.Duration) (time.Time, error) {
	var now int64
	err := s.db.QueryRowContext(ctx, `with n as materialized (select `+clock+` as now)
		insert into executor_node select $1, n.now + $2 from n
		on conflict (id) do update set lease_until = excluded.lease_until
		returning lease_until - $2`, node, lease.Microseconds()).Scan(&now)
	return row.Time(now), err
}

// Beat renews a lease, and frees what dead nodes hold. As long as nobody is dead
// and nothing is to be canceled it is one statement.
func (s *Store) Beat(ctx context.Context, node string, lease time.Duration) (durable.Pulse, error) {
	var p durable.Pulse
	var now int64
	var dead, wanted bool
	err := s.db.QueryRowContext(ctx, `with n as materialized (select `+clock+` as now),
		renewed as (update executor_node set lease_until = n.now + $2 from n where id = $1 returning id)
		select n.now, exists (select from renewed),
			exists (select from executor_node where id <> $1 and lease_until < n.now),
			exists (select from executor_job where state in (1, 2) and owner = $1 and wish = 1)
		from n`, node, lease.Microseconds()).Scan(&now, &p.Alive, &dead, &wanted)
	if err != nil {
		return p, err
	}
	p.Now = row.Time(now)
	if dead || !p.Alive {
		err = s.inTx(ctx, func(tx *sql.Tx) (err error) {
			p.Freed, err = reap(ctx, tx, node)
			return err
		})
		if err != nil {
			return p, err
		}
	}
	if wanted {
		jobs, err := row.ScanAll(s.db.QueryContext(ctx, selectJob+"where state in (1, 2) and owner = $1 and wish = 1", node))
		for _, j := range jobs {
			p.Canceled = append(p.Canceled, durable.Ref{ID: j.ID, Epoch: j.Epoch})
		}
		return p, err
	}
	return p, nil
}

// reap frees what nodes hold that are not there any more. The two statements
// have a snapshot each: the second sees what a node claimed up to the moment in
// which the first removed it.
func reap(ctx context.Context, tx *sql.Tx, node string) (int, error) {
	if _, err := tx.ExecContext(ctx, "delete from executor_node where id <> $1 and lease_until < "+clock, node); err != nil {
		return 0, err
	}
	orphans, err := row.ScanAll(tx.QueryContext(ctx, selectJob+`j where state in (1, 2)
		and not exists (select from executor_node where id = j.owner) order by id for update`))
	if err != nil || len(orphans) == 0 {
		return 0, err
	}
	now, err := serverTime(ctx, tx)
	if err != nil {
		return 0, err
	}
	for i := range orphans {
		if run, ok := rules.Reap(&orphans[i], now); ok {
			_, err := tx.ExecContext(ctx, "insert into executor_run ("+row.RunColumns+") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)", row.RunValues(&run, uuid(run.Job))...)
			if err != nil {
				return 0, err
			}
		}
		if err := put(ctx, tx, &orphans[i]); err != nil {
			return 0, err
		}
	}
	_, err = tx.ExecContext(ctx, "select pg_notify('"+channel+"', '')")
	return len(orphans), err
}

// Leave removes a node.
func (s *Store) Leave(ctx context.Context, node string) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		// In this order: nothing can be claimed for the node in between.
		if _, err := tx.ExecContext(ctx, "delete from executor_node where id = $1", node); err != nil {
			return err
		}
		return release(ctx, tx, node, nil)
	})
}

// Release frees what a node holds, except keep.
func (s *Store) Release(ctx context.Context, node string, keep []durable.ID) error {
	return s.inTx(ctx, func(tx *sql.Tx) error { return release(ctx, tx, node, keep) })
}

func release(ctx context.Context, tx *sql.Tx, node string, keep []durable.ID) error {
	held, err := row.ScanAll(tx.QueryContext(ctx, selectJob+`where state in (1, 2) and owner = $1
		and not (id = any($2::uuid[])) order by id for update`, node, uuids(keep)))
	if err != nil || len(held) == 0 {
		return err
	}
	now, err := serverTime(ctx, tx)
	if err != nil {
		return err
	}
	for i := range held {
		rules.Release(&held[i], now)
		if err := put(ctx, tx, &held[i]); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "select pg_notify('"+channel+"', '')")
	return err
}

// claimJobs looks into the index once for each priority and kind, the most urgent
// first, and stops when it has enough. The lock on the node's row is for the same
// reason as in insertJobs. A kind may be over its limit by what other priorities
// gave; what is over is left.
var claimJobs = `with node as materialized (
		select id from executor_node where id = $1 for key share
	), n as materialized (
		select ` + clock + ` as now
	), pick as materialized (
		select id, most, row_number() over (partition by kind order by priority desc, due) as place from (
		select j.id, j.due, k.kind, k.priority, k.most
		from (
			select p.priority, k.kind, k.most, k.ord
			from unnest($5::text[], $6::bigint[]) with ordinality as k (kind, most, ord), unnest('{1,0,-1}'::smallint[]) as p (priority)
			order by p.priority desc, k.ord offset 0
		) k
		cross join lateral (
			select id, due from executor_job
			where state = 0 and kind = k.kind and priority = k.priority
				and due <= (select now + $2 from n) and exists (select from node)
			order by due limit k.most for update skip locked
		) j
		limit $4) few
	), u as (
		update executor_job j set
			state = case when j.due <= n.now + $3 then 2 else 1 end,
			attempt = j.attempt + (j.due <= n.now + $3)::int,
			owner = $1, epoch = j.epoch + 1, updated = n.now
		from pick, n where j.id = pick.id and pick.place <= pick.most
		returning j.*
	) select ` + row.Columns + `, n.now from u, n
	union all
	select '00000000-0000-0000-0000-000000000000'::uuid, null, '', '', 0, '', '', 0, 0, 0, 0,
		0, 0, 0, '', 0, 0, 0, 0, '', null, 0, 0, n.now from n`

// Claim gives waiting jobs to a node.
func (s *Store) Claim(ctx context.Context, r durable.ClaimRequest) (durable.Claims, error) {
	var c durable.Claims
	kinds, most := make([]string, len(r.Kinds)), make([]int64, len(r.Kinds))
	for i, k := range r.Kinds {
		kinds[i], most[i] = k.Kind, int64(k.Max)
	}
	rows, err := s.db.QueryContext(ctx, claimJobs, r.Node, r.Ahead.Microseconds(), r.Lead.Microseconds(), r.Limit, kinds, most)
	if err != nil {
		return c, err
	}
	defer rows.Close()
	for rows.Next() {
		var now int64
		j, err := row.Scan(rows, &now)
		if err != nil {
			return c, err
		}
		c.Now = row.Time(now)
		if j.ID != (durable.ID{}) { // the last row is there for the time, even if there is no job
			c.Jobs = append(c.Jobs, j)
		}
	}
	return c, rows.Err()
}
