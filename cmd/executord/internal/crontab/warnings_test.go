package crontab

import (
	"slices"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// Each mistake says where, what and how to fix it.
func TestParseMistakes(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"value out of range", "61 * * * * x", "tab:1: minute \"61\": must be 0 to 59\n    61 * * * * x"},
		{"too few fields", "*/5 * * * /bin/x y", "tab:1: the schedule has only four of its five fields\n    */5 * * * /bin/x y\n    hint: write minute, hour, day of month, month and day of week, then the command"},
		{"fields alone", "* * * * *", "tab:1: the command is missing\n    * * * * *\n    hint: write the command after the schedule"},
		{"word alone", "@daily", "tab:1: the command is missing\n    @daily\n    hint: write the command after the schedule"},
		{"only input", "@daily %x", "tab:1: the command is missing\n    @daily %x\n    hint: write the command after the schedule"},
		{"seconds", "0 */5 * * * * x", "tab:1: the schedule has six fields, want 5\n    0 */5 * * * * x\n    hint: write CRON=supercronic if the last field has years, or CRON=seconds if the first field has seconds, or CRON=quartz if Sunday is 1, on a line above"},
		{"seconds and names", "0 0 12 * * MON-FRI x", "tab:1: the schedule has six fields, want 5\n    0 0 12 * * MON-FRI x\n    hint: write CRON=seconds if the first field has seconds, or CRON=quartz if Sunday is 1, on a line above"},
		{"Quartz", "0 0 12 * * ? x", "tab:1: the schedule has six fields, want 5\n    0 0 12 * * ? x\n    hint: write CRON=seconds if the first field has seconds, or CRON=quartz if Sunday is 1, on a line above"},
		{"year", "0 0 1 1 * 2026 x", "tab:1: the schedule has six fields, want 5\n    0 0 1 1 * 2026 x\n    hint: write CRON=supercronic if the last field has years, on a line above"},
		{"years", "0 0 1 1 * 2026-2028,2030 x", "tab:1: the schedule has six fields, want 5\n    0 0 1 1 * 2026-2028,2030 x\n    hint: write CRON=supercronic if the last field has years, on a line above"},
		{"six fields", "0 0 1 1 * 60 x", "tab:1: the schedule has six fields, want 5\n    0 0 1 1 * 60 x\n    hint: write minute, hour, day of month, month and day of week, then the command"},
		{"six fields with a mistake", "0 61 1 1 * * x", "tab:1: the schedule has six fields, want 5\n    0 61 1 1 * * x\n    hint: write minute, hour, day of month, month and day of week, then the command"},
		{"no duration", "@every", "tab:1: @every has no duration\n    @every\n    hint: write a duration and the command, such as: @every 5m /path/to/command"},
		{"duration without unit", "@every 5 x", "tab:1: @every \"5\": not a duration\n    @every 5 x\n    hint: give it a unit, such as \"5s\" or \"5m\""},
		{"no period", "@since 2026-12-01 14:00 x", "tab:1: @since needs a date, a time, the word every, and an interval\n    @since 2026-12-01 14:00 x\n    hint: write them and the command, such as: @since 2026-12-01 14:00 every 7d /path/to/command"},
		{"tiny duration", "@every 1ms x", "tab:1: @every 1ms is too short\n    @every 1ms x\n    hint: use 100ms or more, or let the command itself repeat its work"},
		{"misspelled word", "@dayly x", "tab:1: \"@dayly\": unknown word\n    @dayly x\n    hint: did you mean \"@daily\"?"},
		{"unknown word", "@foo x", "tab:1: \"@foo\": unknown word\n    @foo x\n    hint: the words are @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, @since, @every, @reboot and @after"},
		{"export", "export A=1\n@daily x", "tab:1: a crontab has no export\n    export A=1\n    hint: write NAME=value alone"},
		{"prose", "hello world", "tab:1: this is neither a job nor a setting\n    hello world\n    hint: write a schedule and a command, or NAME=value; begin a comment with #"},
		{"shell of Windows", "SHELL=/c/Windows/System32/CMD.EXE\n@daily x", "tab:1: the shell \"/c/Windows/System32/CMD.EXE\" takes no command after -c\n    SHELL=/c/Windows/System32/CMD.EXE\n    hint: " + job.ShellHint},
		{"relative shell", "SHELL=bash\n@daily x", "tab:1: the shell \"bash\" is not an absolute path\n    SHELL=bash\n    hint: write the whole path, such as /bin/bash"},
		{"open quote", "A=\"b\n@daily x", "tab:1: the quoted value of A does not end with its quote\n    A=\"b\n    hint: close the quote at the end of the line, or write the value without quotes"},
		{"text after a quote", "A='b' c\n@daily x", "tab:1: the quoted value of A does not end with its quote\n    A='b' c\n    hint: close the quote at the end of the line, or write the value without quotes"},
		{"bad variable", "A-B=1\n@daily x", "tab:1: \"A-B\" cannot be the name of a variable\n    A-B=1\n    hint: use letters, digits and _ only, and no digit first"},
		{"variable with a digit first", "1BAD=3\n@daily x", "tab:1: \"1BAD\" cannot be the name of a variable\n    1BAD=3\n    hint: use letters, digits and _ only, and no digit first"},
		{"variable with a digit first and blanks", "1BAD = 3\n@daily x", "tab:1: \"1BAD\" cannot be the name of a variable\n    1BAD = 3\n    hint: use letters, digits and _ only, and no digit first"},
		{"no schedule", "/bin/x y", "tab:1: the schedule before the command is missing\n    /bin/x y\n    hint: write minute, hour, day of month, month and day of week, then the command"},
		{"one field", "5 /bin/x y", "tab:1: the schedule has only one of its five fields\n    5 /bin/x y\n    hint: write minute, hour, day of month, month and day of week, then the command"},
		{"fraction", "1.5 * * * * x", "tab:1: minute \"1.5\": must be 0 to 59\n    1.5 * * * * x\n    hint: write whole numbers"},
		{"unknown zone", "CRON_TZ=Europe/Berln\n@daily x", "tab:1: unknown time zone \"Europe/Berln\"\n    CRON_TZ=Europe/Berln\n    hint: " + job.ZoneHint},
		{"zone before a schedule", "CRON_TZ=UTC 0 5 * * * x\n@daily x", "tab:1: unknown time zone \"UTC 0 5 * * * x\"\n    CRON_TZ=UTC 0 5 * * * x\n    hint: put CRON_TZ= on a line of its own, above the jobs it is for"},
		{"comment behind a zone", "CRON_TZ=UTC\t# for x\n@daily x", "tab:1: unknown time zone \"UTC\\t# for x\"\n    CRON_TZ=UTC\t# for x\n    hint: put the comment on a line of its own"},
		{"TZ before a schedule", "TZ=Asia/Tokyo 0 5 * * * x\n@daily x", "tab:1: unknown time zone \"Asia/Tokyo 0 5 * * * x\"\n    TZ=Asia/Tokyo 0 5 * * * x\n    hint: put CRON_TZ= on a line of its own, above the jobs it is for"},
		{"TZ before the only schedule", "TZ=UTC @daily x", "tab:1: unknown time zone \"UTC @daily x\"\n    TZ=UTC @daily x\n    hint: put CRON_TZ= on a line of its own, above the jobs it is for"},
		{"name twice", "# name: a\n@daily x\n# name: a\n@daily y", "tab:3: the name \"a\" is already used in line 1\n    # name: a\n    hint: choose another name for one of the two"},
		{"seven fields", "0 30 3 * * * * x", "tab:1: the schedule has 7 fields, want 5\n    0 30 3 * * * * x\n    hint: write CRON=supercronic if the last field has years, or CRON=quartz if Sunday is 1, on a line above"},
		{"years last", "30 3 * * * * x", "tab:1: the schedule has six fields, want 5\n    30 3 * * * * x\n    hint: write CRON=supercronic if the last field has years, or CRON=seconds if the first field has seconds, or CRON=quartz if Sunday is 1, on a line above"},
		{"program in HOME", "~/bin/x y", "tab:1: the schedule before the command is missing\n    ~/bin/x y\n    hint: write minute, hour, day of month, month and day of week, then the command"},
		{"a minus alone", "-", "tab:1: the schedule has only one of its five fields\n    -\n    hint: write minute, hour, day of month, month and day of week, then the command"},
		{"zero byte", "@daily x\n\x00\n", "tab:2: there is a zero byte in this line, so the file is not text\n    hint: choose a crontab, or save it as UTF-8"},
		{"UTF-16", "\xff\xfe*\x00", "tab:1: the file is in UTF-16\n    hint: save it as UTF-8"},
		{"huge", strings.Repeat("#\n", job.MaxFileSize), "tab:1: the file is larger than 8 megabytes, the most that a crontab may have\n    hint: choose a crontab"},
		{"line ends of old Macs", "0 9 * * * x\r0 10 * * * y\r", "tab:1: there is a carriage return in this line, as old Macs end lines\n    0 9 * * * x\\r0 10 * * * y\n    hint: save the file with the line ends of Unix or Windows"},
		{"a line end of old Macs", "@daily x\r\n# a\r@daily z\r\n", "tab:2: there is a carriage return in this line, as old Macs end lines\n    # a\\r@daily z\n    hint: save the file with the line ends of Unix or Windows"},
		{"terminal escapes", "\x1b[2J", "tab:1: this is neither a job nor a setting\n    \\x1b[2J\n    hint: write a schedule and a command, or NAME=value; begin a comment with #"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, err := Parse("tab", []byte(test.text))
			if err == nil {
				t.Fatalf("no mistake in %q", test.text)
			}
			if err.Error() != test.want {
				t.Errorf("got:\n%v\nwant:\n%s", err, test.want)
			}
			if len(f.Jobs) > 0 {
				t.Error("there are jobs besides the mistake")
			}
		})
	}
}

// TZ above a job is taken for the zone of its schedule by many: that it is not is
// noted once, unless CRON_TZ is there as well.
func TestParseNotesTZ(t *testing.T) {
	for _, test := range []struct {
		text string
		line int // of the note, 0 for none
	}{
		{"TZ=Europe/Berlin\n0 3 * * * x\n0 4 * * * y", 1},
		{"A=1\nTZ=UTC\n@daily x", 2},
		{"TZ=UTC\nTZ=Europe/Berlin\n@daily x\nTZ=Asia/Tokyo\n@daily y", 2},
		{"CRON_TZ=UTC\n@daily x\nCRON_TZ=\nTZ=UTC\n@daily y", 4},
		{"TZ=UTC\nCRON_TZ=UTC\n@daily x", 0},
		{"CRON_TZ=UTC\nTZ=:UTC\n@daily x", 0},
		{"CRON_TZ=UTC\nTZ=Europe/Berlin\n@daily x", 0}, // both are there, so that it is meant
		{"TZ=UTC\n@every 5m x\n@reboot y", 0},
		{"@daily x\nTZ=UTC", 0},
		{"TZ=\n@daily x", 0},
		{"TZ=UTC\nTZ=\n@daily x", 0},
	} {
		notes := parse(t, test.text).Notes
		switch {
		case test.line == 0 && len(notes) == 0:
		case test.line == 0 || len(notes) != 1 || notes[0].Line != test.line || notes[0].Hint == "" ||
			notes[0].What != "TZ is the zone of the commands, and not of the schedules below":
			t.Errorf("%q: notes %v, want one on line %d", test.text, notes, test.line)
		}
	}
	for tz, want := range map[string]string{
		":Asia/Tokyo": "write CRON_TZ=Asia/Tokyo as well, if they should be",
		"CET-1CEST":   "write CRON_TZ=Europe/Berlin, or whatever zone it is, as well, if they should be",
	} {
		if got := parse(t, "TZ="+tz+"\n@daily x").Notes[0].Hint; got != want {
			t.Errorf("%s: %q, want %q", tz, got, want)
		}
	}
}

// A job behind a setting is none, as in cron, which is noted.
func TestParseNotesJobBehindSetting(t *testing.T) {
	for text, noted := range map[string]bool{
		"A=b 0 5 * * * x":         true,
		"A = b\t@daily x y":       true,
		"A=b @every 5m x":         true,
		"A='b 0 5 * * * x'":       false, // in quotes, somebody has meant it
		"A=b 0 5 * * *":           false,
		"A=b c d e f g h":         false,
		"A=0 5 * * * x":           false,
		"TZ=:/my zones/x":         false,
		"MAIL=me@daily.example x": false,
	} {
		notes := parse(t, text+"\n@every 1h y").Notes
		if want := "this line has no job: all of it is the value of A, as in cron"; (len(notes) > 0) != noted || noted && (notes[0].What != want || notes[0].Line != 1) {
			t.Errorf("%q: notes %v", text, notes)
		}
	}
}

// A line that is too long is named without being shown whole.
func TestParseLongLine(t *testing.T) {
	_, err := Parse("tab", []byte("@daily x\n@daily "+strings.Repeat("y", maxLine)))
	if err == nil || !strings.HasPrefix(err.Error(), "tab:2: the line is longer than 65536 bytes\n") || len(err.Error()) > 400 {
		t.Errorf("got %.500v", err)
	}
}

// All mistakes of a file are found at once, in the order of the lines, and one
// mistake does not make others.
func TestParseReportsEachMistake(t *testing.T) {
	_, err := Parse("tab", []byte("CRON_TZ=Nowhere\nSHELL=sh\n# name: a\n60 * * * * x\n# name: b\n* * * * * y\n@wekly z\n* *\n"))
	var lines []int
	for _, m := range err.(job.Mistakes) {
		lines = append(lines, m.Line)
	}
	if got, want := lines, []int{1, 2, 4, 7, 8}; !slices.Equal(got, want) {
		t.Errorf("mistakes in lines %v, want %v:\n%v", got, want, err)
	}
}

// What is allowed but perhaps not meant is noted, and nothing else is.
func TestParseNotes(t *testing.T) {
	tests := []struct{ text, want string }{
		{"MAILTO=me", ""}, // see TestParseMailTo
		{"MAILFROM=me", "MAILFROM is ignored"},
		{"RANDOM_DELAY=5", ""},
		{"RANDOM_DELAY=5m", `RANDOM_DELAY is ignored: "5m" is not a number of minutes`},
		{"CRON=quarz", "CRON=quarz is not a language of schedules: it is a variable of the commands"},
		{"PATH=$HOME/bin", "$ in a value is not expanded, as in cron"},
		{"A=b # c", "# does not begin a comment here: it is part of the value, as in cron"},
		{"A=b\t# c", "# does not begin a comment here: it is part of the value, as in cron"},
		{"TZ=Europe/Berlin # 0 5 * * * c", "# does not begin a comment here: it is part of the value, as in cron"},
		{"@daily date +%F", "the command ends at its %, and what follows is its standard input, as in cron"},
		{`@daily echo "100%"`, "the command ends at its %, and what follows is its standard input, as in cron"},
		{"*/60 * * * * x", `minute "*/60": the step is too long for 0 to 59 and selects only 0`},
		{"0 */24 * * * x", `hour "*/24": the step is too long for 0 to 23 and selects only 0`},
		{"0 5 1-7 * */7 x", `day-of-week "*/7": the step is too long for 0 to 6 and selects only 0`},
		{"30 4 1,15 * 5 x", "the job is due on days that match either field, 1,15 or 5, as in cron"},
		{"30 4 */2 * 5 x", ""},
		{"-*/5 * * * * x", "the - before a schedule is for the log of some crons, and is ignored"},
		{"- 5 * * * * x", "the - before a schedule is for the log of some crons, and is ignored"},
		{"@daily -n x", "-n before the command is an option of some crons, and is ignored"},
		{"@daily -n -q x", "-n before the command is an option of some crons, and is ignored; -q before the command is an option of some crons, and is ignored"},
		{"@daily root run-parts /etc/cron.daily", `"root" looks like the user field of a system crontab; here it is the program to run`},
		{`@daily x \`, "the line ends with a backslash, but lines cannot be continued in a crontab"},
		{"# name: two words", `"two words" cannot be the name of a job`},
		{"# name: unused", `no job follows that could be named "unused"`},
		{"# Name: nightly", "a job is named with name: in lower case; this is a comment"},
		{"# NAME : nightly", ""},
		{"# a comment: with a colon", ""},
		{"@daily mail -s report me%Dear me,%all is well.", ""},
		{`@daily date +\%F`, ""},
		{"@daily root", ""},
		{"PATH=/bin", ""},
	}
	for _, test := range tests {
		f := parse(t, "@daily first\n"+test.text)
		var got []string
		for _, note := range f.Notes {
			got = append(got, note.What)
			if note.Line != 2 || note.Hint == "" {
				t.Errorf("%s: note on line %d, hint %q", test.text, note.Line, note.Hint)
			}
		}
		if s := strings.Join(got, "; "); s != test.want {
			t.Errorf("%s\ngot  %q\nwant %q", test.text, s, test.want)
		}
	}
}

// The options that some crons have before a schedule or a command change neither.
func TestParseOptionsChangeNothing(t *testing.T) {
	f := parse(t, "-5 4 * * * -n x -n y\n- @hourly z\n")
	for i, want := range []struct{ schedule, script string }{{"5 4 * * *", "x -n y"}, {"@hourly", "z"}} {
		if got := f.Jobs[i]; got.Schedule.Text != want.schedule || got.Command.Script != want.script {
			t.Errorf("%q %q, want %+v", got.Schedule.Text, got.Command.Script, want)
		}
	}
}

// A file without jobs is allowed, and noted.
func TestParseNotesEmptyFile(t *testing.T) {
	for text, shown := range map[string]string{"": "", "# a\n\n# b": "# a", "A=b\n": "A=b"} {
		f := parse(t, text)
		if len(f.Jobs) > 0 || len(f.Notes) != 1 || f.Notes[0].What != "the file has no jobs" || f.Notes[0].Text != shown {
			t.Errorf("%q: %+v", text, f)
		}
	}
}
