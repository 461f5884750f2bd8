package main

import (
	"strings"
	"syscall"
	"testing"
)

// Keys that do not go together are a mistake, with what to do about it.
func TestCheckPoliciesThatClash(t *testing.T) {
	for _, test := range []struct{ keys, want string }{
		{"misfire = \"all\"\n", "a has misfire all: due times that pass during its runs would be run, too, and its overlap is skip\n    @daily true\n    hint: set overlap to queue"},
		{"misfire = \"all\"\noverlap = \"allow 2\"\n", "and its overlap is allow 2"},
		{"misfire = \"all\"\noverlap = \"queue\"\n", ""},
	} {
		file := write(t, "jobs.toml", "[[job]]\nname = \"a\"\nschedule = \"@daily\"\ncommand = \"true\"\n"+test.keys)
		_, stderr, code := output(t, "", "check", file)
		if (code != 0) != (test.want != "") || !strings.Contains(stderr, test.want) || test.want == "" && stderr != "" {
			t.Errorf("%s: exit code %d, %s", test.keys, code, stderr)
		}
	}
}

// What does not hold over the end of a daemon is noted for a store, and for that alone.
func TestCheckNotesPoliciesForStore(t *testing.T) {
	file := write(t, "jobs.crontab", "# name: a\n# overlap: \"allow 2\"\n@daily true\n")
	if _, stderr, code := output(t, "", "check", file); code != 0 || stderr != "" {
		t.Errorf("without a store: exit code %d, %s", code, stderr)
	}
	_, stderr, code := output(t, "", "check", file, "--store", "jobs.db")
	if code != 0 || !strings.Contains(stderr, file+":3: note: a allows several runs at a time: each daemon counts its own") {
		t.Errorf("with a store: exit code %d, %s", code, stderr)
	}
}

// A job has the umask that its file says, as the whole program starts it.
func TestRunUmaskOfJob(t *testing.T) {
	p := start(t, "# name: a\n# umask: 0123\n@reboot umask\n")
	p.until("0123", "job", "a", "stream", "stdout")
	p.until("run ended", "job", "a", "outcome", "ok")
	p.signal(syscall.SIGTERM)
	p.wait()
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
