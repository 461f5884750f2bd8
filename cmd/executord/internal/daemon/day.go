package daemon

import (
	"context"
	"maps"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
)

// day counts the runs that ended in each of the last 24 hours, whichever daemon had them. Each end is counted once, soon
// after it: a job that runs each second has more ends in a day than runs that the store keeps. Those before the daemon
// began are counted back from then, as far as they are kept.
type day struct {
	from, to time.Time           // what is counted
	hours    map[int64]view.Hour // by their begin, in seconds; not changed
}

const (
	hoursOfDay = 24

	// settled is how old an end is when it is counted, so that the store has all that are older.
	settled = 5 * time.Second

	// countEvery is how often ends are counted, at most, and countFor how long the store is asked at a time for those
	// before the daemon began.
	countEvery, countFor = 2 * time.Second, 300 * time.Millisecond
)

// askDay returns the day with what has ended since the old one.
func (d *Daemon) askDay(ctx context.Context, old day) (day, error) {
	now, err := d.Store.Now(ctx)
	if err != nil {
		return old, err
	}
	to := now.Add(-settled)
	next := day{from: old.from, to: old.to, hours: maps.Clone(old.hours)}
	if next.hours == nil || !old.goesOnTo(to) {
		next = day{from: to, to: to, hours: make(map[int64]view.Hour)}
	}
	count := func(from, until time.Time) error {
		ok, failed, err := catalog.Ends(ctx, d.catalog.Jobs, d.Store.Namespace, durable.TimeRange{From: from, Until: until})
		hour := from.Truncate(time.Hour)
		h := next.hours[hour.Unix()]
		next.hours[hour.Unix()] = view.Hour{From: hour, OK: h.OK + ok, Failed: h.Failed + failed}
		return err
	}
	if to.Sub(next.to) >= countEvery {
		for next.to.Before(to) {
			until := next.to.Truncate(time.Hour).Add(time.Hour)
			if until.After(to) {
				until = to
			}
			if err := count(next.to, until); err != nil {
				return old, err
			}
			next.to = until
		}
	}
	first := next.to.Truncate(time.Hour).Add(-(hoursOfDay - 1) * time.Hour)
	for began := time.Now(); next.from.After(first) && time.Since(began) < countFor; {
		from := next.from.Add(-1).Truncate(time.Hour)
		if err := count(from, next.from); err != nil {
			return old, err
		}
		next.from = from
	}
	maps.DeleteFunc(next.hours, func(begin int64, _ view.Hour) bool { return begin < first.Unix() })
	return next, nil
}

// goesOnTo reports whether what ends up to a time can be added. If the clock was set ahead there would be any number of
// hours between, and if it was set back there is nothing to add for as long: then the day is counted anew.
func (d day) goesOnTo(to time.Time) bool {
	since := to.Sub(d.to)
	return -settled <= since && since <= hoursOfDay*time.Hour
}

// view returns the day as it is shown.
func (d day) view() (v view.Day) {
	if d.hours == nil {
		return v
	}
	for i := hoursOfDay - 1; i >= 0; i-- {
		from := d.to.Truncate(time.Hour).Add(-time.Duration(i) * time.Hour)
		h := d.hours[from.Unix()]
		h.From = from
		v.Hours = append(v.Hours, h)
	}
	if v.Since = v.Hours[0].From; v.Since.Before(d.from) {
		v.Since = d.from
	}
	return v
}

// Day returns how many runs ended in each of the last 24 hours.
func (d *Daemon) Day(ctx context.Context) (view.Day, error) {
	a, err := d.ask(ctx)
	return a.day.view(), err
}
