//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Two daemons that share a store and a file run each occurrence of each job
// once, together.
func TestTwoDaemons(t *testing.T) {
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

// longEnough is the lease of a daemon that is to be killed before the lease ends. One
// that loses it, as may be on a busy machine, gives its runs back: then none is lost.
const longEnough = "8s"

// After kill -9 another daemon begins again what was running, as its next
// attempt, and the history tells of the loss.
func TestTakeOver(t *testing.T) {
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
		p.killLeft() // nobody else does

		again := q.until("run started", "job", "long", "due", run["due"])
		if again["attempt"] != 2.0 || again["run"] != run["run"].(float64)+1 {
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

// A run that is ended because its daemon is, is begun again by another one: the
// same attempt, and nothing of it in the history.
func TestGivenBack(t *testing.T) {
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
		if again["run"] != run["run"] || again["attempt"] != nil {
			t.Errorf("first %v, then %v", run, again)
		}
		q.until("run ended", "job", "long", "run", again["run"], "outcome", "ok")
		q.end()
		for _, r := range asked(t, store, "runs", "long") {
			if r["outcome"] != "ok" {
				t.Errorf("in the history: %v", r)
			}
		}
	})
}

// What waits for the end of its jitter when the daemon ends is run later, and
// not held up the end.
func TestJitterIsCutShort(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	file := write(t, "jobs.toml", "[[job]]\nname = \"late\"\nschedule = \"@every 1s\"\njitter = \"1000h\"\ncommand = \"echo ran\"\n")
	p := startFile(t, file, "--store", store)
	p.until("run delayed", "job", "late", "reason", "jitter")
	p.end()
	p.want(0, "ran")
	q := startFile(t, file, "--store", store)
	q.until("run started", "job", "late", "attempt", 2)
	q.until("ran")
	q.end()
}

// Daemons of two files, in one store, leave each other's jobs alone.
func TestTwoNamespaces(t *testing.T) {
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

		told(t, store, 1, "executord: same: there are several: say ", "pause", "same")
		told(t, store, 0, "db/same: paused\n", "pause", "db/same")
		told(t, store, 0, "same: paused\n", "pause", "same", "--namespace", "web")
	})
}

// A file that is read again changes the store: new jobs come, others go, and
// what is the same goes on. With a mistake in it, all stays as it is.
func TestReload(t *testing.T) {
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
	rewrite("@hourly true\n@daily true\n") // two that are told apart by their lines only
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
	if late > 1 { // one may have begun by then, in the store: it is for the last time that has passed when it is started
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
		if got := jobNamed(t, store, name)["state"]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if all := asked(t, store, "jobs"); len(all) != 1 {
		t.Errorf("without --all: %v", all)
	}
}

// A pipe in the place of the file keeps executord neither from its work nor from
// ending: it is not read again.
func TestReloadFromPipe(t *testing.T) {
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
func TestRemovedWhileItRuns(t *testing.T) {
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
		told(t, store, 0, "witness: canceled; its run on ", "cancel", "witness")
		p.until("run ended", "job", "witness", "outcome", "canceled") // the beat that tells of this one would have told of long
		pipe, err := os.OpenFile(fifo, os.O_RDWR, 0)                  // waits for no reader: there is none if long was ended
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
func TestTakeOverKeepsDue(t *testing.T) {
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
		run := p.until("run started", "job", "long")
		p.until("up")
		if err := os.WriteFile(filepath.Join(dir, "second"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		p.signal(syscall.SIGKILL)
		<-p.exited
		p.killLeft() // nobody else does

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
func TestOverlapOfWhatCameDuringTheRun(t *testing.T) {
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
				skipped := p.log[len(p.log)-2] // the line before: what the new schedule has skipped
				if !skipped.is("runs skipped", "job", "long", "running", 1) || !instant(t, skipped, "first").Equal(next) {
					t.Errorf("its next time was %v, and %v then %v", next, skipped, ended)
				}
				if n := p.counted("runs skipped", "job", "long", "running", 1); float64(n) != ended["skipped"] {
					t.Errorf("the log has %d times that were skipped, and %v", n, ended)
				}
				if _, err := pipe.WriteString(strings.Repeat("\n", 100)); err != nil { // what comes later ends by itself
					t.Fatal(err)
				}
				again := p.after(0, "run started", "job", "long", "run", 2)
				period, _ := time.ParseDuration(versions[len(versions)-1])
				passed := skipped["count"].(float64)
				for _, l := range p.log {
					if l.is("runs missed", "job", "long") && !instant(t, l, "first").Before(next) { // before may be what the first run made up for
						passed += l["count"].(float64)
					}
				}
				if due := instant(t, again, "due"); due.Sub(next) != time.Duration(passed)*period {
					t.Errorf("%v times are said to have passed from %v on, and the next run was due at %v", passed, next, due)
				}
				p.until("run ended", "job", "long", "run", 2)
				p.end()
			})
		})
	}
}

// What a job owes by a schedule that a new file changes is not made up for, and the
// log says so.
func TestNewScheduleForgetsWhatIsOwed(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		with := func(period string) string {
			return "# name: long\n@every " + period + " echo up; exec sleep 1000\n# name: other\n@every 1h true\n"
		}
		file := write(t, "tab", with("1h"))
		p := startFile(t, file, "--store", store)
		p.until("job scheduled", "job", "long")
		if _, stderr, code := output(t, "", "run-now", "long", "--store", store); code != 0 {
			t.Fatalf("run-now: %d, %q", code, stderr)
		}
		p.until("up")
		p.signal(syscall.SIGTERM)
		p.until("draining")
		p.signal(syscall.SIGTERM) // cuts the run short
		p.wait()
		if err := os.WriteFile(file, []byte(with("2h")), 0o644); err != nil {
			t.Fatal(err)
		}
		q := startFile(t, file, "--store", store)
		q.until("job scheduled", "job", "long", "change", "changed")
		q.until("runs missed", "job", "long", "count", 1)
		q.end()
		if n := q.counted("runs missed"); n != 1 {
			t.Errorf("%d runs were missed", n)
		}
		for _, l := range q.log {
			if l.is("run started") {
				t.Errorf("there was a run: %v", l)
			}
		}
	})
}
