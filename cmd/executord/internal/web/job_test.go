package web

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/durable/memory"
)

// On top of the page of a job that fails is the reason, since when, the last good run, the last lines of the output, and
// what can be done.
func TestJobTellsStoryOfFailure(t *testing.T) {
	f, run := newFake("backup")
	f.jobs[0] = newJob("backup", "...xx")
	f.jobs[0].Last.Error, f.jobs[0].Last.Stderr = "exit status 3", []string{"no <space>"}
	f.jobs[0].Last.Run = 2 // as the record has it
	for i := range 15 {
		run.Output().Add(time.Now(), i%2 == 1, false, []byte("line <"+strings.Repeat("i", i)+">"))
	}
	run.End(nil)
	s := New(Config{Daemon: f, Access: ByToken, Tokens: tokens, Log: slog.New(slog.DiscardHandler),
		Act: func(context.Context, client.Order) (admin.Answer, error) {
			return admin.Answer{Outcome: durable.Applied}, nil
		}})
	text := ask(s.Handler(), "GET", "/job?name=backup", header("Authorization", "Bearer "+token)).Body.String()
	attention, _, _ := strings.Cut(text[strings.Index(text, `<div id="attention">`):], "</div>")
	for _, want := range []string{
		`<a href="run?job=backup&amp;run=2" class="bad"><b>✕ failed</b></a>`, "exit status 3: no &lt;space&gt;", "2 runs in a row have failed, since ",
		`The last good run is <a href="run?job=backup&amp;run=3">3</a>`, `<li class="err">line &lt;` + strings.Repeat("i", 13) + "&gt;</li>",
		`class="button">Output</a>`, `>Run again…</a>`, `>Pause…</a>`,
	} {
		if !strings.Contains(attention, want) {
			t.Errorf("no %s in %s", want, attention)
		}
	}
	if n := strings.Count(attention, "<li"); n != linesOfStory || strings.Contains(text, `aria-label="Actions"`) {
		t.Errorf("%d lines, or actions twice: %s", n, text)
	}
	if chart, settings := strings.Index(text, `<figure class="history">`), strings.Index(text, "<h2>Command"); chart < 0 || chart > settings {
		t.Error("the chart is not above the settings")
	}
}

// The last lines of a run of another daemon are those that the store has kept; without them the page says so.
func TestJobTellsStoryOfOtherDaemon(t *testing.T) {
	f, run := newFake("backup")
	run.End(nil)
	f.jobs[0] = newJob("backup", strings.Repeat(".", 8)+"x.x")
	text := get(t, New(Config{Daemon: f}).Handler(), "/job?name=backup")
	if !strings.Contains(text, "Flaky: 2 of the last 11 runs failed") || !strings.Contains(text, "Its output is not kept.") {
		t.Errorf("the page is %s", text)
	}
	f.stored = record.Stored{Head: []record.Line{{N: 1, Text: "begin of it"}}, Omitted: 7, Tail: []record.Line{{Text: "<last>", Stderr: true}}}
	text = get(t, New(Config{Daemon: f}).Handler(), "/job?name=backup")
	if !strings.Contains(text, `<li class="err">&lt;last&gt;</li>`) || strings.Contains(text, "begin of it") {
		t.Errorf("the page is %s", text)
	}
	f.jobs[0] = newJob("backup", "....")
	if text = get(t, New(Config{Daemon: f}).Handler(), "/job?name=backup"); strings.Contains(text, "attention") {
		t.Errorf("a job that is well has a story: %s", text)
	}
}

// The page of a job that was paused says by whom, when and why, and offers to resume it.
func TestJobSaysWhoPausedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, err := durable.New(durable.Config{Store: memory.New()})
		if err != nil {
			t.Fatal(err)
		}
		id := durable.NewID()
		note := func(action admin.Verb, who, reason string) {
			t.Helper()
			if err := jobs.NoteAct(t.Context(), durable.Act{Job: id, Action: string(action), Who: who, Reason: reason}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
		}
		note(admin.Pause, "mallory", "earlier")
		note(admin.Resume, "mallory", "")
		f, run := newFake("backup")
		defer run.End(nil)
		f.jobs[0] = newJob("backup", "..")
		f.jobs[0].ID, f.jobs[0].State = id, catalog.Status{State: catalog.StatePaused}
		page := func() string {
			s := New(Config{Daemon: f, Durable: jobs, Namespace: "n", Access: ByToken, Tokens: tokens, Log: slog.New(slog.DiscardHandler),
				Act: func(context.Context, client.Order) (admin.Answer, error) {
					return admin.Answer{Outcome: durable.Applied}, nil
				}})
			defer s.Close()
			return ask(s.Handler(), "GET", "/job?name=backup", header("Authorization", "Bearer "+token)).Body.String()
		}
		if text := page(); strings.Contains(text, "mallory") || !strings.Contains(text, `id="hold"`) {
			t.Errorf("of a job that nobody has paused: %s", text)
		}
		note(admin.Pause, "<ann>@web-1", "the <disk> is full")
		note(admin.RunNow, "bob", "no")
		text := page()
		for _, want := range []string{
			`<i class="pill held">paused</i> <span>by <b><bdi>&lt;ann&gt;@web-1</bdi></b>`, ">2\u00a0h\u00a0ago</span>: <bdi>the &lt;disk&gt; is full</bdi>",
			`<a href="act?do=resume&amp;job=backup" class="button">Resume…</a>`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s in %s", want, text)
			}
		}
		if strings.Count(text, "Resume…") != 1 {
			t.Errorf("it is offered twice: %s", text)
		}
	})
}

// The page of a job has its tags as links and its settings as a table, in which those of the file differ from defaults.
func TestJobHasSettings(t *testing.T) {
	f, run := newFake("backup")
	defer run.End(nil)
	f.jobs[0] = newJob("backup", "..")
	f.jobs[0].Tags = []string{"<team>=shop"}
	f.jobs[0].Spec = &catalog.Spec{Job: job.Job{Command: job.Command{Dir: "/srv/<shop>", Env: []string{"TOKEN=secret-value"}}}}
	text := get(t, New(Config{Daemon: f}).Handler(), "/job?name=backup")
	for _, want := range []string{
		`<a href="./?find=%3Cteam%3E%3Dshop"><bdi>&lt;team&gt;=shop</bdi></a>`, `<tr><th scope="row"><code>dir</code></th><td class="l wrap">/srv/&lt;shop&gt;</td>`,
		`<td class="l wrap">TOKEN</td>`, `<tr class="soft"><th scope="row"><code>overlap</code></th><td class="l wrap">skip</td>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if strings.Contains(text, "secret-value") {
		t.Error("the page has the value of a variable")
	}
}

// Nothing is said of a time that has passed: a run that is due is due, and not so many minutes ago.
func TestFirstDue(t *testing.T) {
	past, soon := time.Now().Add(-30*time.Minute), time.Now().Add(2*time.Hour+time.Minute)
	if firstDue(nil) != "" || firstDue(&past) != "" || !strings.HasPrefix(firstDue(&soon), "in") {
		t.Errorf("%q %q %q", firstDue(nil), firstDue(&past), firstDue(&soon))
	}
}
