package rhythm

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/executor-go/executor/internal/delay"
)

// grid is a Trigger at each multiple of a period of Unix time, up to the last.
type grid struct{ period, last int64 }

func (g grid) Next(t time.Time) time.Time {
	next := (t.UnixNano()/g.period + 1) * g.period
	if next > g.last {
		return time.Time{}
	}
	return time.Unix(0, next)
}

// expected is After for a slot that was used, found time by time.
func expected(base, period, now, end int64, most int, window time.Duration) (next, leftOut int64) {
	var passed []int64
	for next = base + period; next <= min(now, end); next += period {
		passed = append(passed, next)
	}
	for i, at := range passed {
		if len(passed)-i <= most && (window == 0 || now-at <= int64(window)) {
			return at, int64(i)
		}
	}
	return next, int64(len(passed))
}

// A fixed rate, and a trigger with the same times, leave out what the policy says.
func TestRhythmAfterUsedSlot(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		period := 2 + r.Int64N(20)
		base := period * (1 + r.Int64N(10))
		now := base + r.Int64N(10*period)
		most := []int{0, 1, 2, 3, 5, math.MaxInt}[r.IntN(6)]
		d := Tardiness{CatchUp: Latest(most)}
		if most > 0 && r.IntN(2) == 0 {
			d.Window = time.Duration(1 + r.Int64N(3*period))
		}
		if most == 0 && (now-base)%period == 0 {
			now++ // a time that has just come is not missed at a fixed rate
		}
		end := int64(math.MaxInt64)
		if r.IntN(2) == 0 {
			end = base + r.Int64N(12*period)
		}
		want, wantOut := expected(base, period, now, end, most, d.Window)
		for _, rhythm := range []Rhythm{
			{Kind: FixedRate, Period: time.Duration(period), End: end},
			{Kind: Triggered, Trigger: grid{period, 1 << 40}, Location: time.UTC, End: end},
		} {
			at := Slot{Base: base, From: base - 1}
			got, out, err := rhythm.After(at, SlotUsed, d, delay.Instant{Mono: now, Wall: now})
			if err != nil || got.Over != (want > end) || !got.Over && got.Base != want || out != wantOut {
				t.Fatalf("%v, base %d, now %d, end %d, %+v: got %+v and %d left out, %v, want %d and %d",
					rhythm, base, now, end, d, got, out, err, want, wantOut)
			}
		}
	}
}

// Times that pass during a pause are not missed: none is made up for, and none is counted.
func TestRhythmAfterPause(t *testing.T) {
	d := Tardiness{CatchUp: Latest(math.MaxInt)}
	for _, r := range []Rhythm{
		{Kind: FixedRate, Period: 10},
		{Kind: Triggered, Trigger: grid{10, 1000}, Location: time.UTC},
	} {
		next, out, err := r.After(Slot{Base: 20, From: 15}, PauseEnded, d, delay.Instant{Mono: 55, Wall: 55})
		if err != nil || next.Base != 60 || out != 0 {
			t.Errorf("%v: got %d and %d left out, %v, want 60 and 0", r, next.Base, out, err)
		}
	}
}

// A trigger that has no further time is over; one that does not go on is an error.
func TestRhythmOfTriggerEnds(t *testing.T) {
	r := Rhythm{Kind: Triggered, Trigger: grid{10, 20}, Location: time.UTC}
	if next, err := r.Successor(Slot{Base: 20}); err != nil || !next.Over {
		t.Errorf("after the last time: %+v, %v", next, err)
	}
	r.Trigger = stuck{}
	if next, _, err := r.After(Slot{Base: 20}, SlotUsed, Tardiness{}, delay.Instant{Wall: 20}); err == nil {
		t.Errorf("of a trigger that does not go on: %+v", next)
	}
}

// stuck is a Trigger that returns the time that it is asked about.
type stuck struct{}

func (stuck) Next(t time.Time) time.Time { return t }

// The last slot of a fixed rate is before the end of time.
func TestRhythmSuccessorSaturates(t *testing.T) {
	r := Rhythm{Kind: FixedRate, Period: time.Hour}
	if next, _ := r.Successor(Slot{Base: delay.Never - 1}); !next.Over {
		t.Errorf("a slot after the end of time: %+v", next)
	}
}
