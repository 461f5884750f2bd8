// Package text makes texts fit for any database.
package text

import (
	"strings"
	"unicode/utf8"
)

// maxError is how many bytes are kept of an error's text.
const maxError = 4 << 10

// Shorten returns up to limit bytes of a text, fit for any database.
func Shorten(text string, limit int) string {
	if len(text) > limit {
		for limit > 0 && !utf8.RuneStart(text[limit]) {
			limit--
		}
		text = text[:limit]
	}
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
}

// Error makes the text of an error fit for any database.
func Error(text string) string {
	if len(text) > maxError {
		text = text[:maxError] + "..."
	}
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
}
