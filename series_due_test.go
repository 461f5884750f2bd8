package executor_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// every is a Trigger at the multiples of a period after a time.
func every(begin time.Time, period time.Duration) executor.Trigger {
	return testkit.TriggerFunc(func(t time.Time) time.Time {
		if t.Before(begin) {
			return begin
		}
		return begin.Add((t.Sub(begin)/period + 1) * period)
	})
}

// The times that are missed during the last run before Until have a run or are left out, as CatchUp
// says.
func TestSeriesUntilDuringRun(t *testing.T) {
	for _, c := range []struct {
		run, until    time.Duration
		opts          []executor.Option
		runs, leftOut int64
	}{
		{1700 * time.Millisecond, 9500 * time.Millisecond, []executor.Option{executor.CatchUp(0)}, 5, 5},
		{1700 * time.Millisecond, 8500 * time.Millisecond, []executor.Option{executor.CatchUp(0)}, 5, 4},
		{1700 * time.Millisecond, 9 * time.Second, []executor.Option{executor.CatchUp(math.MaxInt)}, 10, 0},
		{2 * time.Second, 5500 * time.Millisecond, []executor.Option{executor.CatchUp(1)}, 4, 2},
		{5 * time.Second, 3500 * time.Millisecond, []executor.Option{executor.CatchUp(1)}, 2, 2},
		{5 * time.Second, 3500 * time.Millisecond, []executor.Option{executor.CatchUp(2)}, 3, 1},
		{5 * time.Second, 3500 * time.Millisecond, []executor.Option{executor.StartWithin(time.Second)}, 1, 3},
		{5 * time.Second, 3500 * time.Millisecond, []executor.Option{executor.Overlap(2), executor.CatchUp(0)}, 2, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := scheduled(t, 4)
			begin := time.Now().Add(time.Hour)
			all := []executor.Option{executor.CatchUp(math.MaxInt)} // the default of a fixed rate
			opts := append(c.opts, executor.Until(begin.Add(c.until)))
			body := func(context.Context) error { time.Sleep(c.run); return nil }
			for _, s := range []*executor.Series{
				mustRepeat(t)(p.AtFixedRate(t.Context(), time.Hour, time.Second, body, opts...)),
				mustRepeat(t)(p.On(t.Context(), every(begin.Round(0), time.Second), body, append(all, opts...)...)),
			} {
				expect(t, "error", s.Wait(t.Context()), nil)
				if i := s.Info(); i.Runs != c.runs || i.LeftOut != c.leftOut {
					t.Errorf("%v, runs of %v, until %v: %d runs and %d left out, want %d and %d",
						i.Rhythm, c.run, c.until, i.Runs, i.LeftOut, c.runs, c.leftOut)
				}
			}
		})
	}
}

// Each time of a series that comes before its end has a run or is left out: due = run + left out.
// The end is Until, or the time of the last run that Times allows.
func TestSeriesDueIsRunPlusLeftOut(t *testing.T) {
	for seed := range uint64(testkit.Scale(2000)) {
		synctest.Test(t, func(t *testing.T) { dueIsRunPlusLeftOut(t, rand.New(rand.NewPCG(seed, 1))) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func dueIsRunPlusLeftOut(t *testing.T, r *rand.Rand) {
	p := scheduled(t, 1+r.IntN(3))
	period := time.Duration(1+r.IntN(20)) * 100 * time.Millisecond
	begin := time.Now().Add(time.Minute)
	until := begin.Add(time.Duration(r.Int64N(int64(20 * period))))
	text := fmt.Sprintf("every %v, until %v", period, until.Sub(begin))
	opts := []executor.Option{executor.Until(until)}
	add := func(name string, o executor.Option, v any) {
		opts, text = append(opts, o), fmt.Sprintf("%s, %s(%v)", text, name, v)
	}
	if r.IntN(4) > 0 {
		n := []int{0, 0, 1, 2, 5, math.MaxInt}[r.IntN(6)]
		add("CatchUp", executor.CatchUp(n), n)
	}
	times := int64(math.MaxInt64)
	if r.IntN(3) == 0 {
		times = 1 + r.Int64N(12)
		add("Times", executor.Times(int(times)), times)
	}
	if r.IntN(3) == 0 {
		n := 1 + r.IntN(3)
		add("Overlap", executor.Overlap(n), n)
	}
	if r.IntN(4) == 0 {
		d := time.Duration(1 + r.Int64N(int64(3*period)))
		add("StartWithin", executor.StartWithin(d), d)
	}
	if r.IntN(4) == 0 {
		d := time.Duration(1 + r.Int64N(int64(period)))
		add("Jitter", executor.Jitter(d), d)
	}
	var mu sync.Mutex
	var due []time.Duration // of the runs, without the jitter
	mean := float64(period) * []float64{0.1, 0.5, 1, 1.7, 5}[r.IntN(5)]
	body := func(ctx context.Context) error {
		mu.Lock()
		at := executor.Due(ctx)
		if at.After(until) {
			t.Errorf("%s: a run is due at %v", text, at.Sub(begin))
		}
		due = append(due, at.Sub(begin)/period)
		work := time.Duration(mean * (0.5 + r.Float64()))
		if r.IntN(3) == 0 {
			work = work / period * period // so that it ends when another is due
		}
		mu.Unlock()
		time.Sleep(work)
		return nil
	}
	var s *executor.Series
	if r.IntN(2) == 0 {
		s = mustRepeat(t)(p.AtFixedRate(t.Context(), time.Until(begin), period, body, opts...))
	} else {
		s, text = mustRepeat(t)(p.On(t.Context(), every(begin.Round(0), period), body, opts...)), "trigger "+text
	}
	if err := s.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	slices.Sort(due)
	if len(slices.Compact(slices.Clone(due))) != len(due) {
		t.Errorf("%s: a time has two runs: %v", text, due)
	}
	want := int64(until.Sub(begin)/period) + 1
	i := s.Info()
	if i.Runs == times {
		want = int64(due[len(due)-1]) + 1
	}
	if i.Runs != int64(len(due)) || i.Runs+i.LeftOut != want {
		t.Errorf("%s: of %d times due %d have run and %d are left out", text, want, i.Runs, i.LeftOut)
	}
}
