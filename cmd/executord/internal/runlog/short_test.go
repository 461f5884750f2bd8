package runlog

import (
	"bytes"
	"errors"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
)

// A run is shown in a few short lines, whose columns are aligned.
func TestShortLogShowsRun(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(newShortLog(&b, terminal.Look{}, func() int { return 60 }))
	log.Info("listening", about.Key, about.Listening, "at", "http://127.0.0.1:1/")
	log.Info("executord started", about.Key, about.Started, "file", "jobs.crontab", "jobs", 2)
	log.Info("executord started", about.Key, about.Started, "file", "jobs.crontab", "jobs", 1, "store", "jobs.db", "namespace", "shop")
	due := about.Time{Time: time.Now()}
	hello := log.With("job", "hello").With("run", 3)
	hello.Info("run started", about.Key, about.RunStarted, "due", due, "late", 404*time.Microsecond, "pid", 4711)
	hello.Info("hello, run 1", "stream", "stdout")
	hello.Info(strings.Repeat("long ", 15)+"end", "stream", "stderr", "more", true)
	hello.Info("run ended", about.Key, about.RunEnded, "outcome", "ok", "exit", 0, "took", 1102054*time.Nanosecond, "late", time.Second, "skipped", 0)
	bad := log.With("job", "a-name-that-is-long").With("run", 1, "attempt", 2)
	bad.Info("run started", about.Key, about.RunStarted, "due", due, "late", 90*time.Second, "pid", 4711, "node", "web1")
	bad.Warn("run will be retried", about.Key, about.RunRetried, "outcome", "failed", "took", 62345*time.Millisecond, "wait", time.Minute, "left", 2, "exit", 3)
	bad.Warn("run will be retried", about.Key, about.RunRetried, "outcome", "not started", "took", 0*time.Second, "wait", time.Minute, "left", 1, "reason", "x")
	bad.Warn("run will be retried", about.Key, about.RunRetried, "outcome", "timeout", "took", time.Second, "wait", time.Minute, "left", 1, "signal", "SIGTERM")
	bad.Error("run ended", about.Key, about.RunEnded, "outcome", "failed", "exit", 3, "took", 62345*time.Millisecond, "late", time.Second, "skipped", 0)
	bad.Error("run ended", about.Key, about.RunEnded, "outcome", "failed", "signal", "SIGKILL", "took", 5*time.Second, "late", time.Second, "skipped", 0,
		"unlogged", 7)
	bad.Error("run ended", about.Key, about.RunEnded, "outcome", "timeout", "exit", -1, "took", 5*time.Second, "note", "a note")
	bad.Warn("runs skipped", about.Key, about.RunsSkipped, "count", 2, "first", due, "reason", "the previous run is still in progress", "running", 1)
	bad.Error("run not started", about.Key, about.RunNotStarted, "due", due, "reason", "there is no program x")
	hello.Warn("run not started", about.Key, about.RunNotStarted, "due", due, "reason", "a run for later replaces it")
	hello.Info("run waits", about.Key, about.RunWaits, "due", due, "group", "db", "reason", "at most 1 at a time: b")
	log.Warn("job removed", "job", "old", "reason", "it is not there", "hint", "put it back")
	log.Warn("note on the file", about.Key, about.Note, "file", "/etc/tab", "hint", "remove it", "line", 4, "what", "MAILTO is ignored")
	log.Warn("durable: no answer", "call", "commit", "error", errors.New("it was removed"))
	log.Info("file read again", about.Key, about.ReadAgain, "file", "jobs.crontab", "jobs", 3)
	log.Info("draining", about.Key, about.Draining, "reason", "SIGTERM", "running", 1)
	log.Warn("stopping", about.Key, about.Stopping, "reason", "second SIGTERM", "running", 1, "grace", 10*time.Second)
	log.Info("job summary", about.Key, about.JobSummary, "job", "hello", "runs", 1, "failed", 0, "skipped", 0, "missed", 0)
	log.Info("executord ended", about.Key, about.Ended, "jobs", 2, "runs", 3, "failed", 1, "skipped", 0, "missed", 0, "interrupted", 0, "exit", 0)
	got := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d`).ReplaceAllString(b.String(), "hh:mm:ss")
	want := `hh:mm:ss executord · listening at http://127.0.0.1:1/
hh:mm:ss executord · started: 2 jobs of jobs.crontab
hh:mm:ss executord · started: 1 job of jobs.crontab, in
                   · jobs.db as shop
hh:mm:ss hello     ▸ run 3
hh:mm:ss hello     │ hello, run 1
hh:mm:ss hello     ┃ long long long long long long long long
                   ┃ long long long long long long long end
hh:mm:ss hello     ✓ ok 1.1ms
hh:mm:ss a-name-~-is-long ▸ run 1, attempt 2, 1m30s late
hh:mm:ss a-name-~-is-long ⤼ exit 3 1m2.3s, again in 1m0s
hh:mm:ss a-name-~-is-long ⤼ not started: x, again in 1m0s
hh:mm:ss a-name-~-is-long ⤼ timeout 1s, again in 1m0s
hh:mm:ss a-name-~-is-long ✗ exit 3 1m2.3s
hh:mm:ss a-name-~-is-long ✗ SIGKILL 5s, 7 lines are not here
hh:mm:ss a-name-~-is-long ✗ timeout 5s, a note
hh:mm:ss a-name-~-is-long ⤼ 2 skipped, run 1 goes on
hh:mm:ss a-name-~-is-long ✗ not started: there is no program
                          ✗ x
hh:mm:ss hello            ⤼ not started: a run for later
                          ⤼ replaces it
hh:mm:ss hello            · waits for its group, at most 1
                          · at a time: b
hh:mm:ss old              ! job removed: it is not there
                          ! hint: put it back
hh:mm:ss executord        ! tab:4: MAILTO is ignored
                          ! hint: remove it
hh:mm:ss executord        ! durable: no answer call=commit:
                          ! it was removed
hh:mm:ss executord        · read again: 3 jobs of
                          · jobs.crontab
hh:mm:ss executord        · draining, 1 run in progress:
                          · SIGTERM
hh:mm:ss executord        ! stopping, 1 run with 10s to end:
                          ! second SIGTERM
hh:mm:ss hello            · 1 run
hh:mm:ss executord        · ended: 3 runs, 1 failed
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What a line is about is said by its kind, whatever its text, and a line without one is shown as it is, with short
// times.
func TestShortLogChoosesByKind(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(newShortLog(&b, terminal.Look{}, func() int { return 80 }))
	log.Info("worded anew", about.Key, about.RunStarted, "job", "a", "run", 1)
	log.Info("run started", "job", "a", "run", 1)
	log.Info("looked", "job", "a", "next", about.Time{Time: time.Now().Truncate(time.Second)})
	if got := regexp.MustCompile(`\d\d:\d\d:\d\d`).ReplaceAllString(b.String(), "T"); got != "T a         ▸ run 1\nT a         · run started run=1\nT a         · looked next=T\n" {
		t.Errorf("got\n%s", got)
	}
}

// Colours are only there if they are wanted, and signs of ASCII take their place where there are no others.
func TestShortLogColours(t *testing.T) {
	for l, want := range map[terminal.Look]string{
		{}:                         " job       ✗ exit 3 1s\n",
		{ASCII: true}:              " job       x exit 3 1s\n",
		{Color: true, ASCII: true}: "\x1b[0m job       \x1b[31mx\x1b[0m \x1b[31mexit 3 1s\x1b[0m\n",
	} {
		var b bytes.Buffer
		slog.New(newShortLog(&b, l, func() int { return 80 })).Error("run ended", about.Key, about.RunEnded, "job", "job", "outcome", "failed", "exit", 3, "took", time.Second)
		if !strings.HasSuffix(b.String(), want) {
			t.Errorf("%+v: %q, want %q", l, b.String(), want)
		}
	}
}

// The sign of an end says what the level of its line does: only an error has that of one.
func TestShortLogSignsEndByLevel(t *testing.T) {
	for o, want := range map[outcome.Outcome]struct {
		level slog.Level
		sign  string
	}{
		outcome.OK: {slog.LevelInfo, "✓"}, outcome.Delayed: {slog.LevelInfo, "·"}, outcome.Canceled: {slog.LevelWarn, "!"},
		outcome.Replaced: {slog.LevelWarn, "!"}, outcome.Timeout: {slog.LevelError, "✗"}, outcome.Stopped: {slog.LevelError, "✗"},
		outcome.Lost: {slog.LevelError, "✗"},
	} {
		var b bytes.Buffer
		log := slog.New(newShortLog(&b, terminal.Look{}, func() int { return 80 }))
		log.Log(t.Context(), want.level, "run ended", about.Key, about.RunEnded, "job", "a", "outcome", string(o), "took", time.Second)
		if text := " " + want.sign + " " + string(o) + " 1s\n"; !strings.HasSuffix(b.String(), text) {
			t.Errorf("%q, want %q", b.String(), text)
		}
	}
}

// Whatever is logged, no line is wider than the terminal, none has what cannot be seen, and all text is there.
func TestShortLogFits(t *testing.T) {
	words := []string{"a", "word", "日本語", "\x1b[31m", "é", "\t", strings.Repeat("x", 50), "\u202e", "👍", "\n", "a\rb", " "}
	keys := []string{"job", "run", "reason", "hint", "outcome", "exit", "signal", "took", "note", "until", "next", "schedule", "count",
		"running", "failed", "stream", "other", "late", "line", "what"}
	text := func() string {
		var b strings.Builder
		for range rand.IntN(12) {
			b.WriteString(words[rand.IntN(len(words))] + " ")
		}
		return b.String()
	}
	for range 3000 {
		width := 50 + rand.IntN(60)
		var b bytes.Buffer
		log := slog.New(newShortLog(&b, terminal.Look{}, func() int { return width }))
		attrs := []any{about.Key, about.Kind(rand.IntN(int(about.Ended) + 1))}
		for range rand.IntN(8) {
			var value any = text()
			switch rand.IntN(5) {
			case 0:
				value = rand.IntN(1000)
			case 1:
				value = time.Duration(rand.Int64())
			case 2:
				value = errors.New(text())
			case 3:
				value = time.Now()
			}
			key := keys[rand.IntN(len(keys))]
			if key == "late" {
				value = time.Duration(rand.Int64N(1e12))
			}
			attrs = append(attrs, key, value)
		}
		log.Info(text()+"x", attrs...)
		if b.Len() == 0 || !strings.HasSuffix(b.String(), "\n") {
			t.Fatalf("%v: logged %q", attrs, b.String())
		}
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			if terminal.Columns(line) > width || strings.ContainsAny(line, "\x1b\r\u202e") {
				t.Fatalf("%v: the line %q has %d columns, of %d", attrs, line, terminal.Columns(line), width)
			}
		}
	}
}

// Names that are too long differ as they are shown, wherever they differ, and each is always shown alike, in as many
// columns as there are.
func TestShortLogTellsNamesApart(t *testing.T) {
	names := []string{
		"e2scrub_all/e2scrub_all", "e2scrub_all/e2scrub_all_cron", "e2scrub_all/e2scrub_all-r", "backup-of-the-shop-in-berlin",
		"backup-of-the-shop-in-paris", "a-database-of-orders/vacuum", "a-database-of-parcel/vacuum", "日本語の名前は長いものである", "日本語の名前は長いものでない",
	}
	for i := range 300 { // no cut shows where they differ
		names = append(names, "0123456789abcdef"+strings.Repeat("x", i)+"0123456789abcdef")
	}
	column := &nameColumn{wide: leastNames}
	shown := make(map[string]string)
	for range 2 {
		for _, name := range names {
			short, wide := column.fit(name)
			if wide != mostNames || terminal.Columns(short) != mostNames {
				t.Errorf("%q: %d columns of %d", short, terminal.Columns(short), wide)
			}
			if other, ok := shown[short]; ok && other != name {
				t.Errorf("%q is %s and %s", short, other, name)
			}
			shown[short] = name
		}
	}
	if len(shown) != len(names) {
		t.Errorf("%d names are shown as %d", len(names), len(shown))
	}
	for name, want := range map[string]string{
		"e2scrub_all/e2scrub_all": "e2scrub~crub_all", "e2scrub_all/e2scrub_all_cron": "e2scrub~all_cron", "backup-of-the-shop-in-paris": "backup-~in-paris",
	} {
		if short, _ := column.fit(name); short != want {
			t.Errorf("%s: %q, want %q", name, short, want)
		}
	}
}
