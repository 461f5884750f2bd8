package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/crontab"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// The table shows five times for each job, in the zone of the job, across a
// change of the clock.
func TestCheckTable(t *testing.T) {
	file, err := crontab.Parse("tab", []byte(`
# name: hourly
CRON_TZ=UTC
@hourly x
CRON_TZ=Europe/Berlin
# name: nightly
30 2 * * * x
# name: pulse
@every 90s x
@reboot boot
`))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	now := time.Date(2026, 3, 27, 12, 34, 56, 789e6, time.UTC)
	printTimes(&b, file.Jobs, job.Machine{Name: "web-1"}, now, 5)
	want := `
JOB      LINE  SCHEDULE    ZONE           NEXT
hourly   4     @hourly     UTC            Fri 2026-03-27 13:00:00 +00:00
                                          Fri 2026-03-27 14:00:00 +00:00
                                          Fri 2026-03-27 15:00:00 +00:00
                                          Fri 2026-03-27 16:00:00 +00:00
                                          Fri 2026-03-27 17:00:00 +00:00
nightly  7     30 2 * * *  Europe/Berlin  Sat 2026-03-28 02:30:00 +01:00
                                          Sun 2026-03-29 03:00:00 +02:00
                                          Mon 2026-03-30 02:30:00 +02:00
                                          Tue 2026-03-31 02:30:00 +02:00
                                          Wed 2026-04-01 02:30:00 +02:00
pulse    9     @every 90s  Europe/Berlin  Fri 2026-03-27 13:36:26.789 +01:00
                                          Fri 2026-03-27 13:37:56.789 +01:00
                                          Fri 2026-03-27 13:39:26.789 +01:00
                                          Fri 2026-03-27 13:40:56.789 +01:00
                                          Fri 2026-03-27 13:42:26.789 +01:00
boot     10    @reboot                    once, when executord starts
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got:%s\nwant:%s", got, want)
	}
}

// A TZ that names no zone is noted, since package time silently takes UTC.
func TestCheckNotesMisnamedZone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has its zone from elsewhere")
	}
	tab := write(t, "tab", "30 2 * * * true\n")
	for zone, known := range map[string]bool{
		"Europe/Berlin": true, ":Europe/Berlin": true, "": true, ":": true, "UTC": true, "Etc/UTC": true, "EST5EDT": true,
		"Europe/Berln": false, "CET-1CEST,M3.5.0,M10.5.0/3": false, "/no/such/file": false,
	} {
		cmd := executord(t, "check", tab)
		cmd.Env = append(cmd.Env, "TZ="+zone)
		var fail strings.Builder
		cmd.Stderr = &fail
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		want := ""
		if !known {
			want = tab + ": note: " + misnamedZone + "\n    TZ=" + zone + "\n    hint: " + job.ZoneHint + "\n"
		}
		if fail.String() != want {
			t.Errorf("TZ=%s: %q, want %q", zone, fail.String(), want)
		}
	}

	cmd := executord(t, "run", tab)
	cmd.Env = append(cmd.Env, "TZ=Europe/Berln")
	p := startCommand(t, cmd)
	p.until("job scheduled")
	p.signal(syscall.SIGTERM)
	p.wait()
	p.want(1, "TZ ignored", "TZ", "Europe/Berln")
}

// The command line does what it says, and its exit codes are the documented.
func TestMainRefusesCommandLine(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "good"), []byte("MAILTO=me\n@daily true\n"), 0o644)
	os.WriteFile(filepath.Join(dir, "good.TOML"), []byte("[[job]]\nname='a'\nschedule='@daily'\ncommand='true'\n"), 0o644)
	crontabText, tomlText := "@daily true\n", "[[job]]\nname='a'\nschedule='@daily'\ncommand='true'\n"
	tests := []struct {
		args           string
		stdin          string
		code           int
		stdout, stderr string // parts of what is written; "" means nothing
	}{
		{"check DIR/good", "", 0, "true  2     @daily", "good:1: note: MAILTO is ignored: no mail is sent\n    MAILTO=me\n    hint: "},
		{"check DIR/good.TOML", "", 0, "a    1     @daily", ""},
		{"check -", crontabText, 0, "true  1     @daily", ""},
		{"check - --format toml", tomlText, 0, "a    1     @daily", ""},
		{"check DIR/good.TOML --format crontab", "", 1, "", "good.TOML:1: this is neither a job nor a setting"},
		{"check -", "@dayly x\n", 1, "", "stdin:1: \"@dayly\": unknown word\n    @dayly x\n    hint: did you mean \"@daily\"?\nexecutord: 1 mistake in stdin\n"},
		{"run -", "@dayly x\n", 1, "", "executord: 1 mistake in stdin\n"},
		{"check /no/such/file", "", 1, "", "executord: /no/such/file does not exist\n"},
		{"check DIR", "", 1, "", " is a directory, not a job file; for all files in it use --dir"},
		{"check", "", 2, "", "executord: check needs the name of a job file, such as: executord check jobs.crontab"},
		{"run", "", 2, "", "executord: run needs the name of a job file"},
		{"run a a", "", 2, "", "executord: a is named twice"},
		{"run - --watch", crontabText, 2, "", "executord: --watch: stdin can be read only once"},
		{"run a b --store s", "", 2, "", "executord: the namespace of the jobs cannot be taken from the name a, b: set --namespace"},
		{"run a --log loud", "", 2, "", `invalid argument "loud" for "--log" flag: choose one of auto, short, text, json`},
		{"run a --lease 3", "", 2, "", "--lease 3: not a duration; write it with units, as 90s or 1h30m"},
		{"run a --grace 1s", "", 2, "", "unknown flag: --grace\n"},
		{"run DIR/good --kill-after -1s", "", 2, "", "cannot be negative"},
		{"jobs --store a --at b:1", "", 2, "", "executord: --at asks a daemon, and --store a store: leave one of them out"},
		{"rum", "", 2, "", "unknown command \"rum\" for \"executord\"; did you mean run?\nSee executord --help.\n"},
		{"help rum", "", 2, "", `unknown command "rum" for "executord"; did you mean run?`},
		{"rum --store x", "", 2, "", `unknown command "rum" for "executord"; did you mean run?`},
		{"nosuchthing", "", 2, "", "unknown command \"nosuchthing\" for \"executord\"\nSee executord --help.\n"},
		{"DIR/good", "", 2, "", "; did you mean run " + dir + "/good?"},
		{"expl", "", 2, "", `; did you mean explain?`},
		{"list", "", 2, "", `; did you mean jobs?`},
		{"LIST --json", "", 2, "", `; did you mean jobs?`},
		{"status", "", 2, "", `; did you mean health or jobs?`},
		{"test a", "", 2, "", `; did you mean check`},
		{"trigger a", "", 2, "", `; did you mean run-now`},
		{"history", "", 2, "", `; did you mean runs?`},
		{"ps", "", 2, "", `; did you mean jobs?`},
		{"start a", "", 2, "", `; did you mean run?`},
		{"stop", "", 2, "", `unknown command "stop" for "executord": a run is ended by executord end-run, and a daemon when it gets SIGTERM`},
		{"reload", "", 2, "", `unknown command "reload" for "executord": a daemon reads its files again when it gets SIGHUP`},
		{"store lst --store x", "", 2, "", "unknown command \"lst\" for \"executord store\"; did you mean list?\nSee executord store --help.\n"},
		{"store frobnicate", "", 2, "", "unknown command \"frobnicate\" for \"executord store\"\n"},
		{"notify tset a", "", 2, "", `unknown command "tset" for "executord notify"; did you mean test?`},
		{"runs --since yesterday", "", 2, "", "executord: --since yesterday: neither a time nor how long ago one was; write it as 90m or 48h, or as 2027-03-27, "},
		{"runs --since -1h", "", 2, "", "executord: --since -1h: neither a time"},
		{"runs --outcome fialed", "", 2, "", `invalid argument "fialed" for "--outcome" flag: did you mean failed? Possible are running, ok, failed, `},
		{"jobs --state wating", "", 2, "", `invalid argument "wating" for "--state" flag: did you mean waiting? Possible are waiting, due, `},
		{"jobs --jsn", "", 2, "", "unknown flag: --jsn; did you mean --json?\nSee executord jobs --help.\n"},
		{"store list --stat dead", "", 2, "", "unknown flag: --stat; did you mean --state?"},
		{"jobs --resaonable", "", 2, "", "unknown flag: --resaonable\n"},
		{"jobs -x", "", 2, "", "unknown shorthand flag: 'x' in -x\n"},
		{"help run", "", 0, "SIGINT, SIGTERM", ""},
		{"version", "", 0, "executord (devel)", ""},
		{"", "", 0, "With a job file:\n", ""},
		{"run --help", "", 0, "SIGINT, SIGTERM", ""},
		{"jobs --help", "", 0, "executord jobs --store jobs.db", ""},
		{"run-now", "", 2, "", "executord: run-now needs the name of a job, such as: executord run-now backup"},
		{"check - -n 2 --from 2027-03-27", "CRON_TZ=Europe/Berlin\n30 2 * * * true\n", 0, "Sat 2027-03-27 02:30:00 +01:00\n" + strings.Repeat(" ", 39) + "Sun 2027-03-28 03:00:00 +02:00\n", ""},
		{"check - --strict", crontabText, 0, "true  1     @daily", ""},
		{"check - --strict", "30 4 * * * true &\n", 1, "true  1     30 4 * * *", "executord: 1 note on stdin, and --strict takes notes for mistakes\n"},
		{"check - --strict", "HOME=$HOME\n30 4 * * * true &\n", 1, "true  2     30 4 * * *", "executord: 2 notes on stdin, and --strict takes notes for mistakes\n"},
		{"check - --strict", "61 * * * * true &\n", 1, "", "executord: 1 mistake in stdin\n"},
		{"check - -n 0", crontabText, 2, "", "--number 0: it must be 1 to 10000"},
		{"check - --from tomorrow", crontabText, 2, "", "--from tomorrow: not a time; write it as 2027-03-27,"},
		{"next", "", 2, "", "executord: next needs the name of a job file"},
		{"next - tru", crontabText, 1, "", "job tru is not in the file; did you mean true?"},
		{"explain", "", 2, "", "executord: explain needs a schedule, such as: executord explain '30 2 * * 1-5'"},
		{"explain @daily --zone Europe/Berln", "", 2, "", "--zone: unknown time zone \"Europe/Berln\"; write a name"},
		{"check --help", "", 0, "next five times", ""},
	}
	for _, test := range tests {
		args := strings.Fields(test.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "DIR", dir) // which may have spaces
		}
		stdout, stderr, code := output(t, test.stdin, args...)
		if code != test.code || !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) ||
			(test.stdout == "") != (stdout == "") || (test.stderr == "") != (stderr == "") {
			t.Errorf("executord %s: exit code %d, want %d\nstdout: %s\nstderr: %s", test.args, code, test.code, stdout, stderr)
		}
	}
}
