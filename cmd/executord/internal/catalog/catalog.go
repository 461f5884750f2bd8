// Package catalog is what executord keeps in a store: one schedule for each job of a job file, which adds a job for each
// run, as durable.OnOverlap says.
//
//	          schedule                     run
//	key       executord:NAMESPACE/NAME     that, # and the number of the run; NAMESPACE has no slash, NAME may have some
//	kind      durable.ScheduleKind of      executord:NAMESPACE, so that a daemon claims the jobs of its own only;
//	          executord:NAMESPACE          of a group executord:NAMESPACE/LIMIT/GROUP, which has a limit for all daemons
//	payload   a Spec                       a Run
//
// The definition of a job is in the payload of its schedule, and not only in the files of the daemons, so that one whose
// file is older or newer runs what it has claimed. It is not in each run, of which a thousand are kept.
package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable"
)

const root = "executord:"

// Kind returns the kind of the runs of a namespace, but for those of groups.
func Kind(namespace string) string { return root + namespace }

// Key returns the key of a job.
func Key(namespace, name string) string { return Kind(namespace) + "/" + name }

// GroupKind returns the kind of the runs of a group, of which so many may be in progress.
func GroupKind(namespace, group string, limit int) string {
	kind := Kind(namespace) + "/" + strconv.Itoa(max(limit, 1)) + "/"
	if len(kind)+len(group) > durable.MaxKind {
		group = fmt.Sprintf("%x", sha256.Sum256([]byte(group)))[:16]
	}
	return kind + group
}

// GroupLimit returns the limit of a kind that GroupKind has made for a namespace, false if it has not.
func GroupLimit(namespace, kind string) (limit int, ok bool) {
	rest, ours := strings.CutPrefix(kind, Kind(namespace)+"/")
	text, _, of := strings.Cut(rest, "/")
	limit, err := strconv.Atoi(text)
	return limit, ours && of && err == nil && limit > 0
}

// NameOf returns the name of the job with a key, with its namespace before it unless that is the one given.
func NameOf(namespace, key string) string {
	name := strings.TrimPrefix(key, root)
	return strings.TrimPrefix(name, namespace+"/")
}

// NamespaceHint describes the names that a namespace may have.
const NamespaceHint = "use letters, digits and . _ - (no longer than 64 bytes)"

// ValidNamespace reports whether a namespace may have a name.
func ValidNamespace(name string) bool { return job.ValidName(name) && !strings.Contains(name, "/") }

// Entry is one job in a store.
type Entry struct {
	durable.Job     // the schedule, with the kind and the payload of its runs
	Namespace, Name string
	Spec            Spec
	Number          int64 // of its latest run, 0 if there is none
	Skipped         int   // due times that were skipped since that was added

	// Excluded are due times to come that somebody has excluded by hand.
	Excluded []time.Time

	// These are there after AddRuns.
	Open []durable.Job // runs that have not ended, in the order of their numbers
	Last durable.Job   // the latest run that has ended; the zero Job if there is none

	open []int64
	row  durable.Job // from which Read has made the entry
}

// Read returns the entry that a row of the store is, false if it is not one of executord's.
func Read(row durable.Job) (Entry, bool) {
	s, ok := durable.ScheduleOf(row)
	if !ok {
		return Entry{}, false
	}
	e, ok := read(s.Job, s)
	e.row = row
	return e, ok
}

// EntryOf returns the entry of a firing, with the runs that are open.
func EntryOf(f durable.Firing) (Entry, bool) {
	e, ok := read(f.Schedule, durable.Schedule{Number: f.Number - 1, State: f.State})
	e.Open = f.Open
	return e, ok
}

func read(row durable.Job, s durable.Schedule) (Entry, bool) {
	rest, ours := strings.CutPrefix(row.Key, root)
	namespace, name, ok := strings.Cut(rest, "/")
	if !ours || !ok || row.Kind != Kind(namespace) {
		return Entry{}, false
	}
	e := Entry{Job: row, Namespace: namespace, Name: name, Number: s.Number, open: s.Open}
	e.Skipped, e.Excluded = parseState(s.State)
	if json.Unmarshal(row.Payload, &e.Spec) != nil {
		e.Spec = Spec{Schedule: row.Schedule, Zone: "UTC"}
	}
	e.Spec.Name, e.Spec.Job.Schedule.Text = name, e.Spec.Schedule
	return e, true
}

// The state of a schedule, as text: Skipped, and the times of Excluded.
func parseState(text string) (skipped int, excluded []time.Time) {
	for i, word := range strings.Fields(text) {
		if i == 0 {
			skipped, _ = strconv.Atoi(word)
		} else if t, err := time.Parse(time.RFC3339Nano, word); err == nil {
			excluded = append(excluded, t)
		}
	}
	return skipped, excluded
}

// StateAfter returns the state of the schedule when it has fired for a time, and so many are skipped.
func (e Entry) StateAfter(fired time.Time, skipped int) string {
	state := strconv.Itoa(skipped)
	for _, t := range e.Excluded {
		if t.After(fired) {
			state += " " + t.UTC().Format(time.RFC3339Nano)
		}
	}
	if state == "0" {
		return ""
	}
	return state
}

// Calendar returns which times of the job count. An error is as that of job.Season.Calendar.
func (e Entry) Calendar() (job.Calendar, error) {
	c, err := e.Spec.Season.Calendar()
	return c.Without(e.Excluded), err
}

// AllCount reports whether all times of the job count.
func (e Entry) AllCount() bool { return e.Spec.Season.IsZero() && len(e.Excluded) == 0 }

// InProgress returns the latest run that is in progress, false if there is none.
func (e Entry) InProgress() (durable.Job, bool) {
	for _, run := range slices.Backward(e.Open) {
		if run.State.Granted() {
			return run, true
		}
	}
	return durable.Job{}, false
}

// Waiting returns the latest run that waits, false if there is none.
func (e Entry) Waiting() (durable.Job, bool) {
	for _, run := range slices.Backward(e.Open) {
		if !run.State.Granted() {
			return run, true
		}
	}
	return durable.Job{}, false
}

// Removed reports whether the job is not in its file any more. A run of it may be in progress.
func (e Entry) Removed() bool { return e.Spec.Off }

// held returns the state, if any, into which a user has put the job so that it does not run. That it was removed is no
// such state, but does not undo one.
func (e Entry) held() State {
	switch {
	case e.Spec.Off:
		return e.Spec.Held
	case e.Pending == durable.PendingPause:
		return StatePaused
	case e.Pending == durable.PendingCancel:
		return StateCanceled
	case e.State == durable.Paused, e.State == durable.Canceled, e.State == durable.Dead:
		return State(e.State.String())
	}
	return ""
}

// Blocked returns what keeps a job from running, "" for nothing: that it was removed, or what a user has put it into, if
// only when the run in progress has ended. A job that has no more times has ended by itself.
func (e Entry) Blocked() State {
	if e.Removed() {
		return StateRemoved
	}
	return e.held()
}

// pageSize is how many jobs are asked for at once.
const pageSize = 500

// List returns the jobs of a namespace, of all if it is empty, by name, without their runs.
func List(ctx context.Context, store durable.Store, namespace string) ([]Entry, error) {
	return list(ctx, store, namespace, durable.Filter{})
}

// Select returns the jobs of a namespace, as List does, with their runs.
func Select(ctx context.Context, store durable.Store, namespace string) ([]Entry, error) {
	all, err := List(ctx, store, namespace)
	if err == nil {
		err = AddRuns(ctx, store, all)
	}
	return all, err
}

// Again reads jobs that Select or Again has returned, with their runs, in few statements however many rows the store has.
// Jobs that were deleted since are left out. If a job has not changed, and had no open run, its runs are not read again.
func Again(ctx context.Context, store durable.Store, jobs []Entry) ([]Entry, error) {
	keys := make([]string, len(jobs))
	for i, e := range jobs {
		keys[i] = e.Key
	}
	rows, err := byKey(ctx, store, keys)
	if err != nil {
		return nil, err
	}
	var all, changed []Entry
	for i, key := range keys {
		row := rows[key]
		if len(jobs[i].Open) == 0 && reflect.DeepEqual(row, jobs[i].row) {
			all = append(all, jobs[i])
		} else if e, ok := Read(row); ok {
			changed = append(changed, e)
		}
	}
	err = AddRuns(ctx, store, changed)
	return byName(append(all, changed...)), err
}

// byName sorts jobs by namespace and name.
func byName(jobs []Entry) []Entry {
	slices.SortFunc(jobs, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return jobs
}

func list(ctx context.Context, store durable.Store, namespace string, filter durable.Filter) ([]Entry, error) {
	var all []Entry
	filter.Prefix, filter.Limit = root, pageSize
	if namespace != "" {
		filter.Kind, filter.Prefix = durable.ScheduleKind(Kind(namespace)), Kind(namespace)+"/"
	}
	for {
		page, err := store.List(ctx, filter)
		if err != nil {
			return nil, fmt.Errorf("listing the jobs: %w", err)
		}
		for _, row := range page {
			if e, ok := Read(row); ok {
				all = append(all, e)
			}
		}
		if len(page) < pageSize {
			break
		}
		filter.After = page[len(page)-1].ID
	}
	return byName(all), nil
}
