package main

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// table is text in columns, each as wide as its widest cell, for people at a
// terminal. Package tabwriter counts characters, of which some take two columns
// there, and others none.
type table struct{ rows [][]string }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// lines returns the rows, with their ends and without blanks before those.
func (t *table) lines() []string {
	var widest []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widest) {
				widest = append(widest, 0)
			}
			widest[i] = max(widest[i], columns(cell))
		}
	}
	lines := make([]string, len(t.rows))
	for i, row := range t.rows {
		var b strings.Builder
		for column, cell := range row {
			const gap = 2
			b.WriteString(strings.ReplaceAll(cell, "\t", " ")) // whose width is that of a character
			b.WriteString(strings.Repeat(" ", widest[column]-columns(cell)+gap))
		}
		lines[i] = strings.TrimRight(b.String(), " ") + "\n"
	}
	return lines
}

func (t *table) String() string { return strings.Join(t.lines(), "") }

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
