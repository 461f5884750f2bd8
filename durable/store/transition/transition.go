// Package transition computes the changes of a job's row, for all stores. The SQL stores make changes of many rows at
// once by statements of their own, and say so there.
package transition

import (
	"maps"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// once is Job.Schedule of a job that is not periodic.
const once = "once"

// most and mostSmall are sqlrow.Most and sqlrow.MostSmall.
const most, mostSmall = 1 << 62, 1 << 30

// up adds one to a number, but goes no further than to most.
func up[N int | int64](n *N, most N) { *n = min(*n+1, most) }

// New returns the row of a new job. The job belongs to p.Node if alive is set and the job is due soon enough for p.
func New(n store.NewJob, p store.Placement, alive bool, now time.Time) store.Job {
	due := first(n, now)
	j := store.Job{
		ID: n.ID, Key: n.Key, Kind: n.Kind, Payload: n.Payload, Priority: n.Priority,
		Schedule: n.Schedule, Missed: n.Missed, Anchor: due, Due: due, Occurrence: due,
		Attempts: n.Attempts, Timeout: n.Timeout.Truncate(time.Microsecond), Created: now, Updated: now,
		Meta: meta(n), Tags: slices.Clone(n.Tags), Partition: n.Partition, Queue: n.Queue,
	}
	if alive && p.Node != "" && !due.After(now.Add(p.Ahead)) {
		Claim(&j, p.Node, p.Lead, now)
	}
	return j
}

// meta returns a copy of the Meta of a new job, nil if there is none.
func meta(n store.NewJob) map[string]string {
	if len(n.Meta) == 0 {
		return nil
	}
	return maps.Clone(n.Meta)
}

func first(n store.NewJob, now time.Time) time.Time {
	if n.Due.IsZero() {
		return now.Add(n.Delay.Truncate(time.Microsecond))
	}
	return n.Due
}

// Claim gives a waiting job to a node.
func Claim(j *store.Job, node string, lead time.Duration, now time.Time) {
	j.State = store.Claimed
	if !j.Due.After(now.Add(lead)) {
		j.State = store.Confirmed
	}
	j.Owner = node
	up(&j.Epoch, most)
	j.Updated = now
}

// Begin records that the handler of a confirmed job was called.
func Begin(j *store.Job, started time.Time) {
	j.State, j.Started = store.Running, started
	up(&j.Attempt, mostSmall)
}

// touch notes that a job was changed. A schedule whose times were found while the clock was ahead shows that by its
// Updated until it has others; see store.SetBack.
func touch(j *store.Job, now time.Time) {
	waits := j.Due.After(now) || j.NextDue.After(now)
	if !j.Periodic() || j.State.Done() || !waits || now.After(j.Updated) {
		j.Updated = now
	}
}

// Confirm allows the node that holds a job to begin it.
func Confirm(j *store.Job, c store.Confirm, now time.Time) {
	if j.State == store.Claimed {
		j.State = store.Confirmed
	}
	if !c.Occurrence.IsZero() {
		j.Occurrence = c.Occurrence
	}
	touch(j, now)
}

// Conflicts reports whether a new job can't have the key of an existing one, because only one of the two is periodic,
// or because they are of different kinds.
func Conflicts(j *store.Job, n store.NewJob) bool {
	return j.Kind != n.Kind || (j.Schedule == once) != (n.Schedule == once)
}

// Amend gives a job the properties of a new job with the same key, and reports whether anything has changed.
func Amend(j *store.Job, n store.NewJob, now time.Time) bool {
	if Conflicts(j, n) {
		return false
	}
	n.Timeout = n.Timeout.Truncate(time.Microsecond) // as New does
	if j.Schedule == once {
		return again(j, n, now)
	}
	changed := string(j.Payload) != string(n.Payload) || j.Priority != n.Priority || j.Missed != n.Missed ||
		j.Attempts != n.Attempts || j.Timeout != n.Timeout || !slices.Equal(j.Tags, n.Tags) ||
		j.Partition != n.Partition || j.Queue != n.Queue
	j.Tags, j.Partition, j.Queue = slices.Clone(n.Tags), n.Partition, n.Queue
	j.Payload, j.Priority, j.Missed, j.Attempts, j.Timeout = n.Payload, n.Priority, n.Missed, n.Attempts, n.Timeout
	timed := j.Schedule != n.Schedule
	if timed {
		changed = true
		due := first(n, now)
		j.Schedule, j.Anchor = n.Schedule, due
		if j.State.Granted() {
			j.NextDue = due
		} else {
			j.Due, j.Occurrence, j.Attempt = due, due, 0
		}
	}
	if (n.ReuseKey || j.Absent) && j.Pending == store.PendingCancel { // it starts again, as if that run had ended
		changed, timed = true, true
		j.Pending, j.NextDue, j.Absent = store.PendingNone, first(n, now), false
	}
	if changed {
		j.Meta = meta(n) // it is no change by itself: a new one comes with each trace
	}
	if changed && j.State == store.Claimed {
		free(j) // the node has a copy of what it was
	}
	switch {
	case !changed || j.State.Done(): // it is when the job ended, from which it is kept
	case timed:
		j.Updated = now
	default:
		touch(j, now)
	}
	return changed
}

// again makes a job that runs once take on what a new one with its key has: at once, if that is to replace it; or for a
// run after the one in progress. It reports whether anything has changed.
func again(j *store.Job, n store.NewJob, now time.Time) bool {
	granted := j.State.Granted()
	if j.State.Done() || n.Untried && (granted || j.Attempt > 0) || !n.Replace && (!n.ReuseKey || !granted || !j.NextDue.IsZero()) {
		return false
	}
	if !n.KeepPayload {
		j.Payload, j.Priority, j.Attempts = n.Payload, n.Priority, n.Attempts
		j.Timeout, j.Meta = n.Timeout, meta(n)
		j.Tags, j.Partition, j.Queue = slices.Clone(n.Tags), n.Partition, n.Queue
	}
	if j.Anchor = j.Anchor.Add(time.Microsecond); now.After(j.Anchor) { // no other occasion of the job had it
		j.Anchor = now
	}
	t := first(n, now)
	switch begun := j.Attempt > 0 || j.Due.After(j.Occurrence); {
	case granted:
		if !n.KeepTime || j.NextDue.IsZero() {
			j.NextDue = t
		}
	case n.KeepTime && (n.Untried || !begun): // else its time has come: it waits for a retry, or for something that this ask does not know
		if j.State != store.Paused && j.State != store.Blocked {
			free(j) // the node has a copy of what it was
		}
	default:
		due(j, t, now)
		if j.State != store.Paused && j.State != store.Blocked {
			j.State = store.Waiting
		}
		j.Occurrence = t // it is a job of its own
	}
	j.Updated = now
	return true
}

// Reuses reports whether a new job takes the key from the job that has it. A schedule keeps its key while it goes on;
// otherwise it would exist twice after it is registered again.
func Reuses(j *store.Job, n store.NewJob, now time.Time) bool {
	switch {
	case j.Periodic() && !j.State.Done():
		return false
	case j.Absent && n.Periodic():
		return true
	case len(n.Among) == 0:
		return n.ReuseKey && j.State.Done()
	case !slices.Contains(n.Among, j.State):
		return true
	}
	return n.Within > 0 && j.State.Done() && !j.Updated.Add(n.Within).After(now)
}

// free takes a job away from its node.
func free(j *store.Job) {
	j.State, j.Owner, j.Started = store.Waiting, "", time.Time{}
	up(&j.Epoch, most)
}

// Release takes a job that has not begun back from its node.
func Release(j *store.Job, now time.Time) {
	if j.State == store.Running {
		j.Attempt--
	}
	free(j)
	if j.Attempt == 0 && j.Occurrence.After(now) && j.Occurrence.After(j.Due) { // decided on while the clock was ahead
		if j.Schedule == once {
			j.Due = j.Occurrence
		} else {
			j.Occurrence = j.Due // what was missed from there on is decided on anew
		}
	}
	ApplyPending(j)
	touch(j, now)
}

// Change carries out an action on a job.
func Change(j *store.Job, c store.Change, now time.Time) store.Answer {
	before := *j
	switch c.Op {
	case store.OpCancel:
		switch {
		case j.State.Granted():
			j.Absent = c.Absent && (j.Absent || j.Pending != store.PendingCancel)
			j.Pending = store.PendingCancel
			if j.Schedule == once {
				j.NextDue = time.Time{} // what is asked for from now on is not meant
			}
		case j.State.Done():
			return store.TooLate
		default:
			free(j)
			j.State, j.Pending, j.Absent = store.Canceled, store.PendingNone, c.Absent
		}
	case store.OpPause:
		switch {
		case j.State == store.Blocked:
			j.Pending = store.PendingPause // it will be paused when it would wait
		case j.State.Granted() && j.Pending != store.PendingCancel:
			j.Pending = store.PendingPause
		case j.State == store.Waiting || j.State == store.Claimed:
			free(j)
			j.State = store.Paused
		case j.State != store.Paused:
			return store.TooLate
		}
	case store.OpResume:
		switch {
		case (j.State.Granted() || j.State == store.Blocked) && j.Pending == store.PendingPause:
			j.Pending = store.PendingNone
		case j.State == store.Paused:
			free(j)
		default:
			return store.TooLate
		}
	case store.OpReschedule:
		switch {
		case j.State.Granted() && j.Schedule != once && j.Pending != store.PendingCancel:
			j.NextDue = c.Due
		case j.State.Granted() || j.State.Done():
			return store.TooLate
		default:
			due(j, c.Due, now)
		}
	case store.OpRunNow:
		if j.State.Granted() || j.State.Done() {
			return store.TooLate
		}
		due(j, now, now)
		j.State, j.Pending = store.Waiting, store.PendingNone
	case store.OpDelete:
		if j.State.Granted() {
			return store.TooLate
		}
		free(j) // the store removes it
	case store.OpMove:
		if j.State.Done() || c.Queue != "" && j.Partition != "" {
			return store.TooLate
		}
		if j.Queue = c.Queue; j.State == store.Claimed {
			free(j)
		}
	case store.OpRevive:
		if j.State != store.Dead && j.State != store.Canceled {
			return store.TooLate
		}
		if j.Schedule != once && j.Key == "" { // another job took its key, and goes on in its place
			return store.TooLate
		}
		at := c.Due
		if at.IsZero() {
			at = now
		}
		due(j, at, now)
		j.State, j.Lost, j.Absent = store.Waiting, 0, false
	case store.OpNote:
		if j.State.Granted() || j.Epoch != c.Note.Epoch || !j.Updated.Equal(c.Note.Updated) {
			return store.TooLate
		}
		if j.Result = c.Note.Result; j.State == store.Claimed {
			free(j) // the node has a copy of what it was
		} else {
			up(&j.Epoch, most) // so that of two notes about the same state of it one counts
		}
	case store.OpSetBack:
		t := c.SetBack
		if !j.Periodic() || j.State.Done() || j.Epoch != t.Epoch || !j.Updated.Equal(t.Updated) {
			return store.TooLate
		}
		if j.State.Granted() {
			j.NextDue = t.Due
		} else {
			due(j, t.Due, now)
			j.Occurrence, j.Attempt = t.Occurrence, before.Attempt
		}
		j.Anchor = t.Anchor
	}
	switch c.Op {
	case store.OpReschedule, store.OpSetBack:
		j.Updated = now
	default:
		touch(j, now)
	}
	if before.State.Granted() {
		return store.Deferred
	}
	return store.Applied
}

// due moves the next occurrence of a job that is not running. A job that runs once has no other occurrence: when it may
// have begun, that stays the same for the handler however often it is tried. It may have begun if an attempt or a run
// was counted, or it was cut short, which left an error.
func due(j *store.Job, t, now time.Time) {
	state := j.State
	free(j)
	if state == store.Paused || state == store.Blocked {
		j.State = state
	}
	if begun := j.Attempt > 0 || j.Runs > 0 || j.Error != ""; j.Schedule != once || !begun || j.Occurrence.After(now) {
		j.Occurrence = t
	}
	j.Due, j.Attempt = t, 0
}

// ApplyPending carries out the pending action on a job whose run has ended, and that is to wait.
func ApplyPending(j *store.Job) {
	if !j.NextDue.IsZero() {
		if j.Schedule == once && j.Pending == store.PendingCancel {
			j.Pending = store.PendingNone // it was of the run that is over
		}
		j.Due, j.Occurrence, j.Attempt, j.NextDue = j.NextDue, j.NextDue, 0, time.Time{}
	}
	switch j.Pending {
	case store.PendingCancel:
		j.State = store.Canceled
	case store.PendingPause:
		j.State = store.Paused
	}
	j.Pending = store.PendingNone
}

// Commit applies the outcome of a run to its job, which is Confirmed or Running, and returns the entry for the history.
func Commit(j *store.Job, o store.Outcome, node string, now time.Time) store.Run {
	if !o.Unrecorded {
		up(&j.Runs, most)
		if o.Run.Verdict != store.RunSkipped {
			j.Lost, j.Suspect = 0, false
		}
	}
	run := Line(j, node, o.Run)
	if j.Schedule == once && !j.NextDue.IsZero() { // it was asked for again meanwhile
		o.State = store.Waiting
	}
	if o.Due.IsZero() { // nothing follows
		if o.Due = j.Due; !j.NextDue.IsZero() {
			o.State = store.Waiting
		}
	}
	j.State, j.Owner, j.Due, j.Occurrence, j.Attempt = o.State, "", o.Due, o.Occurrence, o.Attempt
	j.Started = time.Time{}
	j.Error, j.Label = o.Error, o.Run.Label
	if o.Result != nil {
		j.Result = o.Result
	}
	if o.State != store.Waiting || j.NextDue.IsZero() {
		j.Updated = now
	}
	switch {
	case o.State == store.Waiting:
		ApplyPending(j)
	case o.State == store.Dead && j.Pending == store.PendingCancel:
		j.State = store.Canceled
	}
	j.Pending, j.NextDue = store.PendingNone, time.Time{}
	touch(j, now)
	return run
}

// Wake makes a job due that has got the signal for which it waits, and reports whether that has changed the job.
func Wake(j *store.Job, now time.Time) bool {
	switch {
	case !j.Due.After(now):
		return false
	case j.State == store.Claimed:
		free(j) // the node has a copy with the time that it had
	case j.State != store.Waiting && j.State != store.Paused:
		return false
	}
	j.Due, j.Updated = now, now
	return true
}

// Line completes an entry of the history for a job whose Runs counts it already.
func Line(j *store.Job, node string, run store.Run) store.Run {
	run.Job, run.Seq, run.Epoch, run.Node = j.ID, j.Runs, j.Epoch, node
	return run
}

// Reap frees a job whose node is dead. If the job was running, Reap returns the entry for the history and true.
func Reap(j *store.Job, now time.Time) (store.Run, bool) {
	j.Suspect = j.Suspect || j.State.Granted()
	if j.State != store.Running {
		Release(j, now)
		return store.Run{}, false
	}
	text := "durable: node " + j.Owner + " was lost"
	lost := store.Run{Occurrence: j.Occurrence, Attempt: j.Attempt, Started: j.Started, Finished: now,
		Verdict: store.RunLost, Error: text}
	up(&j.Runs, most)
	up(&j.Lost, mostSmall)
	run := Line(j, j.Owner, lost)
	ref := store.Ref{ID: j.ID, Epoch: j.Epoch}
	free(j)
	j.Error, j.Label = text, ""
	last := j.Lost >= store.MaxLost
	if j.Schedule == once {
		last = j.Attempt >= j.Attempts && j.NextDue.IsZero()
	}
	if last && j.Pending != store.PendingCancel {
		j.State, j.Updated = store.Dead, now
		j.Pending, j.NextDue = store.PendingNone, time.Time{}
		return run, true
	}
	if j.Due = now.Add(store.ReapDelay(ref, j.Attempt)); j.NextDue.IsZero() {
		j.Updated = now
	}
	ApplyPending(j)
	touch(j, now)
	return run, true
}
