package crontab

import (
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// In a system crontab each job has a user, also behind an @word and before the options of cron.
func TestParseSystemHasUsers(t *testing.T) {
	f, err := ParseSystem("tab", []byte(`SHELL=/bin/sh
MAILTO=""
17 *	* * *	root	cd / && run-parts --report /etc/cron.hourly
@daily list -n [ -x /usr/bin/mailman ] && /usr/bin/mailman digests --send
# user: nobody
-*/5 * * * * www-data date +\%F%input
CRON=extended
0 4 L * * _apt /usr/bin/x
`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ user, script, name string }{
		{"root", "cd / && run-parts --report /etc/cron.hourly", "run-parts"},
		{"list", "[ -x /usr/bin/mailman ] && /usr/bin/mailman digests --send", "mailman"},
		{"www-data", "date +%F", "date"},
		{"_apt", "/usr/bin/x", "x"},
	} {
		j := f.Jobs[i]
		if j.Command.User != want.user || j.Command.Script != want.script || j.Name != want.name {
			t.Errorf("%+v, want %+v", j, want)
		}
	}
}

// A line without a user, or without a command behind it, is a mistake.
func TestParseSystemMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"@daily /usr/bin/x -y":     `tab:1: "/usr/bin/x" cannot be the name of a user`,
		"0 4 * * * root":           "tab:1: the command is missing",
		"0 4 * * *":                `tab:1: "" cannot be the name of a user`,
		"0 4 * * * [ -x /y ] && z": `tab:1: "[" cannot be the name of a user`,
		"0 4 * * root /bin/x":      `tab:1: "/bin/x" cannot be the name of a user`,
	} {
		_, err := ParseSystem("tab", []byte(text+"\n"))
		if err == nil {
			t.Errorf("no mistake in %q", text)
			continue
		}
		if got := err.(job.Mistakes)[0].Error(); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
