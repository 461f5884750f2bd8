package pages

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/ui/internal/act"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/figures"
	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// jobPage is what the page of a job shows.
type jobPage struct {
	Source          string
	ID, Name, Kind  string
	State, StateBad string
	States          []stateStep
	Facts           []poolview.Fact
	Tags            []tab  // links to the jobs that have them, too
	Error           string // of the last run
	ErrorTitle      string
	Hold            *holding // of one that is paused or canceled
	Progress        *progress
	Steps           *stepsPart
	Output          *output
	Payload, Result string // with Config.Payloads
	Hidden          bool   // there is a payload, which is not shown
	Relatives       *relativesPart
	Runs            []runRow
	History         template.HTML
	MoreRuns        bool
	Next            template.HTML // times
	Actions         []act.Link
	Failed          string // why the page may be of before
	AsOf            string
}

// stateStep is a state in the diagram.
type stateStep struct {
	Name    string
	Current bool
	Or      bool // it is in place of the one before
}

func parseJob(v *address.View, q url.Values) error {
	id, err := durable.ParseID(q.Get("id"))
	if err != nil {
		return address.Badf("id is %.50q; it must be the ID of a job, as 01890a5d-ac96-774b-bcce-b302099a8057",
			q.Get("id"))
	}
	v.ID = id
	if v.Search, err = address.Limited(q, "q", 200); err != nil {
		return err
	}
	if text := q.Get("run"); text != "" {
		if v.Run, err = strconv.ParseInt(text, 10, 64); err != nil || v.Run < 1 {
			return address.Badf("run is %.20q; it must be the number of a run, from 1", text)
		}
	}
	return nil
}

// holding is who has paused or canceled a job, when, and why, as far as the audit log says it.
type holding struct {
	State, By, At, Reason string
	Resume                act.Link // without a Path if it can't be
}

func newHolding(j *durable.Job, by durable.Act, now time.Time) *holding {
	if j.State != durable.Paused && j.State != durable.Canceled {
		return nil
	}
	h := &holding{State: admin.StateName(j.State), By: page.Printable(by.Who, 80), Reason: page.Printable(by.Reason, durable.MaxAct)}
	if !by.At.IsZero() {
		h.At = page.Since(by.At, now) + ", " + page.Clock(by.At, now)
	}
	return h
}

// jobRead is what is read of a job.
type jobRead struct {
	job  durable.Job
	runs []durable.Run // the latest first

	held      durable.Act
	relatives *relatives // nil if there are none
	kept      []durable.KeptStep

	progress *durable.RunProgress // nil if there is none
	output   *durable.RunOutput   // of the run that was asked for, nil if it is not there
}

func readJob(ctx context.Context, s *source.Source, id durable.ID, run int64) (jobRead, time.Time, error) {
	type key struct {
		id  durable.ID
		run int64
	}
	return source.Query(ctx, s, key{id, run}, func(ctx context.Context) (r jobRead, err error) {
		if r.job, err = s.Jobs.Get(ctx, id); err != nil {
			return r, err
		}
		if r.runs, err = s.Jobs.History(ctx, id, 0, rowLimit+1); err != nil {
			return r, err
		}
		if r.job.State == durable.Running {
			all, err := s.Jobs.Progress(ctx, id)
			if err != nil {
				return r, err
			}
			if p, ok := all[id]; ok {
				r.progress = &p
			}
		}
		if r.job.State == durable.Paused || r.job.State == durable.Canceled {
			if r.held, err = admin.HeldBy(ctx, s.Jobs, id); err != nil {
				return r, err
			}
		}
		if r.relatives, err = readRelatives(ctx, s, &r.job); err != nil {
			return r, err
		}
		if r.kept, err = readSteps(ctx, s, id); err != nil {
			return r, err
		}
		o, err := s.Jobs.Output(ctx, id, run)
		if errors.Is(err, durable.ErrNotFound) {
			return r, nil
		}
		r.output = &o
		return r, err
	})
}

func jobBody(ctx context.Context, u *Site, v address.View) (string, any, error) {
	now := page.ZoneFrom(ctx).Now()
	s := u.Sources.Find(v.Source)
	r, asOf, err := readJob(ctx, s, v.ID, v.Run)
	switch {
	case errors.Is(err, durable.ErrNotFound):
		return "", nil, address.Gonef("there is no job %v; it may have been removed, since what is over is kept for a while only", v.ID)
	case err != nil && asOf.IsZero():
		return "", nil, err
	}
	j := &r.job
	p := &jobPage{
		Source: v.Source, ID: j.ID.String(), Name: page.Printable(j.Key, 200), Kind: page.Printable(j.Kind, 128),
		State: admin.StateName(j.State), States: diagram(j), Facts: jobFacts(j, now),
		Error: page.Lines(j.Error, 4000), AsOf: page.ClockZone(asOf, now),
	}
	if p.Name == "" {
		named := *j
		if named.Payload = j.Payload[:min(len(j.Payload), payloadBegin)]; !u.Payloads {
			named.Payload = nil
		}
		p.Name = keyless(&named, p.ID[len(p.ID)-12:])
	}
	if err != nil {
		p.Failed = page.Lines(err.Error(), 300)
	}
	for _, tag := range j.Tags {
		p.Tags = append(p.Tags, tab{Name: page.Printable(tag, durable.MaxTag), Path: address.View{Name: "jobs", Source: v.Source, Wanted: address.Wanted{Tags: tag}}.Link()})
	}
	if j.State == durable.Dead {
		p.StateBad = "bad"
	}
	if u.Payloads {
		p.Payload, p.Result = page.Lines(string(j.Payload), 10_000), page.Lines(string(j.Result), 10_000)
	} else {
		p.Hidden = len(j.Payload) > 0 || len(j.Result) > 0
	}
	if p.MoreRuns = len(r.runs) > rowLimit; p.MoreRuns {
		r.runs = r.runs[:rowLimit]
	}
	var bars []page.Bar
	for _, run := range r.runs {
		row := newRunRow(s, &run, now)
		if row.Outcome == "" {
			continue
		}
		row.Output = address.View{Name: "job", Source: v.Source, ID: v.ID, Run: run.Seq}.Link()
		p.Runs, bars = append(p.Runs, row), append(bars, newBar(&run, row, now.Location()))
	}
	p.History = page.History(bars)
	p.Next = nextTimes(ctx, figures.Upcoming(j, now, page.MostNext), now)
	if p.ErrorTitle = "Last error"; len(p.Runs) > 0 && p.Runs[0].Class == "other" {
		p.ErrorTitle = "Last run: " + p.Runs[0].Outcome
	}
	p.Steps = r.steps(v.Source, v.Act, u.Payloads, now)
	p.Relatives = r.relatives.part(s)
	p.Progress, p.Output = newProgress(r.progress, j.Started), newOutput(v, r.output)
	p.Hold = newHolding(j, r.held, now)
	if v.Act {
		p.Actions = act.Links(v.Source, j)
	}
	resumes := func(link act.Link) bool { return link.Path == act.LinkTo(string(admin.Resume), v.Source, j.ID) }
	if i := slices.IndexFunc(p.Actions, resumes); i >= 0 && p.Hold != nil {
		p.Hold.Resume = p.Actions[i]
		p.Actions = slices.Delete(p.Actions, i, i+1)
	}
	return p.Name, p, nil
}

// diagram returns the states on the way of a job.
func diagram(j *durable.Job) []stateStep {
	now := admin.StateName(j.State)
	step := func(state durable.State, or bool) stateStep {
		return stateStep{state.String(), now == state.String(), or}
	}
	first := step(durable.Waiting, false)
	if j.State == durable.Paused || j.State == durable.Blocked {
		first = step(j.State, false)
	}
	steps := []stateStep{first, step(durable.Running, false)}
	if j.Periodic() && !j.State.Done() {
		steps = append(steps, stateStep{"waiting for the next time", false, false})
	} else {
		steps = append(steps, step(durable.Succeeded, false))
	}
	if !j.Periodic() || j.State == durable.Dead {
		steps = append(steps, step(durable.Dead, true))
	}
	if j.State == durable.Canceled {
		steps = append(steps, step(durable.Canceled, true))
	}
	return steps
}

func jobFacts(j *durable.Job, now time.Time) []poolview.Fact {
	rhythm, attempt := figures.NewRhythm(j.Schedule), "–"
	if j.Attempt > 0 {
		attempt = strconv.Itoa(j.Attempt)
	}
	facts := []poolview.Fact{
		fact("Schedule", rhythm.Text, rhythm.More),
		fact("Attempt", attempt, fmt.Sprintf("at most %d", j.Attempts)),
		fact("Runs", page.Count(j.Runs), ""),
	}
	add := func(name, value, hint string) { facts = append(facts, fact(name, value, hint)) }
	switch {
	case j.State == durable.Running:
		add("Running for", page.Age(now.Sub(j.Started)), "since "+page.Clock(j.Started, now))
	case j.State == durable.Paused, j.State == durable.Blocked:
	case distant(j.Due, now):
		add("Due", "at its signal", "")
	case !j.State.Done():
		hint := page.Clock(j.Due, now)
		if !j.Due.Equal(j.Occurrence) {
			hint += ", for that of " + page.Clock(j.Occurrence, now)
		}
		add("Due", page.Since(j.Due, now), hint)
	}
	if j.Owner != "" {
		add("Node", page.Printable(j.Owner, 80), "")
	}
	if j.Priority != durable.Normal {
		add("Priority", map[durable.Priority]string{durable.Low: "low", durable.High: "high"}[j.Priority], "")
	}
	if j.Queue != durable.DefaultQueue {
		add("Queue", page.Printable(j.Queue, durable.MaxKind), "")
	}
	if j.Partition != "" {
		add("Partition", page.Printable(j.Partition, 200), "")
	}
	if j.Timeout > 0 {
		add("Timeout", page.Short(j.Timeout), "")
	}
	if j.Missed != "" {
		add("When missed", page.Printable(j.Missed, 40), "")
	}
	if j.Pending != durable.PendingNone {
		add("Asked for", map[durable.Pending]string{durable.PendingCancel: "cancel", durable.PendingPause: "pause"}[j.Pending],
			"takes effect when the run ends")
	}
	if j.Lost > 0 {
		add("Lost", page.Count(j.Lost), "runs in a row, with their nodes")
	}
	add("Added", page.Since(j.Created, now), page.Clock(j.Created, now))
	add("Changed", page.Since(j.Updated, now), page.Clock(j.Updated, now))
	for _, name := range slices.Sorted(maps.Keys(j.Meta)) {
		add(page.Printable(name, 40), page.Printable(j.Meta[name], 200), "")
	}
	return facts
}

// nextTimes shows the next times of a job, which are in its zone.
func nextTimes(ctx context.Context, times []time.Time, now time.Time) template.HTML {
	for i := range times {
		times[i] = page.ZoneFrom(ctx).OfJob(times[i])
	}
	return page.Next(times, now)
}

// newBar returns a run in the history of its job.
func newBar(r *durable.Run, row runRow, in *time.Location) page.Bar {
	says := fmt.Sprintf("run %d: %s", r.Seq, row.Outcome)
	if row.took > 0 {
		says += " after " + page.Short(row.took)
	}
	return page.Bar{Took: row.took, Class: row.Class, Says: says, Path: row.Output, At: r.Finished.In(in)}
}
