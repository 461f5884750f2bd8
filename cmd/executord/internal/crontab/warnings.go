package crontab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

const fieldsHint = "write minute, hour, day of month, month and day of week, then the command"

// misshapen finds what shows from the words alone: too few time fields, too
// many, or something that is no job at all. It is looked for before the fields
// are read, because "/usr/bin/backup is no day of week" does not help.
func misshapen(fields []string, script string, syntax job.Syntax) (what, hint string) {
	if fields[0][0] == '@' {
		if len(fields) == 1 && strings.EqualFold(fields[0], "@every") {
			return "@every has no duration", "write a duration and the command, such as: @every 5m /path/to/command"
		}
		if len(fields) < 5 && strings.EqualFold(fields[0], "@since") {
			return "@since needs a date, a time, the word every, and an interval", "write them and the command, such as: @since 2026-12-01 14:00 every 7d /path/to/command"
		}
		return "", "" // an unknown @word is for the schedule's parser to explain
	}
	if syntax.Extends() {
		return "", "" // so many fields as the language has
	}
	if c := fields[0][0]; c != '*' && (c < '0' || c > '9') && !strings.ContainsRune("?-,/~", rune(c)) {
		if fields[0] == "export" || fields[0] == "set" {
			return fmt.Sprintf("a crontab has no %s", fields[0]), "write NAME=value alone"
		}
		return "this is neither a job nor a setting", "write a schedule and a command, or NAME=value; begin a comment with #"
	}
	given := len(fields)
	if i := slices.IndexFunc(fields, isProgram); i >= 0 {
		given = i
	}
	switch {
	case given == 0:
		return "the schedule before the command is missing", fieldsHint
	case given < 5:
		return fmt.Sprintf("the schedule has only %s of its five fields", [...]string{1: "one", "two", "three", "four"}[given]), fieldsHint
	}
	if words := strings.FieldsFunc(script, isBlank); len(words) > 0 && isField(words[0]) {
		return tooMany(fields, words)
	}
	return "", ""
}

// tooMany returns what is wrong with a schedule that has more than five fields.
func tooMany(fields, words []string) (what, hint string) {
	extra := 1
	for extra < len(words) && isField(words[extra]) {
		extra++
	}
	all := append(slices.Clone(fields), words[:extra]...)
	what = fmt.Sprintf("the schedule has %d fields, want 5", len(all))
	if extra == 1 {
		what = "the schedule has six fields, want 5"
	}
	if hint := job.CountHint(all, "CRON=%s"); hint != "" {
		return what, hint + ", on a line above"
	}
	return what, fieldsHint
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' }

// isProgram reports whether a word in the place of a time field is certainly
// part of a command.
func isProgram(word string) bool {
	if word[0] == '~' && (len(word) == 1 || word[1] >= '0' && word[1] <= '9') {
		return false // a random value, as some crons have it
	}
	return strings.IndexByte("/.~$\"'", word[0]) >= 0 || strings.ContainsAny(word, ".=") && strings.Trim(word, "0123456789.") != ""
}

// isField reports whether a word in the place of a program is certainly a time
// field: no program is called * or 1-5.
func isField(word string) bool {
	if word[0] == '/' {
		return false
	}
	for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune("0123456789*?,-/", r) }) {
		// Upper case only: mon is a program, MON is a day.
		if !strings.Contains(" SUN MON TUE WED THU FRI SAT ", " "+part+" ") {
			return false
		}
	}
	return true
}

type warning struct{ what, hint string }

// warnings returns what cron accepts and runs differently than was meant.
func warnings(script string, cut bool) []warning {
	var found []warning
	if cut && looksCut(script) {
		found = append(found, warning{
			"the command ends at its %, and what follows is its standard input, as in cron",
			`write \% for a percent sign`,
		})
	}
	if !cut && strings.HasSuffix(script, `\`) {
		found = append(found, warning{
			"the line ends with a backslash, but lines cannot be continued in a crontab",
			"write the command on one line, or put it into a script",
		})
	}
	return found
}

// looksCut reports whether a command seems to end too early: in the middle of
// quotes or brackets, or in a date format.
func looksCut(script string) bool {
	odd := func(quote string) bool { return strings.Count(script, quote)%2 != 0 }
	return strings.HasSuffix(script, "+") || odd(`"`) || odd("'") || odd("`") ||
		strings.Count(script, "(") != strings.Count(script, ")")
}
