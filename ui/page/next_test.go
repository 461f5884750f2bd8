package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/ui/page"
)

// The next five times are shown in their zone, the first with a countdown, and no list of one.
func TestNextShowsTimes(t *testing.T) {
	zone := time.FixedZone("Mars/<Base>", 3600)
	now := time.Date(2026, 11, 27, 20, 0, 0, 0, zone)
	var times []time.Time
	for i := range 7 {
		times = append(times, now.Add(time.Duration(i+1)*24*time.Hour))
	}
	text := string(page.Next(times, now))
	for _, want := range []string{
		"<h2>Next times, Mars/&lt;Base&gt;</h2>",
		`<li><time datetime="2026-11-28T20:00:00+01:00">Sat 2026-11-28 20:00</time> <b>in` + "\u00a0" + `1` + "\u00a0" + `d</b></li>`,
		`<li><time datetime="2026-12-02T20:00:00+01:00">Wed 2026-12-02 20:00</time></li></ol>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in %s", want, text)
		}
	}
	if n := strings.Count(text, "<li>"); n != page.MostNext {
		t.Errorf("there are %d times: %s", n, text)
	}
	for n := range 2 {
		if text := page.Next(times[:n], now); text != "" {
			t.Errorf("of %d times there is %s", n, text)
		}
	}
}

// Times that are less than a minute apart have seconds.
func TestNextHasSeconds(t *testing.T) {
	now := time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)
	for step, want := range map[time.Duration]string{30 * time.Second: "20:00:30<", 90 * time.Second: "20:01:30<", time.Hour: "21:00<"} {
		if text := string(page.Next([]time.Time{now.Add(step), now.Add(2 * step)}, now)); !strings.Contains(text, want) {
			t.Errorf("%v: there is no %q in %s", step, want, text)
		}
	}
}
