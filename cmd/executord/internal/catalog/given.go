package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/executor-go/executor/durable"
)

// given is a row of the store with the parameters of one run, which somebody has asked for. As a mark it waits for a
// time that never comes. It stays after the run, for those who look at the history.
//
//	run-now --set ──▶ given for the time now ──▶ the job is due at that time
//	the run begins: is there a given for its time? that has its parameters; else it has the defaults
//
// The time is that of the run, its occurrence, and stays the same when the run is begun again, by whatever daemon. So
// a run has its parameters whoever runs it, and no other run has them. Values in the payload of the job lost: a daemon
// that reads its file puts its own payload there.
type given struct {
	Job    string    `json:"job"`
	At     time.Time `json:"at"`
	Values []string  `json:"values"` // NAME=value, one for each parameter
}

const givenRoot = "executord-given/"

// keptGiven is how many rows a job has, at most: as many as there are runs in its history.
const keptGiven = 1000

func givenKey(namespace, name string, at time.Time) string {
	return givenPrefix(namespace, name) + strconv.FormatInt(at.UnixMicro(), 10)
}

func givenPrefix(namespace, name string) string { return givenRoot + namespace + "/" + name + "/" }

// RunWith makes a job due at once for a run with these parameters, of Parameters.Given. If a run begins meanwhile, the
// answer is Deferred, and this one follows it.
func RunWith(ctx context.Context, jobs *durable.Jobs, store durable.Store, e Entry, values []string) (durable.Answer, error) {
	now, err := store.Now(ctx)
	if err != nil {
		return durable.TooLate, err
	}
	g := given{Job: e.Name, At: now.Truncate(time.Microsecond), Values: values}
	id, err := keepGiven(ctx, jobs, e.Namespace, g)
	if err != nil {
		return durable.TooLate, err
	}
	answer, err := askFor(ctx, jobs, store, e, func() (durable.Answer, error) {
		answer, err := jobs.Reschedule(ctx, e.ID, g.At)
		if err == nil && answer == durable.Applied && e.State == durable.Paused {
			_, err = jobs.Resume(ctx, e.ID)
		}
		return answer, err
	})
	if err == nil && answer != durable.Applied && answer != durable.Deferred {
		_, err = jobs.Delete(ctx, id)
	}
	if err == nil {
		err = pruneGiven(ctx, jobs, store, e)
	}
	return answer, err
}

// asked returns the time of a run that somebody, or the end of other jobs, has asked for and that has not begun. It
// returns false if there is none.
func (e Entry) asked() (at time.Time, ok bool) {
	switch at = e.Occurrence; {
	case e.State.Done():
		return at, false
	case e.State.Granted():
		at = e.NextDue // that of the run after the one in progress
	case e.Due.Before(at):
		at = e.Due // the run makes up for other times, too
	}
	return at, !at.IsZero() && !Scheduled(e.Job, at)
}

// Asked returns the parameters of a run that somebody has asked for, and that has not begun yet; nil if there is none.
// Until it begins, it would be lost by asking for another one.
func Asked(ctx context.Context, store durable.Store, e Entry) ([]string, error) {
	at, ok := e.asked()
	if !ok || len(e.Spec.Parameters) == 0 || e.State.Granted() {
		return nil, nil
	}
	return findGiven(ctx, store, e.Namespace, e.Name, at)
}

// askAgain makes a run due again, with its parameters, that somebody has asked for and that had not begun when a step
// gave its job another schedule. The new schedule has dropped it, as it drops the times of the schedule before.
func (c *Catalog) askAgain(ctx context.Context, s *Step) error {
	if s.Action != Change || !s.Mine || s.Err != nil || s.Was.Schedule == s.Now.Schedule {
		return nil
	}
	asked, ok := s.Was.asked()
	if !ok || asked.After(s.Now.Updated) {
		return nil
	}
	if s.Was.Runs != s.Now.Runs || s.Was.State.Granted() != s.Now.State.Granted() { // it has begun meanwhile
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var err error
	s.Asked, err = reask(ctx, c.Jobs, c.Store, s.Now, asked)
	return err
}

// SetAside keeps a run that somebody has asked for during the run in progress of a job. The store is about to leave out
// the times that pass during that run, and would leave out this one with them. began is the row of the job as it was
// when the run in progress began. The caller leaves the times out, and then calls again, which makes the run due. So
// again does with a run that the end of other jobs has asked for meanwhile.
func SetAside(ctx context.Context, jobs *durable.Jobs, store durable.Store, began durable.Job) (again func() error, err error) {
	row, err := store.Get(ctx, began.ID)
	if err != nil {
		return nil, err
	}
	e, _ := Read(row)
	asked, ok := e.asked()
	if ok = ok && e.Epoch == began.Epoch; ok {
		next := Times(row).Next(began.Occurrence)
		if next.Before(row.Anchor) { // another schedule begins there
			next = row.Anchor
		}
		if next.IsZero() { // no time is left out
			return func() error { return nil }, nil
		}
		if _, err := jobs.Reschedule(ctx, e.ID, next); err != nil {
			return nil, err
		}
	}
	return func() error {
		if !ok && len(e.Spec.After) > 0 {
			marks, err := ListMarks(ctx, store, e.Namespace, e.Name)
			if err != nil {
				return err
			}
			ok = marks.Complete(e.Spec.After)
		}
		if !ok {
			return nil
		}
		_, err := reask(ctx, jobs, store, e, asked)
		return err
	}, nil
}

// reask makes a run due now that was asked for another time. It returns false if the job is over.
func reask(ctx context.Context, jobs *durable.Jobs, store durable.Store, e Entry, asked time.Time) (bool, error) {
	now, err := store.Now(ctx)
	if err != nil {
		return false, err
	}
	if now = now.Truncate(time.Microsecond); !now.After(e.Updated) { // at which a new schedule may begin
		now = e.Updated.Add(time.Microsecond)
	}
	values, err := findGiven(ctx, store, e.Namespace, e.Name, asked)
	if err == nil && values != nil {
		_, err = keepGiven(ctx, jobs, e.Namespace, given{Job: e.Name, At: now, Values: values})
	}
	if err != nil {
		return false, err
	}
	answer, err := jobs.Reschedule(ctx, e.ID, now)
	return err == nil && (answer == durable.Applied || answer == durable.Deferred), err
}

func keepGiven(ctx context.Context, jobs *durable.Jobs, namespace string, g given) (durable.ID, error) {
	kind := durable.Client[given, struct{}](jobs, givenRoot+namespace)
	id, err := kind.Schedule(ctx, dormant, g, durable.Key(givenKey(namespace, g.Job, g.At)))
	if err != nil {
		return id, fmt.Errorf("keeping the parameters: %w", err)
	}
	return id, nil
}

// pruneGiven removes the oldest rows of a job if there are too many.
func pruneGiven(ctx context.Context, jobs *durable.Jobs, store durable.Store, e Entry) error {
	var ids []durable.ID
	err := eachGiven(ctx, store, e.Namespace, e.Name, func(row durable.Job, _ given) { ids = append(ids, row.ID) })
	for i := 0; err == nil && i < len(ids)-keptGiven; i++ {
		_, err = jobs.Delete(ctx, ids[i])
	}
	return err
}

// GivenTo returns the parameters of the run of a job that is due at a time, nil if it has the defaults. If the run
// makes up for other times, too, first is the first of these, else zero; a run that was asked for may be among them.
func GivenTo(ctx context.Context, jobs *durable.Jobs, store durable.Store, namespace, name string, at, first time.Time) ([]string, error) {
	values, err := findGiven(ctx, store, namespace, name, at)
	if err != nil || values != nil || first.IsZero() {
		return values, err
	}
	if values, err = findGiven(ctx, store, namespace, name, first); err != nil || values == nil {
		return nil, err
	}
	// from now on they are of this run, which may have to be begun again
	_, err = keepGiven(ctx, jobs, namespace, given{Job: name, At: at, Values: values})
	return values, err
}

func findGiven(ctx context.Context, store durable.Store, namespace, name string, at time.Time) ([]string, error) {
	row, err := store.Find(ctx, givenKey(namespace, name, at))
	if errors.Is(err, durable.ErrNotFound) {
		return nil, nil
	}
	var g given
	if err == nil {
		err = json.Unmarshal(row.Payload, &g)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for the parameters: %w", err)
	}
	return g.Values, nil
}

// Given are parameters of runs.
type Given map[givenRun][]string

type givenRun struct {
	namespace, name string
	at              int64 // in microseconds
}

// ListGiven returns the parameters of the runs of a job, of all jobs of a namespace if the name is empty, and of all
// namespaces if that is empty, too.
func ListGiven(ctx context.Context, store durable.Store, namespace, name string) (Given, error) {
	all := make(Given)
	err := eachGiven(ctx, store, namespace, name, func(row durable.Job, g given) {
		all[givenRun{row.Kind[len(givenRoot):], g.Job, g.At.UnixMicro()}] = g.Values
	})
	return all, err
}

// To returns the parameters that were given to a run of a job that was due at a time, nil if it had the defaults.
func (g Given) To(namespace, name string, at time.Time) []string {
	return g[givenRun{namespace, name, at.UnixMicro()}]
}

// eachGiven calls fn with the rows of a job, of a namespace, or of all, the oldest first.
func eachGiven(ctx context.Context, store durable.Store, namespace, name string, fn func(durable.Job, given)) error {
	filter := durable.Filter{Prefix: givenRoot, Limit: pageSize}
	if namespace != "" {
		filter.Kind, filter.Prefix = givenRoot+namespace, givenRoot+namespace+"/"
	}
	if name != "" {
		filter.Prefix = givenPrefix(namespace, name)
	}
	for {
		page, err := store.List(ctx, filter)
		if err != nil {
			return fmt.Errorf("listing the parameters: %w", err)
		}
		for _, row := range page {
			var g given
			if json.Unmarshal(row.Payload, &g) == nil && (name == "" || g.Job == name) && len(row.Kind) > len(givenRoot) {
				fn(row, g)
			}
		}
		if len(page) < pageSize {
			return nil
		}
		filter.After = page[len(page)-1].ID
	}
}
