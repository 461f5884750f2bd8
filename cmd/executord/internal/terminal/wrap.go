package terminal

import (
	"strings"
	"unicode/utf8"
)

// Wrap cuts a text into lines of so many columns, at blanks if there are some in the second half.
func Wrap(text string, room int) []string {
	var lines []string
	for part := range strings.SplitSeq(text, "\n") {
		rest := []rune(strings.ReplaceAll(part, "\t", "    "))
		for {
			n, wide, blank := 0, 0, -1
			for n < len(rest) {
				next := Columns(string(rest[n]))
				if wide+next > room {
					break
				}
				if wide += next; rest[n] == ' ' && wide > room/2 {
					blank = n
				}
				n++
			}
			if n == len(rest) {
				lines = append(lines, string(rest))
				break
			}
			if rest[n] == ' ' {
				blank = n
			}
			if blank >= 0 {
				lines = append(lines, string(rest[:blank]))
				rest = rest[blank+1:]
				continue
			}
			n = max(n, 1)
			lines = append(lines, string(rest[:n]))
			rest = rest[n:]
		}
	}
	return lines
}

// WrapAnywhere returns a text as lines that take at most so many columns each. Zero stands for no terminal, and one
// line.
func WrapAnywhere(text string, most int) (lines []string) {
	begin, n := 0, 0
	for i, r := range text {
		if n += Columns(string(r)); most > 0 && n > most && i > begin {
			lines = append(lines, text[begin:i])
			begin, n = i, Columns(string(r))
		}
	}
	return append(lines, text[begin:])
}

// WrapWords is WrapAnywhere between words, as far as these fit.
func WrapWords(text string, most int) (lines []string) {
	if most < leastCell {
		return []string{text}
	}
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && Columns(line)+1+Columns(word) > most {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// Cut returns the begin of a text that takes at most so many columns, and says so if it is not all.
func Cut(text string, most int) string {
	wide, end := 0, 0 // end leaves a column
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if wide += Columns(string(r)); wide > most {
			return text[:end] + "…"
		}
		if i += size; wide < most {
			end = i
		}
	}
	return text
}
