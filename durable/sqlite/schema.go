package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
)

// oldest is the version that a program must know to use the tables as the last migration leaves them. Say so with each
// migration: one that does no harm to the programs before leaves it as it is, so that they start again after a
// roll-back, and beside newer ones.
const oldest = 14

// migrations lead from each version of the schema to the next; the first is from nothing to version 1. One that was
// released is never changed.
var migrations = []string{
	`create table executor_job (
		id blob primary key,
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
		wish integer not null,
		epoch integer not null,
		owner text not null,
		attempt integer not null,
		attempts integer not null,
		timeout integer not null,
		runs integer not null,
		error text not null,
		result blob,
		created integer not null,
		updated integer not null
	);
	create index executor_job_due on executor_job (kind, priority, due) where state = {Waiting};
	create index executor_job_owner on executor_job (owner) where state in {Held};
	create index executor_job_over on executor_job (state, updated) where state in {Over};
	create table executor_node (
		id text primary key,
		lease_until integer not null
	);
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
		error text not null
	);
	create unique index executor_run_job on executor_run (job, seq);`,

	// Limits for all nodes: what is held is counted by kind. And the length of leases, to begin them anew after a jump
	// of the clock. The predicate of a partial index is a range, since with an in-list each statement that writes
	// builds two temporary trees.
	`drop index executor_job_owner;
	create index executor_job_owner on executor_job (owner, kind) where state in {Held};
	drop index executor_job_over;
	create index executor_job_over on executor_job (state, updated) where state >= {Succeeded} and state <= {Canceled};
	alter table executor_node add column lease integer not null default 0;`,

	// How often in a row a job was lost with its node.
	`alter table executor_job add column lost integer not null default 0;`,

	// The kinds that are paused.
	`create table executor_pause (kind text primary key);`,

	// What is pending for a running job has the name that it has in Go.
	`alter table executor_job rename column wish to pending;`,

	// Which runs have begun. And a row that can't be read is no longer accepted: one would stop the claims of all.
	// Those that are there are set aside.
	`create table executor_begun (
		job blob not null,
		epoch integer not null,
		started integer not null,
		primary key (job, epoch)
	) without rowid;
	create table executor_job_6 (
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
		check ` + sqlrow.Sound + `
	) strict;
	` + copyJobs() + `;
	drop table executor_job;
	alter table executor_job_6 rename to executor_job;
	create index executor_job_due on executor_job (kind, priority, due) where state = {Waiting};
	create index executor_job_owner on executor_job (owner, kind) where state in {Held};
	create index executor_job_over on executor_job (state, updated) where state >= {Succeeded} and state <= {Canceled};
	alter table executor_schema add column oldest integer;`,

	// What callers and hooks have added to a job. Programs that do not know of it leave it as it is.
	`alter table executor_job add column meta text not null default '';`,

	// What nodes report of themselves and of their runs, what runs have written, and the latest runs of all jobs.
	// Programs that do not know of it leave it empty.
	`alter table executor_node add column joined integer not null default 0;
	alter table executor_node add column info text not null default '';
	alter table executor_run add column output blob;
	create index executor_run_latest on executor_run (verdict, finished);
	create table executor_progress (
		job blob primary key not null,
		epoch integer not null,
		done integer not null,
		total integer not null,
		note text not null,
		noted integer not null
	) strict, without rowid;`,

	// What was done to jobs by hand, and why. Programs that do not know of it leave it empty.
	`create table executor_act (
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
	create index executor_act_noted on executor_act (noted);`,

	// What handlers say of the ends of their runs. Programs that do not know of it leave it empty.
	`alter table executor_job add column label text not null default '';
	alter table executor_run add column label text not null default '';`,

	// The results of steps, and signals. Programs that do not know of it leave it as it is.
	`create table executor_step (
		job blob not null,
		occasion integer not null,
		signal integer not null,
		name text not null,
		result blob,
		noted integer not null,
		primary key (job, occasion, signal, name)
	) strict;`,
	// The tags of jobs, in their rows, and by tag. Programs that do not know of it leave it as it is.
	`alter table executor_job add column tags text not null default '';
	create table executor_tag (
		tag text not null,
		job blob not null,
		primary key (tag, job)
	) strict, without rowid;`,
	// When the buckets of kinds with a rate are full; and partitions: executor_job_new has what is not in line yet, a
	// job whose lined is its epoch is, and line is the place of its partition. Their conditions are not those of
	// executor_job_due, which a planner without statistics would use in their stead. Programs that do not know of it
	// keep no such limits.
	`create table executor_limit (
		kind text primary key not null,
		filled integer not null
	) strict, without rowid;
	alter table executor_job add column part text not null default '';
	alter table executor_job add column lined integer not null default -1;
	create index executor_job_part on executor_job (kind, part, priority, due) where state < {Claimed} and part <> '';
	create index executor_job_new on executor_job (kind) where state < {Claimed} and part <> '' and lined <> epoch;
	create table executor_part (
		kind text not null,
		priority integer not null,
		part text not null,
		line integer not null,
		primary key (kind, priority, part)
	) strict, without rowid;
	create index executor_part_line on executor_part (kind, priority, line, part);`,

	graph,
}

// copyJobs returns the statement that copies executor_job of the fifth version. What is not sound is dead, and each
// column has the nearest value that it may have; so has each that is of another type, as SQLite took any.
func copyJobs() string {
	number := func(name string, least, most int64) string {
		return fmt.Sprintf("case typeof(%[1]s) when 'integer' then min(max(%[1]s, %d), %d) else %[2]d end", name, least, most)
	}
	text := func(name string) string { return "cast(coalesce(" + name + ", '') as text)" }
	const wide = 1 << 62
	columns := []struct{ name, value string }{
		{"id", "case when typeof(id) = 'blob' and length(id) = 16 then id else randomblob(16) end"},
		{"key", "case typeof(key) when 'text' then key end"}, {"kind", text("kind")}, {"payload", "cast(coalesce(payload, '') as blob)"},
		{"priority", number("priority", int64(durable.Low), int64(durable.High))},
		{"schedule", text("schedule")}, {"missed", text("missed")},
		{"anchor", number("anchor", -wide, wide)}, {"due", number("due", -wide, wide)},
		{"occurrence", number("occurrence", -wide, wide)}, {"next_due", number("next_due", -wide, wide)},
		{"state", number("state", 0, int64(durable.Paused))}, {"pending", number("pending", 0, int64(durable.PendingPause))},
		{"epoch", number("epoch", 0, sqlrow.Most)}, {"owner", text("owner")},
		{"attempt", number("attempt", 0, sqlrow.MostSmall)}, {"attempts", number("attempts", 0, sqlrow.MostSmall)},
		{"timeout", number("timeout", 0, wide/1000)}, {"runs", number("runs", 0, sqlrow.Most)},
		{"lost", number("lost", 0, sqlrow.MostSmall)}, {"error", text("error")}, {"result", "cast(result as blob)"},
		{"created", number("created", -wide, wide)}, {"updated", number("updated", -wide, wide)},
	}
	var names, values, same []string
	for _, c := range columns {
		names, values = append(names, c.name), append(values, c.value+" as "+c.name)
		if c.name != "payload" && c.name != "result" { // they are read in whatever type
			same = append(same, c.name+" is "+c.value)
		}
	}
	list := strings.Join(names, ", ")
	sound := "(" + strings.Join(same, " and ") + " and " + sqlrow.Sound + ")"
	replace := map[string]string{
		"state":   "case when sound then state else {Dead} end",
		"pending": "case when sound then pending else {PendingNone} end",
		"updated": "case when sound then updated else cast(strftime('%s', 'now') as integer) * 1000000 end",
		"owner":   "case when sound then owner else '' end",
		"error":   "case when sound then error else '" + sqlrow.Unsound + "' end",
	}
	for i, name := range names {
		if r, ok := replace[name]; ok {
			names[i] = r
		}
	}
	return "insert into executor_job_6 (" + list + ") select " + strings.Join(names, ", ") + " from (select " +
		strings.Join(values, ", ") + ", " + sound + " as sound from executor_job)"
}

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
	if _, err := conn.ExecContext(ctx, "create table if not exists executor_schema (version integer not null)"); err != nil {
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
			return fmt.Errorf("%w: its schema has version %d, for which a program must know version %d, and this one knows %d; use a newer one",
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
