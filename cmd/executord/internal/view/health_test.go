package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
)

// runs returns runs that ended each minute: . is ok, x failed, t a timeout, l lost, and c was canceled.
func runs(text string) (all []Past) {
	for i, c := range text {
		o := map[rune]outcome.Outcome{'.': outcome.OK, 'x': outcome.Failed, 't': outcome.Timeout, 'l': outcome.Lost, 'c': outcome.Canceled}[c]
		all = append(all, Past{Run: int64(i + 1), Outcome: o, Finished: time.Unix(int64(60*i), 0)})
	}
	return all
}

// A job fails if its last run did, and is flaky if some did and others between them did not.
func TestHealthOf(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "well",
		"..":                                 "well",
		"c":                                  "well",
		"x":                                  "failing 1 since 0 always",
		"...x":                               "failing 1 since 3",
		"..xtl":                              "failing 3 since 2",
		"..xcxc":                             "failing 2 since 2",
		"xxx":                                "failing 3 since 0 always",
		"x...":                               "well",
		"x..x":                               "flaky 2 of 4",
		".x.x..":                             "flaky 2 of 6",
		".x.xx.":                             "flaky 3 of 6",
		"x.xxx":                              "failing 3 since 2",
		"x.x.xx":                             "flaky 4 of 6",
		"x.x" + strings.Repeat(".", 4):       "flaky 2 of 7",
		"x.x" + strings.Repeat(".", 5):       "well",
		"x.x" + strings.Repeat(".", 4) + "c": "flaky 2 of 7",
		"x" + strings.Repeat(".", 19) + "x":  "failing 1 since 20", // the first is too long ago
		strings.Repeat(".", 9) + "x....x" + strings.Repeat("...x", 2): "flaky 4 of 20",
	} {
		h := HealthOf(runs(text))
		got := string(h.State)
		switch h.State {
		case Failing:
			got += fmt.Sprintf(" %d since %d", h.InARow, h.Since.Unix()/60)
			if h.Always {
				got += " always"
			}
		case Flaky:
			got += fmt.Sprintf(" %d of %d", h.Bad, h.Of)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A job of which each second, third or fourth run fails needs somebody all the time, and not after each of those alone.
func TestTroubleIsSteady(t *testing.T) {
	for every := 2; every <= 4; every++ {
		text := strings.Repeat(strings.Repeat(".", every-1)+"x", 20)
		for end := 3 * every; end < len(text); end++ {
			j := Job{State: catalog.Status{State: catalog.StateWaiting}, Past: runs(text[:end])}
			j.Health = HealthOf(j.Past[max(end-MostPast, 0):])
			if got := j.Trouble(); got != TroubleFlaky {
				t.Errorf("each run of %d fails, after %d: %q", every, end, got)
			}
		}
	}
}
