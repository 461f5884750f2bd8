//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// onEachStore runs a test on a file and on PostgreSQL.
func onEachStore(t *testing.T, test func(t *testing.T, store string)) {
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, newStoreFile(t)) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, database(t)) })
}

// newStoreFile gives the name of a store that is not there yet.
func newStoreFile(t *testing.T) string { return filepath.Join(t.TempDir(), "jobs.db") }

// asked runs one of the commands that visit a store, which has to succeed, and
// gives the objects that it prints.
func asked(t *testing.T, store string, args ...string) []map[string]any {
	t.Helper()
	stdout, stderr, code := output(t, "", append(args, "--store", store, "--json")...)
	if code != 0 || stderr != "" {
		t.Fatalf("%q: exit code %d, stderr %q", args, code, stderr)
	}
	var all []map[string]any
	for in := json.NewDecoder(strings.NewReader(stdout)); in.More(); {
		var one map[string]any
		if err := in.Decode(&one); err != nil {
			t.Fatalf("%q prints %q: %v", args, stdout, err)
		}
		all = append(all, one)
	}
	return all
}

// told runs one of the commands that act on a store, and wants what it says.
func told(t *testing.T, store string, code int, want string, args ...string) {
	t.Helper()
	stdout, stderr, got := output(t, "", append(args, "--store", store)...)
	if all := stdout + stderr; got != code || !strings.HasPrefix(all, want) || strings.Count(all, "\n") > 1 && !strings.Contains(want, "\n") {
		t.Errorf("%q: exit code %d, %q; want %d, %q", args, got, all, code, want)
	}
}

// jobNamed gives what jobs says of a job.
func jobNamed(t *testing.T, store, name string) map[string]any {
	t.Helper()
	for _, j := range asked(t, store, "jobs", "--all") {
		if j["job"] == name {
			return j
		}
	}
	t.Fatalf("%s is not in the store", name)
	return nil
}

// untilState waits until jobs says that a job is in a state. What the daemon does
// to a store others only get to know by asking.
func untilState(t *testing.T, store, name, want string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		got := jobNamed(t, store, name)["state"]
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is %v, and does not come to be %s", name, got, want)
		}
	}
}

// dues reads the file into which a job writes its due time each time it runs.
func dues(t *testing.T, path string) []time.Time {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []time.Time
	for in := bufio.NewScanner(f); in.Scan(); {
		at, err := time.Parse(time.RFC3339Nano, in.Text())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, at)
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// end ends a daemon in order, which has to succeed.
func (p *process) end() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		p.t.Errorf("exit code %d", code)
	}
}

// The history tells of each run: when, how long, how it ended, and what a failed
// one wrote to standard error.
func TestHistory(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		p := start(t, "# name: good\n@every 200ms echo fine\n# name: bad\n@every 200ms echo one >&2; echo two >&2; exit 7\n# name: gone\n@every 200ms kill -KILL $$\n", "--store", store)
		for _, name := range []string{"good", "bad", "gone"} {
			p.after(0, "run ended", "job", name, "run", 1)
		}
		p.end()
		for _, want := range []struct{ job, outcome, err, stderr string }{
			{"good", "ok", "", ""},
			{"bad", "failed", "exit status 7", "one two"},
			{"gone", "failed", "killed by SIGKILL", ""},
		} {
			runs := asked(t, store, "runs", want.job, "-n", "1000")
			last := runs[len(runs)-1]
			var stderr []string
			for _, text := range append([]any{}, anys(last["stderr"])...) {
				stderr = append(stderr, text.(string))
			}
			text, _ := last["error"].(string)
			if last["run"] != 1.0 || last["outcome"] != want.outcome || text != want.err || strings.Join(stderr, " ") != want.stderr {
				t.Errorf("%s: %v", want.job, last)
			}
			if took := last["took"].(float64); took <= 0 || took > patience.Seconds() || last["node"] == "" {
				t.Errorf("%s: %v", want.job, last)
			}
			if len(runs) != p.count("run ended", "job", want.job) {
				t.Errorf("%s: %d runs in the history, the log has %d", want.job, len(runs), p.count("run ended", "job", want.job))
			}
		}
		if two := asked(t, store, "runs", "-n", "2"); len(two) != 2 {
			t.Errorf("of three jobs, %d runs instead of 2", len(two))
		}
	})
}

func anys(v any) []any {
	all, _ := v.([]any)
	return all
}

// A run that fails is one error in the log, and is not tried again before its
// next time.
func TestStoredFailureIsToldOnce(t *testing.T) {
	t.Parallel()
	p := start(t, "# name: bad\n@every 1s exit 1\n", "--store", newStoreFile(t))
	p.until("run ended", "job", "bad", "run", 1)
	p.until("run started", "job", "bad", "run", 2)
	p.end()
	for _, l := range p.log {
		if l["level"] == "ERROR" && l["msg"] != "run ended" {
			t.Errorf("unexpected: %v", l)
		}
	}
	starts := p.starts("bad")
	if distance := starts[1].Sub(starts[0]); distance <= 0 || distance%time.Second != 0 {
		t.Errorf("the second run was due %v after the first", distance)
	}
}

// starts gives the times at which the runs of a job were due that were started.
func (p *process) starts(job string) []time.Time {
	var all []time.Time
	for _, l := range p.log {
		if l.is("run started", "job", job) {
			all = append(all, instant(p.t, l, "due"))
		}
	}
	return all
}

// A job keeps its grid and its numbers when the daemon is started again, and
// what was due meanwhile is made up for by one run.
func TestDowntime(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		file := write(t, "tab", "# name: tick\n@every 300ms true\n")
		p := startFile(t, file, "--store", store)
		p.until("run ended", "run", 2)
		p.end()
		before := p.starts("tick")

		time.Sleep(time.Second) // downtime
		q := startFile(t, file, "--store", store)
		missed := q.until("runs missed", "job", "tick")
		next := q.until("run started", "job", "tick")
		q.until("run ended", "job", "tick", "run", next["run"])
		q.until("run started", "job", "tick")
		q.end()
		q.want(1, "job scheduled", "job", "tick", "change", "unchanged")
		q.want(1, "executord ended", "missed", q.counted("runs missed"))

		if int(next["run"].(float64)) != len(before)+1 {
			t.Errorf("%d runs, and then number %v", len(before), next["run"])
		}
		after := q.starts("tick")
		last := before[len(before)-1]
		skipped := p.counted("runs skipped", "job", "tick", "running", len(before)) // if the last run took long
		if n := int(missed["count"].(float64)); n < 2 || after[0].Sub(last) != time.Duration(skipped+n+1)*300*time.Millisecond {
			t.Errorf("%d skipped and %d missed between %v and %v", skipped, n, last, after[0])
		}
		if after[1].Sub(last)%(300*time.Millisecond) != 0 {
			t.Errorf("the grid of %v has moved: %v", last, after[1])
		}
	})
}

// Times that pass during the run that makes up for others are skipped, too: they
// are counted from the time at which it began, and not from those it makes up for.
func TestOverlapAfterDowntime(t *testing.T) {
	t.Parallel()
	store, file := newStoreFile(t), write(t, "tab", "# name: slow\n@every 300ms sleep 0.7\n")
	p := startFile(t, file, "--store", store)
	p.until("run ended")
	p.end()
	time.Sleep(1500 * time.Millisecond) // downtime
	q := startFile(t, file, "--store", store)
	q.until("runs missed", "job", "slow")
	run := q.until("run started", "job", "slow")["run"]
	if ended := q.until("run ended", "job", "slow", "run", run); ended["skipped"].(float64) < 1 {
		t.Errorf("nothing was skipped: %v", ended)
	}
	q.end()
}

// Bytes of a command that are no text reach it, in each kind of store.
func TestCommandThatIsNoText(t *testing.T) {
	run := func(t *testing.T, args ...string) {
		p := start(t, "A=\xe4\n# name: latin\n@every 100ms printf '\xe4\xfc' | od -An -tx1; echo $A | od -An -tx1; echo ä\n", args...)
		p.until(" e4 fc", "job", "latin")
		p.until(" e4 0a", "job", "latin")
		p.until("ä", "job", "latin")
		p.end()
	}
	t.Run("none", func(t *testing.T) { run(t) })
	onEachStore(t, func(t *testing.T, store string) { run(t, "--store", store) })
}

// Times are shown in the zone of the job.
func TestStoredZone(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	p := start(t, "CRON_TZ=Asia/Tokyo\n# name: far\n@every 100ms echo $EXECUTORD_DUE\n", "--store", store)
	due, _ := p.until("run started")["due"].(string)
	p.until(due)
	p.until("run ended")
	p.end()
	if !strings.HasSuffix(due, "+09:00") {
		t.Errorf("due %s", due)
	}
	for command, times := range map[string]int{"jobs": 2, "runs": 1} {
		stdout, _, _ := output(t, "", command, "far", "--store", store)
		if row := strings.Split(stdout, "\n")[1]; strings.Count(row, " +09:00 ") != times {
			t.Errorf("%s says %s", command, row)
		}
	}
}

// Times that pass during a run are skipped, and the grid goes on.
func TestStoredOverlap(t *testing.T) {
	t.Parallel()
	// Four times or more pass during each run, of which two may be overlooked: a daemon's
	// idea of a store's clock is behind by what an answer takes.
	p := start(t, "# name: slow\n@every 200ms sleep 0.9\n", "--store", newStoreFile(t))
	p.until("run ended", "run", 3)
	p.end()
	starts := p.starts("slow")
	for i, at := range starts[1:] {
		if d := at.Sub(starts[i]); d < 600*time.Millisecond || d%(200*time.Millisecond) != 0 {
			t.Errorf("run %d was due %v after the one before", i+2, d)
		}
	}
	skipped, missed := p.counted("runs skipped", "job", "slow"), p.counted("runs missed", "job", "slow")
	p.want(1, "job summary", "job", "slow", "runs", len(starts), "skipped", skipped, "missed", missed)
	for run := range starts[1:] {
		if p.counted("runs skipped", "job", "slow", "running", run+1) < 2 {
			t.Errorf("in the log, less was skipped during run %d than came due", run+1)
		}
	}
}

// counted returns the sum of the counts in the lines that are so.
func (p *process) counted(msg string, attrs ...any) int {
	n := 0
	for _, l := range p.log {
		if l.is(msg, attrs...) {
			n += int(l["count"].(float64))
		}
	}
	return n
}

// A run gets to know its attempt and its token, and not the name of the store.
func TestStoredSurroundings(t *testing.T) {
	store := newStoreFile(t)
	t.Setenv("EXECUTORD_STORE", store) // is as good as the flag
	p := start(t, "# name: envy\n@every 100ms echo run $EXECUTORD_RUN attempt $EXECUTORD_ATTEMPT token $EXECUTORD_TOKEN store ${EXECUTORD_STORE-none}\n")
	p.until("run 1 attempt 1 token 1 store none")
	p.end()
	asked(t, store, "runs")
}

// A timeout ends a run, and the history says so.
func TestStoredTimeout(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	p := startTOML(t, "[[job]]\nname = \"slow\"\nschedule = \"@every 100ms\"\ntimeout = \"150ms\"\ncommand = \"echo working >&2; sleep 1000\"\n", "--store", store, "--kill-after", "100ms")
	number := p.until("working")["run"] // it may be over before a shell can say so
	p.until("run ended", "job", "slow", "run", number, "outcome", "timeout")
	p.end()
	runs := asked(t, store, "runs", "-n", "1000")
	i := slices.IndexFunc(runs, func(run map[string]any) bool { return run["run"] == number })
	if i < 0 {
		t.Fatalf("run %v is not in the history", number)
	}
	if run := runs[i]; run["outcome"] != "timeout" || !strings.HasPrefix(fmt.Sprint(run["error"]), "timeout: it was ended after 150ms") || fmt.Sprint(run["stderr"]) != "[working]" {
		t.Errorf("%v", run)
	}
}

// A job for the start of the daemon runs at each start, and is not in the store.
func TestStoredReboot(t *testing.T) {
	t.Parallel()
	store, file := newStoreFile(t), write(t, "tab", "# name: up\n@reboot echo up\n# name: tick\n@daily true\n")
	for range 2 {
		p := startFile(t, file, "--store", store)
		p.until("run ended", "job", "up", "run", 1)
		p.end()
	}
	if all := asked(t, store, "jobs"); len(all) != 1 || all[0]["job"] != "tick" {
		t.Errorf("in the store: %v", all)
	}
}

// Jobs that are named are listed alone, also one that was removed.
func TestJobsNamed(t *testing.T) {
	t.Parallel()
	store, file := newStoreFile(t), write(t, "tab", "# name: one\n@daily true\n# name: two\n@daily true\n")
	for _, removed := range []bool{false, true} {
		if removed {
			if err := os.WriteFile(file, []byte("# name: one\n@daily true\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		p := startFile(t, file, "--store", store)
		p.until("job scheduled", "job", "one")
		p.end()
		want := "waiting"
		if removed {
			want = "removed"
		}
		if all := asked(t, store, "jobs", "two"); len(all) != 1 || all[0]["job"] != "two" || all[0]["state"] != want {
			t.Errorf("listed %v, want two alone, %s", all, want)
		}
	}
	told(t, store, 1, "executord: tow: there is no such job in ", "jobs", "tow")
}
