package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
)

// oldest is the version that a program must know to use the tables as the last migration leaves them. Say so with each
// migration: one that does no harm to the programs before leaves it as it is, so that they start again after a
// roll-back, and beside newer ones.
const oldest = 1

// migrations lead from each version of the schema to the next; the first is from nothing to version 1. One that was
// released is never changed.
var migrations = []string{create}

// create makes the tables. The predicates of partial indexes are ranges where they can be: with an in-list each
// statement that writes builds two temporary trees.
var create = `
	-- A row that can't be read is not accepted: one would stop the claims of all. tags are in executor_tag as well; part
	-- is the partition, which is in line if lined is the epoch, and family says whether it has parents and children. Of a job in
	-- a queue the priority is {Queued} more.
	create table executor_job (
		id blob primary key not null check (length(id) = 16),
		key text unique,
		kind text not null,
		payload blob not null,
		priority integer not null,
		schedule text not null,
		missed text not null,
		anchor integer not null,
		due integer not null,
		occurrence integer not null,
		next_due integer not null,
		state integer not null,
		pending integer not null,
		epoch integer not null,
		owner text not null,
		attempt integer not null,
		attempts integer not null,
		timeout integer not null,
		runs integer not null,
		lost integer not null default 0,
		error text not null,
		result blob,
		created integer not null,
		updated integer not null,
		suspect integer not null default 0,
		meta text not null default '',
		label text not null default '',
		tags text not null default '',
		part text not null default '',
		lined integer not null default -1,
		family integer not null default 0,
		queue text not null default '',
		check ` + sqlrow.Sound + `
	) strict;
	create index executor_job_due on executor_job (kind, priority, due) where state = {Waiting};
	create index executor_job_owner on executor_job (owner, kind) where state in {Held};
	create index executor_job_over on executor_job (state, updated) where state >= {Succeeded} and state <= {Canceled};
	create index executor_job_error on executor_job (id) where error <> '';
	-- The conditions of these three are not those of executor_job_due, which a planner without statistics would use.
	create index executor_job_part on executor_job (kind, part, priority, due) where state < {Claimed} and part <> '';
	create index executor_job_new on executor_job (kind) where state < {Claimed} and part <> '' and lined <> epoch;
	create index executor_job_queue on executor_job (queue, kind, priority, due) where state < {Claimed} and queue <> '';

	-- Nodes, with the length of their leases, to begin them anew after a jump of the clock.
	create table executor_node (
		id text primary key,
		lease_until integer not null,
		lease integer not null default 0,
		joined integer not null default 0,
		info text not null default '',
		drain integer not null default 0
	);

	-- Which runs have begun.
	create table executor_begun (
		job blob not null,
		epoch integer not null,
		started integer not null,
		primary key (job, epoch)
	) without rowid;

	-- The history.
	create table executor_run (
		job blob not null,
		seq integer not null,
		occurrence integer not null,
		attempt integer not null,
		epoch integer not null,
		node text not null,
		started integer not null,
		finished integer not null,
		verdict integer not null,
		error text not null,
		output blob,
		label text not null default ''
	);
	create unique index executor_run_job on executor_run (job, seq);
	create index executor_run_latest on executor_run (verdict, finished);

	-- What runs in progress report.
	create table executor_progress (
		job blob primary key not null,
		epoch integer not null,
		done integer not null,
		total integer not null,
		note text not null,
		noted integer not null
	) strict, without rowid;

	-- The results of steps, and signals.
	create table executor_step (
		job blob not null,
		occasion integer not null,
		signal integer not null,
		name text not null,
		result blob,
		noted integer not null,
		primary key (job, occasion, signal, name)
	) strict;

	create table executor_tag (
		tag text not null,
		job blob not null,
		primary key (tag, job)
	) strict, without rowid;

	-- The parents of jobs, and how many of them a job waits for.
	create table executor_parent (
		child blob not null,
		ord integer not null,
		parent blob not null,
		state integer not null,
		primary key (child, ord)
	) strict, without rowid;
	create index executor_parent_parent on executor_parent (parent);
	create table executor_after (
		job blob primary key not null,
		total integer not null,
		succeeded integer not null,
		failed integer not null,
		need integer not null,
		anyway integer not null
	) strict, without rowid;

	-- The kinds that are paused, and when the buckets of kinds with a rate are full.
	create table executor_pause (kind text primary key);
	create table executor_limit (
		kind text primary key not null,
		filled integer not null
	) strict, without rowid;

	-- The places of partitions in line.
	create table executor_part (
		kind text not null,
		priority integer not null,
		part text not null,
		line integer not null,
		primary key (kind, priority, part)
	) strict, without rowid;
	create index executor_part_line on executor_part (kind, priority, line, part);

	-- What was done to jobs by hand, and why.
	create table executor_act (
		seq integer primary key autoincrement,
		noted integer not null,
		who text not null,
		action text not null,
		job blob not null,
		key text not null,
		reason text not null,
		answer text not null
	) strict;
	create index executor_act_job on executor_act (job, seq);
	create index executor_act_noted on executor_act (noted);`

// migrate brings the schema up to date, under the lock of a writer.
func migrate(ctx context.Context, conn *sql.Conn) (err error) {
	begin := func() error {
		_, err := conn.ExecContext(ctx, "begin immediate")
		return err
	}
	if err := whileBusy(begin); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			conn.ExecContext(context.WithoutCancel(ctx), "rollback")
		}
	}()
	if _, err := conn.ExecContext(ctx, "create table if not exists executor_schema (version integer not null, oldest integer)"); err != nil {
		return err
	}
	version := 0
	if err := conn.QueryRowContext(ctx, "select coalesce(max(version), 0) from executor_schema").Scan(&version); err != nil {
		return err
	}
	if version > len(migrations) {
		least := 0
		const read = "select coalesce(oldest, version) from executor_schema order by version desc limit 1"
		if err := conn.QueryRowContext(ctx, read).Scan(&least); err != nil {
			return err
		}
		if least > len(migrations) {
			return fmt.Errorf("%w: its schema version %d requires a program that knows version %d; this one knows %d: use a newer one",
				durable.ErrNewerSchema, version, least, len(migrations))
		}
	}
	if version <= len(migrations) {
		there, err := sqlrow.Strings(conn.QueryContext(ctx, "select name from sqlite_master where type = 'table'"))
		if err != nil {
			return err
		}
		restored, err := sqlrow.Restore(migrations[:version], there, refill)
		if err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, restored); err != nil {
			return fmt.Errorf("tables that are missing: %w", err)
		}
	}
	for ; version < len(migrations); version++ {
		if _, err := conn.ExecContext(ctx, sqlrow.SQL(migrations[version])); err != nil {
			return fmt.Errorf("migration to schema version %d: %w", version+1, err)
		}
		if _, err := conn.ExecContext(ctx, "insert into executor_schema (version) values (?)", version+1); err != nil {
			return err
		}
		if version+1 == len(migrations) {
			if _, err := conn.ExecContext(ctx, "update executor_schema set oldest = ?", oldest); err != nil {
				return err
			}
		}
	}
	_, err = conn.ExecContext(ctx, "commit")
	return err
}
