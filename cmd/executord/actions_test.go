//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/client"
)

// The commands that act on a store say in plain words what became of it, and the exit code says whether it is done. What
// they did holds for a daemon that is started afterwards, whose log has the command that takes it back.
func TestActChangesJobs(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		file := write(t, "tab", "# name: nightly\n30 2 29 2 * echo ran\n# name: other\n30 2 29 2 * true\n")
		p := startFile(t, file, "--store", store)
		p.until("job scheduled", "job", "other")
		state := func(want string) {
			t.Helper()
			if got := jobNamed(t, store, "nightly")["state"]; got != want {
				t.Errorf("it is %v, want %s", got, want)
			}
		}
		next := jobNamed(t, store, "nightly")["next"]

		wantAnswer(t, store, 0, "nightly: paused\n", "pause", "nightly")
		state("paused")
		wantAnswer(t, store, 0, "nightly: paused\n", "pause", "nightly")
		wantAnswer(t, store, 0, "nightly: resumed; due ", "resume", "nightly")
		wantAnswer(t, store, 1, "nightly: not paused: it is waiting\n", "resume", "nightly")
		wantAnswer(t, store, 0, "nightly: canceled\n", "cancel", "tab/nightly")
		state("canceled")
		wantAnswer(t, store, 1, "nightly: it is canceled already\n", "cancel", "nightly")
		wantAnswer(t, store, 1, "nightly: cannot be paused: it is canceled\n", "pause", "nightly")
		wantAnswer(t, store, 1, "nightly: cannot run: it is canceled; executord resume brings it back\n", "run-now", "nightly")
		wantAnswer(t, store, 0, "nightly: brought back; due ", "resume", "nightly")
		untilState(t, store, "nightly", "waiting") // the daemon may have to be done with it first
		if got := jobNamed(t, store, "nightly")["next"]; got != next {
			t.Errorf("next at %v, and after all that at %v", next, got)
		}
		if all := asked(t, store, "runs"); len(all) != 0 {
			t.Errorf("there are runs: %v", all)
		}

		wantAnswer(t, store, 0, "nightly: due now\n", "run-now", "nightly")
		p.until("ran")
		p.until("run ended", "job", "nightly", "outcome", "ok")
		wantAnswer(t, store, 1, "executord: nihgtly: no such job in ", "cancel", "nihgtly")
		wantAnswer(t, store, 1, "other: paused\nexecutord: nobody: no such job in ", "pause", "nobody", "other")
		wantAnswer(t, store, 0, "other: resumed; due ", "resume", "other", "--reason", "the disk is <new>")
		acts := asked(t, store, "acts", "-n", "100")
		if a := acts[0]; a["action"] != "resume" || a["key"] != "executord:tab/other" || a["reason"] != "the disk is <new>" ||
			!strings.HasPrefix(a["answer"].(string), "resumed; due") || !strings.Contains(a["who"].(string), "@") {
			t.Errorf("the latest act is %v", a)
		}
		if len(acts) != 12 {
			t.Errorf("%d acts: %v", len(acts), acts)
		}
		if text, _, code := output(t, "", "acts", "-n", "1", "--store", store); code != 0 || !strings.HasPrefix(text, "AT ") ||
			!strings.Contains(text, "tab/other") || strings.Count(text, "\n") != 2 {
			t.Errorf("exit code %d, %s", code, text)
		}
		p.end()
		if got := jobNamed(t, store, "nightly")["next"]; got != next {
			t.Errorf("next at %v, and after run-now at %v", next, got)
		}

		wantAnswer(t, store, 0, "nightly: paused\n", "pause", "nightly")
		wantAnswer(t, store, 0, "other: canceled\n", "cancel", "other")
		p = startFile(t, file, "--store", store)
		for name, want := range map[string]struct{ state, answer string }{
			"nightly": {"paused", "nightly: resumed; due "}, "other": {"canceled", "other: brought back; due "},
		} {
			hint := p.after(0, "job does not run", "job", name, "state", want.state)["hint"].(string)
			if strings.HasPrefix(store, "postgres:") {
				continue // the log has no parameters of the URL, such as a password
			}
			cmd := executord(t)
			cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `executord() { "$0" "$@"; }; ` + hint, cmd.Path}
			if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), want.answer) {
				t.Errorf("the hint %s: %v, %q", hint, err, out)
			}
		}
		p.end()
	})
}

// A command whose answer cannot be written says so, and does not exit as if all
// were well.
func TestMainReportsLostAnswer(t *testing.T) {
	t.Parallel()
	store, file := newStoreFile(t), write(t, "tab", "# name: tick\n@every 100ms true\n")
	p := startFile(t, file, "--store", store)
	p.until("run ended")
	p.end()
	deaf, err := os.Open(os.DevNull) // not for writing
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	for _, args := range [][]string{
		{"check", file}, {"jobs"}, {"jobs", "--json"}, {"runs"}, {"runs", "--verbose"}, {"runs", "--json"}, {"store", "list", "--json"}, {"store", "counts"}, {"pause", "tick"}, {"resume", "tick"}, {"version"},
	} {
		cmd := executord(t, args...)
		cmd.Env = append(cmd.Env, "EXECUTORD_STORE="+store)
		var stderr strings.Builder
		cmd.Stdout, cmd.Stderr = deaf, &stderr
		cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != exitMistake ||
			!strings.HasPrefix(stderr.String(), "executord: standard output cannot be written: ") || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%q: exit code %d, %q", args, code, &stderr)
		}
	}
}

// A store, a daemon with one, and a daemon without one do the same things to a job, and say the same of it; run-now --wait
// waits for the end of the run, also after a failed attempt, and its exit code says how the run has ended.
func TestActionsOfStoreAndDaemon(t *testing.T) {
	t.Parallel()
	file := write(t, "jobs.toml", `
[[job]]
name = "good"
schedule = "0 0 1 1 *"
command = "sleep 0.3"
parameters.DAY = "mon"
[[job]]
name = "bad"
schedule = "0 0 1 1 *"
command = "echo no disk >&2; exit 3"
retries = 1
retry_wait = "300ms"
[[job]]
name = "often"
schedule = "@every 100ms"
overlap = "allow 50"
command = "test $WHO = me || exit 0; sleep 0.5; exit 3"
parameters.WHO = "other"
`)
	store := filepath.Join(t.TempDir(), "jobs.db")
	sockets := t.TempDir()
	stored := startFile(t, file, "--store", store, "--listen", "unix:"+sockets+"/a", "--actions")
	alone := startFile(t, file, "--listen", "unix:"+sockets+"/b", "--actions")
	for _, p := range []*process{stored, alone} {
		p.after(0, "listening")
		p.after(0, "job scheduled", "job", "bad")
	}
	last := make(map[bool]int) // of good, the latest run of either daemon
	for _, from := range []string{"--store " + store, "--at unix:" + sockets + "/a", "--at unix:" + sockets + "/b"} {
		for _, test := range []struct {
			args string
			code int
			want string // a pattern
		}{
			{"run-now often --set WHO=me --wait", exitFailed, // others begin and end meanwhile
				`often: due now(, and no longer paused)?, with WHO=me\noften: run \d+: failed after [\d.ms]+\n    exit status 3\n`},
			{"pause often", exitOK, `often: (paused|will be paused when its run on .* has ended)\n`},
			{"run-now good --wait", exitOK, `good: due now\ngood: run \d+: ok after [\d.ms]+\n`},
			{"run-now good --wait --set DAY=tue", exitOK, `good: due now, with DAY=tue\ngood: run \d+: ok after [\d.ms]+\n`},
			{"run-now bad good --wait", exitFailed, `bad: due now\ngood: due now\nbad: run \d+: failed after [\d.ms]+\n    exit status 3, after 2 attempts: no disk\ngood: run \d+: ok after [\d.ms]+\n`},
			{"run-now good --set NO=1", exitMistake, `(executord: job )?good: there is no parameter "NO"; the job has DAY\n`},
			{"pause good", exitOK, `good: paused\n`},
			{"run-now good", exitOK, `good: due now, and no longer paused\n`},
			{"exclude-next bad", exitOK, `bad: does not run at 20\d\d-01-01 00:00:00 .\d\d:\d\d; due 20\d\d-01-01 00:00:00 .\d\d:\d\d\n`},
			{"pause good", exitOK, `good: (paused|will be paused when its run on .* has ended)\n`},
			{"exclude-next good", exitMistake, `good: nothing is excluded: it is (paused|running, then paused|due, then paused), and has no next due time\n`},
			{"resume nothing", exitMistake, `executord: nothing: .*no such job.*\n`},
			{"resume bad", exitMistake, `bad: not paused: it is waiting\n`},
		} {
			stdout, stderr, code := output(t, "", append(strings.Fields(test.args), strings.Fields(from)...)...)
			if ok, err := regexp.MatchString("^"+test.want+"$", stdout+stderr); code != test.code || err != nil || !ok {
				t.Errorf("%s, %s: exit code %d, %s%s; want %d, %s", from, test.args, code, stdout, stderr, test.code, test.want)
			}
			if found := regexp.MustCompile(`good: run (\d+):`).FindStringSubmatch(stdout); found != nil {
				of := strings.HasSuffix(from, "/b")
				number, _ := strconv.Atoi(found[1])
				if number <= last[of] {
					t.Errorf("%s, %s: run %d, and before it %d", from, test.args, number, last[of])
				}
				last[of] = number
			}
		}
		// It may still run: then the pause begins with its end.
		if stdout, _, code := output(t, "", append(strings.Fields("resume good"), strings.Fields(from)...)...); code != exitOK {
			t.Errorf("%s: resume: exit code %d, %s", from, code, stdout)
		}
		for text := ""; !strings.Contains(text, " waiting "); text, _, _ = output(t, "", append([]string{"jobs", "good"}, strings.Fields(from)...)...) {
		}
	}
	acts, _, _ := output(t, "", "acts", "--store", store)
	if !strings.Contains(acts, "executord pause, by "+client.WhoAmI()) {
		t.Errorf("the audit log does not say who it was: %s", acts)
	}
	stored.end()
	alone.end()
	plain := startFile(t, file, "--listen", "127.0.0.1:0")
	at, _ := plain.until("listening")["at"].(string)
	plain.after(0, "job scheduled", "job", "good")
	if stdout, stderr, code := output(t, "", "pause", "good", "--at", at); code != exitMistake || !strings.Contains(stdout+stderr, "--actions") {
		t.Errorf("without --actions: exit code %d, %s%s", code, stdout, stderr)
	}
	plain.end()
}

// A store, a daemon with one, and a daemon without one end runs and cancel jobs alike, and take patterns for names.
func TestActionsEndRuns(t *testing.T) {
	t.Parallel()
	file := write(t, "jobs.toml", `
[[job]]
name = "sync/mail"
schedule = "0 0 1 1 *"
overlap = "allow 2"
command = "exec sleep 1000"
[[job]]
name = "sync/news"
schedule = "0 0 1 1 *"
command = "exec sleep 1000"
[[job]]
name = "start"
schedule = "@reboot"
command = "exec sleep 1000"
`)
	store, sockets := filepath.Join(t.TempDir(), "jobs.db"), t.TempDir()
	stored := startFile(t, file, "--store", store, "--listen", "unix:"+sockets+"/a", "--actions")
	alone := startFile(t, file, "--listen", "unix:"+sockets+"/b", "--actions")
	for _, p := range []*process{stored, alone} {
		p.after(0, "listening")
		p.after(0, "run started", "job", "start")
		p.after(0, "job scheduled", "job", "sync/news")
	}
	var from string
	wants := func(args string, code int, want string) {
		t.Helper()
		stdout, stderr, got := output(t, "", append(strings.Fields(args), strings.Fields(from)...)...)
		if ok, err := regexp.MatchString("^"+want+"$", stdout+stderr); got != code || err != nil || !ok {
			t.Errorf("%s, %s: exit code %d, %s%s; want %d, %s", from, args, got, stdout, stderr, code, want)
		}
	}
	for _, way := range []struct {
		from string
		*process
	}{{"--store " + store, stored}, {"--at unix:" + sockets + "/a", stored}, {"--at unix:" + sockets + "/b", alone}} {
		from = way.from
		wants("end-run sync/mail", exitMistake, `sync/mail: no run is in progress\n`)
		wants("run-now sync/*", exitOK, `sync/mail: due now\nsync/news: due now\n`)
		way.until("run started")
		way.until("run started")
		wants("run-now sync/news", exitMistake, `sync/news: it is running already, since .*, on .*\n`)
		wants("run-now sync/mail", exitOK, `sync/mail: due now\n`)
		way.until("run started", "job", "sync/mail")
		wants("end-run sync/mail --run 2000", exitMistake, `sync/mail: run 2000 is not in progress\n`)
		wants("end-run sync/mail", exitMistake, `sync/mail: runs \d to \d are in progress: say which one is to end, as --run \d\n`)
		wants("end-run bad --run 0", exitUsage, `executord: --run 0: it must be the number of a run\nSee executord end-run --help.\n`)
		wants("pause tab/* syn?", exitMistake, `executord: tab/\*: no such job .*\nexecutord: syn\?: no such job .*\n`)
		wants("pause sync/mai? nobody", exitMistake, `sync/mail: will be paused when its run on .* has ended\nexecutord: nobody: no such job .*\n`)
		wants("resume sync/mail", exitOK, `sync/mail: resumed; it will not be paused after its run on .*\n`)

		runs, _, _ := output(t, "", append([]string{"runs", "sync/mail", "--outcome", "running", "--json"}, strings.Fields(from)...)...)
		numbers := regexp.MustCompile(`"run":(\d+)`).FindAllStringSubmatch(runs, -1)
		if len(numbers) != 2 {
			t.Fatalf("%s: %v", from, numbers)
		}
		wants("end-run sync/mail --run "+numbers[0][1], exitOK, "sync/mail: run "+numbers[0][1]+" is being ended\n")
		way.until("run ended", "job", "sync/mail", "outcome", "canceled")
		wants("end-run sync/m*", exitOK, "sync/mail: run "+numbers[1][1]+" is being ended\n")
		way.until("run ended", "job", "sync/mail", "outcome", "canceled")
		wants("cancel sync/new?", exitOK, `sync/news: canceled; its run on .* is being ended\n`)
		way.until("run ended", "job", "sync/news", "outcome", "canceled")
		for text := ""; !strings.Contains(text, "canceled"); text, _, _ = output(t, "", append([]string{"jobs", "sync/news"}, strings.Fields(from)...)...) {
		}
		wants("resume sync/news", exitOK, `sync/news: brought back; due 2.*\n`)
	}
	for at, p := range map[string]*process{"/a": stored, "/b": alone} { // it is not in the store
		from = "--at unix:" + sockets + at
		wants("end-run start", exitOK, `start: run 1 is being ended\n`)
		p.until("run ended", "job", "start", "outcome", "canceled")
		p.end()
	}
}

// A pause with an end is over then, also if the daemon was started again meanwhile; the list of the jobs says when.
func TestPauseUntilEnds(t *testing.T) {
	t.Parallel()
	store, socket := newStoreFile(t), "unix:"+t.TempDir()+"/s"
	file := write(t, "jobs.toml", "[[job]]\nname = \"tick\"\nschedule = \"@every 100ms\"\ncommand = \"true\"\n")
	p := startFile(t, file, "--store", store, "--listen", socket, "--actions")
	p.until("run ended")
	for args, want := range map[string]string{
		"--until 1h --at " + socket:           `^tick: (paused until|will be paused when .* has ended, until) 20\d\d-`,
		"--until 0s --at " + socket:           "^tick: not paused: 20.* has passed\n$",
		"--until 2020-01-01 --store " + store: "^tick: not paused: 2020-01-01 .* has passed\n$",
		"--until tomorrow --store " + store:   "^executord: --until \"tomorrow\": it must be a time as .*, or from now as 90m\n",
	} {
		stdout, stderr, _ := output(t, "", append([]string{"pause", "tick"}, strings.Fields(args)...)...)
		if ok, err := regexp.MatchString(want, stdout+stderr); err != nil || !ok {
			t.Errorf("%s: %s%s, want %s", args, stdout, stderr, want)
		}
	}
	untilState(t, store, "tick", "paused")
	if stdout, _, _ := output(t, "", "jobs", "--at", socket); !strings.Contains(stdout, "paused until 2") {
		t.Errorf("the daemon lists\n%s", stdout)
	}
	p.end()
	wantAnswer(t, store, 0, "tick: paused until ", "pause", "tick", "--until", "2s")
	if stdout, _, _ := output(t, "", "jobs", "--store", store); !strings.Contains(stdout, "paused until 2") {
		t.Errorf("the store lists\n%s", stdout)
	}
	q := startFile(t, file, "--store", store)
	q.after(0, "job does not run", "state", "paused")
	q.until("run ended", "job", "tick")
	q.end()
}
