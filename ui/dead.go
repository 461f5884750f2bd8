package ui

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/page"
)

// deadPage is what the page of dead letters shows.
type deadPage struct {
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

func deadBody(ctx context.Context, u *UI, v view) (string, any, error) {
	s := u.source(v.source)
	now := time.Now()
	p := &deadPage{}
	groups, asOf, err := u.deadGroups(ctx, s)
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
			Path: view{name: "jobs", source: v.source, state: "dead", kind: g.Kind}.link(),
		}
		if row.Reason == "" {
			row.Reason = "(no error)"
		}
		if len(g.IDs) > 0 {
			row.Example = view{name: "job", source: v.source, id: g.IDs[0]}.link()
		}
		if v.act {
			q := url.Values{"do": {"revive"}, "group": {groupToken(g)}}
			if v.source != "" {
				q.Set("source", v.source)
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

func (u *UI) deadGroups(ctx context.Context, s *source) ([]durable.DeadGroup, time.Time, error) {
	return query(ctx, u, s, "dead", s.Jobs.DeadGroups)
}

// groupToken returns a name of a group that is fit for an address.
func groupToken(g durable.DeadGroup) string {
	sum := sha256.Sum256([]byte(g.Kind + "\x00" + g.Reason))
	return hex.EncodeToString(sum[:8])
}

// groupIDs returns the jobs of a group of dead ones.
func (u *UI) groupIDs(ctx context.Context, s *source, token string) ([]durable.ID, error) {
	groups, _, err := u.deadGroups(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		if groupToken(g) == token {
			return g.IDs, nil
		}
	}
	return nil, &gone{"this group of dead jobs no longer exists"}
}
