package page

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// heights returns how high the bars of a figure are, of 20, the oldest first.
func heights(out string) (all []string) {
	for _, m := range regexp.MustCompile(`class="b(\d+)`).FindAllStringSubmatch(out, -1) {
		all = append(all, m[1])
	}
	return all
}

// The latest run is on the right, the height of each is the root of its duration, and what did not end well is marked.
func TestHistoryDrawsRuns(t *testing.T) {
	bars := []Bar{
		{Took: time.Second, Class: "good", Says: "run 3", Path: "run?job=a&run=3"},
		{Took: 4 * time.Second, Class: "bad", Says: "run <2>"},
		{Took: 0, Class: "other", Says: "run 1"},
	}
	for _, out := range []string{string(History(bars)), string(Strip(bars))} {
		if got := fmt.Sprint(heights(out)); got != "[1 20 11]" {
			t.Errorf("heights are %s: %s", got, out)
		}
		for _, want := range []string{
			`<a href="run?job=a&amp;run=3"`, ` class="b11" title="run 3">`, `<i class="b20 bad" title="run &lt;2&gt;"`, `<i class="b1 other" title="run 1"`,
		} {
			if !strings.Contains(out, want) {
				t.Errorf("no %s in %s", want, out)
			}
		}
	}
	if out := string(History(bars)); !strings.Contains(out, "The last 3 runs; the longest took 4\u00a0s") ||
		!strings.Contains(out, `aria-label="1 ended well, 2 did not"`) {
		t.Error(out)
	}
}

// A figure of what never began says nothing of how long it took.
func TestHistoryOfNothingHasNoDuration(t *testing.T) {
	for n, want := range map[int]string{1: "<figcaption>The last run</figcaption>", 2: "<figcaption>The last 2 runs</figcaption>"} {
		if out := string(History(make([]Bar, n))); !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
}

// A figure says where days begin, as far as there is room for the dates.
func TestHistoryHasDays(t *testing.T) {
	at := func(days float64) time.Time {
		return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(days * 24 * float64(time.Hour)))
	}
	for _, test := range []struct {
		step float64
		want string
	}{
		{0.001, "[1 Nov]"}, {0.25, "[1 Nov 3 Nov]"}, {1, "[1 Nov 7 Nov]"},
	} {
		var bars []Bar
		for i := range 9 {
			bars = append(bars, Bar{Class: "good", At: at(float64(8-i) * test.step)})
		}
		var got []string
		for _, m := range regexp.MustCompile(`<small[^>]*>([^<]*)<`).FindAllStringSubmatch(string(History(bars)), -1) {
			got = append(got, m[1])
		}
		if fmt.Sprint(got) != test.want {
			t.Errorf("each %g days: %v, want %s", test.step, got, test.want)
		}
	}
}

// There is no figure without runs, and none with more than fit.
func TestHistoryHasSomeRuns(t *testing.T) {
	if out := History(nil) + Strip(nil); out != "" {
		t.Errorf("without runs: %s", out)
	}
	if out := string(History([]Bar{{Took: 3e9}})); !strings.Contains(out, "The last run took 3\u00a0s<") {
		t.Errorf("of one run: %s", out)
	}
	for _, out := range []string{string(History(make([]Bar, 100))), string(Strip(make([]Bar, 100)))} {
		if n := len(heights(out)); n != MostBars {
			t.Errorf("%d bars, want %d", n, MostBars)
		}
	}
}

// The highest column is the hour with the most runs; an hour with a run that did not end well is seen, however many did.
func TestHoursDrawsRuns(t *testing.T) {
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	hours := []Hour{
		{From: at, Until: at.Add(time.Hour), Good: 480, Path: "runs?a=<b>&c=1"}, {From: at.Add(time.Hour), Until: at.Add(2 * time.Hour)},
		{From: at.Add(2 * time.Hour), Until: at.Add(3 * time.Hour), Good: 10, Bad: 1},
	}
	out := string(Hours(hours))
	for _, want := range []string{
		"<figcaption>Runs an hour, at most 480; times in UTC<", `<a href="runs?a=&lt;b&gt;&amp;c=1" aria-label="12:00 to 13:00: 480 runs" tabindex="-1">`,
		`<rect x="2" y="0" width="16" height="48"/></a>`, `13:00 to 14:00: 0 runs" tabindex="-1"`,
		`aria-label="14:00 to 15:00: 11 runs, 1 failed"><title>`, `<rect x="42" y="44" width="16" height="2"/><path`, "<span>12:00</span></div>",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
}
