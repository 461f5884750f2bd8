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
	Source      string
	Tabs        []tab
	State       string // the name of a tab
	Kinds       bool   // are shown
	Kind, Node  string
	Runs        []latestRow
	All         string // link to all runs
	Asked       bool   // the list does not have all
	First, Next string // links to other pages, "" if there is none
	Error       string
	AsOf        string
}

// latestRow is a run of any job.
type latestRow struct {
	runRow
	Path, Name, Kind, Ended string
}

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

// verdictsOf returns the verdicts of a tab, nil if there is no such tab.
func verdictsOf(s *source.Source, name string) []durable.Verdict {
	for _, t := range outcomeTabs(s) {
		if t.Name == name {
			return t.Verdicts
		}
	}
	return nil
}

// checkRuns returns an error if the runs of a source can't be asked for so.
func checkRuns(s *source.Source, v address.View) error {
	if v.State == "" || verdictsOf(s, v.State) != nil {
		return nil
	}
	var names []string
	for _, t := range outcomeTabs(s) {
		names = append(names, t.Name)
	}
	return address.Badf("state is %.20q; it must be one of %s", v.State, strings.Join(names, ", "))
}

func parseRuns(v *address.View, q url.Values) (err error) {
	v.State = q.Get("state")
	if v.Kind, err = address.Limited(q, "kind", durable.MaxKind); err != nil {
		return err
	}
	if v.Search, err = address.Limited(q, "q", 2*durable.MaxKind); err != nil {
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

func runsBody(ctx context.Context, u *Site, v address.View) (string, any, error) {
	s := u.Sources.Find(v.Source)
	now := time.Now()
	p := &runsPage{Source: v.Source, State: v.State, Kinds: s.Named == nil, Kind: v.Kind, Node: v.Search}
	p.Tabs = append(p.Tabs, tab{"all", v.Link("state", "", "after", ""), v.State == ""})
	for _, t := range outcomeTabs(s) {
		p.Tabs = append(p.Tabs, tab{page.Printable(t.Name, 40), v.Link("state", t.Name, "after", ""), v.State == t.Name})
	}
	type key struct{ state, kind, node, after string }
	runs, asOf, err := source.Query(ctx, s, key{v.State, v.Kind, v.Search, v.After},
		func(ctx context.Context) ([]durable.JobRun, error) {
			f := durable.LatestFilter{
				Verdicts: verdictsOf(s, v.State), Kind: v.Kind, Node: v.Search, Limit: rowLimit + 1,
			}
			if v.After != "" {
				before, err := parsePlace(v.After)
				if err != nil {
					return nil, err
				}
				f.Before = before
			}
			return s.Jobs.Latest(ctx, f)
		})
	if err != nil {
		p.Error = page.Lines(err.Error(), 300)
	}
	p.Asked = v.State != "" || v.Kind != "" || v.Search != "" || v.After != ""
	p.All = address.View{Name: "runs", Source: v.Source}.Link()
	p.AsOf = page.ClockZone(asOf, now)
	if len(runs) > rowLimit {
		runs = runs[:rowLimit]
		p.Next = v.Link("after", placeOf(runs[rowLimit-1].Run))
	}
	if v.After != "" {
		p.First = v.Link("after", "")
	}
	for _, r := range runs {
		ended := newRunRow(s, &r.Run, now)
		if ended.Outcome == "" {
			continue
		}
		name, path := s.Link(r.Job, r.Key, r.Seq)
		row := latestRow{
			runRow: ended, Kind: page.Printable(r.Kind, 40), Name: page.Printable(name, 60),
			Path: path, Ended: page.Since(r.Finished, now),
		}
		if id := r.Job.String(); row.Name == "" {
			row.Name = "…" + id[len(id)-12:]
		}
		row.Error = page.Printable(oneLine(r.Error), 80)
		p.Runs = append(p.Runs, row)
	}
	return "Runs", p, nil
}
