package main

import "testing"

// The times of all jobs are in one order, each in its own zone, with what the clock does to them.
func TestNextIsInOrder(t *testing.T) {
	stdout, err := here("next", write(t, "tab", `CRON_TZ=Europe/Berlin
# name: nightly
30 2 * * * true
CRON_TZ=UTC
# name: six
0 */6 * * * true
@every 10h echo
# name: boot
@reboot true
`), "--from", "2027-03-28T00:30:00Z", "-n", "5")
	want := `
DUE                                 ZONE           JOB      NOTE
Sun 2027-03-28 03:00:00 +02:00      Europe/Berlin  nightly  clocks skip 02:30
Sun 2027-03-28 06:00:00 +00:00      UTC            six
Sun 2027-03-28 10:30:00.000 +00:00  UTC            echo
Sun 2027-03-28 12:00:00 +00:00      UTC            six
Sun 2027-03-28 18:00:00 +00:00      UTC            six
boot: once, when executord starts
`
	if got := "\n" + stdout; got != want || err != nil {
		t.Errorf("%v\ngot:%s\nwant:%s", err, got, want)
	}
}

// Of the jobs, those that are named are shown, from the time on that is asked for, without the times that do not count.
func TestNextOfNamedJobs(t *testing.T) {
	file := write(t, "tab", "CRON_TZ=UTC\n# name: a\n# except: 2027-01-02, 01-04..01-05, /no/such/holidays\n# until: 2027-01-07\n0 4 * * * true\n# name: b\n* * * * * true\n")
	stdout, err := here("next", file, "a", "--json", "--from", "2027-01-01T04:00:00Z")
	want := ""
	for _, day := range []string{"01", "03", "06", "07"} {
		want += `{"due":"2027-01-` + day + `T04:00:00Z","job":"a"}` + "\n"
	}
	if stdout != want || err != nil {
		t.Errorf("%v\ngot:  %s\nwant: %s", err, stdout, want)
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
		{[]string{"--from", "2027-03-27", "-n", "1", "--zone", "UTC", "*/7 1 * * * /usr/bin/backup"}, `*/7 1 * * *
  at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of hour 1, UTC

Next times
  Sat 2027-03-27 01:00:00 +00:00

Odd
  */7 starts again in each hour: the last interval is 4 minutes; for 7 minutes between all runs, write @every 7m
`},
		{[]string{"@reboot"}, "@reboot\n  once, when executord starts\n"},
	} {
		stdout, err := here(append([]string{"explain"}, test.args...)...)
		if stdout != test.want || err != nil {
			t.Errorf("%q: %v\ngot:\n%s\nwant:\n%s", test.args, err, stdout, test.want)
		}
	}
}
