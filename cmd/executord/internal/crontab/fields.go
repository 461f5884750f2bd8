package crontab

import (
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// split cuts a line into the words of its schedule and what follows them.
//
// Where a language has several numbers of fields, the most are taken with which it is a schedule: no program has a
// name such as 2027 or *.
func split(text string, syntax job.Syntax) (fields []string, rest string) {
	var counts []int
	lead := 0
	switch {
	case strings.HasPrefix(text, "@extended ") || strings.HasPrefix(text, "@extended\t"):
		counts, lead = []int{7, 6, 5}, 1
		syntax.Language = "" // which the word says
	case text[0] != '@' && syntax.Extends():
		counts = syntax.Counts()
	default:
		return splitSchedule(text)
	}
	for _, n := range counts {
		fields, rest = splitWords(text, lead+n)
		if len(fields) < lead+n || syntax.EndsWithYears(n) && !isYears(fields[lead+n-1]) {
			continue
		}
		try := syntax
		try.Name = "x"
		if _, _, wrong := try.ParseSchedule(strings.Join(fields, " ")); wrong == nil {
			return fields, rest
		}
	}
	return splitWords(text, lead+slices.Min(counts))
}

// isYears reports whether a word can be a field of years.
func isYears(word string) bool { return strings.Trim(word, "0123456789*,-/") == "" }

// splitWords cuts at most n words off a line.
func splitWords(text string, n int) (words []string, rest string) {
	for rest = text; len(words) < n && rest != ""; {
		word := rest
		if i := strings.IndexAny(rest, blanks); i >= 0 {
			word, rest = rest[:i], strings.TrimLeft(rest[i:], blanks)
		} else {
			rest = ""
		}
		words = append(words, word)
	}
	return words, rest
}

// splitSchedule cuts a line into the words of its schedule, at most five, and
// what follows them. An @word stands alone, @every takes its duration along, and @since its date, time, word every and
// interval.
func splitSchedule(text string) (fields []string, rest string) {
	want := 5
	if text[0] == '@' {
		want = 1
		switch word, _ := splitWords(text, 1); {
		case strings.EqualFold(word[0], "@every"):
			want = 2
		case strings.EqualFold(word[0], "@since"):
			want = 5
		}
	}
	return splitWords(text, want)
}

// cronOption returns the option of cron that a command begins with: -n of Debian and cronie, and of OpenBSD -q and -s
// too. No program has such a name.
func cronOption(command string) string {
	for _, option := range []string{"-n", "-q", "-s"} {
		if rest, ok := strings.CutPrefix(command, option); ok && strings.Trim(rest[:min(1, len(rest))], blanks) == "" {
			return option
		}
	}
	return ""
}

// splitPercent cuts a command at its first % that has no backslash before it.
// What follows is the command's standard input, in which every further % ends
// a line. In both, \% is a percent sign; every other backslash stays.
//
// As in cron, quotes do not hide a percent sign, and input that does not end
// with a newline gets one. cut reports whether there was such a %.
func splitPercent(text string) (command, stdin string, cut bool) {
	if strings.IndexByte(text, '%') < 0 {
		return text, "", false
	}
	var b strings.Builder
	input := 0
	for i := 0; i < len(text); i++ {
		if text[i] == '%' {
			input = i + 1
			break
		}
		// A backslash takes the next byte along, so that \\% ends the
		// command and \\\% does not.
		if text[i] == '\\' && i+1 < len(text) {
			if text[i+1] != '%' {
				b.WriteByte('\\')
			}
			i++
		}
		b.WriteByte(text[i])
	}
	command = b.String()
	if input == 0 {
		return command, "", false
	}
	if input == len(text) {
		return command, "", true // no input at all, as in cron
	}

	// Here cron looks only at the byte before the %, whatever stands before that.
	b.Reset()
	for i := input; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == '%':
			b.WriteByte('%')
			i++
		case text[i] == '%':
			b.WriteByte('\n')
		default:
			b.WriteByte(text[i])
		}
	}
	if stdin = b.String(); !strings.HasSuffix(stdin, "\n") {
		stdin += "\n"
	}
	return command, stdin, true
}
