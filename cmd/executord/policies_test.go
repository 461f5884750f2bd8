//go:build unix

package main

import (
	"slices"
	"strings"
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
