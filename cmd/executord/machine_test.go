//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A daemon has the name and the labels that its flags give it, or the environment: a job for each machine is one in the
// store for each, which commands find by that name, and a job for which there is no machine waits.
func TestOnChoosesMachines(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	file := write(t, "tab", "# name: clean\n# on: all gpu\n@every 500ms echo \"on $EXECUTORD_JOB\"\n# name: arm\n# on: arm\n@daily true\n")
	var all []*process
	for _, name := range []string{"web-1", "web-2"} {
		cmd := executord(t, "run", file, "--store", store)
		cmd.Env = append(cmd.Env, nameVariable+"="+name, labelVariable+"=eu, gpu")
		p := startCommand(t, cmd)
		p.until("on clean@" + name)
		all = append(all, p)
	}
	other := startFile(t, file, "--store", store, "--name", "db-1", "--label", "eu")
	all = append(all, other)
	other.until("job is not for this machine", "job", "clean", "machine", "db-1 with eu")
	wantAnswer(t, store, 0, "arm: due now, and waits: no running daemon has the name or label arm\n", "run-now", "arm")
	untilState(t, store, "arm", "no machine")
	wantAnswer(t, store, 0, "clean@web-1: ", "pause", "clean@web-1")
	wantAnswer(t, store, 0, "clean@web-1: paused\nclean@web-2: ", "pause", "clean")
	wantAnswer(t, store, 1, "executord: clean runs on each of several machines: say clean@web-1 or clean@web-2\n", "logs", "clean")
	if got := jobNamed(t, store, "clean@web-2")["on"]; fmt.Sprint(got) != "[web-2]" {
		t.Errorf("it runs on %v", got)
	}
	arm := startFile(t, file, "--store", store, "--name", "db-2", "--label", "eu,arm")
	arm.until("run ended", "job", "arm", "outcome", "ok")
	for _, p := range append(all, arm) {
		p.end()
		p.want(map[bool]int{true: 1}[p == arm], "run started", "job", "arm")
	}
}

// check says which jobs this machine runs, or the one that flags describe, as text and as JSON; and notes what is
// missing here for those alone.
func TestOnIsChecked(t *testing.T) {
	t.Parallel()
	file := write(t, "jobs.toml", `
[[job]]
name = "a"
schedule = "@daily"
command = ["/nowhere/a"]
on = ["gpu", "db-*"]

[[job]]
name = "b"
schedule = "@reboot"
command = "true"
on = "all"

[[job]]
name = "c"
schedule = "@after"
after = "a"
command = "true"
`)
	for _, test := range []struct {
		args       []string
		on         string
		here, note bool
	}{
		{[]string{"--name", "web-1"}, "not here: db-*, gpu", false, false},
		{[]string{"--name", "web-1", "--label", "gpu"}, "db-*, gpu", true, true},
		{[]string{"--name", "DB-7"}, "db-*, gpu", true, true},
	} {
		stdout, stderr, code := output(t, "", append([]string{"check", "-n", "1", "--from", "2027-03-01", file}, test.args...)...)
		want := "a    2     @daily    UTC   " + test.on + "  Mon 2027-03-01 00:00:00 +00:00\n"
		if code != 0 || !strings.Contains(stdout, " ON ") || !strings.Contains(stdout, want) || strings.Contains(stderr, "/nowhere/a") != test.note ||
			strings.HasSuffix(stdout, "\nthis machine is web-1\n") == test.here {
			t.Errorf("%q: exit code %d, %s%s; want %q", test.args, code, stdout, stderr, want)
		}
		stdout, _, _ = output(t, "", append([]string{"check", "--json", file}, test.args...)...)
		var answer struct{ Jobs []checkedJob }
		if err := json.Unmarshal([]byte(stdout), &answer); err != nil || len(answer.Jobs) != 3 {
			t.Fatalf("%s: %v", stdout, err)
		}
		if a, c := answer.Jobs[0], answer.Jobs[2]; a.Here != test.here || fmt.Sprint(a.On) != "[db-* gpu]" || !c.Here || c.On != nil {
			t.Errorf("%q: %+v", test.args, answer.Jobs)
		}
	}
	if stdout, _, _ := output(t, "# name: a\n@daily true\n", "check", "-"); strings.Contains(stdout, " ON ") {
		t.Errorf("of a file that chooses no machines it prints %s", stdout)
	}
}

// What on cannot have, or does not go with, is a mistake that says what to write.
func TestOnMistakes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ tab, want string }{
		{"# name: a\n# on: gpu, all\n@daily true\n", "on: all has to come first"},
		{"# name: a\n# on: web 1\n@daily true\n", `on: "web 1" cannot be the name or a label of a machine`},
		{"# name: a\n# on: all\n# after: b\n@after true\n# name: b\n@daily true\n", "a runs on each of its machines, and not after other jobs"},
		{"# name: a\n# after: b\n@after true\n# name: b\n# on: all gpu\n@daily true\n", "a runs after b, which runs on each of its machines"},
	} {
		_, stderr, code := output(t, test.tab, "check", "-")
		if code != exitMistake || !strings.Contains(stderr, test.want) || !strings.Contains(stderr, "hint: ") {
			t.Errorf("%q: exit code %d, %q; want %q", test.tab, code, stderr, test.want)
		}
	}
	for _, args := range [][]string{{"--name", "web/1"}, {"--name", ""}, {"--label", "a b"}, {"--label", "all"}} {
		_, stderr, code := output(t, "", append([]string{"run", "-"}, args...)...)
		if code != exitUsage || !strings.Contains(stderr, args[0]) {
			t.Errorf("%q: exit code %d, %q", args, code, stderr)
		}
	}
}
