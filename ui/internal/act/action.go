package act

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/page"
)

// action is something that can be done to a target.
type action struct {
	Name   string // as in "do=run"
	Title  string
	Says   string // what will happen
	Danger bool
	Asks   []ask // what it needs

	states []durable.State // of a job, in which it is offered
	ready  func(given url.Values) (doing, error)
}

// ask is a text that an action needs.
type ask struct {
	Name, Label string
	Value       string // as it is now
	Optional    bool
}

// asks returns one ask, for a value.
func asks(label, value string) []ask { return []ask{{Name: "value", Label: label, Value: value}} }

// doing does an action to a target. An error is of an action that was not done, or of which that is not known.
type doing func(context.Context, *target) (outcome, error)

// outcome is what became of an action.
type outcome struct {
	durable.Answer
	answer string     // the same in a few words; after an error "" stands for "not known"
	says   string     // what that means
	after  durable.ID // the last job of a list that it is known of, if there are more
}

// status returns the status with which a request is answered that had this outcome.
func (o outcome) status(err error) int {
	if err != nil {
		return address.StatusOf(err)
	}
	switch o.Answer {
	case durable.Applied, durable.Deferred:
		return http.StatusOK
	case durable.NotFound:
		return http.StatusNotFound
	}
	return http.StatusConflict
}

// names are those of all actions. They are documented.
var names = []string{
	"run", "pause", "resume", "reschedule", "move", "revive", "cancel", "delete", "signal", "resize", "drain", "undrain",
}

// on returns doing, whatever is given.
func on(do doing) func(url.Values) (doing, error) {
	return func(url.Values) (doing, error) { return do, nil }
}

// toJob returns what does something to a job.
func toJob(do func(*durable.Jobs, context.Context, durable.ID) (durable.Answer, error)) doing {
	return func(ctx context.Context, t *target) (outcome, error) {
		answer, err := do(t.source.Jobs, ctx, t.id)
		if err != nil {
			return outcome{}, err
		}
		return outcome{Answer: answer, answer: answer.String(), says: answerSays[answer]}, nil
	}
}

var answerSays = map[durable.Answer]string{
	durable.Applied:  "It is done.",
	durable.Deferred: "The job is running; it takes effect when the run ends.",
	durable.TooLate:  "The state of the job no longer allows it.",
	durable.NotFound: "There is no such job.",
}

var jobActions = []action{
	{
		Name: "run", Title: "Run now",
		Says:   "It is due at once, also if it waits for other jobs; a schedule goes on afterwards.",
		states: []durable.State{durable.Waiting, durable.Claimed, durable.Paused, durable.Blocked},
		ready:  on(toJob((*durable.Jobs).RunNow)),
	},
	{
		Name: "pause", Title: "Pause",
		Says:   "It does not run until it is resumed. A run in progress goes on.",
		states: []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed, durable.Running, durable.Blocked},
		ready:  on(toJob((*durable.Jobs).Pause)),
	},
	{
		Name: "resume", Title: "Resume",
		Says:   "It goes on at its time, or at once if that has passed.",
		states: []durable.State{durable.Paused},
		ready:  on(toJob((*durable.Jobs).Resume)),
	},
	{
		Name: "reschedule", Title: "Reschedule",
		Says:   "Its next run is at that time; a schedule goes on from there.",
		Asks:   asks("When, as 90m or 2026-12-24 18:00", ""),
		states: []durable.State{durable.Waiting, durable.Claimed, durable.Paused, durable.Blocked},
		ready:  readyToReschedule,
	},
	{
		Name: "move", Title: "Move",
		Says:   "It is in that queue, and runs on the nodes that serve it; a run in progress goes on where it is.",
		Asks:   []ask{{Name: "queue", Label: "Queue; empty means the default queue", Optional: true}},
		states: []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed, durable.Running, durable.Paused, durable.Blocked},
		ready:  readyToMove,
	},
	{
		Name: "revive", Title: "Revive",
		Says:   "It is due at once, with all its attempts.",
		states: []durable.State{durable.Dead, durable.Canceled},
		ready:  on(toJob((*durable.Jobs).Revive)),
	},
	{
		Name: "cancel", Title: "Cancel", Danger: true,
		Says:   "It does not run again. The context of a run in progress is canceled.",
		states: []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed, durable.Running, durable.Paused, durable.Blocked},
		ready:  on(toJob((*durable.Jobs).Cancel)),
	},
	{
		Name: "delete", Title: "Delete", Danger: true,
		Says:   "It is removed, with its history. One that runs is not: cancel it first.",
		states: []durable.State{durable.Waiting, durable.Claimed, durable.Paused, durable.Blocked, durable.Succeeded, durable.Dead, durable.Canceled},
		ready:  on(toJob((*durable.Jobs).Delete)),
	},
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
		if slices.Contains(d.states, j.State) {
			all = append(all, Link{d.Title, LinkTo(d.Name, source, j.ID), d.Danger})
		}
	}
	return all
}

func readyToReschedule(given url.Values) (doing, error) {
	at, err := parseWhen(given.Get("value"), time.Now())
	if err != nil {
		return nil, err
	}
	do := toJob(func(j *durable.Jobs, ctx context.Context, id durable.ID) (durable.Answer, error) {
		return j.Reschedule(ctx, id, at)
	})
	return func(ctx context.Context, t *target) (outcome, error) {
		o, err := do(ctx, t)
		if err == nil && o.status(nil) == http.StatusOK {
			o.answer += ", due at " + at.Format("2006-01-02 15:04:05 MST")
		}
		return o, err
	}, nil
}

func readyToMove(given url.Values) (doing, error) {
	queue, err := parseQueue(given.Get("queue"))
	if err != nil {
		return nil, err
	}
	do := toJob(func(j *durable.Jobs, ctx context.Context, id durable.ID) (durable.Answer, error) {
		return j.Move(ctx, id, queue)
	})
	return func(ctx context.Context, t *target) (outcome, error) {
		o, err := do(ctx, t)
		if err == nil && o.status(nil) == http.StatusOK {
			o.answer += ", to the " + queueName(queue)
		}
		return o, err
	}, nil
}

// parseQueue returns the name of a queue that a text is.
func parseQueue(text string) (string, error) {
	if len(text) > durable.MaxKind || !utf8.ValidString(text) {
		return "", fmt.Errorf("name of the queue has %d bytes; it must have at most %d, of UTF-8", len(text), durable.MaxKind)
	}
	return text, nil
}

// queueName returns how an answer calls a queue.
func queueName(queue string) string {
	if queue == durable.DefaultQueue {
		return "default queue"
	}
	return "queue " + page.Printable(queue, durable.MaxKind)
}

// parseWhen returns the time of a text: a distance from now, or a time in the zone of now unless it has its own.
func parseWhen(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		if d < 0 {
			return time.Time{}, fmt.Errorf("time is %v, which has passed; it must not be negative", d)
		}
		return now.Add(d), nil
	}
	for _, format := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", time.RFC3339} {
		if t, err := time.ParseInLocation(format, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf(
		"time is %.60q; it must be a distance from now, as 90m, or a time, as 2026-12-24 18:00", text)
}

// tried returns the outcome of something that was done unless there is an error, which says what is in the way.
func tried(answer string, err error) (outcome, error) {
	if err != nil {
		return outcome{Answer: durable.TooLate, answer: "not done", says: page.Lines(err.Error(), 300)}, nil
	}
	return outcome{Answer: durable.Applied, answer: answer, says: answerSays[durable.Applied]}, nil
}

// did returns the outcome of something that was done if ok.
func did(ok bool, answer string) (outcome, error) {
	if !ok {
		return tried("", errors.New("its state no longer allows it"))
	}
	return tried(answer, nil)
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
		ready: func(given url.Values) (doing, error) {
			value := given.Get("value")
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return nil, fmt.Errorf("number of workers is %.20q; it must be a number, from 1", value)
			}
			return func(context.Context, *target) (outcome, error) {
				return tried(fmt.Sprintf("resized to %d", n), p.Resize(n))
			}, nil
		},
	}}
}

// seriesActions returns what can be done to a series now.
func seriesActions(s *executor.Series, paused bool) []action {
	goesOn := action{
		Name: "pause", Title: "Pause", Says: "It does not run until it is resumed. A run in progress goes on.",
		ready: on(func(context.Context, *target) (outcome, error) { return did(s.Pause(), "paused") }),
	}
	if paused {
		goesOn = action{
			Name: "resume", Title: "Resume", Says: "It goes on at its next time.",
			ready: on(func(context.Context, *target) (outcome, error) { return did(s.Resume(), "resumed") }),
		}
	}
	return []action{{
		Name: "run", Title: "Run now", Says: "A run is due at once; the rhythm goes on.",
		ready: on(func(context.Context, *target) (outcome, error) { return tried("due now", s.RunNow()) }),
	}, goesOn, {
		Name: "reschedule", Title: "Reschedule", Says: "It has a fixed rate with the period below, from now on.",
		Asks: asks("New period, as 5m", ""),
		ready: func(given url.Values) (doing, error) {
			value := given.Get("value")
			d, err := time.ParseDuration(value)
			if err != nil || d <= 0 {
				return nil, fmt.Errorf("period is %.20q; it must be a duration above 0, such as 90s or 5m", value)
			}
			return func(context.Context, *target) (outcome, error) {
				return tried("every "+d.String(), s.Reschedule(executor.FixedRate(d)))
			}, nil
		},
	}, {
		Name: "cancel", Title: "Cancel", Danger: true, Says: "It does not run again, until the program is started anew.",
		ready: on(func(context.Context, *target) (outcome, error) { return did(s.Cancel(), "canceled") }),
	}}
}

// safely does it; a Trigger of the program may panic.
func (do doing) safely(ctx context.Context, t *target) (o outcome, err error) {
	defer func() {
		if v := recover(); v != nil {
			o, err = outcome{}, &address.Error{Status: http.StatusInternalServerError, Text: "panic: " + page.Printable(fmt.Sprint(v), 200)}
		}
	}()
	return do(ctx, t)
}
