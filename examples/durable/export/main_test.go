package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/durabletest"
	"github.com/executor-go/executor/examples/durable/internal/killtest"
	"github.com/executor-go/executor/examples/durable/internal/world"
)

func TestMain(m *testing.M) { killtest.Main(m, main) }

// An export is complete, however often the program is killed: the file has each row once, in order, and no part is
// written again after its end was kept.
func TestExportIsCompleteAfterKills(t *testing.T) {
	killtest.OnEachStore(t, func(t *testing.T, p *killtest.Program) {
		parts, kills := 40, 4
		if os.Getenv("EXECUTOR_LONG") == "" {
			parts, kills = 15, 2
		}
		dir := t.TempDir()
		p.Lines, p.Steps, p.Args = 6, true, []string{"-dir", dir, "-night", "2026-11-27", "-parts", fmt.Sprint(parts), "-takes", "10ms"}
		entries := p.KillUntilItEnds(kills)
		text, err := os.ReadFile(filepath.Join(dir, "export-2026-11-27.csv"))
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range judge(entries, string(text), parts) {
			t.Error(fault)
		}
	})
}

// judge returns what is wrong with an export of so many parts, by the ledger and the file.
func judge(entries []world.Entry, text string, parts int) (faults []string) {
	var next int // the part that is to be written next
	var published bool
	for _, e := range entries {
		var part int
		switch _, err := fmt.Sscanf(e.What, "part-%d", &part); {
		case e.What == "publish" && next != parts:
			faults = append(faults, fmt.Sprintf("published after %d parts", next))
		case e.What == "publish":
			published = true
		case err != nil || part != next+1 && part != next || e.Again != (part == next):
			faults = append(faults, fmt.Sprintf("%s after part %d, again: %t", e.What, next, e.Again))
		default:
			next = part
			if published {
				faults = append(faults, e.What+" was written after all was published")
			}
		}
	}
	if !published {
		faults = append(faults, "nothing was published")
	}
	row := 0
	for line := range strings.Lines(text) {
		if row++; line != fmt.Sprintf("%d,%d\n", row, row*row) {
			return append(faults, fmt.Sprintf("row %d is %q", row, line))
		}
	}
	if row != parts*rows {
		faults = append(faults, fmt.Sprintf("there are %d rows", row))
	}
	return faults
}

// The judge finds each fault that is planted.
func TestJudgeFindsFaults(t *testing.T) {
	var text strings.Builder
	for row := 1; row <= 2*rows; row++ {
		fmt.Fprintf(&text, "%d,%d\n", row, row*row)
	}
	const right = "part-1, part-1 again, part-2, publish, publish again"
	for _, c := range []struct{ ledger, text, fault string }{
		{right, text.String(), ""},
		{right, text.String()[:text.Len()-1], "row 1000"},
		{right, text.String() + text.String()[:4], "row 1001"},
		{right, strings.Replace(text.String(), "7,49\n", "", 1), "row 7 "},
		{right, text.String()[:strings.Index(text.String(), "900,")], "there are 899 rows"},
		{"part-1, part-2, part-1 again, publish", text.String(), "part-1 after part 2"},
		{"part-1, part-1, part-2, publish", text.String(), "part-1 after part 1"},
		{"part-1, publish, part-2", text.String(), "published after 1 parts"},
		{"part-1, part-2", text.String(), "nothing was published"},
	} {
		var entries []world.Entry
		for line := range strings.SplitSeq(c.ledger, ", ") {
			f := strings.Fields(line)
			entries = append(entries, world.Entry{What: f[0], Again: len(f) > 1})
		}
		killtest.Expect(t, c.ledger, judge(entries, c.text, 2), c.fault)
	}
}

// The export begins at two each night, tells how far it is, and names its file by the night.
func TestExportRunsEachNightAndTellsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		outside, err := world.OpenLedger(filepath.Join(dir, "ledger.txt"))
		if err != nil {
			t.Fatal(err)
		}
		defer outside.Close()
		// The nights are long.
		jobs := durabletest.New(t, func(c *durable.Config) { c.Lease, c.Poll = time.Hour, time.Minute })
		e := exporter{dir, 3, time.Minute, outside}
		if err := eachNight(t.Context(), durable.Handle(jobs, "export", e.export)); err != nil {
			t.Fatal(err)
		}
		durabletest.Start(t, jobs)
		two := time.Now().UTC().Truncate(24 * time.Hour).Add(26 * time.Hour)
		for night := range 2 {
			begin := two.AddDate(0, 0, night)
			time.Sleep(time.Until(begin.Add(90 * time.Second))) // it writes the second part
			job, err := jobs.Find(t.Context(), "export/nightly")
			if err != nil {
				t.Fatal(err)
			}
			progress, err := jobs.Progress(t.Context(), job.ID)
			if p := progress[job.ID]; err != nil || p.Done != rows || p.Total != 3*rows || p.Note != "part 2 of 3" {
				t.Errorf("night %d: the progress is %+v, %v", night, p, err)
			}
			time.Sleep(2 * time.Minute)
			if _, err := os.Stat(filepath.Join(dir, "export-"+begin.Format(time.DateOnly)+".csv")); err != nil {
				t.Error(err)
			}
		}
	})
}
