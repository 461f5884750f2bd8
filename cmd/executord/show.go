package main

import (
	"fmt"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/forecast"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// showTime writes a time in the zone of its job, with fractions of a second
// only where a job can have them.
func showTime(t time.Time, j job.Job) string {
	layout := "Mon 2006-01-02 15:04:05 -07:00"
	if j.Schedule.Every() > 0 {
		layout = "Mon 2006-01-02 15:04:05.000 -07:00"
	}
	return t.In(j.Schedule.Location()).Format(layout)
}

// showBrief is showTime where there is no room for the offset, which the column of the zone stands for.
func showBrief(t time.Time, j job.Job) string {
	return t.In(j.Schedule.Location()).Format("Mon 2006-01-02 15:04:05")
}

// showShort writes a time in its zone for a narrow terminal: of today to the second, of another day to the minute.
func showShort(t, now time.Time) string {
	if now = now.In(t.Location()); t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04")
}

// showInstant writes a time to the second, in its zone.
func showInstant(t time.Time) string { return t.Format(client.Instant) }

// noteOf returns what a change of the clock does to a due time: it is moved there, or comes twice.
func noteOf(s job.Schedule, at time.Time) string {
	for _, c := range forecast.Changes(s, at.Add(-24*time.Hour), at.Add(24*time.Hour)) {
		span := c.After.Sub(c.Before).Abs()
		switch {
		case c.Effect == forecast.Moved && at.Equal(c.At):
			return fmt.Sprintf("clocks skip %s", c.First.Format("15:04"))
		case c.Effect == forecast.Once && at.Before(c.At) && !at.Before(c.At.Add(-span)):
			return "clocks show it twice"
		case c.Effect == forecast.Twice && at.Before(c.At) && !at.Before(c.At.Add(-span)):
			return "first of two"
		case c.Effect == forecast.Twice && !at.Before(c.At) && at.Before(c.At.Add(span)):
			return "second of two"
		}
	}
	return ""
}
