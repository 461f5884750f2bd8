//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// A name is the same whether its accents are characters of their own or not: two jobs cannot have it, and the namespace of
// a file has it.
func TestLoadNameInEachForm(t *testing.T) {
	const one, two = "\u00e9t\u00e9", "e\u0301te\u0301"
	tab := write(t, "tab", "# name: "+one+"\n@hourly a\n# name: "+two+"\n@hourly b\n")
	wantMistakes(t, sourcesOf(tab), false, tab+":3: the name \""+one+"\" is already used in line 1")
	toml := write(t, "jobs.toml", "[[job]]\nname='"+one+"'\nschedule='@hourly'\ncommand='a'\n[[job]]\nname='"+two+"'\nschedule='@hourly'\ncommand='b'\n")
	wantMistakes(t, sourcesOf(toml), false, toml+":6: the name \""+one+"\" is already used in line 2")
	if got := sourcesOf(two + ".crontab").namespace(); got != one {
		t.Errorf("the namespace is %q", got)
	}
}

// With a store, names that change with the lines of the file are mistakes.
func TestLoadMistakesForStores(t *testing.T) {
	file := write(t, "tab", "@daily /opt/a/sync\n@daily /opt/b/sync\n")
	wantMistakes(t, sourcesOf(file), false)
	wantMistakes(t, sourcesOf(file), true,
		file+":1: the job is called sync:1, after its line, and a store needs a name that stays\n    @daily /opt/a/sync\n    hint: write a line such as # name: sync-1 above it",
		file+":2: the job is called sync:2")
}

// A channel that a job names has to be there, in whichever file, and once.
func TestLoadFindsWrongChannels(t *testing.T) {
	const job, own = "[[job]]\nname='%'\nschedule='@daily'\ncommand='true'\n", "[notify.ops]\ncommand = 'true'\n"
	names := files(t, "tab", "# name: a\n# notify: ops\n@daily true\n",
		"b.toml", own+strings.Replace(job, "%", "b", 1)+"notify='opps'\n", "c.toml", own+strings.Replace(job, "%", "c", 1))
	wantMistakes(t, sourcesOf(names[0]), false, names[0]+`:3: a names the channel "ops", which does not exist`)
	wantMistakes(t, sourcesOf(names[0], names[2]), false)
	wantMistakes(t, sourcesOf(names[1]), false, names[1]+`:3: b names the channel "opps", which does not exist
    @daily true
    hint: did you mean ops?`)
	wantMistakes(t, sourcesOf(names[2], names[1]), false, names[1]+`:1: the channel "ops" is already in `+names[2]+":1", names[1]+`:3: b names`)
}

// A channel that is not there is told together with other mistakes, in the order of the lines, unless it may be there:
// in a file that could not be read to its end.
func TestLoadFindsWrongChannelsAtOnce(t *testing.T) {
	const wrong = "names the channel"
	for _, test := range []struct {
		name, text string
		want       []string // the lines of the mistakes, and what each says
	}{
		{"tab", "# name: a\n# notify: ops\n@daily true\n# notify: pager\n61 * * * * true\n@daily\n",
			[]string{":3: a " + wrong, `:5: minute "61"`, ":5: the job " + wrong, ":6: "}},
		{"jobs.toml", "[[job]]\nname='a'\nschedule='@daily'\ncommand='true'\nnotify='ops'\ntimeout='x'\n[notify.pager]\nmail='x'\nlimit=-1\n",
			[]string{":1: a " + wrong, ":6: ", ":9: "}},
		{"jobs.toml", "[[job]]\nname='a'\nschedule='@daily'\ncommand='true'\nnotify='ops'\n[notify.ops]\nmail='x'\nlimit=-1\n", []string{":8: "}},
		{"jobs.toml", "[[job]]\nname='a'\nschedule='@daily'\ncommand='true'\nnotify='ops'\n[notify.ops\nmail='x'\n", []string{":6: "}},
	} {
		file := write(t, test.name, test.text)
		for i := range test.want {
			test.want[i] = file + test.want[i]
		}
		wantMistakes(t, sourcesOf(file), false, test.want...)
	}
}

// A file of another kind that is given as a job file is one mistake, which says what to do with it. A crontab with a
// mistake is none, whatever its name.
func TestLoadTellsFilesOfOthers(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"backup.timer", "# nightly\n[Timer]\nOnCalendar=daily\n", "executord import "},
		{"backup.service", "[Service]\nExecStart=/bin/x\n", "executord import "},
		{"compose.yml", "services:\n  a:\n    labels:\n      ofelia.job-exec.b.schedule: '@daily'\n", "executord import "},
		{"config.ini", "[job-local \"a\"]\nschedule = @daily\ncommand = x\n", "executord import "},
		{"cronjob.yaml", "apiVersion: batch/v1\nkind: CronJob\n", byHand},
		{"jobs.json", "[{\"name\": \"a\"}]\n", byHand},
		{"other.conf", "[main]\na = 1\n", byHand},
		{"jobs.conf", "\n[[job]]\nname = 'a'\n", "name it jobs.conf.toml, or set --format toml"},
		{"cron.yml", "# ours\n61 * * * * x\n", "must be 0 to 59"},
		{"cron.txt", "path: /bin\n61 * * * * x\n", "this is neither a job nor a setting"},
	} {
		_, _, err := sourcesOf(write(t, test.name, test.text)).parse(false, false)
		var told job.Mistakes
		if !errors.As(err, &told) || !strings.Contains(told[0].String(), test.want) || len(told) > 1 && test.name != "cron.txt" {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// A byte order mark, with which some editors begin a text, is no part of a file, whatever its kind.
func TestLoadLeavesOutMark(t *testing.T) {
	wantMistakes(t, sourcesOf(files(t, "tab", "\ufeff* * * * * true\n", "jobs.toml", "\ufeff[[job]]\nname = 'a'\nschedule = '@daily'\ncommand = 'true'\n")...), false)
}

// What is no regular file, and what goes by the number of a descriptor, has a
// name that the shell chose: no namespace is taken from it.
func TestLoadNeedsNamespace(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "sh-np.Xq4z")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"-", "/dev/stdin", "/dev/fd/0", "/dev/fd/4", "/dev/./fd/4", "/proc/self/fd/4", fifo} {
		if got := sourcesOf(name).namespace(); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A pipe that nobody writes to is an error, and not a wait without end; one that has taken the place of the file is not read
// again, and does not keep executord from its end.
func TestReadGivesUpPipe(t *testing.T) {
	file := t.TempDir() + "/tab"
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := read(file, true); err == nil || !strings.Contains(err.Error(), " is no longer a regular file") {
		t.Errorf("error %v", err)
	}
	defer func(d time.Duration) { pipeWait = d }(pipeWait)
	pipeWait = 0
	if _, _, _, err := read(file, false); err == nil || !strings.HasPrefix(err.Error(), file+" is a pipe to which nobody writes; ") {
		t.Errorf("error %v", err)
	}
}

// A pipe whose writer comes later than its reader, and writes in pieces, is read to its end.
func TestReadAwaitsWriter(t *testing.T) {
	file := t.TempDir() + "/tab"
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		f, err := os.OpenFile(file, os.O_WRONLY, 0) // which waits for the reader
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for range 3 {
			f.WriteString("@hourly true\n")
		}
	}()
	if _, data, _, err := read(file, false); err != nil || string(data) != strings.Repeat("@hourly true\n", 3) {
		t.Errorf("%q, error %v", data, err)
	}
}
