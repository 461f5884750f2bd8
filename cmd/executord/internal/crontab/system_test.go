package crontab

import (
	"slices"
	"strings"
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

// Jobs of a system crontab that no comment names, and that run the same program, have names that differ and stay when
// lines are added above, so that a store may keep them.
func TestParseSystemNamesStay(t *testing.T) {
	names := func(text string) (all []string) {
		f, err := ParseSystem("f", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range f.Jobs {
			all = append(all, j.Name)
		}
		return all
	}
	const first = "5-55/10 * * * * root debian-sa1 1 1\n"
	const lines = first + "59 23 * * * root debian-sa1 60 2\n59 23 * * * munin debian-sa1 60 2\n"
	got := names(lines + first)
	for i, name := range got {
		if !strings.HasPrefix(name, "debian-sa1-") || strings.Contains(name, ":") || slices.Index(got, name) != i {
			t.Errorf("the names are %q", got)
		}
	}
	if later := names("# a comment\n@daily root other\n" + lines); !slices.Equal(later[1:], got[:3]) {
		t.Errorf("with lines above, the names are %q, and were %q", later, got)
	}
	if one := names("@daily root sync\n"); one[0] != "sync" {
		t.Errorf("one job of a program is called %q", one[0])
	}
}
