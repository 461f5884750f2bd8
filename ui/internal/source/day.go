package source

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
)

// Day is what ended in each of the last 24 hours. It does not change.
type Day struct {
	Now   time.Time // of the store
	Hours []Hour    // the oldest first; the last is not over; earlier ones than the first are not known yet
}

// Whole reports whether all of the hours are known.
func (d *Day) Whole() bool { return len(d.Hours) == hoursOfDay }

// Hour is what ended in an hour.
type Hour struct {
	From   time.Time
	Kinds  map[string]Ended // by kind, and by "" of all
	Queues map[string]Ended // by queue; Wait and Took alone
	whole  bool             // it was read after its end
}

// Ended is what ended in an hour: jobs, and runs of periodic jobs.
type Ended struct {
	Good, Bad int
	// Wait and Took are the 95th percentiles of how long runs waited, and how long they took, of the latest runs of the
	// hour; negative if there was none.
	Wait, Took time.Duration
}

const (
	hoursOfDay = 24

	// sampleLimit is how many runs of an hour are looked at. It is documented.
	sampleLimit = 1000

	// settled is how old an end is, so that the store has all that are older.
	settled = 5 * time.Second

	// dayLife is for how long a day is good at least.
	dayLife = 10 * time.Second

	// dayTime is how long the store is asked at a time: earlier hours follow when it is asked again.
	dayTime = 300 * time.Millisecond
)

// Day returns what ended in each of the last 24 hours.
func (s *Source) Day(ctx context.Context) (Day, error) {
	day, _, err := queryFor(ctx, s, "day", dayLife, func(ctx context.Context) (Day, error) {
		next, err := s.readDay(ctx, s.day)
		if err == nil {
			s.day = next // one request at a time reads
		}
		return next, err
	})
	return day, err
}

// readDay returns the day with what is new since the old one.
func (s *Source) readDay(ctx context.Context, old Day) (next Day, err error) {
	if next.Now, err = s.Jobs.Now(ctx); err != nil {
		return old, err
	}
	known := make(map[time.Time]Hour)
	for _, h := range old.Hours {
		known[h.From] = h
	}
	began := time.Now()
	latest := next.Now.UTC().Truncate(time.Hour)
	for i := range hoursOfDay {
		from := latest.Add(-time.Duration(i) * time.Hour)
		h := known[from]
		if !h.whole {
			if i > 0 && time.Since(began) > dayTime {
				if h.From.IsZero() {
					break // earlier ones are not known, either
				}
			} else if h, err = s.readHour(ctx, from, h, next.Now); err != nil {
				return old, err
			}
		}
		next.Hours = append(next.Hours, h)
	}
	slices.Reverse(next.Hours)
	return next, nil
}

// readHour reads an hour. What was known of it is kept: jobs and runs that were counted may have been removed since.
func (s *Source) readHour(ctx context.Context, from time.Time, old Hour, now time.Time) (Hour, error) {
	in := durable.TimeRange{From: from, Until: from.Add(time.Hour)}
	h := Hour{From: from, Kinds: make(map[string]Ended), Queues: make(map[string]Ended), whole: now.Sub(in.Until) >= settled}
	counts, err := s.Jobs.Counts(ctx, durable.Filter{States: []durable.State{durable.Succeeded, durable.Dead}, Updated: in})
	if err != nil {
		return h, err
	}
	runs, err := s.Jobs.Latest(ctx, durable.LatestFilter{Finished: in, Limit: sampleLimit})
	if err != nil {
		return h, err
	}
	jobs, ran := make(map[string]Ended), make(map[string]Ended)
	for _, c := range counts {
		e := jobs[c.Kind]
		if c.State == durable.Succeeded {
			e.Good += c.Jobs
		} else {
			e.Bad += c.Jobs
		}
		jobs[c.Kind] = e
	}
	kinds, queues := make(latencies), make(latencies)
	for i := range runs {
		r := &runs[i]
		word, like := s.Outcome(&r.Run)
		if word == "" {
			continue
		}
		e := ran[r.Kind]
		switch like {
		case durable.RunSucceeded:
			e.Good++
		case durable.RunFailed, durable.RunLost:
			e.Bad++
		default:
			continue
		}
		ran[r.Kind] = e
		if r.Started.IsZero() {
			continue
		}
		kinds.add(s, &r.Run, r.Kind, "")
		queues.add(s, &r.Run, r.Queue)
	}
	// A periodic job ends no more than its last time, and of many runs not all are looked at: both are at least so many.
	all := kinds.of("")
	known := maps.Clone(jobs)
	maps.Copy(known, ran)
	maps.Copy(known, old.Kinds)
	for kind := range known {
		if kind == "" {
			continue
		}
		e := kinds.of(kind)
		e.Good = max(jobs[kind].Good, ran[kind].Good, old.Kinds[kind].Good)
		e.Bad = max(jobs[kind].Bad, ran[kind].Bad, old.Kinds[kind].Bad)
		h.Kinds[kind] = e
		all.Good, all.Bad = all.Good+e.Good, all.Bad+e.Bad
	}
	h.Kinds[""] = all
	for queue := range queues {
		h.Queues[queue] = queues.of(queue)
	}
	return h, nil
}

// latencies are how long runs waited, and how long they took, by what they have in common.
type latencies map[string]struct{ waits, took []time.Duration }

// add adds a run under these names.
func (l latencies) add(s *Source, r *durable.Run, names ...string) {
	for _, name := range names {
		of := l[name]
		of.took = append(of.took, s.Took(r))
		if r.Attempt <= 1 && !r.Occurrence.IsZero() {
			of.waits = append(of.waits, max(r.Started.Sub(r.Occurrence), 0))
		}
		l[name] = of
	}
}

// of returns the Wait and the Took of runs.
func (l latencies) of(name string) Ended {
	return Ended{Wait: high(l[name].waits), Took: high(l[name].took)}
}

// high returns the 95th percentile of some durations, a negative one if there are none.
func high(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return -1
	}
	slices.Sort(all)
	return all[(len(all)*95+99)/100-1]
}

// Of returns what ended of a kind, of all for "".
func (d Day) Of(kind string) []Ended {
	return d.each(func(h Hour) (e Ended, known bool) { e, known = h.Kinds[kind]; return e, known })
}

// OfQueue returns how long runs of the jobs in a queue waited and took.
func (d Day) OfQueue(queue string) []Ended {
	return d.each(func(h Hour) (e Ended, known bool) { e, known = h.Queues[queue]; return e, known })
}

// each returns what of has of each hour.
func (d Day) each(of func(Hour) (Ended, bool)) (all []Ended) {
	for _, h := range d.Hours {
		e, known := of(h)
		if !known {
			e.Wait, e.Took = -1, -1
		}
		all = append(all, e)
	}
	return all
}
