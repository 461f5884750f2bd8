package history_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/durabletest"
	"github.com/executor-go/executor/durable/internal/history"
	"github.com/executor-go/executor/durable/memory"
)

// recorded runs jobs of all sorts, and returns the store and what was written down: six jobs of a partition, six of a
// kind with a rate, two with steps, and one after these two, which is in a queue, as is another without steps; one that
// fails for good, and one after it; and one that was asked for.
func recorded(t *testing.T) (*memory.Store, history.Record) {
	store, serves := memory.New(), []string{"q", durable.DefaultQueue}
	jobs := durabletest.New(t, func(c *durable.Config) { c.Store, c.Queues = store, serves })
	r := history.Record{PerPartition: map[string]int{"keyed": 2}, Tagged: true, Results: true,
		Rates: map[string]executor.Rate{"rated": {PerSecond: 1, Burst: 2}}}
	var mu sync.Mutex
	handler := func(ctx context.Context, steps int) (sum int, err error) {
		j, _ := durable.Current(ctx)
		mu.Lock()
		r.Starts = append(r.Starts, history.Start{Job: j.ID, Epoch: j.Epoch, Occurrence: j.Occurrence, At: time.Now(),
			Node: j.Owner, Queue: j.Queue, Serves: serves, Asked: j.Key})
		mu.Unlock()
		time.Sleep(100 * time.Millisecond)
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			r.Ends = append(r.Ends, history.End{Job: j.ID, Epoch: j.Epoch, Occurrence: j.Occurrence, Ended: time.Now(), Failed: err != nil})
		}()
		if steps < 0 {
			return 0, executor.Permanent(errors.New("it was to fail"))
		}
		if steps == 0 {
			results, err := durable.ParentResults[int](ctx)
			return 1 + slices.Max(append(results, 0)), err
		}
		for i := range steps {
			n, err := durable.Step(ctx, history.StepName(i), func(context.Context) (int, error) {
				mu.Lock()
				defer mu.Unlock()
				r.Steps = append(r.Steps, history.Step{Job: j.ID, Epoch: j.Epoch, Step: i, Value: 10 * (i + 1)})
				return 10 * (i + 1), nil
			})
			if err != nil {
				return 0, err
			}
			sum += n
		}
		return sum, nil
	}
	keyed := durable.Handle(jobs, "keyed", handler, durable.PartitionLimit(2))
	rated := durable.Handle(jobs, "rated", handler, durable.GlobalRate(r.Rates["rated"]))
	steps := durable.Handle(jobs, "steps", handler)
	again := durable.Handle(jobs, history.Again, handler)
	of := func(kind string) durable.Option { return durable.WithTags(history.Tag(kind)) }
	r.Wishes = []history.Wish{{Key: "asked", At: time.Now()}}
	all := []durable.Prepared{again.Prepare(0, 0, durable.Key("asked"), of(history.Again))}
	for range 6 {
		all = append(all, keyed.Prepare(0, 0, durable.Partition("a"), of("keyed")), rated.Prepare(0, 0, of("rated")))
	}
	parents := []durable.Prepared{steps.Prepare(0, 3, of("steps")), steps.Prepare(0, 3, of("steps"))}
	ids := []durable.ID{parents[0].ID(), parents[1].ID()}
	child := steps.Prepare(0, 3, durable.After(ids...), durable.Queue("q"), of("steps"))
	sum := steps.Prepare(0, 0, durable.After(ids...), of("steps"))
	dead := steps.Prepare(0, -1, of("steps"))
	spared := steps.Prepare(0, 0, durable.After(dead.ID()), of("steps"))
	all = append(append(all, parents...), child, sum, dead, spared)
	r.Edges = []history.Edge{{Child: child.ID(), Parents: ids}, {Child: sum.ID(), Parents: ids}, {Child: spared.ID(), Parents: []durable.ID{dead.ID()}}}
	r.Dies = []durable.ID{dead.ID()}
	for _, p := range all {
		r.Accepted = append(r.Accepted, p.ID())
	}
	if _, err := jobs.Add(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	stop := durabletest.Start(t, jobs)
	time.Sleep(time.Minute)
	synctest.Wait()
	node, now := r.Starts[0].Node, time.Now()
	r.Drains = []history.Drain{{Node: node, From: now, To: now.Add(time.Minute)}}
	stop()
	return store, r
}

// The judge finds nothing in a history that is right, and each fault that is planted in what was written down.
func TestRecordCheckFindsPlantedFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, right := recorded(t)
		of := func(kind string) (all []durable.ID) {
			page, err := store.List(t.Context(), durable.Filter{Kind: kind})
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range page {
				all = append(all, j.ID)
			}
			return all
		}
		keyed, rated := of("keyed"), of("rated")
		child, parents := right.Edges[0].Child, right.Edges[0].Parents
		for name, c := range map[string]struct {
			plant func(r *history.Record)
			fault string
		}{
			"nothing": {func(*history.Record) {}, ""},
			"a child begins before its parents": {func(r *history.Record) {
				for i, s := range r.Starts {
					if s.Job == child {
						r.Starts[i].At = s.At.Add(-time.Hour)
					}
				}
			}, fmt.Sprintf("job %s was begun at", child)},
			"a child of a job that never was a success": {func(r *history.Record) {
				r.Edges[0].Parents = append(slices.Clone(parents), durable.NewID())
			}, "of 3 that it needs"},
			"a step is done again by a later run": {func(r *history.Record) {
				r.Steps = append(r.Steps, history.Step{Job: parents[0], Epoch: 9, Step: 1, Value: 20})
			}, fmt.Sprintf("job %s: step 1 was done again by epoch 9", parents[0])},
			"a step is done twice by a run": {func(r *history.Record) { r.Steps = append(r.Steps, r.Steps[0]) },
				"step 0 was done twice by epoch"},
			"another value is kept than the step returned": {func(r *history.Record) { r.Steps[0].Value++ }, "has kept 10, of [11]"},
			"a step was done that is not kept": {func(r *history.Record) {
				r.Steps = append(r.Steps, history.Step{Job: parents[0], Epoch: 1, Step: 3, Value: 40})
			}, "steps that were not kept: map[step 3:[40]]"},
			"three of a partition run at the same time": {func(r *history.Record) {
				for i, e := range r.Ends {
					if slices.Contains(keyed, e.Job) {
						r.Ends[i].Ended = e.Ended.Add(time.Millisecond)
					}
				}
			}, `of partition "a" of kind "keyed" ran at`},
			"a node begins a job of a queue that it does not serve": {func(r *history.Record) {
				for i, s := range r.Starts {
					if s.Job == child {
						r.Starts[i].Serves = []string{durable.DefaultQueue}
					}
				}
			}, fmt.Sprintf(`job %s of queue "q" was begun by node`, child)},
			"a node that serves a queue begins a job of none": {func(r *history.Record) { r.Starts[0].Serves = []string{"q"} }, `of queue "" was begun by node`},
			"a node that has drained begins a job": {func(r *history.Record) {
				r.Drains[0].From = r.Starts[0].At.Add(-time.Millisecond)
			}, "after that had drained"},
			"a rate is exceeded": {func(r *history.Record) {
				for i, s := range r.Starts {
					if s.Job == rated[len(rated)-1] {
						r.Starts[i].At = s.Occurrence
					}
				}
			}, `3 of kind "rated" have begun within`},
			"a job is accepted and not there":      {func(r *history.Record) { r.Accepted = []durable.ID{durable.NewID()} }, "was accepted, and is not there"},
			"a job is taken back and there":        {func(r *history.Record) { r.TakenBack = parents[:1] }, "was taken back, and is there"},
			"a call leads to no run":               {func(r *history.Record) { r.Wishes[0].At = time.Now() }, "has led to no run after it"},
			"a job fails for good that was not to": {func(r *history.Record) { r.Dies = nil }, "is dead, committed 0 times"},
			"a job is a success that was to fail": {func(r *history.Record) { r.Dies = append(slices.Clone(r.Dies), parents[0]) },
				"is succeeded, committed 1 times, and was to fail for good"},
			"a child runs though its parent has failed": {func(r *history.Record) {
				r.Edges = append(r.Edges, history.Edge{Child: child, Parents: r.Dies})
			}, "and too many of its parents have failed"},
			"a child is canceled though its parents have not failed": {func(r *history.Record) {
				r.Edges[2].Parents = parents
			}, "is canceled, committed 0 times"},
			"a child does not wait for one parent that it needs of two": {func(r *history.Record) {
				for i, s := range r.Starts {
					if s.Job == child {
						r.Starts[i].At = s.At.Add(-time.Hour)
					}
				}
				r.Edges[0].Need, r.Edges[0].Anyway = 1, true
			}, "0 of its parents had ended, of 1 that it needs"},
			"a result is not of the parents": {func(r *history.Record) {
				r.Edges[1].Parents = append(slices.Clone(parents), keyed[0])[2:]
			}, "has the result 61, want 2"},
			"a run fails that is noted as a success": {func(r *history.Record) {
				for i := range r.Ends {
					r.Ends[i].Failed = true
				}
			}, "has succeeded in the history, and its handler has failed: true"},
			"a job is begun twice by one right": {func(r *history.Record) { r.Starts = append(r.Starts, r.Starts[0]) }, "was begun 2 times"},
			"a job is committed and was not begun": {func(r *history.Record) {
				r.Starts = slices.DeleteFunc(r.Starts, func(s history.Start) bool { return s.Job == parents[0] })
			}, "by which it was not begun"},
		} {
			r := right
			r.Starts, r.Ends, r.Steps, r.Edges = slices.Clone(r.Starts), slices.Clone(r.Ends), slices.Clone(r.Steps), slices.Clone(r.Edges)
			r.Drains, r.Wishes = slices.Clone(r.Drains), slices.Clone(r.Wishes)
			c.plant(&r)
			v, err := r.Check(context.Background(), store)
			if err != nil {
				t.Fatal(err)
			}
			faults := strings.Join(v.Faults, "\n")
			if !strings.Contains(faults, c.fault) || (faults == "") != (c.fault == "") {
				t.Errorf("%s: the judge found %q, want %q", name, faults, c.fault)
			}
			if v.Children < 2 || v.Kept != 9 || v.Rated < 5 || v.Most < 2 || v.Queued < 1 || v.Drained != 1 {
				t.Errorf("%s: %d children, %d results kept, %d begins with a rate, at most %d at a time, %d in a queue, %d drains; want at least 2, 9, 6, 2, 1, 1",
					name, v.Children, v.Kept, v.Rated, v.Most, v.Queued, v.Drained)
			}
		}
	})
}
