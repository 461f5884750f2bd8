// Package catalog is what executord keeps in a store: one schedule for each job of a job file. Its key has the
// namespace and the name of the job, its payload is all that a daemon needs to run it.
//
//	key      executord/NAMESPACE/NAME    NAMESPACE has no slash, NAME may have some
//	kind     executord/NAMESPACE         so that a daemon claims the jobs of its own only
//	payload  a Spec
//
// The definition of a job is in the payload, and not only in the files of the
// daemons, so that one whose file is older or newer runs what it has claimed.
package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/durable"
)

const root = "executord/"

// Kind returns the kind of the jobs of a namespace.
func Kind(namespace string) string { return root + namespace }

// Key returns the key of a job.
func Key(namespace, name string) string { return Kind(namespace) + "/" + name }

// NameOf returns the name of the job with a key, with its namespace before it unless that is the one given.
func NameOf(namespace, key string) string {
	name := strings.TrimPrefix(key, root)
	return strings.TrimPrefix(name, namespace+"/")
}

// NamespaceHint describes the names that a namespace may have.
const NamespaceHint = "use letters, digits and . _ - (no longer than 64 bytes)"

// ValidNamespace reports whether a namespace may have a name.
func ValidNamespace(name string) bool { return job.ValidName(name) && !strings.Contains(name, "/") }

// IsIdle reports whether a run in the history ran nothing, since its job is not to run. Package durable records all
// runs.
func IsIdle(r durable.Run) bool { return outcome.ParseLabel(r.Label).Outcome == outcome.Idle }

// Entry is one job in a store.
type Entry struct {
	durable.Job
	Namespace, Name string
	Spec            Spec
}

// Read returns the entry that a row of the store is, false if it is not one of
// executord's.
func Read(row durable.Job) (Entry, bool) {
	rest, ours := strings.CutPrefix(row.Key, root)
	namespace, name, ok := strings.Cut(rest, "/")
	if !ours || !ok || row.Kind != Kind(namespace) {
		return Entry{}, false
	}
	e := Entry{Job: row, Namespace: namespace, Name: name}
	if json.Unmarshal(row.Payload, &e.Spec) != nil {
		e.Spec = Spec{Schedule: row.Schedule, Zone: "UTC"}
	}
	return e, true
}

// Removed reports whether the job is not in its file any more, and no run of it is in progress. It is canceled then; or
// paused, if it was removed during a run.
func (e Entry) Removed() bool {
	return e.Spec.Off && (e.State.Done() || e.State == durable.Paused)
}

// held returns the state, if any, into which a user has put the job so that it does not run, or into which it will
// be put when its run has ended. That it was removed is no such state, but does not undo one.
func (e Entry) held() State {
	switch {
	case e.Spec.Off:
		return e.Spec.Held
	case e.Pending == durable.PendingPause:
		return StatePaused
	case e.Pending == durable.PendingCancel:
		return StateCanceled
	case e.State == durable.Paused, e.State == durable.Canceled, e.State == durable.Dead:
		return State(e.State.String())
	}
	return ""
}

// pageSize is how many jobs are asked for at once.
const pageSize = 500

// List returns the jobs of a namespace, of all if it is empty, by name.
func List(ctx context.Context, store durable.Store, namespace string) ([]Entry, error) {
	return Select(ctx, store, namespace, durable.Filter{})
}

// Select is List of those that a filter of tags and errors selects.
func Select(ctx context.Context, store durable.Store, namespace string, filter durable.Filter) ([]Entry, error) {
	filter.Prefix, filter.Limit = root, pageSize
	if namespace != "" {
		filter.Kind, filter.Prefix = Kind(namespace), Kind(namespace)+"/"
	}
	return list(ctx, store, filter)
}

// Running returns the jobs of a namespace with a run in progress, by name.
func Running(ctx context.Context, store durable.Store, namespace string) ([]Entry, error) {
	return list(ctx, store, durable.Filter{
		Kind: Kind(namespace), Prefix: Kind(namespace) + "/", Limit: pageSize, States: []durable.State{durable.Running, durable.Confirmed},
	})
}

func list(ctx context.Context, store durable.Store, filter durable.Filter) ([]Entry, error) {
	var all []Entry
	for {
		page, err := store.List(ctx, filter)
		if err != nil {
			return nil, fmt.Errorf("listing the jobs: %w", err)
		}
		for _, row := range page {
			if e, ok := Read(row); ok {
				all = append(all, e)
			}
		}
		if len(page) < pageSize {
			break
		}
		filter.After = page[len(page)-1].ID
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return all, nil
}
