package cron_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/executor-go/executor/cron"
)

// Problems and hints that several specs share.
const (
	minutes  = "must be 0 to 59"
	hours    = "must be 0 to 23"
	days     = "must be 1 to 31"
	months   = "must be 1 to 12 or jan to dec"
	weekdays = "must be 0 to 7 or sun to sat"

	dash        = "a range has two ends and one dash"
	backwards   = "the range runs backwards"
	zeroStep    = "a step must be at least 1"
	badStep     = "a step must be a number"
	writeStep   = `write a step such as "*/15" or "10-40/5"`
	badStar     = "a star may be followed only by a slash and a step"
	emptyItem   = "an item of the list is empty"
	removeComma = "remove the extra comma, and any blank beside a comma"
	quartz      = `L, W and # are for the extended language: write "@extended" before the fields`
	jenkins     = "H, Jenkins' hash of a name, is for the extended language; here write a value of your own"

	noSuchDay = "none of the months has this day, so it is never due"
	lastDay   = `for the last day of a month write "L" for it, and "@extended" before the fields`

	noTime     = "no time given"
	writeTime  = `write five fields, such as "30 2 * * *", or a word, such as "@daily"`
	want5      = ", want 5 (minute hour day-of-month month day-of-week)"
	writeStars = `write "*" for a field that does not matter`
	neither    = "seconds and years are not supported: without them it is "
	random     = `a random value, "~", is not supported: write one of your own`
	noSeconds  = "seconds are not supported: without them it is "
	below1m    = "; for less than a minute use @every"
	noYears    = "years and commands are not supported: without them it is "

	unknownZone = "unknown time zone"
	writeZone   = `names are capitalized, as in "America/New_York"; abbreviations such as PST are not names`
	writePrefix = "write CRON_TZ=Asia/Tokyo, without blanks, or CRON_TZ=UTC"

	twoZones    = "is a second time zone"
	saveWithout = "remove it; editors save UTF-8 without BOM, too"

	unknownWord   = "unknown word"
	theWords      = "the words are @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, @since and @every"
	badDuration   = "not a duration"
	months12      = `months and years differ in length: write "@monthly", "@yearly" or five fields`
	writeDuration = `write it like "90s" or "1h30m", up to about 290 years`
)

// The error for an invalid spec has the problem, its place, and what to write instead.
func TestParseErrorParts(t *testing.T) {
	for _, tt := range []struct {
		spec          string
		field, text   string
		column        int
		problem, hint string
	}{
		{"0 25 * * *", "hour", "25", 3, hours, ""},
		{"60 * * * *", "minute", "60", 1, minutes, ""},
		{"99999999999999999999999 * * * *", "minute", "99999999999999999999999", 1, minutes, ""},
		{"0 24 * * *", "hour", "24", 3, hours, ""},
		{"* * 0 * *", "day-of-month", "0", 5, days, ""},
		{"* * 32 * *", "day-of-month", "32", 5, days, ""},
		{"* * * 13 *", "month", "13", 7, months, ""},
		{"* * * * 8", "day-of-week", "8", 9, weekdays, ""},
		{"-5 * * * *", "minute", "-5", 1, dash, `write it as "1-3"`},
		{"5- * * * *", "minute", "5-", 1, dash, `write it as "1-3"`},
		{"1-2-3 * * * *", "minute", "1-2-3", 1, dash, `write it as "1-3"`},
		{"5-1 * * * *", "minute", "5-1", 1, backwards,
			`swap its ends, or write "5-59,0-1" to continue past the end`},
		{"0 22-5 * * *", "hour", "22-5", 3, backwards,
			`swap its ends, or write "22-23,0-5" to continue past the end`},
		{"0 22-5/2 * * *", "hour", "22-5", 3, backwards,
			"swap its ends, or write two ranges, one that ends at 23 and one that begins at 0"},
		{"0 0 * * 6-0", "day-of-week", "6-0", 9, backwards, `write "6-7" to end on Sunday`},
		{"0 0 * * 7-2", "day-of-week", "7-2", 9, backwards, `write "0-2" to begin on Sunday`},
		{"0 0 * * 7-0", "day-of-week", "7-0", 9, backwards, `write "0" to begin on Sunday`},
		{"0 0 * * 7-1/2", "day-of-week", "7-1", 9, backwards, `write "0-1" to begin on Sunday`},
		{"0 0 * * fri#2", "day-of-week", "fri#2", 9, weekdays, quartz},
		{"0 0 * * friL", "day-of-week", "friL", 9, weekdays, quartz},
		{"0 0 * * sat-mon", "day-of-week", "sat-mon", 9, backwards,
			`swap its ends, or write "6,0-1" to continue past the end`},
		{"0 0 * nov-feb *", "month", "nov-feb", 7, backwards,
			`swap its ends, or write "11-12,1-2" to continue past the end`},
		{"*/0 * * * *", "minute", "*/0", 1, zeroStep, `write "*" for every value`},
		{"5/0 * * * *", "minute", "5/0", 1, zeroStep, `write "5" for that value alone, or "5/1" for every value from it on`},
		{"0 0 * * mon/00", "day-of-week", "mon/00", 9, zeroStep, `write "mon" for that value alone, or "mon/1" for every value from it on`},
		{"10-40/0 * * * *", "minute", "10-40/0", 1, zeroStep, `write "10-40" for every value of the range`},
		{"1,5/0 * * * *", "minute", "5/0", 3, zeroStep, `write "5" for that value alone, or "5/1" for every value from it on`},
		{"*/90 * * * *", "minute", "*/90", 1, "the step is too long for 0 to 59 and selects only 0",
			`write "0" for a fixed time, or "@every 90m" for every 90 minutes of real time`},
		{"0 */24 * * *", "hour", "*/24", 3, "the step is too long for 0 to 23 and selects only 0",
			`write "0" for a fixed time, or "@every 24h" for every 24 hours of real time`},
		{"0 0 1 */12 *", "month", "*/12", 7, "the step is too long for 1 to 12 and selects only 1",
			`write "1" if that is meant`},
		{"0 0 * * */7", "day-of-week", "*/7", 9, "the step is too long for 0 to 6 and selects only 0",
			"write the days that are meant"},
		{"10-20/15 * * * *", "minute", "10-20/15", 1, "the step is too long for 10 to 20 and selects only 10",
			`write "10" if that is meant, or "@every 15m" for every 15 minutes of real time`},
		{"*/ * * * *", "minute", "*/", 1, badStep, writeStep},
		{"*/x * * * *", "minute", "*/x", 1, badStep, writeStep},
		{"*/-5 * * * *", "minute", "*/-5", 1, badStep, writeStep},
		{"1/2/3 * * * *", "minute", "1/2/3", 1, badStep, writeStep},
		{"*5 * * * *", "minute", "*5", 1, badStar, `write "*" or "*/15"`},
		{"*-5 * * * *", "minute", "*-5", 1, badStar, `write "*" or "*/15"`},
		{"1,,2 * * * *", "minute", "1,,2", 1, emptyItem, removeComma},
		{",1 * * * *", "minute", ",1", 1, emptyItem, removeComma},
		{"1, 2 * * * *", "", "", 0, "6 fields" + want5, "a list has no blanks"},
		{"1, * * * *", "minute", "1,", 1, emptyItem, removeComma},
		{"? * * * *", "minute", "?", 1, minutes, `write "*"; the question mark is Quartz's`},
		{"0 0 ? * 2#5", "day-of-week", "2#5", 9, weekdays, quartz},
		{"0 0 L * ?", "day-of-month", "L", 5, days, quartz},
		{"@extended 0 0 W * *", "day-of-month", "W", 15, "W needs a day before it",
			`write "15W" for the weekday nearest to the 15th, or "LW" for the last of the month`},
		{"@extended 0 0 * * #2", "day-of-week", "#2", 19, "# needs a day before it",
			`write "fri#2" for the second Friday of the month`},
		{"@every 9999999999m", "interval", "9999999999m", 8, "is longer than 290 years, the most that a duration can be", ""},
		{"0 0 L * *", "day-of-month", "L", 5, days, quartz},
		{"0 0 * * 5#2", "day-of-week", "5#2", 9, weekdays, quartz},
		{"0 0 1.5 * *", "day-of-month", "1.5", 5, days, "write whole numbers"},
		{"0 0 * jam *", "month", "jam", 7, months, `did you mean "jan"?`},
		{"0 0 * jna *", "month", "jna", 7, months, `did you mean "jan"?`},
		{"0 0 * january *", "month", "january", 7, months, `write "jan" or "1"`},
		{"0 0 * * tues", "day-of-week", "tues", 9, weekdays, `write "tue" or "2"`},
		{"0 0 * * monday-fri", "day-of-week", "monday", 9, weekdays, `write "mon" or "1"`},
		{"0 0 * mon *", "month", "mon", 7, months, "mon is a name for the field day-of-week"},
		{"0 0 jan * *", "day-of-month", "jan", 5, days, "jan is a name for the field month"},
		{"H * * * *", "minute", "H", 1, minutes, jenkins},
		{"H/15 * * * *", "minute", "H", 1, minutes, jenkins},
		{"0 H(0-6) * * *", "hour", "H(0", 3, hours, jenkins},
		{"0 0 L-3 * *", "day-of-month", "L", 5, days, quartz},
		{"0 0 15W * *", "day-of-month", "15W", 5, days, quartz},
		{"0 0 30 2 *", "day-of-month", "30", 5, noSuchDay, lastDay},
		{"0 0 31 4,6 *", "day-of-month", "31", 5, noSuchDay, lastDay},
		{"0 0 31 2-2 */2", "day-of-month", "31", 5, noSuchDay, lastDay},
		{"* * * *", "", "", 0, "4 fields" + want5, writeStars},
		{"*", "", "", 0, "1 field" + want5, writeStars},
		{"daily", "", "", 0, "1 field" + want5, `did you mean "@daily"?`},
		{"0 30 2 * * *", "", "", 0, "6 fields" + want5, noSeconds + `"30 2 * * *"` + below1m},
		{"0 0 12 * * ?", "", "", 0, "6 fields" + want5, noSeconds + `"0 12 * * *"` + below1m},
		{"0 30 2 * * * 2026", "", "", 0, "7 fields" + want5, neither + `"30 2 * * *"` + below1m},
		{"30 2 * * * *", "", "", 0, "6 fields" + want5, `seconds and years are not supported: ` +
			`if the first field has seconds, write "2 * * * *"; if the last has years, "30 2 * * *"`},
		{"*/10 * * * * *", "", "", 0, "6 fields" + want5, `seconds and years are not supported: ` +
			`if the first field has seconds, use @every; if the last has years, write "*/10 * * * *"`},
		{"*/10 * * * * ?", "", "", 0, "6 fields" + want5, "seconds are not supported" + below1m},
		{"*/10 * * * * * *", "", "", 0, "7 fields" + want5, "seconds and years are not supported" + below1m},
		{"~ * * * *", "minute", "~", 1, minutes, random},
		{"0 5~9 * * *", "hour", "5~9", 3, hours, random},
		{"0~59/20 * * * *", "minute", "0~59", 1, minutes, random},
		{"30 2 * * * 2026", "", "", 0, "6 fields" + want5, noYears + `"30 2 * * *"`},
		{"30 2 * * * /bin/true", "", "", 0, "6 fields" + want5, noYears + `"30 2 * * *"`},
		{"0 9 * * mon to fri", "", "", 0, "7 fields" + want5, noYears + `"0 9 * * mon"`},
		{"CRON_TZ=", "zone", "", 9, "no name follows the equals sign", writePrefix},
		{"CRON_TZ= UTC 0 0 * * *", "zone", "", 9, "no name follows the equals sign", writePrefix},
		{"CRON_TZ=Asia/Tokyo", "", "", 0, noTime, writeTime},
		{"CRON_TZ=america/new_york 0 0 * * *", "zone", "america/new_york", 9, unknownZone,
			`did you mean "America/New_York"?`},
		{"CRON_TZ=PST 0 0 * * *", "zone", "PST", 9, unknownZone, writeZone},
		{"CRON_TZ=../etc 0 0 * * *", "zone", "../etc", 9, unknownZone, writeZone},
		{"cron_tz=UTC 0 0 * * *", "zone", "cron_tz=UTC", 1, "the prefix for a zone is CRON_TZ= or TZ=",
			"write it in capitals"},
		{"CRON_TZ=UTC TZ=Asia/Tokyo 0 0 * * *", "zone", "TZ=Asia/Tokyo", 13, twoZones, "keep one of the two"},
		{"TZ=UTC TZ=UTC @daily", "zone", "TZ=UTC", 8, twoZones, "keep one of the two"},
		{"TZ=UTC CRON_TZ=", "zone", "CRON_TZ=", 8, twoZones, "keep one of the two"},
		{"TZ=UTC cron_tz=UTC 0 0 * * *", "zone", "cron_tz=UTC", 8, twoZones, "keep one of the two"},
		{"0 0 CRON_TZ=UTC * *", "day-of-month", "CRON_TZ=UTC", 5, days, "settings go on lines of their own"},
		{"MAILTO=x 0 0 * *", "minute", "MAILTO=x", 1, minutes, "settings go on lines of their own"},
		{"@dialy", "word", "@dialy", 1, unknownWord, `did you mean "@daily"?`},
		{"@foo", "word", "@foo", 1, unknownWord, theWords},
		{"@", "word", "@", 1, unknownWord, theWords},
		{"@reboot", "word", "@reboot", 1, "a program start is not a time",
			"run the job once when the program starts"},
		{"@daily 5", "word", "5", 8, "nothing may follow @daily", "remove it"},
		{"@every", "", "", 0, "@every needs a duration", `write "@every 90s" or "@every 1h30m"`},
		{"@every 90", "interval", "90", 8, badDuration, `give it a unit, such as "90s" or "90m"`},
		{"@every 1d", "interval", "1d", 8, badDuration, `there is no unit for days: write "24h"`},
		{"@every 1w", "interval", "1w", 8, badDuration, `there is no unit for weeks: write "168h"`},
		{"@every 2W", "interval", "2W", 8, badDuration, `there is no unit for weeks: write "336h"`},
		{"@every 1d12h", "interval", "1d12h", 8, badDuration, `there is no unit for days: write "36h"`},
		{"@every 1w2d90m", "interval", "1w2d90m", 8, badDuration, `there is no unit for weeks: write "217h30m"`},
		{"@every 5min", "interval", "5min", 8, badDuration, `write "5m"`},
		{"@every 2hours30minutes", "interval", "2hours30minutes", 8, badDuration, `write "2h30m"`},
		{"@every 3days", "interval", "3days", 8, badDuration, `there is no unit for days: write "72h"`},
		{"@every 90sec", "interval", "90sec", 8, badDuration, `write "1m30s"`},
		{"@every 1mo", "interval", "1mo", 8, badDuration, months12},
		{"@every 2years", "interval", "2years", 8, badDuration, months12},
		{"@every 99999999w", "interval", "99999999w", 8, badDuration, writeDuration},
		{"@every 1h 30m", "interval", "30m", 11, "@every takes one duration",
			`write it without blanks, such as "1h30m"`},
		{"@every -1h", "interval", "-1h", 8, "must be longer than zero", ""},
		{"@every 0s", "interval", "0s", 8, "must be longer than zero", ""},
		{"@every 9999999h", "interval", "9999999h", 8, "is longer than 290 years, the most that a duration can be", ""},
		{"@every soon", "interval", "soon", 8, badDuration, writeDuration},
		{"５ * * * *", "character", "５", 1, "is U+FF15, not ASCII", "write a plain '5'"},
		{"9–17 * * * *", "character", "–", 2, "is U+2013, not ASCII", "write a plain '-'"},
		{"0 0 * * ∗", "character", "∗", 9, "is U+2217, not ASCII", "write a plain '*'"},
		{"0 0 é * *", "character", "é", 5, "is U+00E9, not ASCII", "use plain ASCII"},
		{"30 2 * * * 5", "", "", 0, "6 fields" + want5, noSeconds + `"2 * * * 5"` + below1m},
		{"0 0 12 ? * MON-FRI *", "", "", 0, "7 fields" + want5, neither + `"0 12 * * mon-fri"` + below1m},
		{"x 1 2 3 4 5 6 7 8", "", "", 0, "9 fields" + want5, "seconds, years and commands are not supported"},
		{"0 0 12 ? * 2", "", "", 0, "6 fields" + want5,
			`seconds, years and "?" are Quartz's, which also counts Sunday as 1`},
		{"", "", "", 0, noTime, writeTime},
		{"  \t", "", "", 0, noTime, writeTime},
		{"0 0\u00a0* * *", "character", "\u00a0", 4, "is U+00A0, not ASCII", "write a plain ' '"},
		{"\ufeff0 0 * * *", "character", "\ufeff", 1, "is a byte order mark (BOM)", saveWithout},
		{"0 0 \ufeff* * *", "character", "\ufeff", 5, "is a byte order mark (BOM)", saveWithout},
		{"\ufffe0 0 * * *", "character", "\ufffe", 1, "is U+FFFE, not ASCII", "use plain ASCII"},
		{"0 0 * \u200b* *", "character", "\u200b", 7, "is U+200B, which cannot be seen", "remove it"},
		{"\x00 * * * *", "character", "\x00", 1, "is a control character", "remove it"},
		{"\xff * * * *", "character", "\xff", 1, "is not UTF-8 text", ""},
		{"� * * * *", "character", "�", 1, "is U+FFFD, not ASCII", "use plain ASCII"},
	} {
		s, err := cron.Parse(tt.spec)
		got, ok := errors.AsType[*cron.ParseError](err)
		if !ok {
			t.Errorf("Parse(%q): error %v, want a *ParseError", tt.spec, err)
			continue
		}
		want := cron.ParseError{
			Spec: tt.spec, Field: tt.field, Text: tt.text, Column: tt.column, Problem: tt.problem, Hint: tt.hint,
		}
		if *got != want {
			t.Errorf("Parse(%q):\n\tgot  %#v\n\twant %#v", tt.spec, *got, want)
		}
		if s != (cron.Schedule{}) {
			t.Errorf("Parse(%q) = %q and an error, want the zero Schedule", tt.spec, s)
		}
		checkPlace(t, err)
	}
}

// The message names the package, the place, the problem and the hint, if there is one.
func TestParseErrorMessage(t *testing.T) {
	long := strings.Repeat("é", 50)
	for _, tt := range []struct {
		err  cron.ParseError
		want string
	}{
		{cron.ParseError{Spec: "0 25 * * *", Field: "hour", Text: "25", Column: 3, Problem: hours},
			`cron: hour "25" in "0 25 * * *" (column 3): must be 0 to 23`},
		{cron.ParseError{Spec: "0 0 * jam *", Field: "month", Text: "jam", Column: 7, Problem: months, Hint: "what?"},
			`cron: month "jam" in "0 0 * jam *" (column 7): must be 1 to 12 or jan to dec; what?`},
		{cron.ParseError{Spec: "  \t", Problem: noTime, Hint: "write five fields"},
			`cron: "  \t": no time given; write five fields`},
		{cron.ParseError{Spec: "0 0\u00a0* * *", Field: "character", Text: "\u00a0", Column: 4, Problem: "is U+00A0"},
			`cron: character "\u00a0" in "0 0\u00a0* * *" (column 4): is U+00A0`},
		{cron.ParseError{Spec: "a" + long, Field: "minute", Text: "a" + long, Column: 1, Problem: minutes},
			`cron: minute "a` + long[:78] + `"... in "a` + long[:78] + `"... (column 1): must be 0 to 59`},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("message of %#v:\n\tgot  %s\n\twant %s", tt.err, got, tt.want)
		}
	}
}

// checkPlace requires that err is a *ParseError whose parts are consistent.
func checkPlace(t *testing.T, err error) {
	t.Helper()
	pe, ok := errors.AsType[*cron.ParseError](err)
	if !ok {
		t.Fatalf("error %v is a %T, want a *ParseError", err, err)
	}
	if pe.Problem == "" {
		t.Errorf("error without a problem: %#v", pe)
	}
	if pe.Field == "" {
		if pe.Text != "" || pe.Column != 0 {
			t.Errorf("error for the whole spec has a place: %#v", pe)
		}
		return
	}
	if pe.Column < 1 || pe.Column > len(pe.Spec)+1 || !strings.HasPrefix(pe.Spec[pe.Column-1:], pe.Text) {
		t.Errorf("Column is not the position of Text: %#v", pe)
	}
}

// A spec over the limit is rejected by its length, and no message is longer than 500 bytes.
func TestParseErrorLongSpec(t *testing.T) {
	for _, tt := range []struct{ spec, problem string }{
		{strings.Repeat("1,", 1<<22) + "1 * * * *", "8388617 bytes are too long, the limit is 1024"},
		{strings.Repeat("* ", 1<<22), "8388608 bytes are too long, the limit is 1024"},
		{strings.Repeat("é", 1<<22), "8388608 bytes are too long, the limit is 1024"},
		{strings.Repeat("*", 1025), "1025 bytes are too long, the limit is 1024"},
		{strings.Repeat("* ", 512), "512 fields" + want5},
		{"@" + strings.Repeat("x", 1000), unknownWord},
		{"@every " + strings.Repeat("9", 1000), badDuration},
		{"TZ=" + strings.Repeat("A/", 500) + " 0 0 * * *", unknownZone},
		{strings.Repeat("9", 1000) + " * * * *", minutes},
	} {
		_, err := cron.Parse(tt.spec)
		checkPlace(t, err)
		if pe, _ := errors.AsType[*cron.ParseError](err); pe.Problem != tt.problem {
			t.Errorf("%d bytes: problem %q, want %q", len(tt.spec), pe.Problem, tt.problem)
		}
		if n := len(err.Error()); n > 500 {
			t.Errorf("%d bytes: message of %d bytes, want at most 500", len(tt.spec), n)
		}
	}
}
