package main

import (
	"bufio"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// table is text in columns, each as wide as its widest cell, for people at a
// terminal. Package tabwriter counts characters, of which some take two columns
// there, and others none.
type table struct{ rows [][]string }

// leastCell is how narrow a column is made at the least, where a table is to fit.
const leastCell = 8

// fit makes the table fit a terminal that is so wide, as far as it can: the widest column becomes narrower, and what
// does not fit a cell is cut. Zero stands for no terminal, and cuts nothing.
func (t *table) fit(wide int) *table {
	for wide > 0 {
		sum, widest, at := -gap, 0, 0
		for i, w := range t.widths() {
			if sum += w + gap; w > widest {
				widest, at = w, i
			}
		}
		if sum <= wide || widest <= leastCell {
			return t
		}
		for _, row := range t.rows {
			if at < len(row) {
				row[at] = cut(row[at], max(widest-(sum-wide), widest*3/4, leastCell))
			}
		}
	}
	return t
}

// cut returns the begin of a text that takes at most so many columns, and says so if it is not all.
func cut(text string, most int) string {
	if columns(text) <= most {
		return text
	}
	runes := []rune(text)
	for columns(string(runes)) > most-1 {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// gap is how many blanks are between two columns.
const gap = 2

// widths returns how wide each column is.
func (t *table) widths() (widest []int) {
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widest) {
				widest = append(widest, 0)
			}
			widest[i] = max(widest[i], columns(cell))
		}
	}
	return widest
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// lines returns the rows, with their ends and without blanks before those.
func (t *table) lines() iter.Seq[string] {
	return func(yield func(string) bool) {
		widest := t.widths()
		var b strings.Builder
		for _, row := range t.rows {
			b.Reset()
			for column, cell := range row {
				b.WriteString(strings.ReplaceAll(cell, "\t", " ")) // whose width is that of a character
				b.WriteString(strings.Repeat(" ", widest[column]-columns(cell)+gap))
			}
			if !yield(strings.TrimRight(b.String(), " ") + "\n") {
				return
			}
		}
	}
}

// width returns how wide the widest row is.
func (t *table) width() (widest int) {
	for line := range t.lines() {
		widest = max(widest, columns(strings.TrimSuffix(line, "\n")))
	}
	return widest
}

// write writes the rows as they come: a table of many is never in memory as one text.
func (t *table) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	for line := range t.lines() {
		out.WriteString(line)
	}
	return out.Flush()
}

func (t *table) String() string { return strings.Join(slices.Collect(t.lines()), "") }

// terminalWidth returns how wide the terminal is that w writes to, 0 if it is none.
func terminalWidth(w io.Writer) int {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	return widthOf(f)
}

// wrapped returns a text as lines that take at most so many columns each. Zero stands for no terminal, and one line.
func wrapped(text string, most int) (lines []string) {
	begin, n := 0, 0
	for i, r := range text {
		if n += columns(string(r)); most > 0 && n > most && i > begin {
			lines = append(lines, text[begin:i])
			begin, n = i, columns(string(r))
		}
	}
	return append(lines, text[begin:])
}

// wrappedWords is wrapped between words, as far as these fit.
func wrappedWords(text string, most int) (lines []string) {
	if most < leastCell {
		return []string{text}
	}
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && columns(line)+1+columns(word) > most {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// columns returns how many columns of a terminal a text takes that is Printable. It is
// the sum over its characters, as terminals have it by tradition. Those that draw
// some emoji of several characters in one place show a cell with such narrower than
// this; names of jobs have no emoji.
func columns(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
			// on the character before it, or nowhere
		case isWide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

func isWide(r rune) bool {
	kind := width.LookupRune(r).Kind()
	return kind == width.EastAsianWide || kind == width.EastAsianFullwidth
}
