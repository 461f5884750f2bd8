package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
)

// Run is what a run has besides the definition of its job: the payload of its row.
type Run struct {
	Due    time.Time `json:"due"`
	Asked  bool      `json:"asked,omitempty"`  // by somebody, and not by the schedule
	Given  []string  `json:"given,omitempty"`  // its parameters, NAME=value; nil for the defaults
	After  []string  `json:"after,omitempty"`  // the jobs that it is after
	Traces []string  `json:"traces,omitempty"` // the traceparents of their runs, of those that have one
}

// RunOf returns the payload of a run.
func RunOf(row durable.Job) (r Run) {
	json.Unmarshal(row.Payload, &r) // else it is as if nothing was given
	return r
}

// NumberOf returns the number of a run, 0 if the row is none.
func NumberOf(row durable.Job) int64 {
	_, n := durable.RunNumber(row.Key)
	return n
}

// kind returns the kind of the runs of a job.
func (e Entry) kind() string {
	if e.Spec.Group == "" {
		return Kind(e.Namespace)
	}
	return GroupKind(e.Namespace, e.Spec.Group, e.Spec.GroupLimit)
}

// runs returns the numbers of the runs that were open when the schedule fired last, and that of the latest, in order.
func (e *Entry) runs() []int64 {
	if slices.Contains(e.open, e.Number) {
		return e.open
	}
	return append(slices.Clone(e.open), e.Number)
}

// AddRuns adds the runs to jobs that have not ended, and the last that has.
func AddRuns(ctx context.Context, store durable.Store, jobs []Entry) error {
	var keys []string
	for i := range jobs {
		e := &jobs[i]
		for _, n := range e.runs() {
			keys = append(keys, durable.RunKey(e.Key, n))
		}
	}
	runs, err := byKey(ctx, store, keys)
	if err != nil {
		return err
	}
	keys = nil
	before := func(e *Entry) string {
		if n := NumberOf(e.Open[0]); n > 1 {
			return durable.RunKey(e.Key, n-1)
		}
		return ""
	}
	for i := range jobs {
		e := &jobs[i]
		e.Open, e.Last = nil, durable.Job{}
		for _, n := range e.runs() {
			run, there := runs[durable.RunKey(e.Key, n)]
			switch {
			case !there:
			case run.State.Done():
				e.Last = run
			default:
				e.Open = append(e.Open, run)
			}
		}
		if e.Last.Key == "" && len(e.Open) > 0 && before(e) != "" {
			keys = append(keys, before(e))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	if runs, err = byKey(ctx, store, keys); err != nil {
		return err
	}
	for i := range jobs {
		if e := &jobs[i]; e.Last.Key == "" && len(e.Open) > 0 {
			e.Last = runs[before(e)]
		}
	}
	return nil
}

// ListRuns returns the latest runs of a job, n at most, the latest first.
func ListRuns(ctx context.Context, store durable.Store, e Entry, n int) ([]durable.Job, error) {
	var keys []string
	for number := e.Number; number > max(e.Number-int64(n), 0); number-- {
		keys = append(keys, durable.RunKey(e.Key, number))
	}
	runs, err := byKey(ctx, store, keys)
	var all []durable.Job
	for _, key := range keys {
		if run, there := runs[key]; there {
			all = append(all, run)
		}
	}
	return all, err
}

// RowOf returns the row of a run that has ended as far as its history says.
func RowOf(r durable.JobRun) durable.Job {
	payload, _ := json.Marshal(Run{Due: r.Occurrence})
	return durable.Job{ID: r.Job, Key: r.Key, Kind: r.Kind, Payload: payload}
}

// Ended returns how the runs with these keys ended, by their keys. Those that never began, or are not kept, are not in it.
// Of a run that was interrupted and run again it is the end that came last.
func Ended(ctx context.Context, jobs *durable.Jobs, keys []string) (map[string]durable.JobRun, error) {
	found := make(map[string]durable.JobRun, len(keys))
	for some := range slices.Chunk(keys, pageSize) {
		f := durable.LatestFilter{Keys: some, Limit: 2 * pageSize}
		for {
			page, err := jobs.Latest(ctx, f)
			if err != nil {
				return found, fmt.Errorf("listing how runs ended: %w", err)
			}
			for _, r := range page {
				if r.Seq > found[r.Key].Seq {
					found[r.Key] = r
				}
			}
			if len(page) < f.Limit {
				break
			}
			f.Before = page[len(page)-1].Run
		}
	}
	return found, nil
}

// Ends returns how many runs of a namespace ended in a time, well and not. Those that somebody ended, or that were
// replaced, are neither.
func Ends(ctx context.Context, jobs *durable.Jobs, namespace string, in durable.TimeRange) (ok, failed int, err error) {
	counts, err := jobs.Counts(ctx, durable.Filter{States: []durable.State{durable.Succeeded, durable.Dead}, Updated: in})
	for _, c := range counts {
		switch {
		case c.Kind != Kind(namespace) && !strings.HasPrefix(c.Kind, Kind(namespace)+"/"):
		case c.State == durable.Succeeded:
			ok += c.Jobs
		default:
			failed += c.Jobs
		}
	}
	return ok, failed, err
}

// byKey returns the jobs with these keys.
func byKey(ctx context.Context, store durable.Store, keys []string) (map[string]durable.Job, error) {
	found := make(map[string]durable.Job, len(keys))
	for some := range slices.Chunk(keys, pageSize) {
		page, err := store.List(ctx, durable.Filter{Keys: some, Limit: pageSize})
		if err != nil {
			return found, fmt.Errorf("listing the runs: %w", err)
		}
		for _, run := range page {
			found[run.Key] = run
		}
	}
	return found, nil
}
