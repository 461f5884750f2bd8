//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/executor-go/executor/cron"
)

// soakJobs are twenty jobs as they come in life. Each writes its due time into
// the file $OUT/NAME, which is what the log is checked against. Its runs end with
// the outcome that is given, or are stopped by the end of the drain.
var soakJobs = []struct{ name, schedule, command, outcome string }{
	{"quick-1", "@every 100ms", `true`, "ok"},
	{"quick-2", "@every 250ms", `echo hello`, "ok"},
	{"quick-3", "@every 700ms", `echo out; echo err >&2`, "ok"},
	{"quick-4", "@every 1s", `date`, "ok"},
	{"minutely", "* * * * *", `date`, "ok"},
	{"two-minutely", "*/2 * * * *", `date`, "ok"},
	{"failing-1", "@every 300ms", `exit 1`, "failed"},
	{"failing-2", "@every 500ms", `echo reason >&2; exit 42`, "failed"},
	{"signaled", "@every 900ms", `kill -KILL $$`, "failed"},
	{"not-found", "@every 1100ms", `no-such-command --at-all`, "failed"},
	{"slow-1", "@every 200ms", `sleep 0.5`, "ok"},
	{"slow-2", "@every 400ms", `sleep 1.3; exit 2`, "failed"},
	{"endless", "@every 1s", `exec sleep 1000000`, "stopped"},
	{"stubborn-1", "@every 600ms", `trap '' TERM; sleep 1.5`, "ok"},
	{"stubborn-2", "@every 1s", `trap '' TERM; (trap '' TERM; sleep 1000) & while :; do sleep 1; done`, "stopped"},
	{"background", "@every 500ms", `sleep 1000 & sleep 1000 & echo done`, "ok"},
	{"background-stubborn", "@every 1500ms", `(trap '' TERM; sleep 1000) & exit 3`, "failed"},
	{"escaping", "@every 2s", `setsid sleep 1000 >&2 & setsid sh -c 'sleep 1000 & sleep 1000' >/dev/null 2>&1 & echo gone`, "ok"},
	{"chatty", "@every 800ms", `head -c 100000 /dev/zero | tr '\0' 'x'; seq 1 500; printf 'no end'`, "ok"},
	{"reading", "@every 350ms", `cat; cat <&-%line one%line two`, "failed"},
}

// Of a crontab of twenty jobs, of which some fail, are slow, ignore SIGTERM or
// leave processes behind, every time at which one is due is a run, or is
// skipped, the log accounts for each, and nothing is left after the drain.
//
// EXECUTORD_SOAK=2m makes it take longer than the ten seconds it takes else.
func TestRunSoak(t *testing.T) {
	t.Parallel()
	if os.Getenv("EXECUTOR_LONG") == "" {
		t.Skip("takes ten seconds")
	}
	length := 10 * time.Second
	if text := os.Getenv("EXECUTORD_SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}

	out := t.TempDir()
	var tab strings.Builder
	fmt.Fprintf(&tab, "OUT=%s\n", out)
	for _, j := range soakJobs {
		fmt.Fprintf(&tab, "# name: %s\n%s echo $EXECUTORD_DUE >>$OUT/%s; %s\n", j.name, j.schedule, j.name, j.command)
	}
	tab.WriteString("SHELL=/no/such/shell\n# name: unstartable\n@every 750ms true\n")

	began := time.Now()
	p := start(t, tab.String(), "--drain-timeout", "500ms", "--kill-after", "300ms")
	for enough := began.Add(length); ; { // the log says how far it has come, however busy the machine is
		l := p.until("run started", "job", "quick-1")
		if instant(t, l, "due").After(enough) {
			break
		}
	}
	ended := time.Now()
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}

	a := newAccount(t, p.log)
	for _, j := range soakJobs {
		a.check(j.name, j.schedule, began, ended, j.outcome)
		a.checkFile(j.name, filepath.Join(out, j.name))
	}
	a.check("unstartable", "@every 750ms", began, ended, "")
	a.checkEnds(ended)
	slices.Sort(a.late)
	t.Logf("%v, %d jobs: %d times due; %d runs, %d skipped, %d missed; %d lines; late p50 %.1f ms, p99 %.1f ms, most %.1f ms",
		length, len(soakJobs)+1, a.due, a.runs, a.skipped, a.missed, len(p.log),
		1e3*a.late[len(a.late)/2], 1e3*a.late[len(a.late)*99/100], 1e3*a.late[len(a.late)-1])
}

// account is the log by job.
type account struct {
	t                          *testing.T
	lines                      map[string][]line
	due, runs, skipped, missed int
	late                       []float64 // seconds

	open map[string]time.Time // by job: the first time that the log does not account for
}

func newAccount(t *testing.T, log []line) *account {
	a := &account{t: t, lines: make(map[string][]line), open: make(map[string]time.Time)}
	for _, l := range log {
		if name, ok := l["job"].(string); ok && l["stream"] == nil {
			a.lines[name] = append(a.lines[name], l)
		}
	}
	return a
}

func instant(t *testing.T, l line, key string) time.Time {
	text, _ := l[key].(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatalf("%s of %v: %v", key, l, err)
	}
	return at
}

// check holds the lines of one job against its schedule.
func (a *account) check(name, schedule string, began, ended time.Time, outcome string) {
	t := a.t
	next := cron.MustParse("CRON_TZ=UTC " + schedule).Next
	var times []time.Time // that the log accounts for
	var runs, skipped, missed, open int
	for _, l := range a.lines[name] {
		switch l["msg"] {
		case "job scheduled", "job summary":
		case "run started", "run not started":
			runs++
			if open != 0 || l["run"] != float64(runs) {
				t.Errorf("%s: run %v is started after run %d, while run %d goes on", name, l["run"], runs-1, open)
			}
			if l["msg"] == "run started" {
				open = runs
				if outcome == "" {
					t.Errorf("%s: was started", name)
				}
			}
			times = append(times, instant(t, l, "due"))
			a.late = append(a.late, l["late"].(float64))
		case "runs skipped", "runs missed":
			n := int(l["count"].(float64))
			if l["msg"] == "runs missed" {
				missed += n
			} else if skipped += n; l["running"] != float64(runs) && (open != 0 || l["running"] != float64(runs+1)) {
				// While a run is being started, its line may still be to come.
				t.Errorf("%s: skipped because of run %v in run %d", name, l["running"], runs)
			}
			for at := instant(t, l, "first"); n > 0; n-- {
				times = append(times, at)
				at = next(at)
			}
		case "run ended":
			if l["run"] != float64(open) {
				t.Errorf("%s: run %v ended, but %d goes on", name, l["run"], open)
			}
			if l["outcome"] != outcome && (l["outcome"] != "stopped" || instant(t, l, "time").Before(ended)) {
				t.Errorf("%s: want the outcome %s: %v", name, outcome, l)
			}
			open = 0
		default:
			t.Errorf("%s: unexpected line %v", name, l)
		}
	}
	if open != 0 {
		t.Errorf("%s: run %d never ended", name, open)
	}
	summary := a.lines[name][len(a.lines[name])-1]
	if !summary.is("job summary", "runs", runs, "skipped", skipped, "missed", missed) {
		t.Errorf("%s: %d runs, %d skipped, %d missed, but the summary says %v", name, runs, skipped, missed, summary)
	}
	a.runs, a.skipped, a.missed = a.runs+runs, a.skipped+skipped, a.missed+missed
	a.due += len(times)

	// Each time of the schedule is there once, from the start on.
	at, scheduled := instant(t, a.lines[name][0], "next"), instant(t, a.lines[name][0], "time")
	if at.Before(began) || at.After(next(scheduled)) {
		t.Errorf("%s: first due at %v; it was scheduled between %v and %v", name, at, began, scheduled)
	}
	slices.SortFunc(times, time.Time.Compare)
	for _, got := range times {
		if !got.Equal(at) {
			t.Errorf("%s: due at %v, want %v", name, got, at)
		}
		at = next(got)
	}
	a.open[name] = at
}

// checkEnds checks that the times of all jobs are there up to the drain.
func (a *account) checkEnds(drained time.Time) {
	for name, at := range a.open {
		if !at.After(drained) {
			a.t.Errorf("%s: nothing is logged of %v, and the drain began at %v or later", name, at, drained)
		}
	}
}

// checkFile compares what the runs themselves have noted with the log.
func (a *account) checkFile(name, path string) {
	noted, _ := os.ReadFile(path)
	var want []byte
	var last int
	for _, l := range a.lines[name] {
		switch {
		case l["msg"] == "run started":
			last = len(want)
			want = fmt.Appendln(want, l["due"])
		case l.is("run ended", "outcome", "stopped") && len(noted) == last:
			want = want[:last] // it was ended before it could note anything
		}
	}
	if string(noted) != string(want) {
		a.t.Errorf("%s: the log has the runs\n%sbut these have happened\n%s", name, want, noted)
	}
}
