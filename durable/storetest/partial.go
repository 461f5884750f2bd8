package storetest

import (
	"context"

	"github.com/executor-go/executor/durable/store"
)

// lacking is the part that a store does not have, which a partial panics with, for unexpected to take.
type lacking string

// A partial is a store with parts that it may lack. It is for the goroutine of the test only.
type partial struct {
	store.Store
	parts store.Parts
}

func newPartial(s store.Store) partial { return partial{s, store.PartsOf(s)} }

func (p partial) history() store.History {
	if p.parts.History == nil {
		panic(lacking("store.History"))
	}
	return p.parts.History
}

func (p partial) counts() store.Counter {
	if p.parts.Counter == nil {
		panic(lacking("store.Counter"))
	}
	return p.parts.Counter
}

func (p partial) pauses() store.Pauses {
	if p.parts.Pauses == nil {
		panic(lacking("store.Pauses"))
	}
	return p.parts.Pauses
}

func (p partial) acts() store.ActLog {
	if p.parts.ActLog == nil {
		panic(lacking("store.ActLog"))
	}
	return p.parts.ActLog
}

func (p partial) reports() store.Reports {
	if p.parts.Reports == nil {
		panic(lacking("store.Reports"))
	}
	return p.parts.Reports
}

func (p partial) changer() store.Changer {
	if p.parts.Changer == nil {
		panic(lacking("store.Changer"))
	}
	return p.parts.Changer
}

func (p partial) steps() store.Steps {
	if p.parts.Steps == nil {
		panic(lacking("store.Steps"))
	}
	return p.parts.Steps
}

func (p partial) KeptSteps(ctx context.Context, id store.ID) ([]store.KeptStep, error) {
	return p.steps().KeptSteps(ctx, id)
}

func (p partial) KeepStep(ctx context.Context, of store.Ref, k store.KeptStep) ([]byte, bool, error) {
	return p.steps().KeepStep(ctx, of, k)
}

func (p partial) Signal(ctx context.Context, id store.ID, name string, payload []byte) (store.Answer, error) {
	return p.steps().Signal(ctx, id, name, payload)
}

func (p partial) limiter() store.Limiter {
	if p.parts.Limiter == nil {
		panic(lacking("store.Limiter"))
	}
	return p.parts.Limiter
}

func (p partial) ClaimLimited(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	return p.limiter().ClaimLimited(ctx, r)
}

func (p partial) graph() store.Graph {
	if p.parts.Graph == nil {
		panic(lacking("store.Graph"))
	}
	return p.parts.Graph
}

func (p partial) Parents(ctx context.Context, id store.ID, from, limit int) ([]store.Job, error) {
	return p.graph().Parents(ctx, id, from, limit)
}

func (p partial) Children(ctx context.Context, id, after store.ID, limit int) ([]store.Job, error) {
	return p.graph().Children(ctx, id, after, limit)
}

func (p partial) CountChildren(ctx context.Context, id store.ID) ([]store.Count, error) {
	return p.graph().CountChildren(ctx, id)
}

func (p partial) CountParents(ctx context.Context, id store.ID) (store.ParentCounts, error) {
	return p.graph().CountParents(ctx, id)
}

func (p partial) Runs(ctx context.Context, id store.ID, before int64, limit int) ([]store.Run, error) {
	return p.history().Runs(ctx, id, before, limit)
}

func (p partial) Latest(ctx context.Context, f store.LatestFilter) ([]store.JobRun, error) {
	return p.history().Latest(ctx, f)
}

func (p partial) Output(ctx context.Context, id store.ID, seq int64) ([]byte, error) {
	return p.history().Output(ctx, id, seq)
}

func (p partial) Kinds(ctx context.Context) ([]string, error) { return p.counts().Kinds(ctx) }

func (p partial) Counts(ctx context.Context, f store.Filter) ([]store.Count, error) {
	return p.counts().Counts(ctx, f)
}

func (p partial) Dead(ctx context.Context, limit int) ([]store.DeadJob, error) {
	return p.counts().Dead(ctx, limit)
}

func (p partial) PauseKind(ctx context.Context, kind string, pause bool) error {
	return p.pauses().PauseKind(ctx, kind, pause)
}

func (p partial) PausedKinds(ctx context.Context) ([]string, error) {
	return p.pauses().PausedKinds(ctx)
}

func (p partial) NoteAct(ctx context.Context, a store.Act) error { return p.acts().NoteAct(ctx, a) }

func (p partial) Acts(ctx context.Context, f store.ActFilter) ([]store.Act, error) {
	return p.acts().Acts(ctx, f)
}

func (p partial) Report(ctx context.Context, node string, r store.Report) error {
	return p.reports().Report(ctx, node, r)
}

func (p partial) Nodes(ctx context.Context) ([]store.NodeInfo, error) { return p.reports().Nodes(ctx) }

func (p partial) Progress(ctx context.Context, ids []store.ID) ([]store.RunProgress, error) {
	return p.reports().Progress(ctx, ids)
}

func (p partial) queues() store.Queues {
	if p.parts.Queues == nil {
		panic(lacking("store.Queues"))
	}
	return p.parts.Queues
}

func (p partial) ClaimQueue(ctx context.Context, queue string, r store.ClaimRequest) (store.ClaimResult, error) {
	return p.queues().ClaimQueue(ctx, queue, r)
}

func (p partial) QueueNames(ctx context.Context) ([]string, error) {
	return p.queues().QueueNames(ctx)
}

func (p partial) QueueCounts(ctx context.Context) ([]store.QueueCount, error) {
	return p.queues().QueueCounts(ctx)
}

func (p partial) drains() store.Drains {
	if p.parts.Drains == nil {
		panic(lacking("store.Drains"))
	}
	return p.parts.Drains
}

func (p partial) DrainNode(ctx context.Context, node string, drain bool) (bool, error) {
	return p.drains().DrainNode(ctx, node, drain)
}
