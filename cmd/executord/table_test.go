package main

import (
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// The columns of a table are straight on a terminal, where characters of East Asia
// take two places and marks none.
func TestTableIsStraightInEachScript(t *testing.T) {
	const tab = "# name: plain\n@reboot a\n# name: 備份/資料庫\n@reboot b\n# name: साप्ताहिक\n@reboot c\n# name: ที่หนึ่ง\n@reboot d\n"
	const want = `
JOB          LINE  SCHEDULE  ZONE  NEXT
plain        2     @reboot         once, when executord starts
備份/資料庫  4     @reboot         once, when executord starts
साप्ताहिक     6     @reboot         once, when executord starts
ที่หนึ่ง         8     @reboot         once, when executord starts
`
	out, _, _ := output(t, tab, "check", "-")
	if "\n"+out != want {
		t.Errorf("got\n%swant%s", out, want)
	}
}

// Rows need not have the same number of cells, an empty cell takes its place, and
// a tab in one, as a command may write it, is no end of it.
func TestTableCells(t *testing.T) {
	var tab table
	tab.add("a", "bb", "c")
	tab.add("", "b\tb")
	tab.add("aaa", "", "c", "d")
	const want = "a    bb   c\n     b b\naaa       c  d\n"
	if got := tab.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// What has no place of its own on a terminal takes none in a table.
func TestTableColumns(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "資料": 4, "ＡＢ": 4, "ｱｲ": 2, "한국": 4, "\U0001f680": 2, "a\u200db": 2, "–": 1,
	} {
		if got := columns(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
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
		Namespace: "shop", Job: r.Job, Schedule: "CRON_TZ=America/Los_Angeles 30 2 * * mon-fri", State: "running 3h25m45s, then paused",
		Next: &at, Last: &r, Node: r.Node,
	}
	short := func(t time.Time) string { return showShort(t, at.Add(time.Hour)) }
	jobs, runs := []view.Job{j, {Job: "a", Schedule: "@every 1s"}}, []view.Run{r, {}}
	for _, tab := range []*table{jobTable(jobs, true, short), runTable(runs, true, short)} {
		before := tab.String()
		if tab.width() <= 80 || tab.fit(0).String() != before {
			t.Errorf("the table is narrow at once, or was cut for no terminal:\n%s", before)
		}
		if widest := tab.fit(80).width(); widest > 80 || !strings.Contains(tab.String(), "…") {
			t.Errorf("it takes %d columns:\n%s", widest, tab)
		}
		if tab.fit(1); strings.Count(tab.String(), "\n") != 3 {
			t.Errorf("for a terminal of one column: %s", tab)
		}
	}
}

// A table that fits is not changed.
func TestTableFitKeepsNarrow(t *testing.T) {
	var tab table
	tab.add("JOB", "STATE")
	tab.add("a", strings.Repeat("x", 75))
	if before := tab.String(); tab.fit(80).String() != before {
		t.Errorf("got %s, want %s", &tab, before)
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
