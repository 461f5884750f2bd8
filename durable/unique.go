package durable

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// UniquePayload gives the job a key that is computed from its kind and its payload as JSON: of several jobs with the
// same payload, one exists, as with Key. ReuseKey, Replace and UniqueFor apply to it as to any key. A program that
// encodes the payload differently, with one more field for example, computes another key. The key contains half of the
// SHA-256 of the JSON, also with a Codec, so anyone who can read the store can check a guess of the payload. A job that
// has a Key, or is periodic, is an error.
func UniquePayload() Option {
	return func(j *addition) error {
		j.byPayload = true
		return nil
	}
}

// UniqueFor makes the key of the job, from Key or UniquePayload, unique within a period: a second job with the same key
// is added once the next period has begun. Periods are counted from the year 1, in UTC, on the store's clock: one of
// 24h begins at midnight. The period of a job is the one in which it is added, whenever it is due. Job.Key ends with
// the start of the period, such as "/2026-11-27T00:00:00.000Z".
//
// If a call is repeated because its answer was lost, it adds another job if the next period has begun meanwhile. The
// period must be at least a millisecond. A job without a key, or one that is periodic, is an error.
func UniqueFor(period time.Duration) Option {
	return func(j *addition) error {
		if period < time.Millisecond {
			return invalid("period %v: it must be at least 1ms", period)
		}
		j.period = period
		return nil
	}
}

// UniqueAmong makes the key of the job, from Key or UniquePayload, unique among the jobs in these states. An earlier
// job in another state loses the key to this one, and is kept without a key; if it is running, it goes on. If an
// earlier job is in one of the states, this job is not added, unless ReuseKey or Replace say otherwise. A schedule
// keeps its key for as long as it goes on, see Key.
//
// The states are Waiting, which must be among them, Running, Succeeded, Dead and Canceled. Waiting stands for all jobs
// that have not begun, also those that are claimed, paused or blocked; and Running for those that are confirmed, too.
// Without this option all states count, or, with ReuseKey, Waiting and Running. With Waiting alone, jobs with the same
// key may run at the same time. A job without a key, or one that is periodic, is an error.
func UniqueAmong(states ...State) Option {
	return func(j *addition) error {
		if !slices.Contains(states, Waiting) {
			return invalid("UniqueAmong(%v): Waiting must be among the states", states)
		}
		j.among = nil
		for _, s := range states {
			switch s {
			case Waiting:
				j.among = append(j.among, Waiting, Claimed, Paused, Blocked)
			case Running:
				j.among = append(j.among, Running, Confirmed)
			case Succeeded, Dead, Canceled:
				j.among = append(j.among, s)
			default:
				return invalid("UniqueAmong(%v): state %v: it must be Waiting, Running, Succeeded, Dead or Canceled", states, s)
			}
		}
		return nil
	}
}

// UniqueWithin bounds how long an earlier job keeps the key after its end. After d, at least a microsecond, the earlier
// job loses the key to this job. So with UniqueAmong(Waiting, Running, Succeeded), this job is not added if one with
// the key succeeded less than d ago, but is added if that one failed. Without UniqueAmong all states count. A job that
// Config.Keep has removed no longer counts. UniqueFor, in contrast, counts from when a job was added, in periods of the
// calendar. A job without a key, or one that is periodic, is an error.
func UniqueWithin(d time.Duration) Option {
	return func(j *addition) error {
		if d < time.Microsecond {
			return invalid("UniqueWithin %v: it must be at least 1µs", d)
		}
		j.Within = d.Truncate(time.Microsecond)
		return nil
	}
}

// allStates are those of UniqueWithin without UniqueAmong.
var allStates = []State{Waiting, Claimed, Confirmed, Running, Succeeded, Dead, Canceled, Paused, Blocked}

// unique completes the key of a job with that payload as JSON, except for its period, or returns what is wrong with
// that.
func (j *addition) unique(payload []byte) error {
	if j.Among = j.among; j.Within > 0 && j.among == nil {
		j.Among = allStates
	}
	switch {
	case !j.byPayload && j.period == 0 && j.Among == nil:
		return nil
	case j.Schedule != store.Once:
		return invalid("key %q: UniquePayload, UniqueFor, UniqueAmong and UniqueWithin do not apply to a periodic job, which has its own", j.Key)
	case j.byPayload && j.Key != "":
		return invalid("key %q: the job has two keys; leave out Key or UniquePayload", j.Key)
	case j.byPayload:
		sum := sha256.Sum256(payload)
		j.Key = j.Kind + "/" + hex.EncodeToString(sum[:16])
	case j.Key == "":
		return invalid("UniqueFor, UniqueAmong or UniqueWithin: the job has no key; give it one with Key or UniquePayload")
	}
	if n := len(j.Key) + 1 + len(periodBegin); j.period > 0 && n > MaxKey {
		return invalid("key %.20q...: with its period it has %d bytes; at most %d are allowed", j.Key, n, MaxKey)
	}
	return nil
}

// periodBegin is the layout of the begin of a period in a key.
const periodBegin = "2006-01-02T15:04:05.000Z"

// date adds their periods to the keys of jobs. The store is asked for its time, once, if one of them has a period and
// this program is no node.
func (j *Jobs) date(ctx context.Context, adds []addition) error {
	var now time.Time
	for i := range adds {
		if adds[i].period == 0 {
			continue
		}
		if now.IsZero() {
			var err error
			if now, err = j.now(ctx); err != nil {
				return err
			}
		}
		adds[i].Key += "/" + now.Truncate(adds[i].period).UTC().Format(periodBegin)
	}
	return nil
}
