package catalog

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable"
)

// A job that runs on some machines only is in a queue, whose name has what the file says of them: executord/db+eu,gpu.
// A daemon serves the queues in whose names it finds its machine; see Queues. A queue for each name and label lost: a
// job is in one queue.
//
// A job that runs on each of several machines is a job for each: cleanup@web-1, which runs on web-1. The daemon of a
// machine adds its own. Each is changed and removed with the file, by any daemon.

// queueOf returns the queue of a job.
func queueOf(w job.Where) string {
	if len(w.Among) == 0 {
		return durable.DefaultQueue
	}
	return root + strings.Join(w.Among, ",")
}

// whereOf returns what a queue stands for, false if it is none of executord's.
func whereOf(queue string) (job.Where, bool) {
	text, ours := strings.CutPrefix(queue, root)
	w, err := job.ParseWhere(strings.Split(text, ","))
	return w, ours && err == nil && !w.Each
}

// Queues returns the queues that a machine serves: those of jobs in its file, and those that are in the store for other
// daemons' jobs. With an error they are the former.
func Queues(ctx context.Context, jobs *durable.Jobs, machine job.Machine, file []job.Job) ([]string, error) {
	queues := []string{durable.DefaultQueue, queueOf(only(machine.Name))}
	for _, j := range file {
		if machine.In(j.On) && !each(j) {
			queues = append(queues, queueOf(j.On))
		}
	}
	stored, err := jobs.Queues(ctx)
	for _, q := range stored {
		if w, ours := whereOf(q.Name); ours && machine.In(w) {
			queues = append(queues, q.Name)
		}
	}
	return queues, err
}

// GroupKinds returns the kinds of the runs of groups, with their limits: of jobs in a file, and of those of other daemons'
// files that wait in the store.
func GroupKinds(ctx context.Context, store durable.Store, namespace string, file []job.Job) (map[string]int, error) {
	kinds := make(map[string]int)
	for _, j := range file {
		if j.Group != "" {
			kinds[GroupKind(namespace, j.Group, j.GroupLimit)] = max(j.GroupLimit, 1)
		}
	}
	stored, err := store.Kinds(ctx)
	for _, kind := range stored {
		if limit, ok := GroupLimit(namespace, kind); ok {
			kinds[kind] = limit
		}
	}
	return kinds, err
}

// only returns where a job runs that is for one machine.
func only(machine string) job.Where { return job.Where{Among: []string{machine}} }

// at returns the job that a job which runs on each of several machines is for one of them.
func at(j job.Job, machine string) job.Job {
	j.Name, j.On = job.At(j.Name, machine), only(machine)
	return j
}

// each reports whether a job stands in the store for one of each machine.
func each(j job.Job) bool { return j.On.Each && !j.Schedule.AtStart }

// Of returns the jobs of a file as a machine has them: of those that run on each of several machines, that for this
// one.
func Of(machine job.Machine, file []job.Job) []job.Job {
	if !slices.ContainsFunc(file, each) {
		return file
	}
	var jobs []job.Job
	for _, j := range file {
		switch {
		case !each(j):
			jobs = append(jobs, j)
		case machine.In(j.On):
			jobs = append(jobs, at(j, machine.Name))
		}
	}
	return jobs
}

// Jobs returns the jobs that a store is to have when a machine applies a file: those of the machine, and of the jobs
// that run on each machine those that others have added.
func Jobs(machine job.Machine, file []job.Job, have []Entry) []job.Job {
	jobs := Of(machine, file)
	for _, e := range have {
		name, other, ok := job.CutAt(e.Name)
		if !ok || other == machine.Name || e.Spec.Off {
			continue
		}
		for _, j := range file {
			if each(j) && j.Name == name {
				jobs = append(slices.Clip(jobs), at(j, other))
			}
		}
	}
	return jobs
}

// Nodes are the daemons of a namespace that take jobs: those that are alive, and do not drain.
type Nodes []durable.NodeInfo

// ListNodes returns the daemons of a namespace, by their names.
func ListNodes(ctx context.Context, jobs *durable.Jobs, namespace string) (Nodes, error) {
	nodes, err := jobs.Nodes(ctx)
	nodes = slices.DeleteFunc(nodes, func(n durable.NodeInfo) bool { return n.Draining || !slices.Contains(n.Kinds, Kind(namespace)) })
	slices.SortFunc(nodes, func(a, b durable.NodeInfo) int { return strings.Compare(a.Name, b.Name) })
	return nodes, err
}

// Lack reports whether a job waits that none of the daemons may run.
func (n Nodes) Lack(e Entry) bool {
	return e.State == durable.Waiting && e.Queue != durable.DefaultQueue &&
		!slices.ContainsFunc(n, func(n durable.NodeInfo) bool { return slices.Contains(n.Queues, e.Queue) })
}

// Stranded returns the jobs of a namespace that wait and that none of its daemons may run.
func Stranded(ctx context.Context, jobs *durable.Jobs, store durable.Store, namespace string, nodes Nodes) ([]Entry, error) {
	queues, err := jobs.Queues(ctx)
	if err != nil {
		return nil, err
	}
	var found []Entry
	for _, q := range queues {
		probe := Entry{Job: durable.Job{State: durable.Waiting, Queue: q.Name}}
		if _, ours := whereOf(q.Name); !ours || q.Jobs == 0 || !nodes.Lack(probe) {
			continue
		}
		wait, err := list(ctx, store, namespace, durable.Filter{Queue: q.Name, States: []durable.State{durable.Waiting}})
		if err != nil {
			return nil, err
		}
		found = append(found, wait...)
	}
	return found, nil
}

// forgetAfter is how long a job for one machine must have been due without a daemon there before it is removed. It is
// documented.
const forgetAfter = 24 * time.Hour

// Forgotten reports whether a job that is stranded is for a machine which has been away for long. Its daemon adds it
// again.
func (e Entry) Forgotten(now time.Time) bool {
	_, _, each := job.CutAt(e.Name)
	return each && !e.Spec.Off && now.Sub(e.Due) > forgetAfter
}

// Forget removes a job from the store as if it was not in the file.
func (c *Catalog) Forget(ctx context.Context, e Entry) error { return c.remove(ctx, e) }
