package crontab

import (
	"slices"
	"testing"
)

// The user field of a system crontab is noted for every user, and no program is taken for one.
func TestParseNotesUserField(t *testing.T) {
	for _, test := range []struct {
		name, text string
		lines      []int // of the notes
	}{
		{"known", "@daily root run-parts /etc/cron.daily\n@daily tar c /x\n", []int{1}},
		{"munin", "*/5 * * * * munin if [ -x /usr/bin/munin-cron ]; then /usr/bin/munin-cron; fi\n", []int{1}},
		{"logcheck", "@reboot logcheck if [ -x /x ]; then nice -n10 /x -R; fi\n2 * * * * logcheck if [ -x /x ]; then /x; fi\n", []int{1, 2}},
		{"unknown in each", "@daily alice /usr/bin/a\n@daily bob /usr/bin/b x\n", []int{1, 2}},
		{"unknown in one of two", "@daily alice /usr/bin/a\n@daily /usr/bin/b x\n", nil},
		{"a user that is a program", "@daily mail /usr/bin/a\n", []int{1}},
		{"a program that is a user", "@daily mail -s report me%Dear me,%all is well.\n", nil},
		{"programs", "@daily nice /usr/bin/a\n@daily rsync /a /b\n@daily find /tmp -delete\n", nil},
		{"alone", "@daily root\n", nil},
		{"a path", "@daily ./root /x\n", nil},
		{"a variable", "@daily A=b /x\n", nil},
	} {
		var lines []int
		for _, note := range parse(t, test.text).Notes {
			lines = append(lines, note.Line)
		}
		if !slices.Equal(lines, test.lines) {
			t.Errorf("%s: notes on lines %v, want %v", test.name, lines, test.lines)
		}
	}
}
