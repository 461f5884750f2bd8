package web

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

var pill = regexp.MustCompile(`<i class="pill (\w+)">([^<]+)</i>`)

// An outcome has the same word and the same sign on the page of a job, which is executord's, and in the list of all
// runs, which is module ui's. What became of due times that had a run or were skipped is in neither.
func TestOutcomeIsSameInBothLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, err := durable.New(durable.Config{Store: memory.New(), Lease: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		labels := []string{"", "ok, attempt 2", string(outcome.Failed), string(outcome.NotStarted), string(outcome.Timeout),
			string(outcome.Canceled), string(outcome.Replaced), string(outcome.Excluded), string(outcome.Missed),
			"run 7", "left out, skipped: x", "left out, missed: x", string(outcome.Stopped), string(outcome.Lost), string(outcome.Delayed)}
		kind := durable.Handle(jobs, "executord", func(ctx context.Context, i int) (int, error) {
			durable.SetLabel(ctx, labels[i])
			switch outcome.ParseLabel(labels[i]).Outcome {
			case "", outcome.OK:
				return 0, nil
			case outcome.Stopped, outcome.Lost, outcome.Delayed:
				return 0, durable.Snooze(1000 * time.Hour)
			}
			return 0, executor.Permanent(errors.New("no"))
		})
		var ids []durable.ID
		for i := range labels {
			id, err := kind.Add(t.Context(), i, durable.Key(catalog.Key("test", fmt.Sprint("job", i))))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- jobs.Run(ctx) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		f, run := newFake("backup")
		defer run.End(nil)
		var want []string // each word and its class on the page of the job
		for _, id := range ids {
			history, err := jobs.History(t.Context(), id, 0, 1)
			if err != nil || len(history) != 1 {
				t.Fatal(history, err)
			}
			if o := outcome.Of(history[0]); o != "" {
				want = append(want, fmt.Sprint(o, " ", class(o)))
			}
		}
		h := New(Config{Daemon: f, Namespace: "test", Durable: jobs}).Handler()
		shown := func(path string) (words []string) {
			text := ask(h, "GET", path, nil).Body.String()
			for _, m := range pill.FindAllStringSubmatch(text, -1) {
				words = append(words, m[2]+" "+m[1])
			}
			slices.Sort(words)
			return words
		}
		slices.Sort(want)
		if got := shown("/runs"); !slices.Equal(got, want) {
			t.Errorf("the list of runs has %q, want %q", got, want)
		}
		all := 0
		for path, fits := range map[string][]string{
			"/runs?state=succeeded": {"ok good"},
			"/runs?state=failed":    {"failed bad", "not started bad", "timeout bad", "lost bad"},
			"/runs?state=other":     {"canceled other", "replaced other", "excluded other", "missed other", "stopped other", "delayed other"},
		} {
			got := shown(path)
			all += len(got)
			for _, word := range got {
				if !slices.Contains(fits, word) {
					t.Errorf("%s has a run that is %s", path, word)
				}
			}
		}
		if all != len(want) {
			t.Errorf("the tabs have %d runs, want %d", all, len(want))
		}
	})
}

// A job needs somebody if its last run failed, was lost or was missed; other outcomes are what somebody wanted, or no end
// at all.
func TestOutcomeDecidesWhoIsNeeded(t *testing.T) {
	for o, want := range map[outcome.Outcome]bool{
		outcome.Failed: true, outcome.Timeout: true, outcome.NotStarted: true, outcome.Lost: true, outcome.Missed: true,
		outcome.OK: false, outcome.Canceled: false, outcome.Stopped: false, outcome.Delayed: false, outcome.Replaced: false,
		outcome.Excluded: false,
	} {
		f, run := newFake("backup")
		f.jobs[0].Last.Outcome = o
		page := ask(New(Config{Daemon: f}).Handler(), "GET", "/", nil).Body.String()
		run.End(nil)
		if got := strings.Contains(page, "1 of 1 job needs you"); got != want {
			t.Errorf("a job whose last run was %s needs somebody: %t", o, got)
		}
	}
}

// Each page has the same digits of how long a run took: the list of jobs, the page of the job, that of the run while its
// output is here and when the store has it, and the list of all runs. Of a run that never began none has any.
func TestTookIsSameOnAllPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, err := durable.New(durable.Config{Store: memory.New(), Lease: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		const took = 1463 * time.Microsecond
		kind := durable.Handle(jobs, "executord", func(ctx context.Context, _ int) (int, error) {
			time.Sleep(55 * time.Millisecond)
			durable.SetLabel(ctx, outcome.Label{Outcome: outcome.OK, Timed: true, Took: took}.String())
			return 0, nil
		})
		id, err := kind.Add(t.Context(), 1, durable.Key(catalog.Key("test", "backup")))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- jobs.Run(ctx) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		history, err := jobs.History(t.Context(), id, 0, 1)
		if cancel(); err != nil || <-ended != nil || len(history) != 1 {
			t.Fatal(history, err)
		}
		f, run := newFake("backup")
		run.End(func(v *view.Run) { v.Outcome, v.Took = outcome.OK, outcome.Took(history[0]).Seconds() })
		past := view.Ended(catalog.Entry{Name: "backup"}, durable.Job{}, history[0])
		past.Job, past.Run = "backup", 7
		f.past, f.jobs[0].Last = []view.Run{past}, &past
		f.jobs[0].Past = []view.Past{{Run: 7, Outcome: outcome.OK, Took: outcome.Took(history[0]), Finished: past.Finished}}
		h := New(Config{Daemon: f, Namespace: "test", Durable: jobs}).Handler()
		for _, path := range []string{"/", "/job?name=backup", "/run?job=backup&run=2", "/run?job=backup&run=7", "/runs"} {
			if text := ask(h, "GET", path, nil).Body.String(); !strings.Contains(text, "1.5\u00a0ms") || strings.Contains(text, "55\u00a0ms") {
				t.Errorf("%s does not say that it took 1.5 ms: %s", path, text)
			}
		}
		if got := view.Span(past.Took).String(); got != "1.5ms" {
			t.Errorf("a table says %s", got)
		}
		past.Took, past.Outcome = 0, outcome.Canceled
		f.past = []view.Run{past}
		if text := ask(h, "GET", "/run?job=backup&run=7", nil).Body.String(); strings.Contains(text, "after ") || strings.Contains(text, "0\u00a0ns") {
			t.Errorf("a run that never began took some time: %s", text)
		}
	})
}
