package transition

import (
	"time"

	"github.com/executor-go/executor/durable/store"
)

// The bucket of a rate is kept as the time at which it is full again, or was: the zero time for one that never lacked a
// token.

// Bucket returns when the bucket of a rate is full, at the beginning of a claim that looks ahead for ahead. If full
// can't be right, because the clock was put back or the rate was another one, the bucket has one token.
func Bucket(r store.Rate, full, now time.Time, ahead time.Duration) time.Time {
	if full.After(now.Add(r.Every*time.Duration(r.Burst) + max(ahead, time.Minute))) { // others may look further ahead
		return now.Add(r.Every * time.Duration(r.Burst-1))
	}
	return full
}

// Take takes a token for a job that begins at the time at, and returns when the bucket is full after that. It reports
// false if there is no token by then. The times of several jobs may be in any order.
func Take(r store.Rate, full, at time.Time) (time.Time, bool) {
	if at.Before(Token(r, full)) {
		return full, false
	}
	if at.After(full) {
		full = at
	}
	return full.Add(r.Every), true
}

// Token returns when the bucket has its next token, or since when it has one.
func Token(r store.Rate, full time.Time) time.Time {
	return full.Add(-r.Every * time.Duration(r.Burst-1))
}
