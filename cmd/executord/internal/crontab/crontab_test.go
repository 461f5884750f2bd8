package crontab

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// parse reads a crontab that has to be without mistakes.
func parse(t *testing.T, text string) job.File {
	t.Helper()
	f, err := Parse("tab", []byte(text))
	if err != nil {
		t.Fatalf("Parse(%q):\n%v", text, err)
	}
	return f
}

func TestParseJobLines(t *testing.T) {
	tests := []struct {
		name, text       string
		schedule, script string
		stdin            string
	}{
		{"five fields", "*/5 8-18 1,15 jan mon-fri  /bin/backup --all", "*/5 8-18 1,15 jan mon-fri", "/bin/backup --all", ""},
		{"tabs", "\t*\t*\t*  \t*\t*\t echo\thi", "* * * * *", "echo\thi", ""},
		{"an @word", "@hourly echo hi", "@hourly", "echo hi", ""},
		{"@every takes its duration along", "@every 1h30m echo hi", "@every 1h30m", "echo hi", ""},
		{"@since takes its interval along", "@since 2026-12-01 14:00  every 7d echo hi", "@since 2026-12-01 14:00 every 7d", "echo hi", ""},
		{"in any case", "@Every 5m echo hi", "@Every 5m", "echo hi", ""},
		{"@reboot", "@reboot echo hi", "@reboot", "echo hi", ""},
		{"the end of the line stays", "* * * * * echo hi ; ", "* * * * *", "echo hi ; ", ""},
		{"# in a command", "* * * * * echo a #b", "* * * * *", "echo a #b", ""},
		{"Windows line end", "* * * * * echo hi\r", "* * * * *", "echo hi", ""},
		{"a variable for one command", "* * * * * A=1 echo hi", "* * * * *", "A=1 echo hi", ""},
		{"bytes that are not UTF-8", "* * * * * echo \xff", "* * * * *", "echo \xff", ""},

		{"input", "* * * * * cat%a%b", "* * * * *", "cat", "a\nb\n"},
		{"input that ends with a line", "* * * * * cat%a%", "* * * * *", "cat", "a\n"},
		{"empty input", "* * * * * cat%", "* * * * *", "cat", ""},
		{"percent sign", `* * * * * date +\%F`, "* * * * *", "date +%F", ""},
		{"percent sign in input", `* * * * * cat%100\%%`, "* * * * *", "cat", "100%\n"},
		{"quotes hide no %", `* * * * * cat '%'`, "* * * * *", "cat '", "'\n"},
		{"a backslash stays", `* * * * * echo \a \\ b`, "* * * * *", `echo \a \\ b`, ""},
		{"two backslashes do not hide a %", `* * * * * echo \\%x`, "* * * * *", `echo \\`, "x\n"},
		{"a backslash at the end", `* * * * * echo \`, "* * * * *", `echo \`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := parse(t, test.text)
			if len(f.Jobs) != 1 {
				t.Fatalf("%d jobs, want 1", len(f.Jobs))
			}
			j := f.Jobs[0]
			if j.Schedule.Text != test.schedule || j.Command.Script != test.script || j.Command.Stdin != test.stdin {
				t.Errorf("schedule %q, script %q, stdin %q\nwant     %q, script %q, stdin %q",
					j.Schedule.Text, j.Command.Script, j.Command.Stdin, test.schedule, test.script, test.stdin)
			}
			if j.Line != 1 || j.Command.Shell != job.DefaultShell {
				t.Errorf("line %d, shell %q", j.Line, j.Command.Shell)
			}
		})
	}
}

// A setting holds for the lines after it, and for those alone.
func TestParseSettingsHoldForLinesBelow(t *testing.T) {
	f := parse(t, `
@daily a
A=1
CRON_TZ=Asia/Tokyo
0 9 * * * b
A=2
SHELL=/bin/bash
CRON_TZ=
@daily c
`)
	want := []struct {
		env   []string
		shell string
		zone  string
		line  int
	}{
		{nil, "/bin/sh", time.Local.String(), 2},
		{[]string{"A=1"}, "/bin/sh", "Asia/Tokyo", 5},
		{[]string{"A=1", "A=2", "SHELL=/bin/bash"}, "/bin/bash", time.Local.String(), 9},
	}
	for i, w := range want {
		j := f.Jobs[i]
		if !slices.Equal(j.Command.Env, w.env) || j.Command.Shell != w.shell ||
			j.Schedule.Location().String() != w.zone || j.Line != w.line {
			t.Errorf("job %d: env %q, shell %s, zone %s, line %d", i, j.Command.Env, j.Command.Shell, j.Schedule.Location(), j.Line)
		}
	}
	tokyo, _ := time.LoadLocation("Asia/Tokyo")
	next := f.Jobs[1].Schedule.From(time.Time{}).Next(time.Date(2026, 1, 1, 12, 0, 0, 0, tokyo))
	if want := time.Date(2026, 1, 2, 9, 0, 0, 0, tokyo); !next.Equal(want) {
		t.Errorf("next at %v, want %v", next, want)
	}
}

func TestParseSettingValues(t *testing.T) {
	tests := []struct{ text, want string }{
		{`A=b`, "A=b"},
		{`A = b c `, "A=b c"},
		{`A="b c "`, "A=b c "},
		{`A='b "c'`, `A=b "c`},
		{`"A"=b`, "A=b"},
		{`'A' = "b"`, "A=b"},
		{`A=`, "A="},
		{`A=""`, "A="},
		{`A=b"c"`, `A=b"c"`},
		{`A==b`, "A==b"},
		{`A=a\nb`, `A=a\nb`},
		{"_1=x\r", "_1=x"},
	}
	for _, test := range tests {
		f := parse(t, test.text+"\n@daily x\n")
		if got := f.Jobs[0].Command.Env; !slices.Equal(got, []string{test.want}) {
			t.Errorf("%s: %q, want %q", test.text, got, test.want)
		}
	}
}

func TestParseNames(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"after the program", "@daily /usr/bin/backup --all", "backup"},
		{"variables are passed over", "@daily A=1 B=2 ./run.sh", "run.sh"},
		{"quotes and brackets are not part of it", `@daily ("/opt/x" | cat)`, "x"},
		{"without a word", "@daily :;:", "job"},
		{"a loop", `@daily for i in a b; do /opt/sync "$i"; done`, "sync"},
		{"a loop that waits", "@daily while ! test -e /x; do sleep 1; done; make", "make"},
		{"a directory", "@daily cd /x && make", "make"},
		{"a test", "@daily test -x /usr/sbin/anacron || ( cd / && run-parts --report /etc/cron.daily )", "run-parts"},
		{"a test in brackets", "@daily [ -f /x ] || /opt/fetch > /dev/null 2>&1", "fetch"},
		{"nothing but tests", "@daily [ -f /x ] || exit 1", "test"},
		{"two tests and an if", "@daily [ -x /a ] && if [ ! -d /b ]; then /usr/lib/php/sessionclean; fi", "sessionclean"},
		{"a question", "@daily command -v debian-sa1 > /dev/null && debian-sa1 1 1", "debian-sa1"},
		{"a test of the shell bash", "@daily [[ -f a && -f b ]] && make", "make"},
		{"a case", "@daily case $(date +\\%u) in 1) weekly ;; *) nightly ;; esac", "weekly"},
		{"brackets", "@daily ( make )", "make"},
		{"braces", "@daily { make; } >log", "make"},
		{"an expansion in a variable", "@daily D=$(date +\\%F; id) X=`date -u` A='b c' pg_dump", "pg_dump"},
		{"a redirection at the begin", "@daily 2>/x >y < z make", "make"},
		{"a file of the shell", "@daily . /etc/profile; make", "make"},
		{"a program of a variable", `@daily "$HOME/bin/a b/x.sh" "y"`, "x.sh"},
		{"a program that is a variable", `@daily "$PHP" artisan`, "job"},
		{"options of programs that run others", "@daily nice -n 19 ionice -c2 -n7 make -n", "make"},
		{"a lock", "@daily flock -n /var/lock/x sudo -u shop A=1 -- timeout -k 5 10m env -i make", "make"},
		{"a lock of the shell", "@daily exec 9>/x && flock -n 9 || exit 0; make", "make"},
		{"text for a shell", `@daily su - shop -c "cd /x && make all"`, "make"},
		{"text for a shell in text for a shell", `@daily flock /x -c "bash -lc 'make'"`, "make"},
		{"a script", "@daily /usr/bin/python3 -u /opt/report.py --all", "report.py"},
		{"a module", "@daily python3 -m shop.report", "shop.report"},
		{"text of another language", "@daily test -x /usr/bin/certbot && perl -e 'sleep int(rand(9))' && certbot -q renew", "certbot"},
		{"nothing but such text", "@daily perl -e 'make()'", "perl"},
		{"output", "@daily echo begin; make", "make"},
		{"output alone", "@daily echo begin; sleep 1", "echo"},
		{"a wrapper alone", "@daily nice -n", "nice"},
		{"open quotes", "@daily bash -c 'make", "make"},
		{"a comment of the shell", "@daily make# # that", "job"},
		{"given by a comment", "# name: nightly\n@daily x", "nightly"},
		{"a comment can stand further above", "#name:nightly\n\nA=1\n# why\n@daily x", "nightly"},
		{"only the next job is named", "# name: a\n@daily x\n@daily y", "a y"},
		{"all of one name get their lines", "@daily x\n@daily x\n@daily y", "x:1 x:2 y"},
		{"a given name is kept", "# name: x\n@daily a\n@daily x", "x x:3"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, j := range parse(t, test.text).Jobs {
				got = append(got, j.Name)
			}
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("names %q, want %q", s, test.want)
			}
		})
	}
}
