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
		for _, at := range Times(from, from.Add(c.span), c.step) {
			got = append(got, at.Format("Mon 15:04:05"))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("every %v: %v, want %s", c.step, got, c.want)
		}
	}
}
