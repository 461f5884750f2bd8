package cron

import "time"

// EraEnd returns when the era of loc that contains now ends, in Unix time.
func EraEnd(loc *time.Location, now int64) int64 { return eraAt(loc, now).end }
