package howto

import (
	"context"
	"errors"
	"slices"

	"github.com/executor-go/executor/durable"
)

// A Film is the payload of a job that encodes a film.
type Film struct{ Name string }

// newEncoder sets the handler of films. A machine with a graphics card also takes the films that need one.
func newEncoder(store durable.Store, hasCard bool, encode func(context.Context, Film) (string, error)) (*durable.Jobs, *durable.Kind[Film, string], error) {
	config := durable.Config{Store: store}
	if hasCard {
		config.Queues = []string{durable.DefaultQueue, "gpu"} // "gpu" alone would leave the others to other machines
	}
	jobs, err := durable.New(config)
	if err != nil {
		return nil, nil, err
	}
	return jobs, durable.Handle(jobs, "encode", encode), nil
}

// addFilm adds a film whose encoding needs a graphics card.
func addFilm(ctx context.Context, films *durable.Kind[Film, string], f Film) (durable.ID, error) {
	return films.Add(ctx, f, durable.Queue("gpu"))
}

// unserved returns the queues that have jobs but no node: their machine is gone, for example.
func unserved(ctx context.Context, jobs *durable.Jobs) ([]durable.QueueInfo, error) {
	queues, err := jobs.Queues(ctx)
	return slices.DeleteFunc(queues, func(q durable.QueueInfo) bool { return q.Jobs == 0 || q.Nodes > 0 }), err
}

// drainHost asks the nodes of a host to take no more jobs, and returns how many jobs they still run.
func drainHost(ctx context.Context, jobs *durable.Jobs, host string) (running int, err error) {
	nodes, err := jobs.Nodes(ctx)
	if err != nil {
		return 0, err
	}
	for _, n := range nodes {
		if n.Host != host {
			continue
		}
		running += n.Jobs
		if err := jobs.DrainNode(ctx, n.Name); err != nil && !errors.Is(err, durable.ErrNoNode) {
			return running, err
		}
	}
	return running, nil
}
