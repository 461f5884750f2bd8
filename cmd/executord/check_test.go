package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// here runs a command line without a process of its own, and returns what it prints.
func here(args ...string) (stdout string, err error) {
	var out strings.Builder
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(io.Discard) // a completion has its directive there
	err = root.Execute()
	return out.String(), err
}

// The table shows times of each job, in the zone of the job, across a change of the clock. The jobs of several files, of
// either format, are one set, and each is shown with its file.
func TestCheckTable(t *testing.T) {
	names := files(t, "tab", `
# name: hourly
CRON_TZ=UTC
@hourly x
CRON_TZ=Europe/Berlin
# name: nightly
30 2 * * * x
# name: pulse
@every 90s x
@reboot boot
`, "b.toml", "[[job]]\nname='b'\nschedule='@daily'\ncommand='true'\ntimezone='UTC'\n", "empty", "")
	file, _, err := sourcesOf(names...).parse(false, false)
	if err != nil || file.Name != strings.Join(names, ", ") || len(file.Notes) != 1 || !strings.HasPrefix(file.Notes[0].Error(), names[2]+":1: the file has no jobs") {
		t.Fatalf("%v, %+v", err, file)
	}
	var b strings.Builder
	now := time.Date(2026, 3, 27, 12, 34, 56, 789e6, time.UTC)
	printTimes(&b, file.Jobs, job.Machine{Name: "web-1"}, now, 2)
	want := `
JOB      LINE      SCHEDULE    ZONE           NEXT
hourly   tab:4     @hourly     UTC            Fri 2026-03-27 13:00:00 +00:00
                                              Fri 2026-03-27 14:00:00 +00:00
nightly  tab:7     30 2 * * *  Europe/Berlin  Sat 2026-03-28 02:30:00 +01:00
                                              Sun 2026-03-29 03:00:00 +02:00
pulse    tab:9     @every 90s  Europe/Berlin  Fri 2026-03-27 13:36:26.789 +01:00
                                              Fri 2026-03-27 13:37:56.789 +01:00
boot     tab:10    @reboot                    once, when executord starts
b        b.toml:1  @daily      UTC            Sat 2026-03-28 00:00:00 +00:00
                                              Sun 2026-03-29 00:00:00 +00:00
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
	for zone, known := range map[string]bool{":Europe/Berlin": true, ":": true, "Etc/UTC": true, "CET-1CEST,M3.5.0,M10.5.0/3": false} {
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
	startCommand(t, cmd).until("TZ ignored", "TZ", "Europe/Berln")
}

// The command line does what it says, and its exit codes are the documented.
func TestMainRefusesCommandLine(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"good": "MAILTO=me\n@daily true\n", "plain": "@daily true\n", "wrong": "61 * * * * true &\n",
		"noted": "30 4 * * * true &\n", "twice": "HOME=$HOME\n30 4 * * * true &\n",
		"backup.timer": "[Timer]\nOnCalendar=daily\n[Service]\nExecStart=/bin/true\n", "none.yml": "services: {}\n",
		"good.TOML": "[[job]]\nname='a'\nschedule='@daily'\ncommand='true'\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		args           string
		code           int
		stdout, stderr string // parts of what is written; "" means nothing
	}{
		{"check DIR/good", 0, "true  2     @daily", "good:1: note: MAILTO is ignored: no mail is sent\n    MAILTO=me\n    hint: "},
		{"check DIR/good.TOML", 0, "a    1     @daily", ""},
		{"check DIR/good.TOML --format crontab", 1, "", "good.TOML:1: this is neither a job nor a setting"},
		{"check DIR/plain --format toml", 1, "", "plain:1: "},
		{"check - ", 1, "", "stdin:1: \"@dayly\": unknown word\n    @dayly x\n    hint: did you mean \"@daily\"?\nexecutord: 1 mistake in stdin\n"},
		{"check /no/such/file", 1, "", "executord: /no/such/file does not exist\n"},
		{"check DIR", 1, "", " is a directory, not a job file; for all files in it use --dir"},
		{"check --dir DIR/none", 1, "", "executord: the directory "},
		{"check", 2, "", "executord: check needs the name of a job file, such as: executord check jobs.crontab"},
		{"run", 2, "", "executord: run needs the name of a job file"},
		{"run a a", 2, "", "executord: a is named twice"},
		{"run - --watch", 2, "", "executord: --watch: stdin can be read only once"},
		{"run a b --store s", 2, "", "executord: the namespace of the jobs cannot be taken from the name a, b: set --namespace"},
		{"run a --log loud", 2, "", `invalid argument "loud" for "--log" flag: choose one of auto, short, text, json`},
		{"run a --lease 3", 2, "", "--lease 3: not a duration; write it with units, as 90s or 1h30m"},
		{"run a --grace 1s", 2, "", "unknown flag: --grace\n"},
		{"run DIR/good --kill-after -1s", 2, "", "cannot be negative"},
		{"jobs --store a --at b:1", 2, "", "executord: --at asks a daemon, and --store a store: leave one of them out"},

		// A store is needed, and its flags fit it.
		{"acts", 2, "", "acts needs a store"},
		{"jobs --store=", 2, "", "jobs needs a store"},
		{"check a --store=", 2, "", "--store is empty"},
		{"run a --namespace x", 2, "", "--namespace and --lease are for jobs in a store"},
		{"run a --store x.db --namespace a/b", 2, "", "--namespace \"a/b\""},
		{"run a --store x.db --lease 10ms", 2, "", "--lease 10ms: it must be 1s to "},
		{"run a --store x.db --lease 8761h", 2, "", "--lease 8761h0m0s: it must be 1s to "},
		{"runs --store x.db -n 0", 2, "", "it must be 1"},
		{"cancel --store x.db", 2, "", "needs the name of a job"},
		{"migrate", 2, "", "migrate needs a store"},
		{"migrate --sql --store=jobs.db", 2, "", "--sql is for PostgreSQL"},
		{"migrate more", 2, "", `migrate takes no arguments, but got "more"`},

		// Without the value of a flag, as of a script whose variable is not set, a command would do something else.
		{"run DIR/good --listen=", 2, "", "executord: --listen is empty: give it a value, or leave it out\n"},
		{"run DIR/good --listen 127.0.0.1:0 --token-file=", 2, "", "executord: --token-file is empty"},
		{"jobs --at=", 2, "", "executord: --at is empty"},
		{"pause --reason= --store DIR/none a", 1, "", "none does not exist"},

		// What people try for it is said.
		{"rum", 2, "", "unknown command \"rum\" for \"executord\"; did you mean run?\nSee executord --help.\n"},
		{"help rum", 2, "", `unknown command "rum" for "executord"; did you mean run?`},
		{"nosuchthing", 2, "", "unknown command \"nosuchthing\" for \"executord\"\nSee executord --help.\n"},
		{"DIR/good", 2, "", "; did you mean run " + dir + "/good?"},
		{"LIST --json", 2, "", `; did you mean jobs?`},
		{"status", 2, "", `; did you mean health or jobs?`},
		{"reload", 2, "", `unknown command "reload" for "executord": a daemon reads its files again when it gets SIGHUP`},
		{"store lst --store x", 2, "", "unknown command \"lst\" for \"executord store\"; did you mean list?\nSee executord store --help.\n"},
		{"notify tset a", 2, "", `unknown command "tset" for "executord notify"; did you mean test?`},
		{"runs --since yesterday", 2, "", "executord: --since yesterday: neither a time nor how long ago one was; write it as 90m or 48h, or as 2027-03-27, "},
		{"runs --outcome fialed", 2, "", `invalid argument "fialed" for "--outcome" flag: did you mean failed? Possible are running, ok, failed, `},
		{"jobs --jsn", 2, "", "unknown flag: --jsn; did you mean --json?\nSee executord jobs --help.\n"},
		{"jobs -x", 2, "", "unknown shorthand flag: 'x' in -x\n"},

		{"help run", 0, "SIGINT, SIGTERM", ""},
		{"version", 0, "executord (devel)", ""},
		{"", 0, "With a job file:\n", ""},
		{"run-now", 2, "", "executord: run-now needs the name of a job, such as: executord run-now backup"},
		{"run-once DIR/good a b", 2, "", "executord: run-once needs the name of one job"},
		{"run-once DIR/good a --kill-after -1s", 2, "", "executord: --kill-after cannot be negative"},
		{"run-once DIR/good tru", 1, "", "executord: job tru is not in the file; did you mean true?\n"},
		{"check DIR/plain --strict", 0, "true  1     @daily", ""},
		{"check DIR/noted --strict", 1, "true  1     30 4 * * *", "executord: 1 note on DIR/noted, and --strict takes notes for mistakes\n"},
		{"check DIR/twice --strict", 1, "true  2     30 4 * * *", "executord: 2 notes on DIR/twice, and --strict takes notes for mistakes\n"},
		{"check DIR/plain -n 0", 2, "", "--number 0: it must be 1 to 10000"},
		{"check DIR/plain --from tomorrow", 2, "", "--from tomorrow: not a time; write it as 2027-03-27,"},
		{"next", 2, "", "executord: next needs the name of a job file"},
		{"next DIR/plain tru", 1, "", "job tru is not in the file; did you mean true?"},
		{"explain", 2, "", "executord: explain needs a schedule, such as: executord explain '30 2 * * 1-5'"},
		{"explain @daily --zone Europe/Berln", 2, "", "--zone: unknown time zone \"Europe/Berln\"; write a name"},
		{"explain 61 * * * *", 1, "", "executord: minute \"61\": must be 0 to 59\n"},
		{"explain 30 2 a.go b.go a.go b.go 1-5", 1, "", "The shell replaces * with the names of files"},
		{"notify test", 2, "", "notify test needs a job file"},
		{"import DIR/backup.timer", 0, "[[job]]", "executord: 1 job, 0 of them commented out, and 0 remarks on what was not imported\n"},
		{"import DIR/none.yml", 1, "", "executord: no jobs in DIR/none.yml\n"},
		{"import DIR/good.TOML", 1, "", "; docs/how-to/from-another-scheduler.md "},
	}
	var lines [][]string
	for _, test := range tests {
		args := strings.Fields(test.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "DIR", dir) // which may have spaces
		}
		lines = append(lines, args)
	}
	cmd := executord(t)
	cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader("@dayly x\n")
	stdout, answers := inTurn(t, cmd, lines)
	for i, test := range tests {
		_, rest, printed := strings.Cut(stdout, test.stdout)
		if printed {
			stdout = rest
		}
		a, want := answers[i], strings.ReplaceAll(test.stderr, "DIR", dir)
		if a.code != test.code || !printed || !strings.Contains(a.said, want) || (want == "") != (a.said == "") {
			t.Errorf("executord %s: exit code %d, want %d, after %.300q\nstderr: %s", test.args, a.code, test.code, stdout, a.said)
		}
	}
}
