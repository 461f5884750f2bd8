package ui

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/page"
)

// runsPage is what the list of the latest runs shows.
type runsPage struct {
	Source      string
	Tabs        []tab
	Verdict     string
	Kinds       bool // are shown
	Kind, Node  string
	Runs        []latestRow
	First, Next string // links to other pages, "" if there is none
	Error       string
	AsOf        string
}

// latestRow is a run of any job.
type latestRow struct {
	runRow
	Path, Name, Kind, Ended string
}

// verdicts are the tabs of the list of runs.
var verdicts = []struct {
	name string
	all  []durable.Verdict
}{
	{"succeeded", []durable.Verdict{durable.RunSucceeded}},
	{"failed", []durable.Verdict{durable.RunFailed}},
	{"lost", []durable.Verdict{durable.RunLost}},
	{"canceled", []durable.Verdict{durable.RunCanceled}},
	{"skipped", []durable.Verdict{durable.RunSkipped}},
	{"snoozed", []durable.Verdict{durable.RunSnoozed}},
}

func verdictsOf(name string) []durable.Verdict {
	for _, v := range verdicts {
		if v.name == name {
			return v.all
		}
	}
	return nil
}

func parseRuns(v *view, q url.Values) (err error) {
	v.state = q.Get("state")
	if v.state != "" && verdictsOf(v.state) == nil {
		return &badRequest{fmt.Sprintf(
			"state is %.20q; it must be succeeded, failed, lost, canceled, skipped or snoozed", v.state)}
	}
	if v.kind, err = limited(q, "kind", durable.MaxKind); err != nil {
		return err
	}
	if v.search, err = limited(q, "q", 2*durable.MaxKind); err != nil {
		return err
	}
	if after := q.Get("after"); after != "" {
		run, err := parsePlace(after)
		if err != nil {
			return err
		}
		v.after = placeOf(run)
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
		return r, &badRequest{fmt.Sprintf("after is %.80q; it must be taken from a link to the next page", text)}
	}
	r.Finished, r.Seq = time.UnixMicro(micros).UTC(), seq
	return r, nil
}

func runsBody(ctx context.Context, u *UI, v view) (string, any, error) {
	s := u.source(v.source)
	now := time.Now()
	p := &runsPage{Source: v.source, Verdict: v.state, Kinds: s.Link == nil, Kind: v.kind, Node: v.search}
	p.Tabs = append(p.Tabs, tab{"all", v.link("state", "", "after", ""), v.state == ""})
	for _, t := range verdicts {
		p.Tabs = append(p.Tabs, tab{t.name, v.link("state", t.name, "after", ""), v.state == t.name})
	}
	type key struct{ state, kind, node, after string }
	runs, asOf, err := query(ctx, u, s, key{v.state, v.kind, v.search, v.after},
		func(ctx context.Context) ([]durable.JobRun, error) {
			f := durable.LatestFilter{
				Verdicts: verdictsOf(v.state), Kind: v.kind, Node: v.search, Limit: rowLimit + 1,
			}
			if v.after != "" {
				before, err := parsePlace(v.after)
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
	p.AsOf = page.ClockZone(asOf, now)
	if len(runs) > rowLimit {
		runs = runs[:rowLimit]
		p.Next = v.link("after", placeOf(runs[rowLimit-1].Run))
	}
	if v.after != "" {
		p.First = v.link("after", "")
	}
	for _, r := range runs {
		name, path := s.link(r.Job, r.Key, r.Seq)
		row := latestRow{
			runRow: newRunRow(&r.Run, now), Kind: page.Printable(r.Kind, 40), Name: page.Printable(name, 60),
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
