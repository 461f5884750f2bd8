package pages

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// runsPage is what the list of the latest runs shows.
type runsPage struct {
	Source        string
	Tabs          []tab
	State         string // the name of a tab
	Kinds         bool   // are shown
	Kind, Node    string
	Job, Tag, Day string
	From, Until   string // as the address has them
	Between       string // the same for people
	Always        string // the address without these
	Running       bool   // it has the runs in progress
	Runs          []latestRow
	All           string // link to all runs
	Asked         bool   // the list does not have all
	First, Next   string // links to other pages, "" if there is none
	Error         string
	AsOf          string
}

// latestRow is a run of any job.
type latestRow struct {
	runRow
	Path, Name, Kind, Ended string
}

// RunningTab is the name of the tab of the runs in progress.
const RunningTab = "running"

// verdictTabs are the tabs of the list of runs where the program has no words of its own: one for each verdict.
var verdictTabs = func() (tabs []source.OutcomeTab) {
	for _, v := range []durable.Verdict{
		durable.RunSucceeded, durable.RunFailed, durable.RunLost, durable.RunCanceled, durable.RunSkipped, durable.RunSnoozed,
	} {
		tabs = append(tabs, source.OutcomeTab{Name: v.String(), Verdicts: []durable.Verdict{v}})
	}
	return tabs
}()

// outcomeTabs returns the tabs of the list of runs of a source.
func outcomeTabs(s *source.Source) []source.OutcomeTab {
	if s.Tabs != nil {
		return s.Tabs
	}
	return verdictTabs
}

// outcomeTab returns the tab with a name, that of all runs for "", false if there is no such tab.
func outcomeTab(s *source.Source, name string) (source.OutcomeTab, bool) {
	for _, t := range outcomeTabs(s) {
		if t.Name == name {
			return t, true
		}
	}
	return source.OutcomeTab{}, name == ""
}

// checkRuns returns an error if the runs of a source can't be asked for so.
func checkRuns(s *source.Source, v address.View) error {
	if _, found := outcomeTab(s, v.State); found || v.State == RunningTab {
		return nil
	}
	names := []string{RunningTab}
	for _, t := range outcomeTabs(s) {
		names = append(names, t.Name)
	}
	return address.Badf("state is %.20q; it must be one of %s", v.State, strings.Join(names, ", "))
}

func parseRuns(v *address.View, q url.Values) (err error) {
	if err := v.ParseRuns(q); err != nil {
		return err
	}
	if after := q.Get("after"); after != "" {
		run, err := parsePlace(after)
		if err != nil {
			return err
		}
		v.After = placeOf(run)
	}
	return nil
}

// placeOf returns the place of a run in the list of all, for the next page.
func placeOf(r durable.Run) string {
	return fmt.Sprintf("%d.%s.%d", r.Finished.UnixMicro(), r.Job, r.Seq)
}

func parsePlace(text string) (r durable.Run, err error) {
	finished, rest, _ := strings.Cut(text, ".")
	id, number, _ := strings.Cut(rest, ".")
	micros, err1 := strconv.ParseInt(finished, 10, 64)
	seq, err2 := strconv.ParseInt(number, 10, 64)
	r.Job, err = durable.ParseID(id)
	if err != nil || err1 != nil || err2 != nil {
		return r, address.Badf("after is %.80q; it must be taken from a link to the next page", text)
	}
	r.Finished, r.Seq = time.UnixMicro(micros).UTC(), seq
	return r, nil
}

// runsKey is what a list of runs is cached by.
type runsKey struct {
	state, kind, node, job, after string
	ended                         address.Ended
	zone                          string // of the day
	address.Wanted
}

func runsBody(ctx context.Context, u *Site, v address.View) (string, any, error) {
	s := u.Sources.Find(v.Source)
	now := page.ZoneFrom(ctx).Now()
	p := &runsPage{
		Source: v.Source, State: v.State, Kinds: s.Named == nil, Kind: v.Kind, Node: v.Search, Job: v.Job, Tag: strings.ReplaceAll(v.Tags, "\n", " "),
		Day: v.Ended.Day, From: v.Ended.From, Until: v.Ended.Until, Running: v.State == RunningTab,
	}
	if in := v.Ended; in.From != "" || in.Until != "" {
		r := (&address.Ended{From: in.From, Until: in.Until}).Range(now.Location())
		p.Between = page.ClockZone(r.From, now) + " to " + page.ClockZone(r.Until, now)
		p.Always = v.Link("from", "", "until", "", "after", "")
	}
	p.Tabs = append(p.Tabs, tab{"all", v.Link("state", "", "after", ""), v.State == ""})
	p.Tabs = append(p.Tabs, tab{RunningTab, v.Link("state", RunningTab, "after", ""), p.Running})
	for _, t := range outcomeTabs(s) {
		p.Tabs = append(p.Tabs, tab{page.Printable(t.Name, 40), v.Link("state", t.Name, "after", ""), v.State == t.Name})
	}
	list, asOf, err := source.Query(ctx, s, runsKey{v.State, v.Kind, v.Search, v.Job, v.After, v.Ended, v.Zone, v.Wanted},
		func(ctx context.Context) (runList, error) {
			if v.State == RunningTab {
				return listRunning(ctx, s, v)
			}
			return listRuns(ctx, s, v)
		})
	if err != nil {
		p.Error = page.Lines(err.Error(), 300)
	}
	p.Asked = v.State != "" || v.Kind != "" || v.Search != "" || v.After != "" || v.Job != "" || v.Tags != "" || v.Ended != address.Ended{}
	p.All = address.View{Name: "runs", Source: v.Source}.Link()
	p.AsOf = page.ClockZone(asOf, now)
	if list.next != "" {
		p.Next = v.Link("after", list.next)
	}
	if v.After != "" {
		p.First = v.Link("after", "")
	}
	for i := range list.running {
		p.Runs = append(p.Runs, newRunningRow(s, &list.running[i], now))
	}
	for i := range list.runs {
		p.Runs = append(p.Runs, newLatestRow(s, &list.runs[i], now))
	}
	return "Runs", p, nil
}

// runList is a page of runs.
type runList struct {
	runs    []durable.JobRun
	running []durable.Job
	next    string // where the next page begins, "" if there is none
}

// mostPages is how many pages of the store are read for one that is shown: of the runs in it some are not shown, or are on
// another tab.
const mostPages = 20

// listRuns reads a page of the runs that have ended.
func listRuns(ctx context.Context, s *source.Source, v address.View) (list runList, err error) {
	t, _ := outcomeTab(s, v.State)
	f := durable.LatestFilter{
		Verdicts: t.Verdicts, Kind: v.Kind, Node: v.Search, Tags: v.List(), Finished: v.Ended.Range(page.ZoneFrom(ctx).Location()), Limit: 2 * rowLimit,
	}
	if v.Job != "" {
		if f.Keys, err = s.KeysOf(ctx, v.Job); err != nil || len(f.Keys) == 0 {
			return list, err
		}
	}
	if v.After != "" {
		if f.Before, err = parsePlace(v.After); err != nil {
			return list, err
		}
	}
	for range mostPages {
		found, err := s.Jobs.Latest(ctx, f)
		if err != nil {
			return list, err
		}
		for _, r := range found {
			if word, like := s.Outcome(&r.Run); word == "" || !t.Has(like) {
				continue
			}
			if len(list.runs) == rowLimit {
				list.next = placeOf(list.runs[rowLimit-1].Run)
				return list, nil
			}
			list.runs = append(list.runs, r)
		}
		if len(found) < f.Limit {
			return list, nil
		}
		f.Before = found[len(found)-1].Run
	}
	list.next = placeOf(f.Before)
	return list, nil
}

// mostRunning is how many runs in progress are read.
const mostRunning = 500

// listRunning reads the runs in progress.
func listRunning(ctx context.Context, s *source.Source, v address.View) (list runList, err error) {
	f := durable.Filter{Kind: v.Kind, Tags: v.List(), States: []durable.State{durable.Running}, Limit: mostRunning}
	if v.Job != "" {
		if f.Keys, err = s.KeysOf(ctx, v.Job); err != nil || len(f.Keys) == 0 {
			return list, err
		}
	}
	found, err := s.Jobs.List(ctx, f)
	for _, j := range found {
		j.Payload, j.Result = nil, nil
		if _, fires := durable.ScheduleOf(j); !fires && strings.HasPrefix(j.Owner, v.Search) && len(list.running) < rowLimit {
			list.running = append(list.running, j)
		}
	}
	return list, err
}

func newLatestRow(s *source.Source, r *durable.JobRun, now time.Time) latestRow {
	row := named(s, latestRow{runRow: newRunRow(s, &r.Run, now), Ended: page.Since(r.Finished, now)}, r.Job, r.Key, r.Kind, r.Seq)
	row.Error = page.Printable(oneLine(r.Error), 80)
	return row
}

func newRunningRow(s *source.Source, j *durable.Job, now time.Time) latestRow {
	row := runRow{
		Outcome: RunningTab, Class: address.StateClass(j.State), Took: page.Age(now.Sub(j.Started)), Late: "–",
		Node: page.Printable(j.Owner, 40), Attempt: j.Attempt,
	}
	if late := j.Started.Sub(j.Occurrence); late >= 0 {
		row.Late = page.Short(late)
	}
	return named(s, latestRow{runRow: row, Ended: "–"}, j.ID, j.Key, j.Kind, 0)
}

// named returns a row with the name of its job.
func named(s *source.Source, row latestRow, id durable.ID, key, kind string, seq int64) latestRow {
	name, path := s.Link(id, key, seq)
	row.Kind, row.Name, row.Path = page.Printable(kind, 40), page.Printable(name, 60), path
	if text := id.String(); row.Name == "" {
		row.Name = "…" + text[len(text)-12:]
	}
	return row
}
