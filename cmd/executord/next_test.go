package main

import (
	"strings"
	"testing"
)

// The times of all jobs are in one order, each in its own zone, with what the clock does to them.
func TestNextIsInOrder(t *testing.T) {
	stdout, stderr, code := output(t, `CRON_TZ=Europe/Berlin
# name: nightly
30 2 * * * true
CRON_TZ=UTC
# name: six
0 */6 * * * true
@every 10h echo
# name: boot
@reboot true
`, "next", "-", "--from", "2027-03-28 00:30", "-n", "5")
	want := `
DUE                                 ZONE           JOB      NOTE
Sun 2027-03-28 03:00:00 +02:00      Europe/Berlin  nightly  clocks skip 02:30
Sun 2027-03-28 06:00:00 +00:00      UTC            six
Sun 2027-03-28 10:30:00.000 +00:00  UTC            echo
Sun 2027-03-28 12:00:00 +00:00      UTC            six
Sun 2027-03-28 18:00:00 +00:00      UTC            six
boot: once, when executord starts
`
	if got := "\n" + stdout; got != want || code != 0 || stderr != "" {
		t.Errorf("exit code %d %s\ngot:%s\nwant:%s", code, stderr, got, want)
	}
}

// Of the jobs, those that are named are shown, from the time on that is asked for.
func TestNextOfNamedJobs(t *testing.T) {
	file := "# name: a\n0 12 1 1 * true\n# name: b\n* * * * * true\n"
	stdout, stderr, code := output(t, file, "next", "-", "a", "--json", "-n", "2", "--from", "2027-01-01T12:00:00Z")
	want := `{"due":"2027-01-01T12:00:00Z","job":"a"}
{"due":"2028-01-01T12:00:00Z","job":"a"}
`
	if stdout != want || code != 0 || stderr != "" {
		t.Errorf("exit code %d %s\ngot:  %s\nwant: %s", code, stderr, stdout, want)
	}
}

// explain says the words, the times, the clock and what is odd.
func TestExplainSaysAll(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--from", "2027-03-27", "-n", "2", "--zone", "Europe/Berlin", "30 2 31 * *"}, `30 2 31 * *
  at 02:30 on the 31st of the month, Europe/Berlin

Next times
  Wed 2027-03-31 02:30:00 +02:00
  Mon 2027-05-31 02:30:00 +02:00

Changes of the clock
  02:30 comes twice on Sun 2027-10-31: due the first time only

Odd
  only seven months have a 31st: the schedule is not due in the others
`},
		{[]string{"--from", "2027-03-27", "-n", "1", "*/7 1 * * * /usr/bin/backup"}, `*/7 1 * * *
  at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of hour 1, UTC

Next times
  Sat 2027-03-27 01:00:00 +00:00

Odd
  */7 starts again in each hour: the last interval is 4 minutes; for 7 minutes between all runs, write @every 7m
`},
		{[]string{"@reboot"}, "@reboot\n  once, when executord starts\n"},
	} {
		stdout, stderr, code := output(t, "", append([]string{"explain"}, test.args...)...)
		if stdout != test.want || stderr != "" || code != 0 {
			t.Errorf("%q: exit code %d %s\ngot:\n%s\nwant:\n%s", test.args, code, stderr, stdout, test.want)
		}
	}
}

// A schedule that is none is a mistake, and stars that the shell has replaced are suspected.
func TestExplainRefusesSchedule(t *testing.T) {
	_, stderr, code := output(t, "", "explain", "61 * * * *")
	if want := "executord: minute \"61\": must be 0 to 59\n"; stderr != want || code != 1 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	_, stderr, code = output(t, "", "explain", "30", "2", "a.go", "b.go", "a.go", "b.go", "1-5")
	if !strings.Contains(stderr, "The shell replaces * with the names of files") || code != 1 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
