// Package client looks at the jobs of a store and acts on them, for the commands and for the pages of a daemon.
package client

import (
	"context"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
)

// Client looks at a store and acts on it.
type Client struct {
	Store durable.Store
	Jobs  *durable.Jobs
	Shown string // the store's name, as it may be shown
}

// Called returns the name of a job, with its namespace if full is true, as it may be
// shown: in a store of another user, a name may be anything.
func Called(e catalog.Entry, full bool) string { return CalledIn(e.Namespace, e.Name, full) }

// CalledIn is Called for a job by its namespace and its name.
func CalledIn(namespace, name string, full bool) string {
	if full {
		return job.Printable(namespace + "/" + name)
	}
	return job.Printable(name)
}

// AddProgress adds how far the runs in progress have come.
func (c Client) AddProgress(ctx context.Context, list []view.Job) error {
	var ids []durable.ID
	for _, j := range list {
		if j.Running != nil {
			ids = append(ids, j.Running.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := c.Jobs.Progress(ctx, ids...)
	for _, j := range list {
		if j.Running == nil {
			continue
		}
		if p, ok := found[j.Running.ID]; ok && p.Total > 0 {
			j.Running.Progress = &view.Progress{Done: min(p.Done, p.Total), Total: p.Total, Note: p.Note}
		}
	}
	return err
}

// AddEnds adds the times at which pauses end.
func (c Client) AddEnds(ctx context.Context, entries []catalog.Entry, list []view.Job) error {
	ends, err := catalog.PausedUntil(ctx, c.Jobs, entries)
	for i, e := range entries {
		if end, ok := ends[e.ID]; ok {
			list[i].Until = end.In(e.Spec.Location())
		}
	}
	return err
}

// AddMachines marks the jobs that wait while no daemon is running on a machine that may run them.
func (c Client) AddMachines(ctx context.Context, entries []catalog.Entry, list []view.Job) error {
	nodes := make(map[string]catalog.Nodes) // by namespace
	for i, e := range entries {
		if e.Queue == durable.DefaultQueue {
			continue
		}
		if _, asked := nodes[e.Namespace]; !asked {
			found, err := catalog.ListNodes(ctx, c.Jobs, e.Namespace)
			if err != nil {
				return err
			}
			nodes[e.Namespace] = found
		}
		if nodes[e.Namespace].Lack(e) {
			list[i].State = catalog.Status{State: catalog.StateNoMachine}
		}
	}
	return nil
}

// Instant is how a time is written that may be of any day.
const Instant = "2006-01-02 15:04:05 -07:00"
