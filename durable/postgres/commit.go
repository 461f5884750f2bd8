package postgres

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/store"
)

// Commit confirms claims and commits outcomes.
func (s *Store) Commit(ctx context.Context, b store.CommitRequest) (store.CommitResult, error) {
	type answer struct {
		store.CommitResult
		families
	}
	by, with, waited := s.direct, patient, signals(b.Outcomes)
	if waited {
		by, with = together(s.db), picky
	}
	a, err := do(ctx, by, func(q querier) (a answer, err error) {
		a.CommitResult, a.families, err = s.commitAll(ctx, q, b, with)
		if code(err) == lockNotAvailable && !waited {
			a.CommitResult, a.families, err = s.commitAll(ctx, q, b, picky)
		}
		return a, err
	})
	if err == nil && len(a.left) > 0 {
		err = s.commitParents(ctx, b, a.left, &a.CommitResult)
	}
	if err != nil {
		return store.CommitResult{}, err
	}
	if len(a.before) > 0 { // maybe in transactions of handlers
		a.Released = s.catchUp(ctx, a.before) || a.Released
	}
	return a.CommitResult, nil
}

// families are the outcomes of a commit that concern jobs with children.
type families struct {
	left   []int        // those that are to be committed together with what it is for the children
	before []durable.ID // the jobs of those that were committed before
}

// statements are those of commitAll. A transaction that is left open must not hold up the jobs of which it has nothing.
// So the patient ones wait for a row for a moment only, long enough for a claim of another node that came too late for
// it, and then fail as a whole; the picky ones leave out what is locked, and read every row twice for it.
//
// Each entry is to find its row by the ID. So the conditions on rows have the place of the entry, times zero: without
// it the server believes that few rows meet them, since few have been held, and compares all that do with each entry.
// The arrays are read by selects, so that no plan is for as many entries as there are: with a thousand of them the server
// would read a table of some ten thousand rows from end to end.
type statements struct {
	confirm, commit string
	whole           bool
}

var (
	patient = statements{
		confirm: confirmRuns(patience, "from r j_, n where j.id = j_.id and j.epoch = j_.epoch and j.state + 0 * j_.ord in {Held}", ""),
		commit:  commitRuns(patience, "from o, n where j.id = o.job and j.epoch = o.epoch and j.state + 0 * o.ord = {Granted} and "+childless, ""),
	}
	picky = statements{
		confirm: confirmRuns("", "from l j_, n where j.id = j_.id", `l as materialized (
			select r.* from executor_job j, r where j.id = r.id and j.epoch = r.epoch and j.state + 0 * r.ord in {Held} for no key update of j skip locked),`),
		commit: commitRuns("", "from l o, n where j.id = o.job and "+childless, lockRuns),
	}
	// whole is for a transaction: it commits the outcomes of parents, too.
	whole = statements{confirm: picky.confirm, commit: commitRuns("", "from l o, n where j.id = o.job", lockRuns), whole: true}
)

const (
	// childless is the condition that a job has no children, by its row as it is when it is locked.
	childless = "(j.family & {HasChildren}) = 0 * o.ord"
	lockRuns  = `l as materialized (
			select o.* from executor_job j, o where j.id = o.job and j.epoch = o.epoch and j.state + 0 * o.ord = {Granted} for no key update of j skip locked),`
)

const (
	// hasty bounds how long the statement of which it is a part waits for a row. If that is too long, the statement
	// fails with lockNotAvailable.
	hasty    = "set_config('lock_timeout', '20ms', true)"
	patience = ", " + hasty + " as patience"
	// endless has the rest of a transaction wait, to its commit, until its context ends.
	endless          = "set_config('lock_timeout', '0', true)"
	lockNotAvailable = "55P03"
)

func (s *Store) commitAll(ctx context.Context, q querier, b store.CommitRequest,
	with statements) (a store.CommitResult, f families, err error) {
	now := int64(0)
	if err := begin(ctx, q, b); err != nil {
		return a, f, err
	}
	if len(b.Confirms) > 0 {
		if err = confirm(ctx, q, with.confirm, b.Confirms, &a, &now); err != nil {
			return a, f, err
		}
	}
	if len(b.Outcomes) > 0 {
		early := int64(0)
		if early, err = commit(ctx, q, with, b, &a, &f, &now); err != nil {
			return a, f, err
		}
		if early != 0 {
			s.floors.lower(time.UnixMicro(early))
		}
	}
	a.Now = sqlrow.Time(now)
	return a, f, nil
}

// beginRuns notes which runs have begun, and forgets those that are over, in one statement. It locks no row of a job.
const beginRuns = `with gone as (
		delete from executor_begun b using unnest($4::uuid[], $5::bigint[]) as r (job, epoch) where b.job = r.job and b.epoch = r.epoch
	) insert into executor_begun (job, epoch, started) select * from unnest($1::uuid[], $2::bigint[], $3::bigint[])
	on conflict do nothing`

// begin does what a group commit does first. If nothing has begun and the rest is nothing, it answers with no time.
func begin(ctx context.Context, q querier, b store.CommitRequest) error {
	if len(b.Begun) == 0 && len(b.Ended) == 0 {
		return nil
	}
	ids, epochs, started := make([]pgtype.UUID, len(b.Begun)), make([]int64, len(b.Begun)), make([]int64, len(b.Begun))
	for i, r := range b.Begun {
		ids[i], epochs[i], started[i] = uuid(r.ID), r.Epoch, sqlrow.Micros(r.Started)
	}
	over, overEpochs := make([]pgtype.UUID, len(b.Ended)), make([]int64, len(b.Ended))
	for i, r := range b.Ended {
		over[i], overEpochs[i] = uuid(r.ID), r.Epoch
	}
	return q.exec(ctx, beginRuns, ids, epochs, started, over, overEpochs)
}

// confirmRuns returns the statement that makes claims run: transition.Confirm in one.
func confirmRuns(more, from, lock string) string {
	return sqlrow.SQL(`with n as materialized (select ` + clock + ` as now` + more + `),
	r as (select * from unnest((select $1::uuid[]), (select $2::bigint[]), (select $3::bigint[])) with ordinality as r (id, epoch, occurrence, ord)),
	` + lock + ` u as (
		update executor_job j set state = {Granted},
			occurrence = case when j_.occurrence <> 0 then j_.occurrence else j.occurrence end,
			updated = case when j.schedule <> 'once' and (j.due > n.now or j.next_due > n.now) then greatest(j.updated, n.now) else n.now end
		` + from + `
		returning j_.ord, null::bigint as early
	) ` + selectDone)
}

func confirm(ctx context.Context, q querier, statement string, confirms []store.Confirm, a *store.CommitResult,
	now *int64) error {
	n := len(confirms)
	ids, epochs, occurrences := make([]pgtype.UUID, n), make([]int64, n), make([]int64, n)
	for i, c := range confirms {
		ids[i], epochs[i], occurrences[i] = uuid(c.ID), c.Epoch, sqlrow.Micros(c.Occurrence)
	}
	var err error
	row := q.queryRow(ctx, statement, ids, epochs, occurrences)
	if a.Confirmed, err = readDone(n, now, new(int64), row); err != nil {
		return err
	}
	return unknown(ctx, q, ids, epochs, a.Confirmed, func(i int, state durable.State, _ bool) {
		if state.Held() {
			a.Locked = append(a.Locked, confirms[i].Ref)
		}
	})
}

// selectDone selects what a statement has done of a list: the time, when the first of the jobs is due again if that has
// passed, or 0, and the places of those that were done, counted from 1, or null if they are all.
const selectDone = `select n.now, coalesce(min(u.early), 0), case when pg_catalog.count(u.ord) < pg_catalog.cardinality($1::uuid[])
	then coalesce(string_agg(u.ord::text, ' '), '') end from n left join u on true group by n.now`

// readDone reads selectDone, for a list of n. The times go to now and early.
func readDone(n int, now, early *int64, row sqlrow.Scanner) ([]bool, error) {
	var places sql.NullString
	if err := row.Scan(now, early, &places); err != nil {
		return nil, err
	}
	done := make([]bool, n)
	if !places.Valid {
		for i := range done {
			done[i] = true
		}
	}
	for place := range strings.FieldsSeq(places.String) {
		i, err := strconv.Atoi(place)
		if err != nil {
			return nil, err
		}
		done[i-1] = true
	}
	return done, nil
}

// commitRuns returns the statement that ends runs: transition.Commit in one, and the history with it.
func commitRuns(more, from, lock string) string {
	return sqlrow.SQL(`with n as materialized (select ` + clock + ` as now` + more + `),
	o as (
		select * from unnest((select $1::uuid[]), (select $2::bigint[]), (select $3::smallint[]), (select $4::bigint[]),
			(select $5::bigint[]), (select $6::integer[]), (select $7::text[]), (select $8::bytea[]), (select $9::boolean[]),
			(select $10::bigint[]), (select $11::integer[]), (select $12::bigint[]), (select $13::bigint[]), (select $14::smallint[]),
			(select $17::bytea[]), (select $18::text[]), (select $19::text[]))
		with ordinality as o (job, epoch, state, due, occurrence, attempt, error, result, recorded, run_occurrence, run_attempt, started, finished, verdict, output, run_error, label, ord)
	), ` + lock + ` u as (
		update executor_job j set
			state = case when j.schedule = 'once' and j.next_due <> 0 then case j.pending when {PendingPause} then {Paused} else {Waiting} end
				when o.state = {Dead} and j.pending = {PendingCancel} then {Canceled}
				when o.state <> {Waiting} and (o.due <> 0 or j.next_due = 0) then o.state
				when j.pending = {PendingCancel} then {Canceled} when j.pending = {PendingPause} then {Paused} else {Waiting} end,
			due = case when (o.state = {Waiting} or o.due = 0 or j.schedule = 'once') and j.next_due <> 0 then j.next_due when o.due = 0 then j.due else o.due end,
			occurrence = case when (o.state = {Waiting} or o.due = 0 or j.schedule = 'once') and j.next_due <> 0 then j.next_due else o.occurrence end,
			attempt = case when (o.state = {Waiting} or o.due = 0 or j.schedule = 'once') and j.next_due <> 0 then 0 else o.attempt end,
			pending = {PendingNone}, next_due = 0, owner = '', error = o.error, label = o.label, result = coalesce(o.result, j.result),
			runs = least(j.runs + o.recorded::int, {Most}),
			updated = case when (o.state = {Waiting} or o.due = 0) and j.next_due > n.now and j.schedule <> 'once' and j.pending <> {PendingCancel} then greatest(j.updated, n.now) else n.now end,
			lost = case when o.recorded and o.verdict <> {RunSkipped} then 0 else j.lost end,
			suspect = j.suspect and not (o.recorded and o.verdict <> {RunSkipped})
		` + from + `
		returning j.runs, case when j.state = {Waiting} and j.due < n.now then j.due end as early, o.*
	), added as (
		insert into executor_run (` + sqlrow.RunColumns + `, output)
		select job, runs, run_occurrence, run_attempt, epoch, $15, started, finished, verdict, run_error, label, output from u
		where recorded and $16::bigint > 0 and not exists (select from executor_run r where r.job = u.job and r.seq = u.runs)
	), removed as (
		delete from executor_run r using u where u.runs > $16 and r.job = u.job and r.seq <= u.runs - $16 and u.recorded
	) ` + selectDone)
}

// commit commits outcomes.
func commit(ctx context.Context, q querier, with statements, b store.CommitRequest, a *store.CommitResult,
	f *families, now *int64) (early int64, err error) {
	n := len(b.Outcomes)
	var (
		ids                                                = make([]pgtype.UUID, n)
		epochs, dues, occurrences, runs, started, finished = make([]int64, n), make([]int64, n), make([]int64,
			n), make([]int64, n), make([]int64, n), make([]int64, n)
		states, verdicts      = make([]int16, n), make([]int16, n)
		attempts, runAttempts = make([]int32, n), make([]int32, n)
		errs, runErrs, labels = make([]string, n), make([]string, n), make([]string, n)
		results, outputs      = make([][]byte, n), make([][]byte, n)
		recorded              = make([]bool, n)
	)
	for i, o := range b.Outcomes {
		ids[i], epochs[i], states[i] = uuid(o.ID), o.Epoch, int16(o.State)
		attempts[i] = int32(sqlrow.Attempt(o.Attempt))
		dues[i], occurrences[i] = sqlrow.Micros(o.Due), sqlrow.Micros(o.Occurrence)
		errs[i], results[i], outputs[i], recorded[i] = o.Error, o.Result, o.Output, !o.Unrecorded
		runs[i], runAttempts[i] = sqlrow.Micros(o.Run.Occurrence), int32(sqlrow.Attempt(o.Run.Attempt))
		verdicts[i], runErrs[i], labels[i] = int16(o.Run.Verdict), o.Run.Error, o.Run.Label
		started[i], finished[i] = sqlrow.Micros(o.Run.Started), sqlrow.Micros(o.Run.Finished)
	}
	a.Committed, err = readDone(n, now, &early, q.queryRow(ctx, with.commit, ids, epochs, states, dues, occurrences,
		attempts, errs, results, recorded, runs, runAttempts, started, finished, verdicts, b.Node, b.History, outputs,
		runErrs, labels))
	if err == nil {
		err = signaled(ctx, q, b.Outcomes, a.Committed)
	}
	if err != nil {
		return 0, err
	}
	return early, unknown(ctx, q, ids, epochs, a.Committed, func(i int, state durable.State, parent bool) {
		switch {
		case state == durable.Running && parent && !with.whole:
			f.left = append(f.left, i)
		case state == durable.Running:
			a.Locked = append(a.Locked, b.Outcomes[i].Ref)
		default:
			// An earlier call committed it, whose answer was lost: all else that ends a run makes the epoch go up.
			a.Before = append(a.Before, b.Outcomes[i].Ref)
			if a.Committed[i] = true; parent {
				f.before = append(f.before, b.Outcomes[i].ID)
			}
		}
	})
}

// unknown reads the jobs of the entries that were not done and have the epoch expected. It is a statement of its own to
// have a snapshot of its own.
func unknown(ctx context.Context, q querier, ids []pgtype.UUID, epochs []int64, done []bool,
	found func(i int, state durable.State, parent bool)) error {
	if !slices.Contains(done, false) {
		return nil
	}
	rows, err := q.query(ctx, `select r.ord, j.state, j.family from unnest($1::uuid[], $2::bigint[]) with ordinality as r (id, epoch, ord)
		join executor_job j on j.id = r.id and j.epoch = r.epoch order by r.ord`, ids, epochs)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var ord int
		var state durable.State
		var family int64
		if err := rows.Scan(&ord, &state, &family); err != nil {
			return err
		}
		if !done[ord-1] {
			found(ord-1, state, sqlrow.HasChildren(family))
		}
	}
	return rows.Err()
}
