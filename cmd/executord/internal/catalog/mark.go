package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
)

// A mark is a row of the store that says that one job has ended as another needs it that runs after it. It waits for
// a time that never comes, and is removed when the other one has a run after it.
//
//	A ends ──▶ mark of B by A ──▶ all marks of B there? ──▶ a run of B, whose ID follows from theirs ──▶ they are removed
//
// There is one mark for each pair. If A ends again before B has a run, that is the same mark, and the run of B is after
// both. So marks do not add up where one of several jobs never succeeds. Parents in the sense of package durable lost:
// B is after the first end of each since its last run, and not after runs that are known when it is added.
type mark struct {
	Job   string `json:"job"` // that runs after
	By    string `json:"by"`
	Trace string `json:"trace,omitempty"` // the traceparent of the run that has set it, if it has one
}

// dormant is how far in the future is what never comes: the time of a mark, and of a job that runs after others alone.
// It is much less than a time.Duration can hold.
const dormant = 100 * 365 * 24 * time.Hour

// never reports whether a time of a job is one that never comes: that of a job which runs after others alone, or has no
// more times of its own. Other schedules end with the year 2099.
func (e Entry) never(t, now time.Time) bool {
	return e.Schedule == "rate "+dormant.String() || t.Sub(now) > dormant/5*4
}

const markRoot = "executord-after/"

func markKey(namespace, job, by string) string { return markRoot + namespace + "/" + job + "/" + by }

// SetMark notes that one job has ended as another needs it, and adds a run of that if it has all marks then. A job
// that is not to run gets no mark. traceparent is that of the run that has ended; "" for none.
func SetMark(ctx context.Context, jobs *durable.Jobs, store durable.Store, namespace, name, by, traceparent string) error {
	row, err := store.Find(ctx, Key(namespace, name))
	if errors.Is(err, durable.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	e, ok := Read(row)
	if !ok || e.Spec.Off || e.State.Done() || len(e.Spec.After) == 0 {
		return nil
	}
	kind := durable.KindOf[mark, struct{}](jobs, markRoot+namespace)
	m := mark{Job: name, By: by, Trace: traceparent}
	for again := true; again; {
		if _, err := kind.AddAfter(ctx, dormant, m, durable.Key(markKey(namespace, name, by))); err != nil {
			return fmt.Errorf("setting a mark: %w", err)
		}
		if again, err = tryAfter(ctx, jobs, store, e); err != nil {
			return err
		}
	}
	return nil
}

// runAfter adds a run of a job that runs after others, if these have ended.
func runAfter(ctx context.Context, jobs *durable.Jobs, store durable.Store, e Entry) error {
	_, err := tryAfter(ctx, jobs, store, e)
	return err
}

// tryAfter is runAfter. It reports whether the marks were those of an earlier run, whose daemon was killed before it had
// removed them.
func tryAfter(ctx context.Context, jobs *durable.Jobs, store durable.Store, e Entry) (stale bool, err error) {
	if e.Spec.Off || e.State.Done() || e.State == durable.Paused {
		return false, nil
	}
	all, err := ListMarks(ctx, store, e.Namespace, e.Name)
	if err != nil || !all.Complete(e.Spec.After) {
		return false, err
	}
	now, err := store.Now(ctx)
	if err != nil {
		return false, err
	}
	run, added, err := jobs.AddRun(ctx, e.Key, func(_ context.Context, f durable.Firing) (durable.Decision, error) {
		e, _ := EntryOf(f)
		if _, waits := e.Waiting(); waits { // it is after these, too
			return durable.Decision{LeftOut: "one waits already"}, nil
		}
		d := e.Place(true)
		d.ID, d.Payload = all.id(), Run{Due: f.Occurrence, After: all.Names(), Traces: all.Traces()}
		return d, nil
	})
	if err != nil {
		return false, err
	}
	return added && run.Created.Before(now), all.Remove(ctx, jobs)
}

// Marks are those of a job.
type Marks []found

// found is a mark of the store.
type found struct {
	mark
	id durable.ID
	at time.Time // when it was set
}

// ListMarks returns the marks of a job, of all jobs of a namespace if the name is empty.
func ListMarks(ctx context.Context, store durable.Store, namespace, name string) (Marks, error) {
	var marks Marks
	filter := durable.Filter{Kind: markRoot + namespace, Prefix: markRoot + namespace + "/", Limit: pageSize}
	if name != "" {
		filter.Prefix = markKey(namespace, name, "")
	}
	for {
		page, err := store.List(ctx, filter)
		if err != nil {
			return nil, fmt.Errorf("listing the marks: %w", err)
		}
		for _, row := range page {
			var m mark
			if json.Unmarshal(row.Payload, &m) == nil && (name == "" || m.Job == name) { // a name may have a slash
				marks = append(marks, found{m, row.ID, row.Created})
			}
		}
		if len(page) < pageSize {
			slices.SortFunc(marks, func(a, b found) int { return strings.Compare(a.By, b.By) })
			return marks, nil
		}
		filter.After = page[len(page)-1].ID
	}
}

// Complete reports whether each of the jobs has set its mark, and there is one at least.
func (m Marks) Complete(after []string) bool {
	return len(after) > 0 && !slices.ContainsFunc(after, func(name string) bool {
		return !slices.ContainsFunc(m, func(f found) bool { return f.By == name })
	})
}

// id returns the ID of the run after these.
func (m Marks) id() durable.ID {
	var all []byte
	for _, f := range m {
		all = append(all, f.id[:]...)
	}
	return durable.IDOf(m[0].at, all)
}

// Remove removes the marks.
func (m Marks) Remove(ctx context.Context, jobs *durable.Jobs) error {
	for _, f := range m {
		if _, err := jobs.Delete(ctx, f.id); err != nil {
			return fmt.Errorf("removing a mark: %w", err)
		}
	}
	return nil
}

// Names returns the names of the jobs that have set the marks.
func (m Marks) Names() (names []string) {
	for _, f := range m {
		names = append(names, f.By)
	}
	return names
}

// Traces returns the traceparents of the runs that have set the marks, of those that have one.
func (m Marks) Traces() (all []string) {
	for _, f := range m {
		if f.Trace != "" {
			all = append(all, f.Trace)
		}
	}
	return all
}
