package ui

import (
	"context"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
)

// nodesPage is what the page of the nodes shows.
type nodesPage struct {
	Nodes  []nodeRow
	More   int // nodes that are not shown
	Own    []fact
	Held   []heldRow
	Beyond int // jobs that are held and not shown
	Error  string
	AsOf   string
}

type nodeRow struct {
	Name, Path, Host, Version string
	Own, Late                 bool
	Up, Beat, Left            string
	Jobs, Workers, Kinds      string
}

// heldRow is a job that the node of this program holds.
type heldRow struct {
	Path, Name, Kind, Phase, When string
	Progress                      *progress
}

func nodesBody(ctx context.Context, u *UI, v view) (string, any, error) {
	s := u.source(v.source)
	now := time.Now()
	p := &nodesPage{}
	nodes, asOf, err := query(ctx, u, s, "nodes", s.Jobs.Nodes)
	if err != nil {
		p.Error = lines(err.Error(), 300)
	}
	p.AsOf = clock(asOf, now)
	own, joined := s.Jobs.Node()
	if len(nodes) > rowLimit {
		p.More, nodes = len(nodes)-rowLimit, nodes[:rowLimit]
	}
	for _, n := range nodes {
		left := n.Lease - asOf.Sub(n.Beat)
		row := nodeRow{
			Name: printable(n.Name, 60), Host: printable(n.Host, 40), Version: printable(n.Version, 30),
			Path: view{name: "runs", source: v.source, search: n.Name}.link(),
			Own:  joined && n.Name == own.Name, Late: left < 0, Beat: since(n.Beat, now), Left: short(left), Up: "–",
			Jobs: count(n.Jobs), Workers: "–", Kinds: printable(strings.Join(n.Kinds, ", "), 120),
		}
		if !n.Joined.IsZero() {
			row.Up = age(now.Sub(n.Joined))
		}
		if n.Workers > 0 {
			row.Workers = count(n.Workers)
		}
		p.Nodes = append(p.Nodes, row)
	}
	if joined {
		p.Own = []fact{
			{"Node of this program", printable(own.Name, 60), ""},
			{"Lease left", short(own.LeaseLeft), "of " + short(own.Lease)},
			{"Claimed ahead", count(own.Phases[durable.PhaseAhead]), ""},
			{"Due", count(own.Phases[durable.PhaseDue]), "wait for their time, or a worker"},
			{"Running", count(own.Phases[durable.PhaseRunning]), ""},
			{"Ending", count(own.Phases[durable.PhaseEnding]), ""},
		}
		p.held(v.source, s.Jobs.Held(), now)
	}
	return "Nodes", p, nil
}

const heldLimit = 30

// held fills in what the node of this program holds.
func (p *nodesPage) held(source string, all []durable.Held, now time.Time) {
	if len(all) > heldLimit {
		p.Beyond, all = len(all)-heldLimit, all[:heldLimit]
	}
	for _, h := range all {
		row := newJobRow(source, &h.Job, now)
		held := heldRow{
			Path: row.Path, Name: row.Name, Kind: row.Kind, Phase: string(h.Phase), When: since(h.Job.Due, now),
		}
		if h.Phase == durable.PhaseRunning {
			held.Progress = newProgress(h.Progress, h.Job.Started)
			if !h.Job.Started.IsZero() {
				held.When = "for " + age(now.Sub(h.Job.Started))
			}
		}
		p.Held = append(p.Held, held)
	}
}

// nodesAttention returns what needs attention in the nodes of a source.
func nodesAttention(s *source, nodes []durable.NodeInfo, asOf time.Time) (ns []notice) {
	for _, n := range nodes {
		if late := asOf.Sub(n.Beat) - n.Lease; late > 0 {
			ns = append(ns, notice{view{name: "nodes", source: s.Name}.link(), printable(n.Name, 60),
				"the lease of the node ended " + age(late) + " ago, and no other node has noticed", 58})
		}
	}
	return ns
}
