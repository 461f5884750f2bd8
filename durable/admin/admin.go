// Package admin is how people look at durable jobs and act on them, whatever they have before them: the command line
// executord store, the pages of module ui, HTTP. An action has one name, one answer and one entry in the audit log
// wherever it is taken, and what is asked for of a list of jobs is read in one way.
//
//	answer, err := admin.Do(ctx, jobs, admin.Action{Do: admin.Pause, Job: id, Who: "ann", Reason: "the server moves"})
//
// A program that acts by itself, and for nobody, calls the methods of [durable.Jobs] instead.
//
// The errors of this package match [executor.ErrInvalid] if somebody has asked for something that can't be; their text
// is for that person. Nothing was done then.
package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/argument"
	"github.com/executor-go/executor/durable/store/transition"
)

// An Action is what somebody wants to be done, who that is, and why.
type Action struct {
	Do Verb

	// What it is done to: one of Job, Query and Name is set.
	Job   durable.ID // a job
	Query *Query     // all jobs that it selects, of which the zero Query selects each; not for Signal
	Name  string     // the kind of PauseKind and ResumeKind, the node of Drain and Undrain

	// Most is at most how many jobs that Query selects are changed. The default, 0, is no limit.
	Most int

	// When is the time of Reschedule, and the end of Pause and PauseKind; the zero When is a pause without an end. A
	// Query can't be paused until a time.
	When When

	Queue   string          // of Move; durable.DefaultQueue is one, too
	Signal  string          // the name of the signal of Signal
	Payload json.RawMessage // of Signal; empty means null

	Who, Reason string // for the audit log, which keeps durable.MaxAct bytes of each
}

// A Verb is the name of an action. Commands, forms, JSON and the audit log have the same words.
type Verb string

// The actions on a job or on many, on a kind, and on a node, each named for the method of [durable.Jobs] that carries it
// out.
const (
	RunNow     Verb = "run-now"
	Pause      Verb = "pause"
	Resume     Verb = "resume"
	Reschedule Verb = "reschedule"
	Move       Verb = "move"
	Revive     Verb = "revive"
	Cancel     Verb = "cancel"
	Delete     Verb = "delete"
	Signal     Verb = "signal"

	PauseKind  Verb = "pause-kind"
	ResumeKind Verb = "resume-kind"

	Drain   Verb = "drain"
	Undrain Verb = "undrain"
)

// ops are the changes that the verbs of jobs make, but for Signal.
var ops = map[Verb]durable.Op{
	RunNow: durable.OpRunNow, Pause: durable.OpPause, Resume: durable.OpResume, Reschedule: durable.OpReschedule,
	Move: durable.OpMove, Revive: durable.OpRevive, Cancel: durable.OpCancel, Delete: durable.OpDelete,
}

// Possible reports whether an action would change a job that is as j, now or after its run in progress. By the time that
// it is taken the job may be another.
func (v Verb) Possible(j durable.Job) bool {
	op, ok := ops[v]
	if !ok {
		return v == Signal && !j.State.Done()
	}
	after, now := j, time.Now()
	// The times and the queue are others than those of the job.
	answer := transition.Change(&after, durable.Change{Op: op, Due: j.Due.Add(time.Hour), Queue: j.Queue}, now)
	same := op != durable.OpDelete && op != durable.OpMove && op != durable.OpRunNow &&
		after.State == j.State && after.Pending == j.Pending && after.Due.Equal(j.Due) && after.NextDue.Equal(j.NextDue)
	return Done(answer) && !same
}

// Done reports whether an answer is that of an action which is done, or will be when the run in progress has ended.
func Done(a durable.Answer) bool { return a == durable.Applied || a == durable.Deferred }

// An Answer is what became of an action.
type Answer struct {
	// Outcome says whether it is done. Of many jobs it is durable.Applied if one was changed, and of none
	// durable.NotFound.
	Outcome durable.Answer
	// Text is the same in a few words, for people and the audit log: "too late: it is dead". Names in it are as they are
	// stored, so that they may have characters that can't be seen.
	Text string
	// Says is a sentence on what that means; "" if Text says all.
	Says string

	Job     durable.Job     // as it was just before; zero if the action was on none, or the job was not there
	Changed durable.Changed // of an action on many jobs: the answers counted, and whether there are more
	Run     int64           // the number of the run that was added, or is being ended; 0 if the action was on none

	// Unnoted is why the audit log has no entry of the action; nil if it has one.
	Unnoted error
}

// Done reports whether the action is done, or will be when the run in progress has ended.
func (a Answer) Done() bool { return Done(a.Outcome) }

// Do carries out an action, and keeps in the audit log what became of it. An error that does not match
// executor.ErrInvalid leaves open whether the action is done; that is in the audit log, too, and of an action on many
// jobs Changed says what was done before. Whether an action is possible now is no error, but its Outcome.
func Do(ctx context.Context, jobs *durable.Jobs, a Action) (Answer, error) {
	if err := a.Check(); err != nil {
		return Answer{}, err
	}
	act := durable.Act{Who: a.Who, Action: string(a.Do), Job: a.Job, Reason: a.Reason}
	switch {
	case a.Query != nil:
		act.Action, act.Key = act.Action+" jobs", a.Query.String()
		return CarryOut(ctx, jobs, act, func(ctx context.Context) (Answer, error) { return a.toAll(ctx, jobs) })
	case a.Name != "":
		act.Key = a.Name
		return CarryOut(ctx, jobs, act, func(ctx context.Context) (Answer, error) { return a.toNamed(ctx, jobs) })
	}
	job, err := jobs.Get(ctx, a.Job)
	if err != nil && !errors.Is(err, durable.ErrNotFound) {
		return Answer{Text: notKnown}, err
	}
	act.Key = job.Key
	return CarryOut(ctx, jobs, act, func(ctx context.Context) (Answer, error) { return a.toJob(ctx, jobs, job) })
}

// notKnown is the Text of an action that has failed.
const notKnown = "not known"

// noteTime is how long the audit log may take, also if the action has had all of its time.
const noteTime = 5 * time.Second

// CarryOut calls do, which carries out an action of the caller's own, and keeps in the audit log what became of it, as
// Do does: act with the Text of the Answer that do returns, or if that fails without one "not known". It keeps nothing
// after an error that matches executor.ErrInvalid. Who and Reason of act are those of the person, Job and Key say what
// the action is on; without a Job it is that of the Answer.
func CarryOut(ctx context.Context, jobs *durable.Jobs, act durable.Act,
	do func(context.Context) (Answer, error)) (Answer, error) {
	answer, err := do(ctx)
	if errors.Is(err, executor.ErrInvalid) {
		return answer, err
	}
	if err != nil {
		answer.Text = cmp.Or(answer.Text, notKnown)
	}
	if act.Answer = answer.Text; act.Job == (durable.ID{}) {
		act.Job = answer.Job.ID
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	answer.Unnoted = jobs.NoteAct(ctx, act)
	return answer, err
}

// Check returns what is wrong with an action, as far as that is seen without a store. Do checks it, too.
func (a Action) Check() error {
	op, changes := ops[a.Do]
	switch {
	case a.Do == PauseKind || a.Do == ResumeKind:
		if err := argument.Name("kind", a.Name, durable.MaxKind); err != nil {
			return err
		}
	case a.Do == Drain || a.Do == Undrain:
		if a.Name == "" {
			return argument.Invalid("%s needs the name of a node", a.Do)
		}
	case !changes && a.Do != Signal:
		return argument.Invalid("there is no action %.40q", string(a.Do))
	case a.Name != "":
		return argument.Invalid("%s is for jobs, and has the name %.40q", a.Do, a.Name)
	case a.Do == Signal && a.Query != nil:
		return argument.Invalid("a signal is sent to one job")
	case a.Query != nil && a.Job != (durable.ID{}):
		return argument.Invalid("%s has a job and a query; choose one", a.Do)
	}
	if a.Query != nil {
		if err := a.Query.Check(); err != nil {
			return err
		}
	}
	switch {
	case a.Do == Reschedule || a.Do == Pause && a.Query == nil || a.Do == PauseKind:
		if err := a.When.check(a.Do == Reschedule); err != nil {
			return err
		}
	case a.When != When{}:
		return argument.Invalid("%s takes no time", a.Do)
	}
	switch {
	case op == durable.OpMove && changes && a.Queue != durable.DefaultQueue:
		return argument.Name("queue", a.Queue, durable.MaxKind)
	case a.Do != Signal:
		return nil
	}
	if err := argument.Name("signal", a.Signal, durable.MaxStep); err != nil {
		return err
	}
	if len(a.Payload) > 0 && !json.Valid(a.Payload) {
		return argument.Invalid(`payload %.60q: it must be JSON, in which a text has quotes, as "yes"`, a.Payload)
	}
	return nil
}

// heldActs is how many of the latest actions on a job HeldBy looks at.
const heldActs = 20

// HeldBy returns the action by which a job that is paused or canceled came to be so: who did it, when and why. It is the
// zero Act if the audit log does not say, as of an action on many jobs, or if the store keeps none.
func HeldBy(ctx context.Context, jobs *durable.Jobs, id durable.ID) (durable.Act, error) {
	acts, err := jobs.Acts(ctx, durable.ActFilter{Job: id, Limit: heldActs})
	if errors.Is(err, executor.ErrInvalid) { // it has no audit log
		err = nil
	}
	for _, act := range acts { // the latest first
		switch Verb(act.Action) {
		case Pause, Cancel:
			return act, nil
		case Resume, Revive:
			return durable.Act{}, nil
		}
	}
	return durable.Act{}, err
}

// time returns the time of an action on the clock of the store.
func (a *Action) time(ctx context.Context, jobs *durable.Jobs) (time.Time, error) {
	now, err := jobs.Now(ctx)
	return a.When.At(now), err
}

// toJob carries out an action on a job that is as before; that is zero if the job is not there.
func (a *Action) toJob(ctx context.Context, jobs *durable.Jobs, before durable.Job) (Answer, error) {
	answer := Answer{Job: before, Text: durable.NotFound.String(), Says: "There is no such job."}
	if before.ID != a.Job {
		return answer, nil
	}
	to, err := a.change(ctx, jobs, &answer.Outcome)
	if err != nil {
		return Answer{Job: before}, err
	}
	switch answer.Outcome {
	case durable.Applied:
		answer.Text, answer.Says = "applied"+to, "It is done."
	case durable.Deferred:
		answer.Text, answer.Says = "deferred until its run has ended"+to, "The job is running; it takes effect when the run ends."
	case durable.TooLate:
		answer.Says = "The state of the job no longer allows it."
		switch {
		case a.Do == Move && !before.State.Done() && before.Partition != "":
			answer.Text = "too late: it has the partition " + before.Partition
		case a.Do == Signal && !before.State.Done():
			answer.Text = "too late: another signal " + a.Signal + " has come before"
		default:
			answer.Text = "too late: it is " + before.State.String()
		}
	}
	return answer, nil
}

// change makes the change to a job, and returns what is to be added to the answer.
func (a *Action) change(ctx context.Context, jobs *durable.Jobs, answer *durable.Answer) (to string, err error) {
	switch a.Do {
	case RunNow:
		*answer, err = jobs.RunNow(ctx, a.Job)
	case Resume:
		*answer, err = jobs.Resume(ctx, a.Job)
	case Revive:
		*answer, err = jobs.Revive(ctx, a.Job)
	case Cancel:
		*answer, err = jobs.Cancel(ctx, a.Job)
	case Delete:
		*answer, err = jobs.Delete(ctx, a.Job)
	case Move:
		*answer, err = jobs.Move(ctx, a.Job, a.Queue)
		if to = ", to the queue " + a.Queue; a.Queue == durable.DefaultQueue {
			to = ", to the default queue"
		}
	case Signal:
		payload := a.Payload
		if len(payload) == 0 {
			payload = json.RawMessage("null")
		}
		*answer, err = jobs.Signal(ctx, a.Job, a.Signal, payload)
		to = ", signal " + a.Signal
	case Pause:
		if a.When.IsZero() {
			*answer, err = jobs.Pause(ctx, a.Job)
			break
		}
		var t time.Time
		if t, err = a.time(ctx, jobs); err == nil {
			*answer, err = jobs.PauseUntil(ctx, a.Job, t)
		}
		to = ", until " + Instant(t)
	case Reschedule:
		var t time.Time
		if t, err = a.time(ctx, jobs); err == nil {
			*answer, err = jobs.Reschedule(ctx, a.Job, t)
		}
		to = ", due at " + Instant(t)
	}
	return to, err
}

// Instant returns a time of any day as answers have it.
func Instant(t time.Time) string { return t.Format("2006-01-02 15:04:05 MST") }

// toNamed carries out an action on a kind or a node.
func (a *Action) toNamed(ctx context.Context, jobs *durable.Jobs) (answer Answer, err error) {
	switch a.Do {
	case PauseKind:
		return a.pauseKind(ctx, jobs)
	case ResumeKind:
		return a.resumeKind(ctx, jobs)
	case Drain:
		answer.Text = "drains"
		answer.Says = "It gets no more jobs. It has drained when its last run has ended; the list of nodes shows that."
		err = jobs.DrainNode(ctx, a.Name)
	case Undrain:
		answer.Text, answer.Says = "takes jobs again", "It is done."
		var nodes []durable.NodeInfo
		if nodes, err = jobs.Nodes(ctx); err != nil {
			break
		}
		if slices.ContainsFunc(nodes, func(n durable.NodeInfo) bool { return n.Name == a.Name && !n.Draining }) {
			return Answer{Outcome: durable.TooLate, Text: "too late: it takes jobs"}, nil
		}
		err = jobs.UndrainNode(ctx, a.Name)
	}
	switch answer.Outcome = durable.Applied; {
	case errors.Is(err, durable.ErrNoNode):
		return Answer{Text: durable.NotFound.String(), Says: "There is no such node any more; its program has ended."}, nil
	case err != nil:
		return Answer{}, err
	}
	return answer, nil
}

// pauseKind pauses a kind. That may be one of which there is no job yet, which the answer says: the name may be mistyped.
func (a *Action) pauseKind(ctx context.Context, jobs *durable.Jobs) (Answer, error) {
	text := "paused"
	if a.When.IsZero() {
		if err := jobs.PauseKind(ctx, a.Name); err != nil {
			return Answer{}, err
		}
	} else {
		t, err := a.time(ctx, jobs)
		if err == nil {
			err = jobs.PauseKindUntil(ctx, a.Name, t)
		}
		if err != nil {
			return Answer{}, err
		}
		text += " until " + Instant(t)
	}
	if some, err := jobs.List(ctx, durable.Filter{Kind: a.Name, Limit: 1}); err == nil && len(some) == 0 {
		text += ", though no job is of this kind"
	}
	return Answer{Outcome: durable.Applied, Text: text}, nil
}

// resumeKind resumes a kind.
func (a *Action) resumeKind(ctx context.Context, jobs *durable.Jobs) (Answer, error) {
	paused, err := jobs.PausedKinds(ctx)
	if err == nil && !slices.Contains(paused, a.Name) {
		return Answer{Outcome: durable.TooLate, Text: "too late: it is not paused"}, nil
	}
	if err == nil {
		err = jobs.ResumeKind(ctx, a.Name)
	}
	if err != nil {
		return Answer{}, err
	}
	return Answer{Outcome: durable.Applied, Text: "resumed"}, nil
}

// toAll carries out an action on many jobs.
func (a *Action) toAll(ctx context.Context, jobs *durable.Jobs) (answer Answer, err error) {
	change := durable.Change{Op: ops[a.Do], Queue: a.Queue}
	f, err := a.Query.filter(ctx, jobs)
	if err == nil && a.Do == Reschedule {
		change.Due, err = a.time(ctx, jobs)
	}
	if err != nil {
		return answer, err
	}
	all := &answer.Changed
	for all.More = true; err == nil && all.More && (a.Most == 0 || all.Jobs() < a.Most); {
		f.Limit = 1000
		if a.Most > 0 {
			f.Limit = min(f.Limit, a.Most-all.Jobs())
		}
		var done durable.Changed
		done, err = jobs.ChangeAll(ctx, change, f)
		all.Applied, all.Deferred = all.Applied+done.Applied, all.Deferred+done.Deferred
		all.TooLate, all.NotFound = all.TooLate+done.TooLate, all.NotFound+done.NotFound
		all.After, all.More = done.After, done.More
		f.After = done.After
	}
	switch answer.Text = changedText(all); {
	case err != nil && all.Jobs() == 0:
		answer.Text = ""
	case all.More:
		answer.Text += "; there are more"
	case all.Jobs() > 0:
		answer.Says = "These were all."
	}
	switch {
	case all.Applied+all.Deferred > 0:
		answer.Outcome = durable.Applied
	case all.TooLate > 0:
		answer.Outcome = durable.TooLate
	}
	return answer, err
}

// changedText returns the answers of many jobs in a few words.
func changedText(c *durable.Changed) string {
	var parts []string
	for _, a := range []struct {
		answer durable.Answer
		jobs   int
	}{
		{durable.Applied, c.Applied}, {durable.Deferred, c.Deferred}, {durable.TooLate, c.TooLate}, {durable.NotFound, c.NotFound},
	} {
		if a.jobs > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", a.jobs, a.answer))
		}
	}
	if parts == nil {
		return "no jobs"
	}
	return strings.Join(parts, ", ")
}
