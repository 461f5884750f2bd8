//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// Keys that do not go together are a mistake, with what to do about it.
func TestCheckPoliciesThatClash(t *testing.T) {
	for _, test := range []struct{ keys, want string }{
		{"misfire = \"all\"\n", "a has misfire all: due times that pass during its runs would be run, too, and its overlap is skip\n    @daily true\n    hint: set overlap to queue"},
		{"misfire = \"all\"\noverlap = \"allow 2\"\n", "and its overlap is allow 2"},
		{"misfire = \"all\"\noverlap = \"queue\"\n", ""},
		{"group = \"db\"\noverlap = \"allow 2\"\n[group.db]\nlimit = 2\n", ""},
		{"group = \"db\"\n[group.db]\nlimit = 2\n", ""},
		{"group = \"db\"\n", "note: a is the only job in the group \"db\", which has no limit set\n    @daily true\n    hint: add other jobs to it"},
		{"group = \"dbs\"\n[[job]]\nname = \"b\"\nschedule = \"@daily\"\ncommand = \"true\"\ngroup = \"db\"\n[group.db]\nlimit = 2\n", "hint: did you mean db?"},
		{"after = \"a\"\n", "a runs after itself\n    @daily true\n    hint: remove one of the names from after"},
		{"after = \"b\"\n[[job]]\nname = \"b\"\nschedule = \"@after\"\ncommand = \"true\"\nafter = [\"a\"]\n", "b, a run after each other"},
		{"after = \"bb\"\n[[job]]\nname = \"b\"\nschedule = \"@daily\"\ncommand = \"true\"\n", "a runs after \"bb\", which is not a job of the file\n    @daily true\n    hint: did you mean b?"},
		{"after_on = \"either\"\n", "a has after_on, and names no jobs after which it runs"},
		{"[[job]]\nname = \"b\"\nschedule = \"@after\"\ncommand = \"true\"\n", "b is due after other jobs, and names none"},
		{"[[job]]\nname = \"b\"\nschedule = \"@reboot\"\ncommand = \"true\"\nafter = \"a\"\n", "b runs at the start of executord, and not after other jobs"},
		{"[[job]]\nname = \"b\"\nschedule = \"@after\"\ncommand = \"true\"\nafter = \"a\"\n", ""},
		{"[group.db]\nlimit = 2\n", "note: no job is in the group \"db\""},
	} {
		file := write(t, "jobs.toml", "[[job]]\nname = \"a\"\nschedule = \"@daily\"\ncommand = \"true\"\n"+test.keys)
		_, stderr, code := output(t, "", "check", file)
		if (code != 0) != (test.want != "" && !strings.Contains(stderr, ": note: ")) || !strings.Contains(stderr, test.want) || test.want == "" && stderr != "" {
			t.Errorf("%s: exit code %d, %s", test.keys, code, stderr)
		}
	}
}

// Two files with a limit for the same group are a mistake; one of them is enough for the jobs of both.
func TestCheckGroupsOfSeveralFiles(t *testing.T) {
	jobs := write(t, "a.crontab", "# name: a\n# group: db\n@daily true\n")
	one, two := write(t, "one.toml", "[group.db]\nlimit = 2\n"), write(t, "two.toml", "[group.db]\nlimit = 3\n")
	if _, stderr, code := output(t, "", "check", jobs, one); code != 0 || strings.Contains(stderr, "the group") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	_, stderr, code := output(t, "", "check", jobs, one, two)
	if want := two + ":1: the group \"db\" is already in " + one + ":1\n    [group.db]\n    hint: remove one of the two"; code != exitMistake || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d, %s; want %s", code, stderr, want)
	}
}

// Jobs run one after the other, from the start of executord on, and a store holds what has ended over a kill.
func TestRunAfterOfKilledDaemon(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		flag := filepath.Join(t.TempDir(), "flag")
		file := write(t, "jobs.crontab", "# name: a\n@every 1s true\n# name: b\n@every 1s test -e "+flag+"\n# name: c\n# after: a, b\n@after echo after $EXECUTORD_AFTER\n"+
			"# name: d\n# after: c\n@after true\n")
		args := []string{"--store", store, "--lease", "2s"}
		first := startFile(t, file, args...)
		first.until("run ended", "job", "a", "outcome", "ok")
		first.until("run ended", "job", "a", "outcome", "ok")
		if first.count("run started", "job", "c") > 0 {
			t.Error("c was started before b has succeeded")
		}
		first.signal(syscall.SIGKILL)
		<-first.exited
		first.killLeft() // nothing else does
		if err := os.WriteFile(flag, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		second := startFile(t, file, args...)
		second.until("after a b", "job", "c")
		second.until("run ended", "job", "d", "outcome", "ok")
		second.signal(syscall.SIGTERM)
		second.wait()
		jobs := asked(t, store, "jobs", "c") // which may be due again: a and b go on
		if len(jobs) != 1 || jobs[0]["words"] != "after a, b" || jobs[0]["state"] != "waiting" && jobs[0]["state"] != "due" {
			t.Errorf("%v", jobs)
		}
	})
}

// A daemon that is killed keeps no place of a group: another one runs its jobs, one at a time.
func TestRunGroupPlaceOfKilledDaemonIsFree(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		file := write(t, "jobs.crontab", "# name: a\n# group: g\n@every 1s sleep 0.3\n# name: b\n# group: g\n@every 1s sleep 0.3\n")
		args := []string{"--store", store, "--lease", "2s"}
		first := startFile(t, file, args...)
		first.until("run ended", "job", "a")
		first.until("run ended", "job", "b")
		first.until("run started")
		first.signal(syscall.SIGKILL)
		<-first.exited
		first.killLeft() // nothing else does
		second := startFile(t, file, args...)
		for range 2 {
			second.until("run ended", "job", "a", "outcome", "ok")
			second.until("run ended", "job", "b", "outcome", "ok")
		}
		second.signal(syscall.SIGTERM)
		second.wait()
		running := 0
		for _, l := range second.log {
			switch l["msg"] {
			case "run started":
				running++
			case "run ended":
				running--
			}
			if running > 1 {
				t.Fatalf("two runs at a time: %v", l)
			}
		}
	})
}

// MAILTO of a crontab says whom mail goes to, with the server of the channel that sends mail; it is noted without one.
func TestSetMail(t *testing.T) {
	tab := write(t, "jobs.crontab", "@daily a\nMAILTO=ada@example.org, bob@example.org\n@daily b\n@daily b2\n# notify: chat\n@daily c\nMAILTO=\"\"\n@daily d\nMAILTO=a b\n@daily e\n")
	channels := write(t, "notify.toml", "[notify.chat]\nwebhook = \"https://chat.example/x\"\n[notify.own]\nwebhook = \"https://own.example/x\"\nall = false\n"+
		"[notify.ops]\nmail = \"ops@example.org\"\nfrom = \"cron@example.org\"\nserver = \"smtp.example.org\"\nlimit = 7\n")
	parse := func(names ...string) job.File {
		file, _, err := sources{names: names, dirs: new([]string), format: &choice{value: "auto"}}.parse(false, false)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	file := parse(tab, channels)
	for i, want := range [][]string{nil, {"chat", "ops/ada-example.org"}, {"chat", "ops/ada-example.org"}, {"chat"}, {"chat"}, nil} {
		if got := file.Jobs[i].Notify; !slices.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%s tells %q, want %q", file.Jobs[i].Name, got, want)
		}
	}
	if len(file.Channels) != 4 {
		t.Fatalf("%d channels", len(file.Channels))
	}
	made := file.Channels[3].Values
	if !slices.Equal(made["mail"], []string{"ada@example.org", "bob@example.org"}) || !slices.Equal(made["all"], []string{"false"}) ||
		!slices.Equal(made["server"], []string{"smtp.example.org"}) || !slices.Equal(made["limit"], []string{"7"}) {
		t.Errorf("%v", made)
	}
	if got := file.Channels[2].Values["mail"]; !slices.Equal(got, []string{"ops@example.org"}) {
		t.Errorf("ops sends to %q", got)
	}
	if !slices.ContainsFunc(file.Notes, func(n job.Mistake) bool { return strings.HasPrefix(n.What, "MAILTO=a b is ignored: ") }) {
		t.Errorf("notes %v", file.Notes)
	}
	if notes := parse(write(t, "alone", "@daily a\nMAILTO=me\n@daily b\nMAILTO=\"\"\n@daily c\n")).Notes; len(notes) != 1 || notes[0].What != "MAILTO is ignored: no mail is sent" || notes[0].Line != 2 {
		t.Errorf("without a channel: notes %v", notes)
	}
}

// The file of a secret is read at each run, and its value is shown nowhere.
func TestRunSecretOfJob(t *testing.T) {
	file := write(t, "secret", "hunter2hunter2\n")
	p := start(t, "# name: a\n# secret: PASSWORD="+file+"\n@reboot echo $PASSWORD; test $PASSWORD = hunter2hunter2\n")
	p.until("***", "job", "a", "stream", "stdout")
	p.until("run ended", "job", "a", "outcome", "ok")
	p.signal(syscall.SIGTERM)
	p.wait()
}
