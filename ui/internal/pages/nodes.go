package pages

import (
	"context"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/internal/act"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// nodesPage is what the page of the nodes shows.
type nodesPage struct {
	Nodes    []nodeRow
	More     int  // nodes that are not shown
	Draining bool // one of them is
	Act      bool
	Own      []poolview.Fact
	Kinds    bool // of what is held are shown
	Held     []heldRow
	Beyond   int // jobs that are held and not shown
	Error    string
	AsOf     string
}

type nodeRow struct {
	State, Class              string    // whether it takes jobs
	Act                       *act.Link // nil if nothing can be done
	Name, Path, Host, Version string
	Own, Late                 bool
	Up, Beat, Left            string
	Jobs, Workers, Kinds      string
}

// heldRow is a job that the node of this program holds.
type heldRow struct {
	Path, Name, Kind, Phase, When string
	Class                         string // of the phase
	Progress                      *progress
}

func nodesBody(ctx context.Context, u *Site, v address.View) (string, any, error) {
	s := u.Sources.Find(v.Source)
	now := page.ZoneFrom(ctx).Now()
	p := &nodesPage{Kinds: s.Named == nil, Act: v.Act}
	nodes, asOf, err := nodesOf(ctx, s)
	if err != nil {
		p.Error = page.Lines(err.Error(), 300)
	}
	p.AsOf = page.ClockZone(asOf, now)
	own, joined := s.Jobs.Node()
	if len(nodes) > rowLimit {
		p.More, nodes = len(nodes)-rowLimit, nodes[:rowLimit]
	}
	for _, n := range nodes {
		left := n.Lease - asOf.Sub(n.Beat)
		row := nodeRow{
			Name: page.Printable(n.Name, 60), Host: page.Printable(n.Host, 40), Version: page.Printable(n.Version, 30),
			Path: address.View{Name: "runs", Source: v.Source, Search: n.Name}.Link(),
			Own:  joined && n.Name == own.Name, Late: left < 0, Beat: page.Since(n.Beat, now), Left: page.Short(left),
			Up:   "–",
			Jobs: page.Count(n.Jobs), Workers: "–", Kinds: page.Printable(strings.Join(n.Kinds, ", "), 120),
		}
		if row.State, row.Class = act.NodeState(&n); row.Late {
			row.State, row.Class = "lease ended", "bad"
		}
		if v.Act {
			link := act.NodeLink(v.Source, &n)
			row.Act = &link
		}
		p.Draining = p.Draining || n.Draining
		if !n.Joined.IsZero() {
			row.Up = page.Age(now.Sub(n.Joined))
		}
		if n.Workers > 0 {
			row.Workers = page.Count(n.Workers)
		}
		p.Nodes = append(p.Nodes, row)
	}
	if joined {
		p.Own = []poolview.Fact{
			fact("Node of this program", page.Printable(own.Name, 60), ""),
			fact("Lease left", page.Short(own.LeaseLeft), "of "+page.Short(own.Lease)),
			fact("Ahead", page.Count(own.Phases[durable.PhaseAhead]), "held, and due soon"),
			fact("Due", page.Count(own.Phases[durable.PhaseDue]), "wait for their time, or a worker"),
			fact("Running", page.Count(own.Phases[durable.PhaseRunning]), ""),
			fact("Ending", page.Count(own.Phases[durable.PhaseEnding]), ""),
		}
		p.held(s, s.Jobs.Held(), now)
	}
	return "Nodes", p, nil
}

const heldLimit = 30

// held fills in what the node of this program holds.
func (p *nodesPage) held(s *source.Source, all []durable.Held, now time.Time) {
	if len(all) > heldLimit {
		p.Beyond, all = len(all)-heldLimit, all[:heldLimit]
	}
	for _, h := range all {
		row := newJobRow(s, &h.Job, now)
		held := heldRow{
			Path: row.Path, Name: row.Name, Kind: row.Kind, Phase: string(h.Phase), When: page.Since(h.Job.Due, now),
		}
		if h.Phase == durable.PhaseRunning {
			held.Class = "busy"
			held.Progress = newProgress(h.Progress, h.Job.Started)
			if !h.Job.Started.IsZero() {
				held.When = "for " + page.Age(now.Sub(h.Job.Started))
			}
		}
		p.Held = append(p.Held, held)
	}
}

// nodesAttention returns what needs attention in the nodes of a source.
func nodesAttention(s *source.Source, nodes []durable.NodeInfo, asOf time.Time) (ns []poolview.Notice) {
	for _, n := range nodes {
		if late := asOf.Sub(n.Beat) - n.Lease; late > 0 {
			ns = append(ns, poolview.Notice{
				Path: address.View{Name: "nodes", Source: s.Name}.Link(), Name: page.Printable(n.Name, 60),
				Text: "the lease of the node ended " + page.Age(late) + " ago, and no other node has noticed", Weight: 58,
			})
		} else if n.Draining {
			ns = append(ns, poolview.Notice{
				Path: address.View{Name: "nodes", Source: s.Name}.Link(), Name: page.Printable(n.Name, 60),
				Text: "the node takes no more jobs until it is undrained", Weight: 11,
			})
		}
	}
	return ns
}
