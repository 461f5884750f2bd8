//go:build unix

package main

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Jobs are chosen by names, tags, states and errors, and runs by their outcomes and by when they were in progress, in the
// store and of a daemon, however many others there are. A job that was removed is listed by its name.
func TestListsSelect(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	const head, gone = "tags = \"all\"\n", `[[job]]
name = "gone"
schedule = "@daily"
command = "true"
`
	const tab = head + `[[job]]
name = "good"
schedule = "@every 100ms"
command = "true"
[[job]]
name = "bad"
schedule = "@daily"
command = "echo the disk is full >&2; exit 3"
tags = ["team=shop", "nightly"]
[[job]]
name = "no"
schedule = "@daily"
command = ["/no/such/program"]
tags = "team=shop"
[[job]]
name = "long"
schedule = "@daily"
command = "echo up; exec sleep 1000"
`
	file := write(t, "jobs.toml", tab+gone)
	p := startFile(t, file, "--store", store, "--listen", "127.0.0.1:0")
	at, _ := p.until("listening")["at"].(string)
	for _, name := range []string{"bad", "no", "long", "gone"} {
		p.after(0, "job scheduled", "job", name)
	}
	if err := os.WriteFile(file, []byte(tab), 0o644); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGHUP)
	p.until("job removed", "job", "gone")
	wantAnswer(t, store, 0, "bad: due now\nno: due now\nlong: due now\n", "run-now", "bad", "no", "long")
	p.after(0, "up")
	for jobNamed(t, store, "bad")["error"] == nil || jobNamed(t, store, "no")["error"] == nil { // the store has it a moment after the log
	}
	for p.count("run ended", "job", "good") < 25 {
		p.until("run ended", "job", "good")
	}
	wantAnswer(t, store, 0, "good: ", "pause", "good")
	untilState(t, store, "good", "paused")
	for args, want := range map[string]string{
		"jobs": "bad good long no", "jobs --tag team=shop": "bad no", "jobs --tag team=shop --tag nightly": "bad", "jobs --tag all": "good long",
		"jobs --tag team": "", "jobs --state paused": "good", "jobs --state waiting --tag nightly": "bad", "jobs --error full": "bad",
		"jobs --state paused --state running": "good long", "jobs --state no-machine": "", "jobs --error exit": "bad", "jobs --error nothing": "",
		"jobs no --tag nightly": "", "jobs no --tag team=shop": "no",

		"runs --outcome failed": "bad", "runs --outcome failed --outcome not-started": "bad no", "runs --outcome not_started": "no",
		"runs --outcome running": "long", "runs --outcome ok -n 1": "good", "runs --outcome timeout": "",
		"runs bad --since 1h": "bad", "runs bad --since 2099-01-01": "", "runs --since 0s --outcome failed": "",
		"runs long --since 2099-01-01": "long", // it is in progress
	} {
		for _, from := range [][]string{{"--store", store}, {"--at", at}} {
			stdout, stderr, code := output(t, "", slices.Concat(strings.Fields(args), from, []string{"--json"})...)
			if got := strings.Join(jobsIn(t, stdout), " "); got != want || code != 0 {
				t.Errorf("%s %s: %q, code %d, %s; want %q", args, from[0], got, code, stderr, want)
			}
		}
	}
	if all := asked(t, store, "jobs", "gone"); len(all) != 1 || all[0]["state"] != "removed" {
		t.Errorf("gone is %v", all)
	}
	if found := asked(t, store, "runs", "good", "--since", "1h"); len(found) < 25 {
		t.Errorf("%d runs since an hour ago, want all", len(found))
	}
	p.signal(syscall.SIGTERM)
	p.until("draining")
	p.signal(syscall.SIGTERM)
	p.wait()
	wantAnswer(t, store, 1, "executord: tow: no such job in ", "jobs", "tow")
	wantAnswer(t, store, 2, "executord: invalid argument \"lost\" for \"--state\" flag: choose one of waiting, due, running, paused, canceled, dead, ended, removed, no machine, elsewhere\n",
		"jobs", "--state", "lost")
	wantAnswer(t, store, 2, "executord: error has 201 bytes; it must have at most 200\nSee executord jobs --help.\n",
		"jobs", "--error", strings.Repeat("x", 201))
}
