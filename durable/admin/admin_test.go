package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/durable/memory"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func newJobs(s durable.Store) *durable.Jobs { return must(durable.New(durable.Config{Store: s})) }

// add adds a job that waits for an hour.
func add(t *testing.T, jobs *durable.Jobs, kind string, options ...durable.Option) durable.ID {
	t.Helper()
	id, err := durable.KindOf[int, int](jobs, kind).AddAfter(t.Context(), time.Hour, 1, options...)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// do takes an action of ann.
func do(t *testing.T, jobs *durable.Jobs, a admin.Action) admin.Answer {
	t.Helper()
	a.Who, a.Reason = "ann", "a test"
	answer, err := admin.Do(t.Context(), jobs, a)
	if err != nil || answer.Unnoted != nil {
		t.Fatalf("%s: %v, %v", a.Do, err, answer.Unnoted)
	}
	return answer
}

func when(t *testing.T, text string) admin.When {
	t.Helper()
	w, err := admin.ParseWhen(text, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// last returns the latest entry of the audit log.
func last(t *testing.T, jobs *durable.Jobs) durable.Act {
	t.Helper()
	acts, err := jobs.Acts(t.Context(), durable.ActFilter{Limit: 1})
	if err != nil || len(acts) != 1 {
		t.Fatalf("%v, %v are in the audit log", acts, err)
	}
	return acts[0]
}

// Each action on a job does what its name says, and the audit log has it with its answer; an action that the state does
// not allow says which state that is.
func TestDoToJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(memory.New())
		pause := func(id durable.ID) { must(jobs.Pause(t.Context(), id)) }
		cancel := func(id durable.ID) { must(jobs.Cancel(t.Context(), id)) }
		for _, c := range []struct {
			action admin.Action
			before func(durable.ID)
			text   string
			holds  func(durable.Job) bool
		}{
			{admin.Action{Do: admin.RunNow}, nil, "applied", func(j durable.Job) bool { return time.Until(j.Due) <= 0 }},
			{admin.Action{Do: admin.RunNow}, cancel, "too late: it is canceled", nil},
			{admin.Action{Do: admin.Pause}, nil, "applied", func(j durable.Job) bool { return j.State == durable.Paused }},
			{admin.Action{Do: admin.Pause, When: when(t, "90m")}, nil, "applied, until 2000-01-01 01:30:00 UTC", func(j durable.Job) bool {
				return must(jobs.PausedUntil(t.Context(), j.ID))[j.ID].Equal(time.Now().Add(90 * time.Minute))
			}},
			{admin.Action{Do: admin.Resume}, pause, "applied", func(j durable.Job) bool { return j.State == durable.Waiting }},
			{admin.Action{Do: admin.Resume}, nil, "too late: it is waiting", nil},
			{admin.Action{Do: admin.Reschedule, When: when(t, "2000-01-02 14:00")}, nil, "applied, due at 2000-01-02 14:00:00 UTC",
				func(j durable.Job) bool { return time.Until(j.Due) == 38*time.Hour }},
			{admin.Action{Do: admin.Move, Queue: "gpu"}, nil, "applied, to the queue gpu", func(j durable.Job) bool { return j.Queue == "gpu" }},
			{admin.Action{Do: admin.Move}, nil, "applied, to the default queue", func(j durable.Job) bool { return j.Queue == durable.DefaultQueue }},
			{admin.Action{Do: admin.Revive}, cancel, "applied", func(j durable.Job) bool { return j.State == durable.Waiting }},
			{admin.Action{Do: admin.Revive}, nil, "too late: it is waiting", nil},
			{admin.Action{Do: admin.Cancel}, nil, "applied", func(j durable.Job) bool { return j.State == durable.Canceled }},
			{admin.Action{Do: admin.Delete}, nil, "applied", nil},
			{admin.Action{Do: admin.Signal, Signal: "go", Payload: json.RawMessage(`"x"`)}, nil, "applied, signal go", nil},
			{admin.Action{Do: admin.Signal, Signal: "go"}, func(id durable.ID) { must(jobs.Signal(t.Context(), id, "go", 7)) },
				"too late: another signal go has come before", nil},
			{admin.Action{Do: admin.Signal, Signal: "go"}, cancel, "too late: it is canceled", nil},
		} {
			id := add(t, jobs, "mail", durable.Key(fmt.Sprint("m/", durable.NewID())))
			if c.before != nil {
				c.before(id)
			}
			c.action.Job = id
			answer := do(t, jobs, c.action)
			if answer.Text != c.text || answer.Done() != strings.HasPrefix(c.text, "applied") || answer.Job.ID != id {
				t.Errorf("%s: %+v, want %s", c.action.Do, answer, c.text)
			}
			if c.holds != nil && !c.holds(must(jobs.Get(t.Context(), id))) {
				t.Errorf("after %s the job is %+v", c.action.Do, must(jobs.Get(t.Context(), id)))
			}
			if a := last(t, jobs); a.Action != string(c.action.Do) || a.Job != id || a.Key != answer.Job.Key || a.Who != "ann" || a.Reason != "a test" || a.Answer != c.text {
				t.Errorf("%s: the audit log has %+v", c.action.Do, a)
			}
		}
		if a := do(t, jobs, admin.Action{Do: admin.Cancel, Job: durable.NewID()}); a.Outcome != durable.NotFound || a.Text != "not found" || last(t, jobs).Answer != "not found" {
			t.Errorf("no such job: %+v", a)
		}
		part := add(t, jobs, "mail", durable.Partition("ann"))
		if a := do(t, jobs, admin.Action{Do: admin.Move, Job: part, Queue: "gpu"}); a.Outcome != durable.TooLate || a.Text != "too late: it has the partition ann" {
			t.Errorf("a job with a partition: %+v", a)
		}
	})
}

// What is from now on is that on the clock of the store, to which a job is due, for one job and for many.
func TestDoByTheStoresClock(t *testing.T) {
	s := memory.New()
	s.Shift(1000 * time.Hour)
	jobs := newJobs(s)
	id := add(t, jobs, "mail")
	for _, a := range []admin.Action{{Job: id}, {Query: &admin.Query{Kind: "mail"}}} {
		a.Do, a.When = admin.Reschedule, when(t, "2h")
		do(t, jobs, a)
		if due := must(jobs.Get(t.Context(), id)).Due.Sub(must(s.Now(t.Context()))); due < time.Hour || due > 2*time.Hour {
			t.Errorf("due in %v", due)
		}
	}
}

// A job that is paused until a time, and paused again without one, has no end of its pause any more.
func TestDoPauseForgetsEnd(t *testing.T) {
	for _, again := range []admin.Action{{}, {Query: &admin.Query{Kind: "mail"}}} {
		jobs := newJobs(memory.New())
		id := add(t, jobs, "mail")
		do(t, jobs, admin.Action{Do: admin.Pause, Job: id, When: when(t, "90m")})
		if again.Do = admin.Pause; again.Query == nil {
			again.Job = id
		}
		do(t, jobs, again)
		if ends := must(jobs.PausedUntil(t.Context(), id)); len(ends) > 0 {
			t.Errorf("the pause ends at %v", ends)
		}
	}
}

// Jobs that a query selects are changed together, others are not. It is one entry of the audit log, which says which
// jobs they were, and how many had which answer.
func TestDoToAll(t *testing.T) {
	jobs := newJobs(memory.New())
	for range 8 {
		add(t, jobs, "mail")
	}
	other := add(t, jobs, "bill")
	mails := admin.Query{Kind: "mail"}
	all := must(admin.List(t.Context(), jobs, mails, 8)) // IDs of one millisecond are in any order
	must(jobs.Cancel(t.Context(), all[0].ID))            // the last
	first := do(t, jobs, admin.Action{Do: admin.Cancel, Query: &mails, Most: 5})
	if first.Text != "5 applied; there are more" || !first.Changed.More || !first.Done() {
		t.Errorf("the first: %+v", first)
	}
	mails.After = first.Changed.After
	rest := do(t, jobs, admin.Action{Do: admin.Cancel, Query: &mails})
	if rest.Text != "2 applied, 1 too late" || rest.Changed.More || !rest.Done() {
		t.Errorf("the rest: %+v", rest)
	}
	if a := last(t, jobs); a.Action != "cancel jobs" || a.Key != "kind mail, after "+mails.After.String() || a.Answer != rest.Text || a.Job != (durable.ID{}) {
		t.Errorf("the audit log has %+v", a)
	}
	for query, want := range map[string]durable.Answer{"kind=mail&state=canceled": durable.TooLate, "kind=none": durable.NotFound} {
		q := parsed(t, query)
		if a := do(t, jobs, admin.Action{Do: admin.Cancel, Query: &q}); a.Outcome != want || a.Done() {
			t.Errorf("%s: %+v", query, a)
		}
	}
	if j := must(jobs.Get(t.Context(), other)); j.State != durable.Waiting {
		t.Errorf("the other job is %v", j.State)
	}
	if a := do(t, jobs, admin.Action{Do: admin.Delete, Query: &admin.Query{}}); a.Text != "9 applied" {
		t.Errorf("all: %+v", a)
	}
}

// Kinds are paused and resumed; what is done to them is in the audit log by their names.
func TestDoToKind(t *testing.T) {
	jobs := newJobs(memory.New())
	add(t, jobs, "mail")
	for _, c := range []struct {
		do     admin.Verb
		kind   string
		when   admin.When
		text   string
		done   bool
		paused int
	}{
		{admin.PauseKind, "mail", admin.When{}, "paused", true, 1},
		{admin.ResumeKind, "mial", admin.When{}, "too late: it is not paused", false, 1},
		{admin.ResumeKind, "mail", admin.When{}, "resumed", true, 0},
		{admin.ResumeKind, "mail", admin.When{}, "too late: it is not paused", false, 0},
		{admin.PauseKind, "mail", when(t, "2099-01-02T03:04:05Z"), "paused until 2099-01-02 03:04:05 UTC", true, 1},
		{admin.PauseKind, "mial", admin.When{}, "paused, though no job is of this kind", true, 2},
	} {
		answer := do(t, jobs, admin.Action{Do: c.do, Name: c.kind, When: c.when})
		if kinds := must(jobs.PausedKinds(t.Context())); answer.Text != c.text || answer.Done() != c.done || len(kinds) != c.paused {
			t.Errorf("%s: %+v, and paused is %v", c.do, answer, kinds)
		}
		if a := last(t, jobs); a.Action != string(c.do) || a.Key != c.kind || a.Answer != c.text {
			t.Errorf("the audit log has %+v", a)
		}
	}
}

// A node is drained by its name; one that is not there is an answer.
func TestDoToNode(t *testing.T) {
	s := memory.New()
	must(s.Join(t.Context(), "web1", time.Hour))
	jobs := newJobs(s)
	for _, c := range []struct {
		do    admin.Verb
		node  string
		text  string
		drain bool
	}{
		{admin.Drain, "web1", "drains", true}, {admin.Drain, "web2", "not found", true}, {admin.Undrain, "web2", "not found", true},
		{admin.Undrain, "web1", "takes jobs again", false}, {admin.Undrain, "web1", "too late: it takes jobs", false},
	} {
		answer := do(t, jobs, admin.Action{Do: c.do, Name: c.node})
		if answer.Text != c.text || answer.Done() != (c.node == "web1" && answer.Outcome != durable.TooLate) || must(jobs.Nodes(t.Context()))[0].Draining != c.drain {
			t.Errorf("%s %s: %+v", c.do, c.node, answer)
		}
		if a := last(t, jobs); a.Action != string(c.do) || a.Key != c.node || a.Answer != c.text {
			t.Errorf("the audit log has %+v", a)
		}
	}
}

// What can't be is an error that says why; nothing is done then, nor noted.
func TestDoRefusesWhatCannotBe(t *testing.T) {
	jobs := newJobs(memory.New())
	id, all := add(t, jobs, "mail"), &admin.Query{}
	for want, a := range map[string]admin.Action{
		"no action \"explode\"":     {Do: "explode", Job: id},
		"has a job and a query":     {Do: admin.Cancel, Job: id, Query: all},
		"to one job":                {Do: admin.Signal, Query: all, Signal: "x"},
		"has the name \"mail\"":     {Do: admin.Cancel, Name: "mail"},
		"name of a node":            {Do: admin.Drain},
		"kind: it must not":         {Do: admin.PauseKind},
		"time: it is missing":       {Do: admin.Reschedule, Job: id},
		"must not be negative":      {Do: admin.Reschedule, Job: id, When: when(t, "-5m")},
		"cancel takes no time":      {Do: admin.Cancel, Job: id, When: when(t, "5m")},
		"pause takes no time":       {Do: admin.Pause, Query: all, When: when(t, "5m")},
		"no control character":      {Do: admin.Move, Job: id, Queue: "\x01"},
		"signal: it must not":       {Do: admin.Signal, Job: id},
		"it must be JSON":           {Do: admin.Signal, Job: id, Signal: "x", Payload: json.RawMessage("ann")},
		"state \"asleep\"":          {Do: admin.Cancel, Query: &admin.Query{States: []string{"asleep"}}},
		"in the years 1 to 9999":    {Do: admin.Reschedule, Job: id, When: when(t, "0000-01-01")},
		"the time has passed":       {Do: admin.PauseKind, Name: "mail", When: when(t, "2001-02-03")},
		"the store's clock shows":   {Do: admin.Pause, Job: id, When: when(t, "2001-02-03")},
		"must be in the years 1 to": {Do: admin.Reschedule, Query: all, When: when(t, "0000-01-01")},
	} {
		answer, err := admin.Do(t.Context(), jobs, a)
		if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) || answer.Done() {
			t.Errorf("%+v, %v; want %s", answer, err, want)
		}
	}
	if j := must(jobs.Get(t.Context(), id)); j.State != durable.Waiting || len(must(jobs.Acts(t.Context(), durable.ActFilter{}))) > 0 {
		t.Errorf("the job is %v, and the audit log is %v", j.State, must(jobs.Acts(t.Context(), durable.ActFilter{})))
	}
}

// faulty is a store that does not answer changes, or takes no entries of the audit log.
type faulty struct {
	*memory.Store
	change, note error
}

func (s *faulty) Change(ctx context.Context, id durable.ID, c durable.Change) (durable.Answer, error) {
	if s.change != nil {
		return durable.NotFound, s.change
	}
	return s.Store.Change(ctx, id, c)
}

func (s *faulty) NoteAct(ctx context.Context, a durable.Act) error {
	if s.note != nil {
		return s.note
	}
	return s.Store.NoteAct(ctx, a)
}

// If the store does not say what became of an action, the audit log says that; also if the action has had all of its
// time. What could not be noted is said, and is done all the same.
func TestDoWithoutAnswer(t *testing.T) {
	s := &faulty{Store: memory.New(), change: errors.New("no connection")}
	jobs := newJobs(s)
	id := add(t, jobs, "mail")
	ctx, cancel := context.WithCancel(t.Context())
	gone := func(context.Context) (admin.Answer, error) { cancel(); return admin.Answer{}, ctx.Err() }
	if _, err := admin.CarryOut(ctx, jobs, durable.Act{Action: "back-up"}, gone); !errors.Is(err, context.Canceled) || last(t, jobs).Answer != "not known" {
		t.Errorf("%v, and the audit log has %+v", err, last(t, jobs))
	}
	answer, err := admin.Do(t.Context(), jobs, admin.Action{Do: admin.Cancel, Job: id})
	if err == nil || answer.Done() || answer.Text != "not known" || answer.Unnoted != nil || last(t, jobs).Action != "cancel" || last(t, jobs).Answer != "not known" {
		t.Errorf("%+v, %v, and the audit log has %+v", answer, err, last(t, jobs))
	}
	s.change, s.note = nil, errors.New("no room")
	if answer, err = admin.Do(t.Context(), jobs, admin.Action{Do: admin.Cancel, Job: id}); err != nil || !answer.Done() || !errors.Is(answer.Unnoted, s.note) {
		t.Errorf("%+v, %v", answer, err)
	}
}

// An action is possible if and only if it is done, for jobs in all states.
func TestVerbPossible(t *testing.T) {
	verbs := []admin.Verb{admin.RunNow, admin.Pause, admin.Resume, admin.Reschedule, admin.Move, admin.Revive, admin.Cancel, admin.Delete, admin.Signal}
	states := make(map[durable.State]bool)
	for _, verb := range verbs {
		synctest.Test(t, func(t *testing.T) {
			jobs := newJobs(memory.New())
			release := make(chan bool)
			kind := durable.Handle(jobs, "mail", func(ctx context.Context, what string) (int, error) {
				if what == "run" {
					<-release
				}
				if what == "fail" {
					return 0, executor.Permanent(errors.New("no"))
				}
				return 0, nil
			})
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- jobs.Run(ctx) }()
			ids := []durable.ID{
				must(kind.AddAfter(t.Context(), time.Hour, "")), must(kind.Add(t.Context(), "run")), must(kind.Add(t.Context(), "fail")),
				must(kind.Add(t.Context(), "")), must(kind.AddAfter(t.Context(), time.Hour, "")), must(kind.AddAfter(t.Context(), time.Hour, "")),
			}
			ids = append(ids, must(kind.Add(t.Context(), "", durable.After(ids[0]))))
			must(jobs.Cancel(t.Context(), ids[4]))
			must(jobs.Pause(t.Context(), ids[5]))
			time.Sleep(time.Minute)
			synctest.Wait()
			for _, id := range ids {
				synctest.Wait() // a job may follow the one before
				j := must(jobs.Get(t.Context(), id))
				states[j.State] = true
				possible := verb.Possible(j)
				answer := do(t, jobs, admin.Action{Do: verb, Job: id, When: map[bool]admin.When{verb == admin.Reschedule: when(t, "3h")}[true],
					Queue: map[bool]string{true: "gpu"}[verb == admin.Move], Signal: map[bool]string{true: "go"}[verb == admin.Signal]})
				same := verb == admin.Pause && j.State == durable.Paused // it is so already
				if possible != (answer.Done() && !same) {
					t.Errorf("%s of a job that is %v: possible %v, but %s", verb, j.State, possible, answer.Text)
				}
			}
			close(release)
			stop()
			<-ended
		})
	}
	if len(states) < 7 {
		t.Errorf("the states are %v", states)
	}
}

// A job is held by the latest action that paused or canceled it, unless it was resumed since, or the log does not say.
func TestHeldBy(t *testing.T) {
	jobs := newJobs(memory.New())
	id := add(t, jobs, "mail")
	for _, c := range []struct {
		do   admin.Verb
		want admin.Verb
	}{{"", ""}, {admin.Pause, admin.Pause}, {admin.RunNow, admin.Pause}, {admin.Resume, ""}, {admin.Pause, admin.Pause}, {admin.Cancel, admin.Cancel}} {
		if c.do != "" {
			do(t, jobs, admin.Action{Do: c.do, Job: id})
		}
		act, err := admin.HeldBy(t.Context(), jobs, id)
		if err != nil || act.Action != string(c.want) || (c.want != "") != (act.Who == "ann" && act.Reason == "a test") {
			t.Errorf("after %q: %+v, %v, want %q", c.do, act, err, c.want)
		}
	}
	type bare struct{ durable.Store } // without an audit log
	if act, err := admin.HeldBy(t.Context(), newJobs(bare{memory.New()}), id); err != nil || act.Who != "" {
		t.Errorf("without a log: %+v, %v", act, err)
	}
}
