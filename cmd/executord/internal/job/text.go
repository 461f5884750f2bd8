package job

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Printable returns s with everything that could disturb a terminal or a log
// (control characters, those that turn the direction of writing, bytes that are not
// UTF-8) written as an escape. Text without such characters comes back unchanged,
// backslashes too: it is for reading, not for parsing back.
func Printable(s string) string {
	return escape(s, harmless)
}

// harmless reports whether a character may be shown.
func harmless(r rune) bool {
	// French has blanks in its numbers that do not break, Japanese has wide ones;
	// Persian words and many emoji have joiners in them.
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.IsPrint(r) && !isInvisible(r) || unicode.Is(unicode.Zs, r) || r == nonJoiner || r == joiner
}

// isInvisible reports whether a letter or mark is one that nothing is shown for, as the fillers of Hangul and the
// selectors of variants are. The two selectors that choose between a text and an emoji are common.
func isInvisible(r rune) bool {
	const asText, asEmoji = '\ufe0e', '\ufe0f'
	return unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) ||
		unicode.Is(unicode.Variation_Selector, r) && r != asText && r != asEmoji
}

// visible is Printable for text in which something is wrong, that may be a blank
// which is not the common one, or what has no width: they are escapes, too.
func visible(s string) string {
	return escape(s, func(r rune) bool { return unicode.IsPrint(r) && !isInvisible(r) })
}

// PrintableJSON returns JSON with the same characters as escapes of JSON: it says the same as before.
func PrintableJSON(b []byte) []byte {
	harm := func(r rune) bool { return r >= utf8.RuneSelf-1 && !harmless(r) }
	if bytes.IndexFunc(b, harm) < 0 {
		return b
	}
	var safe []byte
	for _, r := range string(b) {
		switch {
		case !harm(r):
			safe = utf8.AppendRune(safe, r)
		case r < 0x10000:
			safe = fmt.Appendf(safe, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			safe = fmt.Appendf(safe, `\u%04x\u%04x`, high, low)
		}
	}
	return safe
}

// escape returns s with all characters as escapes that are not to be shown.
func escape(s string, shown func(rune) bool) string {
	i := 0
	for i < len(s) && s[i] >= ' ' && s[i] < utf8.RuneSelf-1 {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:i])
	for _, r := range s[i:] {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			const hex = "0123456789abcdef"
			b.WriteString(`\x`)
			b.WriteByte(hex[s[i]>>4])
			b.WriteByte(hex[s[i]&15])
		case r == '\t' || shown(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
		i += size
	}
	return b.String()
}

// shorten cuts a line that is too long to be shown, between characters.
func shorten(s string) string {
	const most = 160
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}

// QuoteArgs joins arguments so that a reader sees where each begins, and so does a
// shell.
func QuoteArgs(args []string) string {
	shown := make([]string, len(args))
	for i, arg := range args {
		shown[i] = arg
		if arg == "" || strings.ContainsFunc(arg, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:=@%+,", r)
		}) {
			shown[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(shown, " ")
}

// Closest returns the candidate most like word, for "did you mean", or "" if
// none is near: more than two edits, or more than half of the word, is a
// different word.
func Closest(word string, candidates []string) string {
	best, least := "", min(2, len(word)/2)+1
	for _, candidate := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(candidate)); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance returns the number of single-character edits (insert, delete,
// replace, swap of neighbors) that make a into b. It is only for short words;
// a word longer than any candidate could be near to is cut first.
func distance(a, b string) int {
	const most = 64
	a, b = a[:min(len(a), most)], b[:min(len(b), most)]
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
