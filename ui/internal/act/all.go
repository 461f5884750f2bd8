package act

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// A form may be about all jobs of a list, those on other pages, too. Then it has the query of the list, and its target
// is all of these jobs together. With "after" in the query, it is those after a job of the list.

// actAllLimit is how many jobs one request changes at most.
const actAllLimit = 10_000

// aimAtAll returns the jobs of a list as a target, and the view of the list.
func (e *Engine) aimAtAll(s *source.Source, text string) (*target, address.View, error) {
	v := address.View{Name: "jobs", Source: s.Name}
	q, err := url.ParseQuery(text)
	if err != nil {
		return nil, v, address.Badf("jobs is %.50q; it must be the query of a list of jobs", text)
	}
	if err := v.ParseJobs(q); err != nil {
		return nil, v, err
	}
	t := &target{sort: "jobs", source: s, view: v, key: v.Says(), Fields: []field{{"jobs", text}}, Name: v.Says()}
	v.After = ""
	t.Path = v.Link()
	return t, v, nil
}

// readAll completes it by how many jobs there are.
func (t *target) readAll(ctx context.Context) error {
	counts, err := t.source.Jobs.Counts(ctx, t.view.Filter(time.Now()))
	jobs := 0
	for _, c := range counts {
		jobs += c.Jobs
	}
	if t.State = page.Count(jobs) + " jobs"; jobs == 1 {
		t.State = "1 job"
	}
	return err
}

// allOps are the changes that actions make to all jobs of a list, by the names of the actions.
var allOps = map[string]durable.Op{
	"run": durable.OpRunNow, "pause": durable.OpPause, "resume": durable.OpResume, "reschedule": durable.OpReschedule,
	"revive": durable.OpRevive, "cancel": durable.OpCancel, "delete": durable.OpDelete,
	"move": durable.OpMove,
}

// allActions are what can be done to all jobs of a list: the same as to one.
var allActions = func() []action {
	actions := make([]action, len(jobActions))
	for i, d := range jobActions {
		op := allOps[d.Name]
		verb, rest, _ := strings.Cut(d.Title, " ") // "Run now" is "Run all now"
		d.Title = strings.TrimSuffix(verb+" all "+rest, " ")
		d.ready = func(given url.Values) (doing, error) {
			change := durable.Change{Op: op}
			var err error
			switch op {
			case durable.OpReschedule:
				change.Due, err = parseWhen(given.Get("value"), time.Now())
			case durable.OpMove:
				change.Queue, err = parseQueue(given.Get("queue"))
			}
			if err != nil {
				return nil, err
			}
			return toAll(change), nil
		}
		actions[i] = d
	}
	return actions
}()

// toAll returns what makes a change to all jobs of a list.
func toAll(c durable.Change) doing {
	return func(ctx context.Context, t *target) (outcome, error) {
		var all durable.Changed
		f := t.view.Filter(time.Now())
		if t.view.After != "" {
			var err error
			if f.After, err = durable.ParseID(t.view.After); err != nil {
				return outcome{}, err
			}
		}
		for {
			done, err := t.source.Jobs.ChangeAll(ctx, c, f)
			all.Applied += done.Applied
			all.Deferred += done.Deferred
			all.TooLate += done.TooLate
			all.NotFound += done.NotFound
			if f.After = done.After; err != nil {
				return outcome{answer: changedSays(&all), after: f.After}, err
			}
			if !done.More {
				return outcome{Answer: changed(&all), answer: changedSays(&all), says: "These were all."}, nil
			}
			if all.Jobs() >= actAllLimit {
				return outcome{Answer: changed(&all), answer: changedSays(&all) + "; there are more", after: f.After}, nil
			}
		}
	}
}

// goOn returns the address that asks for the same to the jobs of a list after the one with this ID.
func (o *order) goOn(after durable.ID) string {
	v := o.targets[0].view
	v.After, v.Source = after.String(), ""
	q := url.Values{"do": {o.action.Name}, "jobs": {v.Query(url.Values{})}, "reason": {o.reason}}
	if o.view.Source != "" {
		q.Set("source", o.view.Source)
	}
	for _, a := range o.action.Asks {
		q.Set(a.Name, o.given.Get(a.Name))
	}
	return "act?" + q.Encode()
}

// changed returns the answer that stands for those of many jobs: if one was changed, that is Applied.
func changed(c *durable.Changed) durable.Answer {
	switch {
	case c.Applied+c.Deferred > 0:
		return durable.Applied
	case c.TooLate > 0:
		return durable.TooLate
	}
	return durable.NotFound
}

// changedSays returns the answers of many jobs in a few words.
func changedSays(c *durable.Changed) string {
	var parts []string
	for _, a := range []struct {
		answer durable.Answer
		jobs   int
	}{{durable.Applied, c.Applied}, {durable.Deferred, c.Deferred}, {durable.TooLate, c.TooLate}, {durable.NotFound, c.NotFound}} {
		if a.jobs > 0 {
			parts = append(parts, page.Count(a.jobs)+" "+a.answer.String())
		}
	}
	if parts == nil {
		return "no jobs"
	}
	return strings.Join(parts, ", ")
}
