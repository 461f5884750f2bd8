package page

import (
	"strings"
	"testing"
	"time"
)

// The latest run is on the right, the longest is the highest, and what did not end well has a mark.
func TestHistoryDrawsRuns(t *testing.T) {
	out := string(History([]Bar{
		{Took: time.Second, Class: "good", Says: "run 3"},
		{Took: 3 * time.Second, Class: "bad", Says: "run <2>"},
		{Took: 0, Class: "other", Says: "run 1"},
	}))
	for _, want := range []string{
		"The last 3 runs; the longest took 3\u00a0s", `aria-label="1 ended well, 2 did not"`,
		`<title>run 3</title><rect x="582" y="46" width="16" height="26"/></g>`,
		`<title>run &lt;2&gt;</title><rect x="562" y="0" width="16" height="72"/><path`,
		`<title>run 1</title><rect x="542" y="69" width="16" height="3"/><path`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
}

// There is no figure without runs, and none with more than fit.
func TestHistoryHasSomeRuns(t *testing.T) {
	if out := History(nil); out != "" {
		t.Errorf("without runs: %s", out)
	}
	if out := string(History([]Bar{{Took: 3e9}})); !strings.Contains(out, "The last run took 3\u00a0s<") {
		t.Errorf("of one run: %s", out)
	}
	if n := strings.Count(string(History(make([]Bar, 100))), "<rect"); n != MostBars {
		t.Errorf("%d bars, want %d", n, MostBars)
	}
}
