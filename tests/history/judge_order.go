package history

import (
	"cmp"
	"slices"

	"github.com/executor-go/executor"
)

// order checks the order of the runs if there is one worker: the order of arrival or, in a
// scheduled pool, of due times.
func (j *judge) order() {
	if !j.OneWorker {
		return
	}
	var free int64 // end of the previous run
	seen := make(map[int]int)
	for i, id := range j.Order {
		t := j.Tasks[id]
		n := seen[id]
		seen[id]++
		if n >= len(t.Runs) {
			j.fault(t, "ran more often than in its own record")
			continue
		}
		r := t.Runs[n]
		if r.Begin < free {
			j.fault(t, "ran at the same time as another task, on the only worker")
		}
		if !t.Form.Series() {
			j.overtaken(t, r, free, j.Order[i+1:])
		}
		free = r.End
	}
	for _, t := range j.Tasks {
		if seen[t.ID] != len(t.Runs) {
			j.fault(t, "ran %d times, %d of them on the only worker", len(t.Runs), seen[t.ID])
		}
	}
}

// overtaken checks that none of the later tasks should have run before t: because they arrived
// earlier or, in a scheduled pool, were due earlier and submitted before the worker was free.
func (j *judge) overtaken(t *Task, r Run, free int64, later []int) {
	from := j.of[t.ID].submitted().From
	for _, id := range later {
		o := j.Tasks[id]
		if o.Form.Series() || len(o.Runs) == 0 || o.Form.Wall() != t.Form.Wall() {
			continue
		}
		to := j.of[id].submitted().To
		tie := 0
		if j.Scheduled {
			tie = cmp.Compare(o.Runs[0].Due, r.Due)
		}
		switch {
		case tie == 0 && to < from && !j.Prioritized:
			j.fault(t, "ran before task %d, which arrived earlier", id)
		case tie < 0 && to < free:
			j.fault(t, "ran before task %d, which was due earlier", id)
		}
	}
}

// end checks the termination of the pool.
func (j *judge) end() {
	if j.awaitFailures > 0 || j.terminatedAt == 0 {
		j.report("the pool did not terminate: %+v", j.Final)
	}
	if s := j.Final; s.Stage != executor.StageTerminated || s.Workers != 0 || s.Queued != 0 || s.Blocked != 0 {
		j.report("the terminated pool is not empty: %+v", s)
	}
	if !j.Hooked {
		return
	}
	if len(j.Terminated) != 1 {
		j.report("Hooks.Terminated was called %d times", len(j.Terminated))
		return
	}
	at := j.Terminated[0]
	if j.terminatedAt != 0 && at > j.terminatedAt {
		j.report("AwaitTermination returned before Hooks.Terminated was called")
	}
	for _, t := range j.Tasks {
		if slices.ContainsFunc(t.Runs, func(r Run) bool { return r.Hooked && r.After > at }) {
			j.fault(t, "ended after Hooks.Terminated")
		}
	}
}
