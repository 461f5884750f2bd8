package pages

import (
	"context"
	"net/url"

	"github.com/executor-go/executor/ui/internal/act"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/page"
)

// deadPage is what the page of dead letters shows.
type deadPage struct {
	List   string // the address of all of them, one by one
	Groups []deadRow
	More   int // groups that are not shown
	Error  string
	AsOf   string
}

// deadRow are the dead jobs of a kind that have failed for the same reason.
type deadRow struct {
	Kind, Reason, Jobs, First, Last string
	Path                            string // the jobs of the kind
	Example                         string // the page of the last one
	Revive, Cut                     string // a link, and what is left out of what it does
}

func deadBody(ctx context.Context, u *Site, v address.View) (string, any, error) {
	s := u.Sources.Find(v.Source)
	now := page.ZoneFrom(ctx).Now()
	p := &deadPage{List: address.View{Name: "jobs", Source: v.Source, State: "dead"}.Link()}
	groups, asOf, err := s.DeadGroups(ctx)
	if err != nil {
		p.Error = page.Lines(err.Error(), 300)
	}
	p.AsOf = page.ClockZone(asOf, now)
	if len(groups) > rowLimit {
		p.More, groups = len(groups)-rowLimit, groups[:rowLimit]
	}
	for _, g := range groups {
		row := deadRow{
			Kind: page.Printable(g.Kind, 60), Reason: page.Printable(g.Reason, 160), Jobs: page.Count(g.Jobs),
			First: page.Since(g.First, now), Last: page.Since(g.Last, now),
			Path: address.View{Name: "jobs", Source: v.Source, State: "dead", Kind: g.Kind}.Link(),
		}
		if row.Reason == "" {
			row.Reason = "(no error)"
		}
		if len(g.IDs) > 0 {
			row.Example = address.View{Name: "job", Source: v.Source, ID: g.IDs[0]}.Link()
		}
		if v.Act {
			q := url.Values{"do": {"revive"}, "group": {act.GroupToken(g)}}
			if v.Source != "" {
				q.Set("source", v.Source)
			}
			row.Revive = "act?" + q.Encode()
			if g.Jobs > len(g.IDs) {
				row.Cut = "the latest " + page.Count(len(g.IDs))
			}
		}
		p.Groups = append(p.Groups, row)
	}
	return "Dead jobs", p, nil
}
