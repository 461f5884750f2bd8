package cron

import "time"

// The two kinds of schedules read two clocks.
//
// A wild one reads the wall clock, which jumps and goes back with its zone.
//
// One with fixed times reads a clock that is never set back: it shows the latest
// time that the wall clock has shown so far. Where the wall clock jumps, so does
// this one, and the times it jumps over are due on landing. Where the wall clock
// goes back, this one waits until it is caught up with, and nothing is due twice.
// That is ISC cron's virtual time, and it covers gaps, repeats and any mixture of
// them with one definition.
//
// Neither asks time.Date for a wall time: where that does not exist or exists twice,
// Date picks a side, and a port that trusts it fires before the gap, twice, or
// never. The way is always from instants to wall times, era by era.

// maxShift is more than any zone's offset from UTC and more than any two offsets of a
// zone differ. The largest change known is the 24 hours of a move across the date line.
const maxShift = 48 * 60 * 60

// An era is a stretch of Unix time, from start up to but not including end, through
// which a zone keeps its offset. Neighbors may have the same offset.
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
	// The loops below advance because an era contains the time asked for, which is
	// cheaper to ensure than to trust. For package time a year by rule has 365 days,
	// so that on the 366th it is over; but the offset holds until midnight, in UTC.
	e.start = min(e.start, now)
	if e.end <= now {
		e.end = (floorDiv(now, daySeconds) + 1) * daySeconds
	}
	return e
}

// nextFixed returns the first Unix time after now at which the latest wall time so far
// reaches or passes a matching one.
func (c *calendar) nextFixed(loc *time.Location, now int64) (int64, bool) {
	e := eraAt(loc, now)
	wall, ok := c.nextWall(latestWall(loc, e, now)+1, now+horizon)
	if !ok {
		return 0, false
	}
	for {
		// A wall time before the start of the era lies in the gap before it.
		if due := max(wall-e.offset, e.start); due < e.end {
			return due, true
		}
		// No wall clock shows wall before wall-maxShift: skip the eras up to there.
		e = eraAt(loc, max(e.end, wall-maxShift))
	}
}

// latestWall returns the latest wall time that loc has shown up to now, which
// lies in e.
func latestWall(loc *time.Location, e era, now int64) int64 {
	latest := now + e.offset
	for e.start > now-maxShift {
		e = eraAt(loc, e.start-1)
		latest = max(latest, e.end-1+e.offset)
	}
	return latest
}

// nextWild returns the first Unix time after now whose wall time matches.
func (c *calendar) nextWild(loc *time.Location, now int64) (int64, bool) {
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
		// Later eras may go back to wall times before this search, but not
		// once maxShift has passed since it began. From there on nothing
		// matches before wall.
		if e.end-from >= maxShift {
			from = max(e.end, wall-maxShift)
		} else {
			from = e.end
		}
	}
}
