package executor

import (
	"time"

	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/rhythm"
)

// Trigger computes the times of a schedule, for [ScheduledPool.On] and [Series.Reschedule]. A cron.Schedule is a
// Trigger. If a Trigger has a String method, [ScheduleInfo] shows its text.
type Trigger interface {
	// Next returns the first time later than t, or the zero Time if there is none. It must
	// depend on t alone: it may be called for a time again, or for one that is skipped. It
	// is called with no lock held, by workers and by the callers of methods of a [Series]
	// and of its [ScheduleInfo]; it may be called by several of them at once.
	Next(t time.Time) time.Time
}

// FixedRate returns the Trigger of [ScheduledPool.AtFixedRate]: the first run is due one period from now, and each
// further run one period after the run before it was due. The period must be positive. It prints as "every 5m0s".
func FixedRate(period time.Duration) Trigger {
	return interval{rhythm.Rhythm{Kind: rhythm.FixedRate, Period: period}}
}

// FixedDelay returns the Trigger of [ScheduledPool.WithFixedDelay]: the first run is due one delay from now, and each
// further run one delay after the end of the run before it. The delay must be positive. It prints as "5m0s after each
// run".
func FixedDelay(delay time.Duration) Trigger {
	return interval{rhythm.Rhythm{Kind: rhythm.FixedDelay, Period: delay}}
}

// interval is a Trigger that a pool does not ask: it keeps these times on the monotonic clock.
type interval struct{ rhythm.Rhythm }

func (i interval) Next(t time.Time) time.Time { return t.Add(i.Period) }

// rhythmOf returns the rhythm of a Trigger.
func rhythmOf(t Trigger) rhythm.Rhythm {
	if i, ok := t.(interval); ok {
		return i.Rhythm
	}
	return rhythm.Rhythm{Kind: rhythm.Triggered, Trigger: t}
}

// firstOf returns the first slot of a rhythm that begins now. where names the call.
func firstOf(r *rhythm.Rhythm, where string, c delay.Clock) (rhythm.Slot, error) {
	at, err := r.First(c)
	if err != nil {
		err = invalid("%s: %v", where, err)
	}
	return at, err
}
