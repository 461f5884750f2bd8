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
// a time that never comes, and is removed when the other one begins.
//
//	A ends ──▶ mark of B by A ──▶ all marks of B there? ──▶ B is due
//	B begins: all marks there? they are removed, and its command is started; else nothing is run
//
// There is one mark for each pair. If A ends again before B has begun, that is the same mark, and the run of B is
// after both. So marks do not add up where one of several jobs never succeeds.
//
// Somebody who asks for a run sets a mark, too, which is an ask; see [RunNow]. So does who brings a job back; see [Bring].
type mark struct {
	Job   string `json:"job"` // that runs after
	By    string `json:"by"`
	Trace string `json:"trace,omitempty"` // the traceparent of the run that has set it, if it has one

	// Of an ask:
	At     time.Time `json:"at,omitzero"`
	Values []string  `json:"values,omitempty"` // NAME=value, one for each parameter; nil for the defaults
}

// dormant is how far in the future is what never comes: the time of a mark, and of a job that runs after others alone.
// It is much less than a time.Duration can hold.
const dormant = 100 * 365 * 24 * time.Hour

// isDormant reports whether a time is one that never comes.
func isDormant(t, now time.Time) bool { return t.Sub(now) > dormant/4 }

const markRoot = "executord-after/"

func markKey(namespace, job, by string) string { return markRoot + namespace + "/" + job + "/" + by }

// SetMark notes that one job has ended as another needs it, and makes that due if it has all marks then. A job
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
	if _, err := addMark(ctx, jobs, namespace, by, mark{Job: name, By: by, Trace: traceparent}); err != nil {
		return err
	}
	marks, err := ListMarks(ctx, store, namespace, name)
	if err != nil || !marks.Complete(e.Spec.After) {
		return err
	}
	_, _, err = makeDue(ctx, jobs, store, e)
	return err
}

// addMark adds a mark, unless there is one by the same.
func addMark(ctx context.Context, jobs *durable.Jobs, namespace, by string, m mark) (durable.ID, error) {
	kind := durable.Client[mark, struct{}](jobs, markRoot+namespace)
	id, err := kind.Schedule(ctx, dormant, m, durable.Key(markKey(namespace, m.Job, by)))
	if err != nil {
		return id, fmt.Errorf("setting a mark: %w", err)
	}
	return id, nil
}

// Marks are those of a job.
type Marks []found

// found is a mark of the store.
type found struct {
	mark
	id durable.ID
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
				marks = append(marks, found{m, row.ID})
			}
		}
		if len(page) < pageSize {
			return marks, nil
		}
		filter.After = page[len(page)-1].ID
	}
}

// For returns the marks that a run for a time takes: without asks that are later, which are for a run after it.
func (m Marks) For(t time.Time) Marks {
	return slices.DeleteFunc(slices.Clone(m), func(f found) bool { return f.At.After(t) })
}

// after returns the marks for runs after that for a time: without the asks that this one has taken.
func (m Marks) after(t time.Time) Marks {
	return slices.DeleteFunc(slices.Clone(m), func(f found) bool { return f.By == asked && !f.At.After(t) })
}

// Asks returns the asks among the marks.
func (m Marks) Asks() Marks {
	return slices.DeleteFunc(slices.Clone(m), func(f found) bool { return f.By != asked })
}

// Values returns the parameters of the latest ask that has some, nil if none has.
func (m Marks) Values() (values []string) {
	var at time.Time
	for _, f := range m {
		if f.Values != nil && !f.At.Before(at) {
			values, at = f.Values, f.At
		}
	}
	return values
}

// Complete reports whether each of the jobs has set its mark, and there is one at least, or somebody has asked for a
// run.
func (m Marks) Complete(after []string) bool {
	by := func(name string) bool {
		return slices.ContainsFunc(m, func(f found) bool { return f.By == name })
	}
	return by(asked) || len(after) > 0 && !slices.ContainsFunc(after, func(name string) bool { return !by(name) })
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

// String returns the names of the jobs, with blanks between them.
func (m Marks) String() string {
	var names []string
	for _, f := range m {
		if !strings.HasPrefix(f.By, "@") {
			names = append(names, f.By)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// Traces returns the traceparents of the runs that have set the marks, of those that have one.
func (m Marks) Traces() (all []string) {
	byName := slices.SortedFunc(slices.Values(m), func(a, b found) int { return strings.Compare(a.By, b.By) })
	for _, f := range byName {
		if f.Trace != "" {
			all = append(all, f.Trace)
		}
	}
	return all
}
