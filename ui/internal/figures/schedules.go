package figures

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/page"
)

// Scheduled is periodic work of a pool, or a periodic job.
type Scheduled struct {
	path, name, where string
	rhythm            Rhythm
	act               string // where it can be changed, "" if it can't

	next         time.Time // zero if there is none
	paused       bool
	runningSince time.Time
	lastStart    time.Time
	lastTook     time.Duration
	lastFailed   bool
	lastOutcome  string // "" if it is not known, or ended well
	runs         int64
	failed, left int64 // negative if not known

	past  []pastRun   // the oldest first
	due   []time.Time // next and what follows it, as far as marks are seen apart
	dense bool        // there are more of these than can be seen

	period time.Duration // from one time to the next, 0 if not known
}

// Overdue is how long a job may wait past its time without being noticed.
const Overdue = 30 * time.Second

// ScheduleRow is a schedule in a table.
type ScheduleRow struct {
	Path, Name string
	Act        string // where it can be changed, "" if it can't
	Where      string // the pool, or the kind
	Rhythm     Rhythm
	Next, Last string
	Late       bool

	State, StateClass     string // before Next, "" if there is none
	Outcome, OutcomeClass string // of the last run, "" if it is not known or ended well
	Runs, Failed          string
	LeftOut               string
}

// pastRun is a run that has ended, or a time at which there was none.
type pastRun struct {
	start time.Time
	took  time.Duration
	class string // "ok", "failed", "other" or "miss"
}

// newScheduled returns periodic work of a pool, with its times until end.
func newScheduled(p *poolview.Pool, s executor.ScheduleInfo, past []pastRun, end time.Time) *Scheduled {
	w := &Scheduled{
		path: poolview.Path(p.Number), name: s.Name, where: poolview.Title(p.Name, p.Number), rhythm: NewRhythm(s.Rhythm),
		next: s.Next, paused: s.Paused, runningSince: s.RunningSince,
		lastStart: s.LastStart, lastTook: s.LastDuration, lastFailed: s.LastError != nil,
		runs: s.Runs, failed: s.Failures, left: s.LeftOut,
		past: past,
	}
	if w.name == "" {
		w.name = w.rhythm.Text
	}
	if w.lastFailed {
		w.lastOutcome = "failed"
	}
	for n := 1; ; n = min(4*n, timesLimit) { // few at first, since a Trigger may take long for times that are far away
		times := s.NextN(n)
		i, _ := slices.BinarySearchFunc(times, end, time.Time.Compare)
		if w.due = times[:i]; i < len(times) || len(times) < n || n == timesLimit {
			w.dense = i == timesLimit
			if i > 1 {
				w.period = times[1].Sub(times[0])
			}
			return w
		}
	}
}

// Schedules returns the periodic work of all pools, with its times within span. With act it can be changed.
func (l *Look) Schedules(span time.Duration, act bool) (all []*Scheduled) {
	for i := range l.Pools {
		pool := &l.Pools[i]
		for _, s := range pool.Schedules {
			w := newScheduled(pool, s, l.pastRuns[s.Series], l.At.Add(span))
			if act {
				w.act = "act?series=" + strconv.Itoa(l.series[s.Series])
			}
			all = append(all, w)
		}
	}
	return all
}

// Sort sorts schedules by their next times; those that have none come last.
func Sort(all []*Scheduled) {
	slices.SortStableFunc(all, func(a, b *Scheduled) int {
		if a.next.IsZero() || b.next.IsZero() {
			return cmp.Compare(b.next.Unix(), a.next.Unix()) // the zero Time is the last
		}
		return a.next.Compare(b.next)
	})
}

// Counted reports whether it is known how often it failed, and how often it was left out.
func (s *Scheduled) Counted() bool { return s.failed >= 0 }

// overlaps reports whether the run in progress takes longer than the schedule has time for.
func (s *Scheduled) overlaps(now time.Time) bool {
	return !s.runningSince.IsZero() && s.period > 0 && now.Sub(s.runningSince) > s.period
}

// overdue reports whether the next run should have begun for longer than is usual.
func (s *Scheduled) overdue(now time.Time) bool {
	return !s.paused && s.runningSince.IsZero() && !s.next.IsZero() && now.Sub(s.next) > Overdue
}

// Row returns it for a table.
func (s *Scheduled) Row(now time.Time) ScheduleRow {
	row := ScheduleRow{
		Path: s.path, Act: s.act, Name: poolview.Task(s.name), Where: s.where, Rhythm: s.rhythm,
		Next: "–", Last: "–", Runs: page.Count(s.runs), Failed: "–", LeftOut: "–",
	}
	if s.failed >= 0 {
		row.Failed = page.Count(s.failed)
	}
	if s.left >= 0 {
		row.LeftOut = page.Count(s.left)
	}
	switch {
	case s.paused:
		row.State, row.StateClass, row.Next = "paused", "held", ""
	case !s.runningSince.IsZero():
		row.State, row.StateClass = "running", "busy"
		row.Next = "for " + page.Age(now.Sub(s.runningSince))
		if row.Late = s.overlaps(now); row.Late {
			row.Next += ", past its next time"
		}
	case !s.next.IsZero():
		row.Next = page.Since(s.next, now)
		if late := now.Sub(s.next); late > time.Second {
			row.Next, row.Late = page.Short(late)+" overdue", s.overdue(now)
		}
	}
	if !s.lastStart.IsZero() {
		row.Last = page.Clock(s.lastStart, now)
		if s.lastTook > 0 { // else it never began
			row.Last += ", took " + page.Short(s.lastTook)
		}
		if row.Outcome, row.OutcomeClass = s.lastOutcome, "other"; s.lastFailed {
			row.OutcomeClass = "bad"
		}
	}
	return row
}

// Ended is a run of a job, with the word for its outcome and the verdict that is drawn like it.
type Ended struct {
	durable.Run
	Outcome string // "" if the run is not shown
	Like    durable.Verdict
	Took    time.Duration
}

// AddPast adds the runs of a job, the latest first, that have ended after from, and the times after the first of these
// at which there was none.
func (s *Scheduled) AddPast(j *durable.Job, runs []Ended, from, now time.Time, span time.Duration) {
	if from = maxTime(from, now.Add(-span)); len(runs) == 0 {
		return
	}
	if i := slices.IndexFunc(runs, func(r Ended) bool { return r.Outcome != "" }); i >= 0 {
		last := &runs[i]
		s.lastStart, s.lastTook = last.Started, last.Took
		s.lastOutcome, s.lastFailed = "", pastClass(last.Like) == "failed"
		if last.Like != durable.RunSucceeded {
			s.lastOutcome = last.Outcome
		}
	}
	had := make(map[int64]bool)
	for _, r := range slices.Backward(runs) {
		had[r.Occurrence.UnixMicro()] = true
		if class := pastClass(r.Like); class != "" && r.Outcome != "" && !r.Finished.Before(from) {
			s.past = append(s.past, pastRun{maxTime(r.Started, r.Occurrence), r.Took, class})
		}
	}
	next := nextOf(j)
	if next == nil {
		return
	}
	first, end := runs[len(runs)-1].Occurrence, j.Occurrence
	if end.After(now) { // it may be far away
		end = now
	}
	var missed []pastRun
	for t := next(maxTime(first, from)); !t.IsZero() && t.Before(end); t = next(t.Add(span / 200)) {
		if !had[t.UnixMicro()] {
			missed = append(missed, pastRun{t, 0, "miss"})
		}
	}
	s.past = append(s.past, missed...)
}

// pastClass returns how a run is drawn, "" if it is not: one that was put off runs again.
func pastClass(v durable.Verdict) string {
	switch v {
	case durable.RunSucceeded:
		return "ok"
	case durable.RunFailed, durable.RunLost:
		return "failed"
	case durable.RunCanceled:
		return "other"
	case durable.RunSkipped:
		return "miss"
	}
	return ""
}

// NewPeriodic returns a periodic job, which is named and found so, with its times within span; where says what it is
// of.
func NewPeriodic(name, path, where string, j *durable.Job, now time.Time, span time.Duration) *Scheduled {
	w := &Scheduled{
		path: path, name: name, where: where,
		rhythm: NewRhythm(j.Schedule), next: j.Due, paused: j.State == durable.Paused, runs: j.Runs,
		lastFailed: j.Error != "", failed: -1, left: -1,
	}
	if w.name == "" {
		w.name = j.Kind
	}
	if j.State == durable.Running {
		w.runningSince = j.Started
	}
	w.period = Period(j, now)
	if !w.paused {
		w.due = timesAfter(j, now, now.Add(span))
	}
	return w
}

// Period returns how far apart the next times of a periodic job are, 0 if that is not known.
func Period(j *durable.Job, now time.Time) time.Duration {
	next := nextOf(j)
	if next == nil {
		return 0
	}
	first := next(now)
	return max(next(first).Sub(first), 0)
}

// Periods returns how far apart the next times of the periodic work of all pools are, as far as it is known.
func (l *Look) Periods() (all []time.Duration) {
	for i := range l.Pools {
		for _, s := range l.Pools[i].Schedules {
			if times := s.NextN(2); len(times) == 2 {
				all = append(all, times[1].Sub(times[0]))
			}
		}
	}
	return all
}

// SpanOf returns the span of a timeline in which the runs of most schedules are seen, and seen apart: an hour where half of
// them run again within a quarter of an hour, a week where half do so after more than twelve hours, and else a day.
func SpanOf(periods []time.Duration) time.Duration {
	if len(periods) == 0 {
		return 24 * time.Hour
	}
	periods = slices.Sorted(slices.Values(periods))
	switch half := periods[(len(periods)-1)/2]; {
	case half < 15*time.Minute:
		return time.Hour
	case half > 12*time.Hour:
		return 7 * 24 * time.Hour
	}
	return 24 * time.Hour
}

// timesLimit is how many times of a schedule are computed.
const timesLimit = 500

// timesAfter returns the times of a periodic job from its next one, or now if that has passed, until end. Those that
// follow within a 200th of the time until end are left out.
func timesAfter(j *durable.Job, now, end time.Time) (times []time.Time) {
	step := end.Sub(now) / 200
	t := maxTime(j.Due, now)
	for next := nextOf(j); t.Before(end) && !t.IsZero() && len(times) < timesLimit; {
		times = append(times, t)
		if next == nil {
			break
		}
		t = next(t.Add(step))
	}
	return times
}

// Upcoming returns the next times of a periodic job, at most n: the first is when it is due, or when it will be if it
// runs now. Those of cron are in its zone. There are none while it is paused, and one if what follows is not known.
func Upcoming(j *durable.Job, now time.Time, n int) (times []time.Time) {
	if !j.Periodic() || j.State.Done() || j.State == durable.Paused {
		return nil
	}
	next, zone := nextOf(j), now.Location()
	if next != nil && strings.HasPrefix(j.Schedule, "cron ") {
		zone = next(now).Location()
	}
	t := j.Due
	if j.State == durable.Running {
		if next == nil {
			return nil
		}
		t = next(maxTime(j.Occurrence, now))
	}
	for len(times) < n && !t.IsZero() {
		if times = append(times, t.In(zone)); next == nil {
			break
		}
		t = next(maxTime(t, now))
	}
	return times
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// nextOf returns what computes the time of a job after another one, nil if only the next time is known.
func nextOf(j *durable.Job) func(time.Time) time.Time {
	word, rest, _ := strings.Cut(j.Schedule, " ")
	switch word {
	case "rate":
		d, err := time.ParseDuration(rest)
		if err != nil || d <= 0 || j.Anchor.IsZero() {
			return nil
		}
		return func(t time.Time) time.Time {
			if t.Before(j.Anchor) {
				return j.Anchor
			}
			return j.Anchor.Add((t.Sub(j.Anchor)/d + 1) * d)
		}
	case "cron":
		if s, _, err := cron.ParseLenient(rest, nil); err == nil {
			return s.Next
		}
	}
	return nil
}
