package act

import (
	"context"
	"net/url"
	"slices"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// This file has the actions on a node: drain and undrain.

var (
	drainAction = action{
		Name: "drain", Title: "Drain",
		Says: "The node takes no more jobs. It gives back the jobs that have not begun, and finishes those that run. " +
			"Its program goes on, and the node takes jobs again once it is undrained, or its program is started again.",
		ready: on(byAdmin(admin.Action{Do: admin.Drain})),
	}
	undrainAction = action{
		Name: "undrain", Title: "Undrain",
		Says:  "The node takes jobs again.",
		ready: on(byAdmin(admin.Action{Do: admin.Undrain})),
	}
)

// nodeAction returns what can be done to a node now.
func nodeAction(n *durable.NodeInfo) action {
	if n.Draining {
		return undrainAction
	}
	return drainAction
}

// NodeLink returns a link to what can be done to a node now.
func NodeLink(source string, n *durable.NodeInfo) Link {
	do := nodeAction(n)
	q := url.Values{"do": {do.Name}, "node": {n.Name}}
	if source != "" {
		q.Set("source", source)
	}
	return Link{do.Title, "act?" + q.Encode(), do.Danger}
}

// NodeState returns what a node does with jobs, and the class of that.
func NodeState(n *durable.NodeInfo) (state, class string) {
	switch {
	case !n.Draining:
		return "takes jobs", "good"
	case n.Jobs > 0:
		return "draining", "busy"
	}
	return "drained", "held"
}

// aimAtNode returns a node as a target, and what can be done to it.
func aimAtNode(ctx context.Context, s *source.Source, name string) ([]*target, []action, error) {
	ctx, cancel := context.WithTimeout(ctx, source.QueryTime)
	defer cancel()
	nodes, err := s.Jobs.Nodes(ctx)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(nodes, func(n durable.NodeInfo) bool { return n.Name == name })
	if i < 0 {
		return nil, nil, address.Gonef("there is no live node %.60q; its program may have ended", name)
	}
	do := nodeAction(&nodes[i])
	others := func(n durable.NodeInfo) bool { return n.Name != name && !n.Draining }
	if do.Name == drainAction.Name && !slices.ContainsFunc(nodes, others) {
		do.Says += " It is the only node that takes jobs: until then, no job begins."
	}
	state, class := NodeState(&nodes[i])
	return []*target{{
		sort: "node", source: s, key: name, Fields: []field{{"node", name}},
		Name: page.Printable(name, 60), Kind: "node", State: state, Class: class, Path: address.View{Name: "nodes", Source: s.Name}.Link(),
	}}, []action{do}, nil
}
