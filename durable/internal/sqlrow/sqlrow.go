// Package sqlrow is what the SQL stores have in common: the columns of a job and a run, how they are written and read,
// and the numbers in statements. Times are microseconds since 1970; a zero time is 0, and 1970 itself the microsecond
// after it.
//
// What is Confirmed is Running in the row of its job, and so is what is Running, with an attempt less than it has: it
// has a row in executor_begun, with its epoch. So a begin is noted without a change to the job's row, which would make
// the transaction of its handler fail at REPEATABLE READ. Rows of other epochs mean nothing.
package sqlrow

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/executor-go/executor/durable"
)

// columns are those of a job, in the order of Values and Scan, each with the literal of its empty value.
var columns = [...]struct{ name, empty string }{
	{"id", ""}, {"key", "null"}, {"kind", "''"}, {"payload", "''"}, {"priority", "0"}, {"schedule", "''"}, {"missed", "''"},
	{"anchor", "0"}, {"due", "0"}, {"occurrence", "0"}, {"next_due", "0"}, {"state", "0"}, {"pending", "0"}, {"epoch", "0"},
	{"owner", "''"}, {"attempt", "0"}, {"attempts", "0"}, {"timeout", "0"}, {"runs", "0"}, {"lost", "0"}, {"error", "''"},
	{"result", "null"}, {"created", "0"}, {"updated", "0"}, {"suspect", "false"},
	{"meta", "''"}, {"label", "''"}, {"tags", "''"}, {"part", "''"}, {"family", "0"}, {"queue", "''"},
}

// Names are the columns of a job, and Columns is their list in a statement. Scan and ScanAll read Read, of jobs in
// executor_job. ScanClaimed reads Claimed.
var (
	Names = func() (names []string) {
		for _, c := range columns {
			names = append(names, c.name)
		}
		return names
	}()
	Columns      = strings.Join(Names, ", ")
	Read         = SQL(Columns + ", case when state = {Granted} then coalesce((" + started + "), 0) else 0 end")
	claimedNames = slices.DeleteFunc(slices.Clone(Names), func(name string) bool {
		// The claim knows them.
		return slices.Contains([]string{"next_due", "state", "pending", "owner", "updated"}, name)
	})
	Claimed = strings.Join(claimedNames, ", ")
)

// started selects when the handler of a job in executor_job was called.
const started = `select b.started from executor_begun b where b.job = executor_job.id and b.epoch = executor_job.epoch`

// Note returns the columns of Claimed of a row that is no job's, for a statement whose answer has more to say than the
// rows of the jobs: with that literal as its ID, and these numbers for Anchor, Due, Epoch and Runs.
func Note(id, anchor, due, epoch, runs string) string {
	list := make([]string, 0, len(claimedNames))
	for _, name := range claimedNames {
		i := slices.Index(Names, name)
		switch value := columns[i].empty; name {
		case "id":
			list = append(list, id)
		case "anchor":
			list = append(list, anchor)
		case "due":
			list = append(list, due)
		case "epoch":
			list = append(list, epoch)
		case "runs":
			list = append(list, runs)
		default:
			list = append(list, value)
		}
	}
	return strings.Join(list, ", ")
}

// RunColumns are those of a run, in the order of RunValues and ScanRuns.
const RunColumns = `job, seq, occurrence, attempt, epoch, node, started, finished, verdict, error, label`

// Micros returns t as its column has it.
func Micros(t time.Time) int64 {
	switch s := t.Unix(); { // a time has more seconds than an int64 microseconds
	case t.IsZero():
		return 0
	case s > latest/second:
		return latest
	case s < earliest/second-1:
		return earliest
	}
	if us := max(t.UnixMicro(), earliest); us != 0 {
		return us
	}
	return 1 // later, as nothing is to be early
}

const second = 1_000_000

// Times are in the years 1 to 9999, as texts of them are. What a row has beyond these is read as the nearest.
const earliest, latest = -62135596800_000_000 + 1, 253402300799_999_999

// Time is the inverse of Micros.
func Time(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(min(max(us, earliest), latest)).UTC()
}

// Meta returns the Meta of a job as its column has it.
func Meta(meta map[string]string) string {
	if len(meta) == 0 {
		return ""
	}
	data, err := json.Marshal(meta)
	if err != nil {
		return "" // texts have none
	}
	return string(data)
}

// Key returns a key as its column has it, in which no key is null.
func Key(key string) any {
	if key == "" {
		return nil
	}
	return key
}

// Values returns the columns of a job. The store decides how the ID is written.
func Values(j *durable.Job, id any) []any {
	state, attempt := j.State, j.Attempt
	switch state {
	case durable.Running:
		attempt--
	case durable.Confirmed:
		state = durable.Running
	case durable.Blocked:
		state = durable.Paused
	}
	return []any{
		id, Key(j.Key), j.Kind, bytesOf(j.Payload), Priority(j.Priority, j.Queue), j.Schedule, j.Missed,
		Micros(j.Anchor), Micros(j.Due),
		Micros(j.Occurrence), Micros(j.NextDue), int64(state), int64(j.Pending), j.Epoch, j.Owner, Attempt(attempt),
		int64(j.Attempts), j.Timeout.Microseconds(), j.Runs, int64(j.Lost), j.Error,
		j.Result, Micros(j.Created), Micros(j.Updated), j.Suspect, Meta(j.Meta), j.Label, Tags(j.Tags), j.Partition, family(j), j.Queue,
	}
}

// queued is by how much the priority of a job that is in a queue is greater in its row. So those who claim jobs of the
// default queue do not find it, by the index of these, however many there are; nor need they look at the queue.
const queued = 10

// Priority returns that of a job in a queue as its column has it.
func Priority(p durable.Priority, queue string) int64 {
	if queue != "" {
		return int64(p) + queued
	}
	return int64(p)
}

// Beyond returns the first text that comes after all that begin with prefix, "" if there is none: keys are in the order
// of their bytes, which in UTF-8 is that of code points. It is valid UTF-8 itself, as a database may decline what is
// not.
func Beyond(prefix string) string {
	for prefix != "" {
		r, n := utf8.DecodeLastRuneInString(prefix)
		prefix = prefix[:len(prefix)-n]
		if r++; r == 0xD800 {
			r = 0xE000 // what is between is half of a character
		}
		if r <= utf8.MaxRune {
			return prefix + string(r)
		}
	}
	return ""
}

func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// A Scanner is a sql.Row or sql.Rows, or what does the same.
type Scanner interface{ Scan(dest ...any) error }

// Rows are sql.Rows, or what does the same.
type Rows interface {
	Scanner
	Next() bool
	Err() error
	Close() error
}

// all returns a function that reads and closes rows, each by scan. With an error it returns none of them: that may come
// behind the rows, with the end of the statement.
func all[T any](scan func(row Scanner) (T, error)) func(rows Rows, err error) ([]T, error) {
	return func(rows Rows, err error) ([]T, error) {
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		var read []T
		for rows.Next() {
			v, err := scan(rows)
			if err != nil {
				return nil, err
			}
			read = append(read, v)
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
		return read, nil
	}
}

// States returns the condition that a job in executor_job is in one of the states. It is short however many there are.
func States(states []durable.State) string {
	var wanted [256]bool
	for _, s := range states {
		wanted[s] = true
	}
	var in, numbers []string
	for s, ok := range wanted {
		switch durable.State(s) {
		case durable.Running, durable.Confirmed, durable.Paused, durable.Blocked:
		default:
			if ok {
				numbers = append(numbers, strconv.Itoa(s))
			}
		}
	}
	if numbers != nil {
		in = append(in, "state in ("+strings.Join(numbers, ", ")+")")
	}
	switch paused, blocked := wanted[durable.Paused], wanted[durable.Blocked]; {
	case paused && blocked:
		in = append(in, SQL("state = {Paused}"))
	case paused:
		in = append(in, SQL("state = {Paused} and (family & {IsBlocked}) = 0"))
	case blocked:
		in = append(in, SQL("state = {Paused} and (family & {IsBlocked}) <> 0"))
	}
	switch begun, unbegun := wanted[durable.Running], wanted[durable.Confirmed]; {
	case begun && unbegun:
		in = append(in, SQL("state = {Granted}"))
	case begun:
		in = append(in, SQL("state = {Granted} and exists ("+started+")"))
	case unbegun:
		in = append(in, SQL("state = {Granted} and not exists ("+started+")"))
	}
	return "(" + cmp.Or(strings.Join(in, " or "), "false") + ")"
}

// ID reads an ID as 16 bytes, or as text.
func ID(id []byte) (durable.ID, error) {
	if len(id) == 16 {
		return durable.ID(id), nil
	}
	return durable.ParseID(string(id))
}

// Attempt returns a number of attempts as its column has it.
func Attempt(n int) int64 { return min(max(int64(n), 0), MostSmall) }

// RunValues returns the columns of a run.
func RunValues(r *durable.Run, id any) []any {
	return []any{id, r.Seq, Micros(r.Occurrence), Attempt(r.Attempt), r.Epoch, r.Node, Micros(r.Started),
		Micros(r.Finished), int64(r.Verdict), r.Error, r.Label}
}

// ScanRuns reads and closes rows of runs.
var ScanRuns = all(func(row Scanner) (r durable.Run, err error) {
	if err = scanRun(row, &r); err != nil {
		return r, err
	}
	return r, nil
})

// scanRun reads a run, and then the columns of more.
func scanRun(s Scanner, r *durable.Run, more ...any) error {
	var id []byte
	var occurrence, started, finished, verdict int64
	err := s.Scan(append([]any{&id, &r.Seq, &occurrence, &r.Attempt, &r.Epoch, &r.Node, &started, &finished, &verdict,
		&r.Error, &r.Label}, more...)...)
	if err != nil {
		return err
	}
	r.Occurrence, r.Started, r.Finished = Time(occurrence), Time(started), Time(finished)
	r.Verdict = durable.Verdict(verdict)
	r.Job, err = ID(id)
	return err
}

// CountJobs selects what ScanCounts reads, of jobs in executor_job for which the caller adds tables and conditions;
// GroupCounts ends the statement.
var CountJobs = SQL(`select kind, case when state = {Granted} and not exists (` + started + `) then ` +
	strconv.Itoa(int(durable.Confirmed)) + ` when state = {Paused} and (family & {IsBlocked}) <> 0 then ` +
	strconv.Itoa(int(durable.Blocked)) + ` else state end as shown, count(*), min(due) from `)

// GroupCounts ends CountJobs.
const GroupCounts = " group by kind, shown"

// ScanCounts reads and closes rows of CountJobs.
var ScanCounts = all(func(row Scanner) (c durable.Count, err error) {
	var due int64
	if err = row.Scan(&c.Kind, &c.State, &c.Jobs, &due); err != nil {
		return c, err
	}
	c.Due = Time(due)
	return c, nil
})

// Strings reads and closes rows of one text.
var Strings = all(func(row Scanner) (s string, err error) {
	if err = row.Scan(&s); err != nil {
		return s, err
	}
	return s, nil
})
