package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

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

// create makes the tables. A row of executor_job is updated some times in its life, mostly in its indexed columns: room
// in its page and an eager autovacuum keep the table small.
var create = `
	-- A row that can't be read is not accepted: one would stop the claims of all. tags are in executor_tag as well; part
	-- is the partition, which is in line if lined is the epoch, and family says whether it has parents and children. Of a job in
	-- a queue the priority is {Queued} more.
	create table executor_job (
		id uuid primary key,
		key text collate "C",
		kind text collate "C" not null,
		payload bytea not null,
		priority smallint not null,
		schedule text not null,
		missed text not null,
		anchor bigint not null,
		due bigint not null,
		occurrence bigint not null,
		next_due bigint not null,
		state smallint not null,
		pending smallint not null,
		epoch bigint not null,
		owner text collate "C" not null,
		attempt integer not null,
		attempts integer not null,
		timeout bigint not null,
		runs bigint not null,
		lost integer not null default 0,
		error text not null,
		result bytea,
		created bigint not null,
		updated bigint not null,
		suspect boolean not null default false,
		meta text not null default '',
		label text not null default '',
		tags text not null default '',
		part text collate "C" not null default '',
		lined bigint not null default -1,
		family smallint not null default 0,
		queue text collate "C" not null default '',
		constraint executor_job_sound check ` + sqlrow.Sound + `
	) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
	create unique index executor_job_key on executor_job (key) where key is not null;
	create index executor_job_due on executor_job (kind, priority, due) where state = {Waiting};
	create index executor_job_owner on executor_job (owner, kind) where state in {Held};
	create index executor_job_over on executor_job (state, updated) where state in {Over};
	create index executor_job_error on executor_job (id) where error <> '';
	-- The conditions of these three are not those of executor_job_due, which a planner without statistics would use.
	create index executor_job_part on executor_job (kind, part, priority, due) where state < {Claimed} and part <> '';
	create index executor_job_new on executor_job (kind) where state < {Claimed} and part <> '' and lined <> epoch;
	create index executor_job_queue on executor_job (queue, kind, priority, due) where state < {Claimed} and queue <> '';

	-- Nodes, with the length of their leases, to begin them anew after a jump of the clock.
	create table executor_node (
		id text collate "C" primary key,
		lease_until bigint not null,
		lease bigint not null default 0,
		joined bigint not null default 0,
		info text not null default '',
		drain boolean not null default false
	);

	-- Which runs have begun.
	create table executor_begun (
		job uuid not null,
		epoch bigint not null,
		started bigint not null,
		primary key (job, epoch)
	);

	-- The history. What runs have written is compressed already.
	create table executor_run (
		job uuid not null,
		seq bigint not null,
		occurrence bigint not null,
		attempt integer not null,
		epoch bigint not null,
		node text not null,
		started bigint not null,
		finished bigint not null,
		verdict smallint not null,
		error text not null,
		output bytea,
		label text not null default '',
		primary key (job, seq)
	) with (autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02);
	alter table executor_run alter column output set storage external;
	create index executor_run_latest on executor_run (verdict, finished);

	-- What runs in progress report.
	create table executor_progress (
		job uuid primary key,
		epoch bigint not null,
		done bigint not null,
		total bigint not null,
		note text not null,
		noted bigint not null
	) with (fillfactor = 50);

	-- The results of steps, and signals.
	create table executor_step (
		job uuid not null,
		occasion bigint not null,
		signal boolean not null,
		name text collate "C" not null,
		result bytea,
		noted bigint not null,
		primary key (job, occasion, signal, name)
	);

	create table executor_tag (
		tag text collate "C" not null,
		job uuid not null,
		primary key (tag, job)
	) with (autovacuum_vacuum_scale_factor = 0.05);

	-- The parents of jobs, and how many of them a job waits for. A row that is late says that the parent has ended, and that
	-- the child is yet to be told.
	create table executor_parent (
		child uuid not null,
		ord integer not null,
		parent uuid not null,
		state smallint not null,
		late boolean not null,
		primary key (child, ord)
	) with (fillfactor = 80);
	create index executor_parent_parent on executor_parent (parent);
	create index executor_parent_late on executor_parent (child) where late;
	create table executor_after (
		job uuid primary key,
		total integer not null,
		succeeded integer not null,
		failed integer not null,
		need integer not null,
		anyway boolean not null
	) with (fillfactor = 50);

	-- The kinds that are paused; and for the limits of kinds on all nodes whose turn it is to claim, and when a bucket is full.
	create table executor_pause (kind text collate "C" primary key);
	create table executor_limit (
		kind text collate "C" primary key,
		turn bigint not null,
		filled bigint not null default 0
	) with (fillfactor = 10);

	-- The places of partitions in line.
	create table executor_part (
		kind text collate "C" not null,
		priority smallint not null,
		part text collate "C" not null,
		line bigint not null,
		primary key (kind, priority, part)
	) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
	create index executor_part_line on executor_part (kind, priority, line, part);

	-- What was done to jobs by hand, and why.
	create table executor_act (
		seq bigint generated always as identity primary key,
		noted bigint not null,
		who text not null,
		action text not null,
		job uuid not null,
		key text not null,
		reason text not null,
		answer text not null
	);
	create index executor_act_job on executor_act (job, seq);
	create index executor_act_noted on executor_act (noted);`

// migrate brings the schema up to date. Programs that do so at the same time wait for each other, at the one row of
// executor_schema. Where there is nothing to do the right to read that is enough.
func migrate(ctx context.Context, db *sql.DB) error {
	version, oldest, there, err := look(ctx, db)
	if err != nil {
		return err
	}
	if version > len(migrations) {
		return known(version, oldest)
	}
	statements, err := sqlrow.Restore(migrations[:version], there, refill)
	if err != nil || version == len(migrations) && statements == "" {
		return err
	}
	// Two that create a table at the same moment may fail, "if not exists" or not.
	for range 5 {
		if _, err = db.ExecContext(ctx, makeVersion); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, beginVersion); err != nil {
		return err
	}
	for {
		if err = upgrade(ctx, db); code(err) != lockNotAvailable {
			return err
		}
		select {
		case <-time.After(migrationPause):
		case <-ctx.Done():
			return err
		}
	}
}

// makeVersion and beginVersion make the table that has the version, of a schema that has none yet.
const (
	makeVersion  = "create table if not exists executor_schema (id integer primary key, version integer not null, oldest integer)"
	beginVersion = "insert into executor_schema (id, version) values (1, 0) on conflict do nothing"
)

const (
	// A migration changes tables that nodes use, and statements that use one wait behind the one that waits to change
	// it: for a dump, say, or a transaction that was left open. So it does not wait for long, by far less than a
	// heartbeat may take, and tries again.
	migrationPatience = "set local lock_timeout = '100ms'"
	migrationPause    = 400 * time.Millisecond
)

// upgrade does the migrations that are left. It fails with lockNotAvailable if another session is in the way.
func upgrade(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, migrationPatience); err != nil {
		return err
	}
	version, least := 0, 0
	if err := tx.QueryRowContext(ctx, "select "+versions+" from executor_schema s where id = 1 for update").Scan(&version, &least); err != nil {
		return err
	}
	if version > len(migrations) {
		return known(version, least)
	}
	there, err := sqlrow.Strings(tx.QueryContext(ctx, tablesMade))
	if err != nil {
		return err
	}
	statements, err := sqlrow.Restore(migrations[:version], there, refill)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, statements); err != nil {
		return fmt.Errorf("tables that are missing: %w", err)
	}
	for ; version < len(migrations); version++ {
		if _, err := tx.ExecContext(ctx, sqlrow.SQL(migrations[version])); err != nil {
			return fmt.Errorf("migration to schema version %d: %w", version+1, err)
		}
	}
	if _, err := tx.ExecContext(ctx, "update executor_schema set version = $1, oldest = $2 where id = 1", version, oldest); err != nil {
		return err
	}
	return tx.Commit()
}

// versions are those of the schema, and of the oldest program that may use it.
const versions = "version, coalesce(oldest, version)"

// look returns the versions of the schema, 0 if there is none, and what tables there are: all as it was at one moment,
// since other programs may make them meanwhile. It needs a transaction, and a pooler that knows none is to fail here,
// and not at the first job.
func look(ctx context.Context, db *sql.DB) (version, oldest int, there []string, err error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return 0, 0, nil, err
	}
	defer tx.Rollback()
	if there, err = sqlrow.Strings(tx.QueryContext(ctx, tablesMade)); err != nil || !slices.Contains(there, "executor_schema") {
		return 0, 0, there, err
	}
	err = tx.QueryRowContext(ctx, "select "+versions+" from executor_schema s where id = 1").Scan(&version, &oldest)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return version, oldest, there, err
}

// tablesMade selects what has the name of a table where the tables are made.
const tablesMade = `select c.relname::text from pg_catalog.pg_class c join pg_catalog.pg_namespace s on s.oid = c.relnamespace
	where c.relname like 'executor\_%' and s.nspname = current_schema()`

// explain adds to an error of the server what the role lacks, and how to grant it.
func explain(err error, role string) error {
	if errors.As(err, new(*pgconn.ConnectError)) { // no table was asked for
		switch text := err.Error(); {
		case strings.Contains(text, noTLS):
			return fmt.Errorf("%w; set up TLS on the server, or trust the network with sslmode=disable in the data source name", err)
		case strings.Contains(text, noSetting):
			return fmt.Errorf("%w; the pooler takes no such setting: leave it out of the data source name, and set it by: alter role %q set", err, role)
		}
		return err
	}
	switch code(err) {
	case "42P05", "26000": // a prepared statement is there already, or no longer
		return fmt.Errorf("%w; a pooler takes another connection for each transaction: add default_query_exec_mode=exec to the data source name", err)
	case "25006":
		return fmt.Errorf("%w; it is a standby, or set to be read only: name the primary, or all servers with target_session_attrs=read-write", err)
	case "3F000":
		return fmt.Errorf("%w; no schema of the search path exists that the role %q may use: create one, or grant usage on it", err, role)
	case "42501":
		return fmt.Errorf("%w; grant the role %q usage of the schema, and select, insert, update and delete on its tables whose names begin with executor_;"+
			" if these are missing or old, open the store once as a role that may make them, and owns them", err, role)
	}
	return err
}

// known returns an error if a newer program has made the schema, of which this one can't use the tables.
func known(version, oldest int) error {
	if version > len(migrations) && oldest > len(migrations) {
		return fmt.Errorf("%w: its schema version %d requires a program that knows version %d; this one knows %d: use a newer one",
			durable.ErrNewerSchema, version, oldest, len(migrations))
	}
	return nil
}
