package history

import "github.com/executor-go/executor"

// counters judges the snapshots: each adds up, none goes back, and the last says
// what happened.
func (j *judge) counters() {
	for _, list := range j.Samples {
		var prev executor.Stats
		for _, s := range list {
			j.snapshot(s)
			if !j.Counts {
				j.onward(prev, s)
			}
			prev = s
		}
	}
	j.snapshot(j.Final)
	j.totals()
}

func (j *judge) snapshot(s executor.Stats) {
	if s.Submitted != int64(s.Queued)+int64(s.Active)+s.Succeeded+s.Failed+s.Canceled+s.Rejected ||
		s.Workers != s.Active+s.Idle || s.Active < 0 || s.Idle < 0 || s.Workers > s.Largest ||
		s.Blocked < 0 || s.Queued < 0 {
		j.say("a snapshot does not add up: %+v", s)
	}
	if j.Orderly && s.Workers > 1 {
		j.say("a pool of one worker has %d: %+v", s.Workers, s)
	}
}

func (j *judge) onward(a, b executor.Stats) {
	if b.Submitted < a.Submitted || b.Succeeded < a.Succeeded || b.Failed < a.Failed || b.Canceled < a.Canceled ||
		b.Rejected < a.Rejected || b.Runs < a.Runs || b.Panics < a.Panics ||
		b.Largest < a.Largest || b.Stage < a.Stage {
		j.say("a counter went back: %+v\nthen %+v", a, b)
	}
}

// totals holds the last snapshot against the tasks. Where the submitter may run
// tasks, those are rejections that succeed, and only bounds are certain.
func (j *judge) totals() {
	s := j.Final
	var runs, succeeded, failed, canceled, early int64
	var lost int64 // plain tasks without a trace: canceled or dropped
	var inline int64
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
		case f.refused() && t.Ends:
			early++ // whether it was counted depends on when its context ended
		case f.refused():
		case t.Form.Future() && t.State == executor.Succeeded, !t.Form.Future() && n > 0 && t.Runs[n-1].Way == Well:
			succeeded++
		case t.Form.Future() && t.State == executor.Failed && n > 0, !t.Form.Future() && n > 0:
			failed++
		case t.Form.Future() && t.State == executor.Canceled, len(f.back) > 0, len(f.removed) > 0:
			canceled++
		default:
			lost++
		}
	}
	all := int64(len(j.Tasks))
	if !j.Counts && (s.Submitted > all || s.Submitted < all-early-j.canceledEarly()) {
		j.say("%d tasks were submitted, of which the pool knows %d", all, s.Submitted)
	}
	if j.CallerRuns {
		if n := runs - s.Runs; n < 0 || n > s.Rejected || j.Hooked && n != inline {
			j.say("%d bodies ran, %d of them the submitters'; the pool knows %d, and rejected %d", runs, inline, s.Runs, s.Rejected)
		}
		return
	}
	if runs != s.Runs {
		j.say("%d bodies ran, of which the pool knows %d", runs, s.Runs)
	}
	if s.Succeeded != succeeded || s.Failed != failed {
		j.say("%d tasks succeeded and %d failed; the pool says %d and %d", succeeded, failed, s.Succeeded, s.Failed)
	}
	if j.Discards {
		return // a task may be canceled and dropped in the same moment
	}
	if s.Canceled > canceled+lost || s.Canceled < canceled-j.canceledEarly() {
		j.say("%d tasks were canceled, and of %d nothing is known; the pool says %d", canceled, lost, s.Canceled)
	}
}

// canceledEarly counts the tasks that were canceled, or whose context may have
// ended, before the pool could count them.
func (j *judge) canceledEarly() (n int64) {
	for i, t := range j.Tasks {
		if t.Form.Future() && t.State == executor.Canceled && (t.Ends || j.of[i].refused()) {
			n++
		}
	}
	return n
}
