//go:build linux

package faults

import (
	"context"
	"slices"
	"sync"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// A whole is a store that can be judged.
type whole interface {
	store.Full
	store.Mover
}

// forgetful loses jobs, hasty has none wait for others, and bare gives them no tags.
type (
	forgetful struct{ whole }
	hasty     struct{ whole }
	bare      struct{ whole }
)

func (s forgetful) Insert(ctx context.Context, jobs []durable.NewJob, p store.Placement) ([]durable.InsertResult, error) {
	placed, err := s.whole.Insert(ctx, jobs, p)
	if err == nil && jobs[0].ID[15]%16 == 0 {
		s.whole.Change(ctx, jobs[0].ID, durable.Change{Op: durable.OpDelete})
	}
	return placed, err
}

func (s hasty) Insert(ctx context.Context, jobs []durable.NewJob, p store.Placement) ([]durable.InsertResult, error) {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		jobs[i].After = store.After{}
	}
	return s.whole.Insert(ctx, jobs, p)
}

func (s bare) Insert(ctx context.Context, jobs []durable.NewJob, p store.Placement) ([]durable.InsertResult, error) {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		jobs[i].Tags = nil
	}
	return s.whole.Insert(ctx, jobs, p)
}

// deaf gives some jobs to nodes that are to drain.
type deaf struct {
	whole
	told *sync.Map // the names of these nodes
}

func (s deaf) DrainNode(ctx context.Context, node string, drain bool) (bool, error) {
	if drain {
		s.told.Store(node, true)
	} else {
		s.told.Delete(node)
	}
	nodes, err := s.whole.Nodes(ctx)
	return slices.ContainsFunc(nodes, func(n durable.NodeInfo) bool { return n.Name == node }), err
}

func (s deaf) Nodes(ctx context.Context) ([]durable.NodeInfo, error) {
	nodes, err := s.whole.Nodes(ctx)
	for i := range nodes {
		_, nodes[i].Draining = s.told.Load(nodes[i].Name)
	}
	return nodes, err
}

// crowded has no limit for each partition, and eager no rate.
type (
	crowded struct{ whole }
	eager   struct{ whole }
)

func (s crowded) ClaimLimited(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	r.Kinds = slices.Clone(r.Kinds)
	for i := range r.Kinds {
		r.Kinds[i].PerPartition = 0
	}
	return s.whole.ClaimLimited(ctx, r)
}

func (s eager) ClaimLimited(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	r.Kinds = slices.Clone(r.Kinds)
	for i := range r.Kinds {
		r.Kinds[i].Rate = store.Rate{}
	}
	return s.whole.ClaimLimited(ctx, r)
}

// unkept keeps no step, twice lets jobs run again that are over, and flattering notes failures as successes.
type (
	unkept     struct{ whole }
	twice      struct{ whole }
	flattering struct{ whole }
)

func (s unkept) KeptSteps(context.Context, durable.ID) ([]durable.KeptStep, error) { return nil, nil }

func (s twice) Commit(ctx context.Context, r store.CommitRequest) (store.CommitResult, error) {
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.State == durable.Succeeded && o.ID[15]%16 == 0 && o.Epoch < 3 {
			o.State, o.Due = durable.Waiting, o.Run.Finished
		}
	}
	return s.whole.Commit(ctx, r)
}

func (s flattering) Commit(ctx context.Context, r store.CommitRequest) (store.CommitResult, error) {
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Run.Verdict == durable.RunFailed {
			o.Run.Verdict = durable.RunSucceeded
		}
	}
	return s.whole.Commit(ctx, r)
}

// A leaky store leaves something out when it is moved.
type leaky struct {
	whole
	out func(store.Row) bool
}

func (s leaky) Export(ctx context.Context, each func(store.Row) error) error {
	gone := make(map[durable.ID]bool) // with all that belongs to them
	return s.whole.Export(ctx, func(row store.Row) error {
		switch out := s.out(row); {
		case row.Job != nil && out:
			gone[row.Job.ID] = true
			return nil
		case out, row.After != nil && gone[row.After.Job], row.Run != nil && gone[row.Run.Job], row.Step != nil && gone[row.Step.Job]:
			return nil
		}
		return each(row)
	})
}

// planted are stores with a fault each, by what is to be said of it.
var planted = map[string]func(whole) whole{
	"was accepted, and is not there": func(s whole) whole { return forgetful{s} },
	"of its parents had ended":       func(s whole) whole { return hasty{s} },
	"has the tags":                   func(s whole) whole { return bare{s} },
	"had drained":                    func(s whole) whole { return deaf{s, new(sync.Map)} },
	"ran at":                         func(s whole) whole { return crowded{s} },
	"have begun within":              func(s whole) whole { return eager{s} },
	"was done again":                 func(s whole) whole { return unkept{s} },
	"was committed twice":            func(s whole) whole { return twice{s} },
	"its handler has failed":         func(s whole) whole { return flattering{s} },
}
