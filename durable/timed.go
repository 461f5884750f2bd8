package durable

import (
	"context"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// timed is a store of which each call is reported to Hooks.Call, and so are the others for its parts.
type (
	timed struct {
		store.Store
		jobs *Jobs
	}
	timedHistory struct {
		store.History
		jobs *Jobs
	}
	timedCounter struct {
		store.Counter
		jobs *Jobs
	}
	timedPauses struct {
		store.Pauses
		jobs *Jobs
	}
	timedActLog struct {
		store.ActLog
		jobs *Jobs
	}
	timedReports struct {
		store.Reports
		jobs *Jobs
	}
	timedSteps struct {
		store.Steps
		jobs *Jobs
	}
	timedLimiter struct {
		store.Limiter
		jobs *Jobs
	}
	timedChanger struct {
		store.Changer
		jobs *Jobs
	}
	timedGraph struct {
		store.Graph
		jobs *Jobs
	}
	timedQueues struct {
		store.Queues
		jobs *Jobs
	}
	timedDrains struct {
		store.Drains
		jobs *Jobs
	}
	timedTx struct {
		store.TxStore
		jobs *Jobs
	}
)

// timedParts returns the parts of a store of which each call is reported.
func timedParts(p store.Parts, j *Jobs) store.Parts {
	if p.History != nil {
		p.History = timedHistory{p.History, j}
	}
	if p.Counter != nil {
		p.Counter = timedCounter{p.Counter, j}
	}
	if p.Pauses != nil {
		p.Pauses = timedPauses{p.Pauses, j}
	}
	if p.ActLog != nil {
		p.ActLog = timedActLog{p.ActLog, j}
	}
	if p.Reports != nil {
		p.Reports = timedReports{p.Reports, j}
	}
	if p.Steps != nil {
		p.Steps = timedSteps{p.Steps, j}
	}
	if p.Limiter != nil {
		p.Limiter = timedLimiter{p.Limiter, j}
	}
	if p.Changer != nil {
		p.Changer = timedChanger{p.Changer, j}
	}
	if p.Graph != nil {
		p.Graph = timedGraph{p.Graph, j}
	}
	if p.Queues != nil {
		p.Queues = timedQueues{p.Queues, j}
	}
	if p.Drains != nil {
		p.Drains = timedDrains{p.Drains, j}
	}
	if p.Tx != nil {
		p.Tx = timedTx{p.Tx, j}
	}
	return p
}

// calledStore reports a call of the store that has ended.
func (j *Jobs) calledStore(op string, begun time.Time, err *error) {
	took := time.Since(begun)
	j.callHook("Call", func() { j.cfg.Hooks.Call(op, took, *err) })
}

func (t timed) Now(ctx context.Context) (now time.Time, err error) {
	defer t.jobs.calledStore("now", time.Now(), &err)
	return t.Store.Now(ctx)
}

func (t timed) Insert(ctx context.Context, jobs []NewJob, p store.Placement) (placed []InsertResult, err error) {
	defer t.jobs.calledStore("insert", time.Now(), &err)
	return t.Store.Insert(ctx, jobs, p)
}

func (t timed) Join(ctx context.Context, node string, lease time.Duration) (now time.Time, err error) {
	defer t.jobs.calledStore("join", time.Now(), &err)
	return t.Store.Join(ctx, node, lease)
}

func (t timed) Heartbeat(ctx context.Context, node string, lease time.Duration,
	w store.Watch) (r store.HeartbeatResult, err error) {
	defer t.jobs.calledStore("heartbeat", time.Now(), &err)
	return t.Store.Heartbeat(ctx, node, lease, w)
}

func (t timed) Leave(ctx context.Context, node string) (err error) {
	defer t.jobs.calledStore("leave", time.Now(), &err)
	return t.Store.Leave(ctx, node)
}

func (t timed) Claim(ctx context.Context, r store.ClaimRequest) (c store.ClaimResult, err error) {
	defer t.jobs.calledStore("claim", time.Now(), &err)
	return t.Store.Claim(ctx, r)
}

func (t timed) Release(ctx context.Context, node string, keep []ID) (left bool, err error) {
	defer t.jobs.calledStore("release", time.Now(), &err)
	return t.Store.Release(ctx, node, keep)
}

func (t timed) Commit(ctx context.Context, b store.CommitRequest) (c store.CommitResult, err error) {
	defer t.jobs.calledStore("commit", time.Now(), &err)
	return t.Store.Commit(ctx, b)
}

func (t timed) Change(ctx context.Context, id ID, c Change) (a Answer, err error) {
	defer t.jobs.calledStore("change", time.Now(), &err)
	return t.Store.Change(ctx, id, c)
}

func (t timed) Get(ctx context.Context, id ID) (job Job, err error) {
	defer t.jobs.calledStore("get", time.Now(), &err)
	return t.Store.Get(ctx, id)
}

func (t timed) Find(ctx context.Context, key string) (job Job, err error) {
	defer t.jobs.calledStore("find", time.Now(), &err)
	return t.Store.Find(ctx, key)
}

func (t timed) List(ctx context.Context, f Filter) (jobs []Job, err error) {
	defer t.jobs.calledStore("list", time.Now(), &err)
	return t.Store.List(ctx, f)
}

func (t timedLimiter) ClaimLimited(ctx context.Context, r store.ClaimRequest) (c store.ClaimResult, err error) {
	defer t.jobs.calledStore("claim_limited", time.Now(), &err)
	return t.Limiter.ClaimLimited(ctx, r)
}

func (t timedHistory) Runs(ctx context.Context, id ID, before int64, limit int) (runs []Run, err error) {
	defer t.jobs.calledStore("runs", time.Now(), &err)
	return t.History.Runs(ctx, id, before, limit)
}

func (t timedCounter) Kinds(ctx context.Context) (kinds []string, err error) {
	defer t.jobs.calledStore("kinds", time.Now(), &err)
	return t.Counter.Kinds(ctx)
}

func (t timedCounter) Counts(ctx context.Context, f Filter) (counts []Count, err error) {
	defer t.jobs.calledStore("counts", time.Now(), &err)
	return t.Counter.Counts(ctx, f)
}

func (t timedPauses) PauseKind(ctx context.Context, kind string, pause bool) (err error) {
	defer t.jobs.calledStore("pause_kind", time.Now(), &err)
	return t.Pauses.PauseKind(ctx, kind, pause)
}

func (t timedPauses) PausedKinds(ctx context.Context) (kinds []string, err error) {
	defer t.jobs.calledStore("paused_kinds", time.Now(), &err)
	return t.Pauses.PausedKinds(ctx)
}

func (t timedActLog) NoteAct(ctx context.Context, a Act) (err error) {
	defer t.jobs.calledStore("note_act", time.Now(), &err)
	return t.ActLog.NoteAct(ctx, a)
}

func (t timedActLog) Acts(ctx context.Context, f ActFilter) (acts []Act, err error) {
	defer t.jobs.calledStore("acts", time.Now(), &err)
	return t.ActLog.Acts(ctx, f)
}

func (t timed) Prune(ctx context.Context, r Retention) (removed int, err error) {
	defer t.jobs.calledStore("prune", time.Now(), &err)
	return t.Store.Prune(ctx, r)
}

func (t timedReports) Report(ctx context.Context, node string, r store.Report) (err error) {
	defer t.jobs.calledStore("report", time.Now(), &err)
	return t.Reports.Report(ctx, node, r)
}

func (t timedReports) Nodes(ctx context.Context) (nodes []NodeInfo, err error) {
	defer t.jobs.calledStore("nodes", time.Now(), &err)
	return t.Reports.Nodes(ctx)
}

func (t timedReports) Progress(ctx context.Context, ids []ID) (all []RunProgress, err error) {
	defer t.jobs.calledStore("progress", time.Now(), &err)
	return t.Reports.Progress(ctx, ids)
}

func (t timedHistory) Latest(ctx context.Context, f LatestFilter) (runs []JobRun, err error) {
	defer t.jobs.calledStore("latest", time.Now(), &err)
	return t.History.Latest(ctx, f)
}

func (t timedHistory) Output(ctx context.Context, id ID, seq int64) (data []byte, err error) {
	defer t.jobs.calledStore("output", time.Now(), &err)
	return t.History.Output(ctx, id, seq)
}

func (t timedCounter) Dead(ctx context.Context, limit int) (dead []store.DeadJob, err error) {
	defer t.jobs.calledStore("dead", time.Now(), &err)
	return t.Counter.Dead(ctx, limit)
}

func (t timedSteps) KeptSteps(ctx context.Context, id ID) (all []KeptStep, err error) {
	defer t.jobs.calledStore("kept_steps", time.Now(), &err)
	return t.Steps.KeptSteps(ctx, id)
}

func (t timedSteps) KeepStep(ctx context.Context, of store.Ref, s KeptStep) (result []byte, ok bool, err error) {
	defer t.jobs.calledStore("keep_step", time.Now(), &err)
	return t.Steps.KeepStep(ctx, of, s)
}

func (t timedSteps) Signal(ctx context.Context, id ID, name string, payload []byte) (a Answer, err error) {
	defer t.jobs.calledStore("signal", time.Now(), &err)
	return t.Steps.Signal(ctx, id, name, payload)
}

func (t timedChanger) ChangeEach(ctx context.Context, ids []ID, c Change) (answers []Answer, err error) {
	defer t.jobs.calledStore("change_each", time.Now(), &err)
	return t.Changer.ChangeEach(ctx, ids, c)
}

func (t timedGraph) Parents(ctx context.Context, id ID, from, limit int) (page []Job, err error) {
	defer t.jobs.calledStore("parents", time.Now(), &err)
	return t.Graph.Parents(ctx, id, from, limit)
}

func (t timedGraph) Children(ctx context.Context, id, after ID, limit int) (page []Job, err error) {
	defer t.jobs.calledStore("children", time.Now(), &err)
	return t.Graph.Children(ctx, id, after, limit)
}

func (t timedGraph) CountChildren(ctx context.Context, id ID) (c []Count, err error) {
	defer t.jobs.calledStore("count_children", time.Now(), &err)
	return t.Graph.CountChildren(ctx, id)
}

func (t timedGraph) CountParents(ctx context.Context, id ID) (c ParentCounts, err error) {
	defer t.jobs.calledStore("count_parents", time.Now(), &err)
	return t.Graph.CountParents(ctx, id)
}

func (t timedTx) GetTx(ctx context.Context, tx Tx, id ID) (job Job, err error) {
	defer t.jobs.calledStore("get_tx", time.Now(), &err)
	return t.TxStore.GetTx(ctx, tx, id)
}

func (t timedTx) InsertTx(ctx context.Context, tx Tx, jobs []NewJob) (placed []InsertResult, err error) {
	defer t.jobs.calledStore("insert_tx", time.Now(), &err)
	return t.TxStore.InsertTx(ctx, tx, jobs)
}

func (t timedTx) CompleteTx(ctx context.Context, tx Tx, b store.CommitRequest) (c store.CommitResult, err error) {
	defer t.jobs.calledStore("complete_tx", time.Now(), &err)
	return t.TxStore.CompleteTx(ctx, tx, b)
}

func (t timedQueues) ClaimQueue(ctx context.Context, queue string, r store.ClaimRequest) (c store.ClaimResult, err error) {
	defer t.jobs.calledStore("claim_queue", time.Now(), &err)
	return t.Queues.ClaimQueue(ctx, queue, r)
}

func (t timedQueues) QueueNames(ctx context.Context) (names []string, err error) {
	defer t.jobs.calledStore("queue_names", time.Now(), &err)
	return t.Queues.QueueNames(ctx)
}

func (t timedQueues) QueueCounts(ctx context.Context) (counts []store.QueueCount, err error) {
	defer t.jobs.calledStore("queue_counts", time.Now(), &err)
	return t.Queues.QueueCounts(ctx)
}

func (t timedDrains) DrainNode(ctx context.Context, node string, drain bool) (alive bool, err error) {
	defer t.jobs.calledStore("drain_node", time.Now(), &err)
	return t.Drains.DrainNode(ctx, node, drain)
}
