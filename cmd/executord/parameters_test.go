//go:build unix

package main

import (
	"strings"
	"testing"
)

// run-now gives parameters to one run: its command has them as variables. The history, the log and the
// audit log show them. What is not declared or not allowed is refused for all jobs that are named, and nothing is started.
func TestRunNowSetsParameters(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		p := startTOML(t, `
[[job]]
name = "report"
schedule = "30 2 * * *"
command = 'echo "day $DAY, region $REGION"'
parameters = { DAY = { default = "today", pattern = 'today|\d{4}-\d\d-\d\d' }, REGION = { default = "eu", values = ["eu", "us"] } }

[[job]]
name = "plain"
schedule = "30 2 * * *"
command = "true"
`, "--store", store)
		p.until("job scheduled", "job", "plain")
		wantAnswer(t, store, 1, `executord: job plain: there is no parameter "DAY": the job declares none`, "run-now", "report", "plain", "--set", "DAY=2026-11-27")
		if all := asked(t, store, "runs"); len(all) != 0 {
			t.Errorf("there are runs: %v", all)
		}
		wantAnswer(t, store, 0, "report: due now, with DAY=2026-11-27, REGION=us\n", "run-now", "report", "--set", "REGION=us", "--set", "DAY=2026-11-27")
		p.until("run started", "job", "report", "with", "DAY=2026-11-27, REGION=us")
		p.until("day 2026-11-27, region us")
		p.until("run ended", "job", "report", "outcome", "ok")
		p.end()

		text, err := here("runs", "--store", store)
		if err != nil || !strings.Contains(text, "  WITH  ") || !strings.Contains(text, "  DAY=2026-11-27, REGION=us  ") {
			t.Errorf("%v\n%s", err, text)
		}
		if acts := asked(t, store, "acts"); acts[len(acts)-1]["answer"] != "due now, with DAY=2026-11-27, REGION=us" {
			t.Errorf("%v", acts)
		}
	})
}
