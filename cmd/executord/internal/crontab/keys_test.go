package crontab

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/keys"
)

// Keys above a line are for its job alone, and win over what the lines above have set.
func TestParseKeysAreForNextJob(t *testing.T) {
	f := parse(t, `CRON_TZ=UTC
SHELL=/bin/bash
RANDOM_DELAY=5
# name: a
# timeout: 90s
#jitter:0s
## timezone: Asia/Tokyo
# cron: seconds
# shell: /bin/sh
# dir: "/srv/my shop"
# progress: true
# success_codes: 0, 3
# priority: low
# after: b, c
# after_on: either
# group: db
# overlap: "allow 3"
# misfire: skip
# retries: 3
# retry_wait: 1m
# retry_factor: 3
# retry_max_wait: 1h
# env_file: /etc/a, /etc/b
# secret: A=/run/a, B=/run/b

# why
0 30 4 * * * a
30 4 * * * b
`)
	a, b := f.Jobs[0], f.Jobs[1]
	if a.Name != "a" || a.Timeout != 90*time.Second || a.Jitter != 0 || a.Schedule.Location().String() != "Asia/Tokyo" ||
		a.Schedule.Text != "30 4 * * *" || a.Command.Shell != "/bin/sh" || a.Command.Dir != "/srv/my shop" || !a.Progress || a.Priority != "low" || !slices.Equal(a.After, []string{"b", "c"}) || a.AfterOn != "either" || a.Group != "db" || a.Overlap != "allow 3" || a.Misfire != "skip" ||
		a.Retry != (job.Retry{Times: 3, Wait: time.Minute, Factor: 3, Most: time.Hour}) ||
		!slices.Equal(a.SuccessCodes, []int{0, 3}) || !slices.Equal(a.Command.EnvFiles, []string{"/etc/a", "/etc/b"}) ||
		!slices.Equal(a.Command.Secrets, []string{"A=/run/a", "B=/run/b"}) {
		t.Errorf("a: %+v", a)
	}
	if b.Name != "b" || b.Timeout != 0 || b.Jitter != 5*time.Minute || b.Schedule.Location().String() != "UTC" ||
		b.Command.Shell != "/bin/bash" || b.Command.Dir != "" || b.Progress || b.SuccessCodes != nil {
		t.Errorf("b: %+v", b)
	}
	if len(f.Notes) > 0 || !slices.Equal(a.Command.Env, b.Command.Env) {
		t.Errorf("notes %v, variables %q and %q", f.Notes, a.Command.Env, b.Command.Env)
	}
}

// A job that is switched off takes what stands above it along.
func TestParseKeysOfJobThatIsOff(t *testing.T) {
	f := parse(t, "# name: a\n# timeout: 1m\n#30 4 * * * a\n#@daily c\n30 5 * * * b\n")
	if j := f.Jobs[0]; j.Name != "b" || j.Timeout != 0 || len(f.Notes) > 0 {
		t.Errorf("%+v, notes %v", j, f.Notes)
	}
}

// A value that a key cannot have is a mistake, on its line and with the hint in its form.
func TestParseKeyMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"# timeout: 5":           "tab:1: timeout is a number without a unit\n    # timeout: 5\n    hint: write it with its unit: # timeout: 5s",
		"# timeout: soon":        "tab:1: timeout \"soon\" is not a duration\n    # timeout: soon\n    hint: write numbers with the units h, m, s or ms: # timeout: 1h30m",
		"# progress: yes":        "tab:1: progress is \"yes\", but has to be true or false\n    # progress: yes\n    hint: write: # progress: true",
		"# cron: quarz":          "tab:1: cron \"quarz\" is not one of plain, extended, seconds, supercronic, quartz\n    # cron: quarz\n    hint: did you mean: # cron: quartz",
		"# timezone: Mars":       "tab:1: unknown time zone \"Mars\"\n    # timezone: Mars\n    hint: " + job.ZoneHint,
		"# dir: '/x":             "tab:1: the quoted value of dir does not end with its quote\n    # dir: '/x\n    hint: close the quote at the end of the line, or write the value without quotes",
		"#jitter:1s\n#jitter:1s": "tab:2: jitter is already set in line 1\n    #jitter:1s\n    hint: remove one of the two",
	} {
		if _, err := Parse("tab", []byte(text+"\n@daily x\n")); err == nil || err.Error() != want {
			t.Errorf("%s:\n%v\nwant\n%s", text, err, want)
		}
	}
}

// What is hardly a key stays a comment, and what is nearly one is noted.
func TestParseKeyNotes(t *testing.T) {
	for text, want := range map[string]string{
		"# timeout: if it takes too long": "timeout: is followed by several words, so this is a comment",
		"# timout: 5m":                    `"timout" is not a key: this is a comment`,
		"# Timeout: 5m":                   `"Timeout" is not a key: this is a comment`,
		"# time: 5":                       "",
		"# timer: soon":                   "",
		"# TODO: x":                       "",
		"# command: x":                    "",
		"# see https://example.com/":      "",
	} {
		f := parse(t, text+"\n@daily x\n")
		got := ""
		for _, note := range f.Notes {
			got += note.What
		}
		if got != want || f.Jobs[0].Timeout != 0 {
			t.Errorf("%s: note %q, want %q; timeout %v", text, got, want, f.Jobs[0].Timeout)
		}
	}
	if notes := parse(t, "@daily x\n# timeout: 5m\n").Notes; len(notes) != 1 || notes[0].What != "timeout is set for no job" || notes[0].Line != 2 {
		t.Errorf("notes %v", notes)
	}
}

// A note of a value without its quotes says how to write it with them, which is right.
func TestParseKeyNoteShowsQuotes(t *testing.T) {
	for text, want := range map[string]string{
		"# overlap: allow 5":         `# overlap: "allow 5"`,
		`# dir: /srv/the "new" site`: `# dir: '/srv/the "new" site'`,
	} {
		notes := parse(t, text+"\n@daily x\n").Notes
		if len(notes) != 1 || notes[0].Hint != "if they are its value, write: "+want {
			t.Errorf("%s: notes %+v", text, notes)
		}
		if notes := parse(t, want+"\n@daily x\n").Notes; len(notes) > 0 {
			t.Errorf("%s: notes %+v", want, notes)
		}
	}
}

// A job has the MAILTO of the lines above it, and each that names somebody is noted unless mail is sent.
func TestParseMailTo(t *testing.T) {
	f := parse(t, "@daily a\nMAILTO=me\n@daily b\nMAILTO=\"\"\n@daily c\n")
	if f.Jobs[0].MailTo != nil || *f.Jobs[1].MailTo != "me" || *f.Jobs[2].MailTo != "" {
		t.Errorf("%+v", f.Jobs)
	}
	if len(f.Notes) > 0 || len(f.NoMail) != 1 || f.NoMail[0].Error() != "tab:2: MAILTO is ignored: no mail is sent" {
		t.Errorf("notes %v, and without mail %v", f.Notes, f.NoMail)
	}
}

// A key of an earlier version is a mistake that says what to write, and words that begin with one are a comment.
func TestParseRefusesKeysThatAreGone(t *testing.T) {
	_, err := Parse("tab", []byte("# umask: 027\n# rlimit: nofile=99, as=2G\n# nice: things to have\n@daily a\n"))
	var all job.Mistakes
	if !errors.As(err, &all) || len(all) != 2 || all[0].What != "umask is a key no more" || all[0].Hint != keys.Gone["umask"] || all[1].Line != 2 {
		t.Errorf("%+v", all)
	}
}
