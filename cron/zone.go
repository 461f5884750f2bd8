package cron

import "time"

// The two kinds of schedules follow two clocks.
//
// A starred schedule follows the wall clock, which jumps forward and goes back.
//
// A schedule with fixed times follows a clock that is never set back: it shows the
// latest time that the wall clock has shown so far. Where the wall clock jumps
// forward, so does this clock, and the skipped times are due at the end of the jump.
// Where the wall clock goes back, this clock stands still until the wall clock has
// caught up, so nothing is due twice. This is ISC cron's virtual time. It covers gaps,
// repeats and any mixture of them with one definition.
//
// Neither kind calls time.Date for a wall time. If that time does not exist, or exists
// twice, Date picks a side, and a schedule that relies on it is due before the gap,
// twice, or never. All conversions here are from instants to wall times, era by era.

// maxShift is more than any offset from UTC, and more than the difference of any two
// offsets of one zone. The largest known change is 24 hours, across the date line.
const maxShift = 48 * 60 * 60

// An era is an interval of Unix time, from start up to but not including end, in which
// the offset of a zone is constant. Adjacent eras may have the same offset.
type era struct {
	start, end int64
	offset     int64 // wall time minus Unix time
}

// eraAt returns the era of loc that contains now.
func eraAt(loc *time.Location, now int64) era {
	t := time.Unix(now, 0).In(loc)
	_, offset := t.Zone()
	start, end := t.ZoneBounds()
	e := era{-2 * endOfTime, 2 * endOfTime, int64(offset)}
	if !start.IsZero() {
		e.start = start.Unix()
	}
	if !end.IsZero() {
		e.end = end.Unix()
	}
	// The loops below advance because an era contains now. ZoneBounds does not ensure
	// that: where changes follow a rule it takes a year for 365 days, so on the 366th
	// the era has ended already. But the offset holds until midnight in UTC.
	e.start = min(e.start, now)
	if e.end <= now {
		e.end = (floorDiv(now, daySeconds) + 1) * daySeconds
	}
	return e
}

// nextFixed returns the first Unix time after now at which the latest wall time so
// far reaches or passes a matching wall time, and whether there is one.
func (c *calendar) nextFixed(loc *time.Location, now int64) (int64, bool) {
	e := eraAt(loc, now)
	wall, ok := c.nextWall(latestWall(loc, e, now)+1, now+horizon)
	if !ok {
		return 0, false
	}
	return reach(loc, e, wall), true
}

// prevFixed returns the last Unix time up to now at which the latest wall time so far
// reached or passed a matching wall time, and whether there is one.
func (c *calendar) prevFixed(loc *time.Location, now int64) (int64, bool) {
	wall, ok := c.prevWall(latestWall(loc, eraAt(loc, now), now), now-horizon)
	if !ok {
		return 0, false
	}
	return reach(loc, eraAt(loc, wall-maxShift), wall), true
}

// reach returns the first Unix time from the start of e on at which the wall clock of
// loc shows wall or later.
func reach(loc *time.Location, e era, wall int64) int64 {
	for {
		// A wall time before the start of the era is in the gap before it.
		if due := max(wall-e.offset, e.start); due < e.end {
			return due
		}
		// No wall clock shows wall before wall-maxShift: skip the eras up to there.
		e = eraAt(loc, max(e.end, wall-maxShift))
	}
}

// latestWall returns the latest wall time that loc has shown up to now. The era e
// contains now.
func latestWall(loc *time.Location, e era, now int64) int64 {
	latest := now + e.offset
	for e.start > now-maxShift {
		e = eraAt(loc, e.start-1)
		latest = max(latest, e.end-1+e.offset)
	}
	return latest
}

// nextStarred returns the first Unix time after now whose wall time matches, and
// whether there is one.
func (c *calendar) nextStarred(loc *time.Location, now int64) (int64, bool) {
	from := now + 1
	for {
		e := eraAt(loc, from)
		wall, ok := c.nextWall(from+e.offset, now+horizon)
		if !ok {
			return 0, false
		}
		if due := wall - e.offset; due < e.end {
			return due, true
		}
		// A later era may go back to wall times before from, but only within
		// maxShift of it. After that nothing matches before wall.
		if e.end-from >= maxShift {
			from = max(e.end, wall-maxShift)
		} else {
			from = e.end
		}
	}
}

// prevStarred returns the last Unix time up to now whose wall time matches, and
// whether there is one.
func (c *calendar) prevStarred(loc *time.Location, now int64) (int64, bool) {
	from := now
	for {
		e := eraAt(loc, from)
		wall, ok := c.prevWall(from+e.offset, now-horizon)
		if !ok {
			return 0, false
		}
		if due := wall - e.offset; due >= e.start {
			return due, true
		}
		// An earlier era may show wall times later than those of from, but only within
		// maxShift of it. Before that nothing matches after wall.
		if from-e.start >= maxShift {
			from = min(e.start-1, wall+maxShift)
		} else {
			from = e.start - 1
		}
	}
}
