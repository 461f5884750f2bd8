package catalog

import (
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
)

// Times returns the times of a job's schedule, nil if it has none.
func Times(row durable.Job) job.Trigger {
	word, rest, _ := strings.Cut(row.Schedule, " ")
	switch word {
	case "rate":
		if d, err := time.ParseDuration(rest); err == nil && d > 0 {
			return job.Grid{Start: row.Anchor, Every: d}
		}
	case "cron":
		if s, ok := Parse(rest, nil); ok {
			return s
		}
	}
	return nil
}

// parsed has the schedules that were parsed last: a look at a thousand jobs needs all of theirs, and the next one again.
var parsed struct {
	sync.Mutex
	schedules map[parsedKey]cron.Schedule
}

type parsedKey struct {
	text string
	zone *time.Location
}

// mostParsed is how many schedules are remembered.
const mostParsed = 20_000

// Parse returns a schedule whose text a file or a store has, false if it is none.
func Parse(text string, zone *time.Location) (cron.Schedule, bool) {
	key := parsedKey{text, zone}
	parsed.Lock()
	s, ok := parsed.schedules[key]
	parsed.Unlock()
	if ok {
		return s, true
	}
	s, _, err := cron.ParseLenient(text, zone)
	if err != nil {
		return s, false
	}
	parsed.Lock()
	defer parsed.Unlock()
	if parsed.schedules == nil || len(parsed.schedules) >= mostParsed {
		parsed.schedules = make(map[parsedKey]cron.Schedule)
	}
	parsed.schedules[key] = s
	return s, true
}

// Scheduled reports whether a time is one of a job's schedule. The time of a run that somebody has asked for is none,
// nor is that at which the jobs have ended that the job runs after.
func Scheduled(row durable.Job, at time.Time) bool {
	times := Times(row)
	return times == nil || On(times, at)
}

// On reports whether a time is one of those given.
func On(times job.Trigger, at time.Time) bool {
	before := at.Add(-time.Microsecond) // a store rounds up
	return !times.Next(before).After(at)
}

// mostPassed bounds the count of Passed. A count that reaches it means: this many or more.
const mostPassed = 100_000

// Passed counts the times after one and before another, up to mostPassed of them, and returns the next one. Without
// times there are none.
func Passed(times job.Trigger, after, before time.Time) (n int, next time.Time) {
	if times == nil {
		return 0, time.Time{}
	}
	next = times.Next(after)
	for !next.IsZero() && next.Before(before) && n < mostPassed {
		n++
		next = times.Next(next)
	}
	if n == mostPassed {
		next = times.Next(before)
	}
	return n, next
}

// From returns n successive times, the first of which is given.
func From(times job.Trigger, first time.Time, n int) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for t := first; n > 0 && !t.IsZero() && yield(t); n-- {
			t = times.Next(t)
		}
	}
}
