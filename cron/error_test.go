package cron_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cron"
)

// Every mistake is told with its place and with a way to mend it.
func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{"0 25 * * *",
			`cron: hour "25" in "0 25 * * *" (column 3): must be 0 to 23`},
		{"60 * * * *",
			`cron: minute "60" in "60 * * * *" (column 1): must be 0 to 59`},
		{"99999999999999999999999 * * * *",
			`cron: minute "99999999999999999999999" in "99999999999999999999999 * * * *" (column 1): must be 0 to 59`},
		{"0 24 * * *",
			`cron: hour "24" in "0 24 * * *" (column 3): must be 0 to 23`},
		{"* * 0 * *",
			`cron: day-of-month "0" in "* * 0 * *" (column 5): must be 1 to 31`},
		{"* * 32 * *",
			`cron: day-of-month "32" in "* * 32 * *" (column 5): must be 1 to 31`},
		{"* * * 13 *",
			`cron: month "13" in "* * * 13 *" (column 7): must be 1 to 12 or jan to dec`},
		{"* * * * 8",
			`cron: day-of-week "8" in "* * * * 8" (column 9): must be 0 to 7 or sun to sat`},
		{"-5 * * * *",
			`cron: minute "-5" in "-5 * * * *" (column 1): a range has two ends and one dash; write it as "1-3"`},
		{"5- * * * *",
			`cron: minute "5-" in "5- * * * *" (column 1): a range has two ends and one dash; write it as "1-3"`},
		{"1-2-3 * * * *",
			`cron: minute "1-2-3" in "1-2-3 * * * *" (column 1): a range has two ends and one dash; write it as "1-3"`},
		{"5-1 * * * *",
			`cron: minute "5-1" in "5-1 * * * *" (column 1): the range runs backwards; swap its ends, or write "5-59,0-1" to go past the end`},
		{"0 22-5 * * *",
			`cron: hour "22-5" in "0 22-5 * * *" (column 3): the range runs backwards; swap its ends, or write "22-23,0-5" to go past the end`},
		{"0 22-5/2 * * *",
			`cron: hour "22-5" in "0 22-5/2 * * *" (column 3): the range runs backwards; swap its ends, or write two ranges, one that ends at 23 and one that begins at 0`},
		{"0 0 * * 6-0",
			`cron: day-of-week "6-0" in "0 0 * * 6-0" (column 9): the range runs backwards; write "6-7" to end on Sunday`},
		{"0 0 * * 7-2",
			`cron: day-of-week "7-2" in "0 0 * * 7-2" (column 9): the range runs backwards; write "0-2" to begin on Sunday`},
		{"0 0 * * 7-0",
			`cron: day-of-week "7-0" in "0 0 * * 7-0" (column 9): the range runs backwards; write "0" to begin on Sunday`},
		{"0 0 * * 7-1/2",
			`cron: day-of-week "7-1" in "0 0 * * 7-1/2" (column 9): the range runs backwards; write "0-1" to begin on Sunday`},
		{"0 0 * * fri#2",
			`cron: day-of-week "fri#2" in "0 0 * * fri#2" (column 9): must be 0 to 7 or sun to sat; Quartz's L, W and # are not part of crontab`},
		{"0 0 * * friL",
			`cron: day-of-week "friL" in "0 0 * * friL" (column 9): must be 0 to 7 or sun to sat; Quartz's L, W and # are not part of crontab`},
		{"0 0 * * sat-mon",
			`cron: day-of-week "sat-mon" in "0 0 * * sat-mon" (column 9): the range runs backwards; swap its ends, or write "6,0-1" to go past the end`},
		{"0 0 * nov-feb *",
			`cron: month "nov-feb" in "0 0 * nov-feb *" (column 7): the range runs backwards; swap its ends, or write "11-12,1-2" to go past the end`},
		{"*/0 * * * *",
			`cron: minute "0" in "*/0 * * * *" (column 3): a step of 0 never gets on; the least step is 1`},
		{"*/90 * * * *",
			`cron: minute "*/90" in "*/90 * * * *" (column 1): the step is too long for 0 to 59 and selects only 0; write "0" if that is meant, or "@every 90m" for every 90 minutes of real time`},
		{"0 */24 * * *",
			`cron: hour "*/24" in "0 */24 * * *" (column 3): the step is too long for 0 to 23 and selects only 0; write "0" if that is meant, or "@every 24h" for every 24 hours of real time`},
		{"0 0 * * */7",
			`cron: day-of-week "*/7" in "0 0 * * */7" (column 9): the step is too long for 0 to 6 and selects only 0; write "0" if that is meant`},
		{"10-20/15 * * * *",
			`cron: minute "10-20/15" in "10-20/15 * * * *" (column 1): the step is too long for 10 to 20 and selects only 10; write "10" if that is meant, or "@every 15m" for every 15 minutes of real time`},
		{"*/ * * * *",
			`cron: minute "*/" in "*/ * * * *" (column 1): what follows the slash must be a number; write a step, such as "*/15" or "10-40/5"`},
		{"*/x * * * *",
			`cron: minute "*/x" in "*/x * * * *" (column 1): what follows the slash must be a number; write a step, such as "*/15" or "10-40/5"`},
		{"*/-5 * * * *",
			`cron: minute "*/-5" in "*/-5 * * * *" (column 1): what follows the slash must be a number; write a step, such as "*/15" or "10-40/5"`},
		{"1/2/3 * * * *",
			`cron: minute "1/2/3" in "1/2/3 * * * *" (column 1): what follows the slash must be a number; write a step, such as "*/15" or "10-40/5"`},
		{"*5 * * * *",
			`cron: minute "*5" in "*5 * * * *" (column 1): only a slash and a step may follow the star; write "*" or "*/15"`},
		{"*-5 * * * *",
			`cron: minute "*-5" in "*-5 * * * *" (column 1): only a slash and a step may follow the star; write "*" or "*/15"`},
		{"1,,2 * * * *",
			`cron: minute "1,,2" in "1,,2 * * * *" (column 1): an item of the list is empty; take out the spare comma, and any blank beside a comma`},
		{",1 * * * *",
			`cron: minute ",1" in ",1 * * * *" (column 1): an item of the list is empty; take out the spare comma, and any blank beside a comma`},
		{"1, 2 * * * *",
			`cron: "1, 2 * * * *": 6 fields, want 5 (minute hour day-of-month month day-of-week); lists have no blanks`},
		{"1, * * * *",
			`cron: minute "1," in "1, * * * *" (column 1): an item of the list is empty; take out the spare comma, and any blank beside a comma`},
		{"? * * * *",
			`cron: minute "?" in "? * * * *" (column 1): must be 0 to 59; write "*"; the question mark is Quartz's`},
		{"0 0 L * *",
			`cron: day-of-month "L" in "0 0 L * *" (column 5): must be 1 to 31; Quartz's L, W and # are not part of crontab`},
		{"0 0 * * 5#2",
			`cron: day-of-week "5#2" in "0 0 * * 5#2" (column 9): must be 0 to 7 or sun to sat; Quartz's L, W and # are not part of crontab`},
		{"0 0 1.5 * *",
			`cron: day-of-month "1.5" in "0 0 1.5 * *" (column 5): must be 1 to 31; write whole numbers`},
		{"0 0 * jam *",
			`cron: month "jam" in "0 0 * jam *" (column 7): must be 1 to 12 or jan to dec; did you mean "jan"?`},
		{"0 0 * jna *",
			`cron: month "jna" in "0 0 * jna *" (column 7): must be 1 to 12 or jan to dec; did you mean "jan"?`},
		{"0 0 * january *",
			`cron: month "january" in "0 0 * january *" (column 7): must be 1 to 12 or jan to dec; write "jan" or "1"`},
		{"0 0 * * tues",
			`cron: day-of-week "tues" in "0 0 * * tues" (column 9): must be 0 to 7 or sun to sat; write "tue" or "2"`},
		{"0 0 * * monday-fri",
			`cron: day-of-week "monday" in "0 0 * * monday-fri" (column 9): must be 0 to 7 or sun to sat; write "mon" or "1"`},
		{"0 0 * mon *",
			`cron: month "mon" in "0 0 * mon *" (column 7): must be 1 to 12 or jan to dec; mon is a name for the field day-of-week`},
		{"0 0 jan * *",
			`cron: day-of-month "jan" in "0 0 jan * *" (column 5): must be 1 to 31; jan is a name for the field month`},
		{"H * * * *",
			`cron: minute "H" in "H * * * *" (column 1): must be 0 to 59`},
		{"0 0 30 2 *",
			`cron: day-of-month "30" in "0 0 30 2 *" (column 5): no month of the fourth field has such a day, so it would never be due; for the last day of a month, have the job check the date, or run it on the first of the next`},
		{"0 0 31 4,6 *",
			`cron: day-of-month "31" in "0 0 31 4,6 *" (column 5): no month of the fourth field has such a day, so it would never be due; for the last day of a month, have the job check the date, or run it on the first of the next`},
		{"0 0 31 2-2 */2",
			`cron: day-of-month "31" in "0 0 31 2-2 */2" (column 5): no month of the fourth field has such a day, so it would never be due; for the last day of a month, have the job check the date, or run it on the first of the next`},
		{"* * * *",
			`cron: "* * * *": 4 fields, want 5 (minute hour day-of-month month day-of-week); write "*" for a field that does not matter`},
		{"*",
			`cron: "*": 1 field, want 5 (minute hour day-of-month month day-of-week); write "*" for a field that does not matter`},
		{"daily",
			`cron: "daily": 1 field, want 5 (minute hour day-of-month month day-of-week); did you mean "@daily"?`},
		{"0 30 2 * * *",
			`cron: "0 30 2 * * *": 6 fields, want 5 (minute hour day-of-month month day-of-week); seconds are not supported: without them it is "30 2 * * *"; below a minute there is @every`},
		{"0 0 12 * * ?",
			`cron: "0 0 12 * * ?": 6 fields, want 5 (minute hour day-of-month month day-of-week); seconds are not supported: without them it is "0 12 * * *"; below a minute there is @every`},
		{"0 30 2 * * * 2026",
			`cron: "0 30 2 * * * 2026": 7 fields, want 5 (minute hour day-of-month month day-of-week); seconds are not supported: without them it is "30 2 * * *"; below a minute there is @every`},
		{"30 2 * * * 2026",
			`cron: "30 2 * * * 2026": 6 fields, want 5 (minute hour day-of-month month day-of-week); years and commands are no part of it: "30 2 * * *"`},
		{"30 2 * * * /bin/true",
			`cron: "30 2 * * * /bin/true": 6 fields, want 5 (minute hour day-of-month month day-of-week); years and commands are no part of it: "30 2 * * *"`},
		{"0 9 * * mon to fri",
			`cron: "0 9 * * mon to fri": 7 fields, want 5 (minute hour day-of-month month day-of-week); years and commands are no part of it: "0 9 * * mon"`},
		{"CRON_TZ=",
			`cron: zone "" in "CRON_TZ=" (column 9): no name follows the equals sign; write CRON_TZ=Asia/Tokyo, without blanks, or CRON_TZ=UTC`},
		{"CRON_TZ= UTC 0 0 * * *",
			`cron: zone "" in "CRON_TZ= UTC 0 0 * * *" (column 9): no name follows the equals sign; write CRON_TZ=Asia/Tokyo, without blanks, or CRON_TZ=UTC`},
		{"CRON_TZ=Asia/Tokyo",
			`cron: "CRON_TZ=Asia/Tokyo": no time given; write five fields, such as "30 2 * * *", or a word, such as "@daily"`},
		{"CRON_TZ=america/new_york 0 0 * * *",
			`cron: zone "america/new_york" in "CRON_TZ=america/new_york 0 0 * * *" (column 9): unknown time zone; did you mean "America/New_York"?`},
		{"CRON_TZ=PST 0 0 * * *",
			`cron: zone "PST" in "CRON_TZ=PST 0 0 * * *" (column 9): unknown time zone; names look like "America/New_York" and have capitals; abbreviations such as PST are not names`},
		{"CRON_TZ=../etc 0 0 * * *",
			`cron: zone "../etc" in "CRON_TZ=../etc 0 0 * * *" (column 9): unknown time zone; names look like "America/New_York" and have capitals; abbreviations such as PST are not names`},
		{"cron_tz=UTC 0 0 * * *",
			`cron: zone "cron_tz=UTC" in "cron_tz=UTC 0 0 * * *" (column 1): the prefix for a zone is CRON_TZ= or TZ=; write it in capitals`},
		{"0 0 CRON_TZ=UTC * *",
			`cron: day-of-month "CRON_TZ=UTC" in "0 0 CRON_TZ=UTC * *" (column 5): must be 1 to 31; settings stand on lines of their own`},
		{"MAILTO=x 0 0 * *",
			`cron: minute "MAILTO=x" in "MAILTO=x 0 0 * *" (column 1): must be 0 to 59; settings stand on lines of their own`},
		{"@dialy",
			`cron: word "@dialy" in "@dialy" (column 1): unknown word; did you mean "@daily"?`},
		{"@foo",
			`cron: word "@foo" in "@foo" (column 1): unknown word; the words are @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually and @every`},
		{"@",
			`cron: word "@" in "@" (column 1): unknown word; the words are @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually and @every`},
		{"@reboot",
			`cron: word "@reboot" in "@reboot" (column 1): a start is not a time; run the job once when the program starts`},
		{"@daily 5",
			`cron: word "5" in "@daily 5" (column 8): nothing may follow @daily; leave it out`},
		{"@every",
			`cron: "@every": no duration follows @every; write "@every 90s" or "@every 1h30m"`},
		{"@every 90",
			`cron: interval "90" in "@every 90" (column 8): not a duration that Go can read; give it a unit, such as "90s" or "90m"`},
		{"@every 1d",
			`cron: interval "1d" in "@every 1d" (column 8): not a duration that Go can read; Go has no unit for days: write "24h"`},
		{"@every 1h 30m",
			`cron: interval "30m" in "@every 1h 30m" (column 11): only one duration follows @every; write it without blanks, such as "1h30m"`},
		{"@every -1h",
			`cron: interval "-1h" in "@every -1h" (column 8): must be longer than zero`},
		{"@every 0s",
			`cron: interval "0s" in "@every 0s" (column 8): must be longer than zero`},
		{"@every 9999999h",
			`cron: interval "9999999h" in "@every 9999999h" (column 8): not a duration that Go can read; write it like "90s" or "1h30m", up to about 290 years`},
		{"@every soon",
			`cron: interval "soon" in "@every soon" (column 8): not a duration that Go can read; write it like "90s" or "1h30m", up to about 290 years`},
		{"５ * * * *",
			`cron: character "５" in "５ * * * *" (column 1): is U+FF15, not ASCII; write a plain '5'`},
		{"9–17 * * * *",
			`cron: character "–" in "9–17 * * * *" (column 2): is U+2013, not ASCII; write a plain '-'`},
		{"0 0 * * ∗",
			`cron: character "∗" in "0 0 * * ∗" (column 9): is U+2217, not ASCII; write a plain '*'`},
		{"0 0 é * *",
			`cron: character "é" in "0 0 é * *" (column 5): is U+00E9, not ASCII; use plain ASCII`},
		{"30 2 * * * 5",
			`cron: "30 2 * * * 5": 6 fields, want 5 (minute hour day-of-month month day-of-week); seconds are not supported: without them it is "2 * * * 5"; below a minute there is @every`},
		{"0 0 12 ? * MON-FRI *",
			`cron: "0 0 12 ? * MON-FRI *": 7 fields, want 5 (minute hour day-of-month month day-of-week); seconds are not supported: without them it is "0 12 * * mon-fri"; below a minute there is @every`},
		{"x 1 2 3 4 5 6 7 8",
			`cron: "x 1 2 3 4 5 6 7 8": 9 fields, want 5 (minute hour day-of-month month day-of-week); seconds, years and commands are no part of it`},
		{"0 0 12 ? * 2",
			`cron: "0 0 12 ? * 2": 6 fields, want 5 (minute hour day-of-month month day-of-week); seconds, years and "?" are Quartz's, which also counts Sunday as 1`},
		{"",
			`cron: "": no time given; write five fields, such as "30 2 * * *", or a word, such as "@daily"`},
		{"  \t",
			`cron: "  \t": no time given; write five fields, such as "30 2 * * *", or a word, such as "@daily"`},
		{"0 0\u00a0* * *",
			`cron: character "\u00a0" in "0 0\u00a0* * *" (column 4): is U+00A0, not ASCII; write a plain ' '`},
		{"\x00 * * * *",
			`cron: character "\x00" in "\x00 * * * *" (column 1): is a control character; leave it out`},
		{"\xff * * * *",
			`cron: character "\xff" in "\xff * * * *" (column 1): is not UTF-8 text`},
		{"� * * * *",
			`cron: character "�" in "� * * * *" (column 1): is U+FFFD, not ASCII; use plain ASCII`},
	} {
		s, err := cron.Parse(tt.spec)
		if err == nil {
			t.Errorf("%q: no error", tt.spec)
			continue
		}
		if got := err.Error(); got != tt.want {
			t.Errorf("%q:\n\tgot  %s\n\twant %s", tt.spec, got, tt.want)
		}
		if s != (cron.Schedule{}) {
			t.Errorf("%q: an error and the schedule %q", tt.spec, s)
		}
		checkPlace(t, err)
	}
}

// checkPlace requires that an error is a ParseError whose parts agree.
func checkPlace(t *testing.T, err error) {
	t.Helper()
	pe, ok := errors.AsType[*cron.ParseError](err)
	if !ok {
		t.Fatalf("%T is no ParseError: %v", err, err)
	}
	if pe.Problem == "" {
		t.Errorf("no problem is told: %#v", pe)
	}
	if pe.Field == "" {
		if pe.Text != "" || pe.Column != 0 {
			t.Errorf("a place in the spec as a whole: %#v", pe)
		}
		return
	}
	if pe.Column < 1 || pe.Column > len(pe.Spec)+1 || !strings.HasPrefix(pe.Spec[pe.Column-1:], pe.Text) {
		t.Errorf("the place is wrong: %#v", pe)
	}
}

// A ParseError has its parts for programs to use.
func TestParseErrorParts(t *testing.T) {
	_, err := cron.Parse("CRON_TZ=UTC  0 0 * * 1,funday")
	pe, ok := errors.AsType[*cron.ParseError](err)
	if !ok {
		t.Fatalf("%T is no ParseError", err)
	}
	want := cron.ParseError{
		Spec: "CRON_TZ=UTC  0 0 * * 1,funday", Field: "day-of-week", Text: "funday", Column: 24,
		Problem: "must be 0 to 7 or sun to sat",
	}
	if *pe != want {
		t.Errorf("got  %#v\nwant %#v", *pe, want)
	}
}

// Long specs are refused at once, and cut short in the message.
func TestLongSpecs(t *testing.T) {
	for _, spec := range []string{
		strings.Repeat("1,", 1<<22) + "1 * * * *",
		strings.Repeat("* ", 1<<22),
		strings.Repeat("é", 1<<22),
		"@" + strings.Repeat("x", 1000),
		"@every " + strings.Repeat("9", 1000),
		"TZ=" + strings.Repeat("A/", 500) + " 0 0 * * *",
		strings.Repeat("9", 1000) + " * * * *",
		strings.Repeat("* ", 512),
	} {
		start := time.Now()
		_, err := cron.Parse(spec)
		if err == nil {
			t.Errorf("%d bytes were read", len(spec))
			continue
		}
		if n := len(err.Error()); n > 500 {
			t.Errorf("the message has %d bytes", n)
		}
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%d bytes took %v", len(spec), d)
		}
		checkPlace(t, err)
	}
}
