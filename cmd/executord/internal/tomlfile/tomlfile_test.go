package tomlfile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/keys"
)

// parse reads a file that has to be without mistakes.
func parse(t *testing.T, text string) job.File {
	t.Helper()
	f, err := Parse("f.toml", []byte(text))
	if err != nil {
		t.Fatalf("Parse:\n%s\n%v", text, err)
	}
	return f
}

const least = "[[job]]\nname = \"a\"\nschedule = \"@daily\"\ncommand = \"x\"\n"

// Every key reaches the job it is for.
func TestParseKeys(t *testing.T) {
	f := parse(t, `
[[job]]
name     = "backup"
schedule = "30 2 * * *"
command  = "pg_dump shop"
timezone = "Asia/Tokyo"
timeout  = "1h"
jitter   = "5m"
shell    = "/bin/bash"
dir      = "/srv"
stdin    = "a\nb"
env      = { A = "1", B = "" }

[[job]]
name = "list"
schedule = "@reboot"
command = ["ls", "-l", "a b"]
`)
	a, b := f.Jobs[0], f.Jobs[1]
	want := job.Command{Script: "pg_dump shop", Shell: "/bin/bash", Dir: "/srv", Stdin: "a\nb", Env: []string{"A=1", "B="}}
	if a.Name != "backup" || a.Line != 2 || a.Timeout != time.Hour || a.Jitter != 5*time.Minute ||
		!reflect.DeepEqual(a.Command, want) {
		t.Errorf("got %+v", a)
	}
	if a.Schedule.Text != "30 2 * * *" || a.Schedule.Location().String() != "Asia/Tokyo" {
		t.Errorf("schedule %q in %v", a.Schedule.Text, a.Schedule.Location())
	}
	if want := (job.Command{Args: []string{"ls", "-l", "a b"}}); b.Line != 14 || !b.Schedule.AtStart ||
		!reflect.DeepEqual(b.Command, want) {
		t.Errorf("got %+v", b)
	}
}

// What stands above all jobs holds for each that does not say otherwise.
func TestParseDefaults(t *testing.T) {
	f := parse(t, `
timezone = "Asia/Tokyo"
timeout = "1h"
jitter = "1m"
shell = "/bin/bash"
dir = "/srv"
env_file = "/etc/env"
secret.A = "/run/a"
[env]
A = "1"
B = "2"

`+least+`
[[job]]
timeout = "0s"
name = "b"
schedule = "@daily"
command = "y"
timezone = ""
shell = "/bin/sh"
dir = ""
jitter = "0s"
env_file = []
secret = { B = "/run/b" }
[job.env]
B = "3"
`)
	a, b := f.Jobs[0], f.Jobs[1]
	if a.Timeout != time.Hour || a.Jitter != time.Minute || a.Command.Shell != "/bin/bash" || a.Command.Dir != "/srv" ||
		a.Schedule.Location().String() != "Asia/Tokyo" || !slices.Equal(a.Command.Env, []string{"A=1", "B=2"}) ||
		!slices.Equal(a.Command.EnvFiles, []string{"/etc/env"}) || !slices.Equal(a.Command.Secrets, []string{"A=/run/a"}) {
		t.Errorf("got %+v", a)
	}
	if b.Timeout != 0 || b.Jitter != 0 || b.Command.Shell != "/bin/sh" || b.Command.Dir != "" ||
		b.Schedule.Location() != time.Local || !slices.Equal(b.Command.Env, []string{"A=1", "B=2", "B=3"}) ||
		len(b.Command.EnvFiles) > 0 || !slices.Equal(b.Command.Secrets, []string{"A=/run/a", "B=/run/b"}) {
		t.Errorf("got %+v", b)
	}
}

// The same job can be written in every way that TOML has for it.
func TestParseSpellings(t *testing.T) {
	want := parse(t, least+"env = { A = \"1\" }").Jobs[0]
	for _, text := range []string{
		least + "[job.env]\nA = \"1\"",
		least + "env.A = '1'",
		"job = [ { name = 'a', schedule = '@daily', command = 'x', env = { A = '1' } } ]",
		"[[ job ]] # c\r\n'name'=\"\"\"a\"\"\"\r\nschedule='''@daily'''\r\n\"command\" = \"\\u0078\"\r\nenv.\"A\"='1'\r\n",
	} {
		got := parse(t, text).Jobs[0]
		got.Line = want.Line
		if !reflect.DeepEqual(got.Command, want.Command) || got.Name != want.Name {
			t.Errorf("%s\ngot  %+v\nwant %+v", text, got, want)
		}
	}
}

// Each mistake says where, what and how to fix it.
func TestParseMistakes(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing in a job", "[[job]]", `1: the job has no name | add one, such as: name = "backup"
1: the job has no schedule | add one, such as: schedule = "30 2 * * *"
1: the job has no command | add one, such as: command = "backup --all"`},
		{"unknown key", least + "comand = 'y'", `5: unknown key "comand" | did you mean command?`},
		{"misspelled key is not missing too", "[[job]]\nname='a'\nschedul='@daily'\ncommand='x'", `3: unknown key "schedul" | did you mean schedule?`},
		{"unlike any key", least + "colour = 'red'", `5: unknown key "colour" | remove it; known are ` + strings.Join(jobKeys, ", ")},
		{"key of an earlier version", "[[job]]\nname='a'\nschedule='@daily'\nsql='vacuum'", `4: "sql" is a key no more | ` + keys.Gone["sql"]},
		{"key of an earlier version, above all", "nice = 5\n" + least, `1: "nice" is a key no more | ` + keys.Gone["nice"]},
		{"key of a job above all", "name = 'a'\n" + least, `1: "name" is above all jobs, but belongs to one job | put it below a line [[job]]`},
		{"one bracket", "[job]\nname = \"a\"\nschedule = \"@daily\"\ncommand = \"x\"", "1: [job] is one table, but jobs are a list | write [[job]], with two brackets"},
		{"one bracket twice", strings.Repeat("[job]\nname='a'\nschedule='@daily'\ncommand='x'\n", 2), "1: [job] is one table, but jobs are a list | write [[job]], with two brackets\n5: [job] has one bracket, so there can be only one | write [[job]] for every job"},
		{"plural", "[[jobs]]\nname='a'\n" + least, "1: unknown table [[jobs]] | write [[job]]"},
		{"bad schedule", "[[job]]\nname='a'\nschedule='61 * * * *'\ncommand='x'", "3: minute \"61\": must be 0 to 59 | "},
		{"number for a duration", least + "timeout = 30", `5: timeout is a number without a unit | write it with its unit: timeout = "30s"`},
		{"text for a duration", least + "timeout = 'soon'", `5: timeout "soon" is not a duration | write numbers with the units h, m, s or ms: timeout = "1h30m"`},
		{"negative duration", least + "jitter = '-1s'", `5: jitter "-1s" is negative | write a positive duration, or for no jitter: jitter = "0s"`},
		{"text for a code", least + "success_codes = '3'", `5: success_codes is text, but has to be a number | write a number without quotes, such as: success_codes = [0, 3]`},
		{"text among codes", least + "success_codes = [0, '3']", `5: a value of success_codes is text, but has to be a number | write numbers without quotes, such as: success_codes = [0, 3]`},
		{"no code", least + "success_codes = [0, 256]", `5: 256 is not an exit code | write numbers from 0 to 255: success_codes = [0, 3]`},
		{"negative code", least + "success_codes = -1", `5: success_codes "-1" is not a whole number | write digits alone: success_codes = [0, 3]`},
		{"no codes", least + "success_codes = []", `5: success_codes has no number | write one, or several: success_codes = [0, 3]`},
		{"no table of secrets", least + "secret = '/run/secrets/db'", `5: secret is text, but has to be a table | write a table, such as: secret.DB_PASSWORD = "/run/secrets/db"`},
		{"a secret that is no file", least + "secret.DB = 'hunter2'", `5: the file of secret DB is "hunter2", which is not an absolute path | write the path of a file with the value: secret.DB_PASSWORD = "/run/secrets/db"`},
		{"a secret without a name", least + "secret.'a b' = '/x'", `5: "a b" cannot be the name of a variable | use letters, digits and _ only, and no digit first: secret.DB_PASSWORD = "/run/secrets/db"`},
		{"number for a secret", least + "secret.PIN = 1234", `5: secret.PIN is a number, but has to be text | write text in quotes, such as: secret.PIN = "/run/secrets/pin"`},
		{"env_file of no place", least + "env_file = ['/a', 'b']", `5: env_file "b" is not an absolute path | write the whole path: env_file = "/etc/shop.env"`},
		{"too many retries", least + "retries = 101", `5: retries 101 is too large | write a number up to 100: retries = 100`},
		{"no factor", least + "retry_factor = 0", `5: retry_factor is 0 | for equal waits, write: retry_factor = 1`},
		{"no longest wait", least + "retry_max_wait = '0s'", `5: retry_max_wait is 0s | set retry_wait to 0s for no wait, or write the longest wait: retry_max_wait = "10m"`},
		{"misspelled overlap", least + "overlap = 'skipp'", `5: overlap "skipp" is neither skip, queue or replace nor allow with a number | choose one of them: overlap = "skip"`},
		{"allow without a number", least + "overlap = 'allow'", `5: overlap "allow" does not say how many runs are allowed at a time, 1 to 100 | choose one of them: overlap = "allow 3"`},
		{"allow too many", least + "overlap = 'allow 101'", `5: overlap "allow 101" does not say how many runs are allowed at a time, 1 to 100 | choose one of them: overlap = "allow 3"`},
		{"misspelled misfire", least + "misfire = 'onec'", `5: misfire "onec" is neither once, skip or all nor a duration | write once, skip or all, or how long ago a missed time may be: misfire = "once"`},
		{"short misfire", least + "misfire = '10ms'", `5: misfire "10ms" is shorter than 1s, the least | write once, skip or all, or how long ago a missed time may be: misfire = "2h"`},
		{"group above all", "group = 'db'\n" + least, "1: group is text above all jobs, but has to be a table | write [group.db], with a name of your choice, and below it: limit = 2"},
		{"group without a limit", "[group.db]\n" + least, "1: group.db has no limit | add how many jobs of it may run at a time: limit = 2"},
		{"group of another limit", "[group.db]\nlimit = 0\n" + least, "2: the limit of group.db is not a number from 1 to 1000 | write a number from 1 to 1000, without quotes: limit = 2"},
		{"text for a limit", "[group.db]\nlimit = '2'\n" + least, "2: the limit of group.db is not a number from 1 to 1000 | write a number from 1 to 1000, without quotes: limit = 2"},
		{"misspelled limit", "[group.db]\nlimits = 2\n" + least, `2: unknown key "limits" | did you mean limit?`},
		{"group of blanks", "[group.'a b']\nlimit = 2\n" + least, `1: "a b" cannot be the name of a group | ` + job.NameHint},
		{"group of no name", least + "group = ''", `5: "" cannot be the name of a group | write one word: group = "db"`},
		{"after of blanks", least + "after = 'a b'", `5: "a b" cannot be the name of a job | write the name of one: after = "extract"`},
		{"after twice", least + "after = ['b', 'b']", `5: b is listed twice | remove one of the two`},
		{"misspelled after_on", least + "after_on = 'sucess'", `5: after_on "sucess" is not one of success, failure, either | did you mean: after_on = "success"`},
		{"misspelled priority", least + "priority = 'hihg'", `5: priority "hihg" is not one of low, normal, high | did you mean: priority = "high"`},
		{"number for text", "[[job]]\nname=1\nschedule='@daily'\ncommand='x'", `2: name is a number, but has to be text | write text in quotes, such as: name = "backup"`},
		{"bad name", "[[job]]\nname='a b'\nschedule='@daily'\ncommand='x'", `2: "a b" cannot be the name of a job | ` + job.NameHint},
		{"name twice", least + least, `6: the name "a" is already used in line 2 | choose another name for one of the two`},
		{"unknown zone", least + "timezone = 'Mars/Olympus'", `5: unknown time zone "Mars/Olympus" | ` + job.ZoneHint},
		{"shell of Windows", least + "shell = '/c/cmd.exe'", `5: the shell "/c/cmd.exe" takes no command after -c | ` + job.ShellHint},
		{"relative shell", least + "shell = 'bash'", `5: the shell "bash" is not an absolute path | write the whole path: shell = "/bin/bash"`},
		{"empty command", "[[job]]\nname='a'\nschedule='@daily'\ncommand=' '", `4: the command is empty | add one, such as: command = "backup --all"`},
		{"empty list", "[[job]]\nname='a'\nschedule='@daily'\ncommand=[]", `4: the command has no program | write one text for the shell, or a list: command = ["backup", "--all"]`},
		{"number in a list", "[[job]]\nname='a'\nschedule='@daily'\ncommand=['x',\n 1]", `5: an argument is a number, but has to be text | write text in quotes, such as: "42"`},
		{"command of another kind", "[[job]]\nname='a'\nschedule='@daily'\ncommand=true", `4: command is true or false | write one text for the shell, or a list: command = ["backup", "--all"]`},
		{"zero byte", "[[job]]\nname='a'\nschedule='@daily'\ncommand=\"\\u0000\"", `4: command has a zero byte | remove the \u0000`},
		{"number in env", least + "env = { PORT = 8080 }", `5: PORT is a number, but has to be text | write text in quotes, such as: PORT = "8080"`},
		{"bad variable", least + "env = { \"A B\" = 'x' }", `5: "A B" cannot be the name of a variable | use letters, digits and _ only, and no digit first`},
		{"env of another kind", least + "env = 'A=1'", `5: env is text | write a table: env = { PGHOST = "db" }, or [env] above all jobs and [job.env] in one`},
		{"key twice", least + "name = 'b'", `5: "name" is already set in line 2 | remove one of the two`},
		{"table twice", "[env]\nA='1'\n[env]\nB='2'\n" + least, `3: "env" is already defined in line 1 | put all keys below one of the two`},
		{"adding to a value", least + "env = {}\nenv.A = '1'", `6: "env" is already a table in line 5, to which nothing can be added | choose another key, or remove one of the two`},
		{"jobs of another kind", "job = 'x'", "1: job is text | write [[job]] on a line of its own, and the job's keys below it"},
		{"a job of another kind", "job = ['x']", "1: a job is text | write [[job]] on a line of its own, and the job's keys below it"},

		{"text without quotes", "[[job]]\nname=backup\nschedule='@daily'\ncommand='x'", `2: unexpected character U+0062 'b' at start of value | write text in quotes: key = "text"`},
		{"backslash", "[[job]]\nname='a'\nschedule='@daily'\ncommand=\"date +\\%F\"", `4: invalid escape character U+0025 '%' | write text with backslashes in single quotes: command = 'date +\%F'`},
		{"open quote", "[[job]]\nname='a\nschedule='@daily'\ncommand='x'", `2: literal strings cannot have new lines | close the quote on the same line, or write """ around text of several lines`},
		{"half a header", "[[job]\nname='a'\nschedule='@daily'\ncommand='x'", "1: expected ']]' to close array table name | write a table as [env], and every job as [[job]]"},
		{"open list", "[[job]]\nname='a'\nschedule='@daily'\ncommand=['x',\n'y'\n[[job]]\nname='b'\nschedule='@daily'\ncommand='x'", "6: expected ',' or ']' after array value (in the value that begins in line 4) | put a comma between values, and close the list with ]"},
		{"open text", "[[job]]\nname='a'\nschedule='@daily'\ncommand='''x\ny", "5: multiline literal string not terminated by ''' (in the value that begins in line 4) | close it with the same three quotes"},
		{"many parts", strings.Repeat("a.", 100) + "a = 1\n" + least, "1: a key has more than 100 parts | remove it; no key has more than two parts\n" +
			`1: unknown key "a" | remove it; known are ` + strings.Join(topKeys, ", ")},
		{"crontab line", "* * * * * x\n" + least, "1: invalid character at start of key: U+002A '*' | begin a comment with #, and write everything else as key = \"text\""},
		{"bytes that are no text", "# \xff\n" + least, "1: invalid UTF-8 character in comment | save the file as UTF-8"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, err := Parse("f", []byte(test.text))
			all, ok := err.(job.Mistakes)
			if !ok {
				t.Fatalf("error %v in\n%s", err, test.text)
			}
			var got []string
			for _, m := range all {
				got = append(got, fmt.Sprintf("%d: %s | %s", m.Line, m.What, m.Hint))
			}
			if s := strings.Join(got, "\n"); s != test.want {
				t.Errorf("in\n%s\ngot:\n%s\nwant:\n%s", test.text, s, test.want)
			}
			if len(f.Jobs) > 0 {
				t.Error("there are jobs besides the mistake")
			}
		})
	}
}

// Mistakes of syntax hide no others, before or behind them.
func TestParseReportsEachMistake(t *testing.T) {
	_, err := Parse("f.toml", []byte(`timout = "1h"
[[job]]
name = backup
schedule = "61 * * * *"
command = "x"

[[job]
name = "b b"
schedule = "@daily"
command = [ "x"

[[job]]
name = "c"
schedule = "@daily"
command = "y
jitter = 5
`))
	var lines []int
	for _, m := range err.(job.Mistakes) {
		lines = append(lines, m.Line)
	}
	if want := []int{1, 3, 4, 7, 8, 12, 15, 16}; !slices.Equal(lines, want) {
		t.Errorf("mistakes in lines %v, want %v:\n%v", lines, want, err)
	}
}

// What a job has of its own and does not use is noted, and nothing else is.
func TestParseNotes(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"[[job]]\nname='a'\nschedule='@daily'\ncommand=['x']\nshell='/bin/bash'", "5: a command that is a list is run without a shell"},
		{"[[job]]\nname='a'\njitter='1m'\nschedule='@reboot'\ncommand='x'", "3: a job for @reboot has no jitter: it starts at once"},
		{"[[job]]\nname='a'\njitter='0s'\nschedule='@reboot'\ncommand='x'", ""},
		{"jitter='1m'\nshell='/bin/bash'\n[[job]]\nname='a'\nschedule='@reboot'\ncommand=['x']", ""},
	} {
		var got []string
		for _, note := range parse(t, test.text).Notes {
			got = append(got, fmt.Sprintf("%d: %s", note.Line, note.What))
			if note.Hint == "" {
				t.Errorf("%s\nno hint", test.text)
			}
		}
		if s := strings.Join(got, "; "); s != test.want {
			t.Errorf("%s\ngot  %q\nwant %q", test.text, s, test.want)
		}
	}
}

// What a file of the largest size makes of itself stays in proportion to it: mistakes
// are counted after the first hundred, lists have a limit, and so have the variables of
// all jobs together.
func TestLargeFilesStayInProportion(t *testing.T) {
	jobs := func(n int, env string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "[[job]]\nname = \"j%d\"\nschedule = \"@daily\"\ncommand = \"true\"\n%s\n", i, env)
		}
		return b.String()
	}
	var env strings.Builder
	env.WriteString("[env]\n")
	for i := range 40_000 {
		fmt.Fprintf(&env, "V%d='1'\n", i)
	}
	variables := env.String()
	for name, test := range map[string]struct{ file, want string }{
		"no TOML":          {strings.Repeat("x\n", 500_000), ""},
		"brackets":         {strings.Repeat("[[\n", 300_000), ""},
		"empty tables":     {"job = [" + strings.Repeat("{},", 300_000) + "{}]", "the list has more than 10000 values"},
		"numbers":          {"[[job]]\ncommand = [" + strings.Repeat("1,", 400_000) + "1]", "the list has more than 10000 values"},
		"shared variables": {variables + jobs(4000, "env = {}"), "the variables of all jobs up to this one take more than 16 MB"},
		"own variables":    {variables + jobs(4000, `env = { A = "1" }`), "the variables of all jobs up to this one take more than 16 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			if len(test.file) > maxSize {
				t.Fatalf("the file has %d bytes, which is too large by itself", len(test.file))
			}
			_, err := Parse("jobs.toml", []byte(test.file))
			var all job.Mistakes
			if !errors.As(err, &all) || len(all) > 101 {
				t.Fatalf("%d mistakes are shown", len(all))
			}
			if text := err.Error(); !strings.Contains(text, test.want) || len(text) > 100_000 {
				t.Errorf("text of %d bytes, without %q: %.200s", len(text), test.want, text)
			}
		})
	}
}

// A file without jobs is allowed, and noted, and so is a step that selects one value.
func TestParseNotesLooseFile(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "the file has no jobs",
		"timeout = '1h'\njob = []\n": "the file has no jobs",
		"[[job]]\nname='a'\nschedule='0 */24 * * *'\ncommand='x'\n": `hour "*/24": the step is too long for 0 to 23 and selects only 0`,
	} {
		f, err := Parse("f", []byte(text))
		if err != nil || len(f.Notes) != 1 || f.Notes[0].What != want || f.Notes[0].Hint == "" {
			t.Errorf("%q: notes %v, error %v", text, f.Notes, err)
		}
	}
}

// The language of the schedules is that above all jobs, unless a job has one of its own.
func TestParseLanguage(t *testing.T) {
	file, err := Parse("tab", []byte(`
cron = "seconds"
[[job]]
name = "a"
schedule = "*/10 * * * * *"
command = "x"
[[job]]
name = "b"
cron = "extended"
schedule = "H 3 L * *"
command = "x"
[[job]]
name = "c"
cron = "plain"
schedule = "~ 3 * * *"
command = "x"
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := file.Jobs[0].Schedule.Text; got != "@extended */10 * * * * *" {
		t.Errorf("a: %q", got)
	}
	for _, j := range file.Jobs[1:] {
		again, _, wrong := job.ParseSchedule(j.Schedule.Text, time.UTC)
		if wrong != nil || again.Text != j.Schedule.Text || strings.ContainsAny(j.Schedule.Text, "H~") {
			t.Errorf("%s: %q, %v", j.Name, j.Schedule.Text, wrong)
		}
	}
}

// What is wrong with the number of fields, or the language, has the setting as its hint.
func TestParseLanguageHints(t *testing.T) {
	for keys, want := range map[string]string{
		"schedule = '30 4 * * * 2027'\n":            `write cron = "supercronic" if the last field has years`,
		"schedule = '@daily'\ncron = 'quarz'\n":     `did you mean: cron = "quartz"`,
		"schedule = '0 4 * *'\ncron = 'extended'\n": `write "*" for a field that does not matter`,
	} {
		_, err := Parse("tab", []byte("[[job]]\nname = 'a'\ncommand = 'x'\n"+keys))
		var all job.Mistakes
		if !errors.As(err, &all) || len(all) != 1 || !strings.Contains(all[0].Hint, want) {
			t.Errorf("%s: %v, want the hint %q", keys, err, want)
		}
	}
}

// A file of channels or groups alone belongs beside files that have jobs, and is not noted.
func TestParseFileBesideOthers(t *testing.T) {
	for _, text := range []string{"[notify.a]\nmail = 'x@y'\n", "[group.db]\nlimit = 2\n"} {
		if f := parse(t, text); len(f.Jobs) > 0 || len(f.Notes) > 0 {
			t.Errorf("%q: jobs %v, notes %v", text, f.Jobs, f.Notes)
		}
	}
}
