package cron

import (
	"fmt"
	"unicode/utf8"
)

// A ParseError says what is wrong with a spec, where, and how to mend it. Its
// message is one line:
//
//	cron: hour "25" in "0 25 * * *" (column 3): must be 0 to 23
type ParseError struct {
	// Spec is the whole text as it was given.
	Spec string

	// Field is "minute", "hour", "day-of-month", "month" or "day-of-week";
	// "zone" for the prefix, "word" for an @word, "interval" for what follows @every,
	// "character" for a character that no spec contains; or empty if the
	// spec as a whole is wrong.
	Field string

	// Text is the offending part of Spec, and Column its place, counted in
	// bytes from 1 as in go/token. Text is empty where something is missing,
	// and Column is 0 if the spec as a whole is wrong.
	Text   string
	Column int

	// Problem says what is wrong with Text, or with the whole Spec.
	Problem string

	// Hint says what to write instead; empty if Problem says so already.
	Hint string
}

// Error returns the message. Long specs are cut short in it.
func (e *ParseError) Error() string {
	var where string
	if e.Field == "" {
		where = short(e.Spec)
	} else {
		where = fmt.Sprintf("%s %s in %s (column %d)", e.Field, short(e.Text), short(e.Spec), e.Column)
	}
	if e.Hint == "" {
		return fmt.Sprintf("cron: %s: %s", where, e.Problem)
	}
	return fmt.Sprintf("cron: %s: %s; %s", where, e.Problem, e.Hint)
}

// short quotes s, or its beginning if it is long.
func short(s string) string {
	const most = 80
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%q...", s[:end])
}
