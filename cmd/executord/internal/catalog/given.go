package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/executor-go/executor/durable"
)

// given is a row of the store with the parameters of one run, which somebody has asked for. As a mark it waits for a
// time that never comes. It stays after the run, for those who look at the history.
//
// The run that takes an ask keeps its parameters so, with its own time, its occurrence. That stays the same when the run
// is begun again, by whatever daemon. So a run has its parameters whoever runs it, and no other run has them. Values in
// the payload of the job lost: a daemon that reads its file puts its own payload there.
type given struct {
	Job    string    `json:"job"`
	At     time.Time `json:"at"`
	Values []string  `json:"values"` // NAME=value, one for each parameter
}

const givenRoot = "executord-given/"

// keptGiven is how many rows a job has, at most: as many as there are runs in its history.
const keptGiven = 1000

func givenKey(namespace, name string, at time.Time) string {
	return givenPrefix(namespace, name) + strconv.FormatInt(at.UnixMicro(), 10)
}

func givenPrefix(namespace, name string) string { return givenRoot + namespace + "/" + name + "/" }

// KeepGiven keeps the parameters of the run of a job for a time. Those of its oldest runs are removed if there are too
// many.
func KeepGiven(ctx context.Context, jobs *durable.Jobs, store durable.Store, namespace, name string, at time.Time, values []string) error {
	kind := durable.Client[given, struct{}](jobs, givenRoot+namespace)
	g := given{Job: name, At: at, Values: values}
	if _, err := kind.Schedule(ctx, dormant, g, durable.Key(givenKey(namespace, name, at))); err != nil {
		return fmt.Errorf("keeping the parameters: %w", err)
	}
	return pruneGiven(ctx, jobs, store, namespace, name)
}

// pruneGiven removes the oldest rows of a job if there are too many.
func pruneGiven(ctx context.Context, jobs *durable.Jobs, store durable.Store, namespace, name string) error {
	var ids []durable.ID
	err := eachGiven(ctx, store, namespace, name, func(row durable.Job, _ given) { ids = append(ids, row.ID) })
	for i := 0; err == nil && i < len(ids)-keptGiven; i++ {
		_, err = jobs.Delete(ctx, ids[i])
	}
	return err
}

// FindGiven returns the parameters that are kept for the run of a job for a time, nil if there are none.
func FindGiven(ctx context.Context, store durable.Store, namespace, name string, at time.Time) ([]string, error) {
	row, err := store.Find(ctx, givenKey(namespace, name, at))
	if errors.Is(err, durable.ErrNotFound) {
		return nil, nil
	}
	var g given
	if err == nil {
		err = json.Unmarshal(row.Payload, &g)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for the parameters: %w", err)
	}
	return g.Values, nil
}

// Given are parameters of runs.
type Given map[givenRun][]string

type givenRun struct {
	namespace, name string
	at              int64 // in microseconds
}

// ListGiven returns the parameters of the runs of a job, of all jobs of a namespace if the name is empty, and of all
// namespaces if that is empty, too.
func ListGiven(ctx context.Context, store durable.Store, namespace, name string) (Given, error) {
	all := make(Given)
	err := eachGiven(ctx, store, namespace, name, func(row durable.Job, g given) {
		all[givenRun{row.Kind[len(givenRoot):], g.Job, g.At.UnixMicro()}] = g.Values
	})
	return all, err
}

// To returns the parameters that were given to a run of a job that was due at a time, nil if it had the defaults.
func (g Given) To(namespace, name string, at time.Time) []string {
	return g[givenRun{namespace, name, at.UnixMicro()}]
}

// eachGiven calls fn with the rows of a job, of a namespace, or of all, the oldest first.
func eachGiven(ctx context.Context, store durable.Store, namespace, name string, fn func(durable.Job, given)) error {
	filter := durable.Filter{Prefix: givenRoot, Limit: pageSize}
	if namespace != "" {
		filter.Kind, filter.Prefix = givenRoot+namespace, givenRoot+namespace+"/"
	}
	if name != "" {
		filter.Prefix = givenPrefix(namespace, name)
	}
	for {
		page, err := store.List(ctx, filter)
		if err != nil {
			return fmt.Errorf("listing the parameters: %w", err)
		}
		for _, row := range page {
			var g given
			if json.Unmarshal(row.Payload, &g) == nil && (name == "" || g.Job == name) && len(row.Kind) > len(givenRoot) {
				fn(row, g)
			}
		}
		if len(page) < pageSize {
			return nil
		}
		filter.After = page[len(page)-1].ID
	}
}
