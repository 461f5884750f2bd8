package poolview

import (
	"fmt"
	"testing"
	"time"
)

// The times of an axis are round on the clock of the zone, also on the day on which clocks change.
func TestTimesAreRound(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	from := time.Date(2026, 10, 24, 17, 25, 29, 5, berlin) // clocks go back at 3 in the night
	for _, c := range []struct {
		span, step time.Duration
		want       string
	}{
		{30 * time.Hour, 6 * time.Hour, "[Sat 18:00:00 Sun 00:00:00 Sun 06:00:00 Sun 12:00:00 Sun 18:00:00]"},
		{10 * time.Minute, 2 * time.Minute, "[Sat 17:26:00 Sat 17:28:00 Sat 17:30:00 Sat 17:32:00 Sat 17:34:00]"},
		{time.Minute, 20 * time.Second, "[Sat 17:25:40 Sat 17:26:00 Sat 17:26:20]"},
	} {
		var got []string
		for _, at := range times(from, from.Add(c.span), c.step) {
			got = append(got, at.Format("Mon 15:04:05"))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("every %v: %v, want %s", c.step, got, c.want)
		}
	}
}

// A text that would not fit before the end of the axis is left out, and its tick is not.
func TestAxisTicksHaveTextsThatFit(t *testing.T) {
	from := time.Date(2026, 10, 24, 17, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		width int
		want  string
	}{
		{350, "[{215 18:00} {425 19:00}]"},
		{340, "[{212 18:00} {416 }]"},
	} {
		a := Axis{from, 100 * time.Minute, 110, c.width}
		if got := fmt.Sprint(a.Ticks(time.Hour, func(t time.Time) string { return t.Format("15:04") })); got != c.want {
			t.Errorf("%d wide: %s, want %s", c.width, got, c.want)
		}
	}
}
