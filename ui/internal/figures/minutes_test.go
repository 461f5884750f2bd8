package figures

import (
	"math"
	"runtime"
	"slices"
	"testing"
	"time"
	"weak"

	"github.com/executor-go/executor"
)

// Minutes have the time of their end, are not known where nobody looked, and are those of a day, also after the clock was
// set.
func TestMinutesKnowTheirTime(t *testing.T) {
	const first = 1_000_000
	for name, c := range map[string]struct {
		numbers []int64
		want    []int64 // those that are known
		all     int
	}{
		"one after the other":   {[]int64{0, 1, 2}, []int64{0, 1, 2}, 3},
		"a gap":                 {[]int64{0, 3}, []int64{0, 3}, 4},
		"the same again":        {[]int64{0, 1, 1, 2}, []int64{0, 1, 2}, 3},
		"set back a little":     {[]int64{0, 1, 0, 1, 2}, []int64{0, 1, 2}, 3},
		"set back far":          {[]int64{0, 1, -200, -199}, []int64{-200, -199}, 2},
		"set ahead by a day":    {[]int64{0, 1, 2000, 2001}, []int64{2000, 2001}, 2},
		"just less than a day":  {[]int64{0, 1440}, []int64{1440}, 1},
		"a day without the end": {[]int64{0, 1439}, []int64{0, 1439}, 1440},
		"more than a day":       {[]int64{0, 800, 1600}, []int64{800, 1600}, 1440},
	} {
		var m minutes
		for _, n := range c.numbers {
			m.add(first+n, minute{seriesQueued: float32(n)})
		}
		points := m.points(time.Time{})
		var known []int64
		for _, p := range points {
			number := p.at.Unix()/60 - 1 - first
			if v := p.values[seriesQueued]; !math.IsNaN(v) {
				known = append(known, number)
				if int64(v) != number {
					t.Errorf("%s: minute %d has what happened in %v", name, number, v)
				}
			}
		}
		if !slices.Equal(known, c.want) || len(points) != c.all {
			t.Errorf("%s: of %d minutes %v are known; want %v of %d", name, len(points), known, c.want, c.all)
		}
	}
}

// The timer of a minute does not keep Pools that nobody has any more.
func TestPoolsEndWithoutClose(t *testing.T) {
	ref := weak.Make(NewPools(new(executor.Observer)).memory)
	runtime.GC()
	if ref.Value() != nil {
		t.Error("the memory is still there")
	}
}

// The points of looks take the place of the minutes in which they were.
func TestJoinedHasLooksAndMinutes(t *testing.T) {
	at := func(seconds ...int64) (points []point) {
		for _, s := range seconds {
			points = append(points, point{at: time.Unix(s, 0)})
		}
		return points
	}
	for _, c := range []struct{ minutes, looks, want []int64 }{
		{[]int64{60, 120, 180}, nil, []int64{60, 120, 180}},
		{nil, []int64{61, 62}, []int64{61, 62}},
		{[]int64{60, 120, 180}, []int64{130, 131, 190}, []int64{60, 120, 130, 131, 190}},
		{[]int64{60, 120}, []int64{10, 60, 61}, []int64{10, 60, 61}},
	} {
		var got []int64
		for _, p := range joined(at(c.minutes...), at(c.looks...)) {
			got = append(got, p.at.Unix())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("minutes %v and looks %v: %v, want %v", c.minutes, c.looks, got, c.want)
		}
	}
}

// The values of an axis are round, and reach to the top.
func TestRoundUp(t *testing.T) {
	for x, want := range map[float64]float64{0: 1, 0.03: 0.05, 1: 1, 1.1: 2, 4: 5, 7: 10, 999: 1000} {
		if got := roundUp(x); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: %v, want %v", x, got, want)
		}
	}
}
