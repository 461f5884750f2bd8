package history

import (
	"cmp"
	"slices"

	"github.com/executor-go/executor"
)

// order judges the order of the runs where there is one worker: that of arrival
// or, of tasks with a time, that of their times.
func (j *judge) order() {
	if !j.Orderly {
		return
	}
	var before int64 // when the run before ended
	seen := make(map[int]int)
	for i, id := range j.Tape {
		t := j.Tasks[id]
		n := seen[id]
		seen[id]++
		if n >= len(t.Runs) {
			j.blame(t, "ran more often than it says")
			continue
		}
		r := t.Runs[n]
		if r.Begin < before {
			j.blame(t, "ran while another did, on the only worker")
		}
		if !t.Form.Series() {
			j.overtaken(t, r, before, j.Tape[i+1:])
		}
		before = r.End
	}
	for _, t := range j.Tasks {
		if seen[t.ID] != len(t.Runs) {
			j.blame(t, "ran %d times, %d of them on the only worker", len(t.Runs), seen[t.ID])
		}
	}
}

// overtaken looks for tasks that should have run before t did, as they came
// before it or, if a time decides, were due before it and there in time.
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
		case tie == 0 && to < from && !j.Ranked:
			j.blame(t, "overtook task %d, which came before it", id)
		case tie < 0 && to < free:
			j.blame(t, "overtook task %d, which was due before it", id)
		}
	}
}

// end judges the end of the pool.
func (j *judge) end() {
	if j.awaitFailures > 0 || j.waited == 0 {
		j.say("the pool did not terminate: %+v", j.Final)
	}
	if s := j.Final; s.Stage != executor.StageTerminated || s.Workers != 0 || s.Queued != 0 || s.Blocked != 0 {
		j.say("the terminated pool is not empty: %+v", s)
	}
	if !j.Hooked {
		return
	}
	if len(j.Terminated) != 1 {
		j.say("Hooks.Terminated was called %d times", len(j.Terminated))
		return
	}
	at := j.Terminated[0]
	if j.waited != 0 && at > j.waited {
		j.say("AwaitTermination returned before Hooks.Terminated was called")
	}
	for _, t := range j.Tasks {
		if slices.ContainsFunc(t.Runs, func(r Run) bool { return r.Hooked && r.After > at }) {
			j.blame(t, "ran on after Hooks.Terminated")
		}
	}
}
