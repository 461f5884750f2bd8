package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
type mark struct {
	Job   string `json:"job"` // that runs after
	By    string `json:"by"`
	Trace string `json:"trace,omitempty"` // the traceparent of the run that has set it, if it has one
}

// asked is the By of the mark that somebody has set who asked for a run: no job can be called so.
const asked = "@run-now"

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
	if err := addMark(ctx, jobs, e, by, traceparent); err != nil {
		return err
	}
	marks, err := ListMarks(ctx, store, namespace, name)
	if err != nil || !marks.Complete(e.Spec.After) {
		return err
	}
	now, err := store.Now(ctx)
	if err != nil {
		return err
	}
	_, err = jobs.Reschedule(ctx, e.ID, now)
	return err
}

func addMark(ctx context.Context, jobs *durable.Jobs, e Entry, by, traceparent string) error {
	kind := durable.Client[mark, struct{}](jobs, markRoot+e.Namespace)
	m := mark{e.Name, by, traceparent}
	if _, err := kind.Schedule(ctx, dormant, m, durable.Key(markKey(e.Namespace, e.Name, by))); err != nil {
		return fmt.Errorf("setting a mark: %w", err)
	}
	return nil
}

// RunNow makes a job due at once, also one that runs after others, whether these have ended or not.
func RunNow(ctx context.Context, jobs *durable.Jobs, store durable.Store, e Entry) (durable.Answer, error) {
	return askFor(ctx, jobs, store, e, func() (durable.Answer, error) { return jobs.RunNow(ctx, e.ID) })
}

// askFor calls what makes a job due, with the mark that a job needs which runs after others.
func askFor(ctx context.Context, jobs *durable.Jobs, store durable.Store, e Entry, due func() (durable.Answer, error)) (durable.Answer, error) {
	if len(e.Spec.After) == 0 {
		return due()
	}
	// before it is due, or its run would see that it is not to run
	if err := addMark(ctx, jobs, e, asked, ""); err != nil {
		return durable.TooLate, err
	}
	answer, err := due()
	if answer == durable.Applied || answer == durable.Deferred {
		return answer, err
	}
	marks, wrong := ListMarks(ctx, store, e.Namespace, e.Name)
	if m, there := marks[asked]; there && wrong == nil { // it would be for a later run
		_, wrong = jobs.Delete(ctx, m.id)
	}
	return answer, cmp.Or(err, wrong)
}

// Marks are those of a job, by the names of the jobs that have set them.
type Marks map[string]found

// found is a mark of the store.
type found struct {
	id    durable.ID
	trace string
}

// ListMarks returns the marks of a job.
func ListMarks(ctx context.Context, store durable.Store, namespace, name string) (Marks, error) {
	marks := make(Marks)
	filter := durable.Filter{Kind: markRoot + namespace, Prefix: markKey(namespace, name, ""), Limit: pageSize}
	for {
		page, err := store.List(ctx, filter)
		if err != nil {
			return nil, fmt.Errorf("listing the marks: %w", err)
		}
		for _, row := range page {
			var m mark
			if json.Unmarshal(row.Payload, &m) == nil && m.Job == name { // a name may have a slash
				marks[m.By] = found{row.ID, m.Trace}
			}
		}
		if len(page) < pageSize {
			return marks, nil
		}
		filter.After = page[len(page)-1].ID
	}
}

// Complete reports whether each of the jobs has set its mark, or somebody has asked for a run.
func (m Marks) Complete(after []string) bool {
	if _, there := m[asked]; there {
		return true
	}
	return !slices.ContainsFunc(after, func(name string) bool {
		_, there := m[name]
		return !there
	})
}

// Remove removes the marks.
func (m Marks) Remove(ctx context.Context, jobs *durable.Jobs) error {
	for _, set := range m {
		if _, err := jobs.Delete(ctx, set.id); err != nil {
			return fmt.Errorf("removing a mark: %w", err)
		}
	}
	return nil
}

// String returns the names of the jobs, with blanks between them.
func (m Marks) String() string {
	var names []string
	for name := range m {
		if name != asked {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// Traces returns the traceparents of the runs that have set the marks, of those that have one.
func (m Marks) Traces() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if trace := m[name].trace; trace != "" {
			all = append(all, trace)
		}
	}
	return all
}
