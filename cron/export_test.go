package cron

import "time"

// EraEnd returns the end of the era of loc that contains now, in Unix time.
func EraEnd(loc *time.Location, now int64) int64 { return eraAt(loc, now).end }
