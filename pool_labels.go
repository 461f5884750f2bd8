package executor

import (
	"context"
	"runtime/pprof"
	"strconv"
)

// labelsWith gives a context with the labels of w and of ctx, with which a task was
// submitted.
func (w *worker) labelsWith(ctx context.Context) context.Context {
	own := false
	pprof.ForLabels(ctx, func(string, string) bool {
		own = true
		return false
	})
	if !own {
		return w.labels
	}
	pprof.ForLabels(w.labels, func(k, v string) bool {
		ctx = pprof.WithLabels(ctx, pprof.Labels(k, v))
		return true
	})
	return ctx
}

// workerLabels gives a context with the pprof labels of a worker: none for a
// pool without a name.
func workerLabels(pool string, number int) context.Context {
	if pool == "" {
		return context.Background()
	}
	return pprof.WithLabels(context.Background(), pprof.Labels("executor", pool, "worker", strconv.Itoa(number)))
}
