package act

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/page"
)

// action is something that can be done to a target.
type action struct {
	Name   string // as in "do=run-now"
	Title  string
	Says   string // what will happen
	Danger bool
	Asks   []ask // what it needs

	// Times that are given without an offset are in a zone.
	ready func(given url.Values, zone *time.Location) (doing, error)
}

// ask is a text that an action needs.
type ask struct {
	Name, Label string
	Value       string // as it is now
	Optional    bool
	Zoned       bool // it is a time, of the reader's zone
}

// asks returns one ask, for a value.
func asks(label, value string) []ask { return []ask{{Name: "value", Label: label, Value: value}} }

// by is who takes an action, and why.
type by struct{ who, reason string }

// doing does an action to a target, and keeps it in the audit log. An error is of an action that was not done, or of
// which that is not known.
type doing func(context.Context, *target, by) (admin.Answer, error)

// statusOf returns the status with which a request is answered for which an action had this answer.
func statusOf(a admin.Answer, err error) int {
	switch {
	case err != nil:
		return address.StatusOf(err)
	case a.Done():
		return http.StatusOK
	case a.Outcome == durable.NotFound:
		return http.StatusNotFound
	}
	return http.StatusConflict
}

// names are those of all actions. They are documented.
var names = []string{
	"run-now", "pause", "resume", "reschedule", "move", "revive", "cancel", "delete", "signal", "resize", "drain", "undrain",
}

// on returns doing, whatever is given.
func on(do doing) func(url.Values, *time.Location) (doing, error) {
	return func(url.Values, *time.Location) (doing, error) { return do, nil }
}

// byAdmin returns doing that takes an action of package admin.
func byAdmin(a admin.Action) doing {
	return func(ctx context.Context, t *target, by by) (admin.Answer, error) {
		a := a
		a.Who, a.Reason = by.who, by.reason
		switch t.sort {
		case "job":
			a.Job = t.id
		case "jobs":
			q := t.view.Asked()
			a.Query, a.Most = &q, actAllLimit
		case "node":
			a.Name = t.key
		}
		return admin.Do(ctx, t.source.Jobs, a)
	}
}

// idTime is how long it may take to find the job of an action of the program's own.
const idTime = 5 * time.Second

// noted returns doing that does something which package admin does not know.
func noted(action string, do func(context.Context) (admin.Answer, error)) doing {
	return func(ctx context.Context, t *target, by by) (admin.Answer, error) {
		act := durable.Act{Action: action, Job: t.id, Key: t.key, Who: by.who, Reason: by.reason}
		return admin.CarryOut(ctx, t.source.Jobs, act, func(ctx context.Context) (admin.Answer, error) {
			answer, err := safely(ctx, do)
			if t.sort == "own" && answer.Job.ID == (durable.ID{}) {
				finding, cancel := context.WithTimeout(context.WithoutCancel(ctx), idTime)
				defer cancel()
				_ = t.read(finding) // for its ID; it is not needed
				answer.Job.ID = t.id
			}
			return answer, err
		})
	}
}

// verbs are the words of pages for the actions of package admin on jobs.
var verbs = []struct {
	do     admin.Verb
	title  string
	says   string
	danger bool
	asks   []ask
}{
	{admin.RunNow, "Run now", "It is due at once, also if it waits for other jobs; a schedule goes on afterwards.", false, nil},
	{admin.Pause, "Pause", "It does not run until it is resumed. A run in progress goes on.", false, nil},
	{admin.Resume, "Resume", "It goes on at its time, or at once if that has passed.", false, nil},
	{admin.Reschedule, "Reschedule", "Its next run is at that time; a schedule goes on from there.", false,
		[]ask{{Name: "value", Label: "When, as 90m or 2026-12-24 18:00", Zoned: true}}},
	{admin.Move, "Move", "It is in that queue, and runs on the nodes that serve it; a run in progress goes on where it is.", false,
		[]ask{{Name: "queue", Label: "Queue; empty means the default queue", Optional: true}}},
	{admin.Revive, "Revive", "It is due at once, with all its attempts.", false, nil},
	{admin.Cancel, "Cancel", "It does not run again. The context of a run in progress is canceled.", true, nil},
	{admin.Delete, "Delete", "It is removed, with its history. One that runs is not: cancel it first.", true, nil},
}

// jobActions are what can be done to a job, and allActions to all jobs of a list.
var jobActions, allActions = func() (one, all []action) {
	for _, v := range verbs {
		a := action{Name: string(v.do), Title: v.title, Says: v.says, Danger: v.danger, Asks: v.asks, ready: ready(v.do)}
		one = append(one, a)
		verb, rest, _ := strings.Cut(v.title, " ") // "Run now" is "Run all now"
		a.Title = strings.TrimSuffix(verb+" all "+rest, " ")
		all = append(all, a)
	}
	return one, all
}()

// signalAction sends a signal to a job. It is not among jobActions, since it is offered only where a job has steps.
var signalAction = action{
	Name: string(admin.Signal), Title: "Signal",
	Says: "If the job waits for this signal, it goes on at once; otherwise it gets the signal when it waits. Only the first signal of a name counts.",
	Asks: []ask{
		{Name: "signal", Label: "Name of the signal"},
		{Name: "value", Label: `Payload as JSON, such as true, 7, "a text" or {"by": "ann"}; empty means null`, Optional: true},
	},
	ready: ready(admin.Signal),
}

// ready returns what makes a verb on jobs ready to be carried out with what is given.
func ready(do admin.Verb) func(url.Values, *time.Location) (doing, error) {
	return func(given url.Values, zone *time.Location) (doing, error) {
		a := admin.Action{Do: do}
		var err error
		switch do {
		case admin.Reschedule:
			if a.When, err = admin.ParseWhen(given.Get("value"), zone); err != nil {
				return nil, fmt.Errorf("time %w", err)
			}
		case admin.Move:
			a.Queue = given.Get("queue")
		case admin.Signal:
			a.Signal, a.Payload = given.Get("signal"), []byte(given.Get("value"))
		}
		return byAdmin(a), a.Check()
	}
}

// A Link is a link to what can be done.
type Link struct {
	Name, Path string
	Danger     bool
}

// LinkTo returns the address that asks for an action to a job, with what is given to it.
func LinkTo(do, source string, id durable.ID, given ...string) string {
	q := url.Values{"do": {do}, "id": {id.String()}}
	if source != "" {
		q.Set("source", source)
	}
	for i := 0; i < len(given); i += 2 {
		q.Set(given[i], given[i+1])
	}
	return "act?" + q.Encode()
}

// Links returns links to what can be done to a job now.
func Links(source string, j *durable.Job) (all []Link) {
	for _, d := range jobActions {
		if admin.Verb(d.Name).Possible(*j) {
			all = append(all, Link{d.Title, LinkTo(d.Name, source, j.ID), d.Danger})
		}
	}
	return all
}

// tried returns the answer to something that was done unless there is an error, which says what is in the way.
func tried(text string, err error) (admin.Answer, error) {
	if err != nil {
		return admin.Answer{Outcome: durable.TooLate, Text: "not done", Says: err.Error()}, nil
	}
	return admin.Answer{Outcome: durable.Applied, Text: text}, nil
}

// did returns the answer to something that was done if ok.
func did(ok bool, text string) (admin.Answer, error) {
	if !ok {
		return tried("", errors.New("its state no longer allows it"))
	}
	return tried(text, nil)
}

// poolActions returns what can be done to a pool.
func poolActions(p *executor.Pool) []action {
	size := p.Settings().Workers
	if f := p.Figures(); !f.Scheduled && f.Max >= 0 {
		size = f.Max
	}
	return []action{{
		Name: "resize", Title: "Resize", Asks: asks("Workers", strconv.Itoa(size)),
		Says: "It has that many workers: core and limit. Busy workers above that leave after their task.",
		ready: func(given url.Values, _ *time.Location) (doing, error) {
			value := given.Get("value")
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return nil, fmt.Errorf("number of workers is %.20q; it must be a number, from 1", value)
			}
			return noted("resize pool", func(context.Context) (admin.Answer, error) {
				return tried(fmt.Sprintf("resized to %d", n), p.Resize(n))
			}), nil
		},
	}}
}

// seriesActions returns what can be done to a series now.
func seriesActions(s *executor.Series, paused bool) []action {
	do := func(name, title, says string, danger bool, fn func() (admin.Answer, error)) action {
		doing := noted(name+" series", func(context.Context) (admin.Answer, error) { return fn() })
		return action{Name: name, Title: title, Says: says, Danger: danger, ready: on(doing)}
	}
	goesOn := do("pause", "Pause", "It does not run until it is resumed. A run in progress goes on.", false,
		func() (admin.Answer, error) { return did(s.Pause(), "paused") })
	if paused {
		goesOn = do("resume", "Resume", "It goes on at its next time.", false,
			func() (admin.Answer, error) { return did(s.Resume(), "resumed") })
	}
	return []action{
		do("run-now", "Run now", "A run is due at once; the rhythm goes on.", false,
			func() (admin.Answer, error) { return tried("due now", s.RunNow()) }),
		goesOn,
		{
			Name: "reschedule", Title: "Reschedule", Says: "It has a fixed rate with the period below, from now on.",
			Asks: asks("New period, as 5m", ""),
			ready: func(given url.Values, _ *time.Location) (doing, error) {
				value := given.Get("value")
				d, err := time.ParseDuration(value)
				if err != nil || d <= 0 {
					return nil, fmt.Errorf("period is %.20q; it must be a duration above 0, such as 90s or 5m", value)
				}
				return noted("reschedule series", func(context.Context) (admin.Answer, error) {
					return tried("every "+d.String(), s.Reschedule(executor.FixedRate(d)))
				}), nil
			},
		},
		do("cancel", "Cancel", "It does not run again, until the program is started anew.", true,
			func() (admin.Answer, error) { return did(s.Cancel(), "canceled") }),
	}
}

// safely does it; a Trigger of the program may panic.
func safely(ctx context.Context, do func(context.Context) (admin.Answer, error)) (a admin.Answer, err error) {
	defer func() {
		if v := recover(); v != nil {
			a, err = admin.Answer{}, &address.Error{Status: http.StatusInternalServerError, Text: "panic: " + page.Printable(fmt.Sprint(v), 200)}
		}
	}()
	return do(ctx)
}
