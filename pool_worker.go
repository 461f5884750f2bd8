package executor

import (
	"context"
	"runtime/pprof"
	"strconv"

	"github.com/executor-go/executor/internal/engine"
	"github.com/executor-go/executor/internal/task"
)

// local is what a pool keeps with a worker. It is the worker's own.
type local struct {
	pool   *Pool
	worker *engine.Worker

	contexts task.PlainContexts // for bodies without a task
	inBody   *task.PlainContext // that of the body in progress; nil for none

	labels      context.Context // has the pprof labels
	named       string          // the task's name in namedLabels
	namedLabels context.Context // labels with that name; nil before first use
}

func localOf(w *engine.Worker) *local { return w.Local.(*local) }

// workerStarted makes what a pool keeps with a worker.
func (p *Pool) workerStarted(w *engine.Worker) {
	l := &local{pool: p, worker: w, labels: workerLabels(p.name, w.Number)}
	if p.name != "" {
		l.contexts.Labels = l.labels
	}
	w.Local = l
	if p.lender == nil && !w.Hosted {
		p.observed.Load().note(workerStarted)
	}
}

// parkLabels resets the labels of a worker: a profile must not show it at its last task.
func parkLabels(w *engine.Worker) { pprof.SetGoroutineLabels(localOf(w).labels) }

func (p *Pool) workerExited(*engine.Worker) { p.observed.Load().note(workerLeft) }

// noteFailure notes a run that has failed, for Stats.Failures. That of a series which returned ErrStop has not.
func (l *local) noteFailure(u work, end ending) {
	if end.state() == task.Failed && !(isPeriodic(u) && end.isStop()) {
		l.worker.Failed()
	}
}

// labelsNamed returns a context with the labels of the worker, and the name of a task.
func (l *local) labelsNamed(name string) context.Context {
	if name == "" {
		return l.labels
	}
	if l.named != name {
		l.named, l.namedLabels = name, pprof.WithLabels(l.labels, pprof.Labels(labelTask, name))
	}
	return l.namedLabels
}

// The keys of the labels of a body.
const (
	labelPool   = "executor"
	labelWorker = "worker"
	labelTask   = "task"
)

// workerLabels returns a context with the pprof labels of a worker: none for a pool
// without a name.
func workerLabels(pool string, number int) context.Context {
	if pool == "" {
		return context.Background()
	}
	return pprof.WithLabels(context.Background(), pprof.Labels(labelPool, pool, labelWorker, strconv.Itoa(number)))
}
