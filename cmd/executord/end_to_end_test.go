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

// onEachWay runs a test without a store, and on each kind of store.
func onEachWay(t *testing.T, test func(t *testing.T, store string)) {
	t.Run("memory", func(t *testing.T) { t.Parallel(); test(t, "") })
	onEachStore(t, test)
}

// A command that a job has, and what becomes of it.
var told = []struct {
	job, keys, command string
	lines              []string       // that it writes, in this order, among others
	ended              map[string]any // of the line at its end
	history            string         // its outcome and error there
}{
	{"talk", "", `echo out; echo err >&2; printf last; exit 3`, []string{"out", "last"},
		map[string]any{"level": "ERROR", "outcome": "failed", "exit": 3}, "failed: exit status 3"},
	{"gone", "", `kill -KILL $$`, nil, map[string]any{"outcome": "failed", "signal": "SIGKILL"}, "failed: killed by SIGKILL"},
	{"envy", "", `cat; echo $A $SHELL $EXECUTORD_JOB $EXECUTORD_RUN $EXECUTORD_ATTEMPT ${EXECUTORD_TOKEN:+has a token} ${EXECUTORD_STORE-none}%first%sec\%ond`,
		[]string{"first", "sec%ond", "1 /bin/sh envy 1 1 has a token none"}, map[string]any{"outcome": "ok", "exit": 0}, "ok: "},
	{"latin", "", "printf '\xe4\xfc' | od -An -tx1; printf $LATIN | od -An -tx1; echo ä", []string{" e4 fc", " e4", "ä"}, map[string]any{"outcome": "ok"}, "ok: "},
	{"wild", "", `printf '\033[31m\377\n'; head -c 20000 /dev/zero | tr '\0' x`,
		[]string{`\x1b[31m\xff`, strings.Repeat("x", 16<<10), strings.Repeat("x", 20000-16<<10)}, map[string]any{"outcome": "ok"}, "ok: "},
	{"loud", "", `seq 20000; echo done`, []string{"1", "2", "rest of the output not logged"}, map[string]any{"outcome": "ok"}, "ok: "},
	{"slow", "# timeout: 2s\n", `trap '' TERM; echo stubborn; sleep 1000 & sleep 1000; true`, []string{"stubborn"},
		map[string]any{"outcome": "timeout", "signal": "SIGKILL"}, "timeout: timeout: it was ended after 2s"},
	{"left", "", `sleep 1000 & echo up`, []string{"up"}, map[string]any{"outcome": "ok", "exit": 0}, "ok: "},
	{"lost", "# dir: /no/such/place\n", `true`, nil, map[string]any{"reason": "the directory /no/such/place does not exist"},
		"not started: not started: the directory /no/such/place does not exist"},
	{"mute", "# shell: /no/such/shell\n", `true`, nil, map[string]any{"reason": "program /no/such/shell does not exist"},
		"not started: not started: program /no/such/shell does not exist"},
	{"secret", "# secret: PASSWORD=$SECRET\n", `echo $PASSWORD; test $PASSWORD = hunter2hunter2`, []string{"***"}, map[string]any{"outcome": "ok"}, "ok: "},
	{"files", "", `for f in /proc/$$/fd/*; do readlink $f; done; echo end`, []string{"end"}, map[string]any{"outcome": "ok"}, "ok: "},
}

// What a run has, writes and ends with is in the log, and in the history of a store: each kind of command is told as what
// it is, and keeps none of the others from it.
func TestRunIsTold(t *testing.T) {
	onEachWay(t, func(t *testing.T, store string) {
		var tab strings.Builder
		fmt.Fprintf(&tab, "A=1\nLATIN=\xe4\nCRON_TZ=Asia/Tokyo\n")
		names := []string{"far"}
		fmt.Fprint(&tab, "# name: far\n0 0 1 1 * echo $EXECUTORD_DUE\n")
		for _, c := range told {
			names = append(names, c.job)
			keys := strings.ReplaceAll(c.keys, "$SECRET", write(t, "secret", "hunter2hunter2\n"))
			fmt.Fprintf(&tab, "# name: %s\n%s0 0 1 1 * %s\n", c.job, keys, c.command)
		}
		socket := filepath.Join(t.TempDir(), "s")
		args := []string{"run", write(t, "tab", tab.String()), "--max-output", "1", "--kill-after", "50ms", "--listen", "unix:" + socket, "--actions"}
		open, err := os.Open("/etc/passwd") // no command has it
		if err != nil {
			t.Fatal(err)
		}
		defer open.Close()
		cmd := executord(t, args...)
		cmd.ExtraFiles = append(cmd.ExtraFiles, open)
		if store != "" {
			cmd.Env = append(cmd.Env, "EXECUTORD_STORE="+store) // is as good as the flag, and no command has it
		}
		p := startCommand(t, cmd)
		p.until("listening")
		for _, name := range names {
			if next, _ := p.after(0, "job scheduled", "job", name)["next"].(string); !strings.HasSuffix(next, "+09:00") {
				t.Errorf("%s is due next at %s, want a time in its zone", name, next)
			}
		}
		if stdout, stderr, code := output(t, "", append([]string{"run-now", "--at", "unix:" + socket}, names...)...); code != exitOK {
			t.Fatalf("run-now: exit code %d, %s%s", code, stdout, stderr)
		}
		far := p.after(0, "run started", "job", "far")["due"].(string)
		p.after(0, far, "job", "far")
		if !strings.HasSuffix(far, "+09:00") {
			t.Errorf("far is due at %s, want a time in its zone", far)
		}
		failed := 0
		for _, c := range told {
			end := p.after(0, "run "+map[bool]string{true: "ended", false: "not started"}[c.ended["outcome"] != nil], "job", c.job, "run", 1)
			if end["outcome"] != "ok" {
				failed++
			}
			for key, want := range c.ended {
				if fmt.Sprint(end[key]) != fmt.Sprint(want) {
					t.Errorf("%s: %s is %v, want %v", c.job, key, end[key], want)
				}
			}
			if took, ok := end["took"].(float64); c.ended["outcome"] != nil && (!ok || took <= 0 || took > patience.Seconds()) {
				t.Errorf("%s took %v, want seconds", c.job, end["took"])
			}
			switch note := fmt.Sprint(end["note"]); {
			case c.job == "left" && !strings.HasPrefix(note, "background processes"):
				t.Errorf("left: the note is %s", note)
			case c.job == "loud":
				logged := 0
				for _, l := range p.log {
					if l["job"] == "loud" && l["stream"] != nil {
						logged++
					}
				}
				if unlogged, _ := end["unlogged"].(float64); logged+int(unlogged) != 20001 || logged < 5000 || logged > 15000 {
					t.Errorf("loud: %d lines are logged, and %v are not, want 20001", logged, end["unlogged"])
				}
			}
		}
		p.end()
		for _, c := range told {
			from := 0
			for _, text := range c.lines {
				i := slices.IndexFunc(p.log[from:], func(l line) bool { return l.is(text, "job", c.job, "run", 1) })
				if i < 0 {
					t.Errorf("%s: there is no line %.30q after the one before", c.job, text)
					continue
				}
				from += i + 1
			}
		}
		p.want(1, "err", "job", "talk", "stream", "stderr")
		p.want(1, "last", "job", "talk", "stream", "stdout")
		p.want(1, strings.Repeat("x", 16<<10), "job", "wild", "more", true)
		p.want(0, "/etc/passwd")
		p.want(1, "draining", "reason", "SIGTERM")
		p.want(1, "job summary", "job", "talk", "runs", 1, "failed", 1, "skipped", 0, "missed", 0)
		p.want(1, "executord ended", "runs", len(names), "failed", failed, "exit", exitOK)
		for _, l := range p.log {
			if text, _ := json.Marshal(l); strings.Contains(string(text), "hunter2") {
				t.Errorf("the secret is in the log: %s", text)
			}
		}
		if store == "" {
			return
		}
		history := make(map[string]map[string]any)
		for _, run := range asked(t, store, "runs", "-n", "1000") {
			history[run["job"].(string)] = run
		}
		for _, c := range told {
			run := history[c.job]
			text, _ := run["error"].(string)
			if got := fmt.Sprint(run["outcome"], ": ", text); !strings.HasPrefix(got, c.history) || run["run"] != 1.0 || run["node"] == "" {
				t.Errorf("%s is in the history as %q, %v; want %q", c.job, got, run, c.history)
			}
		}
		if got := fmt.Sprint(history["talk"]["stderr"]); got != "[err]" {
			t.Errorf("the history has %s as the standard error of talk", got)
		}
		if table, _, _ := output(t, "", "runs", "far", "--store", store); !strings.Contains(table, " +09:00 ") {
			t.Errorf("runs shows other times than those of the zone of far: %s", table)
		}
	})
}

// The first signal lets what runs end, and starts nothing more, although times pass
// meanwhile at which jobs would be due.
func TestRunDrains(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "GO="+fifo+"\n# name: slow\n@reboot echo up; read word <$GO; sleep 0.3; echo $word\n# name: often\n@every 100ms true\n")
	p.until("up")
	p.until("run ended", "job", "often")
	p.signal(syscall.SIGTERM)
	drained := instant(t, p.until("draining"), "time")
	if err := os.WriteFile(fifo, []byte("done\n"), 0); err != nil { // the job goes on only now
		t.Fatal(err)
	}
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	p.want(1, "done", "job", "slow")
	p.want(1, "run ended", "job", "slow", "outcome", "ok")
	for _, l := range p.log {
		if l["due"] != nil && instant(t, l, "due").After(drained) {
			t.Errorf("due after the drain began at %s: %v", drained, l)
		}
	}
}

// stubborn ignores SIGTERM, has children and theirs that do so too, and one
// that has left its group; it says when all are there.
const stubborn = `trap '' TERM; (sleep 1000; sleep 1000) & setsid sh -c 'echo escaped; sleep 1000' & sh -c '(sleep 1000; sleep 1000) & echo up; wait'; echo never`

// The second signal ends what runs, whatever it does against that, children
// and grandchildren too.
func TestRunSecondSignalStops(t *testing.T) {
	t.Parallel()
	p := start(t, "# name: stubborn\n@reboot "+stubborn+"\n# name: obedient\n@reboot echo ready; exec sleep 1000\n", "--kill-after", "100ms")
	for _, msg := range []string{"up", "escaped", "ready"} {
		p.after(0, msg)
	}
	p.signal(syscall.SIGTERM)
	p.until("draining", "running", 2)
	p.signal(syscall.SIGINT)
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	p.want(1, "stopping", "reason", "second SIGINT") // one of the two may have ended by then
	p.want(1, "run ended", "job", "stubborn", "outcome", "stopped", "signal", "SIGKILL")
	p.want(1, "run ended", "job", "obedient", "outcome", "stopped", "signal", "SIGTERM")
	p.want(0, "never")
	p.want(1, "executord ended", "interrupted", 2, "failed", 2, "exit", exitInterrupted)
}

// The third signal does not wait for the grace.
func TestRunThirdSignalKills(t *testing.T) {
	p := start(t, "# name: stubborn\n@reboot "+stubborn+"\n", "--kill-after", "1h")
	p.until("up")
	p.signal(syscall.SIGTERM)
	p.until("draining", "running", 1)
	p.signal(syscall.SIGTERM)
	p.until("stopping", "running", 1)
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	p.want(1, "run ended", "job", "stubborn", "signal", "SIGKILL")
}

// A drain that takes too long ends what runs, as a second signal does.
func TestRunDrainTimeout(t *testing.T) {
	p := start(t, "@reboot echo up; exec sleep 1000\n", "--drain-timeout", "50ms")
	p.until("up")
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	p.want(1, "stopping", "reason", "the drain took longer than --drain-timeout")
	p.want(1, "run ended", "outcome", "stopped", "signal", "SIGTERM")
}

// With a mistake in the file nothing is started.
func TestRunStartsNothingWithMistake(t *testing.T) {
	file := write(t, "tab", "@reboot echo started\n61 * * * * x\n@daily\n")
	stdout, stderr, code := output(t, "", "run", file)
	want := file + ":2: minute \"61\": must be 0 to 59\n    61 * * * * x\n" +
		file + ":3: the command is missing\n    @daily\n    hint: write the command after the schedule\n" +
		"executord: 2 mistakes in " + file + "\n"
	if stdout != "" || stderr != want || code != exitMistake {
		t.Errorf("exit code %d, stdout %q, stderr:\n%s\nwant:\n%s", code, stdout, stderr, want)
	}
}

// A job keeps its grid and its numbers when the daemon is started again, and what was due meanwhile is made up for by one
// run. A job for the start runs at each, and is not in the store.
func TestRunMakesUpForDowntime(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		file := write(t, "tab", "# name: tick\n@every 300ms true\n# name: up\n@reboot true\n")
		p := startFile(t, file, "--store", store)
		p.until("run ended", "job", "tick", "run", 2)
		p.after(0, "run ended", "job", "up", "run", 1)
		p.end()
		before := p.starts("tick")
		if all := asked(t, store, "jobs"); len(all) != 1 || all[0]["job"] != "tick" {
			t.Errorf("in the store: %v", all)
		}

		time.Sleep(time.Second) // downtime
		q := startFile(t, file, "--store", store)
		missed := q.until("runs missed", "job", "tick")
		next := q.after(0, "run started", "job", "tick") // the run does not wait for that line
		q.after(0, "run started", "job", "tick", "run", next["run"].(float64)+1)
		q.after(0, "run ended", "job", "up", "run", 1)
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

// After kill -9 another daemon begins again what was running, as its next attempt, and the history has the loss. Its
// place in a group is free then, for one run at a time, and what runs after it waits for its end.
func TestRunTakesOver(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		flag := filepath.Join(t.TempDir(), "second")
		file := write(t, "tab", "# name: long\n# group: g\n@every 500ms test -e '"+flag+"' || { echo up; exec sleep 1000; }\n"+
			"# name: other\n# group: g\n@every 500ms true\n# name: last\n# after: long\n@after echo after $EXECUTORD_AFTER\n"+
			"# name: tick\n@every 200ms true\n")
		p := startFile(t, file, "--store", store, "--lease", longEnough)
		run := p.until("run started", "job", "long")
		p.after(0, "up")
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
		q.want(0, "run started", "job", "last")
		q.after(0, "after long", "job", "last")
		q.after(0, "run ended", "job", "other")
		q.after(0, "run ended", "job", "tick")
		q.end()
		running := 0
		for _, l := range q.log {
			switch {
			case l["job"] != "long" && l["job"] != "other":
			case l["msg"] == "run started":
				running++
			case l["msg"] == "run ended":
				running--
			}
			if running > 1 {
				t.Errorf("two runs of the group at a time: %v", l)
			}
		}
		runs := asked(t, store, "runs", "long", "-n", "1000")
		last := runs[len(runs)-1]
		if last["outcome"] != "lost" || last["run"] != run["run"] || last["node"] == runs[len(runs)-2]["node"] {
			t.Errorf("of the run that was lost: %v; of the next: %v", last, runs[len(runs)-2])
		}
	})
}

// A file that is read again changes the store: new jobs come, others go, and what is the same goes on. With a mistake in
// it, all stays as it is.
func TestRunReloads(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		file := write(t, "tab", "# name: stays\n@every 100ms echo one\n# name: goes\n@every 100ms true\n# name: changes\n@every 100ms echo old\n")
		p := startFile(t, file, "--store", store)
		p.until("old")
		rewrite := func(text, msg string, attrs ...any) (from int) {
			t.Helper()
			from = len(p.log)
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			p.signal(syscall.SIGHUP)
			p.until(msg, attrs...)
			return from
		}
		rewrite("61 * * * * true\n", "file not read again", "line", 1)
		p.until("run ended", "job", "goes")
		rewrite("@hourly true\n@daily true\n", "file not read again", "line", 2) // two that have their lines for names

		from := rewrite("# name: stays\n@every 100ms echo one\n# name: changes\n@every 100ms echo new\n# name: comes\n@every 100ms true\n", "file read again")
		for name, change := range map[string]string{"stays": "unchanged", "changes": "changed", "comes": "new"} {
			p.after(from, "job scheduled", "job", name, "change", change)
		}
		p.after(from, "job removed", "job", "goes")
		p.until("run ended", "job", "comes")
		p.until("new")

		from = rewrite("# name: goes\n@every 100ms echo back\n", "file read again")
		p.after(from, "job scheduled", "job", "goes", "change", "put back")
		p.after(from, "back")
		for _, name := range []string{"stays", "changes", "comes"} {
			p.after(from, "job removed", "job", name)
		}
		p.end()
		for name, want := range map[string]string{"stays": "removed", "changes": "removed", "comes": "removed", "goes": "waiting"} {
			if got := jobNamed(t, store, name)["state"]; got != want && !(name == "goes" && got == "due") { // a run may have come to be due in the drain
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
		if all := asked(t, store, "jobs"); len(all) != 1 {
			t.Errorf("without --all: %v", all)
		}
	})
}

// Jobs that come from standard input are read once: SIGHUP changes nothing, and the log says so.
func TestRunReadsInputOnce(t *testing.T) {
	t.Parallel()
	cmd := executord(t, "run", "-")
	cmd.Stdin = strings.NewReader("@every 100ms true\n")
	p := startCommand(t, cmd)
	p.until("run ended")
	p.signal(syscall.SIGHUP)
	p.until("SIGHUP ignored")
	p.until("run ended")
	p.end()
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

// A clock that was ahead while the daemon before ran stops no job of the next one, which says so once, and says when the
// jobs are due.
func TestRunAfterClockThatWasAhead(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		const tab = "# name: often\n@every 1s true\n# name: minute\n* * * * * true\n# name: night\n30 2 * * * true\n"
		p := start(t, tab, "--store", store)
		p.until("run ended", "job", "often", "run", 2)
		p.end()
		const ahead = 71 * 365 * 24 * time.Hour
		for _, column := range []string{"due", "occurrence", "anchor", "created", "updated"} {
			statement := fmt.Sprintf("update executor_job set %[1]s = %[1]s + %d", column, ahead.Microseconds())
			if _, err := rows(t, store).Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		p = start(t, tab, "--store", store)
		for job, within := range map[string]time.Duration{"often": 2 * time.Second, "minute": time.Minute, "night": 24 * time.Hour} {
			l := p.after(0, "job scheduled", "job", job)
			if next := instant(t, l, "next"); time.Until(next) > within {
				t.Errorf("%s is due at %v", job, next)
			}
		}
		p.until("run ended", "job", "often", "run", 4)
		if n := p.count("durable: the clock of the database was set back; schedules go on from the present"); n != 1 {
			t.Errorf("%d lines about the clock", n)
		}
		p.end()
	})
}
