package howto

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// whyIdle returns why a schedule of a pool is not running, as far as its handle knows.
func whyIdle(s *executor.Series) string {
	i := s.Info()
	switch {
	case i.State.Done():
		return fmt.Sprintf("the schedule has ended: %v", s.Err())
	case i.Paused:
		return "the schedule is paused"
	case i.Running > 0:
		return fmt.Sprintf("it is running, since %v", i.RunningSince.Format(time.RFC3339))
	case i.LastError != nil:
		return fmt.Sprintf("the last run has failed: %v; the next is due at %v", i.LastError, i.Next.Format(time.RFC3339))
	}
	return fmt.Sprintf("the next run is due at %v", i.Next.Format(time.RFC3339))
}

// whyWaiting returns why a durable job is not running.
func whyWaiting(ctx context.Context, jobs *durable.Jobs, id durable.ID) (string, error) {
	job, err := jobs.Get(ctx, id)
	if err != nil {
		return "", err // durable.ErrNotFound: it was deleted, or its time in the store was over
	}
	now, err := jobs.Now(ctx) // due times are by the clock of the store
	if err != nil {
		return "", err
	}
	switch {
	case job.State.Done():
		return fmt.Sprintf("it is %v: %s", job.State, job.Error), nil
	case job.State == durable.Paused:
		return "it is paused", nil
	case job.State == durable.Blocked:
		return "it waits for its parents", nil
	case job.State != durable.Waiting:
		return fmt.Sprintf("it is %v on node %s", job.State, job.Owner), nil
	case job.Due.After(now):
		return fmt.Sprintf("it is due in %v; the last error is %q", job.Due.Sub(now).Round(time.Second), job.Error), nil
	}
	paused, err := jobs.PausedKinds(ctx)
	if err != nil {
		return "", err
	}
	if slices.Contains(paused, job.Kind) {
		return fmt.Sprintf("kind %q is paused", job.Kind), nil
	}
	nodes, err := jobs.Nodes(ctx)
	if err != nil {
		return "", err
	}
	for _, n := range nodes {
		queues := n.Queues
		if len(queues) == 0 {
			queues = []string{durable.DefaultQueue}
		}
		if !n.Draining && slices.Contains(n.Kinds, job.Kind) && slices.Contains(queues, job.Queue) {
			return fmt.Sprintf("node %s could run it: it may be busy, or a limit is reached", n.Name), nil
		}
	}
	return fmt.Sprintf("none of %d nodes runs jobs of kind %q in queue %q", len(nodes), job.Kind, job.Queue), nil
}
