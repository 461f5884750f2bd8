package ui_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/ui"
)

// What ended in each hour of the last day, well or not, is known from the store, also to a UI that is new. What has been
// counted stays, when the store keeps it no longer. How long runs waited and took is known by kind, and by queue.
func TestJobsOfDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, err := durable.New(durable.Config{
			Store: memory.New(), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Keep: durable.Retention{Succeeded: 26 * time.Hour, Dead: 26 * time.Hour},
			Queues: []string{durable.DefaultQueue, "post"},
		})
		if err != nil {
			t.Fatal(err)
		}
		mails := durable.Handle(jobs, "mail", func(_ context.Context, n int) (string, error) {
			time.Sleep(2 * time.Second)
			if n == 0 {
				return "", executor.Permanent(errors.New("refused"))
			}
			return "", nil
		})
		reports := durable.Handle(jobs, "report", func(context.Context, string) (string, error) { return "", nil })
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- jobs.Run(ctx) }()
		defer func() { cancel(); <-ended }()
		if _, err := reports.AtFixedRate(ctx, "half hourly", 30*time.Minute, 30*time.Minute, "x"); err != nil {
			t.Fatal(err)
		}
		for range 25 { // three mails an hour, of which one fails
			for n := range 3 {
				if _, err := mails.Add(ctx, n, durable.Queue("post")); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Hour)
		}
		time.Sleep(10 * time.Minute)
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
		// The first of the 24 hours begins at 02:00, and the last at 01:00.
		want := func(path string, texts ...string) {
			t.Helper()
			text := strings.ReplaceAll(get(t, u, path), "\u202f", "")
			for _, want := range texts {
				if !strings.Contains(strings.ReplaceAll(text, "\u00a0", " "), want) {
					t.Errorf("%s: there is no %s in %s", path, want, text)
				}
			}
		}
		// 23 hours with three mails and two reports, and one with a report so far.
		want("/", "jobs: 116 runs in 24 h, 80.1 % ok; next: ", `<bdi>report</bdi></a> in 20 min`, `aria-label="05:00 to 06:00: 5 runs, 1 failed"`,
			`href="runs?from=2000-01-01T05%3A00%3A00Z&amp;until=2000-01-01T06%3A00%3A00Z"`, `aria-label="69 runs in 24 h, 66.6 % ok"`, `aria-label="47 runs in 24 h, 100 % ok"`)
		want("/jobs?kind=mail", `aria-label="05:00 to 06:00: 3 runs, 1 failed"`, "kind=mail", `data-series="1 c2 took"`, "Delay and duration")
		want("/jobs?queue=post", `data-series="1 c2 took"`, "Delay and duration")
		for _, none := range []string{"kind=mail&state=dead", "queue=post&state=dead", "queue=post&kind=mail", "queue=none"} {
			if text := get(t, u, "/jobs?"+none); strings.Contains(text, `class="hours"`) || strings.Contains(text, "Delay and duration") {
				t.Errorf("the list of %s has a chart of others", none)
			}
		}
		if took := regexp.MustCompile(`<bdi>mail</bdi>.*<td class="x">(.*?)</td></tr>`).FindStringSubmatch(get(t, u, "/")); took == nil || took[1] != "2\u00a0s" {
			t.Errorf("mails took %q", took)
		}
		// Twelve hours later nobody has looked, and the runs of before are kept no longer.
		if _, err := jobs.ChangeAll(ctx, durable.Change{Op: durable.OpDelete}, durable.Filter{Kind: "mail", States: []durable.State{durable.Succeeded, durable.Dead}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(12 * time.Hour)
		want("/jobs?kind=mail", `aria-label="23:00 to 00:00: 3 runs, 1 failed"`, `aria-label="12:00 to 13:00: 0 runs"`)
	})
}
