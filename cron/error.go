package cron

import (
	"fmt"
	"unicode/utf8"
)

// A ParseError says what is wrong with a spec, where, and how to fix it. Its message is one line:
//
//	cron: hour "25" in "0 25 * * *" (column 3): must be 0 to 23
//
// Use [errors.As] or errors.AsType to get its fields, for example to mark the place in an editor.
type ParseError struct {
	// Spec is the whole text that was parsed.
	Spec string

	// Field is "minute", "hour", "day-of-month", "month" or "day-of-week", or in the extended language also "second" or
	// "year"; "zone" for the prefix; "word" for an @word; "interval" for the duration after @every; "first time" and
	// "period" for those after @since; "character" for a character that is not allowed in a spec; or empty if the spec
	// as a whole is wrong.
	Field string

	// Text is the part of Spec that is wrong. Column is its position, counted in bytes from 1 as in go/token. Text is
	// empty where something is missing. Column is 0 if the spec as a whole is wrong.
	Text   string
	Column int

	// Problem is what is wrong with Text, or with the whole Spec.
	Problem string

	// Hint says what to write instead. It is empty if Problem says that already, or if the package has no advice.
	Hint string
}

// Error returns the message. Of a spec of more than 80 bytes it quotes the beginning.
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

// short returns s, or its beginning if it is long, in quotes.
func short(s string) string {
	const limit = 80
	if len(s) <= limit {
		return fmt.Sprintf("%q", s)
	}
	end := limit
	for end > limit-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%q...", s[:end])
}
