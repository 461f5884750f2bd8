package history

import "github.com/executor-go/executor"

// counters checks the snapshots: each adds up, no counter decreases, and the last matches the
// tasks.
func (j *judge) counters() {
	for _, list := range j.Samples {
		var prev executor.Stats
		for _, s := range list {
			j.snapshot(s)
			if !j.Resubmits {
				j.monotonic(prev, s)
			}
			prev = s
		}
	}
	j.snapshot(j.Final)
	j.totals()
}

func (j *judge) snapshot(s executor.Stats) {
	if s.Submitted != int64(s.Queued)+int64(s.Active)+s.Succeeded+s.Failed+s.Canceled+s.Rejected ||
		s.Workers != s.Active+s.Idle || s.Workers > s.Largest ||
		s.Active < 0 || s.Idle < 0 || s.Blocked < 0 || s.Queued < 0 {
		j.report("a snapshot does not add up: %+v", s)
	}
	if j.OneWorker && s.Workers > 1 {
		j.report("a pool of one worker has %d: %+v", s.Workers, s)
	}
}

func (j *judge) monotonic(a, b executor.Stats) {
	if b.Submitted < a.Submitted || b.Succeeded < a.Succeeded || b.Failed < a.Failed ||
		b.Canceled < a.Canceled || b.Rejected < a.Rejected || b.Runs < a.Runs || b.Panics < a.Panics ||
		b.Largest < a.Largest || b.Stage < a.Stage {
		j.report("a counter decreased: %+v\nthen %+v", a, b)
	}
}

// totals compares the last snapshot with the tasks. If the submitter may run tasks, these count
// as rejected, and only bounds are known.
func (j *judge) totals() {
	s := j.Final
	var runs, succeeded, failed, canceled, early int64
	var lost int64   // plain tasks without an event: canceled or discarded
	var inline int64 // runs in the submitter
	for i, t := range j.Tasks {
		f := &j.of[i]
		runs += int64(len(t.Runs))
		for _, r := range t.Runs {
			if j.Hooked && !r.Hooked {
				inline++
			}
		}
		n := len(t.Runs)
		switch {
		case f.rejected() && t.ContextEnds:
			early++ // counted or not, depending on when its context ended
		case f.rejected():
		case t.Form.Future() && t.State == executor.Succeeded,
			!t.Form.Future() && n > 0 && t.Runs[n-1].Ending == Returns:
			succeeded++
		case t.Form.Future() && t.State == executor.Failed && n > 0, !t.Form.Future() && n > 0:
			failed++
		case t.Form.Future() && t.State == executor.Canceled, len(f.returned) > 0, len(f.removed) > 0:
			canceled++
		default:
			lost++
		}
	}
	all := int64(len(j.Tasks))
	if !j.Resubmits && (s.Submitted > all || s.Submitted < all-early-j.canceledEarly()) {
		j.report("%d tasks were submitted; the pool counts %d", all, s.Submitted)
	}
	if j.CallerRuns {
		if n := runs - s.Runs; n < 0 || n > s.Rejected || j.Hooked && n != inline {
			j.report("%d bodies ran, %d of them in the submitters; the pool counts %d runs and %d rejections",
				runs, inline, s.Runs, s.Rejected)
		}
		return
	}
	if runs != s.Runs {
		j.report("%d bodies ran; the pool counts %d", runs, s.Runs)
	}
	if s.Succeeded != succeeded || s.Failed != failed {
		j.report("%d tasks succeeded and %d failed; the pool counts %d and %d",
			succeeded, failed, s.Succeeded, s.Failed)
	}
	if j.Discards {
		return // a task may be canceled and discarded at the same time
	}
	if s.Canceled > canceled+lost || s.Canceled < canceled-j.canceledEarly() {
		j.report("%d tasks were canceled, and %d have no outcome; the pool counts %d canceled",
			canceled, lost, s.Canceled)
	}
}

// canceledEarly returns the number of tasks that may have been canceled, by a call or a context,
// before the pool counted them.
func (j *judge) canceledEarly() (n int64) {
	for i, t := range j.Tasks {
		if t.Form.Future() && t.State == executor.Canceled && (t.ContextEnds || j.of[i].rejected()) {
			n++
		}
	}
	return n
}
