// Package terminal is how executord writes for people at a terminal: tables that are straight and fit, lines that are
// WrapAnywhere, and colours.
package terminal

import (
	"io"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// Width returns how wide the terminal is that w writes to, 0 if it is none.
func Width(w io.Writer) int {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok || !Is(f) {
		return 0
	}
	return WidthOf(f)
}

// Is reports whether a file is a terminal.
func Is(f interface{ Fd() uintptr }) bool { return term.IsTerminal(int(f.Fd())) }

// WidthOf returns how many columns a terminal has, or what it had in the days of cards.
func WidthOf(w interface{ Fd() uintptr }) int {
	if wide, _, err := term.GetSize(int(w.Fd())); err == nil && wide > 0 {
		return wide
	}
	return 80
}

// Columns returns how many columns of a terminal a text takes that is Printable. It is
// the sum over its characters, as terminals have it by tradition. Those that draw
// some emoji of several characters in one place show a cell with such narrower than
// this; names of jobs have no emoji.
func Columns(text string) int {
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

// Count returns a number of things, as "1 job" or "3 jobs".
func Count(n, thing string) string {
	if n == "1" {
		return "1 " + thing
	}
	return n + " " + thing + "s"
}
