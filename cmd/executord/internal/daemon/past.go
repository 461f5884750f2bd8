package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
)

// past is what the store says of the runs of a job that have ended, whichever daemon had them. Each run is asked for once,
// when it has ended: what the daemon remembers is always that of the store. The slices are not changed.
type past struct {
	asked   int64          // the runs up to this number were asked for
	open    []int64        // those of them that had not ended
	runs    []view.Past    // the latest, in the order of their numbers
	last    durable.JobRun // the latest
	success time.Time      // when the latest ended that was ok; zero if none has
}

// mostAsked is how many runs the store is asked for in one look. The jobs whose runs are beyond have their turn in the
// next one.
const mostAsked = 20_000

// missing returns the keys of the runs of a job that are to be asked for.
func (p past) missing(e catalog.Entry) (keys []string) {
	open := numbersOf(e.Open)
	first := max(p.asked, e.Number-view.MostPast) + 1
	for _, n := range p.open {
		if n < first && !slices.Contains(open, n) {
			keys = append(keys, durable.RunKey(e.Key, n))
		}
	}
	for n := first; n <= e.Number; n++ {
		if !slices.Contains(open, n) {
			keys = append(keys, durable.RunKey(e.Key, n))
		}
	}
	return keys
}

// with returns the past of a job with the runs that were asked for; those that are not found never began, or are deleted.
func (p past) with(e catalog.Entry, keys []string, found map[string]durable.JobRun) past {
	p.asked, p.open = max(p.asked, e.Number), numbersOf(e.Open)
	runs := slices.Clone(p.runs)
	for _, key := range keys {
		r, there := found[key]
		if !there {
			continue
		}
		_, n := durable.RunNumber(key)
		one := view.Past{
			Run: n, Outcome: outcome.Of(r.Run), Finished: r.Finished, Took: outcome.Took(r.Run),
		}
		runs = append(runs, one)
		if _, latest := durable.RunNumber(p.last.Key); n > latest {
			p.last = r
		}
		if one.Outcome == outcome.OK && one.Finished.After(p.success) {
			p.success = one.Finished
		}
	}
	slices.SortFunc(runs, func(a, b view.Past) int { return int(a.Run - b.Run) })
	p.runs = runs[max(len(runs)-view.MostPast, 0):]
	return p
}

func numbersOf(runs []durable.Job) (numbers []int64) {
	for _, run := range runs {
		numbers = append(numbers, catalog.NumberOf(run))
	}
	return numbers
}

// askPasts returns the pasts of jobs, with what has ended since the old ones.
func (d *Daemon) askPasts(ctx context.Context, entries []catalog.Entry, old map[durable.ID]past) (map[durable.ID]past, error) {
	pasts := make(map[durable.ID]past, len(entries))
	wanted := make(map[durable.ID][]string)
	var keys []string
	for _, e := range entries {
		p := old[e.ID]
		pasts[e.ID] = p
		if missing := p.missing(e); len(keys)+len(missing) <= mostAsked {
			wanted[e.ID] = missing
			keys = append(keys, missing...)
		}
	}
	found, err := catalog.Ended(ctx, d.catalog.Jobs, keys)
	if err != nil {
		return old, err
	}
	for _, e := range entries {
		if missing, asked := wanted[e.ID]; asked {
			pasts[e.ID] = pasts[e.ID].with(e, missing, found)
		}
	}
	return pasts, nil
}
