//go:build unix

package main

import (
	"bufio"
	"database/sql"
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

// onEachStore runs a test on a file and on PostgreSQL, beside all others: most of its time it waits.
func onEachStore(t *testing.T, test func(t *testing.T, store string)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, newStoreFile(t)) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, database(t)) })
}

// newStoreFile returns the name of a store that is not there yet.
func newStoreFile(t *testing.T) string { return filepath.Join(t.TempDir(), "jobs.db") }

// rows opens the database of a store, for what no command does.
func rows(t *testing.T, store string) *sql.DB {
	t.Helper()
	driver := "sqlite"
	if strings.HasPrefix(store, "postgres:") {
		driver = "pgx"
	}
	db, err := sql.Open(driver, store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// asked runs one of the commands that visit a store, which has to succeed, and
// returns the objects that it prints.
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

// wantAnswer runs one of the commands that act on a store, and wants what it says.
func wantAnswer(t *testing.T, store string, code int, want string, args ...string) {
	t.Helper()
	stdout, stderr, got := output(t, "", append(args, "--store", store)...)
	if all := stdout + stderr; got != code || !strings.HasPrefix(all, want) ||
		strings.Count(all, "\n") > 1 && !strings.Contains(want, "\n") {
		t.Errorf("%q: exit code %d, %q; want %d, %q", args, got, all, code, want)
	}
}

// jobNamed returns what jobs says of a job.
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

// The history has of each run: when, how long, how it ended, and what a failed
// one wrote to standard error.
func TestRunsShowHistory(t *testing.T) {
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
			// What begins while the daemon learns that it ends is delayed: the command is not started, and the log has no run.
			begun := slices.DeleteFunc(slices.Clone(runs), func(r map[string]any) bool { return r["outcome"] == "delayed" })
			if n := p.count("run ended", "job", want.job); len(begun) != n {
				t.Errorf("%s: %d runs in the history, the log has %d: %v", want.job, len(begun), n, runs)
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
func TestRunLogsFailureOnce(t *testing.T) {
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

// starts returns the times at which the runs of a job were due that were started.
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
func TestRunMakesUpForDowntime(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		file := write(t, "tab", "# name: tick\n@every 300ms true\n")
		p := startFile(t, file, "--store", store)
		p.until("run ended", "run", 2)
		p.end()
		before := p.starts("tick")

		time.Sleep(time.Second) // downtime
		q := startFile(t, file, "--store", store)
		missed := q.until("runs missed", "job", "tick")
		next := q.after(0, "run started", "job", "tick") // the run does not wait for that line
		q.after(0, "run started", "job", "tick", "run", next["run"].(float64)+1)
		q.end()
		q.want(1, "job scheduled", "job", "tick", "change", "unchanged")
		q.want(1, "executord ended", "missed", q.counted("runs missed"))

		if int(next["run"].(float64)) != len(before)+1 {
			t.Errorf("%d runs, and then number %v", len(before), next["run"])
		}
		after := q.starts("tick")
		last := before[len(before)-1]
		skipped := p.counted("runs skipped", "job", "tick", "running", len(before)) // if the last run took long
		if n := int(missed["count"].(float64)); n < 2 ||
			after[0].Sub(last) != time.Duration(skipped+n+1)*300*time.Millisecond {
			t.Errorf("%d skipped and %d missed between %v and %v", skipped, n, last, after[0])
		}
		if after[1].Sub(last)%(300*time.Millisecond) != 0 {
			t.Errorf("the grid of %v has moved: %v", last, after[1])
		}
	})
}

// Times that pass during the run that makes up for others are skipped, too: they
// are counted from the time at which it began, and not from those it makes up for.
func TestRunSkipsOverlapAfterDowntime(t *testing.T) {
	t.Parallel()
	store, file := newStoreFile(t), write(t, "tab", "# name: slow\n@every 300ms sleep 0.7\n")
	p := startFile(t, file, "--store", store)
	p.until("run ended")
	p.end()
	time.Sleep(1500 * time.Millisecond) // downtime
	q := startFile(t, file, "--store", store)
	q.until("runs missed", "job", "slow")
	run := q.after(0, "run started", "job", "slow")["run"]
	if ended := q.after(0, "run ended", "job", "slow", "run", run); ended["skipped"].(float64) < 1 {
		t.Errorf("nothing was skipped: %v", ended)
	}
	q.end()
}

// Bytes of a command that are no text reach it, in each kind of store.
func TestRunCommandOfAnyBytes(t *testing.T) {
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
func TestRunStoresZone(t *testing.T) {
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
func TestRunSkipsOverlapInStore(t *testing.T) {
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
func TestRunEnvironmentInStore(t *testing.T) {
	store := newStoreFile(t)
	t.Setenv("EXECUTORD_STORE", store) // is as good as the flag
	p := start(t, "# name: envy\n@every 100ms echo run $EXECUTORD_RUN attempt $EXECUTORD_ATTEMPT token $EXECUTORD_TOKEN store ${EXECUTORD_STORE-none}\n")
	p.until("run 1 attempt 1 token 1048577 store none")
	p.until("run 2 attempt 1 token 2097153 store none")
	p.end()
	asked(t, store, "runs")
}

// A timeout ends a run, and the history says so.
func TestRunTimeoutInStore(t *testing.T) {
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
func TestRunAtStartIsNotStored(t *testing.T) {
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
func TestJobsByName(t *testing.T) {
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
	wantAnswer(t, store, 1, "executord: tow: no such job in ", "jobs", "tow")
}

// Jobs are listed by tags, state and error, from a store and from a daemon.
func TestJobsByTagsStateAndError(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	file := write(t, "jobs.toml", `tags = "all"
[[job]]
name = "one"
schedule = "@daily"
command = "echo the disk is full >&2; exit 3"
tags = ["team=shop", "nightly"]
[[job]]
name = "two"
schedule = "@daily"
command = "true"
tags = "team=shop"
[[job]]
name = "three"
schedule = "@daily"
command = "true"
`)
	p := startFile(t, file, "--store", store, "--listen", "127.0.0.1:0")
	at, _ := p.until("listening")["at"].(string)
	for _, name := range []string{"one", "two", "three"} {
		p.until("job scheduled", "job", name)
	}
	wantAnswer(t, store, 0, "one: due now\n", "run-now", "one")
	p.until("run ended", "job", "one")
	for jobNamed(t, store, "one")["error"] == nil { // the store has it a moment after the log
	}
	wantAnswer(t, store, 0, "two: paused\n", "pause", "two")
	for args, want := range map[string]string{
		"": "one three two", "--tag team=shop": "one two", "--tag team=shop --tag nightly": "one", "--tag all": "three",
		"--tag team": "", "--state paused": "two", "--state waiting --tag team=shop": "one", "--error full": "one",
		"--state paused --state waiting": "one three two", "--state no-machine": "",
		"--error exit": "one", "--error nothing": "", "--state removed": "", "two --tag nightly": "", "two --tag team=shop": "two",
	} {
		for _, from := range [][]string{{"--store", store}, {"--at", at}} {
			stdout, stderr, code := output(t, "", slices.Concat([]string{"jobs", "--json"}, strings.Fields(args), from)...)
			got := jobsIn(t, stdout)
			if strings.Join(got, " ") != want || code != 0 {
				t.Errorf("jobs %s %s: %q, code %d, %s; want %q", args, from[0], got, code, stderr, want)
			}
		}
	}
	p.end()
	wantAnswer(t, store, 2, "executord: invalid argument \"lost\" for \"--state\" flag: choose one of waiting, due, running, paused, canceled, dead, ended, removed, no machine, elsewhere\n",
		"jobs", "--state", "lost")
	wantAnswer(t, store, 2, "executord: error has 201 bytes; it must have at most 200\nSee executord jobs --help.\n",
		"jobs", "--error", strings.Repeat("x", 201))
}

// Runs are chosen by their outcomes and by when they were in progress, in the store and of a daemon, however many others
// there are.
func TestRunsSelects(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "jobs.db")
	p := startFile(t, write(t, "jobs.toml", `
[[job]]
name = "good"
schedule = "@every 100ms"
command = "true"
[[job]]
name = "bad"
schedule = "@daily"
command = "exit 3"
[[job]]
name = "no"
schedule = "@daily"
command = ["/no/such/program"]
[[job]]
name = "long"
schedule = "@daily"
command = "echo up; exec sleep 1000"
`), "--store", store, "--listen", "127.0.0.1:0")
	at, _ := p.until("listening")["at"].(string)
	for _, name := range []string{"bad", "no", "long"} {
		p.after(0, "job scheduled", "job", name)
	}
	wantAnswer(t, store, 0, "bad: due now\nno: due now\nlong: due now\n", "run-now", "bad", "no", "long")
	p.after(0, "up")
	for jobNamed(t, store, "bad")["error"] == nil || jobNamed(t, store, "no")["error"] == nil { // the store has it a moment after the log
	}
	for i := len(p.log); p.count("run ended", "job", "good") < 25; i++ {
		p.until("run ended", "job", "good")
	}
	wantAnswer(t, store, 0, "good: ", "pause", "good")
	for args, want := range map[string]string{
		"--outcome failed":                       "bad",
		"--outcome failed --outcome not-started": "bad no",
		"--outcome not_started":                  "no",
		"--outcome running":                      "long",
		"--outcome ok -n 1":                      "good",
		"--outcome timeout":                      "",
		"bad --since 1h":                         "bad",
		"bad --since 2099-01-01":                 "",
		"long --since 2099-01-01":                "long", // it is in progress
		"bad no --since 2020-01-01 -n 1":         "bad,no",
		"--since 0s --outcome failed":            "",
	} {
		for _, from := range [][]string{{"--store", store}, {"--at", at}} {
			stdout, stderr, code := output(t, "", slices.Concat([]string{"runs", "--json"}, strings.Fields(args), from)...)
			got := jobsIn(t, stdout)
			text := strings.Join(got, " ")
			if code != 0 || text != want && !(strings.Contains(want, ",") && slices.Contains(strings.Split(want, ","), text)) {
				t.Errorf("runs %s %s: %q, code %d, %s; want %q", args, from[0], got, code, stderr, want)
			}
		}
	}
	if found := asked(t, store, "runs", "good", "--since", "1h"); len(found) < 25 {
		t.Errorf("%d runs since an hour ago, want all", len(found))
	}
	p.signal(syscall.SIGTERM)
	p.until("draining")
	p.signal(syscall.SIGTERM)
	p.wait()
}

// Two daemons that share a store and a file run each occurrence of each job
// once, together.
func TestRunSharesJobs(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		out := t.TempDir()
		var tab strings.Builder
		for _, name := range []string{"a", "b", "c"} {
			tab.WriteString("# name: " + name + "\n@every 200ms echo $EXECUTORD_DUE >>'" + out + "/" + name + "'\n")
		}
		file := write(t, "tab", tab.String())
		// A machine that is busy must not look like a daemon that is dead.
		p := startFile(t, file, "--store", store, "--lease", "30s")
		q := startFile(t, file, "--store", store, "--lease", "30s")
		for _, name := range []string{"a", "b", "c"} {
			p.until("job scheduled", "job", name)
			q.until("job scheduled", "job", name)
		}
		for range 45 { // so many that each daemon has its part, wherever the first ones went
			ranOn(p, q)
		}
		p.end() // one after the other: while one drains the other goes on
		drained := instant(t, p.after(0, "draining"), "time")
		for _, name := range []string{"a", "b", "c"} {
			for due := drained; !due.After(drained); {
				due = instant(t, q.until("run started", "job", name), "due")
			}
		}
		q.end()
		for _, name := range []string{"a", "b", "c"} {
			due := dues(t, filepath.Join(out, name))
			for i, at := range due[1:] {
				if d := at.Sub(due[i]); d <= 0 || d%(200*time.Millisecond) != 0 {
					t.Errorf("%s: due at %v after %v", name, at, due[i])
				}
			}
			if len(due) != len(p.starts(name))+len(q.starts(name)) {
				t.Errorf("%s ran %d times; the logs have %d and %d", name, len(due), len(p.starts(name)), len(q.starts(name)))
			}
		}
	})
}

// With overlap "allow n", two daemons that share a job have at most n runs of it in one of them, and n-1 in the other:
// the row of the store stays with the daemon that has n. Each due time is run once.
func TestRunAllowsRunsInEachDaemon(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		out, running := t.TempDir(), t.TempDir()
		file := write(t, "jobs.toml", `[[job]]
name = "wide"
schedule = "@every 150ms"
overlap = "allow 3"
command = '''
echo $EXECUTORD_DUE >>`+out+`/due
touch `+running+`/$PPID.$$
ls `+running+` | sort >`+out+`/$$.seen
mv `+out+`/$$.seen `+out+`/$$.count
sleep 0.9
rm `+running+`/$PPID.$$'''
`)
		p := startFile(t, file, "--store", store, "--lease", "30s")
		q := startFile(t, file, "--store", store, "--lease", "30s")
		for range 20 { // of either: one daemon may keep the job, as long as it has three runs
			ranOn(p, q)
		}
		p.end()
		q.end()
		counts, err := filepath.Glob(filepath.Join(out, "*.count"))
		if err != nil || len(counts) < 20 {
			t.Fatalf("%d runs have counted, %v", len(counts), err)
		}
		most := 0
		for _, name := range counts {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all := strings.Fields(string(text))
			most = max(most, len(all))
			in := make(map[string]int) // by daemon
			for _, run := range all {
				daemon, _, _ := strings.Cut(run, ".")
				in[daemon]++
			}
			full := 0
			for _, n := range in {
				if n > 3 {
					t.Errorf("%d runs are in progress in one daemon: %q", n, all)
				}
				if n == 3 {
					full++
				}
			}
			if full > 1 || len(all) > 5 {
				t.Errorf("%d runs are in progress: %q", len(all), all)
			}
		}
		if most < 2 {
			t.Errorf("at most %d runs were in progress", most)
		}
		seen := make(map[time.Time]bool)
		for _, due := range dues(t, filepath.Join(out, "due")) {
			if seen[due] {
				t.Errorf("%v was run twice", due)
			}
			seen[due] = true
		}
	})
}

// ranOn reads the logs of two daemons up to the end of a run, in one of them.
func ranOn(p, q *process) {
	p.t.Helper()
	timeout := time.After(patience)
	for {
		var l line
		var ok bool
		select {
		case l, ok = <-p.lines:
			p.log = append(p.log, l)
		case l, ok = <-q.lines:
			q.log = append(q.log, l)
		case <-timeout:
		}
		if !ok {
			p.t.Fatal("no run ended")
		}
		if l.is("run ended") {
			return
		}
	}
}

// longEnough is the lease of a daemon that is to be killed before the lease ends. One
// that loses it, as may be on a busy machine, releases its runs: then none is lost.
const longEnough = "8s"

// After kill -9 another daemon begins again what was running, as its next
// attempt, and the history has the loss.
func TestRunTakesOver(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		flag := filepath.Join(t.TempDir(), "second")
		file := write(t, "tab", "# name: long\n@every 500ms test -e '"+flag+"' || { echo up; exec sleep 1000; }\n# name: tick\n@every 200ms true\n")
		p := startFile(t, file, "--store", store, "--lease", longEnough)
		run := p.until("run started", "job", "long")
		p.until("up")
		if err := os.WriteFile(flag, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		q := startFile(t, file, "--store", store, "--lease", "2s")
		q.until("job scheduled", "job", "tick")

		p.signal(syscall.SIGKILL)
		<-p.exited
		p.killLeft() // nothing else does

		again := q.until("run started", "job", "long", "due", run["due"])
		if again["attempt"] != 2.0 || again["run"] != run["run"] {
			t.Errorf("begun again: %v", again)
		}
		q.until("run ended", "job", "long", "run", again["run"], "outcome", "ok")
		q.until("run ended", "job", "tick")
		q.end()
		runs := asked(t, store, "runs", "long", "-n", "1000")
		last := runs[len(runs)-1]
		if last["outcome"] != "lost" || last["run"] != run["run"] || last["node"] == runs[len(runs)-2]["node"] {
			t.Errorf("of the run that was lost: %v; of the next: %v", last, runs[len(runs)-2])
		}
	})
}

// A run that is ended because its daemon is, is begun again by another one, for the same time and as the same attempt.
// Both are in the history.
func TestRunReleasesInterruptedRun(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		flag := filepath.Join(t.TempDir(), "second")
		file := write(t, "tab", "# name: long\n@every 500ms test -e '"+flag+"' || { echo up; exec sleep 1000; }\n")
		p := startFile(t, file, "--store", store, "--drain-timeout", "50ms")
		run := p.until("run started", "job", "long")
		p.until("up")
		if err := os.WriteFile(flag, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		p.signal(syscall.SIGTERM)
		if code := p.wait(); code != exitInterrupted {
			t.Errorf("exit code %d", code)
		}
		p.want(1, "run ended", "job", "long", "outcome", "stopped")

		q := startFile(t, file, "--store", store)
		again := q.until("run started", "job", "long")
		if again["run"] != run["run"] || again["due"] != run["due"] || again["attempt"] != nil {
			t.Errorf("first %v, then %v", run, again)
		}
		q.until("run ended", "job", "long", "run", again["run"], "outcome", "ok")
		q.end()
		runs := asked(t, store, "runs", "long")
		if first := runs[len(runs)-1]; first["outcome"] != "stopped" || first["run"] != run["run"] || runs[len(runs)-2]["outcome"] != "ok" {
			t.Errorf("in the history: %v", runs)
		}
	})
}

// What waits for the end of its jitter when the daemon ends is run later, and does not hold up the end.
func TestRunReleasesDelayedRun(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	file := write(t, "jobs.toml", "[[job]]\nname = \"late\"\nschedule = \"@every 1s\"\njitter = \"15s\"\ncommand = \"echo ran\"\n")
	p := startFile(t, file, "--store", store)
	run := p.until("run delayed", "job", "late", "reason", "jitter", "run", 1)
	p.end()
	for _, l := range p.log {
		if l.is("run started") {
			t.Skip("the jitter was too short for this test")
		}
	}
	q := startFile(t, file, "--store", store)
	if again := q.until("run started", "job", "late", "run", 1); again["due"] != run["due"] {
		t.Errorf("delayed as %v, and then %v", run, again)
	}
	q.until("ran")
	q.end()
}

// A run that somebody asks for has no jitter.
func TestRunNowHasNoJitter(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	p := startTOML(t, "[[job]]\nname = \"late\"\nschedule = \"@yearly\"\njitter = \"1000h\"\ncommand = \"echo ran\"\n", "--store", store)
	p.until("job scheduled", "job", "late")
	if _, stderr, code := output(t, "", "run-now", "late", "--store", store); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	p.until("ran", "job", "late")
	p.want(0, "run delayed")
	p.end()
}

// A file that does not answer for longer than the lease ends no run while there is one daemon: nobody else could begin
// it again. The next times are run when the file answers again.
func TestRunOutlastsStalledFile(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	p := start(t, "# name: long\n@every 1s echo up; sleep 5; echo done\n", "--store", store, "--lease", "1s")
	p.until("up", "job", "long")
	time.Sleep(time.Second) // a heartbeat after the claim; there is nothing to see of it
	// A heartbeat may be there first.
	db, err := sql.Open("sqlite", "file:"+store+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "begin immediate"); err != nil {
		t.Fatal(err)
	}
	p.until("durable: could not renew the lease in time; no job begins until the store answers")
	time.Sleep(500 * time.Millisecond)
	if _, err := tx.ExecContext(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
	p.until("done", "job", "long", "run", 1)
	p.until("run ended", "job", "long", "outcome", "ok")
	p.until("up", "job", "long", "run", 2)
	p.want(0, "run ended", "outcome", "lost")
	p.signal(syscall.SIGTERM)
	p.until("draining")
	p.signal(syscall.SIGTERM)
	p.wait()
}

// Daemons of two files, in one store, leave each other's jobs alone.
func TestRunSeparatesNamespaces(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		p := startFile(t, write(t, "web.crontab", "# name: same\n@every 100ms echo web\n"), "--store", store)
		p.until("web")
		q := startFile(t, write(t, "db.crontab", "# name: same\n@every 100ms echo db\n"), "--store", store)
		q.until("db")
		q.until("db")
		p.until("web")
		p.end()
		q.end()
		p.want(0, "db")
		q.want(0, "web")
		p.want(0, "job removed")
		q.want(0, "job removed")

		wantAnswer(t, store, 1, "executord: same: there are several: say ", "pause", "same")
		wantAnswer(t, store, 0, "db/same: paused\n", "pause", "db/same")
		wantAnswer(t, store, 0, "same: paused\n", "pause", "same", "--namespace", "web")
	})
}

// A file that is read again changes the store: new jobs come, others go, and
// what is the same goes on. With a mistake in it, all stays as it is.
func TestRunReloads(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	file := write(t, "tab", "# name: stays\n@every 100ms echo one\n# name: goes\n@every 100ms true\n# name: changes\n@every 100ms echo old\n")
	p := startFile(t, file, "--store", store)
	p.until("old")
	rewrite := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		p.signal(syscall.SIGHUP)
	}
	rewrite("61 * * * * true\n")
	p.until("file not read again", "line", 1)
	p.until("run ended", "job", "goes")
	rewrite("@hourly true\n@daily true\n") // two that have their lines for names
	p.until("file not read again", "line", 2)

	rewrite("# name: stays\n@every 100ms echo one\n# name: changes\n@every 100ms echo new\n# name: comes\n@every 100ms true\n")
	p.until("job scheduled", "job", "stays", "change", "unchanged")
	p.until("job scheduled", "job", "changes", "change", "changed")
	p.until("job scheduled", "job", "comes", "change", "new")
	removed := instant(t, p.until("job removed", "job", "goes"), "time")
	p.until("run ended", "job", "comes")
	p.until("new")
	for due := removed; due.Before(removed.Add(time.Second)); {
		due = instant(t, p.until("run started", "job", "stays"), "due")
	}

	rewritten := len(p.log)
	rewrite("# name: goes\n@every 100ms echo back\n")
	p.until("file read again")
	late := 0
	for _, at := range p.starts("goes") {
		if at.After(removed) {
			late++
		}
	}
	if late > 1 { // one may have begun by then: it is for the last time that has passed when it is started
		t.Errorf("%d runs were due after the job was removed at %v", late, removed)
	}
	p.until("job scheduled", "job", "goes", "change", "put back")
	p.until("back")
	for _, name := range []string{"stays", "changes", "comes"} {
		p.after(rewritten, "job removed", "job", name)
	}
	p.end()
	starts := p.starts("goes")
	for i, at := range starts[1:] {
		if d := at.Sub(starts[i]); d <= 0 || d%(100*time.Millisecond) != 0 {
			t.Errorf("goes was due at %v after %v: not on its grid", at, starts[i])
		}
	}
	for name, want := range map[string]string{"stays": "removed", "changes": "removed", "comes": "removed", "goes": "waiting"} {
		if got := jobNamed(t, store, name)["state"]; got != want && !(name == "goes" && got == "due") { // a run may have come to be due in the drain
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if all := asked(t, store, "jobs"); len(all) != 1 {
		t.Errorf("without --all: %v", all)
	}
}

// A pipe in the place of the file keeps executord neither from its work nor from
// ending: it is not read again.
func TestRunDoesNotReloadPipe(t *testing.T) {
	t.Parallel()
	file := write(t, "tab", "@every 100ms true\n")
	p := startFile(t, file, "--store", newStoreFile(t))
	p.until("run ended")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGHUP)
	p.until("SIGHUP ignored")
	p.until("run ended")
	p.end()
}

// A run of a job that is removed from its file meanwhile ends by itself, and is
// the last.
func TestRunRemovesRunningJob(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		fifo := filepath.Join(t.TempDir(), "go")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		witness := "# name: witness\n@every 300ms exec sleep 1000\n"
		file := write(t, "tab", witness+"# name: long\n@every 300ms echo up; read x <'"+fifo+"'; echo done\n")
		p := startFile(t, file, "--store", store)
		p.after(0, "up")
		p.after(0, "run started", "job", "witness")
		if err := os.WriteFile(file, []byte(witness), 0o644); err != nil {
			t.Fatal(err)
		}
		p.signal(syscall.SIGHUP)
		p.until("job removed", "job", "long")
		if got := jobNamed(t, store, "long")["state"]; got != "running, then removed" {
			t.Errorf("it is %v", got)
		}
		wantAnswer(t, store, 0, "witness: canceled; its run on ", "cancel", "witness")
		// the heartbeat that ended this one would have ended long
		p.until("run ended", "job", "witness", "outcome", "canceled")
		pipe, err := os.OpenFile(fifo, os.O_RDWR, 0) // does not wait for a reader
		if err != nil {
			t.Fatal(err)
		}
		defer pipe.Close()
		if _, err := pipe.WriteString("\n"); err != nil {
			t.Fatal(err)
		}
		p.until("done")
		p.until("run ended", "job", "long", "outcome", "ok")
		p.end()
		if got := jobNamed(t, store, "long"); got["state"] != "removed" || got["last_run"].(map[string]any)["outcome"] != "ok" {
			t.Errorf("it is %v", got)
		}
		if all := asked(t, store, "runs", "long"); len(all) != 1 {
			t.Errorf("runs: %v", all)
		}
	})
}

// A run that makes up for times that were missed keeps its due time when another
// daemon begins it again: by that it is known to be the same.
func TestRunTakeOverKeepsDue(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		dir := t.TempDir()
		file := write(t, "tab", "# name: long\n@every 500ms cd '"+dir+"'; test -e first || exit 0; test -e second || { echo up; exec sleep 1000; }\n")
		before := startFile(t, file, "--store", store)
		before.until("run ended", "job", "long")
		before.end()
		if err := os.WriteFile(filepath.Join(dir, "first"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1200 * time.Millisecond) // downtime
		p := startFile(t, file, "--store", store, "--lease", longEnough)
		p.until("runs missed", "job", "long")
		run := p.after(0, "run started", "job", "long")
		p.after(0, "up")
		if err := os.WriteFile(filepath.Join(dir, "second"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		for jobNamed(t, store, "long")["attempt"] != 1.0 { // the store knows that it has begun
			time.Sleep(10 * time.Millisecond)
		}
		p.signal(syscall.SIGKILL)
		<-p.exited
		p.killLeft() // nothing else does

		q := startFile(t, file, "--store", store, "--lease", "2s")
		if again := q.until("run started", "job", "long"); again["attempt"] != 2.0 || again["due"] != run["due"] {
			t.Errorf("first %v, then %v", run, again)
		}
		q.end()
	})
}

// Times that pass during a run are skipped, and not made up for after it, also
// if they are those of a schedule that came with a file during the run, or of a
// job that was put back in the file then.
func TestRunSkipsOverlapOfNewSchedule(t *testing.T) {
	t.Parallel()
	const witness = "# name: witness\n@every 100ms true\n"
	for name, versions := range map[string][]string{
		"another schedule": {"300ms"},
		"put back":         {"", "250ms"},
	} {
		t.Run(name, func(t *testing.T) {
			onEachStore(t, func(t *testing.T, store string) {
				fifo := filepath.Join(t.TempDir(), "go")
				if err := syscall.Mkfifo(fifo, 0o600); err != nil {
					t.Fatal(err)
				}
				with := func(period string) string {
					if period == "" {
						return witness
					}
					return witness + "# name: long\n@every " + period + " read x <'" + fifo + "'\n"
				}
				file := write(t, "tab", with("250ms"))
				p := startFile(t, file, "--store", store)
				p.until("run started", "job", "long", "run", 1)
				var scheduled line
				for _, period := range versions {
					n := len(p.log)
					if err := os.WriteFile(file, []byte(with(period)), 0o644); err != nil {
						t.Fatal(err)
					}
					p.signal(syscall.SIGHUP)
					if period == "" {
						p.after(n, "job removed", "job", "long")
					} else {
						scheduled = p.after(n, "job scheduled", "job", "long")
					}
				}
				next := instant(t, scheduled, "next")
				// Two more times pass, and one that may be overlooked: a daemon's idea of a
				// server's clock is behind by what an answer takes.
				for due := next; !due.After(next.Add(900 * time.Millisecond)); {
					due = instant(t, p.until("run started", "job", "witness"), "due")
				}
				pipe, err := os.OpenFile(fifo, os.O_RDWR, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer pipe.Close()
				if _, err := pipe.WriteString("\n"); err != nil {
					t.Fatal(err)
				}
				ended := p.until("run ended", "job", "long", "run", 1)
				if ended["skipped"].(float64) < 3 {
					t.Fatalf("not skipped, though they passed during the run: %v", ended)
				}
				if n := p.counted("runs skipped", "job", "long", "running", 1); float64(n) != ended["skipped"] {
					t.Errorf("the log has %d times that were skipped, and %v", n, ended)
				}
				// what comes later ends by itself
				if _, err := pipe.WriteString(strings.Repeat("\n", 100)); err != nil {
					t.Fatal(err)
				}
				again := p.after(0, "run started", "job", "long", "run", 2)
				period, _ := time.ParseDuration(versions[len(versions)-1])
				if since := instant(t, again, "due").Sub(next); since < period || since%period != 0 {
					t.Errorf("the next time of the new schedule was %v, and %v have passed until the next run was due", next, since)
				}
				p.until("run ended", "job", "long", "run", 2)
				p.end()
			})
		})
	}
}

// What a job owes by a schedule that a new file changes is not made up for, and the log says so. A run that was interrupted
// is begun again, as the new file has it.
func TestRunDropsOwedTimesOfOldSchedule(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		with := func(period, word string) string {
			return "# name: long\n@every " + period + " echo " + word + "; exec sleep 1000\n# name: other\n@every 1h true\n"
		}
		file := write(t, "tab", with("1s", "up"))
		p := startFile(t, file, "--store", store)
		due := p.until("run started", "job", "long")["due"]
		p.until("up")
		p.signal(syscall.SIGTERM)
		p.until("draining")
		p.signal(syscall.SIGTERM) // cuts the run short
		p.wait()
		if err := os.WriteFile(file, []byte(with("1h", "again")), 0o644); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		q := startFile(t, file, "--store", store, "--drain-timeout", "50ms")
		q.until("job scheduled", "job", "long", "change", "changed")
		q.until("runs missed", "job", "long") // what was due since
		q.after(0, "run started", "job", "long", "run", 1, "due", due)
		q.after(0, "again")
		q.signal(syscall.SIGTERM)
		q.wait()
		q.want(1, "run started", "job", "long")
	})
}

// A run that is ended since the store does not answer while executord drains was
// not waited for: the exit code says so, as if a second signal had ended it.
func TestRunLostInDrain(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	// Beside another daemon: one that is alone lets its runs go on.
	other := start(t, "@yearly true\n", "--store", store, "--lease", "2s", "--namespace", "other")
	p := start(t, "# name: long\n@every 200ms echo up; exec sleep 1000\n", "--store", store, "--lease", "2s")
	p.until("up")
	p.signal(syscall.SIGTERM)
	p.until("draining", "running", 1)
	db, err := sql.Open("sqlite", store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range []string{"pragma busy_timeout = 60000", "begin immediate"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	p.until("run ended", "job", "long", "outcome", "lost")
	if _, err := db.Exec("rollback"); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	p.want(1, "executord ended", "interrupted", 1, "exit", exitInterrupted) // a busy machine may have lost runs before
	other.end()
}

// A store keeps jobs of a directory that run the same program, whose names are not in their files.
func TestDirInStore(t *testing.T) {
	name := self(t)
	dir := filepath.Dir(files(t, "sysstat", "@daily "+name+" true 1 1\n@weekly "+name+" true 60 2\n")[0])
	p := startCommand(t, executord(t, "run", "--dir", dir, "--store", newStoreFile(t), "--namespace", "n"))
	one, other := p.until("job scheduled", "schedule", "@daily")["job"], p.until("job scheduled", "schedule", "@weekly")["job"]
	if one == other {
		t.Errorf("both are called %s", one)
	}
	p.end()
}

// jobsIn returns the names of the jobs that the lines of JSON are about, sorted.
func jobsIn(t *testing.T, text string) (names []string) {
	t.Helper()
	for in := json.NewDecoder(strings.NewReader(text)); in.More(); {
		var one struct{ Job string }
		if err := in.Decode(&one); err != nil {
			t.Fatal(err)
		}
		names = append(names, one.Job)
	}
	slices.Sort(names)
	return names
}
