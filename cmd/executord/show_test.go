package main

import (
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// The table of check has a line for each time, also if a schedule is written with the end of a line in it.
func TestCheckTableShowsScheduleOnOneLine(t *testing.T) {
	stdout, err := here("check", write(t, "jobs.toml", "[[job]]\nname = 'a'\nschedule = \"@reboot\\n\\u0085\"\ncommand = 'true'\n"))
	if err != nil || !strings.Contains(stdout, `@reboot\n\u0085`) || strings.Count(stdout, "\n") != 2 {
		t.Errorf("%v, %q", err, stdout)
	}
}

// The jobs and runs of a table fit a terminal of 80 columns: times are short, and the widest cells are cut.
func TestTablesFitTerminal(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	at := time.Date(2026, 11, 25, 10, 0, 0, 0, zone)
	r := view.Run{
		Namespace: "shop", Job: "備份/資料庫-backup", Run: 123456, Started: at.Add(-40 * time.Hour), Took: 12345, Outcome: "not started",
		Node: "web-1.example.internal", Error: strings.Repeat("exit status 3, ", 9),
	}
	j := view.Job{
		Namespace: "shop", Job: r.Job, Schedule: "CRON_TZ=America/Los_Angeles 30 2 * * mon-fri",
		State: catalog.Status{State: "running 3h25m45s", Then: catalog.StatePaused},
		Next:  &at, Last: &r, Node: r.Node,
	}
	short := func(t time.Time) string { return showShort(t, at.Add(time.Hour)) }
	jobs, runs := []view.Job{j, {Job: "a", Schedule: "@every 1s"}}, []view.Run{r, {}}
	for _, tab := range []*terminal.Table{jobTable(jobs, true, short), runTable(runs, true, short)} {
		before := tab.String()
		if tab.Width() <= 80 || tab.Fit(0).String() != before {
			t.Errorf("the table is narrow at once, or was cut for no terminal:\n%s", before)
		}
		if widest := tab.Fit(80).Width(); widest > 80 || !strings.Contains(tab.String(), "…") {
			t.Errorf("it takes %d columns:\n%s", widest, tab)
		}
		if tab.Fit(1); strings.Count(tab.String(), "\n") != 3 {
			t.Errorf("for a terminal of one column: %s", tab)
		}
	}
}

// Times for a narrow terminal have the day if it is not today, in their zone.
func TestShowShort(t *testing.T) {
	zone := time.FixedZone("", 9*3600)
	at := time.Date(2026, 1, 1, 1, 2, 3, 0, zone)
	for want, now := range map[string]time.Time{
		"01:02:03":         time.Date(2025, 12, 31, 20, 0, 0, 0, time.UTC),
		"2026-01-01 01:02": time.Date(2025, 12, 31, 10, 0, 0, 0, time.UTC),
	} {
		if got := showShort(at, now); got != want {
			t.Errorf("at %v: %q, want %q", now, got, want)
		}
	}
}
