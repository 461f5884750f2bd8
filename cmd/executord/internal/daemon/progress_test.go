package daemon

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// How far a run has come, by its own account, is known to those who look at the daemon and to those who look at its store.
// It is neither in the log nor in what is kept of the output; of a job without progress it is output.
func TestRunTellsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := parse(t, "# name: a\n# progress: true\n@every 1h x\n# name: other\n@every 1h x\n")
		h := beginWith(t, Config{File: file, Record: record.New(record.Limits{Output: 1000, Runs: 10, Bytes: 1000, Age: time.Hour})},
			func(_ context.Context, _ process.Command, o process.Observer) process.Result {
				o.Started(1, time.Now())
				o.Output(process.Stdout, []byte("::progress 42/100 photos"), false)
				o.Output(process.Stdout, []byte("::progress no"), false)
				o.Output(process.Stderr, []byte("::progress 1/2"), false)
				time.Sleep(time.Minute)
				return process.Result{}
			})
		time.Sleep(time.Hour + time.Second)
		synctest.Wait()
		want := view.Progress{Done: 42, Total: 100, Note: "photos"}
		jobs, err := h.Jobs(t.Context())
		if err != nil || len(jobs) != 2 || jobs[0].Running == nil || jobs[0].Running.Progress == nil || *jobs[0].Running.Progress != want ||
			jobs[1].Running == nil || jobs[1].Running.Progress != nil {
			t.Errorf("the jobs are %+v, %v", jobs, err)
		}
		e, _, err := h.Find(t.Context(), "a")
		row, runs := e.InProgress()
		if err != nil || !runs {
			t.Fatalf("the store has %+v, %v", e, err)
		}
		stored, err := h.Durable().Progress(t.Context(), row.ID)
		if p := stored[row.ID]; err != nil || p.Done != 42 || p.Total != 100 || p.Note != "photos" {
			t.Errorf("the store has %+v, %v", stored, err)
		}
		h.end()
		_, output, _ := h.Output("a", 1)
		kept, _ := output.After(0)
		if len(kept) != 2 || h.lines("::progress 42/100") != 1 || h.lines("::progress no") != 2 || h.lines("::progress 1/2") != 2 {
			t.Errorf("%d lines are kept, and the log is %s", len(kept), h.log.String())
		}
	})
}

// A line of progress has a count and a total; any other line is output.
func TestParseProgress(t *testing.T) {
	for line, want := range map[string]struct {
		done, total int64
		note        string
	}{
		"::progress 42/100 copying photos":           {42, 100, "copying photos"},
		"::progress 0/1":                             {0, 1, ""},
		"::progress 7/5 more than all":               {5, 5, "more than all"},
		"::progress 1/2  \x1b[31mred":                {1, 2, ` \x1b[31mred`},
		"::progress 1/2 " + strings.Repeat("é", 300): {1, 2, strings.Repeat("é", 200)},
	} {
		p, ok := parseProgress([]byte(line))
		if !ok || p.Done != want.done || p.Total != want.total || p.Note != want.note {
			t.Errorf("%q: %+v, %t", line, p, ok)
		}
	}
	for _, line := range []string{
		"", "::progress", "::progress ", "::progress 42", "::progress 42/", "::progress /100", "::progress -1/100", "::progress 1/0",
		"::progress a/b", "::progress 1/9223372036854775807", "::progress 99999999999999999999/1", " ::progress 1/2",
		"::PROGRESS 1/2", "::progress 1.5/2", "::progress 0x1/2",
	} {
		if p, ok := parseProgress([]byte(line)); ok {
			t.Errorf("%q: %+v", line, p)
		}
	}
}
