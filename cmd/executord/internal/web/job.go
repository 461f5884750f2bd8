package web

import (
	"context"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/ui"
	"github.com/executor-go/executor/ui/page"
)

// jobPage is the page of a job: why it needs somebody, what keeps it from running, its last runs, and all that its file
// says of it.
type jobPage struct {
	view.Job
	In       string   // the name of the zone of times
	Story    *story   // of a job that fails, is flaky, or was missed
	Hold     *holding // what keeps it from running
	Tags     []choice
	Chart    template.HTML
	Times    template.HTML // the next ones
	Settings []view.Setting
	Runs     []view.Run
	Actions  []link
}

// story is what is to be known of a job that fails.
type story struct {
	What    string    // how the last run ended, and why
	Since   string    // since when, and how many
	Good    *view.Run // the last run that was ok, if it is known
	Last    *view.Run // the last that was not, or the due time that was missed
	Lines   []record.Line
	Missing bool // the output is not kept
}

// holding is why a job does not run.
type holding struct {
	State  string
	By     string // who has done that, "" if it is not known
	At     time.Time
	Reason string
	Says   string // what is to be done, instead of Resume
	Resume *link
}

const (
	// runsOfPage is how many runs the page of a job has.
	runsOfPage = 100
	// linesOfStory is how many lines of its last run are on the page of a job that fails.
	linesOfStory = 10
)

// jobBody shows a job.
func (s *Server) jobBody(ctx context.Context, q url.Values) (string, template.HTML, error) {
	name, acts := q.Get("name"), ui.MayAct(ctx)
	j, found, err := s.job(ctx, name)
	if err == nil && !found {
		return "", "", ui.NotFound(fmt.Sprintf("the job %.100q does not exist", name))
	}
	zone := page.ZoneFrom(ctx)
	j = jobIn(zone, j)
	p := &jobPage{Job: j, In: zone.Says()}
	if err == nil {
		p.Runs, _, err = s.Daemon.Runs(ctx, name, runsOfPage)
	}
	var next []time.Time
	if err == nil {
		next, err = s.Daemon.Upcoming(ctx, name, page.MostNext)
	}
	if err == nil {
		p.Story, err = s.storyOf(ctx, &j)
	}
	if err == nil {
		p.Hold, err = s.holdOf(ctx, &j, acts)
	}
	if err != nil {
		return "", "", noAnswer(err)
	}
	runs := p.Runs
	p.Runs = nil
	for _, r := range runs {
		p.Runs = append(p.Runs, runIn(zone, r))
	}
	for i := range next {
		next[i] = zone.OfJob(next[i])
	}
	if p.Hold != nil {
		p.Hold.At = zone.In(p.Hold.At)
	}
	p.Times, p.Chart = page.Next(next, zone.Now()), page.History(barsOf(name, j.Past))
	if j.Spec != nil {
		p.Settings = view.Settings(j.Spec)
	}
	for _, tag := range j.Tags {
		p.Tags = append(p.Tags, choice{Name: tag, Path: wanted{}.link("find", tag)})
	}
	if acts {
		p.Actions = actionsOf(&j)
		if again := slices.IndexFunc(p.Actions, func(a link) bool { return a.Name == "Run now" }); p.Story != nil && again >= 0 {
			p.Actions[again].Name = "Run again"
		}
		if p.Hold != nil && p.Hold.Resume != nil {
			p.Actions = slices.DeleteFunc(p.Actions, func(a link) bool { return a == *p.Hold.Resume })
		}
	}
	main, err := rendered("job", p)
	return job.Printable(name), main, err
}

// storyOf returns what is to be known of a job that fails, is flaky, or was missed; nil of another one.
func (s *Server) storyOf(ctx context.Context, j *view.Job) (*story, error) {
	t := j.Trouble()
	if t != view.TroubleFailing && t != view.TroubleFlaky && t != view.TroubleMissed {
		return nil, nil
	}
	h, st := j.Health, &story{}
	for _, r := range slices.Backward(j.Past) {
		run := &view.Run{Job: j.Job, Run: r.Run, Outcome: r.Outcome, Finished: r.Finished, Took: r.Took.Seconds()}
		if st.Good == nil && r.Outcome == outcome.OK {
			st.Good = run
		}
		if st.Last == nil && r.Outcome.IsBad() {
			st.Last = run
		}
	}
	if j.Last != nil && (t == view.TroubleMissed || j.Last.Outcome.IsBad()) {
		st.Last = j.Last
	}
	if st.Last == nil {
		return nil, nil
	}
	st.What = why(*st.Last, 1000)
	switch {
	case t == view.TroubleMissed: // nothing was run
		st.Since = "No run has ended since."
		return st, nil
	case h.State == view.Flaky:
		st.Since = fmt.Sprintf("Flaky: %d of the last %d runs failed, and others between them did not.", h.Bad, h.Of)
	case h.InARow > 1:
		st.Since = fmt.Sprintf("%d runs in a row have failed, since %s.", h.InARow, page.ClockZone(h.Since, time.Now().In(h.Since.Location())))
		if h.Always {
			st.Since = fmt.Sprintf("Each of the last %d runs has failed, since %s at the latest.", h.InARow, page.ClockZone(h.Since, time.Now().In(h.Since.Location())))
		}
	default:
		st.Since = "The run before it was ok."
		if h.Always {
			st.Since = "It is the only run that is known."
		}
	}
	lines, found, err := s.lastLines(ctx, st.Last)
	st.Lines, st.Missing = lines, !found
	return st, err
}

// lastLines returns the last lines that a run has written, false if they are not kept.
func (s *Server) lastLines(ctx context.Context, r *view.Run) (lines []record.Line, found bool, err error) {
	if run, output, here := s.Daemon.Output(r.Job, int(r.Run)); here && !run.Dropped {
		lines, _ = output.After(0)
		found = true
	} else {
		var stored record.Stored
		if stored, found, err = s.Daemon.Stored(ctx, r.Job, int(r.Run)); err != nil {
			return nil, false, err
		}
		if lines = stored.Tail; stored.Omitted == 0 {
			lines = stored.Head
		}
	}
	return lines[max(len(lines)-linesOfStory, 0):], found, nil
}

// holdOf returns what keeps a job from running, nil if nothing does.
func (s *Server) holdOf(ctx context.Context, j *view.Job, acts bool) (*holding, error) {
	h := &holding{State: string(j.State.State)}
	if j.State.Then != "" {
		h.State = string(j.State.Then)
	}
	switch catalog.State(h.State) {
	case catalog.StatePaused, catalog.StateCanceled, catalog.StateDead:
	case catalog.StateNoMachine:
		h.Says = "No daemon is running on a machine that may run it."
		return h, nil
	default:
		return nil, nil
	}
	for _, a := range actionsOf(j) {
		if acts && a.Name == "Resume" {
			h.Resume = &a
		}
	}
	if s.Durable == nil || j.ID == (durable.ID{}) {
		return h, nil
	}
	by, err := admin.HeldBy(ctx, s.Durable, j.ID)
	h.By, h.At, h.Reason = by.Who, by.At, by.Reason
	return h, err
}
